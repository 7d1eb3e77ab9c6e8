"""The references of a robot: what they write before a launch, and which one replaces another."""

from __future__ import annotations

from array import array
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from driven_arm import HAND, READY
from fleets import NAMES, N, Q, chain_text, feed, launch, panda_fleet
from simulated_arms import SimulatedArm

from ros2_node.control import robot_references
from ros2_node.control.fleet import Fleet
from ros2_node.control.references.waypoint_spline import Waypoint
from ros2_node.control.robot_references import NOT_FOLLOWED, RobotReferences
from ros2_node.control.settings.node_settings import Settings

REST = [0.0] * N


def test_a_trajectory_fills_the_rows_of_a_law():
    """Positions, velocities and accelerations of the spline reach the law in the same cycle."""
    fleet = panda_fleet(
        law="joint_impedance", law_inputs__stiffness=100.0, ramp_time=0.0, state_timeout=1.0
    )
    robot = fleet.robots[0]
    feed(robot, 0.0, v=REST)
    robot.enable(0.0, 0.0)
    step = 0.1 * np.ones(N) * [*[1.0] * 7, 0.1]
    assert robot.refer_trajectory(NAMES, [Waypoint(1.0, Q + step, REST)], 0.0, 0.0) is None
    feed(robot, 0.5, v=REST)
    np.testing.assert_allclose(robot.state.q_desired, Q + 0.5 * step, atol=1e-12)
    np.testing.assert_allclose(robot.state.v_desired, 1.5 * step, atol=1e-12)
    assert launch(fleet, robot, 0.5)[1] is not None
    feed(robot, 0.6, v=REST)
    robot.refer(NAMES, (Q, (), ()), 0.6)
    assert robot.trajectory.status == "replaced by ~/reference"


def off(robot):
    """Disable it, and let its stop sequence end."""
    robot.disable(0.0)
    while robot.stop_step(1e9) is not None:
        pass


@pytest.fixture(scope="module")
def hand_fleet():
    return panda_fleet(
        law="cartesian_impedance",
        law_options=[f"frame={HAND}"],
        law_inputs__stiffness=[500.0] * 3 + [30.0] * 3,
        ramp_time=0.0,
        state_timeout=1.0,
    )


def test_a_trajectory_moves_the_posture_of_cartesian_impedance(hand_fleet):
    """The wanted pose of the frame does not change."""
    robot = hand_fleet.robots[0]
    feed(robot, 0.0, READY, REST)
    robot.enable(0.0, 0.0)
    pose = robot.state.pose_desired.copy()
    goal = READY + 0.1 * (np.arange(N) < 7)
    assert robot.refer_trajectory(NAMES, [Waypoint(0.5, goal, REST)], 0.0, 0.0) is None
    for t in np.arange(0.05, 0.6, 0.05):
        feed(robot, t, READY, REST)
    np.testing.assert_allclose(robot.state.q_desired, goal, atol=1e-12)
    np.testing.assert_array_equal(robot.state.pose_desired, pose)
    off(robot)


def test_a_posture_moves_no_faster_than_its_joints(hand_fleet):
    """The reference is 1 rad away. The posture that the law reads moves there at the velocity
    limits."""
    robot = hand_fleet.robots[0]
    feed(robot, 1.0, READY, REST)
    robot.enable(1.0, 1.0)
    fastest = hand_fleet.dynamics.model.velocity_limit[:N]
    goal = READY + 1.0 * (np.arange(N) == 0)
    for k in range(1, 60):
        if k == 1:
            assert robot.refer(NAMES, (goal, (), ()), 1.01) is None
        before = robot.state.q_desired.copy()
        feed(robot, 1.0 + 0.01 * k, READY, REST)
        step = robot.state.q_desired - before
        assert (np.abs(step) <= 0.01 * fastest * (1 + 1e-9)).all()
    np.testing.assert_allclose(robot.state.q_desired, goal, atol=1e-12)
    off(robot)


def test_the_posture_begins_at_the_position_at_which_the_robot_is_enabled(hand_fleet):
    """A reference came before ~/enable. The time since the last state moves nothing, as in the
    controller of ros2_control."""
    robot = hand_fleet.robots[0]
    feed(robot, 3.0, READY, REST)
    assert robot.refer(NAMES, (READY + 0.4 * (np.arange(N) == 0), (), ()), 3.01) is None
    assert robot.enable(3.04, 3.04)[0]
    np.testing.assert_array_equal(robot.state.q_desired, READY)
    off(robot)


def test_the_posture_of_joints_that_are_not_read_is_finite():
    """~/enable prepares a second time at the time of the state. The fingers, which are not read,
    have a posture."""
    fleet = panda_fleet(law="teaching", joints=NAMES[:7], ramp_time=0.0, state_timeout=1.0)
    robot = fleet.robots[0]
    for now in (1.0, 1.0, 1.01):
        robot.read(NAMES[:7], array("d", READY[:7]), array("d", REST[:7]), int(now * 1e9), now)
        robot.enable(now, now)
        assert np.isfinite(robot.state.q_desired).all()
        fleet.compute()
        assert robot.command(now, now)[1] is not None


