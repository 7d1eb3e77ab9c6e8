"""Colours of visual shapes: red, green, blue and opacity in [0, 1]."""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree

from ..robot_source import tag_name

Color: TypeAlias = tuple[float, float, float, float]


def color_of(text: str | None) -> Color | None:
    """The colour from three or four numbers, clamped to [0, 1]. None if the text is not a colour:
    an invalid one is not an error, because no motion depends on it."""
    try:
        numbers = [min(max(float(x), 0.0), 1.0) for x in (text or "").split()]
    except ValueError:
        return None
    if len(numbers) not in (3, 4) or any(x != x for x in numbers):
        return None
    red, green, blue, *opacity = numbers
    return red, green, blue, opacity[0] if opacity else 1.0


def urdf_color(visual: etree._Element) -> Color | None:
    """The colour of a URDF's <visual>: from its own <material>, or from the robot's material of
    that name."""
    own = next((x for x in visual if tag_name(x) == "material"), None)
    if own is None:
        return None
    for material in (own, *_materials(visual, own.get("name"))):
        for each in material:
            if tag_name(each) == "color" and (found := color_of(each.get("rgba"))) is not None:
                return found
    return None


def _materials(visual: etree._Element, name: str | None) -> list[etree._Element]:
    root = visual.getroottree().getroot()
    return [x for x in root if tag_name(x) == "material" and name and x.get("name") == name]
