"""The URDF reader: what it reads, what it remarks, what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from urdf_texts import (
    LIMIT,
    ROUND_OFF,
    body,
    inertia,
    joint,
    links,
    load,
    refusal,
    remarks,
    robot,
    urdf_rotation,
)

import warpdyn as wd
from warpdyn.formats import urdf as chosen
from warpdyn.formats.urdf import load_urdf
from warpdyn.model.description import Geometry, Mimic
from warpdyn.model.names import ModelError, ModelWarning
from warpdyn.model.poses_and_limits import EYE, Limits

# Sources.


def test_a_robot_without_a_name_gets_the_name_of_its_file(tmp_path: Path) -> None:
    """A robot's name changes no motion, so a missing name is not an error."""
    path = tmp_path / "arm.urdf"
    path.write_text('<robot><link name="a"/></robot>')
    assert load_urdf(path).name == "arm"


# XML.


def test_a_default_namespace_is_accepted() -> None:
    """Links and joints inside <robot xmlns="..."> are read."""
    text = robot(links("a", "b"), joint()).replace(
        "<robot", '<robot xmlns="http://example.org/urdf"'
    )
    assert load(text).joint_names == ("j",)


def test_elements_without_dynamics_are_left_out_silently() -> None:
    """gazebo, transmission, ros2_control, sensors and materials change no motion and are not
    remarked."""
    extras = """
      <gazebo reference="a"><sensor><plugin filename="x"/></sensor></gazebo><gazebo/>
      <transmission name="t"><type>x</type><joint name="j"/></transmission>
      <ros2_control name="c" type="system"><joint name="j"><command_interface name="position"/></joint></ros2_control>
      <sensor name="s" type="force_torque"><parent joint="j"/></sensor>
      <material name="bare"/><material/><!-- comment --><?pi?>
      <link name="a"><visual><geometry><sphere radius="1"/></geometry><material/></visual></link><link name="b"/>"""
    model = load(
        robot(
            extras,
            joint(inside=LIMIT + '<safety_controller k_velocity="x"/><calibration rising="y"/>'),
        )
    )
    assert model.joint_names == ("j",) and len(model.links[0].visuals) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (robot("<axel/>", links("a")), "ignored element <axel> of <robot>"),
        (
            robot('<link name="a"><gravity>0</gravity></link>'),
            "ignored element <gravity> of <link>",
        ),
        (robot('<link name="a" colour="red"/>'), 'ignored attribute "colour" of <link>'),
        (
            robot(links("a", "b"), joint(inside=LIMIT * 2)),
            "ignored second element <limit> of <joint>",
        ),
    ],
)
def test_unknown_elements_and_attributes_are_ignored_with_a_remark(text: str, said: str) -> None:
    """The user learns about a misspelt word."""
    assert remarks(text) == (f"{said} (line 1)",)


def test_the_base_joint_is_renamed_if_a_joint_is_named_floating_base() -> None:
    """Many quadrupeds attach their trunk to a link "base" by a fixed joint of that name. The joint
    of the free base takes another name."""
    trunk = body('<mass value="12"/>' + inertia(1, 2, 2.5), "trunk")
    held = joint("floating_base", "fixed", "base", "trunk", '<origin xyz="0.1 0 0"/>')
    leg = body('<mass value="1"/>' + inertia(1, 1, 1), "leg") + joint(
        "hip", "revolute", "trunk", "leg"
    )
    text = robot(links("base"), trunk, held, leg)
    model = load(text, floating_base=True)
    assert model.base_joint == "floating_base_2" and model.joint_names == ("hip",)
    base = [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8]
    q = wd.convert.pack_q(model, {"hip": 0.5, model.base_joint: np.array(base)})
    np.testing.assert_array_equal(q, [*base, 0.5])
    other = load(text.replace("floating_base", "weld"), floating_base=True)
    np.testing.assert_array_equal(wd.oracle(wd.crba, model, q), wd.oracle(wd.crba, other, q))
    assert not load(text).floating_base


