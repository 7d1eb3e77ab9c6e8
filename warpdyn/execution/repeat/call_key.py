"""The key of a call: everything that its launch depends on, except for the addresses of arrays.

`leaves` is the one traversal of a call's arguments. The key, the names of arrays and the operands of
the C functions (`execution/native/`) come from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...arrays import Array, Library
from ...arrays.libraries import known
from ...model import Model
from ...model.params import Params

PLAIN: set[type] = {type(None), bool, int, float, str}
"""Types of arguments that are compared by value: those of constants, and of objects made of
constants only (`compared_by_value`)."""


def value_key(x: Any) -> Hashable:
    """A key for a constant of a program: its type and value, and the sign of a zero, at any depth.

    True, 1 and 1.0 compare equal, and so do 0.0 and -0.0, but a program computes different results
    with them.
    """
    kind = type(x)
    if isinstance(x, np.generic):
        return (kind, x.dtype.str, x.tobytes())
    if isinstance(x, float):
        return (kind, x if x and x == x else str(x))
    if isinstance(x, complex):
        return (kind, value_key(x.real), value_key(x.imag))
    if isinstance(x, tuple):
        return (kind, *map(value_key, x))
    if isinstance(x, frozenset):
        return (kind, frozenset(map(value_key, x)))
    if is_dataclass(x) and not isinstance(x, type):
        return (kind, *(value_key(getattr(x, field.name)) for field in fields(x)))
    return (kind, x)


K = TypeVar("K", bound=type)


def compared_by_value(kind: K) -> K:
    """Register a class whose objects are immutable, and equal if they have the same effect on every
    call."""
    PLAIN.add(kind)
    return kind


Key = tuple[Any, ...]

Leaf = tuple[str, Any, Library | None]
"""Name and value of an argument or of a part of one, and the library of an array."""


class CallKey(NamedTuple):
    """The key of a call, and the arrays of the caller that it reads or writes."""

    key: Key
    arrays: list[Array]
    """Those of `out` last."""
    names: list[str]
    """Names of the arrays but those of `out`: an argument's name, or its own names for several."""


def leaves(arguments: Iterable[tuple[str, Any]]) -> list[Leaf]:
    """Arguments by name and everything in them, depth first: a container comes before its parts."""
    found: list[Leaf] = []
    _add_leaves(arguments, found)
    return found


def _add_leaves(arguments: Iterable[tuple[str, Any]], found: list[Leaf]) -> None:
    for name, x in arguments:
        kind = type(x)
        library = known.get(kind)
        found.append((name, x, library))
        if library is not None or kind is Model or kind in PLAIN:
            continue
        if kind is Params:
            _add_leaves(x.arrays.items(), found)
            _add_leaves((("gravity", x.gravity),), found)
        elif kind is dict:
            _add_leaves(((str(key), y) for key, y in x.items()), found)
        elif kind is tuple or kind is list:
            _add_leaves(((name, y) for y in x), found)
        elif isinstance(x, tuple):
            # The values of arrays in a record such as `Ground` are checked at each call. Such
            # arrays have no library here, so a call with them has no key.
            parts = leaves((name, y) for y in x)
            found += [(n, y, None) for n, y, _ in parts]


def key_of(
    names: Iterable[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> CallKey | None:
    """The key of a call; None if an argument's kind is unknown here.

    names: of the positional arguments.
    """
    key: list[Any] = []
    arrays: list[Array] = []
    array_names: list[str] = []
    arguments = [*zip(names, args, strict=False)]
    out = None
    if kwargs:
        words = dict(kwargs)
        out = words.pop("out", None)
        key += words
        arguments += words.items()
    found = leaves(arguments)
    inputs = len(found)
    if out is not None:
        key.append("out")
        found += leaves((("out", out),))
    for k, (name, x, library) in enumerate(found):
        if library is not None:
            sort = library.sort(x)
            if not sort:
                return None
            key += sort
            arrays.append(x)
            if k < inputs:
                array_names.append(name)
            continue
        kind = type(x)
        if kind is Model:
            key.append(id(x))
        elif kind in PLAIN:
            key += (kind, x) if x or kind is not float else (kind, str(x))
        elif kind is Params:
            key += (Params, id(x.model), x.key)
        elif kind is dict:
            key += (dict, len(x), *x)
        elif kind is list or isinstance(x, tuple):
            key += (kind, len(x))
        else:
            return None
    return CallKey(tuple(key), arrays, array_names)
