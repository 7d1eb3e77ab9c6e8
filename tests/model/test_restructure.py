"""Restructured models: where they can be compared, they move like the original model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hand_models import ROUND_OFF, TURN, ball_arm, fk, homogeneous
from robots import ROBOTS, Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.description import Joint, Link, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import Limits
from warpdyn.model.restructure import weld_links

COUNT = 3

each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)


# Locked joints.


@each_robot
@pytest.mark.parametrize("first", [0, 1])
def test_a_reduced_robot_moves_like_the_robot_with_locked_joints(robot: Robot, first: int) -> None:
    """M is the submatrix of the remaining coordinates, forces are those with v = a = 0 elsewhere,
    and poses are the same."""
    model = robot.model.with_armature(0.3)
    kept = model.joint_names[first::2]
    s = states(model, COUNT)
    for e in range(COUNT):
        q = s.q[e]
        small = model.reduce(kept, at=q)
        base = ["floating_base"] if model.floating_base else []
        columns, rows = model.v_indices([*base, *kept]), model.q_indices([*base, *kept])
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        v[columns], a[columns] = s.v[e][columns], s.a[e][columns]
        if columns:
            M = wd.oracle(wd.crba, model, q)[np.ix_(columns, columns)]
            assert error(wd.oracle(wd.crba, small, q[rows]), M) < ROUND_OFF
            tau = wd.oracle(wd.rnea, model, q, v, a)
            assert (
                error(wd.oracle(wd.rnea, small, q[rows], v[columns], a[columns]), tau[columns], tau)
                < ROUND_OFF
            )
        assert small.joint_names == kept and small.link_names == model.link_names
        last = model.link_names[-1]
        if columns:
            assert error(fk(small, q[rows], last), fk(model, q, last)) < ROUND_OFF


def test_joints_are_locked_by_name_by_q_or_at_neutral() -> None:
    """The three ways give the same model. Quaternions have the model's order and are normalised."""
    model = ball_arm()
    turned = [0.5, 0.5, -0.5, 0.5]
    by_names = model.reduce(["elbow"], at={"shoulder": [2 * x for x in turned]})
    assert (
        by_names.key
        == model.reduce(["elbow"], at=[*turned, 0.3]).key
        != model.reduce(["elbow"]).key
    )
    assert model.reduce(["elbow"]).key == model.reduce(["elbow"], at=model.neutral).key
    with pytest.raises(TypeError, match=r"model.reduce\(kept, at=\{...\}\)"):
        model.reduce({"elbow": 0.3})  # would keep what seems to be locked
    assert (
        error(fk(by_names, np.array([0.3]), "lower"), fk(model, np.array([*turned, 0.3]), "lower"))
        < ROUND_OFF
    )
    still = model.reduce([])
    assert still.nv == 0 and {joint.kind.nv for joint in still.joints} == {0}


def test_mimic_joints_are_locked_with_their_leader() -> None:
    """The follower of a moving joint still follows it. That of a locked joint is locked at its own
    position."""
    model = by_name("mimic_chain").model
    assert [j.kind.nv for j in model.reduce(["own"]).joints] == [0, 0, 0, 1, 0]
    assert [j.kind.nv for j in model.reduce(["lead"]).joints] == [1, 1, 1, 0, 1]
    with pytest.raises(KeyError, match="no moving joint named 'second'"):
        model.reduce(["second"])


def test_a_reduced_robot_equals_pinocchios() -> None:
    """Pinocchio's function is buildReducedModel."""
    pin = pytest.importorskip("pinocchio")
    robot = by_name("ur5e")
    full = pin.buildModelFromXML(robot.text)
    s = states(robot.model, 1)
    kept = robot.model.joint_names[1::2]
    theirs = pin.buildReducedModel(
        full, [full.getJointId(n) for n in robot.model.joint_names if n not in kept], s.q[0]
    )
    small, rows = robot.model.reduce(kept, at=s.q[0]), robot.model.q_indices(kept)
    q, v, a = s.q[0][rows], s.v[0][rows], s.a[0][rows]
    tau = pin.rnea(theirs, theirs.createData(), q, v, a)
    assert error(wd.oracle(wd.rnea, small, q, v, a), tau) < ROUND_OFF


