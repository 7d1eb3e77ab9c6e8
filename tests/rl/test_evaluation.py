"""Evaluation of a policy: sums over first episodes, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from policy_files import linear_policy
from rl_cases import DoubledSpeed, Hold, barely_trained

from warpdyn.rl.deployment import deployment_record


class MeasuringHold(Hold):
    """A task without noise that measures its distance from its place."""

    def measure(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"off": np.sqrt(np.sum((s.q - s.place) ** 2)), "age": s.age}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that is hardly trained."""
    return barely_trained(Hold(), tmp_path_factory.mktemp("policy") / "hold.onnx")


def by_hand(task: rl.Task, path: Path, envs: int, steps: int) -> tuple[np.ndarray, ...]:
    """Rewards of first episodes (envs,), how many steps they last, and which end before their time."""
    env, policy = rl.VecEnv(task, envs, seed=1), rl.Policy(path)
    env.reset()
    earned, age, living = np.zeros(envs), np.zeros(envs), np.ones(envs, bool)
    fallen = np.zeros(envs, bool)
    for _ in range(steps):
        seen = env.observations["policy"].numpy()
        _, reward, fell, late, _ = env.step(torch.as_tensor(policy(seen)))
        earned += np.where(living, reward.numpy(), 0.0)
        age += living
        fallen |= living & fell.numpy()
        living &= ~(fell | late).numpy()
    return earned, age, fallen


def test_evaluate_averages_the_rewards_of_first_episodes(policy: Path) -> None:
    """Per second of the requested time. Steps after the end of the first episode do not count."""
    task = MeasuringHold()
    seen = rl.evaluate(task, policy, envs=64, seed=1)
    earned, age, fallen = by_hand(task, policy, 64, 10)
    assert seen.seconds == pytest.approx(0.2) and seen.envs == 64
    assert seen.returned == pytest.approx(earned.mean() / 0.2, rel=1e-5)
    assert sum(seen.rewards.values()) == pytest.approx(seen.returned)
    assert set(seen.rewards) == {"still", "near"}
    assert seen.length == pytest.approx(age.mean() * 0.02)
    assert 0.0 < seen.falls < 1.0 and seen.falls == pytest.approx(fallen.mean())
    # Ages 1, 2, ... of those that live on; the last of them but the last step's.
    ages = np.concatenate([np.arange(1, n) for n in np.minimum(age, 10)])
    assert seen.measures["age"] == pytest.approx(ages.mean())
    assert seen.last["age"] == pytest.approx(np.mean(age[age > 1] - 1))
    assert 0.0 < seen.measures["off"] < 0.3


def test_seconds_shorten_an_evaluation_and_cannot_exceed_the_episode(policy: Path) -> None:
    task = Hold()
    short = rl.evaluate(task, policy, envs=16, seconds=0.1)
    assert short.seconds == pytest.approx(0.1) and short.length <= 0.1
    assert short.measures == {} and short.last == {}
    with pytest.raises(rl.TaskError, match=r"lasts 0.2 s: seconds must be at most that.*got 0.4"):
        rl.evaluate(task, policy, envs=16, seconds=0.4)
    with pytest.raises(rl.TaskError, match=r"at most that and at least a step, got 0.009"):
        rl.evaluate(task, policy, envs=16, seconds=0.009)


def test_equal_seeds_give_equal_evaluations(policy: Path) -> None:
    one, two, other = (rl.evaluate(Hold(), policy, envs=16, seed=k) for k in (3, 3, 4))
    assert one == two and one.returned != other.returned


def test_a_policy_of_another_task_is_refused(policy: Path, tmp_path: Path) -> None:
    with pytest.raises(
        rl.TaskError,
        match="observes 6 numbers; CartpoleSwingUp for",
    ):
        rl.evaluate("cartpole_swing_up", policy, envs=2)
    with pytest.raises(rl.TaskError, match="no such policy file"):
        rl.evaluate(Hold(), tmp_path / "none.onnx")
    with pytest.raises(rl.TaskError, match="no policy of Hold comes with warpdyn"):
        rl.evaluate(Hold())


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_nonfinite_actions_are_counted(weight: float, tmp_path: Path) -> None:
    """The count covers first episodes.

    NaN ends an episode at once. Infinity is clipped in each step.
    """
    weights = np.zeros((6, 2))
    weights[0, 0] = weight
    path = linear_policy(tmp_path / "odd.onnx", weights, task="Hold", robot="double_pendulum")
    seen = rl.evaluate(Hold(), path, envs=8)
    steps = round(8 * seen.length / 0.02)
    assert seen.nonfinite_actions == steps
    assert seen.failed == (8 if np.isnan(weight) else 0)
    assert (steps == 8 and seen.falls == 1.0) if np.isnan(weight) else steps > 8
    sound = linear_policy(tmp_path / "sound.onnx", np.zeros((6, 2)), task="Hold")
    assert rl.evaluate(Hold(), sound, envs=8).nonfinite_actions == 0


def test_a_policy_trained_with_another_observation_prints_a_remark(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks = list[str]()
    monkeypatch.setattr(deployment_record, "say", remarks.append)
    rl.evaluate(DoubledSpeed(), policy, envs=2)
    assert "was trained differently from DoubledSpeed: its observe()" in "".join(remarks)
