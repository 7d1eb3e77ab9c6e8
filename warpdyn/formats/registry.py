"""The formats of descriptions, a line each: what its texts look like, and which function reads
them.

A new format is a file with its reader, a line here, and its test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """How a description of this format is told from others, and what reads it.

    XML is known by its outermost element, `root`. Any other format says by `recognises` whether a
    text begins as its texts do, and by `suffixes` which files are of it whatever they begin with.
    """

    name: str
    noun: str
    """What messages call a description: "a URDF", "an SDF file"."""
    module: str
    reader: str
    """The public function of `module` that reads it, with a path, a text or a `RobotText` as its
    first argument; imported when it is needed."""
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
"""In the order in which messages list them."""


def file_kinds() -> str:
    """The kinds of robot files that the command line reads, in words."""
    return listed(iter((*(each.name for each in FORMATS), "xacro")))


def xml_formats() -> Iterator[Format]:
    return (each for each in FORMATS if each.root is not None)


def format_of_text(data: bytes, suffix: str = "") -> Format | None:
    """The format, other than XML, whose texts begin so or whose files have the suffix."""
    for each in FORMATS:
        by_text = each.recognises is not None and each.recognises(data)
        if by_text or (suffix and suffix.lower() in each.suffixes):
            return each
    return None


def format_of_root(tag: str) -> Format | None:
    """The format whose outermost element has this name."""
    return next((each for each in xml_formats() if each.root == tag), None)


def listed(words: Iterator[str]) -> str:
    """One, another or a third."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
