"""A launch of a simulation that runs unattended: states that are not finite restart, targets may be
delayed, sensors measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.scalar import Scalar, floor, select_less
from ...model.tree import Tree
from .delayed_targets import from_the_beginning, shift_targets
from .imu import imu, mean_acceleration
from .link_contact_forces import (
    Measurements,
    PairContacts,
    contact_flags,
    link_contact_forces,
    pair_flags,
    pair_forces_on_links,
    with_flags_of_pairs,
)
from .pair_slots.pair_memory import INFINITE
from .scene import Scene
from .substeps import Launch, launch, state_size
from .uneven_ground import Terrain, terrain_of

BY_ROW = ("impulses", "forces", "loop_forces", "pair_impulses", "pair_forces")
"""Results with several numbers for each point, loop, contact or pair."""

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
    sensors: Measurements | None,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, ...]:
    """The results of `substeps`, the time since the start [s], and the number of failures: a
    state that is not finite becomes `start` (nq), at rest, and is counted. Then the earlier
    targets, if targets are delayed, and the readings of `sensors`: IMUs, points touched, forces,
    links touched, and pairs touched if there are pairs."""
    named = dict(zip(scene.arrays, more, strict=True))
    earlier_targets: dict[str, list] = {}
    if "latency" in named:
        targets, earlier = named["targets"], named["earlier_targets"]
        named["earlier_targets"] = from_the_beginning(targets, earlier, time[0])
        earlier_targets["earlier_targets"] = shift_targets(targets, named["earlier_targets"])
    units = sensors.units if sensors is not None else ()
    # Contacts of pairs act where they are at the beginning of the last step.
    locate = bool(scene.pairs and sensors is not None and sensors.links)
    arrays, keep = [*named.values()], bool(units) or locate
    end = launch(
        tree, q, v, tau, arrays, scene, gravity, f_ext, keep=keep, locate=locate, clear=True
    )
    step = end.results
    size = state_size(step["q"], step["v"])

    def if_finite(x: Scalar, otherwise: Scalar) -> Scalar:
        return select_less(size, INFINITE, x, otherwise)

    def finite(rows: list) -> list:
        return [[if_finite(x, 0.0) for x in row] for row in rows]

    def result(name: str) -> list:
        if name in end.zero_at_failure:
            return step[name]
        return finite(step[name]) if name in BY_ROW else finite([step[name]])[0]

    forces = result("forces")
    results: dict[str, list] = {
        "q": [if_finite(x, y) for x, y in zip(step["q"], start, strict=True)],
        "v": result("v"),
        "impulses": result("impulses"),
        "forces": forces,
    }
    results |= {name: result(name) for name in MORE if name in step}
    results["time"] = [if_finite(_one_later(time[0], scene.dt * scene.substeps), 0.0)]
    results["failures"] = [failures[0] + if_finite(0.0, 1.0)]
    results |= earlier_targets
    if sensors is not None:
        terrain = terrain_of(named)
        results |= _readings(tree, end, results, scene, sensors, gravity, f_ext, terrain)
        for name in ("imu", "link_forces"):
            results[name] = finite(results[name])
    return tuple(results.values())


def _readings(
    tree: Tree,
    end: Launch,
    finite: Mapping[str, list],
    scene: Scene,
    sensors: Measurements,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    terrain: Terrain | None,
) -> dict[str, list]:
    """Readings of the sensors by name. `finite`: results of the launch, zero if it failed."""
    q, v = end.results["q"], end.results["v"]
    before = end.q_before, end.v_before
    a = mean_acceleration(tree, before, (q, v), scene.dt) if sensors.units else []
    accelerations = imu(tree, q, v, a, gravity, f_ext, frames=sensors.units)
    # Moments are those of the last step, as forces are: its impulses per dt.
    impulses = end.results["impulses"]
    moments = None
    if scene.point_moments:
        moments = [[x * (1.0 / scene.dt) for x in each[3:]] for each in impulses]
    link_forces = link_contact_forces(
        tree,
        q,
        end.results["forces"],
        moments,
        points=scene.points,
        frames=sensors.links,
        reference="local_world_aligned",
        terrain=terrain,
        halfway=[None if x is None else x.margin for x in scene.soft_points],
    )
    flags: list[list] = [
        contact_flags(
            tree, finite["forces"], points=scene.points, links=each, threshold=sensors.threshold
        )
        for each in (None, sensors.links)
    ]
    readings: dict[str, list] = {
        "imu": accelerations,
        "contacts": flags[0],
        "link_forces": link_forces,
        "link_contacts": flags[1],
    }
    if scene.pairs:
        of_pairs = pair_flags(finite["pair_forces"], sensors.threshold)
        readings |= _of_pairs(tree, end, readings, of_pairs, scene, sensors.links)
    return readings


def _of_pairs(
    tree: Tree,
    end: Launch,
    readings: Mapping[str, list],
    flags: list,
    scene: Scene,
    links: Sequence[str],
) -> dict[str, list]:
    """Readings with the contacts of pairs. `readings`: of the ground alone. `flags`: of pairs."""
    if not links:
        return {"pair_contacts": flags}
    wrenches = [[x * (1.0 / scene.dt) for x in each] for each in end.results["pair_impulses"]]
    contacts = PairContacts(scene.pairs, wrenches, end.positions)
    more = pair_forces_on_links(tree, end.q_before, contacts, links)
    return {
        "link_forces": [
            [x + dx for x, dx in zip(*each, strict=True)]
            for each in zip(readings["link_forces"], more, strict=True)
        ],
        "link_contacts": with_flags_of_pairs(readings["link_contacts"], flags, scene.pairs, links),
        "pair_contacts": flags,
    }


def _one_later(time: Scalar, seconds: float) -> Scalar:
    """The time after one more launch. The number of launches times `seconds` accumulates no
    rounding."""
    return (floor(time * (1.0 / seconds) + 0.5) + 1.0) * seconds
