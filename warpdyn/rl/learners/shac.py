"""Short-horizon actor-critic (Xu et al., arXiv 2204.07137): a policy learns from the derivatives of
the simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from ...execution.batched import bind, describe_call
from ...execution.request.evaluate import result_shapes
from ...functions.derivatives import vjp
from ..recipe import Recipe
from ..several_processes import Processes
from ..vec_env import VecEnv
from .learner import Observations
from .networks import Network, Normalizer, average_gradients

LARGEST_GRADIENT = 0.5
"""Bound of the norm of the policy's gradient; twice that of the critic's."""

DEVIATION_RATE = 10.0
"""Learning rate of the standard deviations' logarithms, in learning rates."""

SMALLEST_LOG_STD = -4.0

MOMENTUM = (0.7, 0.95)
"""Decay rates of Adam, as in the paper."""

TARGET_SHARE = 0.4
"""Share of the critic that enters the target critic after an update."""


class RecordedStep(NamedTuple):
    """The arrays of a step that an update needs."""

    seen: torch.Tensor
    """Observations of the policy, which collect their gradient."""
    critic_seen: torch.Tensor
    mean: torch.Tensor
    """The policy's output, with its graph."""
    noise: torch.Tensor
    """Standard normal numbers: the action is mean + std noise."""
    reward: torch.Tensor
    ended: torch.Tensor
    timed_out: torch.Tensor
    final_seen: torch.Tensor
    """The critic's observations at the end of an episode."""


