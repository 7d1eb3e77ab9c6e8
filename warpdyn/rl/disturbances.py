"""Disturbances under which a policy of a legged robot is judged: one change of its task each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import numpy as np

from .task import Task, TaskError
from .variation import Push, Vary


def _payload(kilograms: float) -> Callable[[Task], dict[str, Any]]:
    def changes(task: Task) -> dict[str, Any]:
        base = task.model.links[0].name
        return {"mass": Vary(kilograms, kilograms, how="add", of=base)}

    return changes


def _always(name: str, value: float, how: Any = "abs") -> Callable[[Task], dict[str, Any]]:
    return lambda _: {name: Vary(value, value, how=how)}


DISTURBANCES: Mapping[str, Callable[[Task], dict[str, Any]]] = {
    "none": lambda _: {},
    "push 1 m/s every 3 s": lambda _: {"push": Push(1.0, 3.0, 1.0)},
    "friction 0.2": _always("friction", 0.2),
    "latency 20 ms": _always("latency", 0.02),
    "5 kg on the base": _payload(5.0),
    "motors at 0.8": _always("strength", 0.8, "scale"),
    "command at once": lambda _: {"command": None},
    "joint friction 0.1 v²": _always("quadratic_friction", 0.1),
}
"""Changes of a task's `vary`, its push or its command, by the words of a table."""


def disturbed(task: Task, name: str) -> Task:
    """The task with one of the disturbances, and otherwise nominal: without noise and variation.

    Friction of the ground is 0.8 unless it is the disturbance.
    """
    changed = copy(task)
    entries = DISTURBANCES[name](task)
    changed.noise, changed.push = {}, entries.pop("push", None)
    if "command" in entries:
        del entries["command"]
        if "command_rate" not in task.numbers:
            raise TaskError(f"{task.name} has no command_rate, which {name!r} changes")
        rate = np.full(np.shape(task.numbers["command_rate"]), 1e6)
        changed.numbers = {**task.numbers, "command_rate": rate}
    changed.vary = {**({"friction": Vary(0.8, 0.8)} if task.points else {}), **entries}
    return changed
