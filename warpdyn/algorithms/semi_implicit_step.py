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
from ..algebra.scalar import Scalar, absolute, maximum, minimum, repeat, select_less
from ..algebra.spatial import Vector
from ..model.tree import Tree
from .compliant_contact import Surface, contact_impulses
from .contact_rows import ContactPoint, contact_rows, free_base
from .crba import crba
from .passive_forces import (
    passive_force_derivatives,
    passive_forces,
    without_passive_forces,
)
from .rnea import rnea

SMALL_TORQUE = 1e-6
"""Torque below which a limit need not be looked at [N m]."""

LARGE_EFFORT = 1e9
"""Effort that stands for an infinite one, of which derivatives would not be numbers [N m]."""

INFINITE = float("inf")
"""What every finite number is less than."""

SPIN = (3, 4, 5)
"""Coordinates of a free base's angular velocity."""

LARGEST_TURN = 0.25
"""What a base may turn in a step, about each axis, for its gyroscopic forces to be taken whole
[rad]: beyond it an explicit step would feed on them."""

GUARD = 1.0
"""Damping beyond a joint's speed limit, of its inertia a step: each step halves what is beyond."""


class Drive(NamedTuple):
    """Proportional-derivative drives of all coordinates but a free base's: `targets` [m, rad],
    gains `kp`, `kd`, and the largest force or torque that each may apply."""

    targets: Sequence[Scalar]
    kp: Sequence[Scalar]
    kd: Sequence[Scalar]
    effort: Sequence[Scalar]


class StepState(NamedTuple):
    """Configuration, velocity, and the impulses of the last step's contacts [N s]."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[Scalar]


class Stop(NamedTuple):
    """A joint's limits as an implicit spring: coordinates in v and q, bounds, stiffness, and how far
    beyond a limit it pushes harder still."""

    v_index: int
    q_index: int
    lower: float
    upper: float
    stiffness: float
    reach: float


class Scene(NamedTuple):
    """What of a simulation is constant: a part of the program.

    `arrays`: names of the inputs after q, v and tau: "impulses", those of `Surface`, those of
    `Drive`. `guarded`: products of velocities are bounded; `speed_limits`: of coordinates that have
    one [rad/s, m/s], beyond which they are damped too. `stops`: of joints without springs of their
    own.
    """

    arrays: tuple[str, ...]
    points: tuple[ContactPoint, ...]
    guarded: bool
    speed_limits: tuple[tuple[int, float], ...]
    stops: tuple[Stop, ...]
    dt: float
    substeps: int
    sweeps: int


def semi_implicit_step(
    tree: Tree,
    state: StepState,
    tau: Sequence[Scalar],
    drive: Drive | None,
    surface: Surface | None,
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[StepState, list[Scalar]]:
    """The state after h = `scene.dt` seconds, and what the drives applied: nv, zero without.

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
    for k, limit in scene.speed_limits:
        # Beyond its limit a joint is damped, implicitly. Products of velocities, which are not
        # implicit, would else grow from step to step.
        damping = select_less(limit, absolute(v[k]), H[k][k] * (GUARD / h), 0.0)
        push[k] = push[k] - damping * (v[k] - maximum(minimum(v[k], limit), -limit))
        H[k][k] = H[k][k] + damping * h
    for k, by_q, by_v in passive_force_derivatives(tree, q, v):
        H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
        push[k] = push[k] - by_q * v[k] * h
    for stop in scene.stops:
        k, x = stop.v_index, q[stop.q_index]
        beyond = minimum(x - stop.lower, 0.0) + maximum(x - stop.upper, 0.0)
        # What is far beyond comes back at reach / h, not at once.
        pressed = maximum(minimum(beyond, stop.reach), -stop.reach)
        by_q = select_less(0.0, absolute(beyond), stop.stiffness, 0.0)
        H[k][k] = H[k][k] + by_q * (h * h)
        push[k] = push[k] - by_q * (pressed + v[k] * h)
    driven = _driven(tree, q, v, drive) if drive is not None else []
    for k, torque, by_q, by_v in driven:
        H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
        push[k] = push[k] + torque - by_q * v[k] * h
    mass = factorise(H)
    after = [x + dx for x, dx in zip(v, mass.inverse_times([p * h for p in push]), strict=True)]
    impulses: list[Scalar] = []
    if surface is not None:
        contacts, rows = contact_rows(tree, q, scene.points)
        impulses, after = contact_impulses(
            mass, rows, contacts, after, warm, surface, h, scene.sweeps
        )
    applied: list[Scalar] = [0.0] * tree.nv
    for k, torque, by_q, by_v in driven:
        applied[k] = torque - by_q * (after[k] * h) - by_v * (after[k] - v[k])
    return StepState(*_moved(tree, q, after, h), impulses), applied


def _bounded(tree: Tree, v: Sequence[Scalar], scene: Scene) -> list[Scalar]:
    """Velocities at which products of velocities are taken: none beyond its limit."""
    bounds = dict(scene.speed_limits)
    if scene.guarded and free_base(tree):
        bounds |= dict.fromkeys(SPIN, LARGEST_TURN / scene.dt)
    return [
        maximum(minimum(x, bounds[k]), -bounds[k]) if k in bounds else x for k, x in enumerate(v)
    ]


def _driven(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], drive: Drive
) -> list[tuple[int, Scalar, Scalar, Scalar]]:
    """Coordinate and torque of each drive, with its slopes by -q and -v; where the effort is
    bounded both gains give way by the same share, which keeps the implicit step consistent."""
    first, offset = (6, 1) if free_base(tree) else (0, 0)
    driven = []
    for j, (target, kp, kd, effort) in enumerate(zip(*drive, strict=True)):
        k = first + j
        torque = (target - q[k + offset]) * kp - v[k] * kd
        bound = minimum(effort, LARGE_EFFORT)
        share = minimum(1.0, bound / maximum(absolute(torque), SMALL_TORQUE))
        driven.append((k, torque * share, kp * share, kd * share))
    return driven


def _moved(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], h: float
) -> tuple[list[Scalar], list[Scalar]]:
    """The configuration that h v+ leads to, and v+ in the axes that the base has there.

    A free base moves along h v in the world, not along a screw.
    """
    reached: list[Scalar] = [0.0] * tree.nq
    after = list(v)
    for body in tree.independent_bodies:
        here, rate = [q[k] for k in body.q_index], [v[k] for k in body.v_index]
        if body is tree.bodies[0] and free_base(tree):
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


def simulation_step(
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
    nq, nv, count = tree.nq, tree.nv, len(scene.points)
    warm = [x for point in named.get("impulses", [[0.0] * 3] * count) for x in point]

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = StepState(numbers[:nq], numbers[nq : nq + nv], numbers[nq + nv : len(numbers) - nv])
        after, applied = semi_implicit_step(tree, state, tau, drive, surface, scene, gravity, f_ext)
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
    """`simulation_step`, the time since the beginning [s], and how often it failed: a state that is
    not finite becomes `start` (nq), at rest, and counts."""
    q, v, impulses, forces, torques = simulation_step(
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
