"""The task of cart and pole: its rewards equal the Control Suite's, and actions move the cart."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

TASK = rl.make("cartpole_swing_up")


def reward_at(q: list[float], v: list[float], push: float = 0.0) -> float:
    s = rl.Episode({"q": np.array(q), "v": np.array(v), "action": np.array([push])})
    return float(TASK.reward(None, s)["swing_up"])


def test_the_reward_is_one_if_the_pole_stands_still() -> None:
    assert reward_at([0, 0], [0, 0]) == 1.0 and reward_at([0, np.pi], [0, 0]) == pytest.approx(0.0)
    assert reward_at([2.0, 0], [0, 0]) == pytest.approx((1 + 0.1) / 2)
    assert reward_at([0, 0], [0, 5.0]) == pytest.approx((1 + 0.1) / 2)
    assert reward_at([0, 0], [0, 0], 1.0) == pytest.approx(4 / 5)


def test_control_suite_measures_a_thousand_if_the_pole_stands() -> None:
    """The Control Suite sums up 1,000 steps of a reward of at most one.

    Here it is their mean in thousandths.
    """
    s = rl.Episode({"q": np.array([0.5, 0.3]), "v": np.ones(2), "last_action": np.array([0.5])})
    reward = TASK.reward(None, s.with_fields(action=s.last_action))["swing_up"]
    assert TASK.measure(None, s)["control_suite"] == pytest.approx(1000 * float(reward))
    still = s.with_fields(q=np.zeros(2), v=np.zeros(2), last_action=np.zeros(1))
    assert TASK.measure(None, still)["control_suite"] == 1000.0


def test_pushes_move_the_cart() -> None:
    env = rl.VecEnv(TASK, 2)
    env.reset()
    for _ in range(5):
        seen = env.step(torch.tensor([[1.0], [-1.0]]))[0]
    assert seen[0, 0] > 0.05 and seen[1, 0] < -0.05
    assert seen[:, 1:3].norm(dim=1).numpy() == pytest.approx([1.0, 1.0])
