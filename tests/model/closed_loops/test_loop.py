"""Closed loops as data: how they are built, changed, copied and refused."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from documented_numbers import check_numbers
from loop_robots import CONNECT, COUPLE, WELD, four_bar, two_arms

import warpdyn as wd
from warpdyn.algebra.spatial import IDENTITY, Placement, Vector
from warpdyn.description import Loop
from warpdyn.model.closed_loops.loop import loop_of_joint
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError


def test_loops_are_part_of_an_immutable_model() -> None:
    """They count in equality, hash, pickle and copies. The summary names them."""
    model, tree = four_bar(), four_bar(loop=False)
    assert model.loops == (Loop.connect("coupler", (0.45, 0, 0), "rocker", (0, 0, -0.35)),)
    assert model != tree and model.key != tree.key and replace(model, loops=()) == tree
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other == model and hash(other) == hash(model)
    with pytest.raises(FrozenInstanceError):
        model.loops = ()  # type: ignore[misc]
    assert "loops: connect of coupler and rocker" in model.summary()
    assert "connect of coupler and rocker" in model._repr_html_()
    assert "loops" not in tree.summary()


def test_changed_copies_keep_or_change_the_loops() -> None:
    """The copies have other numbers, other names, a prefix, or lack the link of an end."""
    model = four_bar()
    (loop,) = model.loops
    assert model.with_armature(0.1).loops == model.with_friction(viscous=1.0).loops == (loop,)
    (renamed,) = model.rename({"coupler": "k"}, {"j1": "x"}).loops
    assert (renamed.first, renamed.second) == ("k", "rocker")
    assert model.detach("rocker").loops == ()
    arm = wd.load_robot("panda").attach(model, "panda_hand", prefix="tool_")
    assert [each.ends for each in arm.loops] == [("tool_coupler", "tool_rocker")]
    links, joints = {"coupler": "t_coupler", "rocker": "t_rocker"}, {"j1": "t_j1"}
    for name, prefixed in (("pin", "t_pin"), ("", "")):
        other = replace(loop, name=name).with_prefix("t_", links, joints)
        assert (other.name, *other.ends) == (prefixed, "t_coupler", "t_rocker")
    assert two_arms(COUPLE).rename({}, {"left1_joint": "a"}).loops[0].ends == ("a", "right2_joint")
    assert model.with_object("ball", wd.description.Sphere(0.1), mass=1.0).loops == (loop,)


def test_loops_are_transferred_to_merged_links() -> None:
    """The errors do not change. A loop within one link is removed."""
    builder = wd.ModelBuilder("r").add_link("base").add_link("a", 1.0, inertia=np.eye(3))
    builder.add_link("b", 1.0, inertia=np.eye(3)).add_frame(
        "tip", "a", (0.1, 0.2, 0.3, 0, 0, 0.6, 0.8)
    )
    builder.add_joint("j", "revolute", "base", "a").add_joint(
        "k", "revolute", "base", "b", axis=(0, 1, 0)
    )
    builder.weld("tip", (0, 0.1, 0), "b").connect("tip", (0, 0, 0), "a", (0.1, 0.2, 0.3))
    model = builder.build()
    merged = model.collapse()
    assert [each.ends for each in merged.loops] == [("a", "b")]
    q = np.array([0.3, -0.4])
    errors = [wd.oracle(wd.loops.errors, each, q)[:6] for each in (model, merged)]
    np.testing.assert_allclose(*errors, rtol=0, atol=1e-14)


def test_locked_joints_become_constants() -> None:
    """A locked leader becomes a number. With both joints locked the loop is removed. Locking only
    the follower is refused."""
    loop = COUPLE
    held = loop.with_held_joints({"right2_joint": 2.0})
    assert held is not None and held.second is None and held.coefficients == pytest.approx((0.4,))
    assert loop.with_held_joints({"right2_joint": 2.0, "left1_joint": 0.4}) is None
    assert loop.with_held_joints({"other": 1.0}) is loop
    assert CONNECT.with_held_joints({"left1_joint": 1.0}) is CONNECT
    model = two_arms(COUPLE)
    kept = [name for name in model.joint_names if name != "right2_joint"]
    assert model.reduce(kept, at={"right2_joint": 2.0}).loops[0].second is None
    with pytest.raises(ValueError, match='moves joint "left1_joint"; lock "right2_joint" too'):
        model.reduce([name for name in model.joint_names if name != "left1_joint"])


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (Loop.connect("left3", (0, 0, 0), "right4", (0, 0, 0)), 'no link "right4"; did you mean'),
        (Loop.connect("left3", (0, 0, 0), "left3", (0, 0, 1)), 'both ends are link "left3"'),
        (Loop.couple("left1", None, (1,)), 'there is no joint "left1"'),
        (Loop.couple("left1_joint", None, ()), "1 to 5 coefficients, got 0"),
        (Loop.couple("left1_joint", None, (float("nan"),)), "must be finite"),
        (replace(CONNECT, kind="tie"), 'its kind must be "connect", "weld", "hinge" or "joint"'),
    ],
)
def test_invalid_loops_are_refused(loop: Loop, said: str) -> None:
    """The error is raised when the model is built."""
    with pytest.raises(ModelError, match=said):
        two_arms(loop)


def test_a_builder_refuses_invalid_poses_and_coefficients() -> None:
    """The message contains the builder's name."""
    builder = wd.ModelBuilder("r")
    with pytest.raises(ModelError, match="r: loop: a pose is"):
        builder.connect("a", (0, 0), "b", (0, 0, 0))
    with pytest.raises(ModelError, match="r: loop: "):
        builder.couple("a", "b", "xy")
    ball = wd.ModelBuilder("r").add_link("a").add_link("b", 1.0, inertia=np.eye(3))
    ball.add_joint("j", "ball", "a", "b").couple("j", None, (0.0,))
    with pytest.raises(ModelError, match='joint "j" must have one coordinate'):
        ball.build()


