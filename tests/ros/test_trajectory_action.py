"""The action FollowJointTrajectory over DDS: goals of a client, and how each ends."""

from __future__ import annotations

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from driven_arm import READY
from harness import NodeProcess, Peer
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import warpdyn as wd

NAMES = list(wd.load_robot("panda").joint_names)
Result = FollowJointTrajectory.Result
STEP = 0.02 * np.array([*[1.0] * 7, 0.1])


class Client:
    """A client of the action, and a robot that does not move."""

    def __init__(self, context):
        parameters = {
            "robot_description_file": "panda",
            "mode": "computed_torque",
            "ramp_time": 0.0,
            "allow_several_publishers": True,
        }
        self.node = NodeProcess(parameters, ["-r", "__ns:=/action"])
        self.node.__enter__()
        self.node.wait_for("ready: panda")
        self.peer = Peer(context, "action")
        name = self.peer.own + "follow_joint_trajectory"
        self.client = ActionClient(self.peer.node, FollowJointTrajectory, name)
        self.topic = self.peer.node.create_publisher(
            JointTrajectory, self.peer.own + "trajectory", 1
        )
        self.feedback = []

    def begin(self):
        """Enable the robot at rest, without tolerances."""
        self.feedback.clear()
        self.peer.wait(self.client.server_is_ready, "the server", each=self.send)
        self.peer.enable(False, each=self.send)
        self.peer.wait(lambda: self.peer.enable(each=self.send).success, "enabling", each=self.send)

    def send(self):
        self.peer.send(NAMES, READY, 0.0 * READY)

    def start(self, goal):
        """Send a goal, and return the handle once it is accepted."""
        sent = self.client.send_goal_async(
            goal, feedback_callback=lambda m: self.feedback.append(m.feedback)
        )
        handle = self.peer.wait(lambda: sent.done() and sent.result(), "an answer", each=self.send)
        assert handle.accepted
        return handle

    def end(self, handle, each=None):
        """Status and result of a goal."""
        got = handle.get_result_async()
        answer = self.peer.wait(
            lambda: got.done() and got.result(), "a result", each=each or self.send
        )
        return answer.status, answer.result

    def close(self):
        self.client.destroy()
        self.peer.close()
        self.node.__exit__(None, None, None)


@pytest.fixture(scope="module")
def running(context):
    client = Client(context)
    yield client
    client.close()


@pytest.fixture
def client(running):
    running.begin()
    return running


