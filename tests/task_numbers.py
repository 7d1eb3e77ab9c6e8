"""Results and settings of the tasks that come with warpdyn, as plain numbers.

`python tests/task_numbers.py` writes them to tests/rl/tasks/task_numbers.json after an intended
change of a task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from one_number import number_of

import warpdyn as wd
from warpdyn import rl
from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.observation import terms_of

FILE = Path(__file__).parent / "rl" / "tasks" / "task_numbers.json"

TASKS = rl.TASKS

AGES = (0.0, 1.0, 100.0, 150.0, 250.0, 500.0, 499.0, 1000.0)
"""Steps since the episode began, with those at which tasks draw another command or goal."""

BASE, JOINTS = np.tile([0.0, 0.03, 0.1, 0.3], 6), np.repeat([0.0, 0.02, 0.1, 0.3, 0.6, 1.2], 4)
"""How far a base and the joints are from the beginning of an episode, in each state in which a task's
functions are called: standard deviations [m, rad]."""

LOADS = (0.0, 1.0, 5.0, 30.0, 2.0)
"""Standard deviations of forces and torques, one state after the other [N, N·m]."""

SLOW = {"quadruped_rough": 5, "panda_reach_obstacles": 3}
"""Tasks that take 0.2 s a state, called in every fifth or third state only."""


@cache
def task_of(name: str) -> rl.Task:
    """The task, created once, since a terrain takes two seconds."""
    return TASKS[name]()


def settings_of(task: rl.Task) -> dict[str, Any]:
    """All numbers and words among the attributes of a task, by name."""
    names = [n for n in dir(task) if not n.startswith("_")]
    found = {n: _plain(getattr(task, n)) for n in names if not callable(getattr(task, n))}
    return {n: x for n, x in found.items() if x is not None}


def _plain(x: Any) -> Any:
    """Numbers, words, and containers of them. A long array becomes its shape and two sums, anything
    else None."""
    if isinstance(x, np.ndarray | np.generic):
        x = np.asarray(x)
        return x.tolist() if x.size <= 20 else [*x.shape, float(np.sum(x)), number_of(x)]
    if isinstance(x, str):
        return (
            Path(x).name if Path(x).is_absolute() else x
        )  # a file, independent of warpdyn's folder
    if isinstance(x, bool | int | float):
        return x
    if hasattr(x, "_asdict"):
        return _plain(x._asdict())
    if is_dataclass(x) and not isinstance(x, type | wd.Model):
        return _plain(asdict(x))
    if isinstance(x, Mapping):
        return {str(n): _plain(each) for n, each in x.items()}
    return [_plain(each) for each in x] if isinstance(x, list | tuple) else None


def results_of(name: str) -> dict[str, dict[str, list[float]]]:
    """The results of all functions of a task in its states, in float64, by function and name. A
    result has one number for each state."""
    text = EnvironmentStep(task_of(name), seed=7)
    fields = _states(text, slice(None, None, SLOW.get(name, 1)))
    shapes = {n: np.shape(x)[1:] for n, x in fields.items()}
    kernel = text.kernel_of("everything", shapes, lambda robot, x: _all_results(text, robot, x))
    rows = kernel(text.task.model, *fields.values(), *text.shared_arrays.values())._asdict()
    found: dict[str, dict[str, list[float]]] = {}
    for path, x in rows.items():
        function, _, result = path.partition("__")
        found.setdefault(function, {})[result] = [float(f"{number_of(row):.7g}") for row in x]
    return found


def _all_results(text: EnvironmentStep, robot: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """The results of all functions of a task, by function and name."""
    task, s = text.task, text.episode(robot, arrays)
    wanted = dict(task.control(robot, s))
    forces = {f"f_ext_{link}": x for link, x in wanted.pop("f_ext", {}).items()}
    end = {"ended": task.is_terminal(robot, s), "is_complete": task.is_complete(robot, s)}
    calls = {
        "begin": task.begin(robot, s),
        "control": {**wanted, **forces},
        "update": task.update(robot, s),
        "observe": terms_of(task.observe(robot, s)),
        "reward": task.reward(robot, s),
        "measure": task.measure(robot, s),
        "promote": task.promote(robot, s),
        "end": {n: np.where(x, 1.0, 0.0) for n, x in end.items()},
    }
    return {f"{f}__{n}": np.asarray(x) + 0.0 for f, each in calls.items() for n, x in each.items()}


def _states(text: EnvironmentStep, chosen: slice) -> dict[str, np.ndarray]:
    """States of a task's environments: their beginnings with random changes, forces and torques."""
    model, generator, count = text.task.model, np.random.default_rng(0), len(BASE[chosen])
    rows, ages, one = np.arange(len(BASE))[chosen] * 1.0, np.resize(AGES, count), np.ones(count)
    base, joints = BASE[chosen], JOINTS[chosen]
    begun = text.start(model, rows, *text.shared_arrays.values())._asdict()

    def draw(size: Any, *shape: int) -> np.ndarray:
        return np.reshape(size, (count, *(1 for _ in shape))) * generator.normal(
            size=(count, *shape)
        )

    fixed = ("q", "v", "last_v", "last_action", "age", "ticks", "over", "sums")
    state = {n: np.asarray(begun.get(n, np.zeros((count, *s)))) for n, s in text.carried.items()}
    state |= {n: x + draw(joints, *x.shape[1:]) for n, x in state.items() if n not in fixed}
    away = draw(joints, model.nv)
    if model.floating_base:
        away[:, :6] = draw(3.0 * base, 6)
    state |= {
        "q": np.asarray(wd.integrate(model, state["q"], away)),
        "v": state["v"] + draw(2.0 * joints, model.nv),
        "last_v": state["v"] + draw(joints, model.nv),
        "last_action": draw(one, text.task.actions),
        "age": ages,
        "ticks": rows,
    }
    if text.task.commanded:
        state[text.task.commanded][3::4] = 0.0  # standing
    results = {n: draw(np.resize(LOADS, count), *shape) for n, shape in text.results.items()}
    others = {"time": ages * text.task.step_seconds, "action": draw(one, text.task.actions)}
    return {**state, **results, **others}


def domain_randomisations() -> dict[str, Any]:
    """The numbers of the domain randomisations of trainings."""
    return {n: _plain(getattr(rl, n)) for n in ("SIM_TO_REAL", "SIM_TO_REAL_ARM")}


def everything() -> dict[str, Any]:
    """Settings and results of all tasks, and the domain randomisations."""
    return {
        "settings": {name: settings_of(kind()) for name, kind in TASKS.items()},
        "results": {name: results_of(name) for name in TASKS},
        "domain randomisation": domain_randomisations(),
    }


def as_text(x: Any, indent: str = "") -> str:
    """JSON with one line for each list or number."""
    if not isinstance(x, dict):
        return json.dumps(x)
    deeper = indent + " "
    lines = [f"{deeper}{json.dumps(n)}: {as_text(each, deeper)}" for n, each in x.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


if __name__ == "__main__":
    FILE.write_text(as_text(everything()) + "\n")
