"""The policy of one robot: the times of its steps, its inputs, and the torques of its drives."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from fleets import MODEL, N, Q

from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.base_state import BaseMotion, BaseState
from ros2_node.control.states.state import State
from ros2_node.control.torques.policy_law import RobotPolicy

SETTINGS = Settings.of({"reference_timeout": 0.5})
ROWS = [5, 0, 2]
"""Where the policy's joints are among the panda's."""


class RecordingPolicy:
    """A stand-in for a policy. It records its inputs, and its drives give twice the position error
    minus the velocity."""

    def __init__(self, quaternion="xyzw", commands=3):
        self.period, self.commands = 0.02, commands
        self.task = SimpleNamespace(model=SimpleNamespace(quaternion=quaternion))
        self.told, self.begun = [], 0

    def reset(self):
        self.begun += 1

    def step(self, q, v, command):
        self.told.append((np.array(q), np.array(v), None if command is None else np.array(command)))

    def torques(self, q, v):
        return 2.0 * (1.0 - q) - v


def policy_of(asked, base=None):
    state = State.of_robots(MODEL, 1).row(0)
    state.q[:], state.v[:] = Q, np.arange(N)
    policy = RobotPolicy(asked.task, state, (ROWS, ROWS), base)
    policy.deployed = asked
    return policy, state


@pytest.mark.parametrize("rate", [500.0, 200.0, 130.0, 50.0])
def test_a_policy_steps_once_a_period_at_any_rate_and_jitter(rate):
    """A step is at the state nearest to its time, and none counts as late."""
    random = np.random.default_rng(1)
    times = np.arange(round(10 * rate)) / rate
    jittered = times + random.uniform(-0.2, 0.2, len(times)) / rate
    policy, _ = policy_of(asked := RecordingPolicy())
    late = [policy.prepare(now, SETTINGS) for now in 100.0 + jittered]
    assert abs(len(asked.told) - 500) <= 2
    assert not any(late)


def test_states_at_a_too_low_rate_are_reported():
    policy, _ = policy_of(asked := RecordingPolicy())
    late = [policy.prepare(now, SETTINGS) for now in 3.0 + np.arange(20) / 25.0]
    assert len(asked.told) == 20 and not late[0] and all(late[1:])


def test_a_policy_does_not_catch_up_after_a_pause():
    """No steps are made up for."""
    policy, _ = policy_of(asked := RecordingPolicy())
    for now in (1.0, 1.02, 9.0, 9.01, 9.02, 9.03):
        policy.prepare(now, SETTINGS)
    assert len(asked.told) == 4


def test_begin_makes_the_next_state_a_step():
    policy, _ = policy_of(asked := RecordingPolicy())
    policy.prepare(1.0, SETTINGS)
    policy.prepare(1.001, SETTINGS)
    policy.begin()
    policy.prepare(1.002, SETTINGS)
    assert asked.begun == 1 and len(asked.told) == 2


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
def test_base_joints_and_command_are_in_the_tasks_order(quaternion):
    """The quaternion has the order of the task's model. An old command is zero."""
    base = BaseState("trunk")
    motion = BaseMotion((1.0, 2.0, 3.0), (0.0, 0.6, 0.0, 0.8), (4.0, 5.0, 6.0), (7.0, 8.0, 9.0))
    base.read("", motion, 0, 0.0)
    policy, _ = policy_of(asked := RecordingPolicy(quaternion), base)
    policy.command.read(0.1, 0.2, 0.3, 0.0)
    policy.prepare(0.0, SETTINGS)
    policy.prepare(1.0, SETTINGS)
    turned = [0.0, 0.6, 0.0, 0.8] if quaternion == "xyzw" else [0.8, 0.0, 0.6, 0.0]
    q, v, command = asked.told[0]
    np.testing.assert_array_equal(q, [1.0, 2.0, 3.0, *turned, *Q[ROWS]])
    np.testing.assert_array_equal(v, [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, *ROWS])
    np.testing.assert_array_equal(command, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(asked.told[1][2], np.zeros(3))
    assert policy.age(2.0) == 2.0


def test_a_fixed_base_has_age_zero_and_a_task_may_have_no_command():
    policy, _ = policy_of(asked := RecordingPolicy(commands=0))
    policy.prepare(0.0, SETTINGS)
    assert asked.told[0][2] is None and len(asked.told[0][0]) == 3 and policy.age(9.0) == 0.0


def test_torques_come_from_the_drives_and_are_zero_elsewhere():
    policy, state = policy_of(RecordingPolicy())
    policy.apply()
    wanted = np.zeros(N)
    wanted[ROWS] = 2.0 * (1.0 - Q[ROWS]) - np.array(ROWS)
    np.testing.assert_array_equal(state.torque, wanted)


def test_a_step_is_at_the_launch_nearest_to_its_time():
    """The earlier one of two equally near launches counts.

    A launch may be more than half a period late.
    """
    period = 0.25
    for launches, steps in (
        ((0.0, 0.1875, 0.25), [0.0, 0.1875]),
        ((0.0, 0.125, 0.1875, 0.25), [0.0, 0.25]),
        ((0.0, 0.0625, 0.125, 0.1875, 0.3125), [0.0, 0.3125]),
    ):
        asked = RecordingPolicy()
        asked.period = period
        policy, _ = policy_of(asked)
        found = []
        for now in launches:
            count = len(asked.told)
            assert not policy.prepare(now, SETTINGS)
            found += [now] * (len(asked.told) - count)
        assert found == steps, launches


@pytest.mark.parametrize(
    ("late_by", "late", "due"), [(0.125, False, 0.5), (0.1875, True, 0.6875), (-0.125, False, 0.5)]
)
def test_a_late_step_shifts_the_following_ones(late_by, late, due):
    """A step within half a period does not."""
    asked = RecordingPolicy()
    asked.period = 0.25
    policy, _ = policy_of(asked)
    assert not policy.prepare(0.0, SETTINGS) and policy._due == 0.25
    policy._before = -1.0
    assert policy.prepare(0.25 + late_by, SETTINGS) is late
    assert policy._due == due
