"""The managed node in this process, transition by transition; over DDS in
tests/ros/test_lifecycle.py."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import NAMES, Q
from own_domain import ros_context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from waiting import wait_until

from ros2_node.control.safety.gate import GateEvent, Phase
from ros2_node.lifecycle_node import WarpdynLifecycleNode

DONE = TransitionCallbackReturn.SUCCESS


@pytest.fixture(scope="module")
def node(context):
    values = {"robot_description_file": "panda", "ramp_time": 0.0, "state_timeout": 60.0}
    overrides = [RosParameter(k, value=v) for k, v in values.items()]
    made = WarpdynLifecycleNode(context=context, parameter_overrides=overrides)
    yield made
    made.destroy_node()


def fed(node):
    """Whether a state was computed."""
    robots = node._supervisor.robots
    before = robots[0].states.arrived if robots else None
    node._on_state(0, JointState(name=list(NAMES), position=[float(x) for x in Q]))
    return bool(robots) and robots[0].states.arrived != before


def enabled(node):
    return node._gate.enable([0], SetBool.Request(data=True))


def test_a_life(node):
    """Unconfigured nothing is built, inactive nothing is read, active all is as in the plain node;
    deactivate and shutdown stop an enabled robot."""
    assert not node._models.building and not fed(node) and not enabled(node)[0]
    assert node.trigger_activate() != DONE
    for _ in range(2):
        assert node.trigger_configure() == DONE and node._models.fleet is not None
        assert not fed(node)
        good, text = enabled(node)
        assert not good and text.endswith("set /warpdyn activate")
        assert node.trigger_activate() == DONE and fed(node) and enabled(node)[0]
        (robot,) = node._supervisor.robots
        assert fed(node) and np.abs(robot.output.command).max() > 1.0
        assert node.trigger_deactivate() == DONE
        assert not robot.is_enabled and not robot.output.command.any() and not fed(node)
        assert node.trigger_cleanup() == DONE and node._models.fleet is None


def test_a_state_that_waited_is_not_computed_after_deactivation(node):
    """One of many robots' that came in the same cycle: it would be shown, or start its robot."""
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE and fed(node)
    fleet = node._models.fleet
    fleet.pending.add(0)
    fleet.robots[0].gate.send(GateEvent.START)
    assert node.trigger_deactivate() == DONE
    assert not node.pending and not fleet.pending and fleet.robots[0].gate.phase is Phase.OFF
    assert node.trigger_cleanup() == DONE


def test_an_error_in_a_transition_stops_the_robot_and_leaves_it_unconfigured(node, monkeypatch):
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert fed(node) and enabled(node)[0] and fed(node)
    (robot,) = node._supervisor.robots

    def broken():
        monkeypatch.undo()
        raise RuntimeError("broken")

    monkeypatch.setattr(node, "_withhold", broken)
    node.trigger_deactivate()
    assert not robot.is_enabled and not robot.output.command.any()
    assert node._state_machine.current_state[1] == "unconfigured" and node._models.fleet is None


def test_shutdown_of_an_active_node_deactivates(node):
    assert node.trigger_configure() == DONE and node.trigger_activate() == DONE
    assert fed(node) and enabled(node)[0] and fed(node)
    (robot,) = node._supervisor.robots
    assert node.trigger_shutdown() == DONE
    assert not robot.is_enabled and not robot.output.command.any() and node._models.fleet is None
    assert node._state_machine.current_state[1] == "finalized"


def test_a_destroyed_node_leaves_the_graph(context):
    """Else whoever asks for the next node of this name may be told of this one."""
    with ros_context() as beside:
        peer = Node("peer", context=beside)
        made = WarpdynLifecycleNode(context=context, namespace="alone")

        def there():
            return ("warpdyn", "/alone") in peer.get_node_names_and_namespaces()

        wait_until(there, "a node that has come", 30.0)
        made.destroy_node()
        wait_until(lambda: not there(), "a node that has left", 30.0)
        peer.destroy_node()
