"""SDF: values of elements, and their defaults."""

from __future__ import annotations

import numpy as np
import pytest
from sdf_texts import (
    ROUND_OFF,
    link,
    load,
    model,
    placed,
    poses,
    remarks,
    robot,
    sdf,
    world,
)

from warpdyn.formats.robot_source import xml_root
from warpdyn.formats.sdf import sdf_values as chosen
from warpdyn.formats.sdf.sdf_values import SdfValues, child, children, place
from warpdyn.model.description import ModelError
from warpdyn.model.joints import KINDS


def test_poses_in_degrees_and_as_quaternions() -> None:
    """pose/@degrees and pose/@rotation_format, since 1.9."""
    degrees = '<link name="a"><pose degrees="true">1 2 3 10 20 30</pose><inertial/></link>'
    halves = f"{np.sin(0.2)} 0 0 {np.cos(0.2)}"
    quaternion = (
        f'<link name="b"><pose rotation_format="quat_xyzw">1 2 3 {halves}</pose><inertial/></link>'
    )
    found = poses(load(robot(degrees, quaternion), floating_base=False))
    assert np.allclose(
        found["a"], placed(1, 2, 3, *np.radians([10, 20, 30])), rtol=0, atol=ROUND_OFF
    )
    assert np.allclose(found["b"], placed(1, 2, 3, 0.4), rtol=0, atol=ROUND_OFF)


@pytest.mark.parametrize(
    ("length", "words", "accepted"),
    [
        (0.51, "", True),
        (1.99, "", True),
        (0.5, "", False),
        (2.0, "", False),
        (1.0, "degrees", False),
    ],
)
def test_quaternions_are_of_nearly_unit_length(length: float, words: str, accepted: bool) -> None:
    """Between a half and two they are normalised; degrees are for angles."""
    words = f'{words}="true"' if words else ""
    numbers = f"{0.6 * length} 0 0 {0.8 * length}"
    text = robot(
        f'<link name="a"><pose rotation_format="quat_xyzw" {words}>1 2 3 {numbers}</pose>'
        "<inertial/></link>"
    )
    if accepted:
        turned = placed(1, 2, 3, 2 * np.arctan2(0.6, 0.8))
        assert np.allclose(poses(load(text, floating_base=False))["a"], turned, atol=ROUND_OFF)
    else:
        with pytest.raises(ModelError, match="a quaternion must be of unit length and has no deg"):
            load(text, floating_base=False)


def test_limits_that_exclude_every_position_are_remarked() -> None:
    """Those that leave one position are not."""
    values = SdfValues("text", (1, 9))
    for lower, upper in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
        limit = f"<limit><lower>{lower}</lower><upper>{upper}</upper></limit>"
        axis = element(f'<joint name="j"><axis>{limit}</axis></joint>')[0]
        bounds, *_ = values.axis_data(KINDS["revolute"], axis)
        assert (bounds.lower, bounds.upper) == (lower, upper)
    assert values.remarks == ['joint "j": its lower limit 1 is above its upper limit -1']


def test_empty_poses_are_the_origin() -> None:
    """<pose/> is six zeros, or no turn."""
    empty = (
        '<link name="a"><pose/><inertial/></link>'
        '<link name="b"><pose rotation_format="quat_xyzw"/><inertial/></link>'
    )
    found = poses(load(robot(empty), floating_base=False))
    assert np.array_equal(found["a"], np.eye(4)) and np.array_equal(found["b"], np.eye(4))


def test_old_files_say_frame_for_relative_to() -> None:
    """pose/@frame below 1.7; it means nothing after."""
    text = robot(
        link("a", "1 0 0 0 0 0"),
        '<link name="b"><pose frame="a">0 1 0 0 0 0</pose><inertial/></link>',
    )
    old, new = text.replace("1.9", "1.6"), text
    assert poses(load(old, floating_base=False))["b"][:3, 3].tolist() == [1, 1, 0]
    assert poses(load(new, floating_base=False))["b"][:3, 3].tolist() == [0, 1, 0]


def test_comments_may_stand_within_numbers() -> None:
    """And character data in sections."""
    text = robot(
        '<link name="a"><pose>1 2 <!-- up --> 3 <![CDATA[0 0]]> 0</pose><inertial/></link>'
    )
    assert poses(load(text, floating_base=False))["a"][:3, 3].tolist() == [1, 2, 3]


def test_a_worlds_gravity_is_remarked_if_it_is_not_the_earths() -> None:
    """A model holds none."""
    assert load(sdf(world("<gravity>0 0 -9.8</gravity>", model(link("a"))))).nv == 6
    moon = world("<gravity>0 0 -1.62</gravity>", model(link("a")))
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(moon))[0]
    old = world("<physics type='ode'><gravity>0 0 -1.62</gravity></physics>", model(link("a")))
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(old, version="1.5"))[0]


def element(text: str):
    return xml_root("text", text.encode(), None, "<a>")


def test_missing_and_empty_children_are_their_defaults() -> None:
    """number, flag and text; an infinite number only where it may be one."""
    values = SdfValues("text", (1, 9))
    a = element("<a><x>2</x><y/><z>inf</z><on>true</on><off>0</off><t> word </t></a>")
    assert [values.number(a, tag, 7.0) for tag in "xyw"] == [2.0, 7.0, 7.0]
    assert (
        values.number(a, "z", 7.0, infinite=True) == np.inf and values.number(None, "x", 7.0) == 7
    )
    assert [values.flag(a, tag) for tag in ("on", "off", "w")] == [True, False, None]
    assert values.child_string(a, "t") == "word" and values.child_string(a, "w") == ""
    with pytest.raises(ModelError, match='<z> is "inf"; it needs a finite number'):
        values.number(a, "z", 7.0)
    with pytest.raises(ModelError, match='t is "word"; it needs true or false'):
        values.flag(a, "t")


def test_elements_are_called_by_their_path() -> None:
    """A link in nested models has their names before its own; what has no name is called by its tag."""
    root = element(
        '<sdf><model name="m"><model name="n"><link name="l"><pose/></link></model></model></sdf>'
    )
    pose = next(root.iter("pose"))
    assert place(pose) == 'link "m::n::l"' and place(root) == "<sdf>"
    assert child(root, "link") is None and [e.get("name") for e in children(root, "model")] == ["m"]


@pytest.mark.parametrize("name", ["", " ", "world", "__model__"])
def test_names_that_cannot_be(name: str) -> None:
    """Blank ones, and those that SDFormat keeps for itself."""
    with pytest.raises(ModelError, match=r"has no name|is reserved by SDFormat"):
        SdfValues("text", (1, 9)).name(element(f'<link name="{name}"/>'))


def test_numbers_that_were_chosen() -> None:
    """By measurements, or by what is outside of this code; another value needs another reason."""
    assert chosen.OLD_INFINITY == 1e16
