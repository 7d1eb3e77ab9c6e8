"""C++ sources of a controller package, with their places filled in."""

from __future__ import annotations

import re
from importlib.resources import files

_PLACE = re.compile(r"@(\w+)@")


def source_file(name: str, /, **places: str) -> str:
    """The text of a file in `sources/`, in which each `@place@` is replaced.

    ValueError if a place is left open, or if the file does not have one of the places.
    """
    text = files(__package__).joinpath("sources", name).read_text(encoding="utf-8")
    wanted = set(_PLACE.findall(text))
    if wanted != places.keys():
        raise ValueError(
            f"{name}: places without text: {sorted(wanted - places.keys())}; "
            f"text without a place: {sorted(places.keys() - wanted)}"
        )
    return _PLACE.sub(lambda place: places[place[1]], text)
