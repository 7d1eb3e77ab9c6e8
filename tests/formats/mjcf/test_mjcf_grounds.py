"""Which planes and height fields of a file's world are the ground, compared with MuJoCo's
contacts."""

from __future__ import annotations

import warnings

import pytest

import warpdyn as wd
from warpdyn.model.ground_contact import GroundContact

FIELD = '<geom name="field" type="hfield" hfield="hills" {}/>'

LEVEL = '<geom name="level" type="plane" size="9 9 1" {}/>'

WALL = '<geom name="wall" type="plane" size="9 9 1" pos="-9 0 0" euler="0 90 0" {}/>'

LOWER = '<geom name="lower" type="plane" size="9 9 1" pos="0 0 -0.01" {}/>'

TEXT = """<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="9 9 .1 1"/></asset><worldbody>{}
<body pos="0 0 {}"><freejoint/><geom name="foot" size=".1" mass="1" {}/></body></worldbody>{}</mujoco>"""


def contact_of(world: str, foot: str, pair: str = "") -> GroundContact:
    """The contact of a ball with the ground of a simulation. It is checked to be the contact of
    MuJoCo's ball, which touches only what is below it."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(TEXT.format(world, 0.089, foot, pair))
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        (shape,) = wd.load(TEXT.format(world, 0.089, foot, pair)).links[-1].collisions
    mine = shape.on_ground
    assert mine is not None and mine.touches == bool(data.ncon)
    if data.ncon:
        assert mine.friction == (data.contact[0].friction[0] if data.contact[0].dim > 1 else 0.0)
        assert mine.margin == pytest.approx(data.contact[0].includemargin)
    return mine


@pytest.mark.parametrize(
    ("field", "foot", "friction"),
    [
        ('friction=".9"', 'friction=".2"', 0.9),
        ('friction=".1" priority="1"', 'friction=".9"', 0.1),
        ('margin=".03" condim="1"', 'friction=".4" condim="1"', 0.0),
        ('contype="0" conaffinity="0"', "", None),
    ],
)
def test_a_height_field_gives_contacts_its_friction(
    field: str, foot: str, friction: float | None
) -> None:
    """A plane does the same. `terrain=` gives its shape."""
    mine = contact_of(FIELD.format(field), foot)
    assert mine.touches is (friction is not None)
    assert friction is None or mine.friction == friction


@pytest.mark.parametrize("floor", [LEVEL, FIELD])
@pytest.mark.parametrize("wall", ['friction="2"', 'contype="2" conaffinity="2"'])
def test_a_wall_is_not_the_ground(wall: str, floor: str) -> None:
    """The wall may come before or after the ground, and the foot may touch only the wall."""
    numbers = 'friction="0.1"'
    for world in (
        WALL.format(wall) + floor.format(numbers),
        floor.format(numbers) + WALL.format(wall),
    ):
        assert contact_of(world, 'friction="0.2"').friction == 0.2
        assert not contact_of(world, 'contype="2" conaffinity="2"').touches


def test_a_pair_with_a_wall_is_remarked_and_not_a_ground_contact() -> None:
    """warpdyn has no contacts with walls."""
    pair = '<contact><pair geom1="wall" geom2="foot" friction="2 2"/></contact>'
    assert contact_of(WALL.format("") + LEVEL.format('friction="0.1"'), "", pair).friction == 1.0
    still = 'contype="0" conaffinity="0"'
    assert not contact_of(WALL.format("") + LEVEL.format(""), still, pair).touches
    with pytest.warns(wd.ModelWarning, match=r"pairs with shapes that have no contacts \(1\)"):
        wd.load(TEXT.format(WALL.format("") + LEVEL.format(""), 1, still, pair))


def test_a_floor_without_contacts_is_not_the_ground() -> None:
    for zero in ("0", " 0 ", "+0", "00"):
        drawn = f'contype="{zero}" conaffinity="{zero}"'
        world = LEVEL.format(drawn) + LOWER.format('friction="1.5"')
        assert contact_of(world, "").friction == 1.5


def test_a_single_ramp_is_the_ground() -> None:
    """`terrain=` turns the ground in the same way."""
    ramp = '<geom type="plane" size="9 9 1" euler="0 20 0" friction="1.5"/>'
    assert contact_of(ramp, "").friction == 1.5


def test_a_plane_whose_place_cannot_be_read_is_no_ground() -> None:
    """The other plane is, with its friction."""
    planes = '<geom type="plane" size="1 1 1" pos="x 0 0" friction="3"/>'
    planes += '<geom type="plane" size="1 1 1" friction="2"/>'
    body = '<body name="b"><joint/><geom size="0.1" mass="1"/></body>'
    (shape,) = (
        wd.load(f"<mujoco><worldbody>{planes}{body}</worldbody></mujoco>").link("b").collisions
    )
    assert shape.on_ground is not None and shape.on_ground.friction == 2.0


PAIRED = '<contact><pair geom1="field" geom2="foot" friction=".3 .3"/></contact>'


@pytest.mark.parametrize(
    ("level", "field", "pair", "is_remarked"),
    [
        ('friction="1"', 'friction=".1"', "", True),
        ('friction=".1"', 'friction=".1" priority="1" solref=".03 1"', "", True),
        ('friction=".3"', "", PAIRED, True),
        ('friction=".1"', 'friction=".1"', "", False),
        ('friction="1"', 'friction=".1" contype="0" conaffinity="0"', "", False),
    ],
)
def test_grounds_with_different_contacts_are_remarked(
    level: str, field: str, pair: str, is_remarked: bool
) -> None:
    """A shape has one contact with the ground here, that of the first; MuJoCo's has one for each."""
    text = TEXT.format(LEVEL.format(level) + FIELD.format(field), 1, 'friction="0.05"', pair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        said = " ".join(wd.load(text).warnings)
    assert is_remarked == ("of a second ground that differ from the first (1)" in said)
