"""SDF: values of elements, and defaults."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sdf_texts import (
    ROUND_OFF,
    link,
    load,
    model,
    pose_matrix,
    poses,
    quietly,
    remarks,
    robot,
    sdf,
    world,
)

from warpdyn.formats.robot_source import xml_root
from warpdyn.formats.sdf import sdf_values as chosen
from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.formats.sdf.sdf_values import SdfValues, child, children, place
from warpdyn.model.names import ModelError, ModelWarning


def test_poses_in_degrees_and_as_quaternions_are_read() -> None:
    """pose/@degrees and pose/@rotation_format exist since version 1.9."""
    degrees = '<link name="a"><pose degrees="true">1 2 3 10 20 30</pose><inertial/></link>'
    halves = f"{np.sin(0.2)} 0 0 {np.cos(0.2)}"
    quaternion = (
        f'<link name="b"><pose rotation_format="quat_xyzw">1 2 3 {halves}</pose><inertial/></link>'
    )
    found = poses(load(robot(degrees, quaternion), floating_base=False))
    assert np.allclose(
        found["a"], pose_matrix(1, 2, 3, *np.radians([10, 20, 30])), rtol=0, atol=ROUND_OFF
    )
    assert np.allclose(found["b"], pose_matrix(1, 2, 3, 0.4), rtol=0, atol=ROUND_OFF)


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
    """A length between a half and two is normalised. Degrees are for angles."""
    words = f'{words}="true"' if words else ""
    numbers = f"{0.6 * length} 0 0 {0.8 * length}"
    text = robot(
        f'<link name="a"><pose rotation_format="quat_xyzw" {words}>1 2 3 {numbers}</pose>'
        "<inertial/></link>"
    )
    if accepted:
        turned = pose_matrix(1, 2, 3, 2 * np.arctan2(0.6, 0.8))
        assert np.allclose(poses(load(text, floating_base=False))["a"], turned, atol=ROUND_OFF)
    else:
        with pytest.raises(ModelError, match="a quaternion must be of unit length and has no deg"):
            load(text, floating_base=False)


def test_empty_poses_are_the_identity() -> None:
    """<pose/> is six zeros, or no rotation."""
    empty = (
        '<link name="a"><pose/><inertial/></link>'
        '<link name="b"><pose rotation_format="quat_xyzw"/><inertial/></link>'
    )
    found = poses(load(robot(empty), floating_base=False))
    assert np.array_equal(found["a"], np.eye(4)) and np.array_equal(found["b"], np.eye(4))


def test_the_frame_attribute_of_old_files_means_relative_to() -> None:
    """Versions before 1.7 have pose/@frame. Later versions ignore it, with a remark."""
    text = robot(
        link("a", "1 0 0 0 0 0"),
        '<link name="b"><pose frame="a">0 1 0 0 0 0</pose><inertial/></link>',
    )
    old, new = text.replace("1.9", "1.6"), text
    assert poses(load(old, floating_base=False))["b"][:3, 3].tolist() == [1, 1, 0]
    with pytest.warns(ModelWarning, match='ignored attribute "frame" of <pose>'):
        assert poses(load_sdf(new, floating_base=False))["b"][:3, 3].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("part", "attribute"),
    [
        ('<link name="b" placement_frame="none"><inertial/></link>', '"placement_frame" of <link>'),
        ('<frame name="f" relative_to="a"/>', '"relative_to" of <frame>'),
        (
            '<link name="b"><inertial/><collision name="c"><pose frame="a">0 0 1 0 0 0</pose>'
            "<geometry><sphere/></geometry></collision></link>",
            '"frame" of <pose>',
        ),
        (
            '<link name="b"><inertial/></link><joint name="j" type="revolute"><parent>a</parent>'
            '<child>b</child><axis><xyz relative_to="a">0 0 1</xyz></axis></joint>',
            '"relative_to" of <xyz>',
        ),
    ],
)
def test_an_attribute_that_is_not_read_is_remarked(part: str, attribute: str) -> None:
    """It may be meant for another element, or another version."""
    assert [
        x for x in remarks(robot(link("a"), part)) if x.startswith(f"ignored attribute {attribute}")
    ]
    assert not load(
        robot(link("a"), re.sub(r' (placement_frame|relative_to|frame)="\w+"', "", part))
    ).warnings


def test_comments_may_be_between_numbers() -> None:
    """CDATA sections may be, too."""
    text = robot(
        '<link name="a"><pose>1 2 <!-- up --> 3 <![CDATA[0 0]]> 0</pose><inertial/></link>'
    )
    assert poses(load(text, floating_base=False))["a"][:3, 3].tolist() == [1, 2, 3]


def test_a_worlds_gravity_is_remarked_unless_it_is_the_earths() -> None:
    """A model has no gravity of its own."""
    assert load(sdf(world("<gravity>0 0 -9.8</gravity>", model(link("a"))))).nv == 6
    moon = world("<gravity>0 0 -1.62</gravity>", model(link("a")))
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(moon))[0]
    old = world("<physics type='ode'><gravity>0 0 -1.62</gravity></physics>", model(link("a")))
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(old, version="1.5"))[0]


def element(text: str):
    return xml_root("text", text.encode(), None, "<a>")


def test_missing_and_empty_children_have_default_values() -> None:
    """This is checked for numbers, flags and texts. Only some numbers may be infinite."""
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


def test_messages_name_elements_by_their_path() -> None:
    """The path of a link begins with the names of its nested models. An element without a name has
    its tag."""
    root = element(
        '<sdf><model name="m"><model name="n"><link name="l"><pose/></link></model></model></sdf>'
    )
    pose = next(root.iter("pose"))
    assert place(pose) == 'link "m::n::l"' and place(root) == "<sdf>"
    assert child(root, "link") is None and [e.get("name") for e in children(root, "model")] == ["m"]


@pytest.mark.parametrize("name", ["", " ", "world", "__model__"])
def test_blank_and_reserved_names_are_refused(name: str) -> None:
    """SDFormat reserves some names for itself."""
    with pytest.raises(ModelError, match=r"has no name|is reserved by SDFormat"):
        SdfValues("text", (1, 9)).name(element(f'<link name="{name}"/>'))


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.OLD_INFINITY == 1e16


@pytest.mark.parametrize(("version", "x"), [("1.6", 3.0), ("1.7", 5.0)])
def test_the_frame_of_a_pose_is_named_by_relative_to_since_version_1_7(
    version: str, x: float
) -> None:
    """The attribute is called `frame` in earlier versions."""
    first = '<link name="a"><pose>2 0 0 0 0 0</pose><inertial/></link>'
    second = '<link name="b"><pose relative_to="a">3 0 0 0 0 0</pose><inertial/></link>'
    found = poses(quietly(robot(first, second, version=version), floating_base=False))
    assert found["b"][0, 3] == x


@pytest.mark.parametrize(
    ("words", "is_nothing"),
    [("", True), ("0 0.0 -0", True), ("false", True), ("0 true", False), ("0 1e-9", False)],
)
def test_an_element_of_zeros_and_falsehoods_says_nothing(words: str, is_nothing: bool) -> None:
    element = xml_root("file", f"<a><b>{words}</b></a>".encode(), None, "<a>")
    assert chosen._says_nothing(element) is is_nothing


@pytest.mark.parametrize("inside", ['<jont name="b" type="fixed"/>', '<lnk name="b"/>'])
def test_an_empty_element_with_attributes_is_remarked(inside: str) -> None:
    """A misspelled joint of a model would otherwise leave no trace."""
    text = robot('<link name="a"><inertial/></link>', inside)
    assert any("ignored element" in line for line in remarks(text))
    in_world = sdf(world(model('<link name="a"><inertial/></link>'), inside))
    assert any("of <world>" in line for line in remarks(in_world))
