"""A launch of a simulation: steps one after the other, and what stays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar, absolute, repeat, select_less
from ..model.tree import Tree
from .compliant_contact import Surface
from .contact_rows import free_base
from .explicit_step import explicit_step
from .semi_implicit_step import Scene, StepState, semi_implicit_step
from .smooth_dynamics import drive_of, soft_surface_of

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

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s]; on soft ground deformations [m].  Forces
    on the points in the world's axes, 3 each [N]: of the last step; where it is explicit, the mean
    of its stages.  Torques: of tau and drives on all coordinates but a free base's, mean over the
    steps.
    """
    named = dict(zip(scene.arrays, more, strict=True))
    drive = drive_of(named)
    soft = soft_surface_of(named, scene.exponents)
    surface = _compliant(named)
    nq, nv, count = tree.nq, tree.nv, len(scene.points)
    before = named.get("deformation" if soft else "impulses", [[0.0] * 3] * count)
    handed = nq + nv + 3 * count

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = StepState(numbers[:nq], numbers[nq : nq + nv], numbers[nq + nv : handed])
        after, applied, forces = (
            semi_implicit_step(tree, state, tau, drive, surface, soft, scene, gravity, f_ext)
            if scene.integrator == "semi_implicit"
            else explicit_step(tree, state, tau, drive, soft, scene, gravity, f_ext)
        )
        total = numbers[handed : handed + nv]
        return [
            *(x for part in after for x in part),
            *(t + x for t, x in zip(total, applied, strict=True)),
            *forces,
        ]

    on_points = [0.0] * (3 * count if soft else 0)
    begin = [*q, *v, *(x for point in before for x in point), *([0.0] * nv), *on_points]
    end = step(begin) if scene.substeps == 1 else repeat(step, begin, scene.substeps)
    impulses = [end[k : k + 3] for k in range(nq + nv, handed, 3)]
    forces = [end[k : k + 3] for k in range(handed + nv, len(end), 3)]
    if not soft:
        forces = [[x * (1.0 / scene.dt) for x in each] for each in impulses]
    first = 6 if free_base(tree) else 0
    torques = [
        t + x * (1.0 / scene.substeps) for t, x in zip(tau, end[handed : handed + nv], strict=True)
    ][first:]
    return end[:nq], end[nq : nq + nv], impulses, forces, torques


def _compliant(named: Mapping[str, Sequence]) -> Surface | None:
    """The compliant ground among a program's arrays, if there is one."""
    if "dissipation" not in named:
        return None
    numbers = (named[n][0] for n in ("stiffness", "dissipation", "push_out"))
    return Surface(named["friction"], *numbers)


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