def test_a_root_with_a_floating_joint_gets_one_free_base() -> None:
    """A file with a floating joint on its empty root has one free base, with a remark. An empty
    root that carries shapes too gets a free base of its own, and forward dynamics refuses it."""
    trunk = body('<mass value="12"/>' + inertia(1, 2, 2.5), "trunk")
    text = robot(links("world"), trunk, joint("free", "floating", "world", "trunk", ""))
    assert load(text).nv == 6
    with pytest.warns(ModelWarning, match='link "trunk" is the free base') as caught:
        model = load_urdf(text, floating_base=True)
    assert model.nv == 6 and len(caught) == len(model.warnings) == 1
    said = "leave floating_base=True out"
    ball = "<visual><geometry><sphere radius='1'/></geometry></visual>"
    held = f'<link name="b">{ball}</link>' + joint("x", "fixed", "world", "b", "")
    more = text.replace("</robot>", held + "</robot>")
    with pytest.warns(ModelWarning, match=said):
        model = load_urdf(more, floating_base=True)
    with pytest.raises(ModelError, match=said):
        wd.aba(model, model.neutral, np.zeros(12), np.zeros(12))
    heavy = text.replace(
        '<link name="world"/>', body('<mass value="1"/>' + inertia(1, 1, 1), "world")
    )
    assert load(heavy, floating_base=True).nv == 12


def test_xacro_elements_next_to_links_are_ignored_with_a_remark() -> None:
    """Expanded files keep macros and properties that were not used. urdfdom ignores them."""
    left = '\n<xacro:macro name="m"><link name="x"/></xacro:macro><sensor:camera/><xacro:arm/><arm:tip/>'
    assert remarks(robot(links("a"), left)) == (
        "ignored element <xacro:macro> of <robot> (line 2)",
        "ignored element <sensor:camera> of <robot> (line 2)",
        "ignored element <xacro:arm> of <robot> (line 2)",
        "ignored element <arm:tip> of <robot> (line 2)",
    )


def test_an_unexpanded_xacro_file_is_refused(tmp_path: Path) -> None:
    """Such a file describes only part of a robot: all links are in macros, a link contains a macro,
    or the suffix is .xacro."""
    whole = robot(links("a"), "<xacro:arm/>")
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(whole)
    declared = '<robot xmlns:xacro="http://ros.org/wiki/xacro">\n<xacro:arm/></robot>'
    for source in (declared, robot('<link name="a">\n<xacro:inertial/></link>')):
        assert "expand the file first" in refusal(source) and "(line 2)" in refusal(source)
    assert "expand the file first" in refusal(path)


# Joints.


def test_joint_values_are_read() -> None:
    """Pose, axis, limits, damping and friction equal those in the file."""
    inside = (
        LIMIT
        + '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 -1"/><dynamics damping="5" friction="6"/>'
    )
    read = load(robot(links("a", "b"), joint(inside=inside))).joint("j")
    assert (read.kind.name, read.parent, read.child) == ("revolute", "a", "b")
    assert read.pose.position == (1, 2, 3) and read.axis == (0, 0, -1)
    assert np.abs(np.array(read.pose.rotation) - urdf_rotation(0.1, 0.2, 0.3)).max() <= ROUND_OFF
    assert read.limits == Limits(-1, 2, 3, 4) and (read.damping, read.friction) == (5, 6)


def test_missing_joint_elements_have_default_values() -> None:
    """The default pose is zero, and the default axis is x. Damping and friction are zero."""
    read = load(robot(links("a", "b"), joint())).joint("j")
    assert read.pose.rotation is EYE and read.pose.position == (0, 0, 0)
    assert read.axis == (1, 0, 0) and read.damping == read.friction == 0 and read.mimic is None


