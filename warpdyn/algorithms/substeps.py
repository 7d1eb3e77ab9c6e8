"""A launch of a simulation: steps one after the other, and what stays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar, absolute, repeat, select_less
from ..model.tree import Tree
from .compliant_contact import Surface
from .contact_rows import free_base
from .implicit_forces import Drive
from .semi_implicit_step import Scene, StepState, semi_implicit_step
from .uneven_ground import terrain_of

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
    named = dict(zip(scene.arrays, more, strict=True))
    drive = Drive(*(named[n] for n in Drive._fields)) if "targets" in named else None
    surface = (
        Surface(named["friction"], *(named[n][0] for n in ("stiffness", "dissipation", "push_out")))
        if scene.points
        else None
    )
    terrain = terrain_of(named)
    nq, nv, count = tree.nq, tree.nv, len(scene.points)
    warm = [x for point in named.get("impulses", [[0.0] * 3] * count) for x in point]

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = StepState(numbers[:nq], numbers[nq : nq + nv], numbers[nq + nv : len(numbers) - nv])
        after, applied = semi_implicit_step(
            tree, state, tau, drive, surface, terrain, scene, gravity, f_ext
        )
        total = numbers[len(numbers) - nv :]
        return [
            *(x for part in after for x in part),
            *(t + x for t, x in zip(total, applied, strict=True)),
        ]

    begin = [*q, *v, *warm, *([0.0] * nv)]
    end = step(begin) if scene.substeps == 1 else repeat(step, begin, scene.substeps)
    impulses = [end[nq + nv + 3 * n : nq + nv + 3 * n + 3] for n in range(count)]
    forces = [[x * (1.0 / scene.dt) for x in each] for each in impulses]
    first = 6 if free_base(tree) else 0
    torques = [
        t + x * (1.0 / scene.substeps) for t, x in zip(tau, end[len(end) - nv :], strict=True)
    ][first:]
    return end[:nq], end[nq : nq + nv], impulses, forces, torques


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
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, list, list, list, list, list, list]:
    """`substeps`, the time since the beginning [s], and how often it failed: a state that is
    not finite becomes `start` (nq), at rest, and counts."""
    q, v, impulses, forces, torques = substeps(
        tree, q, v, tau, *more, scene=scene, gravity=gravity, f_ext=f_ext
    )
    size: Scalar = 0.0
    for x in (*q, *v):
        size = size + absolute(x)

    def if_finite(x: Scalar, otherwise: Scalar) -> Scalar:
        return select_less(size, INFINITE, x, otherwise)

    def kept(rows: list) -> list:
        return [[if_finite(x, 0.0) for x in row] for row in rows]

    return (
        [if_finite(x, y) for x, y in zip(q, start, strict=True)],
        [if_finite(x, 0.0) for x in v],
        kept(impulses),
        kept(forces),
        kept([torques])[0],
        [if_finite(time[0] + scene.dt * scene.substeps, 0.0)],
        [failures[0] + if_finite(0.0, 1.0)],
    )
