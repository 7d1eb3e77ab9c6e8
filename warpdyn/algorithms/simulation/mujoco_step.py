"""One step of a simulation as MuJoCo takes it, by its Euler or Runge-Kutta method.

MuJoCo's documentation, Computation, "Numerical integration" and "Constraint model": constraints give
accelerations, which depend on the configuration and the velocity alone. Here they solve

    M a = tau - bias - effects + Jᵀ f(q, v)

with all joint effects at the present state, and are integrated by h seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...algebra.linear import factorise
from ...algebra.quaternions import quaternion_exp, quaternion_rotation
from ...algebra.rotations import Rotation
from ...algebra.row_arrays import loop
from ...algebra.scalar import Scalar, is_zero, repeat
from ...algebra.spatial import Vector
from ...model.tree import Tree
from ..crba import crba
from ..manifold import integrate, tangent_rate
from ..passive_forces import (
    passive_force_derivatives,
    passive_forces,
    without_dry_friction,
    without_passive_forces,
)
from ..rnea import rnea
from .constraint_sweeps import sparse_dot
from .contact_rows import free_roots
from .explicit_step import STAGES, of_stage
from .implicit_forces import drive_forces
from .scene import AppliedForces, Contacts, Scene, StepState
from .semi_implicit_step import Impulses, constrained_velocities

METHODS = ("mujoco_euler", "mujoco_rk4")
"""Integrators of this module."""


class ForcedMotion(NamedTuple):
    """Effects of the forces at a state: the mass matrix, the velocity after h seconds of the present
    acceleration, nv, forces of drives, nv, and the constraints' impulses."""

    H: list[list[Scalar]]
    after: list[Scalar]
    driven: list[Scalar]
    impulses: Impulses


Motion = Callable[[StepState], ForcedMotion]
"""The motion by all forces of a state."""


