"""Cotangents through the steps of environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch

from ..execution.batched import bind, describe_call
from ..execution.request.evaluate import result_shapes
from ..functions.derivatives import vjp
from .vec_env import VecEnv

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
