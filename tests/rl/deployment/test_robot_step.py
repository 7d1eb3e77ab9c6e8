"""A task's functions for a robot: inputs that are left out, limits of commands, and gains."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl.deployment.robot_step import RobotStep, gains_of, limits_of_command


def test_a_robot_step_reads_the_state_the_action_and_the_command() -> None:
    step = RobotStep(rl.make("quadruped_velocity"))
    assert step.group == "policy" and step.task.noise == {} and step.task.terrain is None
    assert {"q_now", "v_now", "action", "anew", "asked"} <= set(step.read)
    assert step.first["command"].shape == (3,)


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
    assert gains_of(task, 2)[2].tolist() == [np.inf, 3.0]
    task.drives = None
    assert gains_of(task, 2)[0].tolist() == [0.0, 0.0]