def test_a_posture_wraps_with_its_continuous_joint():
    """A driver reports angles within one turn. Where they wrap, the posture wraps with them."""
    settings = Settings.of(
        {"robot_description": chain_text(2), "law": "teaching", "unlimited_effort": True}
    )
    robot = Fleet(settings, "", [Counter()]).robots[0]
    robot.change(settings)
    names, felt = ["j0", "j1"], []
    for k in range(40):
        q = np.array([np.pi - 0.02 + 1e-3 * k, 0.0])
        told = (q + np.pi) % (2.0 * np.pi) - np.pi
        now = 1.0 + 0.01 * k
        assert robot.read(names, array("d", told), array("d", [0.1, 0.0]), int(now * 1e9), now)
        if not k:
            assert robot.enable(now, now)[0]
        felt.append(robot.state.q_desired - robot.state.q)
    np.testing.assert_allclose(felt, np.outer(np.arange(40), [-1e-3, 0.0]), atol=1e-9)


@pytest.mark.parametrize("topic", ["twist", "trajectory", "reference"])
def test_a_new_motion_begins_with_the_present_velocity(topic):
    """Both inputs arrive at the same time, since a simulated clock does not advance between two of
    its ticks."""
    fleet = panda_fleet(mode="computed_torque", twist_link=HAND, ramp_time=0.0, state_timeout=1.0)
    robot = fleet.robots[0]
    feed(robot, 0.0, READY, REST)
    robot.enable(0.0, 0.0)
    goal = [Waypoint(1.0, READY + 0.1 * np.ones(N) * [*[1.0] * 7, 0.0], REST)]
    assert robot.refer_trajectory(NAMES, goal, 0.0, 0.0) is None
    now, v = 0.5, np.array([0.01 * k for k in range(N)])
    feed(robot, now, READY, REST)
    before = robot.setpoint.v.copy()
    assert before.any()
    if topic == "reference":
        assert robot.refer(NAMES, (READY, v, ()), now) is None
        before = v
    else:
        assert robot.refer_twist("", (0.0, 0.1, 0.0), (0.0,) * 3, now) is None
    if topic == "trajectory":
        assert robot.refer_trajectory(NAMES, goal, 5.0, now) is None
    feed(robot, now, READY, REST)
    np.testing.assert_allclose(robot.setpoint.v, before, atol=1e-9)


def test_a_simulated_arm_follows_a_trajectory():
    """Six joints of a UR5e in MuJoCo move through three points in 1.5 s. They are within 5 mrad of
    the trajectory and reach its end."""
    arm = SimulatedArm(
        "ur5e",
        500.0,
        {"shoulder_lift_joint": -1.0, "elbow_joint": 1.0},
        damping=0.0,
        mode="computed_torque",
    )
    arm.run(1.0)  # the arm sinks a little while the torques ramp in
    begin = arm.q
    steps = np.array([[0.3, -0.2, 0.2, 0.3, 0.2, 0.4], [0.1, 0.1, -0.2, 0.1, 0.3, -0.3]])
    points = [
        Waypoint(0.8, begin + steps[0], [0.0] * 6),
        Waypoint(1.5, begin + steps[0] + steps[1], [0.0] * 6),
    ]
    assert arm.robot.refer_trajectory(arm.names, points, 0.0, arm.now) is None
    worst = 0.0
    for _ in range(80):
        arm.run(0.02)
        worst = max(worst, float(np.abs(arm.q - arm.robot.setpoint.q).max()))
    assert arm.robot.trajectory.status == "succeeded"
    assert 1e-5 < worst < 5e-3
    np.testing.assert_allclose(arm.q, points[1].positions, atol=3e-3)


class Motion:
    """A stand-in for a twist, pose or trajectory in `RobotReferences`. It records the calls and has
    one answer."""

    def __init__(self, refusal=None, active=True):
        self.refusal, self.active, self.ended = refusal, active, []

    def accept(self, *values):
        return self.refusal

    read = accept

    def end(self, why=""):
        self.active = False
        self.ended.append(why)

    release = end


def references(**motions):
    made = RobotReferences.__new__(RobotReferences)
    for name in ("trajectory", "twist", "pose"):
        setattr(made, name, motions.get(name))
    return made


