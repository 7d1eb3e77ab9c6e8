"""The three ways to take a spatial vector, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

REFERENCES = ("local", "world", "local_world_aligned")
"""Origin and axes of the frame, of the world, and the frame's origin with the world's axes."""

ALIASES = {"body": "local", "inertial": "world", "mixed": "local_world_aligned"}


def one_of(what: str, given: str, choices: Mapping[str, Any] | Sequence[str]) -> str:
    """`given`, which must be one of the choices."""
    if not isinstance(given, str) or given not in choices:
        raise ValueError(f"{what} must be one of {', '.join(choices)}; got {given!r}")
    return given


def reference_of(
    given: str, what: str = "reference", choices: Mapping[str, Any] | Sequence[str] = REFERENCES
) -> str:
    """One of the choices, by its name or an alias."""
    names = (*choices, *(alias for alias, name in ALIASES.items() if name in choices))
    return ALIASES.get(one_of(what, given, names), given)
