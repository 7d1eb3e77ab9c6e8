"""Hashes of the programs that a task's functions record, by which a training run recognises its
task."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..execution.request.call import input_shapes
from ..execution.request.evaluate import record_call
from ..user_kernels.own_kernel import OwnKernel
from .environment_step import EnvironmentStep
from .observation import terms_of
from .task import Episode
from .task_functions import control, has_completion, rewards_of

STEP = "the whole step"
"""Name for the program of simulation, rewards, ends, resets and observations together."""

TABLES = "tables and terrain"

APART = "result_"
"""Prefix of the name of a result whose own name belongs to a field of another shape."""


def program_hashes(kernels: EnvironmentStep) -> dict[str, str]:
    """Hashes of each function of the task, of its tables, and of the whole step, by name.

    The hash is that of the recorded program. A function whose source changes, but not its
    computation, has the same hash. The functions are recorded one by one, so that a difference can
    be named.
    """
    task, hashes = kernels.task, dict[str, str]()
    for name, kernel in _task_kernels(kernels):
        hashes[f"{name}()"] = _program_hash(kernels, kernel)
    tables = hashlib.sha256()
    for name, x in kernels.tables.items():
        tables.update(f"{name} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
    hashes[TABLES] = tables.hexdigest()
    hashes["the robot's numbers"] = hashlib.sha256(repr(task.model.key).encode()).hexdigest()
    hashes[STEP] = _program_hash(kernels, kernels.step)
    return hashes


def changed_programs(kept: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of the differences; the whole step only if no part of it differs."""
    names = [n for n in dict.fromkeys((*kept, *now)) if kept.get(n) != now.get(n)]
    return [n for n in names if n != STEP] or names


def _task_kernels(kernels: EnvironmentStep) -> Iterator[tuple[str, OwnKernel]]:
    """Each function of the task as its own kernel, over all fields that it may read. Earlier
    observations are left out: their size follows from `observe`, whose changes would then appear in
    every function."""
    task = kernels.task
    stored = {*kernels.observation.carried, *kernels.late.carried}
    carried = {n: shape for n, shape in kernels.carried.items() if n not in stored}
    shapes: dict[str, tuple[int, ...]] = {**carried, "time": (), "action": (task.actions,)}
    shapes |= kernels.results
    calls: dict[str, Callable[[Any, Episode], Any]] = {
        "begin": task.begin,
        "control": lambda robot, s: _flat(control(task, robot, s)),
        "update": task.update,
        "observe": lambda robot, s: terms_of(task.observe(robot, s)),
        "reward": lambda robot, s: rewards_of(task, robot, s),
        "is_terminal": lambda robot, s: {
            "is_terminal": np.where(task.is_terminal(robot, s), 1.0, 0.0)
        },
        "promote": task.promote,
    }
    if has_completion(task):
        calls["is_complete"] = lambda robot, s: {
            "is_complete": np.where(task.is_complete(robot, s), 1.0, 0.0)
        }
    for name, call in calls.items():

        def one(robot: Any, fields: dict[str, Any], call: Any = call) -> dict[str, Any]:
            found = call(robot, kernels.episode(robot, fields))
            results = {n: np.asarray(x) + 0.0 for n, x in found.items()}
            # A function without results is still a program: one of the environment's age.
            return _named_apart(results, fields) or {"nothing": fields["age"]}

        yield name, kernels.kernel_of(name, shapes, one)


def _named_apart(results: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The results of a task's function by names that no field of another shape has.

    A term of an observation or a reward may be named like a field, and have another shape. A kernel
    would refuse such a result, because its array could not be the field's.
    """
    apart: dict[str, Any] = {}
    for name, x in results.items():
        free = name
        while np.shape(fields.get(free, x)) != np.shape(x) or (free != name and free in results):
            free = APART + free
        apart[free] = x
    return apart


def _flat(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `control` with the forces on each link as arrays by name."""
    forces = {f"f_ext_{k}": x for k, x in enumerate(wanted.get("f_ext", {}).values())}
    return {n: x for n, x in wanted.items() if n != "f_ext"} | forces


def _program_hash(kernels: EnvironmentStep, kernel: OwnKernel) -> str:
    """The hash of a kernel's program for the task's robot, with its constants."""
    arrays = [np.zeros(each.sizes(kernels.task.model)) for each in kernel.signature.arrays.values()]
    call = kernel.describe(kernels.task.model, *arrays)
    program = record_call(call, input_shapes(call), None)
    return hashlib.sha256(program.listing().encode()).hexdigest()