@pytest.mark.parametrize("refusal", [None, "no"])
@pytest.mark.parametrize("has_pose", [False, True])
def test_a_newer_motion_replaces_the_older_one(refusal, has_pose):
    """A refused motion replaces nothing. A law with a frame follows both, the trajectory with its
    posture."""
    ends = refusal is None and not has_pose

    def parts():
        pose = Motion(refusal) if has_pose else None
        return references(trajectory=Motion(refusal), twist=Motion(refusal), pose=pose)

    given = parts()
    assert given.refer_trajectory(NAMES, [object()], 0.0, 0.0, True) == refusal
    assert given.twist.active is not ends
    given = parts()
    given.refer_trajectory(NAMES, [], 0.0, 0.0, True)
    assert given.twist.active, "an empty one cancels a trajectory alone"
    given = parts()
    assert given.refer_twist("", (), (), 0.0, True) == refusal
    assert given.trajectory.ended == (["replaced by ~/twist"] if ends else [])
    given = parts()
    given.replace_motions("~/reference")
    assert given.trajectory.ended == ["replaced by ~/reference"]
    assert given.twist.active is has_pose


@pytest.mark.parametrize("enabled", [False, True])
def test_motions_end_with_a_robot_that_does_not_follow(enabled):
    """An enabled robot follows those that are active. A reference that jumped makes commands blend."""
    followed = []
    for jumped, ended in ((False, False), (True, False), (False, True)):
        given = references(trajectory=Motion(), twist=Motion())
        given.trajectory.follow = lambda *_, jumped=jumped: followed.append("trajectory") or jumped
        given.twist.follow = lambda now: followed.append("twist")
        given._settings = SimpleNamespace(reference_timeout=0.5, law="", mode="gravity")
        given._state = SimpleNamespace(q=Q, v=np.zeros(N), a=np.full(N, np.nan))
        ends = lambda now, timeout, ended=ended: (now, timeout) == (3.0, 0.5) and ended  # noqa: E731
        may = lambda now: now == 3.0  # noqa: E731
        given.setpoint = SimpleNamespace(ends=ends, may_blend=may, a=np.arange(N))
        assert given.prepare(3.0, enabled) is ((jumped and enabled) or ended)
        assert given.trajectory.ended == ([] if enabled else [NOT_FOLLOWED])
        assert given.twist.active is enabled
        np.testing.assert_array_equal(given._state.a, np.arange(N))
        given.trajectory.active = given.twist.active = False
        assert given.prepare(3.0, enabled) is ended
    assert followed == ["trajectory", "twist"] * 3 * enabled


@pytest.mark.parametrize("refusal", [None, "no"])
@pytest.mark.parametrize("enabled", [False, True])
def test_a_pose_ends_a_twist_while_the_robot_is_enabled(refusal, enabled):
    given = references(pose=Motion(refusal), twist=Motion())
    assert given.refer_pose("", (), (), enabled) == refusal
    assert given.twist.active is not (enabled and refusal is None)


def test_unused_references_are_ignored():
    """The topics are those that a law does not use, and trajectories of robots without twists."""
    given = references(trajectory=Motion())
    assert given.refer_twist("", (), (), 0.0, True) is None
    assert given.refer_pose("", (), (), True) is None
    assert given.trajectory.active and not given.trajectory.ended
    assert given.refer_trajectory(NAMES, [object()], 0.0, 0.0, True) is None
    given.replace_motions("~/reference")


@pytest.mark.parametrize("has_parts", [True, False])
def test_all_references_begin_at_the_robots_state(has_parts):
    """The order is the pose, the body that follows it, the inputs of the law, and the posture."""
    begun = []
    given = references()
    parts = (("pose", "stay"), ("body", "begin"), ("law_inputs", "restore"))
    for name, call in parts:
        part = SimpleNamespace(**{call: lambda name=name: begun.append(name)})
        setattr(given, name, part if has_parts else None)
    given._posture, given._state = np.zeros(N), SimpleNamespace(q=Q)
    given.begin(4.0)
    assert begun == ([name for name, _ in parts] if has_parts else [])
    np.testing.assert_array_equal(given._posture, Q)
    assert given._then == 4.0


def test_a_twist_moves_the_frame_of_a_law_or_joints_that_are_tracked(monkeypatch):
    """Other links, and laws that track nothing, are refused. Without a link there is no twist."""
    given = references(pose="pose")
    given._model, given.setpoint, given._counts = "model", "setpoint", "counts"
    monkeypatch.setattr(robot_references, "TwistReference", lambda *parts: parts)
    follows, idle = SimpleNamespace(tracks=True), SimpleNamespace(tracks=False)
    for link, frame, law, said in (
        ("", "hand", idle, None),
        ("hand", "hand", idle, ""),
        ("tool", "hand", follows, "'tool' must be the frame that the law holds, 'hand', or empty"),
        ("tool", None, None, ""),
        ("tool", None, follows, ""),
        ("tool", None, idle, "twist_link is set, and law teaching tracks neither joints nor a"),
    ):
        given._law = law
        settings = SimpleNamespace(twist_link=link, law_name="law teaching")
        if said:
            with pytest.raises(ValueError, match=said):
                given._twist_reference(frame, settings)
        else:
            wanted = None if said is None else ("model", link, "setpoint", "pose", "counts")
            assert given._twist_reference(frame, settings) == wanted
