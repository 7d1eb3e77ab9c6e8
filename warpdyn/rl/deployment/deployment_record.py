"""Deployment record of a task: everything needed to run its policy without warpdyn, as plain
values.

The metadata of a policy's ONNX file contains it. It describes the joints, the observation, the
action and the command, and has two programs for a policy's step (`portable_program`).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...execution.compile.announcements import say
from ...execution.request.call import input_shapes
from ...execution.request.evaluate import record_call
from ...model import Model
from ...model.description import Joint
from ...model.poses_and_limits import Effects
from ...recording.program import Program
from ...user_kernels.own_kernel import OwnKernel
from ...user_kernels.signature import Table
from ..observation import terms_of
from ..task import Task, TaskError
from ..task_program import APART
from ..variation import Noise
from .policy_match import UNREADABLE, other_programs
from .portable_program import (
    Portable,
    formulas,
    inputs_of_results,
    portable,
    run_portable,
    table_columns,
)
from .robot_step import RobotStep, gains_of, limits_of_command

FORMAT = 1
"""Version of the record."""

DIGITS = 6
"""Decimal places of the numbers of a table."""

BASE = "position [m] and quaternion {} of the base, then the joints"
SPEED = "linear and angular velocity of the base {} [m/s, rad/s], then the joints"
AXES = {"local": "in its own axes", "world": "in the world's axes"}


def deployment_record(
    task: Task, robot_step: RobotStep | None = None, trained: Task | None = None
) -> dict[str, Any]:
    """The record of a task, as values that JSON can hold.

    A task without portable programs (with random draws in `update`, for example) has the reason
    under "programs". robot_step: the step of the task, if it exists already. trained: the task with the domain
    randomisation of its training; None: there was none.
    """
    trained = trained or task
    robot_step = robot_step or RobotStep(task)
    model, group = robot_step.task.model, robot_step.group
    try:
        programs, memory = _programs(robot_step)
    except TaskError as error:
        return {"format": FORMAT, "task": task.name, "robot": model.name, "programs": str(error)}
    tables = _tables(robot_step, programs)
    rest, scale = _at_rest(programs, memory, tables, task)
    updates = _formulas(robot_step, robot_step.task.update, memory)
    # Entries for human readers come first, the programs last.
    return {
        "format": FORMAT,
        "task": task.name,
        "robot": model.name,
        "hash": _hash(programs, tables),
        "period": task.step_seconds,
        "rate": 1.0 / task.step_seconds,
        "simulation": {"dt": task.dt, "substeps": task.substeps, "seconds": task.seconds},
        "q": _state_words(model, BASE.format(f"({', '.join(model.quaternion)})"), "q"),
        "v": _state_words(model, SPEED.format(AXES.get(model.base_velocity, "")), "v"),
        "joints": _joints(robot_step, rest),
        "action": {"size": task.actions, "largest": float(task.largest_action), "scale": scale},
        "command": _command(robot_step),
        "observation": _observation(robot_step, task, group, trained.noise),
        "memory": {
            n: {
                "shape": list(robot_step.carried[n]),
                "start": _numbers(x),
                "formulas": updates.get(n, []),
            }
            for n, x in memory.items()
        },
        "varied in training": {n: _plain(x) for n, x in trained.vary.items()},
        **({"tables": tables} if tables else {}),
        "programs": programs,
    }


def say_other_programs(path: Any, recorded: Mapping[str, Any], task: Task) -> None:
    """Print a line if the policy's observations or commands in this task differ from those in
    training.

    A simulation may differ from training on purpose, so this is not an error. Nothing is printed
    for files without a record or for tasks that no robot can run.
    """
    if not recorded:
        return
    try:
        present = deployment_record(task)
    except UNREADABLE:
        return
    if different := other_programs(recorded, present):
        say(f"{path} was trained differently from {task.name}: {'; '.join(different)}")


def _joints(robot_step: RobotStep, stance: np.ndarray | None) -> dict[str, Any]:
    """Numbers of the driven joints, in the order of targets."""
    model = robot_step.task.model
    joints = [_joint_of(model, int(column)) for column in model.joint_columns]
    acting = [_effects_of(model, int(column)) for column in model.joint_columns]
    kp, kd, effort = gains_of(robot_step.task, robot_step.joints)
    return {
        "names": [joint.name for joint in joints],
        "kinds": [joint.kind.name for joint in joints],
        "q": [int(k) for k in model.joint_position_columns],
        "v": [int(k) for k in model.joint_columns],
        "lower": _numbers(model.position_lower[model.joint_position_columns]),
        "upper": _numbers(model.position_upper[model.joint_position_columns]),
        "velocity": _numbers(model.velocity_limit[model.joint_columns]),
        "effort": _numbers(effort),
        "armature": [float(joint.armature) for joint in joints],
        # What acts in training, and not what the description says, which acts only if the model is
        # given it (`Model.with_friction`).
        "damping": [effects.viscous for effects in acting],
        "friction": [effects.coulomb for effects in acting],
        "kp": _numbers(kp),
        "kd": _numbers(kd),
        "stance": None if stance is None else _numbers(stance),
    }


def _programs(robot_step: RobotStep) -> tuple[dict[str, Portable], dict[str, np.ndarray]]:
    """The programs `observe` and `act`, and the arrays that they pass from step to step."""
    seen, done = _program_of_observations(robot_step), _program_of_actions(robot_step)
    results = [n for n in done.results if n in ("targets", "tau")]
    depends = inputs_of_results(seen)
    needed = set().union(depends["observation"], *(inputs_of_results(done)[n] for n in results))
    kept = _memory_names(robot_step, needed, depends)
    programs = {
        "observe": portable(seen, ["observation", *(n for n in kept if n in depends)]),
        "act": portable(done, results),
    }
    memory = {
        n: np.asarray(robot_step.first.get(n, np.zeros(robot_step.carried[n])), float) for n in kept
    }
    return programs, memory


def _memory_names(
    robot_step: RobotStep, needed: set[str], depends: Mapping[str, set[str]]
) -> list[str]:
    """Carried arrays from which the needed inputs are computed, including the inputs themselves."""
    while True:
        kept = [n for n in robot_step.carried if f"memory_{n}" in needed]
        more = needed.union(*(depends[n] for n in kept if n in depends))
        if more == needed:
            return kept
        needed = more


def _program_of_observations(robot_step: RobotStep) -> Program:
    """Program that computes the observation and the new memory from the measured state, the last
    action and the memory. Contact forces and torques are zero."""
    names = {"action": "action", "q_now": "q", "v_now": "v", "anew": "first", "asked": "command"}
    names |= {n: f"memory_{n}" for n in robot_step.carried}
    resting = {f"{n}_now": np.zeros(shape) for n, shape in robot_step.results.items()}

    def observe(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        known = {n: fields[x] for n, x in names.items() if x in fields}
        found = robot_step._observe_now(
            robot, {**_constants(robot_step, fields), **resting, **known}
        )
        return {("observation" if n == robot_step.group else n): x for n, x in found.items()}

    shapes = {names[n]: shape for n, shape in robot_step.read.items() if n not in resting}
    return _program_of(robot_step, "observe", shapes, observe)


def _program_of_actions(robot_step: RobotStep) -> Program:
    """Program that computes targets and forces from an action and the memory."""
    names = {n: f"memory_{n}" for n in robot_step.carried} | {"action": "action"}

    def act(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        known = {n: fields[x] for n, x in names.items()}
        return robot_step._command(robot, {**_constants(robot_step, fields), **known})

    shapes = {
        names[n]: shape
        for n, shape in {**robot_step.carried, "action": (robot_step.task.actions,)}.items()
    }
    return _program_of(robot_step, "act", shapes, act)


def _program_of(robot_step: RobotStep, name: str, shapes: dict[str, Any], function: Any) -> Program:
    """The recorded program of a function over arrays and tables; the task's numbers are
    constants."""
    tables = {n: Table(x.shape) for n, x in robot_step.tables.items()}
    kernel = OwnKernel.of_shapes(name, {**shapes, **tables}, function)
    arrays = [*(np.zeros(shape) for shape in shapes.values()), *robot_step.tables.values()]
    call = kernel.describe(robot_step.task.model, *arrays)
    return record_call(call, input_shapes(call), None)


def _constants(robot_step: RobotStep, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The task's numbers, and its tables as a program looks them up."""
    return {**robot_step.shared_arrays, **{n: fields[n] for n in robot_step.tables}}


