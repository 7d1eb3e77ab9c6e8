"""Gradients through steps of environments, compared with Torch's derivatives of the same steps."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.step_gradient import COUNTERS, StepGradient
from warpdyn.rl.vec_env import VecEnv

ENVS, STEPS = 3, 3


def environments() -> VecEnv:
    env = VecEnv(Hold(), ENVS, seed=3, dtype="float64")
    env.reset()
    return env


def actions() -> list[torch.Tensor]:
    torch.manual_seed(1)
    shape = environments().action.shape
    return [0.5 * torch.randn(shape, dtype=torch.float64) for _ in range(STEPS)]


def test_gradients_through_steps_equal_those_of_torch() -> None:
    """Derivatives of the sum of rewards and of the last state by all actions and the first state.

    One episode is timed out on the way.
    """
    env = environments()
    env.carried["age"][1] = env.kernels.length - 2
    start = {n: x.clone() for n, x in env.carried.items()}
    gradient = StepGradient(env, STEPS)
    for k, action in enumerate(actions()):
        gradient.keep(k, action)
        env.step(action)
    gradient.cotangents["q"].fill_(1.0)
    gradient.cotangents["reward"].fill_(1.0)
    by_action = []
    for k in reversed(range(STEPS)):
        found = gradient.back(k)
        by_action.insert(0, found["action"].clone())
        for name in gradient.names:
            gradient.cotangents[name].copy_(found[name])

    state = {n: x.clone().requires_grad_(n not in COUNTERS) for n, x in start.items()}
    first, given = dict(state), [x.clone().requires_grad_() for x in actions()]
    total = torch.zeros((), dtype=torch.float64)
    for action in given:
        after = env.kernels.step(env.task.model, *state.values(), action, *env.fixed_arguments)
        total = total + after.reward.sum()
        state = {n: getattr(after, n) for n in state}
    (total + state["q"].sum()).backward()
    for mine, action in zip(by_action, given, strict=True):
        assert action.grad is not None
        assert torch.allclose(mine, action.grad, rtol=1e-9, atol=1e-12)
        assert mine.abs().max() > 0.0
    for name in ("q", "v"):
        x = first[name].grad
        assert x is not None and torch.allclose(found[name], x, rtol=1e-9, atol=1e-12)
    # The second environment began anew after its second step, so that its last action alone moves
    # the last state.
    assert by_action[1][1].abs().max() < by_action[1][0].abs().max()


def test_a_gradient_that_is_not_finite_is_replaced_by_zero() -> None:
    env = environments()
    gradient = StepGradient(env, 1)
    (action, *_) = actions()
    env.carried["v"][0] = 1e308
    gradient.keep(0, action)
    gradient.cotangents["reward"].fill_(1.0)
    found = gradient.back(0)
    assert all(bool(torch.isfinite(x).all()) for x in found.values())
    assert found["action"][1].abs().max() > 0.0
