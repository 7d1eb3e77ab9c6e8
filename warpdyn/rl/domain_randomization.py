"""Domain randomisation of a training run, applied to a task: entries that the task cannot have are
left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..functions.simulation.terrain import HeightMap
from .task import Task
from .variation import ORIGIN, DomainRandomization, Noise, Push, Vary
from .varied_simulation import DRIVEN, TOUCHED

SIDE, CELL, PLACES = 24.0, 0.1, 4.0
"""Length of the sides of uneven ground and the distance of its nodes [m]; episodes begin within
±PLACES of its middle."""


def uneven_ground(task: Task, height: float, seed: int = 0) -> dict[str, Any]:
    """Attributes of a task on ground with bumps, at a different place in each episode: `terrain`,
    and `vary` with the places.

    Heights of nodes are uniform from -height to 0 [m], so that robots on z = 0 begin above them.
    """
    count = round(SIDE / CELL) + 1
    heights = np.random.default_rng(seed).uniform(-height, 0.0, (count, count))
    places = Vary(-PLACES, PLACES, how="scale")
    return {"terrain": HeightMap(heights, CELL), "vary": {**task.vary, ORIGIN: places}}


def randomized_attributes(
    domain: DomainRandomization, task: Task, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """Attributes of the task for training. terms: those that its policy observes."""
    left_out = {
        *(TOUCHED if not task.points else ()),
        *((*DRIVEN, "latency") if task.drives is None else ()),
    }
    vary = {name: x for name, x in domain.vary.items() if name not in left_out}
    noise = {name: x for name, x in domain.noise.items() if name in terms}
    push = domain.push if task.model.floating_base else None
    changes = {"vary": task.vary}
    if domain.bumps and task.points and task.terrain is None:
        changes = uneven_ground(task, domain.bumps)
    return {
        **changes,
        "vary": {**changes["vary"], **vary},
        "noise": {**task.noise, **noise},
        "push": push or task.push,
    }


def randomization_of(numbers: Any) -> DomainRandomization:
    """The domain randomisation with these fields, as a policy's file records them: by name, or in
    their order in the files of an earlier version."""
    fields = dict(_by_name(DomainRandomization, numbers))
    for name, kind in (("vary", Vary), ("noise", Noise)):
        fields[name] = {n: kind(**_by_name(kind, x)) for n, x in fields[name].items()}
    if fields["push"] is not None:
        fields["push"] = Push(**_by_name(Push, fields["push"]))
    return DomainRandomization(**fields)


def _by_name(kind: Any, numbers: Any) -> Mapping[str, Any]:
    """Fields of a named tuple by name."""
    if isinstance(numbers, Mapping):
        return numbers
    return dict(zip(kind._fields, numbers, strict=False))
