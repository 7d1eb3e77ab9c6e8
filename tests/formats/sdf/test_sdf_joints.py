"""The SDF reader: every joint type compared with its formula, axes, threads, directions and
loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sdf_texts import (
    AB,
    ROUND_OFF,
    axis,
    frame,
    joint,
    link,
    load,
    model,
    motion,
    pose_matrix,
    poses,
    quietly,
    refusal,
    remarks,
    robot,
    rotation,
    sdf,
    world,
)

import warpdyn as wd
from warpdyn.algebra.quaternions import quaternion_rotation
from warpdyn.model import Model
from warpdyn.model.poses_and_limits import Limits

B_IN_A = pose_matrix(1, 2, 3, 0.1, 0.2, 0.3)
"""Pose of link b in AB."""

U, W = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
TWO_AXES = axis() + axis("0 1 0", tag="axis2")
PITCH = "<screw_thread_pitch>0.5</screw_thread_pitch>"
TURN = [0.1, -0.2, 0.3, math.sqrt(1 - 0.14)]

KINDS = {
    "revolute": ("", [0.7], lambda q: motion(rotation(U, q[0]))),
    "continuous": ("", [0.7], lambda q: motion(rotation(U, q[0]))),
    "prismatic": ("", [0.7], lambda q: motion(p=U * q[0])),
    "screw": (PITCH, [0.7], lambda q: motion(rotation(U, q[0]), U * 0.5 * q[0] / (2 * math.pi))),
    "fixed": ("", [], lambda q: np.eye(4)),
    "ball": (
        "",
        TURN,
        lambda q: motion(np.array([[*row] for row in quaternion_rotation(q).matrix.rows])),
    ),
    "universal": ("", [0.7, -0.4], lambda q: motion(rotation(U, q[0]) @ rotation(W, q[1]))),
    "revolute2": ("", [0.7, -0.4], lambda q: motion(rotation(U, q[0]) @ rotation(W, q[1]))),
}
"""What a type needs besides its axes, a position, and the motion of the child side in the parent side."""

PLACES = ["", "0.5 0 0 0 0 0", "0.5 -1 2 0.4 0.5 0.6", "0 0 0 0.4 0.5 0.6"]
"""Joint frames in the child link."""


def numbers(text: str) -> np.ndarray:
    return pose_matrix(*(float(word) for word in text.split()))


def arm(kind: str, pose: str = "", inside: str = "") -> str:
    axes = axis("0.6 0 0.8")
    if kind in ("universal", "revolute2"):
        axes += axis("0 1 0", tag="axis2")
    return robot(AB, joint("j", kind, inside=inside + axes, pose=pose))


@pytest.mark.parametrize("pose", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_joint_type_moves_by_its_formula(kind: str, pose: str) -> None:
    """b = a_T_b J E(q) J^-1: the joint frame J is where the file puts it in the child, not at the
    child's origin."""
    inside, q, formula = KINDS[kind]
    found = load(arm(kind, pose, inside), floating_base=False)
    J = numbers(pose)
    if kind == "ball" and not J[:3, 3].any():
        q = [
            *(J[:3, :3] @ q[:3]),
            q[3],
        ]  # the child's axes are used if the joint is at its origin
        turn = np.linalg.inv(J) @ formula(q) @ J
    else:
        turn = formula(q)
    moved = poses(found, q)["b"]
    assert np.allclose(moved, B_IN_A @ J @ turn @ np.linalg.inv(J), rtol=0, atol=ROUND_OFF)
    assert np.allclose(poses(found)["b"], B_IN_A, rtol=0, atol=ROUND_OFF)


def test_a_joint_off_its_childs_origin_adds_a_massless_link() -> None:
    """The link is in the joint frame and has the joint's name. It is not needed if the axis passes
    through the origin, or if nothing turns."""
    beside = load(arm("revolute", "0.5 0 0 0 0 0"))
    assert (
        beside.link_names == ("a", "j", "b")
        and beside.link("j").mass == 0
        and beside.parent("b") == "j"
    )
    assert beside.joint_names == ("j",) and beside.joint("j_to_b").kind.nv == 0
    assert load(arm("revolute", "0.6 0 0.8 0 0 0")).link_names == ("a", "b")
    assert load(arm("prismatic", "0.5 0 0 0 0 0")).link_names == ("a", "b")


