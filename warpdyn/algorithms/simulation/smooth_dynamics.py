"""A robot's motion as a differential equation: drives, joint effects and soft contacts as explicit
forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar
from ...model.tree import Tree
from ..aba import aba, forward_dynamics_crba
from ..closed_loops.loop_dynamics import loop_dynamics
from .contact_rows import ContactPoint
from .implicit_forces import Drive, drive_forces
from .soft_contact import SoftSurface, soft_forces
from .uneven_ground import Terrain, terrain_of

FEW_COORDINATES = 30
"""Number of coordinates up to which the factorised mass matrix is the shorter program: a
quadruped's 18 take 3,800 operations compared with 4,285 of articulated bodies, a humanoid's 35 take
14,070 compared with 12,736."""


class SmoothRates(NamedTuple):
    """Rates of a state's velocity, nv, and of its points' deformations, 3 each; with the forces of
    the ground on the points, 3 each [N], of the drives, nv, and of closed loops, 6 each [N, N·m]."""

    acceleration: list[Scalar]
    deformation: list[Scalar]
    forces: list[Scalar]
    driven: list[Scalar]
    loops: list[Scalar]


def smooth_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    deformation: Sequence[Scalar],
    tau: Sequence[Scalar],
    drive: Drive | None,
    surface: SoftSurface | None,
    terrain: Terrain | None,
    points: Sequence[ContactPoint],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> SmoothRates:
    """The rates at a state: a = M⁻¹ (tau + drives + Jᵀ f - bias - effects), f also of closed loops."""
    driven: list[Scalar] = [0.0] * tree.nv
    for k, torque, *_ in drive_forces(tree, q, v, drive) if drive is not None else ():
        driven[k] = torque
    total = [t + x for t, x in zip(tau, driven, strict=True)]
    rates: list[Scalar] = []
    forces: list[Scalar] = []
    if surface is not None:
        forces, rates, pushed = soft_forces(tree, q, v, deformation, points, surface, terrain)
        total = [t + x for t, x in zip(total, pushed, strict=True)]
    if tree.loops:
        a, of_loops = loop_dynamics(tree, q, v, total, gravity, f_ext)
        return SmoothRates(a, rates, forces, driven, [x for each in of_loops for x in each])
    forward_dynamics = forward_dynamics_crba if tree.nv <= FEW_COORDINATES else aba
    a = forward_dynamics(tree, q, v, total, gravity, f_ext)
    return SmoothRates(a, rates, forces, driven, [])


def state_derivative(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *more: Sequence,
    arrays: Sequence[str],
    points: Sequence[ContactPoint],
    exponents: tuple[float, float],
    baumgarte: float,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[Scalar], list[list[Scalar]], list[list[Scalar]]]:
    """Rates of q (nq), v (nv) and of each point's deformation (3), and the force on each point.

    `arrays`: names of the inputs after tau, as in a `Scene`.
    """
    named = dict(zip(arrays, more, strict=True))
    drive, surface = drive_of(named), soft_surface_of(named, exponents)
    count = len(points)
    strained = [x for point in named.get("deformation", [[0.0] * 3] * count) for x in point]
    terrain = terrain_of(named)
    rates = smooth_dynamics(
        tree, q, v, strained, tau, drive, surface, terrain, points, gravity, f_ext
    )
    each = [slice(3 * n, 3 * n + 3) for n in range(count)]
    return (
        tree.rate(q, v, baumgarte),
        rates.acceleration,
        [rates.deformation[point] for point in each],
        [rates.forces[point] for point in each],
    )


def drive_of(named: Mapping[str, Sequence]) -> Drive | None:
    """The drives from a program's arrays; None if it has none."""
    if "targets" not in named:
        return None
    return Drive(**{name: named[name] for name in Drive._fields if name in named})


def soft_surface_of(
    named: Mapping[str, Sequence], exponents: tuple[float, float]
) -> SoftSurface | None:
    """The soft ground from a program's arrays; None if it has none."""
    if "damping" not in named:
        return None
    stiffness, damping = (named[n][0] for n in ("stiffness", "damping"))
    return SoftSurface(named["friction"], stiffness, damping, *exponents)
