"""A task's functions for a robot: inputs that are left out, limits of commands, and gains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from policy_files import linear_policy
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl.deployment.robot_step import RobotStep, gains_of, limits_of_command


def test_a_robot_step_reads_the_state_the_action_and_the_command() -> None:
    step = RobotStep(rl.make("quadruped_velocity"))
    assert step.group == "policy" and step.task.noise == {} and step.task.terrain is None
    assert {"q_now", "v_now", "action", "anew", "asked"} <= set(step.read)
    assert step.first["command"].shape == (3,)
    assert step.task.push is None and step.task.random_start is False
    assert set(step.task.vary) == set(rl.make("quadruped_velocity").vary)
    assert all(each[:4] == (1.0, 1.0, "uniform", "scale") for each in step.task.vary.values())


def test_a_robot_step_has_only_the_policys_observations() -> None:
    """It has no delays, and not what the critic observes in addition."""
    task = Hold()
    task.vary = {**Hold.vary, "latency": rl.Vary(0.01, 0.02)}
    step = RobotStep(task)
    assert step.task.vary["latency"][:2] == (0.0, 0.0) and step.task.vary["kp"][:2] == (1.0, 1.0)
    assert step.task.groups == {"policy": Hold.groups["policy"]}
    assert task.groups == Hold.groups and task.vary["latency"][:2] == (0.01, 0.02)


def test_command_limits_come_from_numbers_or_attributes() -> None:
    lowest, highest, rate = limits_of_command(rl.make("quadruped_velocity"))
    assert lowest.tolist() == [-1.0] * 3 and rate.tolist() == [2.0, 2.0, 4.0]
    lowest, highest, rate = limits_of_command(rl.make("humanoid_velocity"))
    assert (lowest[0], highest[0], rate.tolist()) == (0.0, 0.7, [np.inf])


def test_gains_are_listed_per_joint() -> None:
    kp, kd, _ = gains_of(Hold(), 2)
    assert kp.tolist() == [30.0, 30.0] and kd.tolist() == [2.0, 2.0]
    task = Hold()
    task.drives = wd.PD(np.array([1.0, 2.0]), 0.1, effort=np.array([0.0, 3.0]))
    kp, kd, most = gains_of(task, 2)
    assert (kp.tolist(), kd.tolist(), most.tolist()) == ([1, 2], [0.1, 0.1], [np.inf, 3.0])
    task.drives = wd.PD(1.0, 0.1, effort=np.array([np.nan, 0.5]))
    assert gains_of(task, 2)[2].tolist() == [np.inf, 0.5]
    task.drives = None
    nothing = [[0.0, 0.0], [0.0, 0.0], [np.inf, np.inf]]
    assert [each.tolist() for each in gains_of(task, 2)] == nothing


def test_effort_limits_are_those_of_the_description() -> None:
    """Where the drives have none of their own."""
    task = rl.make("quadruped_velocity")
    task.drives = wd.PD(20.0, 0.5)
    model = task.model
    most = gains_of(task, len(model.joint_columns))[2]
    np.testing.assert_array_equal(most, model.effort_limit[model.joint_columns])
    assert np.isfinite(most).all()


class Remembering(Hold):
    """The policy observes the velocity, and that of the step before."""

    groups, noise, vary = {}, {}, {}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([s.v, s.last_v])


def test_a_robot_observes_the_velocity_of_the_step_before(tmp_path: Path) -> None:
    """It observed the present one twice, as environments did. An episode begins with zeros."""
    file = linear_policy(tmp_path / "a.onnx", np.zeros((4, 2)), robot="double_pendulum")
    walker, q = rl.DeployedPolicy(Remembering(), rl.Policy(file)), np.zeros(2)
    for _ in range(2):
        walker.step(q, [0.1, 0.2])
        assert walker.observation.tolist() == [0.1, 0.2, 0.0, 0.0]
        walker.step(q, [0.3, 0.4])
        assert walker.observation.tolist() == [0.3, 0.4, 0.1, 0.2]
        walker.reset()