# Merged links.


@each_robot
def test_a_collapsed_robot_moves_like_the_original(robot: Robot) -> None:
    """Only fixed joints of links in `keep` are left. Forces, total mass and poses of the remaining
    links do not change."""
    model = robot.model.reduce(robot.model.joint_names[1:])
    carried = [joint.child for joint in model.joints if not joint.kind.nv]
    s = states(model, COUNT)
    for keep in ((), tuple(carried[-1:])):
        small = model.collapse(keep)
        assert [j.child for j in small.joints if not j.kind.nv] == list(keep)
        assert error(np.array(small.total_mass), np.array(model.total_mass)) < ROUND_OFF
        assert (
            small.nlinks == model.nlinks - len(carried) + len(keep)
            and small.q_names == model.q_names
        )
        if model.nv:
            tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
            assert error(wd.oracle(wd.rnea, small, s.q, s.v, s.a), tau) < ROUND_OFF
            for name in (small.link_names[-1], *keep):
                assert error(fk(small, s.q, name), fk(model, s.q, name)) < ROUND_OFF
        assert all(not small.link(name).mass for name in keep)


def test_shapes_of_merged_links_keep_their_pose() -> None:
    """The shape is a box on a merged link."""
    model = ball_arm().reduce(["shoulder"], at={"elbow": 0.4})
    (box,) = model.collapse().link("upper").visuals
    joint = model.joint("elbow")
    assert error(homogeneous(box.pose), homogeneous(joint.pose) @ homogeneous(TURN)) < ROUND_OFF


# Parts.


@each_robot
def test_an_attached_robot_moves_with_its_frame(robot: Robot) -> None:
    """Its poses are frame * pose * its own. After detaching, the model is the original."""
    model, tool = robot.model, by_name("two_axes").model
    frame = model.link_names[-1]
    both = model.attach(tool, frame, pose=TURN, prefix="tool_")
    assert both.detach("tool_" + tool.root).key == model.key
    assert both.nlinks == model.nlinks + tool.nlinks and both.nv == model.nv + tool.nv
    s, t = states(model, COUNT), states(tool, COUNT)
    q = np.empty((COUNT, both.nq))
    base = ["floating_base"] if model.floating_base else []
    q[:, both.q_indices([*base, *model.joint_names])] = s.q
    q[:, both.q_indices(["tool_" + name for name in tool.joint_names])] = t.q
    if model.nq:
        expected = fk(model, s.q, frame) @ homogeneous(TURN) @ fk(tool, t.q, "l3")
        assert error(fk(both, q, "tool_l3"), expected) < ROUND_OFF


@each_robot
def test_a_new_frame_changes_no_motion(robot: Robot) -> None:
    """It is at its pose in its link, given as a Pose, a matrix or seven numbers. Forces do not
    change."""
    model = robot.model
    parent = model.link_names[-1]
    s = states(model, COUNT)
    marked = model.with_frame("mark", parent, TURN)
    assert marked.joint("mark_joint").kind.nv == 0 and marked.detach("mark").key == model.key
    assert marked.key == model.with_frame("mark", parent, homogeneous(TURN)).key
    if model.nv:
        tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
        assert error(wd.oracle(wd.rnea, marked, s.q, s.v, s.a), tau) < ROUND_OFF
        assert (
            error(fk(marked, s.q, "mark"), fk(model, s.q, parent) @ homogeneous(TURN)) < ROUND_OFF
        )


# Names and numbers.