def mujoco_step(
    tree: Tree, state: StepState, applied: AppliedForces, contacts: Contacts, scene: Scene
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """The state after h = `scene.dt` seconds; the forces that the drives applied: nv, zero without
    drives; no forces of soft ground. Impulses are those of the last stage times h."""

    def motion(here: StepState) -> ForcedMotion:
        return _motion(tree, here, applied, contacts, scene)

    step = _euler_step if scene.integrator == "mujoco_euler" else _runge_kutta_step
    return step(tree, state, motion, contacts, scene)


def _euler_step(
    tree: Tree, state: StepState, motion: Motion, contacts: Contacts, scene: Scene
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """Semi-implicit Euler. Damping of joints is implicit, and constraints are computed without it.

    (M + h D) (v+ - v) = h (tau - bias - effects + Jᵀ f),    q+ = q ⊕ h v+
    """
    found = motion(state)
    after, h = found.after, scene.dt
    H = [list(row) for row in found.H]
    damped = False
    for k, _, by_v in passive_force_derivatives(without_dry_friction(tree), state.q, state.v):
        H[k][k] = H[k][k] + by_v * h
        damped = damped or not is_zero(by_v)
    if damped:
        change = [x - y for x, y in zip(found.after, state.v, strict=True)]
        total = [sparse_dot(row, change) for row in found.H]
        change = factorise(H).inverse_times(total)
        after = [x + dx for x, dx in zip(state.v, change, strict=True)]
    u = [x * h for x in after]
    free = FreeTurns.by(tree, u)
    reached = free.reach(tree, state.q, u)
    return _next_state(reached, free.to_new_axes(after), found.impulses), found.driven, []


class FreeTurns(NamedTuple):
    """Turns of free bodies since the beginning of a step, and the places of these bodies in q and v.

    Within a step the linear velocities and displacements of free bodies are in the axes that the bodies
    have at its beginning, which are fixed in the world: a free body moves straight there, and turns by
    the exponential of its rotation vector. Unlike `base_step` this does not keep angular momentum.
    """

    columns: Sequence[tuple[Sequence[int], int]]
    turns: Sequence[Rotation]

    @classmethod
    def by(cls, tree: Tree, u: Sequence[Scalar]) -> FreeTurns:
        """After the tangent step u, nv."""
        bodies = [tree.bodies[i] for i in free_roots(tree)]
        columns = [(body.q_index, body.v_index[0]) for body in bodies]
        turns = [quaternion_rotation(quaternion_exp(u[k + 3 : k + 6])) for _, k in columns]
        return cls(columns, turns)

    def reach(self, tree: Tree, q: Sequence[Scalar], u: Sequence[Scalar]) -> list[Scalar]:
        """The configuration q ⊕ u, nq, whose free bodies have moved straight."""
        reached = integrate(tree, q, u)
        for place, k in self.columns:
            *origin, x, y, z, w = (q[n] for n in place)
            away = quaternion_rotation([x, y, z, w]).to_parent(Vector(*u[k : k + 3]))
            for n, coordinate in zip(place, Vector(*origin) + away, strict=False):
                reached[n] = coordinate
        return reached

    def to_new_axes(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Velocities with the linear ones of free bodies turned into the new axes, nv."""
        turned = list(v)
        for (_, k), turn in zip(self.columns, self.turns, strict=True):
            turned[k : k + 3] = turn.to_child(Vector(*v[k : k + 3]))
        return turned

    def to_old_axes(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The inverse of `to_new_axes`."""
        turned = list(v)
        for (_, k), turn in zip(self.columns, self.turns, strict=True):
            turned[k : k + 3] = turn.to_parent(Vector(*v[k : k + 3]))
        return turned

    def rate(self, tree: Tree, u: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """The rate of the tangent step u at the velocity v in the old axes, nv."""
        rate = tangent_rate(tree, u, v)
        for _, k in self.columns:
            rate[k : k + 3] = v[k : k + 3]
        return rate


def _runge_kutta_step(
    tree: Tree, state: StepState, motion: Motion, contacts: Contacts, scene: Scene
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """The classical method of order 4 on the configuration's manifold, as in `explicit_step`. Each stage
    solves the constraints anew, beginning with the forces of the stage before."""
    q, v = state.q, state.v
    reaches, weights = STAGES["rk4"]
    nv, h, slopes = tree.nv, scene.dt, 2 * tree.nv
    handed_on = [state.impulses, state.joint_impulses, state.pairs_left_out]
    lengths = [slopes, *map(len, handed_on), slopes + nv]

    def stage(numbers: list[Scalar]) -> list[Scalar]:
        number = numbers[0]
        last, on_points, on_joints, left_out, mean = _parts(numbers[1:], lengths)
        share = of_stage(number, reaches) * h
        u = [x * share for x in last[:nv]]
        fast = [x + dx * share for x, dx in zip(v, last[nv:], strict=True)]
        free = FreeTurns.by(tree, u)
        seen = free.to_new_axes(fast)
        here = StepState(free.reach(tree, q, u), seen, on_points, on_joints, [], left_out)
        found = motion(here)
        acceleration = [(x - y) * (1.0 / h) for x, y in zip(found.after, seen, strict=True)]
        slope = [*free.rate(tree, u, fast), *free.to_old_axes(acceleration)]
        weight = of_stage(number, weights)
        terms = [*slope, *found.driven]
        mean = [m + x * weight for m, x in zip(mean, terms, strict=True)]
        impulses = found.impulses
        after = [*impulses.ground, *impulses.joints, *impulses.pairs_left_out]
        return [number + 1.0, *slope, *after, *mean]

    # The stages are a loop, so that the program contains the dynamics once, not once per stage.
    begin: list[Scalar] = [0.0] * (1 + slopes)
    begin += [x for part in handed_on for x in part]
    begin += [0.0] * (slopes + nv)
    arrays = [array for each in contacts.memory for array in each.arrays]
    if arrays:
        end = loop(len(reaches), lambda _, numbers, __: stage(numbers), begin, arrays)
    else:
        end = repeat(stage, begin, len(reaches))
    _, on_points, on_joints, left_out, mean = _parts(end[1:], lengths)
    u = [x * h for x in mean[:nv]]
    fast = [x + dx * h for x, dx in zip(v, mean[nv:slopes], strict=True)]
    free = FreeTurns.by(tree, u)
    after = StepState(
        free.reach(tree, q, u), free.to_new_axes(fast), on_points, on_joints, [], left_out
    )
    return after, mean[slopes:], []


def _motion(
    tree: Tree, state: StepState, applied: AppliedForces, contacts: Contacts, scene: Scene
) -> ForcedMotion:
    """The motion by all forces of a state. The acceleration of free bodies is that of their origins, in
    axes that do not turn."""
    q, v, h = state.q, state.v, scene.dt
    tau, drive, gravity, f_ext = applied
    at_rest: list[Scalar] = [0.0] * tree.nv
    for first, product in _products(tree, v):
        at_rest[first : first + 3] = -product
    bias = rnea(without_passive_forces(tree), q, v, at_rest, gravity, f_ext)
    H = [list(row) for row in crba(tree, q)]
    taken = passive_forces(without_dry_friction(tree), q, v, gravity)
    driven: list[Scalar] = [0.0] * tree.nv
    for k, torque, *_ in drive_forces(tree, q, v, drive) if drive is not None else ():
        driven[k] = torque
    push = [(t + d - b - e) * h for t, d, b, e in zip(tau, driven, bias, taken, strict=True)]
    mass = factorise(H)
    free = [x + dx for x, dx in zip(v, mass.inverse_times(push), strict=True)]
    after, impulses = constrained_velocities(tree, state, mass, free, contacts, scene, None)
    return ForcedMotion(H, after, driven, impulses)


def _products(tree: Tree, v: Sequence[Scalar]) -> list[tuple[int, Vector]]:
    """The first coordinate and ω × v of each free body."""
    firsts = [tree.bodies[i].v_index[0] for i in free_roots(tree)]
    return [(k, Vector(*v[k + 3 : k + 6]).cross(Vector(*v[k : k + 3]))) for k in firsts]


def _next_state(q: list[Scalar], v: list[Scalar], impulses: Impulses) -> StepState:
    """The state with the impulses of the last constraints."""
    return StepState(q, v, impulses.ground, *impulses[1:])


def _parts(numbers: Sequence[Scalar], lengths: Sequence[int]) -> list[list[Scalar]]:
    """The numbers, cut into parts of these lengths."""
    rest = iter(numbers)
    return [[next(rest) for _ in range(n)] for n in lengths]
