"""The swinging joints of the demo launch file."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from fleets import wheel_text
from rclpy.parameter import Parameter as RosParameter

import warpdyn as wd
from ros2_node.demo import state_source
from ros2_node.demo.state_source import StateSource

MODEL = wd.load_robot("panda")


@pytest.fixture
def source(context):
    """Create a source and record its messages."""
    made = []

    def make(**values):
        overrides = [RosParameter(name, value=x) for name, x in values.items()]
        node = StateSource(context=context, parameter_overrides=overrides)
        node.destroy_timer(next(iter(node.timers)))
        made.append(node)
        messages = []
        kept = SimpleNamespace(publish=messages.append)
        if node.robots > 1:
            node._batches = kept
        else:
            node._states = kept
        return node, messages

    yield make
    for node in made:
        node.destroy_node()


def test_joints_swing_within_limits_with_matching_velocities(source, monkeypatch):
    """Velocities are the differences of the positions over the time between them."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(state_source, "time", SimpleNamespace(monotonic=lambda: clock.now))
    node, messages = source(speed=0.5)
    q, v = [], []
    times = np.arange(0.0, 5.0, 1e-3)
    for clock.now in times:
        node._publish()
        q.append(np.array(messages[-1].position))
        v.append(np.array(messages[-1].velocity))
    assert list(messages[0].name) == list(MODEL.joint_names)
    assert (q >= MODEL.position_lower).all() and (q <= MODEL.position_upper).all()
    assert (np.ptp(q, axis=0) > 0.0).all()
    middle = (np.array(q[2:]) - np.array(q[:-2])) / (times[2:] - times[:-2])[:, None]
    np.testing.assert_allclose(v[1:-1], middle, atol=1e-4)


def test_several_robots_are_sent_as_one_flat_state(source):
    """It is [robot, 2, dof], and each robot is at another phase of the same swing."""
    node, messages = source(robots=5)
    node._publish()
    assert [d.size for d in messages[0].layout.dim] == [5, 2, MODEL.nv]
    q = np.reshape(messages[0].data, (5, 2, MODEL.nv))[:, 0]
    assert len(np.unique(q[:, 0])) == 5


def test_the_robot_may_be_a_file(source, tmp_path):
    file = tmp_path / "two.urdf"
    file.write_text(wd.load_robot("double_pendulum").to_urdf())
    node, messages = source(robot=str(file))
    node._publish()
    assert len(messages[0].name) == 2


def test_the_fastest_joint_swings_at_the_requested_frequency(source, monkeypatch):
    """`speed` is in turns per second. The last joint is back after one turn."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(state_source, "time", SimpleNamespace(monotonic=lambda: clock.now))
    node, messages = source(speed=0.5)
    node._begun = 0.0
    offsets = []
    for clock.now in (0.3, 1.3, 2.3):
        node._publish()
        offsets.append(messages[-1].position[-1] - node._middle[-1])
    start, half, whole = offsets
    assert abs(start) > 0.1 * node._half[-1]
    np.testing.assert_allclose([half, whole], [-start, start], atol=1e-12)


def test_a_joint_swings_by_three_tenths_of_its_range(source, tmp_path):
    """A joint without limits, or with wider ones, uses one turn as its range. Slower joints come
    first."""
    file = tmp_path / "wheel.urdf"
    for kind, middle, half in (("revolute", 0.0, 0.3), ("continuous", 0.0, 0.3 * np.pi)):
        file.write_text(wheel_text(kind))
        node, _ = source(robot=str(file))
        np.testing.assert_allclose(node._middle, middle, atol=1e-12)
        np.testing.assert_allclose(node._half, half)
    node, _ = source(speed=0.5)
    lower, upper = MODEL.position_lower, np.minimum(MODEL.position_upper, np.pi)
    assert upper[5] == np.pi
    np.testing.assert_allclose(node._middle, (lower + upper) / 2)
    np.testing.assert_allclose(node._half, 0.15 * (upper - lower))
    np.testing.assert_allclose(node._omega, np.pi * np.linspace(0.4, 1.0, MODEL.nq))
    assert node._phase.tolist() == [[0.0]]


def test_robots_of_a_batch_are_spread_over_the_swing(source):
    node, _ = source(robots=4)
    np.testing.assert_allclose(node._phase[:, 0], np.pi * np.array([0.0, 0.5, 1.0, 1.5]))


def test_the_description_is_published_and_the_rate_has_a_default(context):
    """The topic is latched and has the robot's text. The default is 100 states a second."""
    for values, period in (({}, 0.01), ({"rate": 20.0}, 0.05)):
        overrides = [RosParameter(name, value=x) for name, x in values.items()]
        node = StateSource(context=context, parameter_overrides=overrides)
        (timer,) = node.timers
        assert timer.timer_period_ns * 1e-9 == pytest.approx(period)
        assert node._descriptions.topic_name == "/robot_description"
        node.destroy_node()