@pytest.mark.parametrize(
    "kind", ["revolute", "continuous", "prismatic", "fixed", "planar", "floating"]
)
def test_every_joint_type_is_read(kind: str) -> None:
    """URDF has six joint types."""
    assert load(robot(links("a", "b"), joint(kind=kind))).joint("j").kind.name == kind


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3).filter(lambda axis: max(map(abs, axis)) > 1e-6))
def test_axes_are_normalised(axis: tuple[float, float, float]) -> None:
    """An axis is a direction, so the reader scales it to length one."""
    found = np.array(
        load(
            robot(
                links("a", "b"),
                joint(inside=f'{LIMIT}<axis xyz="{axis[0]!r} {axis[1]!r} {axis[2]!r}"/>'),
            )
        )
        .joint("j")
        .axis
    )
    assert abs(np.linalg.norm(found) - 1) <= 2 * ROUND_OFF
    assert (
        np.abs(np.cross(found, axis)).max() <= 1e-15 * np.linalg.norm(axis) * 4 and found @ axis > 0
    )


@pytest.mark.parametrize("axis", ["1e-310 0 0", "5e-324 0 0", "1e308 0 0", "7 0 0"])
def test_axes_of_extreme_length_are_normalised(axis: str) -> None:
    """The normalisation neither underflows nor overflows."""
    assert load(robot(links("a", "b"), joint(inside=f'{LIMIT}<axis xyz="{axis}"/>'))).joint(
        "j"
    ).axis == (1, 0, 0)


def test_the_axis_of_a_fixed_or_floating_joint_is_ignored() -> None:
    """Files often give such joints a zero axis."""
    for kind in ("fixed", "floating"):
        load(robot(links("a", "b"), joint(kind=kind, inside='<axis xyz="0 0 0"/>')))


@pytest.mark.parametrize(
    ("kind", "limit", "limits"),
    [
        ("revolute", '<limit effort="0" velocity="0" lower="1" upper="1"/>', Limits(1, 1, 0, 0)),
        ("prismatic", '<limit lower="-1" upper="1"/>', Limits(-1, 1)),
        ("revolute", '<limit upper="1" effort="2" velocity="3"/>', Limits(0, 1, 3, 2)),
        (
            "revolute",
            '<limit lower="-inf" upper="1" effort="inf" velocity="inf"/>',
            Limits(-math.inf, 1),
        ),
        (
            "continuous",
            '<limit lower="-1" upper="1" effort="2" velocity="3"/>',
            Limits(velocity=3, effort=2),
        ),
        (
            "planar",
            '<limit lower="-1" upper="1" effort="2" velocity="3"/>',
            Limits(velocity=3, effort=2),
        ),
        ("fixed", '<limit lower="-1" upper="1" effort="2" velocity="3"/>', Limits()),
    ],
)
def test_joint_limits_are_read(kind: str, limit: str, limits: Limits) -> None:
    """Zero limits and equal limits are kept. A joint type without position limits has none."""
    assert load(robot(links("a", "b"), joint(kind=kind, inside=limit))).joint("j").limits == limits


@pytest.mark.parametrize("inside", ["", '<limit effort="1" velocity="2"/>'])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_joints_without_position_limits_are_remarked_and_unlimited(kind: str, inside: str) -> None:
    """A revolute or prismatic joint without limits in the file can move without bound."""
    with pytest.warns(ModelWarning, match='joint "j".*without position limits'):
        model = load_urdf(robot(links("a", "b"), joint(kind=kind, inside=inside)))
    assert model.position_lower[0] == -math.inf and model.position_upper[0] == math.inf


def test_crossed_limits_are_remarked_and_kept() -> None:
    """A lower limit above the upper limit is used as written."""
    assert (
        "above its upper limit"
        in remarks(robot(links("a", "b"), joint(inside='<limit lower="2" upper="1"/>')))[0]
    )


@pytest.mark.parametrize("name", ["velocity", "effort", "damping", "friction"])
def test_negative_numbers_of_a_joint_are_remarked_and_kept(name: str) -> None:
    """Damping below zero speeds a joint up. URDF has no number that means "unlimited"."""
    written = {"velocity": 1, "effort": 1, "damping": 0, "friction": 0, name: -2}
    inside = (
        '<limit lower="-1" upper="1" velocity="{velocity}" effort="{effort}"/>'
        '<dynamics damping="{damping}" friction="{friction}"/>'
    ).format(**written)
    said = f'joint "j": its {name} is negative, -2'
    assert remarks(robot(links("a", "b"), joint(inside=inside))) == (said,)


