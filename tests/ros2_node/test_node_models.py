"""Models of the node: descriptions that it reads, refuses or replaces, and its messages about the
present one."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from fleets import NAMES
from geometry_msgs.msg import WrenchStamped
from node_in_process import (  # noqa: F401  fixtures
    node_maker,
    panda_node,
    ready,
    sent_messages,
    state,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter as RosParameter
from recording_node import RecordedLog
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory
from waiting import wait_until

from ros2_node.control.fleet import Event
from ros2_node.node import WarpdynNode
from ros2_node.ros.process import BAD_START, run


def test_a_bad_description_is_refused_and_the_robot_remains(panda):
    """The parameter is refused and keeps its value."""
    for name, value in (
        ("robot_description", "<robot"),
        ("robot_description_file", "/no/such/file.urdf"),
    ):
        (bad,) = panda.set_parameters([RosParameter(name, value=value)])
        assert not bad.successful and "the one before stays" in bad.reason
        assert panda.get_parameter(name).value != value
    assert panda.settings.robot_description_file == "panda"


def test_loaded_objects_are_excluded_from_garbage_collection_once(panda, monkeypatch):
    """If this were repeated for every model, a replaced model would never be collected."""
    frozen = []
    monkeypatch.setattr("ros2_node.node.gc.freeze", lambda: frozen.append(True))
    panda._frozen = False
    for _ in range(3):
        panda._on_model(Event.READY)
    assert len(frozen) == 1


def test_a_description_on_the_topic_creates_the_model(make):
    """It is latched, over DDS, from a publisher that existed before."""
    node = make(publish_link_poses=False)
    assert node._models.fleet is None
    from rclpy.qos import DurabilityPolicy, QoSProfile

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "robot_description", latched)
    publisher.publish(String(data="hello"))
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + 30.0
    while not node._models.refusal and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    assert "begins with 'hello'" in node._models.refusal
    assert node._counts[0]["description_refused"] == 1 and node.exit_code is None


def test_a_bad_start_ends_the_node(make, monkeypatch):
    """An unknown device raises at once. A missing file gives the exit code."""
    with pytest.raises(ValueError, match="'cuda:77' is not there"):
        make(device="cuda:77")
    node = make(robot_description_file="nowhere.urdf", executor="single")
    monkeypatch.setattr("ros2_node.ros.process.rclpy.ok", lambda: True)
    end = time.monotonic() + 30.0
    assert run(node, lambda: time.monotonic() > end) == BAD_START


def test_inputs_before_a_model_are_dropped(make):
    """States are counted. Nothing else happens."""
    node = make()
    node._on_state(0, state())
    node._on_reference(0, JointTrajectory(joint_names=NAMES[:1]))
    node._on_wrench(0, WrenchStamped())
    node._on_batch(Float64MultiArray(data=[1.0]))
    node._cycle()
    node._show()
    node.flush()
    assert node.handled == 1 and node._totals[0] == {"joint_states": 1} and not node.pending
    assert not +node._counts[0] and not node._display.batch_is_new


def test_unreadable_state_messages_are_counted(panda, sent):
    handled, before = panda.handled, panda._counts[0]["unreadable_message"]
    panda._on_state_bytes(0, b"\x00\x01\x00\x00no state")
    assert panda.handled == handled + 1 and not sent.torques
    assert panda._counts[0]["unreadable_message"] == before + 1


def test_a_description_that_is_too_large_is_reported(make, monkeypatch):
    node, log = make(), RecordedLog()
    monkeypatch.setattr(node, "get_logger", lambda: log)
    monkeypatch.setattr("ros2_node.control.fleet.LARGEST_TEXT", 4)
    node._on_description(String(data="<robot/>"))
    (reporter,) = node._diagnostics.reporters
    text = reporter.remarks["model refused"]
    assert text.startswith(
        "robot_description has 0 MB; a description of more than 0 MB is not read"
    )
    assert log.lines == [f"model refused: {text}"] and node._counts[0]["description_refused"] == 1
    node._on_description(String(data=""))
    assert len(log.lines) == 1


def test_the_running_model_and_a_new_payload_are_logged(panda, monkeypatch):
    """Warnings of the model and of the robot come first. A payload does not create a new robot."""
    log, described = RecordedLog(), []
    fleet = panda._models.fleet
    monkeypatch.setattr(panda, "get_logger", lambda: log)
    monkeypatch.setattr("ros2_node.node.remarks", lambda robot: ["no limits"])
    monkeypatch.setitem(vars(fleet.dynamics.model), "warnings", ("odd", "words"))
    monkeypatch.setattr(panda._display, "describe", lambda *given: described.append(given))
    panda._on_model(Event.READY)
    assert log.lines[:3] == ["odd", "words", "no limits"] and len(log.lines) == 4
    assert log.lines[3].startswith("ready: panda, ") and len(described) == 1
    panda._on_model(Event.PAYLOAD)
    mass = fleet.dynamics.total_mass
    assert log.lines[4:] == [f"payload changed: panda has {mass:.6g} kg"] and len(described) == 1


def test_refused_realtime_settings_are_warnings(make, monkeypatch):
    """Only the parameter `realtime` requests them."""
    lines = []
    log = SimpleNamespace(info=print, warning=lines.append)
    log.get_child = lambda name: log
    monkeypatch.setattr("ros2_node.node.make_realtime", lambda: ["no priority", "no memory"])
    monkeypatch.setattr(WarpdynNode, "get_logger", lambda self: log)
    make()
    assert not lines
    make(realtime=True)
    assert lines == ["no priority", "no memory"]


def test_a_refused_payload_leaves_the_parameters_of_the_one_before(make, monkeypatch):
    node = make(robot_description_file="panda", payload__link="panda_hand", payload__mass=1.0)
    ready(node)

    def fail_to_build(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr("ros2_node.control.fleet.Fleet", fail_to_build)
    link = RosParameter("payload.link", value="panda_link7")
    com = RosParameter("payload.com", value=[0.0, 0.0, 0.1])
    answer = node.set_parameters_atomically([link, RosParameter("payload.mass", value=2.0), com])
    assert answer.successful and node._models.building
    wait_until(lambda: node._watch() or not node._models.building, "a refusal")
    assert node._models.refusal == "no space left on device"
    for name, value in (("link", "panda_hand"), ("mass", 1.0), ("com", [0.0, 0.0, 0.0])):
        kept = node.get_parameter(f"payload.{name}").value
        assert kept == value or list(kept) == value, name