def test_a_robot_with_a_loop_to_the_world_cannot_be_attached() -> None:
    """Its world is not part of the other robot."""
    builder = wd.ModelBuilder("r").add_link("a", 1.0, inertia=np.eye(3))
    model = builder.connect("a", (0, 0, 0.1), None, (0, 0, 1.0)).build(floating_base=True)
    assert str(model.loops[0]) == "connect of a and the world"
    with pytest.raises(ValueError, match="a loop of r ends in the world"):
        wd.load_robot("panda").attach(model, "panda_hand")


def test_formats_without_loops_refuse_them() -> None:
    """A written file would describe another robot."""
    for write in (four_bar().to_urdf, four_bar().to_usd):
        with pytest.raises(ModelError, match=r"cannot express closed loops \(connect of coupler"):
            write()


def test_each_kind_of_loop_has_its_number_of_rows() -> None:
    """A connect has three, a weld six, a coupling one."""
    assert [each.rows for each in (CONNECT, WELD, COUPLE)] == [3, 6, 1]
    assert COUPLE.position(2.0) == pytest.approx(0.2 - 1.0 + 1.2)


def test_moved_links_change_only_their_own_loop_ends() -> None:
    """An end in the world does not change, nor does a coupling of joints."""
    place = Placement(IDENTITY, Vector(0.0, 0.0, 2.0))
    loop = Loop.weld("a", (0.1, 0, 0), None, (0.5, 0, 0))
    moved = loop.with_moved_links({"a": ("b", place)})
    assert moved == Loop.weld("b", (0.1, 0, 2.0), None, (0.5, 0, 0))
    assert COUPLE.with_moved_links({"left1_joint": ("b", place)}) is COUPLE
    assert COUPLE.with_renamed_links({"left1_joint": "b"}) is COUPLE
    assert loop.with_renamed_joints({"a": "b"}) is loop


def test_a_loop_prints_its_kind_name_and_ends() -> None:
    assert str(Loop.weld("a", name="grip")) == "weld grip of a and the world"
    assert str(Loop.couple("i", None, (0.4,))) == "joint of i and a constant"
    assert str(Loop.connect("a", (0, 0, 0), "b", (0, 0, 0))) == "connect of a and b"


@pytest.mark.parametrize(
    ("kind", "loop"),
    [
        ("fixed", "weld"),
        ("ball", "connect"),
        ("revolute", "hinge"),
        ("continuous", "hinge"),
        ("prismatic", None),
        ("screw", None),
        ("gearbox", None),
        ("planar", None),
        ("universal", None),
    ],
)
def test_loops_of_joints_have_the_kind_of_the_joint(kind: str, loop: str | None) -> None:
    """Only some joint types make loops, between two links or a link and the world, never within the
    world."""
    X, Y = (Placement(IDENTITY, Vector(x, 0.0, 0.0)) for x in (1.0, 2.0))
    joint_kind, axis = KINDS[kind], (1.0, 0.0, 0.0)
    assert loop_of_joint("j", joint_kind, axis, [(None, X), (None, Y)]) is None
    for ends in ([("a", X), (None, Y)], [(None, Y), ("a", X)], [("a", X), ("b", Y)]):
        made = loop_of_joint("j", joint_kind, axis, ends)
        if made is None or loop is None:
            assert made is loop
            continue
        assert (made.kind, made.name) == (loop, "j")
        ((first, _), (second, _)) = sorted(ends, key=lambda end: end[0] is None)
        assert (made.first, made.second) == (first, second)
        poses = (made.first_pose, made.second_pose)
        assert [pose.position for pose in poses] == [(1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
        for pose in poses:
            along = [row[2] for row in pose.rotation]
            assert along == ([1.0, 0.0, 0.0] if loop == "hinge" else [0.0, 0.0, 1.0])


def test_documented_numbers() -> None:
    check_numbers("model.closed_loops.loop", HIGHEST_POWER=4)
