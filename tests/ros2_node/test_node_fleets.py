"""Several robots in one node: batches, cycles, one launch for all, and faults of one robot."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from fleets import MODEL, N, Q, fault_of
from node_in_process import (  # noqa: F401  fixtures
    REST,
    answer,
    node_maker,
    panda_node,
    ready,
    sent_messages,
    state,
)
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

import warpdyn as wd
from ros2_node.control.safety.status import Status
from ros2_node.ros.messages import labelled_array
from ros2_node.ros.topics import TorqueTopics


def test_a_batch_is_answered_and_marked_for_display(panda, monkeypatch):
    published = []
    monkeypatch.setattr(
        panda._batch, "_torques", SimpleNamespace(publish=lambda m: published.append(m))
    )
    state = np.zeros((3, 2, N))
    state[:, 0] = Q
    panda._on_batch(labelled_array(state, ("robot", "2", "dof")))
    np.testing.assert_allclose(
        np.reshape(published[0].data, (3, N)), np.tile(REST, (3, 1)), atol=1e-9
    )
    assert panda._display.batch_is_new
    panda._on_batch(Float64MultiArray(data=[1.0]))
    assert len(published) == 1


def test_states_of_a_fleet_wait_for_one_launch_and_none_is_lost(make):
    """A second state of one robot makes the first be computed."""
    node = make(
        robot_description_file="panda",
        namespaces=["left", "right"],
        publish_link_poses=False,
        state_timeout=10.0,
    )
    robots = ready(node)
    fleet = node._models.fleet
    node._on_state(0, state())
    node._on_state(1, state(0.5 * Q))
    assert node.pending and fleet.pending == {0, 1} and fleet.timing.count == 0
    node._on_state(0, state(0.9 * Q))
    assert fleet.timing.count == 1 and fleet.pending == {0}
    node.flush()
    assert fleet.timing.count == 2 and not node.pending and node.handled == 3
    half = wd.rnea(MODEL, 0.5 * Q, 0 * Q, 0 * Q)
    np.testing.assert_allclose(robots[1].state.torque, half, atol=1e-9)
    assert [r.status(node._supervisor.clock.now) for r in robots] == [Status.READY] * 2


def test_an_exception_of_one_robot_does_not_affect_another(make, monkeypatch):
    """One robot fails while its state is read or answered. The other gets its torques and
    commands."""
    node = make(
        robot_description_file="panda",
        namespaces=["left", "right"],
        publish_link_poses=False,
        state_timeout=10.0,
        ramp_time=0.0,
    )
    left, right = ready(node)
    sent = []
    monkeypatch.setattr(TorqueTopics, "unheard", "")
    monkeypatch.setattr(node._topics[1], "send_command", lambda c: sent.append(c.copy()))

    def fail(*arguments):
        raise RuntimeError("left broke")

    def states():
        for i, message in enumerate((state(), state(0.9 * Q))):
            node._guarding.callback(node._on_state, i, robot=i)(message)
        node.flush()

    states()
    good, text = answer(node, "enable", SetBool, data=True)
    assert good and text.startswith("2 robots: enabled; live: left, right")
    for place in ("read", "command"):
        with monkeypatch.context() as patch:
            patch.setattr(left, place, fail)
            states()
        assert fault_of(left).endswith("RuntimeError: left broke") and not left.is_enabled
        assert right.is_enabled and not fault_of(right)
        left.reset()
    assert len(sent) == 2
    while left.stop_step(1e12) is not None:
        pass
    node._gate.enable([0], SetBool.Request(data=True))
    answer(node, "enable", SetBool, data=False)
    with monkeypatch.context() as patch:
        patch.setattr(node._topics[0], "send_command", fail)
        for _ in range(10):
            node._watch()
    assert fault_of(left) and not fault_of(right) and len(sent) >= 7 and not np.any(sent[-5:])


def test_with_a_rate_the_cycle_computes_fresh_states(make):
    node = make(robot_description_file="panda", rate=100.0, publish_link_poses=False)
    (robot,) = ready(node)
    node._cycle()
    assert np.isfinite(robot.state.torque).all(), "computed once when the model was built"
    node._on_state(0, state())
    assert node._models.fleet.timing.count == 1, "a state does not compute"
    node._cycle()
    np.testing.assert_allclose(robot.state.torque, REST, atol=1e-9)


def test_a_released_batch_is_not_shown(panda, monkeypatch):
    panda._display.batch_is_new = True
    panda._report()
    assert panda._display.batch_is_new
    monkeypatch.setattr(panda._batch, "rest", lambda fleet, steady: fleet is panda._models.fleet)
    panda._report()
    assert not panda._display.batch_is_new