def test_joint_types_in_capitals_are_read() -> None:
    """libsdformat reads them too."""
    assert load(robot(AB, joint(kind="Revolute"))).nv == 7


# Axes.


def direction(found: Model, name: str = "j") -> np.ndarray:
    """The axis in the world, at the file's poses."""
    own = found.joint(name)
    return poses(found)[own.parent][:3, :3] @ np.array(own.pose.rotation) @ own.axis


CHILD, MODEL, JOINT = (
    pose_matrix(0, 0, 0, *rpy)[:3, :3] for rpy in ((0.1, 0.2, 0.3), (0.5, 0, 0.2), (0.3, 0.2, 0.1))
)
TURNED_MODEL = "<pose>0 0 0 0.5 0 0.2</pose>"


@pytest.mark.parametrize(
    ("version", "frame_of", "wanted"),
    [
        ("1.9", "", CHILD @ JOINT),
        ("1.9", "__model__", np.eye(3)),
        ("1.9", "b", CHILD),
        ("1.9", "f", CHILD @ pose_matrix(0, 0, 0, 1)[:3, :3]),
        ("1.4", "", np.eye(3)),
        ("1.5", "", CHILD @ JOINT),
        ("1.6", "", CHILD @ JOINT),
        ("1.5", "parent", np.eye(3)),
        ("1.6", "parent", np.eye(3)),
        ("1.7", "parent", CHILD @ JOINT),
    ],
)
def test_axes_are_read_in_their_frame(version: str, frame_of: str, wanted: np.ndarray) -> None:
    """The default is the joint's frame.

    `expressed_in` (from 1.7) or `use_parent_model_frame` (1.5, 1.6) changes it. Version 1.4 uses
    the model's frame.
    """
    flag = "<use_parent_model_frame>true</use_parent_model_frame>" if frame_of == "parent" else ""
    own = axis("0.6 0 0.8", flag, expressed_in="" if frame_of == "parent" else frame_of)
    parts = [
        TURNED_MODEL,
        AB,
        joint(inside=own, pose="0 0 0 0.3 0.2 0.1"),
        frame("f", "0 0 0 1 0 0", "b"),
    ]
    found = load(robot(*parts, version=version), floating_base=False)
    assert np.allclose(direction(found), MODEL @ wanted @ U, rtol=0, atol=ROUND_OFF)


def test_axes_are_normalised_and_default_to_z() -> None:
    """An axis may have any length. <axis/> is z."""
    assert load(robot(AB, joint(inside=axis("0 -7 0")))).joint("j").axis == (0, -1, 0)
    assert load(robot(AB, joint(inside="<axis/>"))).joint("j").axis == (0, 0, 1)


def test_equal_frames_give_exact_rotations() -> None:
    """Frames that are equal in the file are equal in the model, although each is given in the
    model's frame."""
    twisted = "0.3 0.4 0.5 0.7 -0.8 0.9"
    text = robot(
        link("a", twisted), link("b", twisted), joint(inside=axis("0 0 1", expressed_in="a"))
    )
    own = load(text).joint("j")
    assert own.pose.rotation == ((1, 0, 0), (0, 1, 0), (0, 0, 1)) and own.axis == (0, 0, 1)


# Values.


def test_limits_damping_and_friction_are_read() -> None:
    """Both axes have them. Limits of 1e16 and negative velocity or effort limits are infinite."""
    values = (
        "<limit><lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity></limit>"
    )
    values += "<dynamics><damping>5</damping><friction>6</friction></dynamics>"
    loose = "<limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort><velocity>-1</velocity></limit>"
    two = load(
        robot(
            AB,
            joint("j", "universal", inside=axis("1 0 0", values) + axis("0 1 0", loose, "axis2")),
        )
    )
    own = two.joint("j")
    assert own.limits == Limits(-1, 2, 4, 3) and own.limits2 == Limits()
    assert (own.damping, own.friction, own.damping2, own.friction2) == (5, 6, 0, 0)
    assert (
        load(robot(AB, joint(inside=axis(inside="<limit><upper>inf</upper></limit>"))))
        .joint("j")
        .limits
        == Limits()
    )


