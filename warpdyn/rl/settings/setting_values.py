"""Values of settings: numbers, words, and records such as `Vary`, from text or from a file."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ...model.names import spelling_hint
from ..task import TaskError
from ..variation import SIM_TO_REAL, SIM_TO_REAL_ARM, DomainRandomization

NOTHING = "none"
"""The text for None, and for an entry that is removed."""

DOMAINS = {"sim_to_real": SIM_TO_REAL, "sim_to_real_arm": SIM_TO_REAL_ARM}
"""Domain randomisations that a recipe takes by name."""


def literal(text: str) -> Any:
    """A Python value from text: numbers, and lists of numbers and words separated by commas."""
    if text.lower() == NOTHING:
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        parts = text.split(",")
        return [literal(part.strip()) for part in parts] if len(parts) > 1 else text


def as_present(path: str, value: Any, present: Any) -> Any:
    """A value with the type of the current one.

    TaskError: it has another type, or another number of entries.
    """
    if isinstance(present, bool):
        return _require(path, value, isinstance(value, bool), "true or false")
    if isinstance(present, int):
        return _require(path, value, _is_whole(value), "a whole number")
    if isinstance(present, float):
        return float(_require(path, value, _is_number(value), "a number"))
    if isinstance(present, str):
        return _require(path, value, isinstance(value, str), "a word")
    if np.shape(present) == ():
        if present is not None:
            return np.asarray(float(_require(path, value, _is_number(value), "a number")))
        return _require(path, value, value is None or _is_number(value), "a number or none")
    return _array_like(path, value, present)


def record(path: str, kind: type, value: Any) -> Any:
    """A named tuple such as `Vary` from its fields in order, then `field=value` words.

    `[0.8, 1.2, "how=scale"]` is `Vary(0.8, 1.2, how="scale")`. TaskError: a field is unknown,
    missing, or has another type.
    """
    if isinstance(value, Mapping):
        words: list[Any] = [f"{name}={x}" for name, x in value.items()]
    else:
        words = list(value) if isinstance(value, list | tuple) else [value]
    # Words without a name fill the fields in order.
    names = list(kind._fields)  # type: ignore[attr-defined]
    fields: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=") if isinstance(word, str) else ("", "", "")
        if equals:
            name, word = (
                checked_name(f"{path} ({kind.__name__})", name.strip(), names),
                literal(text.strip()),
            )
        elif len(fields) < len(names):
            name = names[len(fields)]
        else:
            raise TaskError(f"{path} takes at most {', '.join(names)}; got {words}")
        if name in fields:
            raise TaskError(f"{path} has two values of {name}; got {words}")
        fields[name] = word
    hints = get_type_hints(kind)
    checked = {name: of_type(f"{path}.{name}", x, hints[name]) for name, x in fields.items()}
    defaults = kind._field_defaults  # type: ignore[attr-defined]
    if missing := [n for n in names if n not in checked and n not in defaults]:
        raise TaskError(f"{path} needs {', '.join(missing)}: {kind.__name__}({', '.join(names)})")
    return kind(**checked)


def of_type(path: str, value: Any, hint: Any) -> Any:
    """A value that an annotation allows; TaskError otherwise."""
    origin = get_origin(hint)
    if hint is DomainRandomization:
        if isinstance(value, DomainRandomization):
            return value
        return DOMAINS[checked_name(path, str(value).lower(), [*DOMAINS, NOTHING])]
    if hint is Any:
        return np.asarray(value, dtype=float) if isinstance(value, list) else value
    if origin is Literal:
        return checked_name(path, str(value), [str(x) for x in get_args(hint)])
    if origin in (Union, UnionType):
        kinds = [x for x in get_args(hint) if x is not NoneType]
        is_nothing = value is None or (isinstance(value, str) and value.lower() == NOTHING)
        if is_nothing and NoneType in get_args(hint):
            return None
        return of_type(path, value, kinds[0] if len(kinds) == 1 else Any)
    if origin is tuple:
        each = get_args(hint)[0]
        entries = value if isinstance(value, list | tuple) else [value]
        return tuple(of_type(path, x, each) for x in entries)
    examples = {bool: False, int: 0, float: 0.0, str: ""}
    return as_present(path, value, examples[hint]) if hint in examples else value


def checked_name(path: str, name: str, names: Sequence[str]) -> str:
    """A name, if it is one of the names; TaskError with the nearest one otherwise."""
    if name in names:
        return name
    hint = spelling_hint(name, names) or f"; there are {', '.join(names)}"
    raise TaskError(f"{path} has no {name!r}{hint}")


def _require(path: str, value: Any, is_right: bool, what: str) -> Any:
    if not is_right:
        raise TaskError(f"{path} must be {what}, got {value!r}")
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _array_like(path: str, value: Any, present: Any) -> Any:
    """An array or a tuple of numbers with as many entries as the current one."""
    shape = np.shape(present)
    entries = value if isinstance(value, list | tuple) else [value]
    flat = len(shape) == 1 and all(_is_number(x) for x in entries)
    if not flat or len(entries) != shape[0]:
        raise TaskError(
            f"{path} must be {' x '.join(map(str, shape)) or 'one'} numbers separated by commas, "
            f"got {value!r}"
        )
    if isinstance(present, tuple):
        return tuple(entries)
    return np.array(entries, dtype=float)
