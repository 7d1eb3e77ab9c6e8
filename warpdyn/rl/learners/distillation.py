"""Distillation: a policy learns the actions of a teacher that observes more (DAgger)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from ..recipe import Recipe
from ..several_processes import Processes
from .learner import Observations
from .networks import Network, Normalizer, average_gradients, computes_in_bfloat16

LARGEST_GRADIENT = 1.0
"""Bound of the norm of the gradient."""


class Distillation:
    """A student that learns a teacher's actions in the states that the student itself reaches.

    The first group of the observations is the student's, the last one the teacher's. In the first
    iteration the teacher acts, then the student, without exploration, and the teacher says what it
    would do (DAgger, Ross, Gordon and Bagnell, arXiv 1011.0686, with β = 1 in the first iteration
    only). An update minimises the mean squared difference of the actions over the last `steps` of
    all environments; earlier steps are not kept.
    """

    def __init__(
        self,
        observations: Observations,
        actions: int,
        recipe: Recipe,
        processes: Processes,
        teacher: Network,
    ):
        self.recipe, self.processes = recipe, processes
        groups = list(observations)
        self.group, self.teacher_group = groups[0], groups[-1]
        first = observations[self.group]
        (envs, width), device = first.shape, first.device
        self.teacher = teacher.to(device).eval().requires_grad_(False)
        self.normalizer = Normalizer(width)
        self.student = Network(self.normalizer, actions, recipe.layers, recipe.activation)
        self.student.to(device)
        self.bfloat16 = computes_in_bfloat16(recipe.precision, device)
        self.learning_rate = recipe.learning_rate
        self.optimizer = torch.optim.Adam(
            self.student.parameters(), lr=self.learning_rate, fused=True
        )
        if processes.count > 1:
            for x in (*self.student.parameters(), *self.student.buffers()):
                torch.distributed.broadcast(x.detach(), src=0)
        self.teacher_distance = 0.0
        """Root mean squared difference of the student's actions from the teacher's in the last
        iteration."""
        self._step = 0
        self._observations = torch.zeros(recipe.steps, envs, width, device=device)
        self._answers = torch.zeros(recipe.steps, envs, actions, device=device)
        self._distances = torch.zeros(recipe.steps, device=device)

    @property
    def deviation(self) -> float:
        """Standard deviation of the actions: the student does not explore."""
        return 0.0

    @torch.no_grad()
    def act(self, observations: Observations) -> torch.Tensor:
        """Actions of the student, in the first iteration those of the teacher (envs, actions)."""
        mine = observations[self.group]
        answer = self.teacher(observations[self.teacher_group])
        action = self.student.outputs(self.normalizer(mine), self.bfloat16)
        self._observations[self._step].copy_(mine)
        self._answers[self._step].copy_(answer)
        self._distances[self._step] = (action - answer).square().mean()
        # The normalisation has no samples until the end of the first iteration.
        return answer if float(self.normalizer.count) == 0.0 else action

    def record(self, reward: torch.Tensor, ended: torch.Tensor, timed_out: torch.Tensor) -> None:
        """Count a step. The student learns from actions alone, not from their results."""
        self._step += 1

    def update(self, observations: Observations) -> None:
        """Improve the student on the stored steps, in `epochs` passes over them."""
        rows, answers = self._observations.flatten(0, 1), self._answers.flatten(0, 1)
        total = self.processes.total(self._distances.mean()) / self.processes.count
        self.teacher_distance = float(total.sqrt())
        self.normalizer.update(rows, self.processes)
        size = len(rows) // self.recipe.batches
        for _ in range(self.recipe.epochs):
            order = torch.randperm(len(rows), device=rows.device)
            for k in range(self.recipe.batches):
                part = order[k * size : (k + 1) * size]
                self._improve(self.normalizer(rows[part]), answers[part])
        self._step = 0

    def policy(self) -> Network:
        """A copy of the student."""
        return deepcopy(self.student).eval()

    def use_policy(self, policy: Network) -> None:
        """Replace the weights of the student, and the normalisation of its observations."""
        self.student.load_state_dict(policy.state_dict())

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        """Restore the policy of a checkpoint, without the optimiser."""
        self.student.load_state_dict(state["actor"])

    def state(self) -> dict[str, Any]:
        """Tensors of a checkpoint. The teacher is not among them: its file is needed to resume."""
        return {"actor": self.student.state_dict(), "optimizer": self.optimizer.state_dict()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.restore_networks(state)
        self.optimizer.load_state_dict(state["optimizer"])

    def _improve(self, seen: torch.Tensor, answers: torch.Tensor) -> None:
        """One step of the optimiser towards the teacher's answers."""
        off = self.student.outputs(seen, self.bfloat16) - answers
        self.optimizer.zero_grad()
        torch.autograd.backward(off.square().mean())
        average_gradients(list(self.student.parameters()), self.processes)
        nn.utils.clip_grad_norm_(self.student.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()
