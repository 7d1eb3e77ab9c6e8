"""MJCF: orientations, classes and compiler settings. Every notation of the same value gives the
same result."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from mjcf_texts import INERTIAL

from warpdyn.algebra.spatial import Rotation, Vector
from warpdyn.formats.mjcf import mjcf_values as chosen
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.formats.mjcf.mjcf_values import MEASURED, TINY, MjcfValues, place, z_to
from warpdyn.formats.robot_source import xml_root
from warpdyn.model.checks import MOST
from warpdyn.model.names import ModelError


def values_of(settings: str = "", defaults: str = "") -> MjcfValues:
    text = f"<mujoco><compiler {settings}/>{defaults}</mujoco>"
    return MjcfValues("text", xml_root("text", text.encode(), None, "<mujoco>"))


ELEMENT = xml_root("text", b'<geom name="g"/>', None, "<geom>")


def matrix(R: Rotation) -> np.ndarray:
    return np.array([list(row) for row in R.matrix.rows])


def rotation(settings: str = "", **given: str) -> np.ndarray:
    return matrix(values_of(settings).rotation(ELEMENT, given))


def test_every_notation_of_an_orientation_gives_the_same_rotation() -> None:
    """It is 90 degrees about z as a quaternion, axis and angle, Euler angles, and two axes. zaxis
    gives the shortest rotation of z to an axis."""
    wanted = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    half = math.sqrt(0.5)
    ways = {
        "quat": f"{half} 0 0 {half}",
        "axisangle": "0 0 2 90",
        "euler": "0 0 90",
        "xyaxes": "0 3 0 -1 9 0",
    }
    for way, text in ways.items():
        assert np.abs(rotation(**{way: text}) - wanted).max() <= 1e-15, way
    in_radians = rotation('angle="radian"', axisangle=f"0 0 1 {math.pi / 2!r}")
    assert np.abs(in_radians - wanted).max() <= 1e-15
    assert rotation(zaxis="0 3 0")[:, 2] == pytest.approx([0, 1, 0])
    assert np.array_equal(rotation(), np.eye(3))


def test_capitals_in_eulerseq_mean_fixed_axes() -> None:
    """xyz about moving axes equals ZYX about fixed axes with the angles in reverse order."""
    moving, fixed = (
        rotation('eulerseq="xyz"', euler="10 20 30"),
        rotation('eulerseq="ZYX"', euler="30 20 10"),
    )
    assert np.abs(moving - fixed).max() <= 1e-15


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.6, 0, -0.8)])
def test_z_to_rotates_z_to_a_direction(direction: tuple[float, float, float]) -> None:
    """Half a turn is about any perpendicular axis."""
    assert list(z_to(Vector(*map(float, direction))).to_parent(Vector(0.0, 0.0, 1.0))) == (
        pytest.approx(direction, abs=1e-15)
    )


def test_attributes_of_an_element_override_those_of_its_class() -> None:
    """A class begins with the values of its parent. An orientation of the element replaces one of
    another notation."""
    values = values_of(
        defaults='<default><geom size="1" euler="1 2 3"/><default class="c"><geom mass="2"/></default></default>'
    )
    assert values.attributes(ELEMENT, "geom", None)["size"] == "1"
    inner = values.attributes(ELEMENT, "geom", "c")
    assert (inner["size"], inner["mass"]) == ("1", "2")
    other = xml_root("text", b'<geom quat="1 0 0 0" size="3"/>', None, "<geom>")
    written = values.attributes(other, "geom", "c")
    assert "euler" not in written and written["size"] == "3"


def test_messages_name_a_nameless_element_by_its_body() -> None:
    """A nameless element by the body that it is in."""
    root = xml_root("t", b'<mujoco><body name="b"><inertial/></body></mujoco>', None, "<mujoco>")
    inertial = next(root.iter("inertial"))
    assert place(inertial) == 'body "b", <inertial>' and place(root) == "<mujoco>"
    with pytest.raises(ModelError, match="both quat and euler"):
        values_of().rotation(ELEMENT, {"quat": "1 0 0 0", "euler": "0 0 0"})


@pytest.mark.parametrize(
    ("defaults", "said"),
    [
        ("<default/>", 'a <default> inside another has no class; write class="..."'),
        ('<default class=""/>', 'a <default> inside another has no class; write class="..."'),
        (
            '<default class="a"/><default class="a"/>',
            'two default classes are named "a"; give each its own name',
        ),
        (
            '<default class="a"/><default class="b"/><joint class="c"/>',
            'there is no default class "c"; the classes are main, a, b',
        ),
    ],
)
def test_invalid_default_classes_are_refused(defaults: str, said: str) -> None:
    text = f"<mujoco><default>{defaults.partition('<joint')[0]}</default><worldbody><body>"
    text += f"<joint {'class=' + chr(34) + 'c' + chr(34) if '<joint' in defaults else ''}/>"
    text += f"{INERTIAL}</body></worldbody></mujoco>"
    with pytest.raises(ModelError, match=re.escape(said)):
        load_mjcf(text)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.TINY == 1e-14


def test_tiny_directions_and_quaternions_count_as_zero() -> None:
    """A direction of exactly the bound is used. A smaller one is zero, and refused."""
    values = values_of('angle="radian"')
    for way, text in (
        ("quat", "{} 0 0 0"),
        ("axisangle", "{} 0 0 0"),
        ("zaxis", "0 0 {}"),
        ("xyaxes", "{} 0 0 0 1 0"),
    ):
        R = values.rotation(ELEMENT, {way: text.format(TINY)})
        assert np.allclose(matrix(R), np.eye(3), atol=1e-12), way
        with pytest.raises(ModelError, match="zero"):
            values.rotation(ELEMENT, {way: text.format(0.99 * TINY)})
    with pytest.raises(ModelError) as refused:
        values.rotation(ELEMENT, {"quat": "0 0 0 0"})
    said = "text: <geom>: quat is zero; write 1 0 0 0 for no rotation (line 1)"
    assert str(refused.value).replace('geom "g"', "<geom>") == said
    with pytest.raises(
        ModelError, match="it has both quat and euler; write its orientation in one"
    ):
        values.rotation(ELEMENT, {"quat": "1 0 0 0", "euler": "0 0 0"})


@pytest.mark.parametrize("auto", [True, False])
@pytest.mark.parametrize(
    ("switch", "text", "found"),
    [
        ("auto", "-1 2", (-1, 2)),
        ("auto", "2 2", ()),
        ("auto", "2 -1", ()),
        ("true", "-1 2", (-1, 2)),
        ("true", "2 2", (2, 2)),
        ("true", "2 -1", "range must be increasing, got 2 -1"),
        ("false", "-1 2", ()),
        ("maybe", "-1 2", 'limited is "maybe"; it must be one of auto, true, false'),
    ],
)
def test_limited_and_autolimits_decide_whether_a_range_applies(
    auto: bool, switch: str, text: str, found: tuple | str
) -> None:
    """`limited` may be true, false, or auto. With autolimits off, auto is refused."""
    values = values_of("" if auto else 'autolimits="false"')
    written = {"range": text, **({} if switch == "auto" else {"limited": switch})}
    if switch == "auto" and not auto:
        found = 'it has range, but autolimits is off; write limited="true" or "false"'
    if isinstance(found, str):
        with pytest.raises(ModelError, match=re.escape(found)):
            values.bounds(ELEMENT, written, "range", "limited")
    else:
        assert values.bounds(ELEMENT, written, "range", "limited") == found
    assert values.bounds(ELEMENT, {}, "range", "limited") == ()


def test_fromto_gives_the_middle_and_the_direction() -> None:
    """z is from the second end to the first. Without length the frame is not rotated."""
    values = values_of()
    for ends in ("1 2 3 1 2 7", "0 0 0 3 0 4", "1 1 1 1 1 1"):
        a, b = np.array(ends.split(), float).reshape(2, 3)
        X = values.shape_placement(ELEMENT, {"fromto": ends})
        assert np.allclose([float(x) for x in X.p], (a + b) / 2)  # type: ignore[arg-type]
        length = np.linalg.norm(a - b)
        z = (a - b) / length if length else [0, 0, 1]
        assert np.allclose(matrix(X.R)[:, 2], z)
    assert list(values.vector(ELEMENT, "pos", {}, (1, 2, 3))) == [1.0, 2.0, 3.0]
    assert values.boolean(ELEMENT, "x", {"x": "true"}, False) is True
    assert values.boolean(ELEMENT, "x", {}, False) is False


def test_lengths_are_refused_beyond_a_bound_that_is_itself_accepted() -> None:
    """Attributes without a unit of length, mass or angle have none."""
    values = values_of()
    text = f"{MOST!r} {-MOST!r} 0"
    for key in MEASURED:
        assert values.numbers(ELEMENT, key, {key: text}, 3) == [MOST, -MOST, 0.0]
        with pytest.raises(ModelError, match=rf"{key} is .*; numbers beyond 1e"):
            values.numbers(ELEMENT, key, {key: f"0 {-2 * MOST!r} 0"}, 3)
    assert values.number(ELEMENT, "stiffness", {"stiffness": f"{2 * MOST!r}"}, 0.0) == 2 * MOST


def test_bounds_of_the_compiler_are_read() -> None:
    """Values are not bounded if the file has none of them."""
    read = values_of('boundmass="0.5" boundinertia="0.25" settotalmass="3" fitaabb="true"').compiler
    assert (read.boundmass, read.boundinertia, read.settotalmass) == (0.5, 0.25, 3.0)
    usual = values_of().compiler
    assert (usual.boundmass, usual.boundinertia, usual.settotalmass) == (0.0, 0.0, -1.0)
    assert read.fitaabb and not usual.fitaabb
