"""The task of pushing a box: its beginning, its rewards, and the shipped policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch
from task_rewards import rewards_on_numbers

from benchmarks.rl.objects import judge
from warpdyn.rl.tasks.panda_hand import HAND, JOINTS
from warpdyn.rl.tasks.push_tasks import REACHED, SIDES

TASK = rl.make("panda_push")


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(TASK, 256, seed=2)
    made.reset()
    return made


def hands(env: Any) -> np.ndarray:
    found: np.ndarray = wd.oracle(
        wd.fk, TASK.model, env.carried["q"].double().numpy()[:64], frame=HAND
    )
    return found[:, :3, 3]


def rewards_of(box: np.ndarray, goal: np.ndarray, velocity: float = 0.0) -> dict[str, float]:
    """Rewards and measures with the hand at its beginning, on numbers."""
    v = np.array([*np.zeros(JOINTS), velocity, *np.zeros(5)])
    q = np.array([*TASK.ready, 0.0, 0.0, *box, SIDES[2] / 2, 0.0, 0.0, 0.0, 1.0])
    return rewards_on_numbers(TASK, q, goal=goal, v=v)


def test_goals_are_in_all_directions_from_the_box(env: Any) -> None:
    """The distance is 10 to 20 cm. The box does not touch the hand."""
    q = env.carried["q"].numpy()
    away = env.carried["goal"].numpy() - q[:, JOINTS : JOINTS + 2]
    lengths, angles = np.linalg.norm(away, axis=1), np.arctan2(away[:, 1], away[:, 0])
    assert lengths.min() > 0.1 - 1e-6 and lengths.max() < 0.2 + 1e-6
    assert np.histogram(angles, 8, (-np.pi, np.pi))[0].min() > 10
    gap = np.linalg.norm(hands(env)[:, :2] - q[:64, JOINTS : JOINTS + 2], axis=1)
    assert gap.min() > 0.07
    assert (q[:, JOINTS + 2] == np.float32(SIDES[2] / 2)).all() and not q[:, 7:JOINTS].any()


def test_the_reward_is_largest_at_the_goal() -> None:
    goal = np.array([0.5, 0.1])
    there = rewards_of(goal, goal)
    assert there["near"] == there["there"] == there["measured_reached"] == 1.0
    assert there["still"] == there["jerk"] == 0.0
    for away in (0.01, 0.03, 0.1):
        now = rewards_of(goal + np.array([away, 0.0]), goal)
        assert now["near"] == pytest.approx(1.0 - np.tanh(away / 0.1))
        assert now["there"] == pytest.approx(np.exp(-((away / 0.02) ** 2)))
        assert now["measured_reached"] == (away < REACHED)
    assert rewards_of(goal, goal, 0.3)["still"] == pytest.approx(0.09)


def test_the_hand_moves_as_commanded_at_constant_height(env: Any) -> None:
    """The motion in the horizontal plane is that of the command."""
    env.reset(seed=env.kernels.seed)
    for _ in range(5):
        env.step(torch.zeros(256, 2))
    before = hands(env)
    for _ in range(12):
        env.step(torch.tensor([-0.2, 0.4]).expand(256, 2))
    moved = hands(env) - before
    told = 12 * TASK.step_seconds * TASK.speed * np.array([-0.2, 0.4])
    assert np.allclose(moved[:, :2], told, atol=0.015)
    assert np.allclose(hands(env)[:, 2], TASK.room[0][2], atol=4e-3)


def test_the_hand_pushes_boxes_along_the_table(env: Any) -> None:
    """It moves straight ahead. Boxes in its way move with it, and others lie still."""
    env.reset(seed=4)
    before = env.carried["q"].clone()
    for _ in range(25):
        env.step(torch.tensor([0.8, 0.0]).expand(256, 2))
    moved = env.carried["q"] - before
    ahead = before[:, JOINTS + 1].abs() < 0.015
    assert int(ahead.sum()) > 10 and moved[ahead][:, JOINTS].min() > 0.02
    assert moved[:, JOINTS + 2].abs().max() < 5e-3
    beside = before[:, JOINTS + 1].abs() > 0.07
    assert moved[beside][:, JOINTS : JOINTS + 2].abs().max() < 1e-3


def test_a_launch_equals_the_functions_on_plain_numbers(env: Any) -> None:
    """The numbers agree to the rounding of float32."""
    env.reset(seed=9)
    action = torch.rand(256, 2, generator=torch.manual_seed(0)) * 2 - 1
    wanted = rl.plain_step(env, action[3].numpy(), environment=3)
    _, reward, *_ = env.step(action)
    assert float(reward[3]) == pytest.approx(float(wanted["reward"]), abs=1e-4)
    for group in ("policy", "critic"):
        assert env.observations[group][3].numpy() == pytest.approx(wanted[group], abs=5e-3)


def test_the_shipped_policy_pushes_boxes() -> None:
    """The test has 100 starts. The results of 1,000 starts are in benchmarks/rl/results."""
    found = judge(rl.VecEnv(TASK, 100, seed=7), rl.Policy(rl.bundled_policy("panda_push")))
    assert found["reached"] >= 0.95 and found["millimetres"]["50 %"] < 8.0


def test_the_shipped_policy_pushes_boxes_in_mujoco() -> None:
    """The starts are the same in both simulators. The return is at least 97 %."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
    seen = rl.sim2sim("panda_push", envs=8, seed=7, seconds=5.96)
    assert seen.return_ratio >= 0.97 and seen.there.last["reached"] >= 0.8