def _tables(robot_step: RobotStep, programs: Mapping[str, Portable]) -> dict[str, Any]:
    """The tables that the programs look up, rounded; columns that they do not read are zero."""
    found: dict[str, Any] = {}
    for name, columns in table_columns(programs.values()).items():
        table = np.round(robot_step.tables[name], DIGITS)
        unread = [k for k in range(table.shape[1]) if columns and k not in columns]
        table[:, unread] = 0.0
        found[name] = table.tolist()
    return found


def _at_rest(
    programs: dict[str, Portable],
    memory: dict[str, np.ndarray],
    tables: Mapping[str, Any],
    task: Task,
) -> tuple[np.ndarray | None, list[Any]]:
    """Targets of the drives for the action 0 at the start, None without targets; and the change of
    each target, or of each force, for an action of 1: (joints,) if joint k moves by action k alone,
    else (joints, actions). It is measured with an action of 1, or half of the largest one if that is
    smaller, and divided by this action."""
    given = {f"memory_{n}": x for n, x in memory.items()}

    def act(action: np.ndarray) -> dict[str, np.ndarray]:
        return run_portable(programs["act"], {**given, "action": action}, tables)

    zero = np.zeros(task.actions)
    rest, step = act(zero), min(1.0, 0.5 * task.largest_action)
    name = next(iter(rest))
    change = [(act(row)[name] - rest[name]) / step for row in step * np.eye(task.actions)]
    scale = np.array(change).T.round(12)
    square = scale.shape[0] == scale.shape[1] and np.array_equal(scale, np.diag(np.diag(scale)))
    return rest.get("targets"), np.diag(scale).tolist() if square else scale.tolist()


