"""Print each public name with its signature on a line: `python scripts/api_snapshot.py > before.txt`.

Compare two versions with `diff`. A renamed name has one line under its old name and one under its new name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from operator import attrgetter

import warpdyn as wd
from warpdyn.old_names import RENAMED


def lines(prefix: str, thing: object) -> list[str]:
    """The lines of a function, or of a class and its public attributes."""
    if inspect.isclass(thing):
        # Attributes that a class inherits from Python's own classes are not part of the interface.
        bases = [vars(base) for base in thing.__mro__ if base.__module__.startswith("warpdyn")]
        public = sorted({name for base in bases for name in base if not name.startswith("_")})
        members = [
            line
            for name in public
            for line in lines(f"{prefix}.{name}", inspect.getattr_static(thing, name))
        ]
        return [f"class {prefix}{parameters(thing)}", *members]
    if isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    if not callable(thing):
        return [prefix]
    return [prefix + parameters(thing)]


def parameters(thing: Callable[..., object]) -> str:
    """Parameters with their defaults, without types."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return "(message)"
    plain = [p.replace(annotation=p.empty) for p in inspect.signature(thing).parameters.values()]
    return re.sub(r" at 0x\w+", "", f"({', '.join(map(str, plain))})")


def public() -> set[str]:
    """Names after `wd.`: `rnea`, `convert.twist`, and those of RENAMED."""
    spaces = {name: getattr(wd, name) for name in wd.__all__}
    inner = {f"{s}.{name}" for s, each in spaces.items() for name in getattr(each, "__all__", ())}
    return {*wd.__all__, *inner, *RENAMED, *RENAMED.values()}


def main() -> None:
    """Print the lines of every public name."""
    for name in sorted(public()):
        print(*lines(name, attrgetter(RENAMED.get(name, name))(wd)), sep="\n")


if __name__ == "__main__":
    main()