@each_robot
def test_a_renamed_robot_moves_the_same(robot: Robot) -> None:
    """All names of links, joints and mimic joints change, numbers do not. Renaming back gives the
    original."""
    model = robot.model
    links = {name: f"{name}_new" for name in model.link_names}
    joints = {joint.name: f"{joint.name}_new" for joint in model.joints}
    renamed = model.rename(links, joints, "other")
    assert renamed.name == "other" and renamed.link_names == tuple(links.values())
    assert renamed.joint_names == tuple(joints[name] for name in model.joint_names)
    back = renamed.rename(
        {new: old for old, new in links.items()}, {new: old for old, new in joints.items()}
    )
    assert back.key == model.key != renamed.key
    s = states(model, 1)
    if model.nv:
        forces = (wd.oracle(wd.rnea, robot, s.q, s.v, s.a) for robot in (model, renamed))
        assert np.array_equal(*forces)


PANDA = wd.load_robot("panda")
MIMIC = by_name("mimic_chain").model


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (
            lambda: PANDA.reduce(["panda_joint_1"]),
            KeyError,
            "no moving joint named 'panda_joint_1'; did you mean",
        ),
        (lambda: PANDA.reduce([], at=[0.0]), ValueError, r"q \(nq,\) = \(8,\), got \(1,\)"),
        (
            lambda: PANDA.reduce([], at={"panda_joint9": 0}),
            KeyError,
            "no locked joint named 'panda_joint9'; did you",
        ),
        (
            lambda: PANDA.reduce(["panda_joint1"], at={"panda_joint1": 0}),
            ValueError,
            "keeps its coordinates",
        ),
        (lambda: PANDA.reduce([], at={"panda_joint1": np.nan}), ValueError, "1 finite coordinate"),
        (lambda: PANDA.reduce([], at={"panda_joint1": [1, 2]}), ValueError, "1 finite coordinate"),
        (
            lambda: ball_arm().reduce([], at={"shoulder": [0, 0, 0, 0]}),
            ValueError,
            "its quaternion is zero",
        ),
        (
            lambda: PANDA.collapse(["panda_hnd"]),
            KeyError,
            "no link named 'panda_hnd'; did you mean 'panda_hand'",
        ),
        (lambda: PANDA.attach(PANDA, "panda_hnd"), KeyError, "no link named"),
        (
            lambda: PANDA.attach(PANDA, "panda_hand"),
            ValueError,
            'both robots have a link named .*prefix="tool_"',
        ),
        (
            lambda: PANDA.attach(MIMIC, "panda_hand", joint="panda_joint1"),
            ValueError,
            'joint named "panda_joint1"',
        ),
        (lambda: PANDA.attach(MIMIC, "panda_hand", pose=[1]), ValueError, "a pose is"),
        (lambda: PANDA.detach("panda_hnd"), KeyError, "no link named"),
        (lambda: PANDA.detach("panda_link0"), ValueError, "is the root"),
        (lambda: MIMIC.rename(joints={"own": "lead"}), ModelError, 'two joints are named "lead"'),
        (lambda: PANDA.rename({"hand": "x"}), KeyError, "no link named 'hand'"),
        (lambda: PANDA.rename(joints={"panda": "x"}), KeyError, "no joint named"),
        (lambda: PANDA.with_frame("mark", "panda_hnd", TURN), KeyError, "no link named"),
        (
            lambda: PANDA.with_frame("panda_hand", "panda_hand", TURN),
            ModelError,
            'there is a link "panda_hand"',
        ),
    ],
)
def test_invalid_changes_are_refused(change: Callable[[], Model], kind: type, said: str) -> None:
    """The message names the unknown name with similar ones, or the number with what it must be."""
    with pytest.raises(kind, match=said):
        change()


def test_a_leader_cannot_be_detached_from_its_mimic_joints() -> None:
    """The message names both joints and two remedies."""
    links = [Link("base"), Link("a", 1.0), Link("b", 1.0)]
    joints = [
        Joint("lead", KINDS["revolute"], "base", "a", limits=Limits(-1, 1)),
        Joint("follow", KINDS["revolute"], "base", "b", mimic=Mimic("lead")),
    ]
    model = Model.assemble("m", links, joints)
    with pytest.raises(
        ValueError, match='joint "follow" mimics "lead", which is removed with link "a"'
    ):
        model.detach("a")
    assert model.detach("b").link_names == ("base", "a")
    assert model.reduce([]).detach("a").link_names == ("base", "b")