def _command(robot_step: RobotStep) -> dict[str, Any] | None:
    """Name, size, limits and largest rate [1/s] of the command."""
    if "asked" not in robot_step.read:
        return None
    lowest, highest, rate = limits_of_command(robot_step.task)
    return {
        "name": robot_step.task.commanded,
        "size": int(np.prod(robot_step.read["asked"], dtype=int)),
        "lowest": _numbers(lowest),
        "highest": _numbers(highest),
        "rate": _numbers(rate),
    }


def _observation(
    robot_step: RobotStep, task: Task, group: str, noise: Mapping[str, Noise]
) -> dict[str, Any]:
    """Terms of the policy's group with sizes, noise in training and formulas."""
    shown = _formulas(robot_step, lambda robot, s: terms_of(task.observe(robot, s)))
    terms = [
        {
            "name": name,
            "size": size,
            "noise in training": _plain(noise[name]) if name in noise else None,
            "formulas": shown.get(name, []),
        }
        for name, size in robot_step.observation.entries[group].items()
    ]
    return {
        "size": int(robot_step.observations[group][0]),
        "history": task.history.get(group, 1),
        "order": "oldest observation first",
        "terms": terms,
        "ground": "level" if task.terrain is not None else None,
    }


def _formulas(
    robot_step: RobotStep, function: Callable[..., Any], names: Iterable[str] | None = None
) -> dict[str, list[str]]:
    """Formulas of the results of a task's function, without what begins an episode."""
    shapes: dict[str, Any] = {
        **robot_step.carried,
        "time": (),
        "action": (robot_step.task.actions,),
    }

    def one(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        results = {n: np.zeros(shape) for n, shape in robot_step.results.items()}
        known = {**_constants(robot_step, fields), **fields, **results}
        found = function(robot, robot_step.episode(robot, known))
        wanted = found if names is None else [n for n in names if n in found]
        # A result may be named like an array of another shape.
        return {APART + n: np.asarray(found[n]) + 0.0 for n in wanted} or {APART: fields["age"]}

    program = _program_of(robot_step, "formulas", shapes, one)
    shown = {}
    for name in program.results:
        with contextlib.suppress(TaskError):  # with random draws, of commands for example
            shown[name.removeprefix(APART)] = formulas(portable(program, [name]), name)
    return shown


def _hash(programs: dict[str, Portable], tables: Mapping[str, Any]) -> str:
    """A hash of both programs and their tables."""
    content = repr(programs) + (repr(tables) if tables else "")
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _joint_of(model: Model, column: int) -> Joint:
    slices = {name: at.v for name, at in model.coordinates.items()}
    return next(
        x
        for x in model.joints
        if x.name in slices and slices[x.name].start <= column < slices[x.name].stop
    )


def _effects_of(model: Model, column: int) -> Effects:
    """The friction and springs that act on a column of v."""
    joint = _joint_of(model, column)
    first = model.coordinates[joint.name].v.start
    return joint.effects[column - first] if joint.effects else Effects()


def _plain(record: Any) -> dict[str, Any]:
    """A named tuple as names and numbers."""
    return {n: x.tolist() if hasattr(x, "tolist") else x for n, x in record._asdict().items()}


def _state_words(model: Any, base: str, part: str) -> str:
    """Description of q or v in words."""
    joints = ", ".join(model.joint_names)
    return f"{base}: {joints}" if model.floating_base else f"the joints: {joints}"


def _numbers(x: Any) -> list[float | None]:
    """Numbers that JSON can hold; None for those that are not finite."""
    return [float(value) if np.isfinite(value) else None for value in np.ravel(x)]
