"""The interface between a training run and the algorithm that improves its policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch

from .networks import Network

Observations = Mapping[str, torch.Tensor]
"""Observations by group, each (envs, n)."""


class Learner(Protocol):
    """An algorithm that acts in environments and improves its policy.

    An iteration is `act` and `record` for each step, and one `update`.
    """

    @property
    def learning_rate(self) -> float:
        """The current learning rate."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the actions, mean over the actions."""

    def act(self, observations: Observations) -> torch.Tensor:
        """Random actions of the current policy (envs, actions)."""

    def record(self, reward: torch.Tensor, ended: torch.Tensor, timed_out: torch.Tensor) -> None:
        """Store the results of the last actions, each (envs,). Episodes in `timed_out` have ended
        too, but could have continued."""

    def update(self, observations: Observations) -> None:
        """Improve the policy from the stored steps. The observations are those after the last
        step."""

    def policy(self) -> Network:
        """A copy of the network that computes the mean of the actions."""

    def use_policy(self, policy: Network) -> None:
        """Replace the weights of the policy, and the normalisation of its observations."""

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        """Restore the networks of a checkpoint, without the optimiser."""

    def state(self) -> dict[str, Any]:
        """Tensors and numbers of a checkpoint."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
