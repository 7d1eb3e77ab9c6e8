"""One step of a simulation: semi-implicit Euler with implicit joint effects, drives and contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..algebra.linear import factorise
from ..algebra.quaternions import (
    normalized,
    quaternion_exp,
    quaternion_product,
    quaternion_rotation,
)
from ..algebra.scalar import Scalar, absolute, maximum, minimum, repeat
from ..algebra.spatial import Vector
from ..model.tree import Tree
from .compliant_contact import Surface, contact_impulses
from .contact_rows import ContactPoint, contact_rows
from .crba import crba
from .passive_forces import (
    passive_force_derivatives,
    passive_forces,
    without_passive_forces,
)
from .rnea import rnea

SMALL_TORQUE = 1e-6
"""Torque below which a limit need not be looked at [N m]."""


class Drive(NamedTuple):
    """Proportional-derivative drives of all coordinates but a free base's: `target` [m, rad], gains
    `kp`, `kd`, and the largest torque that each may apply."""

    target: Sequence[Scalar]
    kp: Sequence[Scalar]
    kd: Sequence[Scalar]
    effort: Sequence[Scalar]


class State(NamedTuple):
    """Configuration, velocity, and the impulses of the last step's contacts [N s]."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[Scalar]


def semi_implicit_step(
    tree: Tree,
    state: State,
    tau: Sequence[Scalar],
    drive: Drive | None,
    points: Sequence[ContactPoint],
    surface: Surface,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    h: float,
    sweeps: int,
) -> State:
    """The state after h seconds.

        M^ v_free = M^ v + h (tau - bias - effects),   M^ = M + diag(h b + h² k)
        v+ = v_free + M^⁻¹ Jᵀ l,    q+ = q ⊕ h v+

    with b and k the slopes of joint effects and drives by v and q, which makes them implicit. The
    base's acceleration in the bias is -ω × v: then v_free, J and v+ are in the axes that the base
    has at the beginning, fixed in the world, and linear momentum is exact; after the step the twist
    is turned into the new axes.
    """
    q, v, warm = state
    nv, free_base = tree.nv, bool(tree.bodies) and tree.bodies[0].kind.name == "floating"
    held = [0.0] * nv
    at_rest: list[Scalar] = [*held]
    if free_base:
        at_rest[:3] = -(Vector(*v[3:6]).cross(Vector(*v[:3])))
    bias = rnea(without_passive_forces(tree), q, v, at_rest, gravity, f_ext)
    H = [list(row) for row in crba(tree, q)]
    push = [t - b - e for t, b, e in zip(tau, bias, passive_forces(tree, q, v), strict=True)]
    for k, by_q, by_v in passive_force_derivatives(tree, q, v):
        H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
        push[k] = push[k] - by_q * v[k] * h
    if drive is not None:
        for k, (torque, by_q, by_v) in _driven(tree, q, v, drive, free_base):
            H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
            push[k] = push[k] + torque - by_q * v[k] * h
    mass = factorise(H)
    free = [x + dx for x, dx in zip(v, mass.inverse_times([p * h for p in push]), strict=True)]
    impulses: list[Scalar] = []
    if points:
        contacts, rows = contact_rows(tree, q, points)
        impulses, free = contact_impulses(mass, rows, contacts, free, warm, surface, h, sweeps)
    return State(*_moved(tree, q, free, h, free_base), impulses)


def _driven(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], drive: Drive, free_base: bool
) -> list[tuple[int, tuple[Scalar, Scalar, Scalar]]]:
    """Torque of each drive, with its slopes by q and v; where the effort is bounded both gains give
    way by the same share, which keeps the implicit step consistent."""
    first, offset = (6, 1) if free_base else (0, 0)
    driven = []
    for j, (target, kp, kd, effort) in enumerate(zip(*drive, strict=True)):
        k = first + j
        torque = (target - q[k + offset]) * kp - v[k] * kd
        share = minimum(1.0, effort / maximum(absolute(torque), SMALL_TORQUE))
        driven.append((k, (torque * share, kp * share, kd * share)))
    return driven


def _moved(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], h: float, free_base: bool
) -> tuple[list[Scalar], list[Scalar]]:
    """The configuration that h v+ leads to, and v+ in the axes that the base has there.

    A free base moves along h v in the world, not along a screw: its momentum is exact then.
    """
    reached: list[Scalar] = [0.0] * tree.nq
    after = list(v)
    for body in tree.independent_bodies:
        here, rate = [q[k] for k in body.q_index], [v[k] for k in body.v_index]
        if free_base and body is tree.bodies[0]:
            turn = quaternion_exp([x * h for x in rate[3:]])
            moved = quaternion_rotation(here[3:]).to_parent(Vector(*rate[:3]))
            there = [
                *(Vector(*here[:3]) + moved * h),
                *normalized(quaternion_product(here[3:], turn)),
            ]
            after[:3] = quaternion_rotation(turn).to_child(Vector(*rate[:3]))
        else:
            there = body.kind.manifold.step(here, [x * h for x in rate])
        for k, x in zip(body.q_index, there, strict=True):
            reached[k] = x
    return reached, after


class Scene(NamedTuple):
    """What of a simulation is constant: a part of the program.

    `arrays`: names of the inputs after q, v and tau: "impulses", those of `Surface`, those of `Drive`.
    """

    arrays: tuple[str, ...]
    points: tuple[ContactPoint, ...]
    dt: float
    substeps: int
    sweeps: int


def simulation_step(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *more: Sequence[Scalar],
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """Configuration, velocity, impulses and contact forces after `scene.substeps` steps.

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s].  Forces on the points in the world's axes,
    of the last step: 3 each [N].
    """
    named = dict(zip(scene.arrays, more, strict=True))
    drive = Drive(*(named[n] for n in Drive._fields)) if "target" in named else None
    surface = Surface(
        named["friction"], *(named[n][0] for n in ("stiffness", "dissipation", "push_out"))
    )
    nq, nv = tree.nq, tree.nv

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = State(numbers[:nq], numbers[nq : nq + nv], numbers[nq + nv :])
        after = semi_implicit_step(
            tree, state, tau, drive, scene.points, surface, gravity, f_ext, scene.dt, scene.sweeps
        )
        return [x for part in after for x in part]

    end = repeat(step, [*q, *v, *named["impulses"]], scene.substeps)
    impulses = end[nq + nv :]
    return end[:nq], end[nq : nq + nv], impulses, [x * (1.0 / scene.dt) for x in impulses]
