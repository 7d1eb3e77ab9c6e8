"""One step of a simulation: semi-implicit Euler with implicit joint effects, drives and contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..algebra.linear import factorise
from ..algebra.scalar import Scalar, maximum, minimum
from ..algebra.spatial import Vector
from ..model.tree import Tree
from .compliant_contact import Surface, contact_impulses
from .contact_rows import ContactPoint, contact_rows, free_base
from .crba import crba
from .implicit_forces import Drive, ImplicitForce, Stop, drive_forces, guard_forces, stop_forces
from .passive_forces import (
    passive_force_derivatives,
    passive_forces,
    without_passive_forces,
)
from .rnea import rnea
from .soft_contact import SoftSurface, soft_forces
from .step_along import step_along

SPIN = (3, 4, 5)
"""Coordinates of a free base's angular velocity."""

LARGEST_TURN = 0.25
"""What a base may turn in a step, about each axis, for its gyroscopic forces to be taken whole
[rad]: beyond it an explicit step would feed on them."""


class StepState(NamedTuple):
    """Configuration, velocity, and what contacts hand on: the impulses of the last step [N s]; on
    soft ground the deformations [m]."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[Scalar]


class Scene(NamedTuple):
    """What of a simulation is constant: a part of the program.

    `arrays`: names of the inputs after q, v and tau: "impulses", those of `Surface`, those of
    `Drive`. `guarded`: products of velocities are bounded; `speed_limits`: of coordinates that have
    one [rad/s, m/s], beyond which they are damped too. `stops`: of joints without springs of their
    own. `exponents`: p and q of soft ground.
    """

    arrays: tuple[str, ...]
    points: tuple[ContactPoint, ...]
    guarded: bool
    speed_limits: tuple[tuple[int, float], ...]
    stops: tuple[Stop, ...]
    dt: float
    substeps: int
    sweeps: int
    integrator: str = "semi_implicit"
    exponents: tuple[float, float] = (0.5, 0.5)


def semi_implicit_step(
    tree: Tree,
    state: StepState,
    tau: Sequence[Scalar],
    drive: Drive | None,
    surface: Surface | None,
    soft: SoftSurface | None,
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """The state after h = `scene.dt` seconds; what the drives applied: nv, zero without; and the
    forces of soft ground on the points, 3 each [N].

        M^ v_free = M^ v + h (tau - bias - effects),   M^ = M + diag(h b + h² k)
        v+ = v_free + M^⁻¹ Jᵀ l,    q+ = q ⊕ h v+

    with b and k the slopes of joint effects and drives by v and q, which makes them implicit. The
    base's acceleration in the bias is -ω × v: then v_free, J and v+ are in the axes that the base
    has at the beginning, fixed in the world, and a single body flies straight; after the step the
    twist is turned into the new axes.
    """
    q, v, warm = state
    h = scene.dt
    at_rest: list[Scalar] = [0.0] * tree.nv
    seen = _bounded(tree, v, scene)
    if free_base(tree):
        at_rest[:3] = -(Vector(*seen[3:6]).cross(Vector(*seen[:3])))
    bias = rnea(without_passive_forces(tree), q, seen, at_rest, gravity, f_ext)
    H = [list(row) for row in crba(tree, q)]
    push = [t - b - e for t, b, e in zip(tau, bias, passive_forces(tree, q, v), strict=True)]
    inertia = {k: H[k][k] for k, _ in scene.speed_limits}
    driven = drive_forces(tree, q, v, drive) if drive is not None else []
    guards = guard_forces(v, scene.speed_limits, inertia, h)
    passive = [ImplicitForce(k, 0.0, *by) for k, *by in passive_force_derivatives(tree, q, v)]
    for k, force, by_q, by_v in (*guards, *passive, *stop_forces(q, scene.stops), *driven):
        H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
        push[k] = push[k] + force - by_q * v[k] * h
    handed_on: list[Scalar] = []
    forces: list[Scalar] = []
    if soft is not None:
        forces, rates, pushed = soft_forces(tree, q, v, warm, scene.points, soft)
        handed_on = [m + x * h for m, x in zip(warm, rates, strict=True)]
        push = [p + x for p, x in zip(push, pushed, strict=True)]
    mass = factorise(H)
    after = [x + dx for x, dx in zip(v, mass.inverse_times([p * h for p in push]), strict=True)]
    if surface is not None:
        contacts, rows = contact_rows(tree, q, scene.points)
        handed_on, after = contact_impulses(
            mass, rows, contacts, after, warm, surface, h, scene.sweeps
        )
    applied: list[Scalar] = [0.0] * tree.nv
    for k, torque, by_q, by_v in driven:
        applied[k] = torque - by_q * (after[k] * h) - by_v * (after[k] - v[k])
    return StepState(*step_along(tree, q, after, h), handed_on), applied, forces


def _bounded(tree: Tree, v: Sequence[Scalar], scene: Scene) -> list[Scalar]:
    """Velocities at which products of velocities are taken: none beyond its limit."""
    bounds = dict(scene.speed_limits)
    if scene.guarded and free_base(tree):
        bounds |= dict.fromkeys(SPIN, LARGEST_TURN / scene.dt)
    return [
        maximum(minimum(x, bounds[k]), -bounds[k]) if k in bounds else x for k, x in enumerate(v)
    ]
