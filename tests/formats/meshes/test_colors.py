"""Colours of shapes: of a visual's own material, of the robot's by name, of SDF's diffuse."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.formats.meshes.colors import color_of

URDF = """<robot name="r"><material name="red"><color rgba="1 0 0 0.5"/></material>
<link name="base">
<visual><geometry><sphere radius="1"/></geometry><material name="red"/></visual>
<visual><geometry><sphere radius="1"/></geometry><material name="own"><color rgba="0 1 0 1"/></material></visual>
<visual><geometry><sphere radius="1"/></geometry><material name="unknown"/></visual>
<visual><geometry><sphere radius="1"/></geometry></visual>
<visual><geometry><sphere radius="1"/></geometry><material name="odd"><color rgba="red"/></material></visual>
</link></robot>"""

SDF = """<sdf version="1.9"><model name="m"><link name="l">
<visual name="v"><geometry><sphere><radius>1</radius></sphere></geometry>
<material><diffuse>0.2 0.4 0.6</diffuse></material></visual></link></model></sdf>"""


def test_colours_of_urdf_visuals_are_read() -> None:
    """A malformed colour gives no warning, because no motion depends on it."""
    model = wd.load_urdf(URDF)
    colors = [shape.color for shape in model.link("base").visuals]
    assert colors == [(1, 0, 0, 0.5), (0, 1, 0, 1), None, None, None]
    assert not model.warnings


def test_the_diffuse_colour_of_sdf_is_read() -> None:
    model = wd.load_sdf(SDF)
    (shape,) = model.links[-1].visuals
    assert shape.color == (0.2, 0.4, 0.6, 1.0)


@pytest.mark.parametrize(
    ("text", "color"),
    [
        ("0.1 0.2 0.3 0.4", (0.1, 0.2, 0.3, 0.4)),
        ("2 -1 0.5", (1.0, 0.0, 0.5, 1.0)),
        ("1 1", None),
        ("nan 0 0", None),
        (None, None),
    ],
)
def test_color_of_clips_numbers_and_ignores_malformed_text(text: str | None, color: object) -> None:
    assert color_of(text) == color
