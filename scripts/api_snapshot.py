"""The public names with their signatures, a line each: `python scripts/api_snapshot.py > before.txt`; later, diff."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import warpdyn as wd


def lines(prefix: str, thing: object) -> list[str]:
    """A function's parameters and defaults; a class's with its public attributes."""
    if inspect.isclass(thing):
        ours = [vars(base) for base in thing.__mro__ if base.__module__.startswith("warpdyn")]
        own = sorted({name for members in ours for name in members if not name.startswith("_")})
        members = [
            line
            for name in own
            for line in lines(f"{prefix}.{name}", inspect.getattr_static(thing, name))
        ]
        return [f"class {prefix}{parameters(thing)}", *members]
    if isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    if not callable(thing):
        return [prefix]
    return [prefix + parameters(thing)]


def parameters(thing: Callable[..., object]) -> str:
    """Parameters and defaults, without types."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return "(message)"
    given = [p.replace(annotation=p.empty) for p in inspect.signature(thing).parameters.values()]
    return re.sub(r" at 0x\w+", "", f"({', '.join(map(str, given))})")


for name in sorted(wd.__all__):
    print(*lines(name, getattr(wd, name)), sep="\n")