class Shac:
    """`Learner` whose policy gradient is the derivative of the rewards of the next `steps` steps,
    and of the value of the states after them, through the simulation.

    A step's derivative is one launch (`StepGradient`). The critic learns returns that are averaged
    over horizons (TD(λ)), and a slower copy of it, the target, gives the values. `recipe.epochs`
    and `recipe.batches` are those of the critic. The first group of the observations is the
    policy's, the last one the critic's.
    """

    def __init__(self, env: VecEnv, recipe: Recipe, processes: Processes):
        self.env, self.recipe, self.processes = env, recipe, processes
        groups, actions = list(env.observations), env.task.actions
        self.groups = groups[0], groups[-1]
        device = env.action.device
        widths = {g: env.observations[g].shape[1] for g in dict.fromkeys(self.groups)}
        self.normalizers = {group: Normalizer(width).to(device) for group, width in widths.items()}
        self.actor, self.critic = (
            Network(self.normalizers[group], outputs, recipe.layers, recipe.activation).to(device)
            for group, outputs in zip(self.groups, (actions, 1), strict=True)
        )
        self._log_std = nn.Parameter(
            torch.full((actions,), math.log(recipe.deviation), device=device)
        )
        if processes.count > 1:
            parameters = (*self.actor.parameters(), *self.critic.parameters(), self._log_std)
            for x in (*parameters, *self.actor.buffers(), *self.critic.buffers()):
                torch.distributed.broadcast(x.detach(), src=0)
        self.target = deepcopy(self.critic).requires_grad_(False)
        self.target.normalizer = self.critic.normalizer  # they always normalise alike
        rate = self.learning_rate = recipe.learning_rate
        self.optimizer = torch.optim.Adam(
            [
                {"params": list(self.actor.parameters()), "lr": rate},
                {"params": [self._log_std], "lr": DEVIATION_RATE * rate},
            ],
            betas=MOMENTUM,
        )
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=rate, betas=MOMENTUM)
        self.gradient = StepGradient(env, recipe.steps)
        self._steps: list[RecordedStep] = []
        self._acting: tuple[torch.Tensor, ...] = ()

    @property
    def std(self) -> torch.Tensor:
        """Standard deviation of each action (actions,)."""
        return self._log_std.exp()

    @property
    def deviation(self) -> float:
        return float(self.std.detach().mean())

    def act(self, observations: Observations) -> torch.Tensor:
        group, critic_group = self.groups
        seen = observations[group].clone().requires_grad_()
        mean = self.actor(seen)
        noise = torch.randn_like(mean)
        action = mean.detach() + self.std.detach() * noise
        self.gradient.keep(len(self._steps), action)
        self._acting = seen, observations[critic_group].clone(), mean, noise
        return action

    def record(self, reward: torch.Tensor, ended: torch.Tensor, timed_out: torch.Tensor) -> None:
        """Store the results of the last actions, each (envs,)."""
        final = self.env.final_observations[self.groups[1]].clone()
        kept = (x.clone() for x in (reward, ended, timed_out))
        self._steps.append(RecordedStep(*self._acting, *kept, final))  # type: ignore[call-arg]

    def update(self, observations: Observations) -> None:
        """Improve the policy by one step along its gradient, then the critic on the returns."""
        self._improve_policy(observations)
        self._improve_critic(observations)
        group, critic_group = self.groups
        seen = {
            group: [step.seen.detach() for step in self._steps],
            critic_group: [step.critic_seen for step in self._steps],
        }
        for name, normalizer in self.normalizers.items():
            normalizer.update(torch.cat(seen[name]), self.processes)
        self._steps = []

    def policy(self) -> Network:
        return deepcopy(self.actor).eval()

    def use_policy(self, policy: Network) -> None:
        self.actor.load_state_dict(policy.state_dict())

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        """Restore the networks of a checkpoint, without the optimisers."""
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        self.target.load_state_dict(state["target"])
        with torch.no_grad():
            self._log_std.copy_(state["log_std"])

    def state(self) -> dict[str, Any]:
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "target": self.target.state_dict(),
            "log_std": self._log_std.detach().clone(),
            "optimizer": self.optimizer.state_dict(),
            "critic_optimizer": self.critic_optimizer.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.restore_networks(state)
        self.optimizer.load_state_dict(state["optimizer"])
        self.critic_optimizer.load_state_dict(state["critic_optimizer"])

    def _value_gradient(self, seen: torch.Tensor) -> torch.Tensor:
        """Derivative of the target's values by observations (envs, n)."""
        seen = seen.clone().requires_grad_()
        (found,) = torch.autograd.grad(self.target(seen).sum(), seen)
        return found

    def _weights(self) -> list[torch.Tensor]:
        """Share of each step's reward in the objective, (envs,) each, and that of the value after
        the last step: discounted from the beginning of the roll-out, or of the episode."""
        weights = [torch.ones_like(self._steps[0].reward)]
        for step in self._steps:
            weights.append(torch.where(step.ended > 0.5, 1.0, self.recipe.discount * weights[-1]))
        return weights

    def _improve_policy(self, observations: Observations) -> None:
        """One step of the optimiser along the derivative of the objective, from the last step to
        the first."""
        steps, cotangents = self._steps, self.gradient.cotangents
        group, critic_group = self.groups
        share = -1.0 / (len(steps) * len(steps[0].reward))  # the optimiser minimises
        weights = self._weights()
        for x in cotangents.values():
            x.zero_()
        std_gradient = torch.zeros_like(self._log_std)
        after_last = torch.where(steps[-1].ended > 0.5, 0.0, weights[-1])
        value = self._value_gradient(observations[critic_group])
        cotangents[critic_group].add_(share * after_last[:, None] * value)
        self.optimizer.zero_grad()
        for k in reversed(range(len(steps))):
            step = steps[k]
            cotangents["reward"].copy_(share * weights[k])
            goes_on = share * self.recipe.discount * weights[k] * step.timed_out
            final = cotangents[f"final_{critic_group}"]
            final.zero_()
            if bool(step.timed_out.any()):
                final.copy_(goes_on[:, None] * self._value_gradient(step.final_seen))
            found = self.gradient.back(k)
            by_action = found["action"]
            torch.autograd.backward(step.mean, by_action)
            std_gradient += (by_action * step.noise).sum(0)
            cotangents[critic_group].zero_()
            assert step.seen.grad is not None
            cotangents[group].copy_(step.seen.grad)
            for name in self.gradient.names:
                cotangents[name].copy_(found[name])
        self._log_std.grad = std_gradient * self.std.detach()
        parameters = [*self.actor.parameters(), self._log_std]
        average_gradients(parameters, self.processes)
        nn.utils.clip_grad_norm_(parameters, LARGEST_GRADIENT)
        self.optimizer.step()
        with torch.no_grad():
            self._log_std.clamp_(min=SMALLEST_LOG_STD)

    def _improve_critic(self, observations: Observations) -> None:
        """Passes over the stored steps with the returns that the target predicts."""
        recipe, seen = self.recipe, torch.cat([step.critic_seen for step in self._steps])
        returns = torch.cat(self._returns(observations))
        size = len(seen) // recipe.batches
        for _ in range(recipe.epochs):
            order = torch.randperm(len(seen), device=seen.device)
            for k in range(recipe.batches):
                part = order[k * size : (k + 1) * size]
                loss = (self.critic(seen[part])[:, 0] - returns[part]).square().mean()
                self.critic_optimizer.zero_grad()
                torch.autograd.backward(loss)
                average_gradients(list(self.critic.parameters()), self.processes)
                nn.utils.clip_grad_norm_(self.critic.parameters(), 2.0 * LARGEST_GRADIENT)
                self.critic_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.critic.parameters(), strict=True):
                slow.lerp_(fast, TARGET_SHARE)

    @torch.no_grad()
    def _returns(self, observations: Observations) -> list[torch.Tensor]:
        """Returns of all steps, TD(λ): each is the reward and the discounted mixture of the value
        after it and the return of the next step."""
        steps, discount, trace = self._steps, self.recipe.discount, self.recipe.trace
        after = [step.critic_seen for step in steps[1:]] + [observations[self.groups[1]]]
        returns, later = [], self.target(after[-1])[:, 0]
        for step, seen in zip(reversed(steps), reversed(after), strict=True):
            value = self.target(seen)[:, 0]
            mixed = trace * later + (1.0 - trace) * value
            if bool((step.ended > 0.5).any()):
                last = step.timed_out * self.target(step.final_seen)[:, 0]
                mixed = torch.where(step.ended > 0.5, last, mixed)
            later = step.reward + discount * mixed
            returns.append(later)
        return returns[::-1]


