"""Training of a policy: iterations of PPO, their curve, and checkpoints from which it goes on."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rsl_rl.algorithms import PPO

from ..execution.compile.announcements import say
from .checkpoint import differences, installed_version, plain, read_checkpoint, unusable
from .recipe import Recipe
from .rsl_rl import RslEnv
from .several_processes import Processes
from .task import Task, TaskError
from .task_program import changed_programs, program_hashes
from .vec_env import VecEnv

CHECKPOINT, CURVE = "checkpoint.pt", "curve.jsonl"

OF_A_TASK = (
    "scales",
    "numbers",
    "vary",
    "push",
    "noise",
    "history",
    "groups",
    "keep",
    "drives",
    "ground",
    "points",
    "dt",
    "substeps",
    "sweeps",
    "seconds",
    "largest_action",
    "stance",
    "stride",
    "rise",
)
"""Attributes of a task without which a training would go on as another one."""


class Progress(NamedTuple):
    """One iteration: what was earned, and what it took."""

    iteration: int
    steps: int
    """Environment steps so far."""
    seconds: float
    """Since training began, of the wall clock, earlier processes included."""
    cpu_seconds: float
    reward: float
    """Mean of a second, of all environments."""
    rewards: dict[str, float]
    """A second's, by name: mean of the episodes that ended; empty where none did."""
    length: float
    """Mean length of the episodes that ended [s]."""
    falls: float
    """Share of them that ended before their time."""
    steps_per_second: float
    environment_share: float
    """Part of the time that is spent in the environments."""
    deviation: float
    """Standard deviation of the policy's actions, mean."""
    nonfinite_actions: int = 0
    """Actions of the policy with a NaN or infinite entry."""


