"""The functions of a task, called with an episode; results that do not fit the task raise."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..functions.simulation.contact_pairs import ContactPairs
from ..functions.simulation.drives import PD
from ..functions.whole_numbers import whole_number
from ..model import Model
from ..model.scene.free_bodies import free_joint_of, robot_base
from ..user_kernels import random_numbers
from ..user_kernels.conditions import Condition
from ..user_kernels.random_numbers import Key
from ..user_kernels.values import objects
from .episode_bodies import body_state
from .task import Episode, Task, TaskError
from .terms import every
from .terms.reward_shapes import whole_steps
from .variation import ENCODER_BIAS, HeldPush, Noise, Push, Vary, fields_without_effect

EXAMPLES = {
    "begin": '{"q": ..., "v": ...}',
    "control": '{"targets": ...} or {"tau": ...}',
    "update": '{"phase": ...}, or {} for no change',
    "promote": '{"level": ...}, or {} for no change',
    "reward": '{"upright": ...}',
}
"""Results of a task's methods, as text for errors."""

MAPPINGS = {
    "scales": '{"upright": 1.0}',
    "vary": '{"friction": rl.Vary(0.4, 1.0)}',
    "noise": '{"joints": rl.Noise(0.01)}',
    "history": '{"policy": 3}',
    "groups": '{"policy": ("joints", "speeds")}',
    "keep": '{"level": 0.0}',
    "numbers": '{"tilt": np.array([0.2])}',
    "tables": '{"origins": np.zeros((3, 4))}',
}
"""Attributes of a task that are dictionaries, as text for errors."""

OF_ENVIRONMENT = frozenset(
    [
        "seed",
        "scales",
        "action",
        "last_action",
        "last_v",
        "age",
        "time",
        "ticks",
        "over",
        "sums",
        "random",
        "terrain",
        "forces",
        "torques",
        "mean_forces",
        "peak_forces",
        "pair_forces",
        "impulses",
        "joint_impulses",
        "pair_impulses",
        "pair_features",
    ]
)
"""Names of an environment's own arrays, which a task cannot give to its own."""


NAMES_ELSEWHERE = {
    "decimation": "substeps",
    "sim_dt": "dt",
    "ctrl_dt": "substeps",
    "episode_length_s": "seconds",
    "terminations": "is_terminal",
    "events": "vary",
    "observations": "observe",
    "history_length": "history",
}
"""Attributes of tasks in Isaac Lab, mjlab and MuJoCo Playground, and what they are called here."""


def _check_robot(task: Task) -> None:
    """Raise if the robot, its drives or its pairs are of another type."""
    for name, kind, example in (
        ("model", Model, "a Model, such as wd.load_robot(name)"),
        ("drives", PD | None, "wd.PD(kp, kd) or None"),
        ("pairs", ContactPairs | tuple | list, "those of wd.ContactPairs(model)"),
    ):
        if not isinstance(getattr(task, name), kind):
            raise TaskError(f"{task.name}.{name} must be {example}, got {getattr(task, name)!r}")
    for name in () if task.drives is None else ("kp", "kd", "strength"):
        if not _is_numeric(number := getattr(task.drives, name)):
            raise TaskError(
                f"{task.name}.drives.{name} must be a number, or one for each joint, got {number!r}"
            )


def check_numbers(task: Task) -> None:
    """Raise if a number of the task makes no sense: a time, a bound, a draw, noise or a push."""
    _check_types(task)
    _check_robot(task)
    _warn_of_misspellings(task)
    for name in ("dt", "largest_action"):
        if not 0 < getattr(task, name) < np.inf:
            raise TaskError(f"{task.name}.{name} must be positive, got {getattr(task, name)}")
    counts = {"actions": task.actions, "substeps": task.substeps, "sweeps": task.sweeps}
    for name, count in {**counts, **{f"history.{n}": x for n, x in task.history.items()}}.items():
        whole_number(f"{task.name}.{name}", count, error=TaskError)
    kept = {n: x for n, x in task.keep.items() if isinstance(x, Vary)}
    for root, records in (("vary", task.vary), ("keep", kept), ("noise", task.noise)):
        for name, record in records.items():
            for mistake in (*record.mistakes(), *fields_without_effect(root, name, record)):
                raise TaskError(f"{task.name}.{root}.{name}: {mistake}")
    if taken := sorted(set(task.numbers) & OF_ENVIRONMENT):
        raise TaskError(
            f"{task.name}.numbers: the environment reserves the name {', '.join(taken)}"
        )
    _check_arrays(task)
    for mistake in () if task.push is None else task.push.mistakes():
        raise TaskError(f"{task.name}.push: {mistake}")