def test_mimic_defaults_to_multiplier_one_and_offset_zero() -> None:
    """A joint without these attributes follows one to one."""
    text = robot(
        links("a", "b", "c", "d"),
        joint("lead"),
        joint("plain", parent="b", child="c", inside=LIMIT + '<mimic joint="lead"/>'),
        joint(
            "scaled",
            parent="b",
            child="d",
            inside=LIMIT + '<mimic joint="lead" multiplier="-2" offset="0.5"/>',
        ),
    )
    with pytest.warns(ModelWarning, match='"scaled" follows "lead", whose limits let it move'):
        model = load_urdf(text)
    assert model.joint("plain").mimic == Mimic("lead", 1, 0) and model.joint(
        "scaled"
    ).mimic == Mimic("lead", -2, 0.5)
    assert model.joint_names == ("lead",) and model.nq == model.nv == 1


def test_mimic_on_a_fixed_joint_is_ignored() -> None:
    """A fixed joint follows no other joint."""
    model = load(robot(links("a", "b"), joint(kind="fixed", inside='<mimic joint="gone"/>')))
    assert model.joint("j").mimic is None


# Shapes.


def test_shapes_are_read() -> None:
    """Box, cylinder, sphere and mesh, with pose and name. package:// paths remain text."""
    text = """<link name="a">
      <visual name="v"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry></visual>
      <visual><geometry><cylinder radius="1" length="2"/></geometry></visual>
      <collision><geometry><sphere radius="1"/></geometry></collision>
      <collision><geometry><mesh filename="package://p/m.stl" scale="1 -1 1"/></geometry></collision>
      <collision><geometry><mesh filename="m.dae"/></geometry></collision></link>"""
    link = load(robot(text)).link("a")
    assert [(shape.shape, shape.size) for shape in link.visuals] == [
        ("box", (1, 2, 3)),
        ("cylinder", (1, 2)),
    ]
    assert link.visuals[0].name == "v" and link.visuals[0].pose.position == (1, 0, 0)
    assert link.collisions == (
        Geometry("sphere", (1.0,)),
        Geometry("mesh", (1.0, -1.0, 1.0), "package://p/m.stl"),
        Geometry("mesh", (1.0, 1.0, 1.0), "m.dae"),
    )


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<geometry/>",
        "<geometry><capsule/></geometry>",
        "<geometry><mesh/></geometry>",
        '<geometry><box size="1 nan 1"/></geometry>',
        '<geometry><sphere radius="1"/><box size="1 1 1"/></geometry>',
    ],
)
def test_broken_shapes_are_remarked_and_left_out(inside: str) -> None:
    """No motion depends on a shape, so the robot is loaded without it."""
    with pytest.warns(ModelWarning, match='link "a".*this visual is left out'):
        assert (
            load_urdf(robot(f'<link name="a"><visual>{inside}</visual></link>')).link("a").visuals
            == ()
        )


@pytest.mark.parametrize(
    ("root", "word"),
    [("sdf", "SDF"), ("mujoco", "MJCF"), ("gazebo", "format"), ("x:robot", "x:robot")],
)
def test_a_root_element_other_than_robot_is_refused(root: str, word: str) -> None:
    """The message names the format of a root element that the library knows."""
    message = refusal(f"<{root}/>")
    assert f"the root element is <{root}>" in message and word in message


def test_the_version_attribute_of_robot_is_not_remarked() -> None:
    """It changes nothing. The same attribute of another element is remarked."""
    text = f'<robot name="r" version="1.0">{links("a")}</robot>'
    assert load(text).warnings == ()
    (said,) = remarks(robot('<link name="a" version="1.0"/>'))
    assert said == 'ignored attribute "version" of <link> (line 1)'


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.TEXT == (0, None)
    assert chosen.NUMBER == (1, None)
    assert chosen.VECTOR == (3, None)
