"""The action FollowJointTrajectory without DDS: goals of a fake server, and how each ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from fleets import NAMES, Q, feed, launch, panda_fleet
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_node.ros import trajectory_action
from ros2_node.ros.topics import RobotNames
from ros2_node.ros.trajectory_action import TrajectoryAction

REST = [0.0] * len(NAMES)
ONE = (RobotNames("", "~/"),)


class Handle:
    """A stand-in for a goal's handle that records its calls."""

    count = 0

    def __init__(self, request):
        Handle.count += 1
        self.request, self.done, self.feedback = request, [], []
        self.goal_id = SimpleNamespace(uuid=np.array([Handle.count] * 16, dtype=np.uint8))
        self.is_cancel_requested = False

    def execute(self):
        self.done.append("execute")

    def publish_feedback(self, message):
        self.feedback.append(message)

    def succeed(self):
        self.done.append("succeed")

    def canceled(self):
        self.done.append("canceled")

    def abort(self):
        self.done.append("abort")


class ServedAction:
    """A stand-in for node and wiring, around an enabled robot."""

    def __init__(self):
        self.time, self.texts, self.servers = 0.0, [], {}
        self.fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
        self.robots = self.fleet.robots
        self.robot = self.robots[0]
        self.state()
        assert self.robot.enable(0.0, 0.0)[0]
        self.action = TrajectoryAction(self, self, ONE, lambda: self.robots, lambda: self.time)

    def get_clock(self):
        now = SimpleNamespace(nanoseconds=5_000_000_000, to_msg=lambda: Time(sec=5))
        return SimpleNamespace(now=lambda: now)

    def get_logger(self):
        def note(text, **options):
            self.texts.append(text)

        return SimpleNamespace(warning=note, info=note)

    def serve_action(self, kind, name, *, begin, cancel, result, robot):
        assert kind is FollowJointTrajectory and robot == 0
        self.servers[name] = begin, cancel, result

    def state(self):
        feed(self.robot, self.time, v=REST)
        launch(self.fleet, self.robot, self.time)

    def begin(self, step=0.02, **fields):
        """Begin a goal of one point, one second from now."""
        point = JointTrajectoryPoint(positions=(Q + step).tolist(), velocities=REST)
        point.time_from_start.sec = 1
        trajectory = JointTrajectory(joint_names=NAMES, points=[point])
        goal = FollowJointTrajectory.Goal(**{"trajectory": trajectory, **fields})
        handle = Handle(goal)
        begin, _, result = self.servers["~/follow_joint_trajectory"]
        begin(0, handle)
        handle.result = result(handle)
        return handle

    def report(self, time, state=True):
        self.time = time
        if state:
            self.state()
        self.action.report()


def result_of(handle):
    """The result of the server's coroutine, which must be available."""
    with pytest.raises(StopIteration) as ended:
        handle.result.send(None)
    return ended.value.value


@pytest.fixture
def served_action():
    return ServedAction()


def test_a_goal_moves_the_robot_to_its_end(served_action):
    """Each period has one feedback message. The result comes last."""
    handle = served_action.begin()
    for time in np.arange(0.0, 1.02, 0.01):
        served_action.report(float(time))
    assert handle.done == ["execute", "succeed"] and 18 <= len(handle.feedback) <= 21
    told = result_of(handle)
    assert (told.error_code, told.error_string) == (0, "succeeded")
    np.testing.assert_allclose(served_action.robot.setpoint.q, Q + 0.02)
    served_action.report(2.0)
    assert handle.done == ["execute", "succeed"]


def test_a_refused_goal_is_aborted_with_the_reason(served_action):
    """The refusal is logged, and counted once."""
    handle = served_action.begin(trajectory=JointTrajectory(joint_names=NAMES))
    served_action.report(0.0)
    assert handle.done == ["execute", "abort"]
    told = result_of(handle)
    assert told.error_code == -1 and "it has no points" in told.error_string
    assert served_action.texts == [f"~/follow_joint_trajectory refused: {told.error_string}"]
    handle = served_action.begin(step=3.0)
    served_action.report(0.0)
    assert result_of(handle).error_code == -1
    assert served_action.robot.counts["trajectory_refused"] == 2


def test_without_a_model_a_goal_is_aborted(served_action):
    served_action.robots = []
    handle = served_action.begin()
    served_action.report(0.0)
    assert "no model yet" in result_of(handle).error_string and handle.done[-1] == "abort"


def test_a_goal_cancelled_by_its_client_is_canceled(served_action):
    handle = served_action.begin()
    served_action.report(0.5)
    _, cancel, _ = served_action.servers["~/follow_joint_trajectory"]
    cancel(0, handle)
    assert served_action.robot.trajectory.status == "cancelled"
    handle.is_cancel_requested = True
    served_action.report(0.51)
    assert handle.done == ["execute", "canceled"] and result_of(handle).error_code == 0


def test_a_goal_cancelled_by_another_input_is_aborted(served_action):
    handle = served_action.begin()
    served_action.report(0.5)
    served_action.robot.refer_trajectory([], [], 0.0, 0.5)
    served_action.report(0.51)
    told = result_of(handle)
    assert handle.done == ["execute", "abort"] and told.error_code == -1
    assert told.error_string == trajectory_action.CANCELLED_BY_OTHERS


def test_a_stop_aborts_a_goal_even_without_states(served_action):
    """The result has the reason of the gate."""
    handle = served_action.begin()
    served_action.report(0.5)
    served_action.robot.fail("a joint burns", 0.5)
    served_action.report(0.51, state=False)
    told = result_of(handle)
    assert handle.done[-1] == "abort" and told.error_code == -1
    assert told.error_string == "ended: the robot no longer follows references: a joint burns"


def test_another_model_aborts_a_goal(served_action):
    handle = served_action.begin()
    served_action.robots = panda_fleet(mode="computed_torque").robots
    served_action.report(0.0, state=False)
    assert "another model" in result_of(handle).error_string and handle.done[-1] == "abort"


def test_a_missing_action_is_logged_once(served_action, monkeypatch):
    """~/trajectory still works."""
    monkeypatch.setattr(trajectory_action, "action_kind", lambda: None)
    served_action.servers.clear()
    action = TrajectoryAction(
        served_action, served_action, ONE, lambda: served_action.robots, lambda: 0.0
    )
    action.report()
    assert not served_action.servers and len(served_action.texts) == 1
    assert "lacks control_msgs/FollowJointTrajectory" in served_action.texts[0]
