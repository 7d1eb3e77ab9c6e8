"""The managed node in this process, transition by transition. tests/ros/test_lifecycle.py covers
DDS."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from fleets import NAMES, Q
from own_domain import ros_context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from recording_node import RecordedLog
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from waiting import wait_until

from ros2_node import lifecycle_node
from ros2_node.control.fleet import Models
from ros2_node.control.safety.gate import GateEvent, Phase
from ros2_node.demo.named_robot import urdf_text
from ros2_node.lifecycle_node import WarpdynLifecycleNode
from ros2_node.ros.topics import LATCHED

DONE, REFUSED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


@pytest.fixture(scope="module")
def node(context):
    values = {"robot_description_file": "panda", "ramp_time": 0.0, "state_timeout": 60.0}
    overrides = [RosParameter(k, value=v) for k, v in values.items()]
    made = WarpdynLifecycleNode(context=context, parameter_overrides=overrides)
    yield made
    made.destroy_node()


def computes_state(node):
    """True if a state was computed."""
    robots = node._supervisor.robots
    before = robots[0].states.arrived if robots else None
    node._on_state(0, JointState(name=list(NAMES), position=[float(x) for x in Q]))
    return bool(robots) and robots[0].states.arrived != before


def enable(node):
    return node._gate.enable([0], SetBool.Request(data=True))


def test_each_lifecycle_state_restricts_the_node(node):
    """Unconfigured, the node builds nothing. Inactive, it reads nothing. Active, it behaves like
    the plain node. Deactivate and shutdown stop an enabled robot."""
    assert not node._models.building and not computes_state(node) and not enable(node)[0]
    assert node.trigger_activate() != DONE
    for _ in range(2):
        assert node.trigger_configure() == DONE and node._models.fleet is not None
        assert not computes_state(node)
        good, text = enable(node)
        assert not good and text.endswith("set /warpdyn activate")
        assert node.trigger_activate() == DONE and computes_state(node) and enable(node)[0]
        (robot,) = node._supervisor.robots
        assert computes_state(node) and np.abs(robot.output.command).max() > 1.0
        assert node.trigger_deactivate() == DONE
        assert not robot.is_enabled and not robot.output.command.any() and not computes_state(node)
        assert node.trigger_cleanup() == DONE and node._models.fleet is None


def test_a_held_torque_outlives_a_cleanup(node):
    """The controller still applies it, so the next ~/enable starts from it."""
    node.set_parameters([RosParameter("stale_action", value="hold")])
    node.set_parameters([RosParameter("ramp_time", value=1.0)])
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert computes_state(node) and enable(node)[0]
    (robot,) = node._supervisor.robots
    robot.output.command[:] = Q
    assert node.trigger_deactivate() == DONE and node.trigger_cleanup() == DONE
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert computes_state(node) and enable(node)[0]
    (robot,) = node._supervisor.robots
    np.testing.assert_array_equal(robot.output.command, Q)
    steady = robot.output._computed
    np.testing.assert_array_equal(robot.output.compute(robot.state.torque, steady), Q)
    assert node.trigger_deactivate() == DONE and node.trigger_cleanup() == DONE
    node.set_parameters([RosParameter("stale_action", value="ramp_down")])
    node.set_parameters([RosParameter("ramp_time", value=0.0)])
    assert node.trigger_configure() == DONE and not node._supervisor.robots[0].output.stopping
    assert node.trigger_cleanup() == DONE


def test_a_signal_ends_the_wait_for_a_model(node, monkeypatch):
    """The process then ends at once, although the compiler may need minutes."""
    load, compiled = Models._build, threading.Event()

    def build_slowly(*arguments):
        compiled.wait(60.0)
        load(*arguments)

    monkeypatch.setattr(Models, "_build", build_slowly)
    monkeypatch.setattr(node, "ending", lambda: True)
    assert node.trigger_configure() == REFUSED
    assert node._models.building and node._models.quiet
    compiled.set()
    node._models.clear()


def test_an_unconfigured_node_refuses_enable_with_the_remedy(node):
    """To disable is not refused."""
    good, text = enable(node)
    assert not good and text.endswith("set /warpdyn configure")
    assert node._supervisor.enable([0], False, 0.0, 0.0) == (True, "there is no model yet")


def test_an_unconfigured_node_does_not_promise_to_read_its_model(node):
    good, text = node._supervisor.reload()
    assert not good and text.endswith("set /warpdyn configure") and not node._models.building


def test_a_state_that_waited_is_not_computed_after_deactivation(node):
    """It came with other robots' states in the same cycle. It would be shown, or start its
    robot."""
    assert (
        node.trigger_configure() == DONE
        and node.trigger_activate() == DONE
        and computes_state(node)
    )
    fleet = node._models.fleet
    fleet.pending.add(0)
    fleet.robots[0].gate.send(GateEvent.START)
    assert node.trigger_deactivate() == DONE
    assert not node.pending and not fleet.pending and fleet.robots[0].gate.phase is Phase.OFF
    assert node.trigger_cleanup() == DONE


def test_an_error_in_a_transition_stops_and_unconfigures_the_node(node, monkeypatch):
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert computes_state(node) and enable(node)[0] and computes_state(node)
    (robot,) = node._supervisor.robots

    def fail():
        monkeypatch.undo()
        raise RuntimeError("broken")

    monkeypatch.setattr(node, "_withhold", fail)
    node.trigger_deactivate()
    assert not robot.is_enabled and not robot.output.command.any()
    assert node._state_machine.current_state[1] == "unconfigured" and node._models.fleet is None


def test_shutdown_of_an_active_node_deactivates(node):
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert computes_state(node) and enable(node)[0] and computes_state(node)
    (robot,) = node._supervisor.robots
    assert node.trigger_shutdown() == DONE
    assert not robot.is_enabled and not robot.output.command.any() and node._models.fleet is None
    assert node._state_machine.current_state[1] == "finalized"


def test_a_destroyed_node_leaves_the_graph(context):
    """Otherwise a query for the next node of this name might find this one."""
    with ros_context() as beside:
        peer = Node("peer", context=beside)
        made = WarpdynLifecycleNode(context=context, namespace="alone")

        def there():
            return ("warpdyn", "/alone") in peer.get_node_names_and_namespaces()

        wait_until(there, "a node that has come", 30.0)
        made.destroy_node()
        wait_until(lambda: not there(), "a node that has left", 30.0)
        peer.destroy_node()


@pytest.fixture
def node_of_topic(context):
    """A node in its own namespace whose robot comes from the topic."""
    made = WarpdynLifecycleNode(context=context, namespace="described")
    yield made
    made.destroy_node()


def test_configure_waits_for_a_description_for_a_limited_time(node_of_topic, monkeypatch):
    """The log has the reason. A bad description is refused, and the node may be configured
    again."""
    log = RecordedLog()
    monkeypatch.setattr(node_of_topic, "get_logger", lambda: log)
    monkeypatch.setattr(lifecycle_node, "PATIENCE", 0.05)
    assert node_of_topic.trigger_configure() == REFUSED and node_of_topic._models.quiet
    assert log.lines == [
        "not configured: no robot_description has come; start its publisher, or set "
        "robot_description_file"
    ]
    monkeypatch.setattr(lifecycle_node, "PATIENCE", 30.0)
    sent = node_of_topic.create_publisher(String, "robot_description", LATCHED)
    sent.publish(String(data="hello"))
    assert node_of_topic.trigger_configure() == REFUSED and node_of_topic._models.quiet
    assert "model refused: robot_description begins with 'hello'" in log.lines[1]
    assert node_of_topic.exit_code is None and node_of_topic._models.fleet is None
    node_of_topic._models.text = ""
    sent.publish(String(data=urdf_text("double_pendulum")))
    assert node_of_topic.trigger_configure() == DONE and not node_of_topic._models.quiet
    assert node_of_topic._models.fleet.dynamics.model.name == "double_pendulum"
    withheld = "the node is {}: ros2 lifecycle set /described/warpdyn {}"
    assert node_of_topic._supervisor.withheld == withheld.format("inactive", "activate")
    assert node_of_topic.trigger_cleanup() == DONE
    assert node_of_topic._supervisor.withheld == withheld.format("unconfigured", "configure")


def test_configure_does_not_wait_for_a_description_in_parameters(node, monkeypatch):
    monkeypatch.setattr(node, "resolve_topic_name", lambda topic: pytest.fail("it waits"))
    node._await_description()


def test_the_process_runs_the_managed_node(monkeypatch):
    ran = []
    monkeypatch.setattr(lifecycle_node, "run_process", lambda *given: ran.append(given) or 7)
    assert lifecycle_node.main(["a"]) == 7 and ran == [(WarpdynLifecycleNode, ["a"])]