def _warn_of_misspellings(task: Task) -> None:
    """Warn of an attribute that is nearly one of a task's, or that Isaac Lab, mjlab or Playground
    have: it would have no effect."""
    known = [name for name in dir(Task) if not name.startswith("_")]
    own = {name for kind in type(task).__mro__ for name in vars(kind)} | set(vars(task))
    for name in sorted(own - set(known)):
        other = [NAMES_ELSEWHERE[name]] if name in NAMES_ELSEWHERE else []
        near = other or get_close_matches(name, known, n=1, cutoff=0.82)
        if near and not name.startswith("_"):
            warnings.warn(
                f"{task.name}.{name} is not an attribute of rl.Task, so that an environment does not "
                f"read it; did you mean {near[0]}?",
                stacklevel=2,
            )


def _check_types(task: Task) -> None:
    """Raise for an attribute of another type, such as a tuple in place of a `Vary`."""
    # These errors would otherwise come from where the attribute is used, without its name.
    if task.push is not None and not isinstance(task.push, Push | HeldPush):
        raise TaskError(
            f"{task.name}.push must be an rl.Push or rl.HeldPush, such as rl.Push(1.0, 5.0), "
            f"got {task.push!r}"
        )
    for name, example in MAPPINGS.items():
        if not isinstance(getattr(task, name), Mapping):
            raise TaskError(
                f"{task.name}.{name} must be a dictionary by name, {example}, "
                f"got {getattr(task, name)!r}"
            )
    for name, kind in (("vary", Vary), ("noise", Noise)):
        for entry, record in getattr(task, name).items():
            if not isinstance(record, kind):
                raise TaskError(
                    f"{task.name}.{name}.{entry} must be an rl.{kind.__name__}, "
                    f"{MAPPINGS[name]}, got {record!r}"
                )
    if np.shape(task.gravity) != (3,):
        raise TaskError(
            f"{task.name}.gravity must be three numbers, such as (0, 0, -9.81), got {task.gravity!r}"
        )
    for name in ("dt", "seconds"):
        found = getattr(task, name)
        if not _is_numeric(found) or np.ndim(found):
            raise TaskError(f"{task.name}.{name} must be a number, got {found!r}")
    if np.ndim(task.largest_action):
        raise TaskError(
            f"{task.name}.largest_action must be one number, got {task.largest_action!r}; "
            "scale single actions in control"
        )


def _check_arrays(task: Task) -> None:
    """Raise for a scale that is not finite, and for a number or table with NaN. Numbers may be
    infinite, such as limits."""
    for name, scale in task.scales.items():
        if not _is_numeric(scale) or np.ndim(scale):
            raise TaskError(f"{task.name}.scales.{name} must be a number, got {scale!r}")
        if not np.isfinite(scale):
            raise TaskError(f"{task.name}.scales.{name} must be finite, got {scale!r}")
    for root, arrays in (("numbers", task.numbers), ("tables", task.tables)):
        for name, x in arrays.items():
            if not _is_numeric(x):
                raise TaskError(f"{task.name}.{root}.{name} must be an array of numbers, got {x!r}")
            if np.isnan(np.asarray(x, dtype=float)).any():
                raise TaskError(
                    f"{task.name}.{root}.{name} has an entry that is not a number (NaN)"
                )


def _is_numeric(x: Any) -> bool:
    """True for a number and for arrays of numbers, not for None, which NumPy takes for NaN."""
    try:
        return np.asarray(x).dtype.kind in "biuf"
    except (TypeError, ValueError):
        return False


