"""C++ from the headers of this folder, as text to put into a kernel.

Warp compiles a kernel's body as text. Therefore this module does the steps of the C++ preprocessor,
once for each precision, so that the text is the same for every compiler:

- `#if WARPDYN_FLOAT`, `#else`, `#endif`: one branch stays. `#ifdef WARPDYN_NARROW` stays as it is.
- `#include "other.h"`: the text of a header of this folder.
- `$place`: to a compiler a macro; in a kernel, the text that a program puts there.

A comment of three slashes is for the reader of the header and is left out of kernels. A comment
with a name in brackets, `/// [name]`, begins a piece. The text before the first piece is also left
out of kernels. Headers are named in full where they are used, because `execution/compile/cache.py`
looks for their names to find the files that determine a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

_BEGINNING = re.compile(r"\s*/// \[(\w+)\]")
_PLACE = re.compile(r"\$(\w+)")
_INCLUDE = re.compile(r'\s*#include "([\w.]+)"')

VECTOR_BYTES = 64
"""Width of a vector of lanes (lanes.h): sixteen floats, eight doubles. A narrow vector has half of it."""

DECIDED_HERE = ["#if", "WARPDYN_FLOAT"]

LEFT_TO_THE_COMPILER = ["#ifdef", "WARPDYN_NARROW"]
"""A condition that the compiler decides, because it depends on the processor (`lanes.NARROW`)."""


def lane_count(single: bool) -> int:
    """Number of lanes in a vector."""
    return VECTOR_BYTES // (4 if single else 8)


def piece(header: str, name: str, single: bool = False, /, **places: str | int) -> str:
    """A piece of a header, for float or double, with every place filled in.

    ValueError: a place of the piece has no text, or a text has no place in it. A compiler might
    accept the piece without the text, and the kernel would compute something else.
    """
    text = pieces(header, single)[name]
    wanted = set(_PLACE.findall(text))
    if wanted != places.keys():
        raise ValueError(
            f"{header} [{name}]: places without text: {sorted(wanted - places.keys())}; "
            f"text without a place: {sorted(places.keys() - wanted)}"
        )
    return _PLACE.sub(lambda place: str(places[place[1]]), text)


@cache
def pieces(header: str, single: bool) -> Mapping[str, str]:
    """The pieces of a header by name, with their places still open."""
    lines: dict[str, list[str]] = {}
    name = None
    for line in _lines(header, single):
        beginning = _BEGINNING.match(line)
        if beginning:
            name = beginning[1]
            if name in lines:
                raise ValueError(f"{header} has two pieces [{name}]")
            lines[name] = []
        elif name is not None and not line.lstrip().startswith("///"):
            lines[name].append(line)
    return {name: "\n".join(text).strip("\n") for name, text in lines.items()}


def _lines(header: str, single: bool) -> Iterator[str]:
    """A header's lines with conditions decided and headers of this folder included."""
    open_conditions: list[
        bool | None
    ] = []  # are these lines kept? None: the condition stays in the text
    for line in files(__package__).joinpath(header).read_text(encoding="utf-8").splitlines():
        words = line.split()
        directive = words[0] if words else ""
        stays = True
        if directive in ("#if", "#ifdef", "#ifndef", "#elif"):
            inner = not {True, False}.isdisjoint(open_conditions)
            if words not in (DECIDED_HERE, LEFT_TO_THE_COMPILER) or (
                inner and words == DECIDED_HERE
            ):
                here = " ".join(DECIDED_HERE)
                raise ValueError(f"{header}: only plain '{here}' is decided here: {line}")
            stays = words == LEFT_TO_THE_COMPILER
            open_conditions.append(None if stays else single)
        elif directive in ("#else", "#endif"):
            if not open_conditions:
                raise ValueError(f"{header}: a condition without its beginning: {line}")
            kept = open_conditions.pop()
            stays = kept is None
            if directive == "#else":
                open_conditions.append(None if kept is None else not kept)
        if stays and False not in open_conditions:
            included = _INCLUDE.match(line)
            yield from _lines(included[1], single) if included else [line]
    if open_conditions:
        raise ValueError(f"{header}: '#if' without '#endif'")
