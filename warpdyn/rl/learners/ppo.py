"""Proximal policy optimisation (Schulman et al., arXiv 1707.06347) with a Gaussian policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import nn

from ..recipe import Recipe
from ..several_processes import Processes
from .learner import Observations
from .networks import Network, Normalizer, average_gradients, computes_in_bfloat16

LEARNING_RATES = (1e-5, 1e-2)
"""Smallest and largest learning rate."""

LARGEST_GRADIENT = 1.0
"""Bound of the norm of each network's gradient."""

SMALLEST_STD = 1e-6
"""Smallest standard deviation of an action."""

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Steps(NamedTuple):
    """Steps of environments, in rows."""

    seen: torch.Tensor
    """Normalised observations of the policy."""
    critic_seen: torch.Tensor
    actions: torch.Tensor
    means: torch.Tensor
    """Means of the actions when they were drawn."""
    values: torch.Tensor
    """Returns that the critic predicted when the actions were drawn."""
    returns: torch.Tensor
    advantages: torch.Tensor


class PPO:
    """PPO with clipped objectives, an adaptive learning rate and generalised advantages.

    The first group of the observations is the policy's, the last one the critic's. In float32 the
    updates are those of rsl_rl 5 for equal random numbers, to rounding.
    """

    def __init__(
        self, observations: Observations, actions: int, recipe: Recipe, processes: Processes
    ):
        self.recipe, self.processes = recipe, processes
        groups = list(observations)
        self.groups = groups[0], groups[-1]
        envs, device = len(observations[self.groups[0]]), observations[self.groups[0]].device
        widths = {group: observations[group].shape[1] for group in dict.fromkeys(self.groups)}
        self.normalizers = {group: Normalizer(width) for group, width in widths.items()}
        self.actor, self.critic = (
            Network(self.normalizers[group], outputs, recipe.layers, recipe.activation).to(device)
            for group, outputs in zip(self.groups, (actions, 1), strict=True)
        )
        self._std = nn.Parameter(torch.full((actions,), float(recipe.deviation), device=device))
        self.bfloat16 = computes_in_bfloat16(recipe.precision, device)
        self.learning_rate = recipe.learning_rate
        self.optimizer = torch.optim.Adam(self.parameters, lr=self.learning_rate, fused=True)
        if processes.count > 1:
            for x in (*self.parameters, *self.actor.buffers(), *self.critic.buffers()):
                torch.distributed.broadcast(x.detach(), src=0)

        def storage(*shape: int) -> torch.Tensor:
            return torch.zeros(recipe.steps, envs, *shape, device=device)

        self._step = 0
        self._observations = {group: storage(width) for group, width in widths.items()}
        self._actions, self._means = storage(actions), storage(actions)
        self._rewards, self._ended, self._timed_out = storage(), storage(), storage()

    @property
    def parameters(self) -> list[nn.Parameter]:
        """All parameters that are learned."""
        return [*self.actor.parameters(), self._std, *self.critic.parameters()]

    @property
    def std(self) -> torch.Tensor:
        """Standard deviation of each action (actions,)."""
        return self._std.clamp(min=SMALLEST_STD)

    @property
    def deviation(self) -> float:
        """Standard deviation of the actions, mean over the actions."""
        return float(self.std.detach().mean())

    @torch.no_grad()
    def act(self, observations: Observations) -> torch.Tensor:
        """Random actions of the present policy (envs, actions)."""
        for group, rows in self._observations.items():
            rows[self._step].copy_(observations[group])
        seen = self.actor.normalizer(observations[self.groups[0]])
        mean = self.actor.outputs(seen, self.bfloat16)
        action = torch.normal(mean, self.std.expand_as(mean))
        self._means[self._step].copy_(mean)
        self._actions[self._step].copy_(action)
        return action

    def record(self, reward: torch.Tensor, ended: torch.Tensor, timed_out: torch.Tensor) -> None:
        """Store the results of the last actions, each (envs,)."""
        self._rewards[self._step].copy_(reward)
        self._ended[self._step].copy_(ended)
        self._timed_out[self._step].copy_(timed_out)
        self._step += 1

    def update(self, observations: Observations) -> None:
        """Improve policy and critic from the stored steps, in `epochs` passes over them."""
        steps, std = self._steps_in_random_order(observations), self.std.detach().clone()
        size = len(steps.seen) // self.recipe.batches
        for _ in range(self.recipe.epochs):
            for k in range(self.recipe.batches):
                self._improve(Steps(*(x[k * size : (k + 1) * size] for x in steps)), std)
        for group, normalizer in self.normalizers.items():
            normalizer.update(self._observations[group].flatten(0, 1), self.processes)
        self._step = 0

    def policy(self) -> Network:
        """A copy of the network that computes the mean of the actions."""
        return deepcopy(self.actor).eval()

    def use_policy(self, policy: Network) -> None:
        """Replace the weights of the policy, and the normalisation of its observations."""
        self.actor.load_state_dict(policy.state_dict())

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        """Restore the networks of a checkpoint, without the optimiser."""
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        with torch.no_grad():
            self._std.copy_(state["std"])

    def state(self) -> dict[str, Any]:
        """Tensors and numbers of a checkpoint."""
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "std": self._std.detach().clone(),
            "optimizer": self.optimizer.state_dict(),
            "learning_rate": self.learning_rate,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.restore_networks(state)
        self.optimizer.load_state_dict(state["optimizer"])
        self.learning_rate = state["learning_rate"]

    @torch.no_grad()
    def _steps_in_random_order(self, observations: Observations) -> Steps:
        """All stored steps with their returns and advantages. Their order is drawn once for all
        passes, so that each batch is a slice."""
        recipe, (group, critic_group) = self.recipe, self.groups
        seen = {name: self.normalizers[name](x) for name, x in self._observations.items()}
        values = self.critic.outputs(seen[critic_group], self.bfloat16)[..., 0]
        after = self.normalizers[critic_group](observations[critic_group])
        last_value = self.critic.outputs(after, self.bfloat16)[:, 0]
        # An episode that timed out could have continued: its reward includes the value of the rest.
        rewards = self._rewards + recipe.discount * values * self._timed_out
        advantages = generalised_advantages(
            rewards, values, last_value, self._ended, recipe.discount, recipe.trace
        )
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        count = values.numel() // recipe.batches * recipe.batches
        order = torch.randperm(count, device=values.device)

        def shuffle(x: torch.Tensor) -> torch.Tensor:
            return x.flatten(0, 1)[order]

        precision = torch.bfloat16 if self.bfloat16 else torch.float32
        entering = {name: shuffle(x.to(precision)) for name, x in seen.items()}
        rest = self._actions, self._means, values, returns, advantages
        return Steps(entering[group], entering[critic_group], *map(shuffle, rest))

    def _improve(self, steps: Steps, drawn_std: torch.Tensor) -> None:
        """One step of the optimiser. drawn_std: the standard deviation of the stored actions."""
        mean = self.actor.outputs(steps.seen, self.bfloat16)
        value = self.critic.outputs(steps.critic_seen, self.bfloat16)[:, 0]
        std, clip = self.std, self.recipe.clip
        self._adapt_learning_rate(
            relative_entropy(steps.means, drawn_std, mean.detach(), std.detach()).mean()
        )
        drawn = log_probability(steps.actions, steps.means, drawn_std)
        ratio = (log_probability(steps.actions, mean, std) - drawn).exp()
        clipped = ratio.clamp(1.0 - clip, 1.0 + clip)
        policy_loss = -torch.min(steps.advantages * ratio, steps.advantages * clipped).mean()
        near = steps.values + (value - steps.values).clamp(-clip, clip)
        errors = (value - steps.returns).square(), (near - steps.returns).square()
        value_loss = torch.max(*errors).mean()
        entropy = (0.5 + LOG_ROOT_TWO_PI + std.log()).sum()
        self.optimizer.zero_grad()
        torch.autograd.backward(policy_loss + value_loss - self.recipe.entropy * entropy)
        average_gradients(self.parameters, self.processes)
        for parameters in ([*self.actor.parameters(), self._std], [*self.critic.parameters()]):
            nn.utils.clip_grad_norm_(parameters, LARGEST_GRADIENT)
        self.optimizer.step()

    def _adapt_learning_rate(self, divergence: torch.Tensor) -> None:
        """A smaller learning rate if the policy changed by more than twice the recipe's `kl`, a
        larger one if by less than half of it."""
        changed, wanted = (
            float(self.processes.total(divergence)) / self.processes.count,
            self.recipe.kl,
        )
        smallest, largest = LEARNING_RATES
        if changed > 2.0 * wanted:
            self.learning_rate = max(smallest, self.learning_rate / 1.5)
        elif 0.0 < changed < 0.5 * wanted:
            self.learning_rate = min(largest, self.learning_rate * 1.5)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate


