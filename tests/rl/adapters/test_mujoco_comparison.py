"""A policy here and in MuJoCo C: a small one, and the quadruped's that comes with warpdyn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
from policy_files import linear_policy
from rl_cases import barely_trained

import warpdyn as wd
from warpdyn.rl.bundled_policies import policies


class Swing(rl.Task):
    """The joints of a pendulum shall follow the targets of the policy, in steps of 1 ms."""

    dt, substeps, seconds = 0.001, 20, 0.2
    drives = wd.PD(30.0, 2.0)
    actions, largest_action = 2, 1.0
    scales = {"near": 1.0}  # noqa: RUF012
    noise = {"joints": rl.Noise(0.5)}  # noqa: RUF012

    def __init__(self) -> None:
        self.model = wd.load_robot("double_pendulum")

    def begin(self, robot: object, s: rl.Episode) -> dict[str, object]:
        return {"q": wd.random.uniform(s.random, 2, -0.5, 0.5), "v": np.zeros(2)}

    def control(self, robot: object, s: rl.Episode) -> dict[str, object]:
        return {"targets": s.action}

    def observe(self, robot: object, s: rl.Episode) -> dict[str, object]:
        return {"joints": s.q, "speeds": s.v}

    def reward(self, robot: object, s: rl.Episode) -> dict[str, object]:
        return {"near": 1.0 - np.sum(s.q**2)}


def test_a_policy_has_the_same_return_in_mujoco(tmp_path: Path) -> None:
    """The task has noise of half a radian, which neither simulation adds.

    Both take steps of 1 ms.
    """
    task = Swing()
    policy = barely_trained(task, tmp_path / "swing.onnx")
    steps: list[range] = []

    def watch(r: range) -> range:
        steps.append(r)
        return r

    seen = rl.sim2sim(task, policy, envs=8, dt=0.001, seed=3, watch=watch)
    assert steps == [range(10), range(10)]
    assert seen.here.returned > 0.2 and seen.here.falls == seen.there.falls == 0.0
    assert seen.return_ratio == pytest.approx(1.0, abs=0.01)
    assert seen.there.rewards["near"] == pytest.approx(seen.here.rewards["near"], abs=0.01)
    assert seen.here != seen.there and task.noise  # two simulations; the task is as it was


def test_an_action_of_nan_ends_an_episode_in_both_simulators(tmp_path: Path) -> None:
    """MuJoCo alone would replace NaN by 0 and continue."""
    policy = linear_policy(tmp_path / "odd.onnx", np.full((4, 2), np.nan))
    seen = rl.sim2sim(Swing(), policy, envs=4)
    for each in (seen.here, seen.there):
        assert each.nonfinite_actions == 4 and each.falls == 1.0


def test_the_return_ratio_of_a_negative_return_is_nan() -> None:
    here = rl.Evaluation(1, 1.0, -0.5, {}, {}, {}, 0.0, 1.0)
    assert np.isnan(rl.SideBySide(here, here, 0.005).return_ratio)


@pytest.mark.skipif(
    "quadruped_velocity" not in policies(), reason="no policy of quadruped_velocity comes with it"
)
def test_the_quadruped_walks_in_both_simulators() -> None:
    """No robot falls in 5 s with commands in ±1. Speeds are followed, and returns agree to 5 %."""
    seen = rl.sim2sim("quadruped_velocity", envs=16, seconds=5.0)
    for each in (seen.here, seen.there):
        assert each.falls == 0.0 and each.length == pytest.approx(5.0)
        # The first half second, in which it gets up to speed, is in these means.
        assert each.measures["speed_error"] < 0.2 and each.measures["turning_error"] < 0.2
    assert seen.return_ratio >= 0.95