def test_links_with_different_gravity_compensation_are_not_merged() -> None:
    """A link without weight can be merged with any link."""
    model = by_name("panda").model
    hand, finger = model.link("panda_hand"), model.link("panda_leftfinger")
    borne = replace(finger, borne=0.25)
    with pytest.raises(ValueError, match=r"panda_hand \(0\) and panda_leftfinger \(0.25\) differ"):
        weld_links(hand, borne)
    assert weld_links(replace(hand, borne=0.25), borne).borne == 0.25
    frame = Link("frame")
    assert weld_links(borne, frame).borne == weld_links(frame, borne).borne == 0.25


def test_merged_links_keep_the_described_gravity_compensation() -> None:
    """A link without mass takes the share of the link that it receives; other shares are refused.
    A payload is borne as its link."""

    def arm(*shares: float) -> Model:
        """Two welded links on a hinge, a frame before them."""
        bodies = "".join(
            f'<body gravcomp="{share}" pos="0.3 0 0"><geom size="0.1" mass="2"/>'
            for share in shares
        )
        hinge = '<body><joint axis="0 1 0"/>'
        ends = "</body>" * (len(shares) + 1)
        return wd.load_mjcf(f"<mujoco><worldbody>{hinge}{bodies}{ends}</worldbody></mujoco>")

    def torque(model: Model) -> float:
        borne = model.with_gravity_compensation("description")
        return float(wd.oracle(wd.rnea, borne, [0.3], [0.0], [0.0])[0])

    for shares in [(1.0,), (0.25, 0.25)]:
        model = arm(*shares)
        assert abs(torque(model.collapse()) - torque(model)) < ROUND_OFF * 100
    with pytest.raises(ValueError, match=r"\(0.25\) and .* \(1\) differ; leave them apart"):
        arm(0.25, 1.0).collapse()
    model = arm(1.0)
    assert abs(torque(model.with_payload(model.link_names[-1], 2.0))) < ROUND_OFF * 100


def test_tendons_and_actuators_over_mimic_joints_are_attached() -> None:
    """A joint that follows another has the prefix too, also where this robot has one of its name."""
    body = '<geom size="0.1" mass="1" pos="0.2 0 0"/>'
    hinge = '<body pos="0.2 0 0"><joint name="{}" axis="0 1 0"/>' + body
    chain = hinge.format("lead") + hinge.format("follow") + "</body></body>"
    coupled = '<joint joint1="follow" joint2="lead" polycoef="0 0.5 0 0 0"/>'
    arms = '<joint joint="lead" coef="1.5"/><joint joint="follow" coef="0.5"/>'
    hand = wd.load_mjcf(
        f"<mujoco><worldbody>{chain}</worldbody><equality>{coupled}</equality><tendon><fixed "
        f'name="cord" stiffness="10" springlength="0.1">{arms}</fixed></tendon><actuator>'
        '<motor joint="follow" gear="3"/></actuator></mujoco>'
    ).with_springs("description")
    stand = wd.ModelBuilder("stand").add_link("foot").add_link("pole", mass=1.0)
    stand = stand.add_joint("follow", "continuous", "foot", "pole").build()
    both = stand.attach(hand, "foot", prefix="hand_")
    q = np.array([0.4])
    for function, inputs in ((wd.effect_torques, [0.0]), (wd.actuator_torques, [0.0, 2.0])):
        found = wd.oracle(function, both, [0.3, 0.4], [0.0, 0.0], *([x] for x in inputs[1:]))
        assert np.allclose(found[1:], wd.oracle(function, hand, q, *([x] for x in inputs)))
        assert found[0] == 0.0
