"""Learning from derivatives: the gradients of steps and of a learner compared with Torch's, returns, and
resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.learners.shac import COUNTERS, LARGEST_GRADIENT, Shac, StepGradient
from warpdyn.rl.several_processes import Processes
from warpdyn.rl.vec_env import VecEnv

STEPS = 5
RECIPE = replace(
    Hold.recipe,
    learner="shac",
    envs=6,
    steps=STEPS,
    layers=(8,),
    activation="tanh",
    deviation=0.3,
    learning_rate=1e-2,
)


class Recorder(torch.optim.SGD):
    """An optimiser that changes nothing and stores the gradients."""

    def step(self) -> None:  # type: ignore[override]
        self.gradients = [x.grad.clone() for g in self.param_groups for x in g["params"]]


def learner(envs: int = 6) -> Any:
    """A learner with environments in which some episodes time out early and others fall."""
    torch.manual_seed(0)
    env = rl.VecEnv(Hold(), envs, seed=2)
    env.reset()
    env.carried["age"][1] = env.kernels.length - 2
    return Shac(env, RECIPE, Processes())


def roll_out(mine: Any) -> None:
    for _ in range(STEPS):
        _, reward, fell, timed_out, _ = mine.env.step(mine.act(mine.env.observations))
        mine.record(reward, (fell | timed_out).float(), timed_out.float())


def test_the_gradient_equals_that_of_the_objective() -> None:
    """The objective is computed by Torch.

    It has the discounted rewards of each episode, the value after the last step, and the value of
    the rest of an episode that was timed out.
    """
    mine = learner()
    env, discount = mine.env, RECIPE.discount
    state = {n: x.clone() for n, x in env.carried.items()}
    seen = {n: x.clone() for n, x in env.observations.items()}
    roll_out(mine)
    noises = [step.noise for step in mine._steps]
    ended = torch.stack([step.ended for step in mine._steps])
    timed_out = torch.stack([step.timed_out for step in mine._steps])
    assert timed_out.any() and (ended > timed_out).any() and not ended.all(0).any()
    parameters = [*mine.actor.parameters(), mine._log_std]
    mine.optimizer = Recorder(parameters, lr=1.0)
    mine._improve_policy(env.observations)

    policy, critic = mine.groups
    weight, total = torch.ones(len(seen[policy])), torch.zeros(())
    for k in range(STEPS):
        action = mine.actor(seen[policy]) + mine.std * noises[k]
        after = env.kernels.step(env.task.model, *state.values(), action, *env.fixed_arguments)
        total = total + (weight * after.reward).sum()
        final = getattr(after, f"final_{critic}")
        total = total + (discount * weight * timed_out[k] * mine.target(final)[:, 0]).sum()
        weight = torch.where(ended[k] > 0.5, 1.0, discount * weight)
        state = {n: getattr(after, n) for n in state}
        state = {n: x.detach() if n in COUNTERS else x for n, x in state.items()}
        seen = {n: getattr(after, n) for n in seen}
    total = total + ((1.0 - ended[-1]) * weight * mine.target(seen[critic])[:, 0]).sum()
    wanted = torch.autograd.grad(-total / (STEPS * 6), parameters)
    norm = torch.sqrt(sum(x.square().sum() for x in wanted))
    share = min(1.0, LARGEST_GRADIENT / float(norm))
    for found, x in zip(mine.optimizer.gradients, wanted, strict=True):
        assert torch.allclose(found, share * x, rtol=1e-3, atol=1e-5 * float(norm))


def test_returns_are_td_lambda_mixtures_of_rewards_and_values() -> None:
    """TD(λ) by hand for one environment that continues and one that is timed out."""
    mine = learner()
    roll_out(mine)
    steps, (_, critic) = mine._steps, mine.groups
    returns = mine._returns(mine.env.observations)
    discount, trace = RECIPE.discount, RECIPE.trace
    after = [*(step.critic_seen for step in steps[1:]), mine.env.observations[critic]]
    for e in (0, 1):
        later = float(mine.target(after[-1])[e, 0])
        for k in reversed(range(STEPS)):
            value = float(mine.target(after[k])[e, 0])
            rest = trace * later + (1 - trace) * value
            if steps[k].ended[e]:
                last = float(mine.target(steps[k].final_seen)[e, 0])
                rest = last if steps[k].timed_out[e] else 0.0
            later = float(steps[k].reward[e]) + discount * rest
            assert float(returns[k][e]) == pytest.approx(later, rel=1e-4, abs=1e-5)


def test_shac_learns_to_hold_a_pendulum() -> None:
    """The reward rises, the critic predicts it, and exploration shrinks."""
    torch.manual_seed(0)
    trainer = rl.Trainer(Hold(), recipe=replace(RECIPE, envs=32, epochs=2, layers=(32,)), seed=1)
    curve = list(trainer.run(iterations=60))
    first, last = (sum(x.reward for x in part) / 10 for part in (curve[:10], curve[-10:]))
    assert last > first + 0.3 * abs(first)
    assert curve[-1].deviation < 0.7 * curve[0].deviation


def test_a_resumed_training_continues_with_the_same_bits(tmp_path: Path) -> None:
    def weights(trainer: Any) -> list[torch.Tensor]:
        return [*trainer.policy().state_dict().values(), *trainer.learner.target.parameters()]

    whole = rl.Trainer(Hold(), recipe=RECIPE, seed=4)
    list(whole.run(iterations=4))
    for iterations in (2, 4):
        part = rl.Trainer(Hold(), recipe=RECIPE, seed=4, folder=tmp_path)
        list(part.run(iterations=iterations))
    assert all(map(torch.equal, weights(whole), weights(part)))
    assert whole.learner.deviation == part.learner.deviation


def test_the_target_network_has_the_critics_normalisation() -> None:
    """This holds after an update, and after a checkpoint was restored."""
    mine = learner()
    roll_out(mine)
    mine.update(mine.env.observations)
    other = learner()
    other.restore(mine.state())
    for each in (mine, other):
        assert each.target.normalizer is each.critic.normalizer
        assert float(each.critic.normalizer.count) == STEPS * 6
    assert torch.equal(mine.std, other.std)
    policy = other.policy()
    seen = mine.env.observations["policy"]
    assert torch.equal(policy(seen), mine.policy()(seen))


def test_several_processes_start_with_the_weights_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The weights are those of both networks and of the target, which is a copy of the critic."""
    first = learner()
    networks = (first.actor, first.critic)
    parameters = [x for each in networks for x in each.parameters()]
    sent = iter([*parameters, first._log_std, *(x for each in networks for x in each.buffers())])

    def broadcast(x: torch.Tensor, src: int) -> None:
        assert src == 0
        x.copy_(next(sent))

    monkeypatch.setattr(torch.distributed, "broadcast", broadcast)
    torch.manual_seed(3)
    second = Shac(first.env, RECIPE, Processes(2, 1))
    assert not list(sent)
    for name in ("actor", "critic", "target"):
        pairs = zip(*(getattr(x, name).parameters() for x in (first, second)), strict=True)
        assert all(torch.equal(x, y) for x, y in pairs), name


ENVS, FEW_STEPS = 3, 3


def environments() -> VecEnv:
    env = VecEnv(Hold(), ENVS, seed=3, dtype="float64")
    env.reset()
    return env


def actions() -> list[torch.Tensor]:
    torch.manual_seed(1)
    shape = environments().action.shape
    return [0.5 * torch.randn(shape, dtype=torch.float64) for _ in range(FEW_STEPS)]


def test_gradients_through_steps_equal_those_of_torch() -> None:
    """Derivatives of the sum of rewards and of the last state by all actions and the first state.

    One episode is timed out on the way.
    """
    env = environments()
    env.carried["age"][1] = env.kernels.length - 2
    start = {n: x.clone() for n, x in env.carried.items()}
    gradient = StepGradient(env, FEW_STEPS)
    for k, action in enumerate(actions()):
        gradient.keep(k, action)
        env.step(action)
    gradient.cotangents["q"].fill_(1.0)
    gradient.cotangents["reward"].fill_(1.0)
    by_action = []
    for k in reversed(range(FEW_STEPS)):
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
