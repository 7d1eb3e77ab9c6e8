"""Domain randomisation of a training, for a task: what the task cannot have is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .task import Task
from .variation import DomainRandomization
from .varied_simulation import DRIVEN, TOUCHED


def randomized_attributes(
    domain: DomainRandomization, task: Task, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """Attributes of the task for training. terms: those that it observes."""
    left_out = {
        *(TOUCHED if not task.points else ()),
        *((*DRIVEN, "latency") if task.drives is None else ()),
    }
    vary = {name: x for name, x in domain.vary.items() if name not in left_out}
    noise = {name: x for name, x in domain.noise.items() if name in terms}
    push = domain.push if task.model.floating_base else None
    return {
        "vary": {**task.vary, **vary},
        "noise": {**task.noise, **noise},
        "push": push or task.push,
    }