COUNTERS = ("age", "ticks", "over", "sums")
"""Carried arrays on which no later reward and no observation depends smoothly."""


class StepGradient:
    """Reverse mode through a number of steps of environments, one launch per step.

    Before each step, `keep` copies what it reads. Afterwards `back` turns cotangents of a step's
    results into those of its action and of what it read. Where an episode ended, the new one does
    not depend on the old one, and neither does its cotangent.

    The derivatives are those of the program of a step (`wd.vjp`): exact through its substeps, and
    at contacts those of the branch that was taken.
    """

    def __init__(self, env: VecEnv, steps: int):
        self.env = env
        self.names = tuple(n for n in env.carried if n not in COUNTERS)
        """Carried arrays that have cotangents."""
        self._kept = [{n: x.clone() for n, x in env.carried.items()} for _ in range(steps)]
        self._actions = [torch.zeros_like(env.action) for _ in range(steps)]
        arrays = (env.task.model, *env.carried.values(), env.action, *env.fixed_arguments)
        results = result_shapes(describe_call(env.kernels.step, arrays, {}))
        kind = {"dtype": env.dtype, "device": env.device}
        self.cotangents = {
            n: torch.zeros((env.num_envs, *shape), **kind) for n, shape in results.items()
        }
        """Cotangents of a step's results, which `back` reads: zeros, unless they are written."""
        self._backs: dict[int, Callable[[], Any]] = {}
        self._found = {n: torch.zeros_like(env.carried[n]) for n in self.names}
        self._found["action"] = torch.zeros_like(env.action)

    def keep(self, step: int, action: torch.Tensor) -> None:
        """Copy the arrays that a step is about to read."""
        for name, x in self.env.carried.items():
            self._kept[step][name].copy_(x)
        self._actions[step].copy_(action)

    def back(self, step: int) -> Mapping[str, torch.Tensor]:
        """Cotangents of the action (envs, actions), "action", and of the carried arrays, by name.

        They are valid until the next call. A cotangent that is not finite becomes zero: it belongs
        to a state from which the simulation failed.
        """
        run = self._backs.get(step)
        if run is None:
            env, prepare = self.env, cast(Any, bind)
            self._backs[step] = prepare(
                vjp,
                env.kernels.step,
                env.task.model,
                *self._kept[step].values(),
                self._actions[step],
                *env.fixed_arguments,
                cotangents=tuple(self.cotangents.values()),
                wrt=tuple(self._found),
                out=tuple(self._found.values()),
            )
        else:
            run()
        for x in self._found.values():
            x.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
        return self._found