def test_continuous_and_ball_joints_have_no_position_limits() -> None:
    """Their velocity and effort limits are read."""
    values = (
        "<limit><lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity></limit>"
    )
    for kind in ("continuous", "ball"):
        own = load(robot(AB, joint("j", kind, inside=axis("1 0 0", values)))).joint("j")
        assert own.limits == Limits(velocity=4, effort=3)


def test_springs_and_initial_positions_are_remarked() -> None:
    """A model has neither."""
    spring = "<dynamics><spring_stiffness>1</spring_stiffness><spring_reference>2</spring_reference></dynamics>"
    assert remarks(robot(AB, joint(inside=axis(inside=spring)))) == (
        "ignored element <spring_stiffness> of <dynamics> (line 1)",
    )
    start = axis(inside="<initial_position>0.5</initial_position>")
    assert remarks(robot(AB, joint(inside=start, pose="1 0 0 0 0 0"))) == (
        "ignored element <initial_position> of <axis> (line 1)",
    )


# Threads.


@pytest.mark.parametrize(
    ("inside", "advance"),
    [
        ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5),
        ("<thread_pitch>20</thread_pitch>", -2 * math.pi / 20),
        ("<thread_pitch>-12.566</thread_pitch>", 2 * math.pi / 12.566),
        ("<screw_thread_pitch>0.5</screw_thread_pitch><thread_pitch>7</thread_pitch>", 0.5),
    ],
)
def test_thread_pitches_are_converted(inside: str, advance: float) -> None:
    """screw_thread_pitch is in metres per revolution, right-handed, and takes precedence.
    thread_pitch is in radians per metre, left-handed."""
    found = load(
        robot(link("a"), link("b"), joint("j", "screw", inside=inside + axis())),
        floating_base=False,
    )
    assert np.isclose(poses(found, [2 * math.pi])["b"][2, 3], advance, rtol=1e-15)


def test_a_screw_without_pitch_advances_one_metre_per_revolution() -> None:
    """This is SDFormat's default. A remark says so."""
    text = robot(link("a"), link("b"), joint("j", "screw"))
    assert "it has no pitch; SDF's default is 1 m per revolution" in remarks(text)[0]
    assert np.isclose(
        poses(quietly(text, floating_base=False), [2 * math.pi])["b"][2, 3], 1, rtol=1e-15
    )


# Direction.


@pytest.mark.parametrize("pose", PLACES)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "screw", "fixed"])
def test_a_joint_towards_the_root_is_reversed(kind: str, pose: str) -> None:
    """A joint whose child is fixed and whose parent moves has the inverse motion, with the same
    coordinate."""
    inside, q, formula = KINDS[kind]
    hold = joint("hold", "fixed", "world", "b", "")
    text = robot(AB, joint("j", kind, inside=inside + axis("0.6 0 0.8"), pose=pose), hold)
    found = load(text)
    J = numbers(pose)
    wanted = B_IN_A @ J @ np.linalg.inv(formula(q)) @ np.linalg.inv(J) @ np.linalg.inv(B_IN_A)
    moved = poses(found, q)
    assert np.allclose(moved["a"], wanted, rtol=0, atol=ROUND_OFF)
    assert np.allclose(moved["b"], B_IN_A, rtol=0, atol=ROUND_OFF)


def test_the_root_of_a_free_robot_is_its_first_link_without_a_parent() -> None:
    """If two joints carry the same link, one of them is reversed. The motion is the same."""
    parts = [link("a"), link("b", "1 0 0 0 0 0"), link("c", "2 0 0 0 0 0")]
    met = load(robot(*parts, joint(), joint("k", parent="c", child="b")))
    assert met.root == "a" and met.parent("c") == "k" and met.nv == 8
    assert load(robot(parts[1], parts[0], joint())).root == "a"
    q = np.array([0.1, 0.2, 0.3, *TURN, 0.4, 0.5])
    straight = load(
        robot(
            *parts,
            joint(),
            joint("k", parent="b", child="c", inside=axis("0 0 -1"), pose="-1 0 0 0 0 0"),
        )
    )
    assert np.allclose(
        wd.oracle(wd.crba, met, q), wd.oracle(wd.crba, straight, q), rtol=0, atol=1e-13
    )


