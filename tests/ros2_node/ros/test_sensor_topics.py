"""~/ft_wrench and ~/tare: they exist for a law that reads a wrench, and reach its robot."""

from __future__ import annotations

from types import SimpleNamespace

from geometry_msgs.msg import WrenchStamped

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.sensor_topics import SensorTopics
from ros2_node.ros.topics import LAST, RobotNames

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


class SensorTopicRecorder:
    """A stand-in for wiring and two robots."""

    def __init__(self, law):
        self.topics, self.services, self.told, self.lacks = {}, {}, [], ""

        def robot(k):
            sensor = SimpleNamespace(
                read=lambda *said: self.told.append((k, *said)),
                tare=lambda: self.told.append((k, "tare")),
            )
            body = SimpleNamespace(sensor=sensor, missing=lambda now: self.lacks)
            return SimpleNamespace(references=SimpleNamespace(body=body))

        self.robots = [robot(0), robot(1)]
        settings = Settings.of({"law": law, "frame_prefix": "lab/"})
        SensorTopics(self, NAMES, settings, lambda: self.robots, lambda: 7.5)

    def subscribe(self, kind, topic, qos, function, *, robot):
        assert kind is WrenchStamped and qos is LAST
        self.topics[topic] = lambda message: function(robot, message)

    def serve(self, kind, name, function, robots):
        self.services[name] = lambda: function(robots, None)


def test_a_wrench_reaches_the_robot_of_its_namespace():
    heard = SensorTopicRecorder("admittance")
    assert set(heard.topics) == {"~/ft_wrench", "r1/warpdyn/ft_wrench"}
    message = WrenchStamped()
    message.header.frame_id = "lab/r1/tool0"
    message.wrench.force.x, message.wrench.torque.z = 1.0, 2.0
    heard.topics["r1/warpdyn/ft_wrench"](message)
    assert heard.told == [(1, "tool0", (1.0, 0.0, 0.0), (0.0, 0.0, 2.0), 7.5)]
    assert heard.services["~/tare"]()[0] and heard.told[-1] == (0, "tare")
    heard.lacks = "no ft_wrench for 0.1 s"
    assert heard.services["~/tare"]() == (False, "no ft_wrench for 0.1 s")
    heard.robots.clear()
    assert heard.services["~/tare"]() == (False, "there is no model yet")


def test_other_laws_have_no_sensor_topics():
    for law in ("", "teaching", "cartesian_impedance"):
        heard = SensorTopicRecorder(law)
        assert not heard.topics and not heard.services
