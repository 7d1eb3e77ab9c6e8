"""The simulated quadruped of the demo: it is held until torques come, and sends a driver's
messages."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.parameter import Parameter as RosParameter
from recording_node import RecordedLog
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

import warpdyn as wd
from ros2_node.demo import walker as module
from ros2_node.demo.walker import GRIP, Walker

PENDULUM = {"robot": "double_pendulum", "rate": 500.0}
"""A robot whose kernels are small; it falls as a quadruped does."""


@pytest.fixture(scope="module")
def walker_node(context):
    overrides = [RosParameter(name, value=x) for name, x in PENDULUM.items()]
    node = Walker(context=context, parameter_overrides=overrides)
    yield node
    node.destroy_node()


@pytest.fixture
def walker(walker_node):
    """The walker as new, and a record of its messages."""
    walker_node._on_reset(None, Trigger.Response())
    walker_node.flowing = walker_node.answered = False
    kept = {"clock": [], "odom": [], "states": []}
    for name, publisher in (
        ("clock", "_clock_topic"),
        ("odom", "_odometry"),
        ("states", "_states"),
    ):
        keep = SimpleNamespace(publish=lambda message, to=kept[name]: to.append(_copy(message)))
        setattr(walker_node, publisher, keep)
    walker_node._frames = None
    return walker_node, kept


def _copy(message):
    return __import__("copy").deepcopy(message)


def command(walker, values):
    walker._on_commands(Float64MultiArray(data=list(values)))


def test_the_robot_is_held_until_torques_have_come_for_a_while(walker):
    """It is held again after ~/reset, and without torques for ever."""
    robot, _ = walker
    start = robot.sim.q.copy()
    steps = round((GRIP + 0.1) / robot.period)
    for _ in range(steps):
        robot.step()
    np.testing.assert_array_equal(robot.sim.q, start)
    for _ in range(steps):
        command(robot, [0.0, 0.0])
        robot.step()
    assert not robot.held and robot.sim.q[0, 2] < start[0, 2]
    robot._on_reset(None, Trigger.Response())
    robot.step()
    assert robot.held
    np.testing.assert_array_equal(robot.sim.q, start)


def test_messages_agree_with_the_simulated_state(walker):
    """The base's velocity is in its own axes. All messages of a step have one stamp, that of the
    clock."""
    robot, kept = walker
    robot.held = False
    random = np.random.default_rng(0)
    robot.sim.v[:] = random.normal(size=8)
    robot.step()
    q, v = robot.sim.q[0], robot.sim.v[0]
    clock, odom, state = (kept[n][-1] for n in ("clock", "odom", "states"))
    place, speed = odom.pose.pose, odom.twist.twist
    p, o, u, w = place.position, place.orientation, speed.linear, speed.angular
    np.testing.assert_array_equal([p.x, p.y, p.z, o.x, o.y, o.z, o.w], q[:7])
    np.testing.assert_array_equal([u.x, u.y, u.z, w.x, w.y, w.z], v[:6])
    assert list(state.name) == list(wd.load_robot("double_pendulum").joint_names)
    np.testing.assert_array_equal(state.position, q[7:])
    np.testing.assert_array_equal(state.velocity, v[6:])
    assert clock.clock == odom.header.stamp == state.header.stamp
    assert odom.child_frame_id == robot.sim.model.root


def test_torques_reach_their_joints_and_bad_commands_are_dropped(walker):
    robot, _ = walker
    robot.held = False
    command(robot, [0.0, 3.0])
    np.testing.assert_array_equal(robot.sim.tau[0], [0, 0, 0, 0, 0, 0, 0.0, 3.0])
    command(robot, [np.nan, 0.0])
    command(robot, [1.0])
    command(robot, [])
    assert robot.sim.tau[0, 7] == 3.0, "what is not a command is dropped"


def test_a_state_waits_for_its_torques_while_they_come(walker, monkeypatch):
    robot, _ = walker
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))

    class Executor:
        spun = 0

        def spin_once(self, timeout_sec):
            self.spun += 1
            clock.now += timeout_sec
            if self.spun == answer_at:
                command(robot, [0.0, 0.0])

    answer_at = 0
    robot.wait(executor := Executor())
    assert executor.spun == 0, "none have come yet"
    command(robot, [0.0, 0.0])
    robot.step()
    answer_at = 7
    robot.wait(executor := Executor())
    assert executor.spun == 7 and robot.flowing
    robot.step()
    answer_at = -1
    robot.wait(executor := Executor())
    assert not robot.flowing and 45 <= executor.spun <= 55


def test_the_start_pose_touches_the_floor(context):
    """The lowest point touches it. Without a pose parameter the robot's "home" pose is used."""
    pose = {"pose_joints": ["FL_calf_joint", "RR_calf_joint"], "pose": [-2.0, -2.0]}
    overrides = [RosParameter(name, value=x) for name, x in pose.items()]
    node = Walker(context=context, parameter_overrides=overrides)
    heights = wd.point_heights(node.sim.model, node.sim.start, points=node.sim.points)
    assert abs(np.min(heights)) < 1e-12
    assert node.sim.q[0, node.sim.model.q_indices(["FL_calf_joint"])[0]] == -2.0
    node.destroy_node()


def test_the_walker_steps_until_the_rounds_end(walker, monkeypatch):
    """There is one step in each round, each due a period after the previous one. The log says what
    is simulated."""
    robot, _ = walker
    log, due, steps = RecordedLog(), [], []
    monkeypatch.setattr(robot, "get_logger", lambda: log)
    monkeypatch.setattr(robot, "wait", lambda executor: None)
    monkeypatch.setattr(robot, "step", lambda: steps.append(len(due)))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 5.0))
    rounds = SimpleNamespace(ended=lambda: len(due) == 3, rest=due.append, executor=None)
    module.play(robot, rounds)
    assert steps == [0, 1, 2]
    np.testing.assert_allclose(due, 5.0 + robot.period * np.array([1.0, 2.0, 3.0]))
    assert log.lines == ["simulating double_pendulum, held until torques come"]


def test_the_hand_lets_go_after_1_5_s_of_torques(walker, monkeypatch):
    """The time counts from the first torque."""
    robot, _ = walker
    monkeypatch.setattr(robot, "period", 0.25)
    robot.now, robot.held = 1.0, True
    command(robot, [0.0, 0.0])
    assert robot._flowing_since == 1.0
    robot.now = 2.0
    command(robot, [0.0, 0.0])
    assert robot._flowing_since == 1.0
    for now, held in ((2.5, True), (2.75, False)):
        robot.now = now - 0.25
        robot.step()
        assert robot.held == held
