"""The three reference frames of a spatial vector, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

REFERENCES = ("local", "world", "local_world_aligned")
"""Origin and axes of the frame, of the world, and the frame's origin with the world's axes."""

Reference = Literal[
    "local",
    "world",
    "local_world_aligned",
    "body",
    "inertial",
    "mixed",
    "LOCAL",
    "WORLD",
    "LOCAL_WORLD_ALIGNED",
    "BODY",
    "INERTIAL",
    "MIXED",
]
"""Values of `reference=`: names and aliases, each also in Pinocchio's spelling."""

ALIASES = {"body": "local", "inertial": "world", "mixed": "local_world_aligned"}


def one_of(what: str, word: str, choices: Mapping[str, Any] | Sequence[str]) -> str:
    """`word` itself, which must be one of the choices."""
    if not isinstance(word, str) or word not in choices:
        raise ValueError(f"{what} must be one of {', '.join(choices)}; got {word!r}")
    return word


def reference_of(
    word: str, what: str = "reference", choices: Mapping[str, Any] | Sequence[str] = REFERENCES
) -> str:
    """The choice named by `word`: a name or an alias, in small letters or in Pinocchio's spelling
    LOCAL_WORLD_ALIGNED."""
    word = word.lower() if isinstance(word, str) and word.isupper() else word
    names = (*choices, *(alias for alias, name in ALIASES.items() if name in choices))
    return ALIASES.get(one_of(what, word, names), word)
