"""A launch of a simulation that runs unattended: states that are not finite restart, targets may be
delayed, sensors measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, floor, select_less
from ...model.tree import Tree
from .delayed_targets import from_the_beginning, shift_targets
from .imu import imu, mean_acceleration
from .link_contact_forces import contact_flags, link_contact_forces
from .semi_implicit_step import Scene
from .substeps import Launch, launch

BY_ROW = ("loop_forces", "pair_impulses", "pair_forces")
"""Results of several numbers for each loop, contact or pair."""

MORE = (
    "torques",
    "joint_impulses",
    "loop_forces",
    "pair_impulses",
    "pair_features",
    "pair_forces",
    "pairs_left_out",
)
"""Results of a launch after its contact forces, in order; some launches lack some."""

INFINITE = float("inf")
"""A bound that every finite number is below."""


class Measured(NamedTuple):
    """Links with an IMU, links whose contact forces are summed up, and the force above which a
    point or a link counts as touched [N]."""

    units: tuple[str, ...]
    links: tuple[str, ...]
    threshold: float


def guarded_step(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    start: Sequence[Scalar],
    time: Sequence[Scalar],
    failures: Sequence[Scalar],
    *more: Sequence,
    scene: Scene,
    sensors: Measured | None,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, ...]:
    """The results of `substeps`, the time since the start [s], and the number of failures: a
    state that is not finite becomes `start` (nq), at rest, and is counted. Then the earlier
    targets, if targets are delayed, and the readings of `sensors`: IMUs, points touched, forces,
    links touched."""
    named = dict(zip(scene.arrays, more, strict=True))
    earlier_targets: dict[str, list] = {}
    if "latency" in named:
        targets, earlier = named["targets"], named["earlier_targets"]
        named["earlier_targets"] = from_the_beginning(targets, earlier, time[0])
        earlier_targets["earlier_targets"] = shift_targets(targets, named["earlier_targets"])
    units = sensors.units if sensors is not None else ()
    end = launch(tree, q, v, tau, [*named.values()], scene, gravity, f_ext, keep=bool(units))
    step = end.results
    # One number that is not finite makes the whole sum so, and the comparison below then fails.
    size: Scalar = 0.0
    for x in (*step["q"], *step["v"]):
        size = size + absolute(x)

    def if_finite(x: Scalar, otherwise: Scalar) -> Scalar:
        return select_less(size, INFINITE, x, otherwise)

    def finite(rows: list) -> list:
        return [[if_finite(x, 0.0) for x in row] for row in rows]

    forces = finite(step["forces"])
    results: dict[str, list] = {
        "q": [if_finite(x, y) for x, y in zip(step["q"], start, strict=True)],
        "v": [if_finite(x, 0.0) for x in step["v"]],
        "impulses": finite(step["impulses"]),
        "forces": forces,
    }
    for name in MORE:
        if name in step:
            numbers = step[name]
            results[name] = (
                finite(numbers) if name in BY_ROW else [if_finite(x, 0.0) for x in numbers]
            )
    results["time"] = [if_finite(_one_later(time[0], scene.dt * scene.substeps), 0.0)]
    results["failures"] = [failures[0] + if_finite(0.0, 1.0)]
    results |= earlier_targets
    if sensors is not None:
        results |= _readings(tree, end, forces, scene, sensors, gravity, f_ext)
        for name in ("imu", "link_forces"):
            results[name] = finite(results[name])
    return tuple(results.values())


def _readings(
    tree: Tree,
    end: Launch,
    forces: list,
    scene: Scene,
    sensors: Measured,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> dict[str, list]:
    """Readings of the sensors by name. `forces`: those of the launch, zero if it failed."""
    q, v = end.results["q"], end.results["v"]
    before = end.q_before, end.v_before
    a = mean_acceleration(tree, before, (q, v), scene.dt) if sensors.units else []
    accelerations = imu(tree, q, v, a, gravity, f_ext, frames=sensors.units)
    link_forces = link_contact_forces(
        tree,
        q,
        end.results["forces"],
        points=scene.points,
        frames=sensors.links,
        reference="local_world_aligned",
    )
    contacts, link_contacts = (
        contact_flags(tree, forces, points=scene.points, links=each, threshold=sensors.threshold)
        for each in (None, sensors.links)
    )
    return {
        "imu": accelerations,
        "contacts": contacts,
        "link_forces": link_forces,
        "link_contacts": link_contacts,
    }


def _one_later(time: Scalar, seconds: float) -> Scalar:
    """The time after one more launch. The number of launches times `seconds` accumulates no
    rounding."""
    return (floor(time * (1.0 / seconds) + 0.5) + 1.0) * seconds