def test_joints_with_several_coordinates_cannot_be_reversed() -> None:
    """Their inverse is a joint of another type."""
    hold = joint("hold", "fixed", "world", "b", "")
    for kind in ("ball", "universal", "revolute2"):
        message = refusal(robot(AB, joint("j", kind, inside=TWO_AXES), hold))
        assert f"a {kind} joint cannot be turned around; exchange <parent> and <child>" in message


# Loops.

TRIANGLE = [
    *(link("a"), link("b", "1 0 0 0 0 0"), link("c", "0 1 0 0 0 0")),
    *(joint(), joint("k", parent="b", child="c"), joint("l", parent="a", child="c")),
]


def test_loops_are_refused_by_name() -> None:
    """The message names both ends and the remedy."""
    message = refusal(robot(*TRIANGLE), loops="refuse")
    assert (
        'joint "m::l": it closes a loop between "a" and "c"' in message and 'loops="cut"' in message
    )


@pytest.mark.parametrize(
    ("word", "kind"), [("revolute", "hinge"), ("ball", "connect"), ("fixed", "weld")]
)
def test_loops_of_hinge_ball_and_fixed_joints_are_kept(word: str, kind: str) -> None:
    """The errors are zero in the pose of the file. Joints of other types are refused."""
    closing = joint(
        "l", word, parent="a", child="c", inside=axis(".1 1 0") if word != "fixed" else ""
    )
    said = remarks(robot(*TRIANGLE[:-1], closing))
    assert any(
        'joint "l": it closes a loop, and is kept without its limits' in line for line in said
    )
    model = quietly(robot(*TRIANGLE[:-1], closing))
    (loop,) = model.loops
    assert (loop.kind, loop.ends, loop.name) == (kind, ("a", "c"), "l")
    errors = wd.oracle(wd.loops.errors, model, np.zeros(model.nq))
    np.testing.assert_allclose(errors, 0, atol=1e-9)
    if kind == "hinge":
        R = np.array(loop.first_pose.rotation)
        np.testing.assert_allclose(R[:, 2], np.array([0.1, 1, 0]) / np.sqrt(1.01), atol=1e-9)
    slide = joint("l", "prismatic", parent="a", child="c")
    assert 'joint "m::l": it closes a loop' in refusal(robot(*TRIANGLE[:-1], slide))


def test_loops_can_be_cut() -> None:
    """The joint is left out, with a remark."""
    assert 'joint "l": it closes a loop' in remarks(robot(*TRIANGLE), loops="cut")[0]
    assert quietly(robot(*TRIANGLE), loops="cut").joint_names == ("j", "k")


def test_must_be_loop_joint_decides_where_a_loop_is_cut() -> None:
    """It is an element of physics/simbody."""
    mark = "<physics><simbody><must_be_loop_joint>1</must_be_loop_joint></simbody></physics>"
    parts = [*TRIANGLE[:3], joint(inside=axis() + mark), *TRIANGLE[4:]]
    assert quietly(robot(*parts), loops="cut").joint_names == ("l", "k")


def test_the_loops_option_accepts_three_words_only() -> None:
    """Any other word raises a ValueError."""
    with pytest.raises(ValueError, match='loops must be "keep", "cut" or "refuse"'):
        load(robot(*TRIANGLE), loops="open")


# Joints of a world.


def test_a_joint_of_the_world_may_fix_a_model() -> None:
    """Version 1.10 and later fix the model to the world or to a static model."""
    for parent in ("world", "ground::plate"):
        ground = model("<static>1</static>", link("plate"), name="ground")
        text = sdf(
            world(ground, model(AB, joint()), joint("hold", "fixed", parent, "m::a", "")),
            version="1.10",
        )
        held = load(text)
        assert held.nv == 1 and held.root == "world" and held.joint("hold").child == "a"


def test_a_joint_of_the_world_may_connect_models() -> None:
    """Such models are loaded together."""
    two = [model(link("a"), name="one"), model(link("b", "1 0 0 0 0 0"), name="two")]
    text = sdf(world(*two, joint("tie", "revolute", "one::a", "two::b")), version="1.10")
    assert 'joint "tie": it ties model "one" to link "two::b"' in refusal(text, model="one")
    together = load(text, model="world")
    assert together.root == "one::a" and together.joint_names == ("tie",) and together.nv == 7


def test_joints_in_a_static_model_are_fixed() -> None:
    """No part of a static model moves."""
    assert load(robot("<static>1</static>", *TRIANGLE)).nv == 0