def generalised_advantages(
    rewards: torch.Tensor,
    values: torch.Tensor,
    last_value: torch.Tensor,
    ended: torch.Tensor,
    discount: float,
    trace: float,
) -> torch.Tensor:
    """Advantages of steps (steps, envs) (Schulman et al., arXiv 1506.02438, eqs. 11 to 16).

    last_value (envs,): the value after the last step. ended: 1 where an episode ended.
    """
    advantages, advantage = torch.zeros_like(rewards), torch.zeros_like(last_value)
    next_value = last_value
    for step in reversed(range(len(rewards))):
        goes_on = 1.0 - ended[step]
        error = rewards[step] + discount * goes_on * next_value - values[step]
        advantage = error + discount * trace * goes_on * advantage
        advantages[step], next_value = advantage, values[step]
    return advantages


def log_probability(x: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    """Logarithm of the density of a Gaussian with independent entries, (B, n) → (B,)."""
    return -(0.5 * ((x - mean) / std).square() + std.log() + LOG_ROOT_TWO_PI).sum(dim=-1)


def relative_entropy(
    mean: torch.Tensor, std: torch.Tensor, other_mean: torch.Tensor, other_std: torch.Tensor
) -> torch.Tensor:
    """Relative entropy (KL divergence) of a Gaussian with independent entries to another, (B,)."""
    # In this order it is zero for equal standard deviations and means that differ by rounding, as in
    # the first batch of an update. The learning rate does not change then.
    ratio = (std / other_std).square()
    distance = ((mean - other_mean) / other_std).square()
    return 0.5 * (ratio + distance - 1.0 - ratio.log()).sum(dim=-1)