class Trainer:
    """A policy in training. `for progress in trainer.run(minutes=8)`.

    folder: where checkpoints and the curve are kept, or None. A folder with a checkpoint goes on
    from it, with the same numbers as without a break; one of another task, robot, seed or recipe, of
    other scales, pushes or numbers of the task, or whose texts (rewards, observations, ends ...) compute
    something else, is refused. A checkpoint is read without running code that a file may hold.
    loggers: functions that are called with each iteration's `Progress`.

    In several processes of `torchrun` it is one training: the recipe's environments in each process,
    one policy of all their gradients. The first process alone has loggers called and files written.
    """

    def __init__(
        self,
        task: Task,
        *,
        recipe: Recipe | None = None,
        seed: int = 0,
        device: str = "cpu",
        folder: Path | None = None,
    ):
        self.task, self.seed = task, seed
        self.recipe = recipe or task.recipe
        self.folder = folder
        self.processes = Processes.of_torchrun()
        device = self.processes.device(device)
        self.processes.meet(device)
        rank = self.processes.rank
        torch.manual_seed(seed + rank)
        learned, envs = practised(task, self.recipe), self.recipe.envs
        self.env = RslEnv(VecEnv(learned, envs, device=device, seed=seed, first=rank * envs))
        groups = list(self.env.env.text.observations)
        wanted = {"actor": groups[:1], "critic": [groups[-1]]}
        numbers = self.recipe.of_rsl_rl(wanted) | {"multi_gpu": self.processes.of_rsl_rl()}
        with contextlib.redirect_stdout(io.StringIO()):  # rsl_rl prints its networks
            self.algorithm = PPO.construct_algorithm(
                self.env.get_observations(), self.env, numbers, device
            )
        if self.processes.count > 1:
            with self.processes.together():
                self.algorithm.broadcast_parameters()
        self.algorithm.train_mode()
        self.iteration, self._seconds, self._cpu = 0, 0.0, 0.0
        self.curve: list[Progress] = []
        self.loggers: list[Callable[[Progress], Any]] = []
        ages = self.env.episode_length_buf
        self.env.episode_length_buf = torch.randint_like(ages, high=self.env.max_episode_length)
        if folder is not None:
            self._resume(folder)

    def run(
        self, *, minutes: float | None = None, iterations: int | None = None, save_every: int = 25
    ) -> Iterator[Progress]:
        """Iterations until the time is over or their number is reached; the last one is kept."""
        start, cpu = time.perf_counter(), time.process_time()
        seconds, used = self._seconds, self._cpu
        limit = self.recipe.minutes if minutes is None else minutes
        while iterations is None or self.iteration < iterations:
            progress = self._iterate()
            # All processes stop after the same iteration: by the first one's clock.
            self._seconds = self.processes.of_first(seconds + time.perf_counter() - start)
            taken = torch.tensor(time.process_time() - cpu, dtype=torch.float64)
            self._cpu = used + float(self.processes.total(taken))
            progress = progress._replace(seconds=self._seconds, cpu_seconds=self._cpu)
            self.curve.append(progress)
            for log in self.loggers if self.processes.first else ():
                log(progress)
            if self.iteration % save_every == 0:
                self.save()
            yield progress
            if iterations is None and self._seconds > 60 * limit:
                break
        self.save()

    def save(self) -> None:
        """Write a checkpoint, whole or not at all; all processes call it, the first one writes."""
        if self.folder is None:
            return
        env = self.env.env
        mine: dict[str, Any] = {
            "environments": {name: x.cpu() for name, x in env.state().items()},
            "observations": {name: x.cpu() for name, x in env.observations.items()},
            "random": torch.get_rng_state(),
        }
        first, *others = self.processes.of_all(mine)
        if not self.processes.first:
            return
        whole = {
            **first,
            "others": others,
            "algorithm": self.algorithm.save(),
            "learning_rate": self.algorithm.learning_rate,
            "iteration": self.iteration,
            "seconds": (self._seconds, self._cpu),
            "curve": [tuple(x) for x in self.curve],
            "of": self._identity(),
            "programs": self._programs,
            "version": installed_version(),
        }
        temporary = self.folder / (CHECKPOINT + ".part")
        torch.save(whole, temporary)
        temporary.replace(self.folder / CHECKPOINT)
        lines = [json.dumps(x._asdict()) for x in self.curve]
        (self.folder / CURVE).write_text("\n".join(lines) + "\n")

    def policy(self) -> torch.nn.Module:
        """The mean of the actions as a module: observations (B, n) → actions (B, actions)."""
        module: torch.nn.Module = self.algorithm.get_policy().as_jit()
        return module.eval()

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint is of, as plain values by name."""
        identity = {
            "task": self.task.name,
            "robot": self.task.model.name,
            "seed": self.seed,
            "recipe": self.recipe.as_dict(),
            "processes": self.processes.count,
        }
        return identity | {name: plain(getattr(self.task, name, None)) for name in OF_A_TASK}

    def _resume(self, folder: Path) -> None:
        """Go on from the folder's checkpoint, if it has one: the first process reads it for all."""
        whole, problem = self.processes.of_first(
            self._checkpoint(folder) if self.processes.first else None
        )
        if problem:
            raise TaskError(problem)
        if whole is None:
            return
        try:
            self._restore(whole)
        except Exception as error:  # of Torch, rsl_rl and plain indexing, of a file that is odd
            raise unusable(folder / CHECKPOINT, error) from error

    def _restore(self, whole: dict[str, Any]) -> None:
        """Take over what a checkpoint holds."""
        mine = whole if self.processes.first else whole["others"][self.processes.rank - 1]
        self.algorithm.load(whole["algorithm"], None, True)
        self.algorithm.learning_rate = whole["learning_rate"]
        self.env.env.restore(mine["environments"])
        for name, x in self.env.env.observations.items():
            x.copy_(mine["observations"][name])
        torch.set_rng_state(mine["random"])
        self.iteration, (self._seconds, self._cpu) = whole["iteration"], whole["seconds"]
        self.curve = [Progress(*x) for x in whole["curve"]]

    def _checkpoint(self, folder: Path) -> tuple[dict[str, Any] | None, str]:
        """What a folder, which need not exist yet, has of this training, and why it cannot be used."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / CHECKPOINT
        if not path.exists():
            return None, ""
        try:
            whole = read_checkpoint(path)
        except TaskError as error:
            return None, str(error)
        # Checkpoints of earlier versions are of one process, and do not say so.
        changed = [*differences({"processes": 1} | whole["of"], self._identity())]
        if not changed:
            changed = self._changed_texts(whole)
        if changed:
            return None, (
                f"{path} is of another training, with {', '.join(changed)}; "
                "choose another folder, or remove it to begin anew"
            )
        return whole, ""

    @cached_property
    def _programs(self) -> dict[str, str]:
        """Hashes of what the task's texts compute, which take a recording of each."""
        return program_hashes(self.env.env.text)

    def _changed_texts(self, whole: dict[str, Any]) -> list[str]:
        """What the task computes otherwise than where the checkpoint was written, in words."""
        kept = whole.get("programs")
        if not isinstance(kept, dict):  # of an earlier version
            say("the checkpoint does not say what its task computed: changed rewards go unnoticed")
            return []
        names = changed_programs(kept, self._programs)
        if not names:
            return []
        versions = whole.get("version"), installed_version()
        between = "" if versions[0] == versions[1] else " (warpdyn {}, now {})".format(*versions)
        return [f"another {name}{between}" for name in names]

    def _iterate(self) -> Progress:
        """Steps of all environments, and an update from them."""
        begin = time.perf_counter()
        mistake: TaskError | None = None
        try:
            told, inside = self._roll_out()
        except TaskError as error:
            mistake = error
        # A task's mistake in one process ends all of them, each with its text.
        if mistakes := [*filter(None, self.processes.of_all(str(mistake or "")))]:
            raise mistake or TaskError(mistakes[0])
        with self.processes.together():
            self.algorithm.update()
        self.iteration += 1
        taken = time.perf_counter() - begin
        steps = self.recipe.steps * self.env.num_envs * self.processes.count
        seconds = self.task.step_seconds
        names = (*self.env.env.text.rewards, "length")
        earned, ended, falls, odd, *sums, lived = self.processes.total(told).tolist()
        lived *= seconds
        return Progress(
            iteration=self.iteration,
            steps=self.iteration * steps,
            seconds=0.0,
            cpu_seconds=0.0,
            reward=earned / steps / seconds,
            rewards={n: x / lived for n, x in zip(names, sums, strict=False)} if lived else {},
            length=lived / max(ended, 1.0),
            falls=falls / max(ended, 1.0),
            steps_per_second=steps / taken,
            environment_share=inside / taken,
            deviation=float(self.algorithm.get_policy().output_std.detach().mean()),
            nonfinite_actions=round(odd),
        )

    def _roll_out(self) -> tuple[torch.Tensor, float]:
        """The steps of an iteration: sums of what the environments told, seconds inside them.

        Sums: rewards, ends, falls, actions that are not finite; of the episodes that ended each
        reward and the length in steps.
        """
        env, algorithm, inside = self.env, self.algorithm, 0.0
        names = (*env.env.text.rewards, "length")
        told = torch.zeros(4 + len(names), dtype=torch.float64, device=env.device)
        with torch.inference_mode():
            observed = env.get_observations()
            for _ in range(self.recipe.steps):
                action = algorithm.act(observed)
                before = time.perf_counter()
                observed, reward, done, extras = env.step(action)
                inside += time.perf_counter() - before
                algorithm.process_env_step(observed, reward, done, extras)
                fell = done - extras["time_outs"]
                odd = extras["nonfinite_action"]
                parts = (reward, done, fell, odd, *(extras["episode"][n] for n in names))
                told += torch.stack([x.sum(dtype=torch.float64) for x in parts])
            algorithm.compute_returns(observed)
        env.env.check_rewards()
        return told, inside


def practised(task: Task, recipe: Recipe) -> Task:
    """The task as it is learned: with what the recipe's `practice` changes."""
    learned = copy(task)
    for name, x in recipe.practice.items():
        if not hasattr(task, name):
            raise TaskError(f"{task.name} has no {name!r}, which the recipe's practice changes")
        setattr(learned, name, x)
    return learned