def motion(*steps, time=0.2, names=NAMES):
    """A trajectory of some points from READY, at rest in each."""
    message = JointTrajectory(joint_names=list(names))
    for k, step in enumerate(steps):
        at = round(1e9 * time * (k + 1))
        message.points.append(
            JointTrajectoryPoint(
                positions=(READY + step)[: len(names)].tolist(),
                velocities=[0.0] * len(names),
                time_from_start=Duration(sec=at // 10**9, nanosec=at % 10**9),
            )
        )
    return message


def goal(*steps, time=0.2, **fields):
    return FollowJointTrajectory.Goal(trajectory=motion(*steps, time=time), **fields)


def tolerances(**positions):
    return [JointTolerance(name=name, position=x) for name, x in positions.items()]


def test_a_goal_succeeds_and_sends_feedback(client):
    """The feedback has the desired and the actual motion, and their error."""
    status, result = client.end(client.start(goal(0.5 * STEP, STEP)))
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert (result.error_code, result.error_string) == (Result.SUCCESSFUL, "succeeded")
    assert 3 <= len(client.feedback) <= 12
    for told in client.feedback:
        assert told.joint_names == NAMES and told.index in (0, 1)
        desired, actual = np.array(told.desired.positions), np.array(told.actual.positions)
        np.testing.assert_allclose(actual, READY)
        np.testing.assert_allclose(told.error.positions, desired - actual, atol=1e-12)
        assert len(told.desired.accelerations) == len(NAMES)
    assert client.feedback[-1].desired.positions[0] > READY[0] + 0.5 * STEP[0]


def test_an_invalid_goal_ends_with_its_code(client):
    """It ends at once, with the text that ~/trajectory would log."""
    old = goal(STEP)
    old.trajectory.header.stamp = Time(sec=1)
    strange = goal(STEP)
    strange.trajectory.joint_names[0] = "nose"
    fast = goal(STEP)
    fast.path_tolerance = [JointTolerance(name=NAMES[0], acceleration=1.0)]
    cases = [
        (goal(), Result.INVALID_GOAL, "it has no points"),
        (goal(50 * STEP), Result.INVALID_GOAL, "limit"),
        (fast, Result.INVALID_GOAL, "bounds accelerations"),
        (strange, Result.INVALID_JOINTS, "nose is not a command joint"),
        (goal(STEP, path_tolerance=tolerances(nose=1.0)), Result.INVALID_JOINTS, "is for nose"),
        (old, Result.OLD_HEADER_TIMESTAMP, "all points are in the past"),
    ]
    for wanted, code, said in cases:
        status, result = client.end(client.start(wanted))
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code == code and said in result.error_string, result
    assert not client.feedback


def test_tolerances_of_a_goal_override_the_parameters(client):
    """They apply to this goal only. A positive number is a bound, a negative one is none, and 0 is
    the parameter's."""
    peer, first = client.peer, NAMES[0]

    def end_of_goal(**fields):
        status, result = client.end(client.start(goal(3.0 * STEP, **fields)))
        return status == GoalStatus.STATUS_SUCCEEDED, result.error_code, result.error_string

    good, code, text = end_of_goal(path_tolerance=tolerances(**{first: 0.02}))
    assert not good and code == Result.PATH_TOLERANCE_VIOLATED
    assert f"{first} is" in text and "the goal's path_tolerance 0.02" in text
    quick = [JointTolerance(name=first, velocity=0.1)]
    good, code, text = end_of_goal(path_tolerance=quick)
    assert not good and code == Result.PATH_TOLERANCE_VIOLATED
    assert f"{first} differs by" in text and "the goal's path_tolerance in velocity 0.1" in text
    late = {"goal_time_tolerance": Duration(nanosec=50_000_000)}
    good, code, text = end_of_goal(goal_tolerance=tolerances(**{first: 0.02}), **late)
    assert not good and code == Result.GOAL_TOLERANCE_VIOLATED and "the goal's goal_tol" in text
    assert peer.set_parameter("trajectory.path_tolerance", 0.02, each=client.send).successful
    try:
        good, code, text = end_of_goal(path_tolerance=tolerances(**{first: 0.0}))
        assert not good and "more than trajectory.path_tolerance 0.02" in text
        good, code, _ = end_of_goal(path_tolerance=tolerances(**dict.fromkeys(NAMES, -1.0)))
        assert good and code == Result.SUCCESSFUL
    finally:
        assert peer.set_parameter("trajectory.path_tolerance", 0.0, each=client.send).successful


def test_cancelling_a_goal_stops_the_robot(client):
    handle = client.start(goal(STEP, time=30.0))
    client.peer.wait(lambda: client.feedback, "a feedback", each=client.send)
    told = handle.cancel_goal_async()
    answer = client.peer.wait(lambda: told.done() and told.result(), "an answer", each=client.send)
    assert len(answer.goals_canceling) == 1
    status, result = client.end(handle)
    assert status == GoalStatus.STATUS_CANCELED and result.error_string == "cancelled"


@pytest.mark.parametrize("by", ["a goal", "~/trajectory", "a message without points"])
def test_a_later_motion_replaces_a_goal(client, by):
    """The earlier goal is aborted with a sentence."""
    handle = client.start(goal(STEP, time=30.0))
    if by == "a goal":
        later = client.start(goal(0.0 * STEP))
        assert client.end(later)[0] == GoalStatus.STATUS_SUCCEEDED
    else:
        client.topic.publish(motion(0.0 * STEP) if by == "~/trajectory" else motion())
    status, result = client.end(handle)
    assert status == GoalStatus.STATUS_ABORTED and result.error_code == Result.INVALID_GOAL
    said = "a message without points" if "without" in by else "replaced by a later trajectory"
    assert result.error_string.startswith("aborted: ") and said in result.error_string


def test_a_stop_aborts_a_goal(client):
    """The stop is ~/enable with false, or missing states. A goal for a robot that is not enabled is
    refused."""
    handle = client.start(goal(STEP, time=30.0))
    assert client.peer.enable(False, each=client.send).success
    status, result = client.end(handle)
    assert status == GoalStatus.STATUS_ABORTED and result.error_code == Result.INVALID_GOAL
    assert result.error_string.startswith("ended: the robot no longer follows references")
    refused = client.end(client.start(goal(STEP)))[1]
    assert "call ~/enable first" in refused.error_string
    client.begin()
    handle = client.start(goal(STEP, time=30.0))
    client.peer.starve()
    _, result = client.end(handle, each=lambda: None)
    assert "references: no valid joint_states for 0.1 s" in result.error_string
    assert client.peer.set_parameter("state_timeout", 10.0).successful
    client.peer.reset()
