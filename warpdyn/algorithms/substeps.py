"""A launch of a simulation: steps one after the other, and what stays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..algebra.scalar import Scalar, absolute, repeat, select_less
from ..model.tree import Tree
from .compliant_contact import Surface
from .contact_rows import free_base
from .implicit_forces import Drive
from .imu import imu, mean_acceleration
from .link_contact_forces import contact_flags, link_contact_forces
from .semi_implicit_step import Scene, StepState, semi_implicit_step

INFINITE = float("inf")
"""What every finite number is less than."""


def substeps(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *more: Sequence,
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, list, list, list, list]:
    """Configuration, velocity, impulses, contact forces and torques after `scene.substeps` steps.

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s].  Forces on the points in the world's
    axes, of the last step: 3 each [N].  Torques: of tau and drives on all coordinates but a free
    base's, mean over the steps.
    """
    whole = _launched(tree, q, v, tau, more, scene, gravity, f_ext, keep=False)
    return whole.q, whole.v, whole.impulses, whole.forces, whole.torques


class Launch(NamedTuple):
    """What a launch leads to; and the state before its last step, where that is kept."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[list[Scalar]]
    forces: list[list[Scalar]]
    torques: list[Scalar]
    before: tuple[list[Scalar], list[Scalar]]


def _launched(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    more: Sequence[Sequence],
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    keep: bool,
) -> Launch:
    """The steps of a launch, in a loop; `keep`: with the state before the last."""
    named = dict(zip(scene.arrays, more, strict=True))
    drive = Drive(*(named[n] for n in Drive._fields)) if "targets" in named else None
    surface = (
        Surface(named["friction"], *(named[n][0] for n in ("stiffness", "dissipation", "push_out")))
        if scene.points
        else None
    )
    nq, nv, count = tree.nq, tree.nv, len(scene.points)
    warm = [x for point in named.get("impulses", [[0.0] * 3] * count) for x in point]

    sums = nq + nv + len(warm)

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = StepState(numbers[:nq], numbers[nq : nq + nv], numbers[nq + nv : sums])
        after, applied = semi_implicit_step(tree, state, tau, drive, surface, scene, gravity, f_ext)
        return [
            *(x for part in after for x in part),
            *(t + x for t, x in zip(numbers[sums : sums + nv], applied, strict=True)),
            *(numbers[: nq + nv] if keep else ()),
        ]

    begin = [*q, *v, *warm, *([0.0] * nv), *((*q, *v) if keep else ())]
    end = step(begin) if scene.substeps == 1 else repeat(step, begin, scene.substeps)
    impulses = [end[nq + nv + 3 * n : nq + nv + 3 * n + 3] for n in range(count)]
    forces = [[x * (1.0 / scene.dt) for x in each] for each in impulses]
    first = 6 if free_base(tree) else 0
    torques = [
        t + x * (1.0 / scene.substeps) for t, x in zip(tau, end[sums : sums + nv], strict=True)
    ][first:]
    kept = end[sums + nv :]
    before = (kept[:nq], kept[nq:])
    return Launch(end[:nq], end[nq : nq + nv], impulses, forces, torques, before)


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
    sensors: tuple[tuple[str, ...], tuple[str, ...], float] | None,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, ...]:
    """`substeps`, the time since the beginning [s], and how often it failed: a state that is
    not finite becomes `start` (nq), at rest, and counts.

    sensors: links with an IMU, links whose contact forces are summed up, and the force from which
    one is touched; then what they measure follows: IMUs, points touched, forces, links touched.
    """
    units = sensors[0] if sensors is not None else ()
    q, v, impulses, forces, torques, before = _launched(
        tree, q, v, tau, more, scene, gravity, f_ext, keep=bool(units)
    )
    a = mean_acceleration(tree, before, (q, v), scene.dt) if units else []
    size: Scalar = 0.0
    for x in (*q, *v):
        size = size + absolute(x)

    def if_finite(x: Scalar, otherwise: Scalar) -> Scalar:
        return select_less(size, INFINITE, x, otherwise)

    def kept(rows: list) -> list:
        return [[if_finite(x, 0.0) for x in row] for row in rows]

    pressed = kept(forces)
    results = (
        [if_finite(x, y) for x, y in zip(q, start, strict=True)],
        [if_finite(x, 0.0) for x in v],
        kept(impulses),
        pressed,
        kept([torques])[0],
        [if_finite(time[0] + scene.dt * scene.substeps, 0.0)],
        [failures[0] + if_finite(0.0, 1.0)],
    )
    if sensors is None:
        return results
    links, threshold = sensors[1:]
    readings = imu(tree, q, v, a, gravity, f_ext, frames=units)
    by_link = link_contact_forces(
        tree, q, forces, points=scene.points, frames=links, reference="local_world_aligned"
    )
    touched = [
        contact_flags(tree, pressed, points=scene.points, links=each, threshold=threshold)
        for each in (None, links)
    ]
    return (*results, kept(readings), touched[0], kept(by_link), touched[1])
