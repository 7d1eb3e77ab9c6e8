"""Proximal policy optimisation (Schulman et al., arXiv 1707.06347) with a Gaussian policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import nn

from ..graph_replay import GraphReplay
from ..recipe import Recipe
from ..several_processes import Processes
from .learner import Observations
from .networks import Network, Normalizer, computes_in_bfloat16, flat_gradients

LEARNING_RATES = (1e-5, 1e-2)
"""Smallest and largest learning rate."""

RATE_STEP = 1.5
"""Factor by which the learning rate changes."""

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
    log_densities: torch.Tensor
    """Logarithms of the density of the actions when they were drawn."""


class PPO:
    """`Learner` by PPO with clipped objectives, an adaptive learning rate and generalised advantages.

    The first group of the observations is the policy's, the last one the critic's. In float32 the
    updates are those of rsl_rl 5 for equal random numbers, to rounding. On a GPU an update of a
    training in one process is a CUDA graph, so nothing in it waits for the GPU.
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
        self._on_gpu = device.type == "cuda"
        rate = recipe.learning_rate
        self._rate = torch.tensor(rate, device=device) if self._on_gpu else rate
        """The learning rate: a tensor where reading a number would wait for the GPU."""
        self.parameters = [*self.actor.parameters(), self._std, *self.critic.parameters()]
        """All parameters that are learned."""
        self._gradients = flat_gradients(self.parameters)
        """Gradients of all parameters, the actor's first."""
        self._actor_size = sum(x.numel() for x in (*self.actor.parameters(), self._std))
        self.optimizer = torch.optim.Adam(
            self.parameters, lr=self._rate, fused=True, capturable=self._on_gpu
        )
        if processes.count > 1:  # all begin with the weights of the first one
            for x in (*self.parameters, *self.actor.buffers(), *self.critic.buffers()):
                torch.distributed.broadcast(x.detach(), src=0)

        def storage(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.zeros(recipe.steps, envs, *shape, device=device, dtype=dtype)

        self._step = 0
        self._observations = {group: storage(width) for group, width in widths.items()}
        entering = torch.bfloat16 if self.bfloat16 else torch.float32
        self._seen = {group: storage(width, dtype=entering) for group, width in widths.items()}
        """Normalised observations, in the precision of the hidden layers."""
        self._actions, self._means = storage(actions), storage(actions)
        self._rewards, self._ended, self._timed_out = storage(), storage(), storage()
        self._after = {group: torch.zeros_like(observations[group]) for group in widths}
        """Observations after the last step."""
        self._improve_all = GraphReplay(self._run_update, device if processes.count == 1 else "cpu")

    @property
    def learning_rate(self) -> float:
        return float(self._rate)

    @property
    def std(self) -> torch.Tensor:
        """Standard deviation of each action (actions,)."""
        return self._std.clamp(min=SMALLEST_STD)

    @property
    def deviation(self) -> float:
        return float(self.std.detach().mean())

    @torch.no_grad()
    def act(self, observations: Observations) -> torch.Tensor:
        for group, rows in self._observations.items():
            rows[self._step].copy_(observations[group])
            self._seen[group][self._step].copy_(self.normalizers[group](observations[group]))
        if self._step == 0:
            self._mean = self.actor.with_converted_weights(self.bfloat16)
        mean = self._mean(self._seen[self.groups[0]][self._step])
        # torch.normal gives the same bits, but waits for the GPU to check the deviations.
        action = torch.randn_like(mean).mul_(self.std).add_(mean)
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
        for group, after in self._after.items():
            after.copy_(observations[group])
        self._improve_all()
        self._step = 0

    def _run_update(self) -> None:
        """`update` after the observations are stored."""
        steps, std = self._steps_in_random_order(), self.std.detach().clone()
        size = len(steps.seen) // self.recipe.batches
        for _ in range(self.recipe.epochs):
            for k in range(self.recipe.batches):
                self._improve(Steps(*(x[k * size : (k + 1) * size] for x in steps)), std)
        for group, normalizer in self.normalizers.items():
            normalizer.update(self._observations[group].flatten(0, 1), self.processes)

    def policy(self) -> Network:
        return deepcopy(self.actor).eval()

    def use_policy(self, policy: Network) -> None:
        self.actor.load_state_dict(policy.state_dict())

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        with torch.no_grad():
            self._std.copy_(state["std"])

    def state(self) -> dict[str, Any]:
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "std": self._std.detach().clone(),
            "optimizer": self.optimizer.state_dict(),
            "learning_rate": self.learning_rate,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.restore_networks(state)
        self.optimizer.load_state_dict(state["optimizer"])
        rate = state["learning_rate"]
        self._rate = self._std.new_tensor(rate) if self._on_gpu else rate
        for group in self.optimizer.param_groups:  # the checkpoint may be of another kind of device
            group["lr"], group["capturable"] = self._rate, self._on_gpu
        self._improve_all.forget()

    @torch.no_grad()
    def _steps_in_random_order(self) -> Steps:
        """All stored steps with their returns and advantages. Their order is drawn once for all
        passes, so that each batch is a slice."""
        recipe, (group, critic_group) = self.recipe, self.groups
        value = self.critic.with_converted_weights(self.bfloat16)
        # In parts, whose hidden layers stay in a processor's cache. A GPU takes all steps at once.
        seen = self._seen[critic_group].flatten(0, 1)
        parts = seen.chunk(1 if self._on_gpu else recipe.batches)
        values = torch.cat([value(x)[:, 0] for x in parts]).view_as(self._rewards)
        last_value = value(self.normalizers[critic_group](self._after[critic_group]))[:, 0]
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
            return x.flatten(0, 1).index_select(0, order)  # 1/30 of the time of [order] in bfloat16

        entering = {name: shuffle(x) for name, x in self._seen.items()}
        drawn = log_probability(self._actions, self._means, self.std)
        rest = self._actions, self._means, values, returns, advantages, drawn
        return Steps(entering[group], entering[critic_group], *map(shuffle, rest))

    def _improve(self, steps: Steps, drawn_std: torch.Tensor) -> None:
        """One step of the optimiser. drawn_std: the standard deviation of the stored actions."""
        mean = self.actor.outputs(steps.seen, self.bfloat16)
        value = self.critic.outputs(steps.critic_seen, self.bfloat16)[:, 0]
        std, clip = self.std, self.recipe.clip
        self._adapt_learning_rate(
            relative_entropy(steps.means, drawn_std, mean.detach(), std.detach()).mean()
        )
        ratio = (log_probability(steps.actions, mean, std) - steps.log_densities).exp()
        clipped = ratio.clamp(1.0 - clip, 1.0 + clip)
        policy_loss = -torch.min(steps.advantages * ratio, steps.advantages * clipped).mean()
        near = steps.values + (value - steps.values).clamp(-clip, clip)
        errors = (value - steps.returns).square(), (near - steps.returns).square()
        value_loss = torch.max(*errors).mean()
        entropy = (0.5 + LOG_ROOT_TWO_PI + std.log()).sum()
        self._gradients.zero_()
        torch.autograd.backward(policy_loss + value_loss - self.recipe.entropy * entropy)
        if self.processes.count > 1:
            self.processes.total(self._gradients).div_(self.processes.count)
        of_actor, of_critic = self._gradients.tensor_split([self._actor_size])
        for gradient in (of_actor, of_critic):
            gradient.mul_((LARGEST_GRADIENT / (gradient.norm() + 1e-6)).clamp(max=1.0))
        self.optimizer.step()

    def _adapt_learning_rate(self, divergence: torch.Tensor) -> None:
        """A smaller learning rate if the policy changed by more than twice the recipe's `kl`, a
        larger one if by less than half of it."""
        changed, wanted = self.processes.total(divergence) / self.processes.count, self.recipe.kl
        if isinstance(self._rate, torch.Tensor):
            self._rate.copy_(adapted_on_gpu(self._rate, changed, wanted))
            return
        self._rate = adapted_rate(self._rate, float(changed), wanted)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate


def adapted_rate(rate: float, changed: float, wanted: float) -> float:
    """The learning rate after a batch in which the relative entropy of the policies was `changed`."""
    smallest, largest = LEARNING_RATES
    if changed > 2.0 * wanted:
        return max(smallest, rate / RATE_STEP)
    if 0.0 < changed < 0.5 * wanted:
        return min(largest, rate * RATE_STEP)
    return rate


def adapted_on_gpu(rate: torch.Tensor, changed: torch.Tensor, wanted: float) -> torch.Tensor:
    """`adapted_rate` of tensors (), without waiting for the GPU."""
    smallest, largest = LEARNING_RATES
    lower, higher = (rate / RATE_STEP).clamp(min=smallest), (rate * RATE_STEP).clamp(max=largest)
    near = (changed > 0.0) & (changed < 0.5 * wanted)
    return torch.where(changed > 2.0 * wanted, lower, torch.where(near, higher, rate))


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
    distance = ((x - mean) / std).square().sum(dim=-1)
    return -0.5 * distance - (std.log() + LOG_ROOT_TWO_PI).sum(dim=-1)


def relative_entropy(
    mean: torch.Tensor, std: torch.Tensor, other_mean: torch.Tensor, other_std: torch.Tensor
) -> torch.Tensor:
    """Relative entropy (KL divergence) of a Gaussian with independent entries to another, (B,)."""
    # In this order it is zero for equal standard deviations and means that differ by rounding, as in
    # the first batch of an update. The learning rate does not change then.
    ratio = (std / other_std).square()
    distance = ((mean - other_mean) / other_std).square().sum(dim=-1)
    return 0.5 * (ratio.sum(dim=-1) + distance - (1.0 + ratio.log()).sum(dim=-1))
