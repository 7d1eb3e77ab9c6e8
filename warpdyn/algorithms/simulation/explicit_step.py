"""One step of a simulation by an explicit Runge-Kutta method on the configuration's manifold.

Runge-Kutta of Munthe-Kaas (Iserles, Munthe-Kaas, Nørsett, Zanna, Lie-group methods, Acta Numerica
2000, algorithm 3.2): the unknown is the tangent step u with q(t) = q ⊕ u(t), so that quaternions stay
unit and joints of every kind keep the method's order.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.scalar import Scalar, repeat, select_less
from ...model.tree import Tree
from ..closed_loops.loop_closure import closed_velocities, closing_step
from ..manifold import integrate, tangent_rate
from .loop_rows import RETURN
from .scene import AppliedForces, Contacts, Scene, StepState
from .smooth_dynamics import smooth_dynamics

STAGES = {
    "heun": ((0.0, 1.0), (1 / 2, 1 / 2)),
    "rk4": ((0.0, 1 / 2, 1 / 2, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
"""Coefficients of the methods. c: the distance of each stage along the last stage's slope, as a
fraction of h; b: the weight of each slope in the mean (Hairer, Nørsett, Wanner, Solving Ordinary
Differential Equations I, tables II.1.1 and II.1.2)."""


def explicit_step(
    tree: Tree, state: StepState, applied: AppliedForces, contacts: Contacts, scene: Scene
) -> tuple[StepState, list[Scalar], list[Scalar]]:
    """The state after h = `scene.dt` seconds, whose third part is the points' deformations; the
    forces that the drives applied, nv, and the forces on the points, 3 each: weighted means of the
    stages.

        k_i = (tangent_rate(u_i, v_i), a_i, m'_i)  at  (q ⊕ u_i, v + h c_i a_(i-1), m + h c_i m'_(i-1)),
        u_i = h c_i k_(i-1);    q+ = q ⊕ h Σ b_i k_i,   v+ = v + h Σ b_i a_i,   m+ = m + h Σ b_i m'_i

    A last step closes the loops of q+ again, at `RETURN` at most, and then those of v+. Both are of
    the method's error.
    """
    q, v, deformation = state[:3]
    tau, drive, gravity, f_ext = applied
    reaches, weights = STAGES[scene.integrator]
    nv, h, slopes = tree.nv, scene.dt, 2 * tree.nv + len(deformation)

    def stage(numbers: list[Scalar]) -> list[Scalar]:
        number, last, mean = numbers[0], numbers[1 : 1 + slopes], numbers[1 + slopes :]
        step = [x * (of_stage(number, reaches) * h) for x in last]
        u, dv, dm = step[:nv], step[nv : 2 * nv], step[2 * nv :]
        fast = [x + y for x, y in zip(v, dv, strict=True)]
        strained = [x + y for x, y in zip(deformation, dm, strict=True)]
        rates = smooth_dynamics(
            tree,
            integrate(tree, q, u),
            fast,
            strained,
            tau,
            drive,
            contacts.soft,
            contacts.terrain,
            scene.points,
            gravity,
            f_ext,
        )
        slope = [*tangent_rate(tree, u, fast), *rates.acceleration, *rates.deformation]
        seen = [*slope, *rates.driven, *rates.forces, *rates.loops]
        weight = of_stage(number, weights)
        return [number + 1.0, *slope, *(m + x * weight for m, x in zip(mean, seen, strict=True))]

    # The stages are a loop, so that the program holds the dynamics once and not once per stage.
    zeros = [0.0] * (slopes + nv + len(deformation) + len(state.loop_impulses))
    mean = repeat(stage, [0.0, *zeros[:slopes], *zeros], len(reaches))[1 + slopes :]
    step = [x * h for x in mean[:slopes]]
    after = state._replace(
        q=integrate(tree, q, step[:nv]),
        v=[x + y for x, y in zip(v, step[nv : 2 * nv], strict=True)],
        impulses=[x + y for x, y in zip(deformation, step[2 * nv :], strict=True)],
    )
    driven, others = mean[slopes : slopes + nv], mean[slopes + nv :]
    forces, of_loops = others[: len(deformation)], others[len(deformation) :]
    if tree.loops:
        closed = closing_step(tree, after.q, range(nv), RETURN * h)
        after = after._replace(
            q=closed,
            v=closed_velocities(tree, closed, after.v),
            loop_impulses=[f * h for f in of_loops],
        )
    return after, driven, forces


def of_stage(number: Scalar, values: Sequence[float]) -> Scalar:
    """The value of a stage, from one value for each; stages count from 0."""
    chosen: Scalar = values[-1]
    for k in reversed(range(len(values) - 1)):
        chosen = select_less(number, k + 0.5, values[k], chosen)
    return chosen
