"""Joint forces that a step takes implicitly: drives, stops, and the guard of joint speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less, select_less_equal
from ...model.tree import Tree
from .contact_rows import joint_coordinates

SMALL_TORQUE = 1e-6
"""Torque below which an effort limit has no effect [N m]."""

LARGE_EFFORT = 1e9
"""Effort that stands for an infinite one, whose derivatives would be NaN [N m]."""

GUARD = 1.0
"""Damping above a joint's speed limit, times step over inertia: each step halves the excess."""


class ImplicitForce(NamedTuple):
    """A force on a coordinate of v, with its derivatives by -q and -v, which are not negative."""

    v_index: int
    force: Scalar
    by_q: Scalar
    by_v: Scalar


class Drive(NamedTuple):
    """Proportional-derivative drives of all coordinates except those of free bodies.

    `targets` [m, rad], gains `kp`, `kd`, and the largest force or torque that each may apply.
    Optional: `strength`, the share of the torque that a motor delivers; and the speed-torque curve,
    from `stall_effort` (None: the effort) at rest to zero at `no_load_speed` [rad/s, m/s].
    """

    targets: Sequence[Scalar]
    kp: Sequence[Scalar]
    kd: Sequence[Scalar]
    effort: Sequence[Scalar]
    strength: Sequence[Scalar] | None = None
    no_load_speed: Sequence[Scalar] | None = None
    stall_effort: Sequence[Scalar] | None = None


class Stop(NamedTuple):
    """A joint's limits as an implicit spring: coordinates in v and q, bounds, stiffness, and the
    distance beyond a limit up to which the force still grows."""

    v_index: int
    q_index: int
    lower: float
    upper: float
    stiffness: float
    reach: float


def drive_forces(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], drive: Drive
) -> list[ImplicitForce]:
    """Forces of drives. If the effort is bounded, both gains are scaled by the same share, which
    keeps the implicit step consistent."""
    driven = joint_coordinates(tree)
    place = {
        k: at
        for body in tree.independent_bodies
        if len(body.q_index) == len(body.v_index)
        for k, at in zip(body.v_index, body.q_index, strict=True)
    }
    forces = []
    for j, (k, target, kp, kd, effort) in enumerate(
        zip(driven, drive.targets, drive.kp, drive.kd, drive.effort, strict=True)
    ):
        if k not in place:  # a ball joint, whose gains are zero
            continue
        torque = (target - q[place[k]]) * kp - v[k] * kd
        bound = minimum(effort, LARGE_EFFORT)
        fall: Scalar = 0.0
        if drive.no_load_speed is not None:
            stall = effort if drive.stall_effort is None else drive.stall_effort[j]
            bound, fall = _on_curve(torque, v[k], bound, stall, drive.no_load_speed[j])
        share = minimum(bound / maximum(absolute(torque), SMALL_TORQUE), 1.0)
        force = ImplicitForce(k, torque * share, kp * share, kd * share + fall)
        if drive.strength is not None:
            force = ImplicitForce(k, *(x * drive.strength[j] for x in force[1:]))
        forces.append(force)
    return forces


def _on_curve(
    torque: Scalar, v: Scalar, effort: Scalar, stall: Scalar, no_load_speed: Scalar
) -> tuple[Scalar, Scalar]:
    """The bound of a torque at a speed, and its slope by the speed if the torque is at the bound:
    stall (1 - v / no-load speed) in the torque's direction, between 0 and the effort."""
    stall = minimum(stall, LARGE_EFFORT)
    slope = stall / minimum(no_load_speed, LARGE_EFFORT)
    line = stall - select_less(torque, 0.0, -v, v) * slope
    bound = maximum(minimum(line, effort), 0.0)
    falls = select_less_equal(line, effort, select_less(0.0, line, slope, 0.0), 0.0)
    return bound, select_less(bound, absolute(torque), falls, 0.0)


def stop_forces(q: Sequence[Scalar], stops: Sequence[Stop]) -> list[ImplicitForce]:
    """Forces of stops beyond their limits. A joint far beyond its limit returns at the speed reach
    / h, not at once."""
    forces = []
    for stop in stops:
        x = q[stop.q_index]
        beyond = minimum(x - stop.lower, 0.0) + maximum(x - stop.upper, 0.0)
        pressed = maximum(minimum(beyond, stop.reach), -stop.reach)
        by_q = select_less(0.0, absolute(beyond), stop.stiffness, 0.0)
        forces.append(ImplicitForce(stop.v_index, -by_q * pressed, by_q, 0.0))
    return forces


def guard_forces(
    v: Sequence[Scalar],
    speed_limits: Sequence[tuple[int, float]],
    inertia: Mapping[int, Scalar],
    h: float,
) -> list[ImplicitForce]:
    """Damping above speed limits. Products of velocities, which are not implicit, would otherwise
    grow from step to step. `inertia`: diagonal of the mass matrix."""
    forces = []
    for k, limit in speed_limits:
        damping = select_less(limit, absolute(v[k]), inertia[k] * (GUARD / h), 0.0)
        excess = v[k] - maximum(minimum(v[k], limit), -limit)
        forces.append(ImplicitForce(k, -damping * excess, 0.0, damping))
    return forces
