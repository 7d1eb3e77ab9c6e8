"""Domain randomisation of a training run, applied to a task: entries that the task cannot have are
left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algorithms.simulation.contact_shapes import GROUND
from ..functions.simulation.terrain import HeightMap
from ..model.scene.free_bodies import robot_base
from .task import Task
from .variation import ORIGIN, DomainRandomization, Noise, Push, Vary
from .varied_simulation import DRIVEN, TOUCHED

SIDE, CELL, PLACES = 24.0, 0.1, 4.0
"""Length of the sides of uneven ground and the distance of its nodes [m]; episodes begin within
±PLACES of its middle."""


def can_have_bumps(task: Task) -> bool:
    """True if the robot touches the level ground with contact points, and no pair touches it: pairs
    know the plane z = 0 only."""
    on_plane = any(pair.first == GROUND for pair in task.pairs)
    return bool(task.points) and task.terrain is None and not on_plane


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
    push = domain.push if robot_base(task.model) else None
    changes = {"vary": task.vary}
    if domain.bumps and can_have_bumps(task):
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
    if isinstance(numbers, Mapping):
        return numbers
    return dict(zip(kind._fields, numbers, strict=False))
