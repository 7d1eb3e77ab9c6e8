"""Environments of a task as a Gymnasium vector environment, on Torch tensors that stay on the
device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv

from ..arrays.torch_arrays import LIBRARY as TORCH
from ..execution.batched import bind
from ..functions.whole_numbers import whole_number
from ..model.old_members import OldMember
from ..user_kernels.random_numbers import LARGEST
from .environment_step import EnvironmentStep
from .random_streams import check_seed
from .task import Task, TaskError, check_task

Autoreset = Literal["same_step", "next_step"]

MODES = {"same_step": AutoresetMode.SAME_STEP, "next_step": AutoresetMode.NEXT_STEP}


CONDITIONS = ("terminated", "truncated", "ended_age", "failed", "odd_action")
"""Results of a step that are true above 0.5: "ended_age" is 0 unless an episode ends."""


BOUND = ("numbers", "tables", "scales", "carried")
"""Attributes of an environment that its launches are bound to."""


class BoundTensors(dict[str, torch.Tensor]):
    """Tensors by name. A launch is bound to their memory, so that they are written and never
    replaced."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self:
            raise KeyError(f"there is no {name!r}; there are {', '.join(self)}")
        if value is not self[name]:  # x *= 0.5 writes, and sets the same tensor
            raise TypeError(f"{name} cannot be replaced; write into it: [{name!r}][:] = ...")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class VecEnv(VectorEnv[Any, Any, Any]):
    """`envs` robots that learn a task, with one launch per step.

    reset() and step(action) are Gymnasium's; observations (envs, n), rewards, `terminated` and
    `truncated` (envs,) are Torch tensors on `device`, valid until the step after the next. An
    environment that ends is reset in the same step: `info["final_obs"]` is its last observation,
    `info["episode"]` has its rewards, by the names of the task's rewards, and its length. With
    autoreset "next_step" it is reset in the following step, which ignores the action.

    An action with an infinite or NaN entry is marked in `info["nonfinite_action"]`. Infinite
    entries act as ±largest_action. NaN ends the episode, sets `info["failed"]`, and makes the
    environment's row of `info["final_obs"]` zeros, like every state that is not finite.

    numbers: tensors by name that the task's functions read: `env.numbers["command_range"][:] = ...`
    takes effect at the next step; `env.scales` are the weights of the rewards.
    carried: the environments' state.
    seed: equal seeds give the same bits in every run, whatever the number of environments and
    threads.
    dtype: of all arrays; "float64" for comparisons.
    first: the index of the first environment, if other environments run elsewhere: environment 17
    alone is VecEnv(task, 1, first=17).
    """

    def __init__(
        self,
        task: Task,
        envs: int = 1024,
        *,
        device: str = "cpu",
        seed: int = 0,
        first: int = 0,
        autoreset: Autoreset = "same_step",
        dtype: Literal["float32", "float64"] = "float32",
    ):
        check_task(task)
        if not hasattr(task, "model"):
            raise TaskError(f"{task.name} has no model: set self.model = wd.load_robot(...)")
        if autoreset not in MODES:
            raise ValueError(f'autoreset must be "same_step" or "next_step", got {autoreset!r}')
        first = whole_number("first", first, least=0, most=LARGEST - 1)
        self.num_envs, self.device = whole_number("envs", envs), device
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        self.dtype = getattr(torch, dtype)
        self.metadata = {"autoreset_mode": MODES[autoreset], "render_modes": []}
        self._kernels = EnvironmentStep(task, seed, wait=autoreset == "next_step", first=first)
        self.task = task = self._kernels.task
        self.numbers = BoundTensors(
            (name, torch.as_tensor(x, dtype=self.dtype, device=device).clone())
            for name, x in self._kernels.numbers.items()
        )
        self.tables = BoundTensors(
            (name, torch.as_tensor(x, dtype=self.dtype, device=device))
            for name, x in self._kernels.tables.items()
        )
        self.scales = self.numbers["scales"]
        self.carried = BoundTensors(
            (name, self._zeros(shape)) for name, shape in self._kernels.carried.items()
        )
        self.action = self._zeros((task.actions,))
        # Two sets of results, so that those of the previous step stay valid while the next one is
        # written.
        self._conditions = [self._zeros_in_rows(len(CONDITIONS)) for _ in range(2)]
        """Results of `CONDITIONS`, by turn: one comparison serves all of them."""
        self._seen = [self._results(rows) for rows in self._conditions]
        """Results of a step and of the previous one, in turn."""
        self._rewards = [
            dict(zip(self._kernels.rewards, seen["ended_sums"].unbind(1), strict=True))
            for seen in self._seen
        ]
        """Columns of "ended_sums" by the names of the rewards, by turn."""
        self._begun = False
        """True once a `reset` or a `restore` has begun the episodes."""
        self._turn = 0
        self._runs: dict[int, Callable[[], Any]] = {}
        self._starts: dict[int, Callable[[], Any]] = {}
        """Bound launches of steps and of resets, by turn. They run on the current CUDA stream."""
        self._wrong = self._zeros((len(self._kernels.rewards),))
        """NaN for rewards that were not finite, collected where a check would wait for the
        device."""
        self._spaces()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in BOUND and self.__dict__.get(name, value) is not value:
            raise AttributeError(f"{name} cannot be replaced; write into it: env.{name}[:] = ...")
        super().__setattr__(name, value)

    def __reduce_ex__(self, _: Any) -> Any:
        """Refuse `copy` and `pickle`: the launches are bound to memory of this process."""
        raise TypeError(
            "a VecEnv cannot be pickled or copied: its launches are bound to its tensors in this "
            "process; pickle its task, and make another VecEnv with the same arguments"
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Reset all environments; returns observations and an empty dictionary.

        The first reset, and each one with a seed, begins the episodes of that seed. Any other reset
        begins other episodes, as Gymnasium asks; numbers of `vary` and `keep` are drawn anew.
        """
        if "reset_mask" in (options or {}):
            raise ValueError(
                "options: reset_mask has no effect here; an environment that ends is reset by itself"
            )
        if seed is not None:
            self.numbers["seed"][0] = check_seed(seed)
            self._kernels.seed = seed
        if seed is not None or not self._begun:
            self.carried["ticks"].zero_()
        else:  # a reset counts as a step, so that two in a row draw different numbers
            self.carried["ticks"].add_(1.0)
        self._begun = True
        self._turn ^= 1
        groups = self._of_groups(self._seen[self._turn])
        start = self._starts.get(self._turn)
        if start is None:
            state = {n: x for n, x in self.carried.items() if n != "ticks"}
            arrays = (self.carried["ticks"], *self.fixed_arguments)
            out = {**state, **groups}
            self._starts[self._turn] = bind(self._kernels.start, self.task.model, *arrays, out=out)
        else:
            start()
        self._mark_written(groups)
        return self._observation(groups), {}

    def step(self, action: Any) -> Any:
        """Observations, rewards, terminated and truncated flags, and more results by name."""
        if not isinstance(action, torch.Tensor):
            action = torch.as_tensor(action, dtype=self.dtype, device=self.device)
        if action.shape != self.action.shape:
            raise ValueError(
                f"action must be {tuple(self.action.shape)}, got {tuple(action.shape)}"
            )
        self.check_begun()
        # With their graphs, all actions would stay in memory.
        self.action.copy_(action.detach() if action.requires_grad else action)
        self._turn ^= 1
        seen = self._seen[self._turn]
        # A launch is bound once for each turn; binding it runs it.
        run = self._runs.get(self._turn)
        if run is None:
            arrays = (*self.carried.values(), self.action, *self.fixed_arguments)
            out = {**self.carried, **seen}
            run = bind(self._kernels.step, self.task.model, *arrays, out=out)
            self._runs[self._turn] = run
        else:
            run()
        self._mark_written(seen)
        if self._waits:
            self._collect_wrong_rewards(seen)
        elif not math.isfinite(seen["reward"].sum()):  # takes less time than torch.isfinite
            self._collect_wrong_rewards(seen)
            self.check_rewards()
        conditions = (self._conditions[self._turn] > 0.5).unbind()
        terminated, truncated, over, failed, nonfinite_action = conditions
        info = {
            "final_obs": self._observation(self.final_observations),
            "_final_obs": over,
            "episode": {**self._rewards[self._turn], "length": seen["ended_age"]},
            "failed": failed,
            "nonfinite_action": nonfinite_action,
        }
        observation = self._observation(self._of_groups(seen))
        return observation, seen["reward"], terminated, truncated, info

    def totals(self) -> torch.Tensor:
        """Sums over the environments, of the last step, in float64: rewards, ends of episodes, falls
        and actions that were not finite; of the episodes that ended each reward, by the task's order,
        and the length in steps (4 + rewards + 1,)."""
        seen, conditions = self._seen[self._turn], self._conditions[self._turn]
        by_name = dict(zip(CONDITIONS, (conditions > 0.5).sum(1, dtype=torch.float64), strict=True))
        ended = by_name["ended_age"], by_name["terminated"], by_name["odd_action"]
        return torch.cat(
            [
                torch.stack([seen["reward"].sum(dtype=torch.float64), *ended]),
                seen["ended_sums"].sum(0, dtype=torch.float64),
                seen["ended_age"].sum(0, dtype=torch.float64, keepdim=True),
            ]
        )

    def check_begun(self) -> None:
        """Raise Gymnasium's `ResetNeeded` before the first `reset` or `restore`: the state is zeros,
        which no episode begins with."""
        if not self._begun:
            raise ResetNeeded("call reset() before the first step: it begins the episodes")

    def check_rewards(self) -> None:
        """Raise `TaskError` with its name if a reward was not finite, in any step so far.

        On the CPU each step does so. On a GPU it would have to wait for the device; there trainings
        check once an iteration.
        """
        wrong = ~torch.isfinite(self._wrong.cpu())
        if not bool(wrong.any()):
            return
        self._wrong.zero_()
        names = [n for k, n in enumerate(self._kernels.rewards) if bool(wrong[:, k].any())]
        env = int(wrong.any(1).nonzero()[0])
        raise TaskError(
            f"{self.task.name}: the reward {', '.join(names)} is not finite in environment {env}; "
            "look for a division by zero or the root of a negative number in its function"
        )

    def _collect_wrong_rewards(self, seen: dict[str, torch.Tensor]) -> None:
        """Mark rewards whose sums are not finite, in one operation: 0 times such a number is NaN,
        and NaN stays."""
        sums = self.carried["sums"]
        if self._kernels.wait:  # the sums of an episode that ends are carried to the next step
            self._wrong.add_(sums, alpha=0.0)
        else:  # either of the two is 0, so that their product does not overflow
            self._wrong.addcmul_(sums, seen["ended_sums"], value=0.0)

    def measures(self) -> dict[str, torch.Tensor]:
        """The results of the task's `measure` for the current state of the environments, by name."""
        found = self._kernels.measure(
            self.task.model, *self.carried.values(), *self.fixed_arguments
        )
        named = found._asdict() if hasattr(found, "_asdict") else {}
        return {n: x for n, x in named.items() if n != "none"}

    def state(self) -> dict[str, torch.Tensor]:
        """Copies, by name, of all values on which the next steps depend."""
        return {n: x.clone() for n, x in {**self.carried, **self.numbers}.items()}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from a `state`, bit for bit."""
        mine = {**self.carried, **self.numbers}
        if set(state) != set(mine):
            raise ValueError(f"a state must have {', '.join(mine)}; got {', '.join(state)}")
        for name, x in state.items():
            mine[name].copy_(x)
        self._begun = True

    @property
    def kernels(self) -> EnvironmentStep:
        """The kernels of the environments, and what their arrays are."""
        return self._kernels

    text = OldMember("text", "kernels")

    @property
    def observations(self) -> dict[str, torch.Tensor]:
        """The current observations, by group."""
        return self._of_groups(self._seen[self._turn])

    @property
    def final_observations(self) -> dict[str, torch.Tensor]:
        """The observations at the end of the last step, by group. For an environment whose episode
        ended, they are the last ones of that episode."""
        seen = self._seen[self._turn]
        return {name: seen[f"final_{name}"] for name in self._kernels.observations}

    @property
    def _waits(self) -> bool:
        """True if reading a result waits for a device."""
        return not self.action.is_cpu

    @property
    def fixed_arguments(self) -> tuple[torch.Tensor, ...]:
        """Numbers and tables, the last arguments of every kernel."""
        return (*self.numbers.values(), *self.tables.values())

    def _mark_written(self, results: dict[str, torch.Tensor]) -> None:
        """Tell Torch that a launch has written the state and these results. A backward pass that
        needs their former numbers then raises."""
        TORCH.mark_written((*self.carried.values(), *results.values()))

    def _results(self, conditions: torch.Tensor) -> dict[str, torch.Tensor]:
        """Arrays for the results of a step; `conditions` has the rows of `CONDITIONS`."""
        shapes: dict[str, tuple[int, ...]] = {
            "reward": (),
            "ended_sums": (len(self._kernels.rewards),),
        }
        for name, shape in self._kernels.observations.items():
            shapes[name] = shapes[f"final_{name}"] = shape
        results = {name: self._zeros(shape) for name, shape in shapes.items()}
        return results | dict(zip(CONDITIONS, conditions, strict=True))

    def _zeros_in_rows(self, rows: int) -> torch.Tensor:
        """(rows, envs) zeros, whose rows begin at multiples of 256 bytes."""
        width = -(-self.num_envs // 64) * 64
        zeros = torch.zeros((rows, width), dtype=self.dtype, device=self.device)
        return zeros[:, : self.num_envs]

    def _zeros(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.zeros((self.num_envs, *shape), dtype=self.dtype, device=self.device)

    def _of_groups(self, seen: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: seen[name] for name in self._kernels.observations}

    def _observation(self, groups: dict[str, torch.Tensor]) -> Any:
        """One tensor if there is one group, else all groups."""
        return next(iter(groups.values())) if len(groups) == 1 else groups

    def _spaces(self) -> None:
        """Set Gymnasium's spaces, of one environment and of all."""
        largest, count = self.task.largest_action, self.task.actions
        kind = np.float64 if self.dtype == torch.float64 else np.float32
        self.single_action_space = spaces.Box(-largest, largest, (count,), kind)
        self.action_space = spaces.Box(-largest, largest, (self.num_envs, count), kind)
        self.single_observation_space = self._observation_space(())
        self.observation_space = self._observation_space((self.num_envs,))

    def _observation_space(self, lead: tuple[int, ...]) -> spaces.Space[Any]:
        """The space of one group of observations, or of several by name."""
        kind = np.float64 if self.dtype == torch.float64 else np.float32
        groups: dict[str, spaces.Space[Any]] = {
            name: spaces.Box(-np.inf, np.inf, (*lead, *shape), kind)
            for name, shape in self._kernels.observations.items()
        }
        return next(iter(groups.values())) if len(groups) == 1 else spaces.Dict(groups)
