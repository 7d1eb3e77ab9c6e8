"""MJCF: five of our models compared with MuJoCo's mass matrix, bias and poses; what is read, and
what is refused."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mjcf_texts import (
    ARM,
    INERTIAL,
    LOOSE,
    MUJOCO,
    SPHERICAL,
    TEXTS,
    WALKER,
    body,
    equality,
    free,
    load,
)
from mujoco_peer import Peer
from states import error, states

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError, ModelWarning

each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


# Against MuJoCo.


@each_text
@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
def test_dynamics_equal_mujocos(text: str, quaternion: str) -> None:
    """The mass matrix (mj_fullM), bias (qfrc_bias) and poses of every body and site are
    compared."""
    model = load(free(text))
    peer, s = Peer(free(text), model), states(model, 4)
    there = load(free(text), quaternion=quaternion)
    for q, v in zip(s.q, s.v, strict=True):
        named = dict(zip(model.q_names, q, strict=True))
        own = np.array([named[name] for name in there.q_names])
        assert error(wd.oracle(wd.crba, there, own), peer.mass_matrix(q, v)) < MUJOCO
        assert error(wd.oracle(wd.rnea, there, own, v, 0 * v), peer.bias(q, v)) < MUJOCO
        for name in there.link_names:
            if ":" not in name and name != "world":
                assert error(wd.oracle(wd.fk, there, own, frame=name), peer.pose(q, name)) < MUJOCO


# What is read.


def test_attributes_of_joints_are_read() -> None:
    """They are limits in radians, armature and damping of the class, friction, and effort. The
    joint type depends on whether the joint is limited."""
    model = load(ARM)
    shoulder, reach = model.joint("shoulder"), model.joint("reach")
    assert shoulder.kind is KINDS["revolute"] and model.joint("pitch").kind is KINDS["continuous"]
    assert (shoulder.limits.lower, shoulder.limits.upper) == (math.radians(-90), math.radians(60))
    assert (shoulder.armature, shoulder.damping, shoulder.friction) == (0.1, 2, 0.3)
    assert (reach.kind, reach.limits.lower, reach.limits.upper) == (KINDS["prismatic"], 0, 0.4)
    assert model.joint("pitch").armature == 0 and model.joint("yaw").limits.effort == 3
    assert model.joint("left").armature == model.joint("right").armature == 0.02
    assert (
        model.joint("right").axis != model.joint("left").axis
        and model.joint("right").limits.upper == 0.2
    )
    assert model.name == "arm" and model.root == "world" and model.link("door").mass == 0
    assert [name for name in model.link_names if ":" in name] == [
        *("upper:shoulder", "fore:pitch", "fore:reach", "fore:yaw")
    ]


def test_a_single_free_body_is_the_free_base() -> None:
    """It is so with and without floating_base=True. With floating_base=False the body is fixed
    where the file draws it. Several free bodies float in the world."""
    walker = load(WALKER)
    assert (
        walker.floating_base and walker.root == "torso" and walker.q_names[0] == "floating_base.x"
    )
    held = load(WALKER, floating_base=False)
    assert held.root == "world" and held.nv == walker.nv - 6 and not held.floating_base
    assert held.joint("world_to_torso").pose.position == (0, 0, 1)
    loose = load(LOOSE)
    assert loose.root == "world" and loose.q_names[0] == "thrown.x" and not loose.floating_base
    assert load(body(INERTIAL), floating_base=True).nv == 6 and load(body(INERTIAL)).nv == 0
    with pytest.raises(ModelError, match="there are 3 bodies; leave floating_base out"):
        load(LOOSE, floating_base=True)
    with pytest.raises(ModelError, match='"b" has a joint there'):
        load(body(INERTIAL + "<joint/>"), floating_base=True)


def test_bodies_and_joints_without_a_name_are_numbered(tmp_path: Path) -> None:
    """The numbers avoid names that are taken. The file is read from a path."""
    path = tmp_path / "two.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="body2"><joint name="joint1"/>{INERTIAL}'
        f"<body><joint/>{INERTIAL}<site/></body></body></worldbody></mujoco>"
    )
    model = load_mjcf(path)
    assert model.link_names == ("world", "body2", "body2_") and model.joint_names == (
        "joint1",
        "joint1_",
    )


def test_sites_are_frames_with_their_names() -> None:
    """A site with the name of a body gets another. The z axis of a site between two points is along
    the line."""
    model = load(body(INERTIAL + '<site name="b"/><site name="line" fromto="0 0 0 0 2 0"/>'))
    assert model.link_names == ("world", "b", "b_site", "line")
    line = model.joint("line_joint").pose
    assert line.position == (0, 1, 0) and np.allclose(np.array(line.rotation)[:, 2], (0, -1, 0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            body(INERTIAL + '<joint stiffness="3 0 1"/>'),
            '"stiffness" of <joint> for higher powers',
        ),
        (body(INERTIAL + '<joint springdamper="1 1"/>'), "springdamper"),
        (body(INERTIAL + '<joint type="ball" range="0 40"/>'), "range of a ball joint"),
        (body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/>'), "triangle inequality"),
        ('<mujoco><option gravity="0 0 0"/><worldbody/></mujoco>', r"gravity is \(0, 0, 0\)"),
        (
            '<mujoco><option><flag gravity="disable"/></option><worldbody/></mujoco>',
            r"gravity is \(0, 0, 0\)",
        ),
        ("<mujoco><worldbody><wheel/></worldbody></mujoco>", "element <wheel>"),
        (body(INERTIAL + '<flexcomp name="f"/>'), "<flexcomp>: a deformable body"),
        (
            body(INERTIAL).replace(
                "</mujoco>", '<deformable><flex name="f"/></deformable></mujoco>'
            ),
            "<flex>: a deformable body",
        ),
        (
            body(INERTIAL).replace("</mujoco>", '<asset><skin name="s"/></asset></mujoco>'),
            "<skin>: a surface that is drawn over bodies",
        ),
        (
            f'<mujoco><worldbody><site name="s"/><body><freejoint/>{INERTIAL}</body></worldbody></mujoco>',
            "sites of <worldbody> are left out",
        ),
    ],
)
def test_ignored_elements_that_change_the_motion_are_warned_about(text: str, said: str) -> None:
    """The warning names the attribute or element."""
    with pytest.warns(ModelWarning, match=said):
        load_mjcf(text)


def test_elements_that_change_no_motion_are_ignored_silently() -> None:
    """These are actuators, tendons, sensors, contacts, assets, keyframes, and options at their
    defaults."""
    extra = (
        '<option timestep="0.01" gravity="0 0 -9.81"/><asset><mesh name="m" file="nowhere.obj"/></asset>'
        '<actuator><motor joint="j"/></actuator><sensor/><contact/><tendon/><keyframe/><visual/><size/><statistic/>'
    )
    inside = f'<joint name="j"/>{INERTIAL}<geom type="mesh" mesh="m"/>'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_mjcf(body(inside).replace("<worldbody>", extra + "<worldbody>"))
    assert model.nv == 1


@pytest.mark.parametrize(
    "inside",
    [
        '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="1 2 2.5" euler="30 20 10"/>',
        '<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="1 2 2.5 0.1 0.2 0.3"/>',
        '<geom type="box" size="0.1 0.2 0.3" pos="1 0 0" euler="10 20 30"/><geom size="0.1"/>',
    ],
    ids=["diagonal", "full", "geoms"],
)
@pytest.mark.parametrize("way", ["joint", "compiler", "off", "child"])
def test_an_aligned_free_joint_is_at_the_centre_of_mass(inside: str, way: str) -> None:
    """Its axes are the principal axes, if the file or its compiler asks for that and the body has
    no children."""
    joint = {"joint": '<freejoint align="true"/>', "off": '<freejoint align="false"/>'}
    text = body(
        inside + joint.get(way, "<freejoint/>") + '<site name="s" pos="1 0 0"/>', euler="10 0 0"
    )
    if way != "joint":
        text = text.replace("<worldbody>", '<compiler alignfree="true"/><worldbody>')
    if way == "child":
        text = text.replace("</body>", f'<body name="c">{INERTIAL}</body></body>')
    model = load(text)
    assert (model.link("b").com == (0, 0, 0)) == (way in ("joint", "compiler"))
    peer, s = Peer(text, model), states(model, 2)
    for q, v in zip(s.q, s.v, strict=True):
        assert error(wd.oracle(wd.crba, model, q), peer.mass_matrix(q, v)) < MUJOCO
        assert error(wd.oracle(wd.rnea, model, q, v, 0 * v), peer.bias(q, v)) < MUJOCO
        for name in ("b", "s"):
            assert error(wd.oracle(wd.fk, model, q, frame=name), peer.pose(q, name)) < MUJOCO


# What is refused.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<robot/>", "this is URDF, use load_urdf"),
        ("<sdf/>", "this is SDF, use load_sdf"),
        ("<html/>", "this is another format"),
        ("<mujoco>", "not well-formed"),
        ('<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]><mujoco>&e;</mujoco>', "entities"),
        ('<mujoco><include file="other.xml"/></mujoco>', "looked for next to a file"),
        (
            '<mujoco><worldbody><composite count="2"/></worldbody></mujoco>',
            'composite type="".* is not read',
        ),
        ("<mujoco><worldbody><joint/></worldbody></mujoco>", "the world cannot have a joint"),
        ('<mujoco><compiler coordinate="global"/></mujoco>', "no longer part of MJCF"),
        (
            '<mujoco><compiler angle="grad"/></mujoco>',
            'angle is "grad"; it must be one of degree, radian',
        ),
        ('<mujoco><compiler eulerseq="xyw"/></mujoco>', "three letters of xyzXYZ"),
        ("<mujoco><default><default/></default></mujoco>", "has no class"),
        (
            body(INERTIAL, childclass="soft"),
            'body "b": there is no default class "soft"; the classes are none',
        ),
        (body(INERTIAL + '<joint class="soft"/>'), "there is no default class"),
        (
            body(INERTIAL, pos="1 2"),
            r'body "b": pos is "1 2"; it needs 3 finite numbers \(line 1\)',
        ),
        (body(INERTIAL, pos="1 2 nan"), "3 finite numbers"),
        (body(INERTIAL, quat="0 0 0 0"), "quat is zero"),
        (body(INERTIAL, quat="1 0 0 0", euler="0 0 0"), "both quat and euler"),
        (body(INERTIAL, zaxis="0 0 0"), "zaxis has an axis of length zero"),
        (body(INERTIAL, xyaxes="1 0 0 2 0 0"), "xyaxes has an axis of length zero"),
        (body('<inertial mass="1" diaginertia="1 1 1"/>'), "<inertial> has no pos"),
        (body('<inertial pos="0 0 0"/>'), "<inertial> has no mass"),
        (body('<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "must not be negative"),
        (
            body(INERTIAL + '<joint name="j" type="screw"/>'),
            'joint "j": type is "screw"; it must be one of hinge, slide',
        ),
        (body(INERTIAL, pos="1e308 0 0"), 'pos is "1e308 0 0"; numbers beyond 1e'),
        (body('<inertial pos="0 0 0" mass="1e10"/>'), 'mass is "1e10"; numbers beyond'),
        (
            body(INERTIAL + '<joint name="j" limited="true" range="2 1"/>'),
            "range must be increasing",
        ),
        (
            body(INERTIAL + '<freejoint/><joint name="j"/>'),
            "the one joint of a body in <worldbody>",
        ),
        (
            body(INERTIAL + f"<body><freejoint/>{INERTIAL}</body>"),
            "the one joint of a body in <worldbody>",
        ),
        (body(INERTIAL + f'<body name="b">{INERTIAL}</body>'), 'two bodies are named "b"'),
        (body(INERTIAL + f'<body name="world">{INERTIAL}</body>'), 'two bodies are named "world"'),
        (body(INERTIAL + '<joint name="j"/><joint name="j"/>'), 'two joints are named "j"'),
        (
            body('<geom name="g" type="mesh" mesh="m"/><joint/>'),
            'geom "g": there is no mesh "m"; add it to <asset>',
        ),
        (body('<geom size="nan"/>'), 'size is "nan"; it needs a finite number'),
        (body('<geom type="box" size="-1 0 0"/>'), "MuJoCo cannot weigh the geoms"),
        (equality("<joint/>"), "it has no joint1"),
        (equality('<joint joint1="r"/>'), 'joint1 "r" does not exist'),
        (equality('<joint joint1="p" joint2="q" polycoef="x"/>'), 'polycoef is "x"'),
        (equality('<joint joint1="p" joint2="p"/>'), "follow each other in a cycle"),
    ],
)
def test_invalid_files_are_refused(text: str, said: str) -> None:
    """One error names the file, the element and the remedy."""
    with pytest.raises(ModelError, match=said):
        load(text)


def test_a_range_needs_limited_if_autolimits_is_off() -> None:
    """MuJoCo requires the same."""
    text = body(INERTIAL + '<joint range="0 1"/>').replace(
        "<worldbody>", '<compiler autolimits="false"/><worldbody>'
    )
    with pytest.raises(ModelError, match="autolimits is off"):
        load(text)


# Fuzzing.

PIECES = st.sampled_from([
    *('<body name="a">', '<body pos="1 0 0" euler="0 9 0">', "</body>", '<frame quat="1 1 0 0">', "</frame>"),
    *("<joint/>", '<joint type="ball"/>', '<joint name="j" type="slide" axis="0 0 0"/>', "<freejoint/>", INERTIAL),
    *('<joint ref="9" range="1 2" pos="1 0 0"/>', '<inertial pos="0 0 0" mass="1e400"/>', '<site name="a"/>'),
    *('<geom size="0" mass="0"/>', '<default class="c">', "</default>", '<compiler angle="radian"/>', "<equality>"),
    *('<replicate count="2" offset="1 0 0">', "</replicate>", '<include file="a.xml"/>', '<body mocap="true">'),
    *("<tendon>", "</tendon>", '<fixed name="t" armature="1">', "</fixed>", '<joint joint="j" coef="0"/>'),
    *('<tendon tendon1="t"/>', '<mesh name="m" vertex="0 0 0 1"/>', "<asset>", "</asset>"),
    *('<geom type="mesh" mesh="m"/>', '<tendon tendon1="u" tendon2="t"/>'),
    *('<joint stiffness="2" springref="1e400"/>', '<freejoint align="true"/>', '<body gravcomp="x"/>'),
    *('<joint joint1="j" joint2="j"/>', "</equality>", "<worldbody>", "</worldbody>", "&amp;", "<a:b/>", "\ud800"),
])  # fmt: skip


def load_or_refuse(text: str | bytes) -> None:
    """Load the text; a ModelError is accepted, any other error fails the test."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            load_mjcf(text)
    except ModelError:
        pass


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14))
def test_random_elements_give_a_model_or_a_model_error(pieces: list[str]) -> None:
    """No other error is raised."""
    load_or_refuse(f"<mujoco>{''.join(pieces)}</mujoco>")
    load_or_refuse(f"<mujoco><worldbody>{''.join(pieces)}</worldbody></mujoco>")


@settings(max_examples=200)
@given(
    st.sampled_from([ARM, SPHERICAL]), st.integers(0, 4000), st.integers(0, 40), st.text(max_size=6)
)
def test_a_damaged_file_gives_a_model_or_a_model_error(
    text: str, start: int, size: int, new: str
) -> None:
    """A part of a valid file is replaced."""
    load_or_refuse(text[:start] + new + text[start + size :])


@given(st.binary(max_size=60))
def test_random_bytes_give_a_model_or_a_model_error(data: bytes) -> None:
    """No other error is raised."""
    load_or_refuse(b"<mujoco>" + data)
    load_or_refuse(data)


@pytest.mark.parametrize(
    ("damping", "said"), [("1", True), ("0", False), ("0.00 0 0", False), ("0 0 0.5", True)]
)
def test_damping_of_a_free_base_is_remarked(damping: str, said: bool) -> None:
    """The damping may be that of the joint or of its class. Zero damping is not remarked."""
    base = f'<body name="b"><joint type="free" damping="{damping}"/>{INERTIAL}</body>'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_mjcf(f"<mujoco><worldbody>{base}</worldbody></mujoco>")
    found = [each for each in model.warnings if "damping of a free base" in each]
    assert bool(found) is said
