"""The formats of descriptions, one entry each: how to recognise their texts, and which function
reads them.

A new format is a file with its reader, an entry here, and its test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format: how to recognise a description of it, and the function that reads it.

    XML is recognised by its outermost element, `root`. Any other format recognises its texts by
    their beginning (`recognises`), and its files also by their `suffixes`.
    """

    name: str
    noun: str
    """The noun for a description in messages: "a URDF", "an SDF file"."""
    module: str
    reader: str
    """The public function of `module` that reads the format; its first argument is a path, a text
    or a `RobotSource`. It is imported on first use."""
    root: str | None = None
    recognises: Callable[[bytes], bool] | None = None
    suffixes: tuple[str, ...] = ()


URDF = Format(
    name="URDF", noun="a URDF", module="warpdyn.formats.urdf", reader="load_urdf", root="robot"
)
SDF = Format(
    name="SDF", noun="an SDF file", module="warpdyn.formats.sdf.sdf", reader="load_sdf", root="sdf"
)
MJCF = Format(
    name="MJCF",
    noun="an MJCF file",
    module="warpdyn.formats.mjcf.mjcf",
    reader="load_mjcf",
    root="mujoco",
)
USD = Format(
    name="USD",
    noun="a USD stage",
    module="warpdyn.formats.usd.usd",
    reader="load_usd",
    recognises=lambda data: data.startswith((b"#usda", b"PXR-USDC")),
    suffixes=(".usd", ".usda", ".usdc", ".usdz"),
)

FORMATS = [URDF, SDF, MJCF, USD]
"""The formats in the order in which messages list them."""


def file_kinds() -> str:
    """The kinds of robot files that the command line reads, in words."""
    return join_words(iter((*(each.name for each in FORMATS), "xacro")))


def xml_formats() -> Iterator[Format]:
    return (each for each in FORMATS if each.root is not None)


def format_of_data(data: bytes, suffix: str = "") -> Format | None:
    """The format, other than XML, whose texts begin like this or whose files have this suffix."""
    for each in FORMATS:
        by_text = each.recognises is not None and each.recognises(data)
        if by_text or (suffix and suffix.lower() in each.suffixes):
            return each
    return None


def format_of_root(tag: str) -> Format | None:
    """The format whose outermost element has this name."""
    return next((each for each in xml_formats() if each.root == tag), None)


def join_words(words: Iterator[str]) -> str:
    """The words joined as in "one, another or a third"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
