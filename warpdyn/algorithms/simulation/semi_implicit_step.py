"""One step of a simulation: semi-implicit Euler with implicit joint effects, drives and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.linear import Factors, factorise
from ...algebra.scalar import Scalar, maximum, minimum
from ...algebra.spatial import Vector
from ...model.tree import Tree
from ..crba import crba
from ..orientation_springs import sprung_bodies
from ..passive_forces import (
    dry_friction,
    passive_force_derivatives,
    passive_forces,
    without_dry_friction,
    without_passive_forces,
)
from ..rnea import rnea
from .compliant_contact import CompliantContact, compliant_contacts
from .constraint_sweeps import Constraint, constraint_impulses, impulses_on_rows, rows_of
from .contact_rows import PointContact, contact_rows, free_roots, in_contact_axes, in_world_axes
from .implicit_forces import ImplicitForce, drive_forces, guard_forces, stop_forces
from .joint_rows import joint_rows, limited_tendons, tendon_rows
from .loop_rows import ClosedMechanism, close_loops
from .pair_slots.slot_sweeps import OtherConstraints, slot_sweeps
from .pyramid_contact import PyramidContact, begin_of_edges, impulses_of_edges, soft_contacts
from .scene import AppliedForces, Contacts, Scene, StepState
from .soft_contact import soft_forces
from .step_along import step_along

LARGEST_TURN = 0.25
"""Largest rotation of a base in a step, about each axis, up to which products of its angular
velocity are not limited [rad]: above it joints would amplify them. (The base itself would not:
`base_step`.)"""


def semi_implicit_step(
    tree: Tree, state: StepState, applied: AppliedForces, contacts: Contacts, scene: Scene
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """The state after h = `scene.dt` seconds; the forces that the drives applied: nv, zero without
    drives; and the forces of soft ground on the points, 3 each [N].

        M^ v_free = M^ v + h (tau - bias - effects),   M^ = M + diag(h b + h² k)
        v+ = v_free + M^⁻¹ Jᵀ l,    q+ = q ⊕ h v+

    with b and k the slopes of joint effects and drives by v and q, which makes them implicit. The
    acceleration of free bodies in the bias is -ω × v: then v_free, J and v+ are in the axes that
    the bodies have at the beginning, fixed in the world, and a single body flies straight. After
    the step the twists are turned into the new axes.
    """
    q, v, h = state.q, state.v, scene.dt
    tau, drive, gravity, f_ext = applied
    at_rest: list[Scalar] = [0.0] * tree.nv
    seen = _clamp_velocities(tree, v, scene)
    for i in free_roots(tree):
        k = tree.bodies[i].v_index[0]
        at_rest[k : k + 3] = -(Vector(*seen[k + 3 : k + 6]).cross(Vector(*seen[k : k + 3])))
    bias = rnea(without_passive_forces(tree), q, seen, at_rest, gravity, f_ext)
    H = [list(row) for row in crba(tree, q)]
    smooth = without_dry_friction(tree)
    taken = passive_forces(smooth, q, v, gravity)
    push = [t - b - e for t, b, e in zip(tau, bias, taken, strict=True)]
    inertia = {k: H[k][k] for k, _ in scene.speed_limits}
    driven = drive_forces(tree, q, v, drive) if drive is not None else []
    guards = guard_forces(v, scene.speed_limits, inertia, h)
    passive = [ImplicitForce(k, 0.0, *by) for k, *by in passive_force_derivatives(tree, q, v)]
    for body in sprung_bodies(tree):
        by = zip(body.v_index, body.effects, strict=True)
        passive += [ImplicitForce(k, 0.0, effects.spring, 0.0) for k, effects in by]
    # Linearised at the end of the step: a force f - k (q+ - q) - b (v+ - v) with q+ = q + h v+ adds
    # h b + h² k to the diagonal and -h k v to the force.
    for k, force, by_q, by_v in (*guards, *passive, *stop_forces(q, scene.stops), *driven):
        H[k][k] = H[k][k] + (by_v * h + by_q * (h * h))
        push[k] = push[k] + force - by_q * v[k] * h
    handed_on: list[Scalar] = []
    forces: list[Scalar] = []
    if contacts.soft is not None:
        forces, rates, pushed = soft_forces(
            tree, q, v, state.impulses, scene.points, contacts.soft, contacts.terrain
        )
        handed_on = [m + x * h for m, x in zip(state.impulses, rates, strict=True)]
        push = [p + x for p, x in zip(push, pushed, strict=True)]
    closed = close_loops(tree, q, v, H, push, h) if tree.loops else None
    mass: Factors
    if closed is not None:
        mass, after = closed.mass, closed.velocities
    else:
        mass = factorise(H)
        after = [x + dx for x, dx in zip(v, mass.inverse_times([p * h for p in push]), strict=True)]
    after, impulses = constrained_velocities(tree, state, mass, after, contacts, scene, closed)
    if contacts.soft is None:
        handed_on = impulses.ground
    # The drives' forces at the end of the step, where they were applied implicitly.
    by_drives: list[Scalar] = [0.0] * tree.nv
    for k, torque, by_q, by_v in driven:
        by_drives[k] = torque - by_q * (after[k] * h) - by_v * (after[k] - v[k])
    reached = step_along(tree, q, seen, after, H, h)
    next_state = StepState(*reached, handed_on, *impulses[1:])
    return next_state, by_drives, forces


class Impulses(NamedTuple):
    """Impulses of a step [N s, N m s]: of the points on the ground, 3 each in the world's axes, or 6
    with their friction moments, of joint rows, and of closed loops, 6 each; and the number of near
    pairs without a slot so far."""

    ground: list[Scalar]
    joints: list[Scalar]
    loops: list[Scalar]
    pairs_left_out: list[Scalar]


def constrained_velocities(
    tree: Tree,
    state: StepState,
    mass: Factors,
    free: list[Scalar],
    contacts: Contacts,
    scene: Scene,
    closed: ClosedMechanism | None,
) -> tuple[list[Scalar], Impulses]:
    """Velocities after contacts and joint rows, starting from `free` without them, and the impulses
    of each and of closed loops.

    Contacts come last in a sweep. Even after few sweeps none of them pulls, and all are inside the
    cone.
    """
    surface = contacts.surface
    on_ground: list[PointContact] = []
    J: list[list[Scalar]] = []
    if surface is not None:
        margins = [None if x is None else x.margin for x in scene.soft_points]
        on_ground, J = contact_rows(
            tree,
            state.q,
            scene.points,
            contacts.terrain,
            scene.point_moments,
            margins,
            along=[None if x is None else x.along for x in scene.soft_points],
        )
    cables, of_tendons = limited_tendons(tree) if scene.tendon_stops else ([], [])
    J += of_tendons
    J += [[float(k == j) for j in range(tree.nv)] for k in scene.joint_rows]
    touching = contacts.memory
    if not J and not touching:
        return free, Impulses([], [], closed.impulses(()) if closed else [], [])
    rows, friction = rows_of(J, mass), dry_friction(tree)
    on_joints: list[Constraint] = []
    of_cables = scene.tendon_bounds or [None] * len(cables)
    end = len(J) - len(scene.joint_rows)
    on_joints += tendon_rows(rows, end, cables, of_cables, state.q, state.v, scene.dt)
    on_joints += joint_rows(
        rows, scene.joint_rows, friction, scene.bounds, state.q, state.v, scene.dt
    )
    at_points: list[CompliantContact | PyramidContact] = []
    if surface is not None:
        points = compliant_contacts(on_ground, surface, rows, state.v, free, scene.dt)
        at_points = soft_contacts(points, scene.soft_points, rows, state.v, scene.dt)
    # On soft ground there are no contact rows, and `state.impulses` holds deformations.
    before = state.impulses if surface is not None else []
    # Impulses of tendons are not results, and begin with zero in each step.
    begin = begin_of_edges(at_points, in_contact_axes(on_ground, before))
    warm = [*[0.0] * len(cables), *state.joint_impulses], begin
    left_out = state.pairs_left_out
    if not touching:
        constraints = [*on_joints, *at_points]
        impulses, after = constraint_impulses(
            rows, constraints, free, [*warm[0], *warm[1]], scene.sweeps
        )
        reaction = rows.on_coordinates(impulses_on_rows(constraints, impulses, len(J)))
    else:
        # Rebounds of pairs count no speeds beyond the guard's limits: joints would amplify them.
        swept = slot_sweeps(
            tree,
            state.q,
            state.v if contacts.pairs is None else _clamp_velocities(tree, state.v, scene),
            free,
            mass,
            scene.dt,
            touching,
            OtherConstraints(rows, on_joints, at_points, *warm),
            scene.sweeps,
        )
        after, impulses, reaction = swept.v, swept.impulses, swept.reaction
        left_out = [x + swept.left_out for x in left_out]
    of_loops = closed.impulses(reaction) if closed is not None else []
    impulses = impulses[len(cables) :]
    joints = len(scene.joint_rows)
    return after, Impulses(
        ground=in_world_axes(on_ground, impulses_of_edges(at_points, impulses[joints:])),
        joints=impulses[:joints],
        loops=of_loops,
        pairs_left_out=left_out,
    )


def _clamp_velocities(tree: Tree, v: Sequence[Scalar], scene: Scene) -> list[Scalar]:
    """Velocities for products of velocities, each clamped to its limit."""
    bounds = dict(scene.speed_limits)
    if scene.guarded:
        spins = [k for i in free_roots(tree) for k in tree.bodies[i].v_index[3:]]
        bounds |= dict.fromkeys(spins, LARGEST_TURN / scene.dt)
    return [
        maximum(minimum(x, bounds[k]), -bounds[k]) if k in bounds else x for k, x in enumerate(v)
    ]
