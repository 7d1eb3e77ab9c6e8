"""Training of a policy: iterations of PPO, their curve, and checkpoints from which a training
resumes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from ..execution.compile.announcements import say
from ..model.optional_packages import installed_version
from .checkpoint import differences, plain, read_checkpoint, unusable
from .deployment.deployment_record import deployment_record
from .deployment.policy_match import UNREADABLE, check_match
from .deployment.robot_step import RobotStep
from .graph_replay import GraphReplay
from .initial_policy import file_hash, network_of_onnx, start_from
from .learners.distillation import Distillation
from .learners.learner import Learner
from .learners.networks import Network
from .learners.ppo import PPO
from .learners.shac import Shac
from .policy import Policy
from .progress import Progress
from .recipe import Recipe
from .several_processes import Processes
from .task import Task, TaskError, check_task
from .task_functions import weights_of
from .task_program import changed_programs, program_hashes
from .training_task import (
    COMPARED_ATTRIBUTES,
    DISTILLATION,
    as_teacher_sees,
    checked_recipe,
    recipe_for_teacher,
    training_task,
    with_known_precision,
)
from .vec_env import VecEnv

CHECKPOINT, CURVE = "checkpoint.pt", "curve.jsonl"


class Trainer:
    """Training of a policy. `for progress in trainer.run(minutes=8)`.

    folder: for checkpoints and the curve, or None. A training resumes from a checkpoint in the
    folder, with the same numbers as without a break. A checkpoint raises an error if it belongs to
    another task, robot, seed or recipe, to other scales, pushes or numbers of the task, or to task
    functions (rewards, observations, ends ...) with another computation. A checkpoint is read
    without running code that a file may hold.
    init: a policy's ONNX file or another training's checkpoint, with whose networks a new training
    begins (`start_from`).
    teacher: a policy's ONNX file, whose actions the policy learns by `Distillation` instead of PPO;
    it observes the last group of the task's observations (`read_teacher`).
    loggers: functions that are called with each iteration's `Progress`. watchers: functions that
    are called with the environments after each of their steps.

    In several processes of `torchrun` it is one training: each process has the recipe's
    environments, and the gradients of all processes train one policy. Only the first process calls
    loggers and writes files.
    """

    def __init__(
        self,
        task: Task,
        *,
        recipe: Recipe | None = None,
        seed: int = 0,
        device: str = "cpu",
        folder: Path | str | None = None,
        init: Path | str | None = None,
        teacher: Path | str | None = None,
    ):
        check_task(task)
        folder, init, teacher = (None if x is None else Path(x) for x in (folder, init, teacher))
        self.task, self.seed, self.folder = task, seed, folder
        self.processes = Processes.of_torchrun()
        device = self.processes.device(device)
        recipe = checked_recipe(recipe_for_teacher(recipe or task.recipe, teacher))
        self.recipe = with_known_precision(recipe, torch.device(device))
        self.processes.meet(device)
        rank = self.processes.rank
        torch.manual_seed(seed + rank)
        learned, envs = training_task(task, self.recipe), self.recipe.envs
        self.env = VecEnv(learned, envs, device=device, seed=seed, first=rank * envs)
        self.env.reset()
        self.teacher = "" if teacher is None else file_hash(teacher)
        network = None if teacher is None else read_teacher(task, teacher)
        with self.processes.together():
            self.learner = self._make_learner(network)
        self._steps = GraphReplay(self._run_steps, device)
        self._init = ""
        if init is not None:
            self._init = start_from(
                self.learner, self.env.kernels, self.task, init, recipe.deviation
            )
        self.iteration, self._seconds, self._cpu = 0, 0.0, 0.0
        self.curve: list[Progress] = []
        self.loggers: list[Callable[[Progress], Any]] = []
        self.watchers: list[Callable[[VecEnv], Any]] = []
        # The first episodes have random ages, so that they do not all end at the same step.
        ages = self.env.carried["age"]
        ages.copy_(torch.randint_like(ages, high=self.env.kernels.length))
        if folder is not None:
            self._resume(folder)

    def run(
        self,
        *,
        minutes: float | None = None,
        wall_minutes: float | None = None,
        iterations: int | None = None,
        save_every: int = 25,
    ) -> Iterator[Progress]:
        """Iterations until the time or the number of iterations is reached; the last one is
        saved.

        minutes: CPU time of the process [min], of all its threads; with several processes, the
        mean of them. None: the recipe's, if there is no other limit. wall_minutes: time on the
        clock [min]. Both include earlier runs of a resumed training.
        """
        start, cpu = time.perf_counter(), time.process_time()
        seconds, used = self._seconds, self._cpu
        if minutes is None and wall_minutes is None and iterations is None:
            minutes = self.recipe.minutes
        longest = [math.inf if x is None else x for x in (minutes, wall_minutes)]
        while iterations is None or self.iteration < iterations:
            taken_minutes = (self._cpu / self.processes.count / 60, self._seconds / 60)
            if any(x > most for x, most in zip(taken_minutes, longest, strict=True)):
                break
            progress = self._iterate()
            # All processes stop after the same iteration, by the clock of the first one.
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
        self.save()

    def save(self) -> None:
        """Write a checkpoint as a whole or not at all. All processes call it, and the first one
        writes."""
        if self.folder is None:
            return
        env = self.env
        mine: dict[str, Any] = {
            "environments": {name: x.cpu() for name, x in env.state().items()},
            "observations": {name: x.cpu() for name, x in env.observations.items()},
            "random": torch.get_rng_state(),
        }
        if env.device.startswith("cuda"):  # actions and orders are drawn there
            mine["random_cuda"] = torch.cuda.get_rng_state(env.device)
        # Each process has its own environments and random numbers; the policy is the same in all of
        # them.
        first, *others = self.processes.of_all(mine)
        if not self.processes.first:
            return
        whole = {
            **first,
            "others": others,
            "learner": self.learner.state(),
            "iteration": self.iteration,
            "seconds": (self._seconds, self._cpu),
            "curve": [tuple(x) for x in self.curve],
            "of": self._identity(),
            "programs": self._programs,
            "terms": self.env.kernels.observation.layout,
            "deployment": self._deployment,
            "version": installed_version(),
        }
        # The file is renamed when it is complete, so that a killed training leaves the previous
        # checkpoint.
        temporary = self.folder / (CHECKPOINT + ".part")
        torch.save(whole, temporary)
        temporary.replace(self.folder / CHECKPOINT)
        lines = [json.dumps(x._asdict()) for x in self.curve]
        (self.folder / CURVE).write_text("\n".join(lines) + "\n")

    def policy(self) -> Network:
        """The mean of the actions as a module: observations (B, n) → (B, actions)."""
        return self.learner.policy()

    def _make_learner(self, teacher: Network | None) -> Learner:
        env, recipe, processes, actions = self.env, self.recipe, self.processes, self.task.actions
        if recipe.learner == "warpdyn":
            return PPO(env.observations, actions, recipe, processes)
        if recipe.learner == "shac":
            return Shac(env, recipe, processes)
        if recipe.learner == DISTILLATION and teacher is not None:
            return Distillation(env.observations, actions, recipe, processes, teacher)
        if recipe.learner == DISTILLATION:
            raise TaskError(
                f'learner="{DISTILLATION}" needs a teacher: Trainer(..., teacher=FILE), or '
                "warpdyn train TASK --teacher FILE"
            )
        if recipe.learner == "rsl_rl":
            # The package is imported only if it is used.
            module = import_module(".learners.rsl_rl", __package__)
            learner: Learner = module.RslRlLearner(env, recipe, processes)
            return learner
        raise TaskError(
            f'learner must be "warpdyn", "shac", "rsl_rl" or "{DISTILLATION}", got "{recipe.learner}"'
        )

    def _identity(self) -> dict[str, Any]:
        """Identity of the training that a checkpoint belongs to, as plain values by name."""
        identity = {
            "task": self.task.name,
            "robot": self.task.model.name,
            "seed": self.seed,
            "recipe": plain(self.recipe.as_dict()),
            "processes": self.processes.count,
            "init": self._init,
            "teacher": self.teacher,
        }
        identity |= {name: plain(getattr(self.task, name, None)) for name in COMPARED_ATTRIBUTES}
        return identity | {"scales": weights_of(self.task)}

    def _resume(self, folder: Path) -> None:
        """Resume from the folder's checkpoint, if it has one: the first process reads it for
        all."""
        whole, problem = self.processes.of_first(
            self._checkpoint(folder) if self.processes.first else None
        )
        if problem:
            raise TaskError(problem)
        if whole is None:
            return
        try:
            self._restore(whole)
        except Exception as error:  # from Torch, rsl_rl and plain indexing, for a malformed file
            raise unusable(folder / CHECKPOINT, error) from error

    def _restore(self, whole: dict[str, Any]) -> None:
        mine = whole if self.processes.first else whole["others"][self.processes.rank - 1]
        self.learner.restore(whole["learner"])
        self.env.restore(mine["environments"])
        for name, x in self.env.observations.items():
            x.copy_(mine["observations"][name])
        torch.set_rng_state(mine["random"])
        if "random_cuda" in mine and self.env.device.startswith("cuda"):
            torch.cuda.set_rng_state(mine["random_cuda"], self.env.device)
        self.iteration, (self._seconds, self._cpu) = whole["iteration"], whole["seconds"]
        self.curve = [Progress(*x) for x in whole["curve"]]

    def _checkpoint(self, folder: Path) -> tuple[dict[str, Any] | None, str]:
        """A checkpoint of this training in a folder, which is created if necessary, and the reason
        if it cannot be used."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / CHECKPOINT
        if not path.exists():
            return None, ""
        try:
            whole = read_checkpoint(path)
        except TaskError as error:
            return None, str(error)
        # Checkpoints of earlier versions belong to one process and do not record this.
        changed = [*differences({"processes": 1} | whole["of"], self._identity())]
        if not changed:
            changed = self._changed_functions(whole)
        if changed:
            return None, (
                f"{path} belongs to another training run, with {', '.join(changed)}; "
                "choose another folder, or remove it to start again"
            )
        return whole, ""

    @cached_property
    def _programs(self) -> dict[str, str]:
        """Hashes of the task's programs; each needs a recording."""
        return program_hashes(self.env.kernels)

    @cached_property
    def _deployment(self) -> dict[str, Any]:
        """The task's deployment record; empty if no robot can run the task."""
        try:
            return deployment_record(self.task, trained=self.env.task)
        except UNREADABLE:
            return {}

    def _changed_functions(self, whole: dict[str, Any]) -> list[str]:
        """Functions of the task that compute something else than in the checkpoint, in words."""
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
            sums, inside = self._roll_out()
        except TaskError as error:
            mistake = error
        # A mistake of the task in one process ends all of them, each with its message.
        if mistakes := [*filter(None, self.processes.of_all(str(mistake or "")))]:
            raise mistake or TaskError(mistakes[0])
        with self.processes.together():
            self.learner.update(self.env.observations)
        self.iteration += 1
        deviation = self.learner.deviation  # waits for a GPU
        taken = time.perf_counter() - begin
        steps = self.recipe.steps * self.env.num_envs * self.processes.count
        seconds = self.task.step_seconds
        names = (*self.env.kernels.rewards, "length")
        earned, ended, falls, odd, *by_name, lived = self.processes.total(sums).tolist()
        lived *= seconds
        return Progress(
            iteration=self.iteration,
            steps=self.iteration * steps,
            seconds=0.0,
            cpu_seconds=0.0,
            reward=earned / steps / seconds,
            rewards={n: x / lived for n, x in zip(names, by_name, strict=False)} if lived else {},
            length=lived / max(ended, 1.0),
            falls=falls / max(ended, 1.0),
            steps_per_second=steps / taken,
            environment_share=None if inside is None else inside / taken,
            deviation=deviation,
            nonfinite_actions=round(odd),
            teacher_distance=self.learner.teacher_distance
            if isinstance(self.learner, Distillation)
            else 0.0,
        )

    def _roll_out(self) -> tuple[torch.Tensor, float | None]:
        """The steps of an iteration: sums of the environments' results, and the seconds spent in
        them; None on a GPU, which does not wait between two kernels.

        Sums: rewards, ends, falls, actions that are not finite; for the episodes that ended, each
        reward and the length in steps.
        """
        # Results of environments alternate between two sets of tensors, so a graph has an even number
        # of steps.
        even = self.recipe.steps % 2 == 0
        can_replay = isinstance(self.learner, PPO) and even and not self.watchers
        sums, inside = self._steps() if can_replay else self._run_steps()
        self.env.check_rewards()
        return sums, inside

    def _run_steps(self) -> tuple[torch.Tensor, float | None]:
        """`_roll_out` without the check of the rewards."""
        env, learner, inside = self.env, self.learner, 0.0
        sums = torch.zeros_like(env.totals())
        for _ in range(self.recipe.steps):
            action = learner.act(env.observations)
            before = time.perf_counter()
            _, reward, fell, timed_out, _ = env.step(action)
            inside += time.perf_counter() - before
            for watch in self.watchers:
                watch(env)
            learner.record(reward, (fell | timed_out).float(), timed_out.float())
            sums += env.totals()
        return sums, inside if sums.is_cpu else None


def read_teacher(task: Task, path: Path) -> Network:
    """The network of a teacher, which observes the last group of the student's task: the critic's.

    path: `policy.onnx` of a task with the same robot, rate and actions.
    TaskError: the teacher observes other terms than that group, or its actions mean something else;
    the message names the difference.
    """
    policy, view = Policy(path), as_teacher_sees(task)
    robot_step = RobotStep(view)
    policy.check(view, robot_step.observations[robot_step.group][0])
    if policy.deployment:
        check_match(path, policy.deployment, deployment_record(view, robot_step))
    return network_of_onnx(path)
