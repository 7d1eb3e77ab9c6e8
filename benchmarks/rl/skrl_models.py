"""Actor and critic networks for skrl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn as nn
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model


def layers(wide: int, hidden: Sequence[int], out: int) -> nn.Sequential:
    """Linear layers with ELU between them."""
    widths = [wide, *hidden]
    parts: list[nn.Module] = []
    for before, after in zip(widths, hidden, strict=False):
        parts += [nn.Linear(before, after), nn.ELU()]
    return nn.Sequential(*parts, nn.Linear(widths[-1], out))


class Actor(GaussianMixin, Model):
    """Network for the mean and deviation of the actions."""

    def __init__(self, seen: Any, actions: Any, hidden: Sequence[int]):
        Model.__init__(self, observation_space=seen, action_space=actions, device="cpu")
        GaussianMixin.__init__(self)
        self.net = layers(self.num_observations, hidden, self.num_actions)
        self.log_std = nn.Parameter(torch.zeros(self.num_actions))

    def compute(self, inputs: Any, role: str) -> tuple[torch.Tensor, dict[str, Any]]:
        return self.net(inputs["observations"]), {"log_std": self.log_std}


class Critic(DeterministicMixin, Model):
    """Network for the value of the states, or of the observations if there are no states."""

    def __init__(self, seen: Any, actions: Any, hidden: Sequence[int], states: Any = None):
        Model.__init__(
            self, observation_space=seen, state_space=states, action_space=actions, device="cpu"
        )
        DeterministicMixin.__init__(self)
        self.key = "observations" if states is None else "states"
        wide = self.num_observations if states is None else self.num_states
        self.net = layers(wide, hidden, 1)

    def compute(self, inputs: Any, role: str) -> tuple[torch.Tensor, dict[str, Any]]:
        return self.net(inputs[self.key]), {}
