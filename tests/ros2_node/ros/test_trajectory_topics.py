"""~/trajectory and its status: which calls reach a robot, and which messages are published."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_node.ros.topics import LATCHED, RobotNames
from ros2_node.ros.trajectory_topics import LARGEST, TrajectoryTopics

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


class TrajectoryRecorder:
    """A stand-in for node, wiring and two robots. It records subscriptions, calls and
    publications."""

    def __init__(self):
        self.topics, self.told, self.published, self.refused = {}, [], [], []
        self.warnings, self.actions = [], []
        self.clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=5_000_000_000))
        self.robots = [
            SimpleNamespace(
                trajectory=SimpleNamespace(status="none", refuse=self.refused.append),
                refer_trajectory=lambda *said, k=k: self.told.append((k, *said)),
            )
            for k in range(2)
        ]
        self.made = TrajectoryTopics(self, self, NAMES, lambda: self.robots, lambda: 7.5)

    def get_clock(self):
        return self.clock

    def get_logger(self):
        return SimpleNamespace(warning=lambda text, **options: self.warnings.append(text))

    def serve_action(self, kind, name, **callbacks):
        self.actions.append(name)

    def create_publisher(self, kind, topic, qos):
        assert qos is LATCHED
        return SimpleNamespace(publish=lambda m: self.published.append((topic, m.data)))

    def subscribe(self, kind, topic, qos, function, *, robot, raw):
        assert kind is JointTrajectory and raw
        self.topics[topic] = lambda data: function(robot, data)


@pytest.fixture
def recorder():
    return TrajectoryRecorder()


def message(**point):
    m = JointTrajectory(joint_names=["a", "b"])
    p = JointTrajectoryPoint(positions=[1.0, 2.0], velocities=[0.0, 0.5], **point)
    p.time_from_start.sec, p.time_from_start.nanosec = 1, 500_000_000
    m.points = [p]
    return m


def test_points_reach_the_robot_of_their_namespace(recorder):
    """They come with the time until their start by the node's clock. A stamp of zero means now."""
    assert set(recorder.topics) == {"~/trajectory", "r1/warpdyn/trajectory"}
    assert recorder.actions == ["~/follow_joint_trajectory", "r1/warpdyn/follow_joint_trajectory"]
    m = message()
    recorder.topics["~/trajectory"](serialize_message(m))
    m.header.stamp.sec = 7
    recorder.topics["r1/warpdyn/trajectory"](serialize_message(m))
    (k, names, points, delay, now), second = recorder.told
    assert (k, names, delay, now) == (0, ["a", "b"], 0.0, 7.5)
    assert points[0].time == 1.5 and list(points[0].positions) == [1.0, 2.0]
    assert list(points[0].velocities) == [0.0, 0.5] and not len(points[0].accelerations)
    assert second[0] == 1 and second[3] == pytest.approx(2.0)
    m.points = []
    recorder.topics["~/trajectory"](serialize_message(m))
    assert recorder.told[-1][2] == []


def test_unusable_trajectory_messages_are_refused(recorder):
    """They are bytes that are no message, messages that are too large, and efforts, which would be
    ignored."""
    send = recorder.topics["~/trajectory"]
    for data in (b"", b"\0\1\0\0rubbish", bytes(LARGEST + 1)):
        send(data)
    send(serialize_message(message(effort=[1.0, 1.0])))
    assert len(recorder.refused) == 4 and not recorder.told
    assert "efforts" in recorder.refused[-1] and "bytes" in recorder.refused[2]


def test_the_status_is_published_when_it_changes(recorder):
    recorder.made.report()
    recorder.made.report()
    recorder.robots[1].trajectory.status = "succeeded"
    recorder.made.report()
    assert recorder.published == [
        ("~/trajectory_status", "none"),
        ("r1/warpdyn/trajectory_status", "none"),
        ("r1/warpdyn/trajectory_status", "succeeded"),
    ]


def test_a_trajectory_that_a_robot_refuses_is_logged(recorder):
    """The log has the reason. An accepted trajectory is not logged, and one without a robot is
    dropped."""
    data = serialize_message(message())
    recorder.topics["~/trajectory"](data)
    assert not recorder.warnings
    recorder.robots[0].refer_trajectory = lambda *said: "too fast"
    recorder.topics["~/trajectory"](data)
    assert recorder.warnings == ["~/trajectory refused: too fast"]
    recorder.robots.clear()
    recorder.topics["~/trajectory"](data)
    assert len(recorder.warnings) == len(recorder.told) == 1