def _by_name(task: Task, method: str, returned: Any) -> Mapping[str, Any]:
    """The dictionary that a method returned; TaskError for another type."""
    if not isinstance(returned, Mapping):
        raise TaskError(
            f"{task.name}.{method} must return a dictionary by name, {EXAMPLES[method]}, got "
            f"{'an array' if hasattr(returned, 'shape') else type(returned).__name__}"
        )
    return returned


def begin(task: Task, robot: Any, s: Episode) -> dict[str, Any]:
    """The result of `begin`: arrays at the beginning of an episode, by name."""
    arrays = dict(_by_name(task, "begin", task.begin(robot, s)))
    if not {"q", "v"} <= set(arrays):
        raise TaskError(f"{task.name}.begin must name q and v; it named {', '.join(arrays)}")
    if both := set(arrays) & set(task.keep):
        raise TaskError(
            f"{task.name}.begin names {', '.join(sorted(both))}, which keep has; what is kept "
            "changes in promote"
        )
    if both := set(arrays) & set(task.vary):
        raise TaskError(
            f"{task.name}.begin names {', '.join(sorted(both))}, which vary draws; leave one out"
        )
    return arrays


def check_begin(task: Task, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise if `begin` returns another number of coordinates than the robot has, uses a name that
    the environment reserves, or does not return the command."""
    if taken := sorted(set(shapes) & OF_ENVIRONMENT):
        raise TaskError(
            f"{task.name}.begin or keep: the environment reserves the name {', '.join(taken)}; "
            "choose another"
        )
    if task.commanded and task.commanded not in shapes:
        raise TaskError(
            f"{task.name}.commanded is {task.commanded!r}, which begin does not name; it names "
            f"{', '.join(shapes)}"
        )
    for name, size in (("q", task.model.nq), ("v", task.model.nv)):
        if shapes[name] != (size,):
            raise TaskError(
                f"{task.name}.begin: {name} must be ({size},) for {task.model.name}, "
                f"got {shapes[name]}"
            )


def as_measured(task: Task, s: Any) -> Episode:
    """The episode with the joint positions that the encoders measure."""
    if ENCODER_BIAS not in task.vary:
        return s
    q = [s.q[k] for k in range(task.model.nq)]
    for k, column in enumerate(task.model.joint_position_columns):
        q[column] = q[column] + s.encoder_bias[k]
    return s.with_fields(q=np.stack(q))


def _without_bias(task: Task, s: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """The result of `control` with true targets: drives compare targets with measured positions."""
    if ENCODER_BIAS not in task.vary or "targets" not in wanted:
        return wanted
    return {**wanted, "targets": wanted["targets"] - s.encoder_bias}


def control(task: Task, robot: Any, s: Episode) -> dict[str, Any]:
    """The result of `control` for measured joint positions: targets, joint forces, or both."""
    wanted = dict(_by_name(task, "control", task.control(robot, as_measured(task, s))))
    if not set(wanted) & {"targets", "tau"} or set(wanted) - {"targets", "tau", "f_ext"}:
        raise TaskError(
            f"{task.name}.control must return targets, tau, or both, and optionally f_ext; "
            f"it returned {', '.join(wanted) or 'nothing'}"
        )
    return _without_bias(task, s, wanted)


def update(task: Task, robot: Any, s: Episode, names: Collection[str]) -> Episode:
    """The episode after `update`, which may change the arrays `names`."""
    changed = _by_name(task, "update", task.update(robot, s))
    if unknown := set(changed) - set(names):
        raise TaskError(
            f"{task.name}.update changes {', '.join(sorted(unknown))}, which begin does not name"
        )
    for name, x in changed.items():
        if np.shape(x) != np.shape(getattr(s, name)):
            raise TaskError(
                f"{task.name}.update: {name} must be {np.shape(getattr(s, name))} as in begin, got "
                f"{np.shape(x)}"
            )
    return s.with_fields(**changed)


def weights_of(task: Task) -> dict[str, float]:
    """Weights of all rewards by name: `scales` of those of `reward`, then those of the objects."""
    if twice := sorted(set(task.scales) & set(task.rewards)):
        raise TaskError(
            f"{task.name}: scales and rewards both name {', '.join(twice)}; a reward is in one of "
            "them"
        )
    weights = {**task.scales, **{n: each.weight for n, each in task.rewards.items()}}
    if not weights:
        raise TaskError(f"{task.name} has no rewards: name them in scales or in rewards")
    return weights


def rewards_of(task: Task, robot: Any, s: Episode) -> dict[str, Any]:
    """The results of `reward` and of the objects in `rewards`."""
    of_method = _by_name(task, "reward", task.reward(robot, s))
    return {**of_method, **{n: each(robot, s) for n, each in task.rewards.items()}}


def reward(task: Task, robot: Any, s: Episode, names: Sequence[str]) -> Any:
    """The result of `reward` in the order of the names."""
    rewards = rewards_of(task, robot, s)
    if set(rewards) != set(names):
        missing = set(names) ^ set(rewards)
        raise TaskError(
            f"{task.name}: reward and scales must name the same rewards; "
            f"only one of them names {', '.join(sorted(missing))}"
        )
    for name, x in rewards.items():
        if np.shape(x) or x is None:
            found = None if x is None else np.shape(x)
            raise TaskError(f"{task.name}: the reward {name} must be a number, got {found}")
    return np.stack([np.asarray(rewards[n]) + 0.0 for n in names])


def promote(task: Task, robot: Any, s: Episode, done: Any) -> dict[str, Any]:
    """The kept numbers that `promote` changes, with new values where an episode is over."""
    changed = _by_name(task, "promote", task.promote(robot, s))
    if unknown := set(changed) - set(task.keep):
        raise TaskError(
            f"{task.name}.promote changes {', '.join(sorted(unknown))}, which keep does not have"
        )
    return {n: np.where(done, x, getattr(s, n)) for n, x in changed.items()}


def has_completion(task: Task) -> bool:
    """True if the task overrides `is_complete`."""
    return getattr(task.is_complete, "__func__", None) is not Task.is_complete


def timed_out(task: Task, robot: Any, s: Episode, late: Any) -> Any:
    """True if the time of the episode is over (`late`), or if it is `is_complete`."""
    if not has_completion(task):
        return late
    return late | _condition(task, "is_complete", task.is_complete(robot, s))


def _condition(task: Task, method: str, returned: Any) -> Any:
    """The result of a method, if it is a condition; else TaskError."""
    is_empty = returned is None
    if is_empty or not all(
        isinstance(x, (bool, np.bool_, Condition)) for x in objects(returned).flat
    ):
        raise TaskError(
            f"{task.name}.{method} must return a condition, such as s.q[2] < 0.2; it returned "
            f"{'nothing' if is_empty else 'a number'}"
        )
    return returned


def episode_steps(task: Task) -> int:
    """The number of steps of an episode."""
    steps = task.seconds / task.step_seconds
    length = round(steps) if np.isfinite(steps) else 0
    if length < 1:
        raise TaskError(
            f"{task.name}.seconds must be at least a step of {task.step_seconds} s, got {task.seconds}"
        )
    return length


def ends(task: Task, robot: Any, s: Episode, finite: Any, late: Any) -> tuple[Any, Any]:
    """Conditions: the episode ends early, and it runs out of time or is complete."""
    fell = _condition(task, "is_terminal", task.is_terminal(robot, s)) | ~finite
    return fell, timed_out(task, robot, s, late) & ~fell


def push_base(task: Task, push: Push, s: Episode, key: Key) -> Any:
    """Velocities after a push, if one is due."""
    base = robot_base(task.model)
    if base is None:
        raise TaskError(f"{task.name}.push: {task.model.name} has no free base")
    draws = random_numbers.uniform(key, 2, [0.0, push.least], [2 * np.pi, push.speed])
    level = np.stack([np.cos(draws[0]), np.sin(draws[0]), 0.0]) * draws[1]
    in_base_axes = not task.model.floating_base or task.model.base_velocity == "local"
    kick = body_state(task.model, s.q, s.v, base).rotation.T @ level if in_base_axes else level
    now = every(s.age, whole_steps(push.seconds, task.step_seconds))
    first = task.model.coordinates[free_joint_of(task.model, base).name].v.start
    pushed = s.v[first : first + 3] + np.where(now, kick, 0.0)
    return np.concatenate([s.v[:first], pushed, s.v[first + 3 :]])
