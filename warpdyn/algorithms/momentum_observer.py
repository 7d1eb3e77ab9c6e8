"""The generalised momentum observer: external joint forces, estimated from the motion and the motor
torques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.linear import dot, factorise
from ..algebra.scalar import Scalar, exp, select_less_equal
from ..algebra.spatial import ZERO_MOTION, Force, Motion, Placement
from ..model.tree import WORLD, Tree
from .free_rotors import free_rotors
from .gravity_torques import gravity_torques
from .jacobian import jacobian
from .passive_forces import passive_forces
from .tendon_forces import tendon_inertia


def joint_momentum(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Joint momentum p = M v, and Cᵀ v, the part of its rate that is due to the motion alone.

    q: nq [m, rad].  v: nv.  Returns nv and nv.
    A joint's entry of p is the momentum h of everything that it carries, along its motion subspace
    S. Its rate is S · ḣ, from forces, plus (V × S) · h, from the turning of S: Cᵀ v without the
    matrix, in one pass outward and one back (RBDA sections 2.13 and 3.5).
    """
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    h: dict[int, Force] = {}
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        V[i] = X[i].motion_to_child(V[body.parent]) + body.motion(v)
        h[i] = body.inertia @ V[i]
    p: list[Scalar] = [0.0] * tree.nv
    turning: list[Scalar] = [0.0] * tree.nv
    for row, column, x in tendon_inertia(tree):
        p[row] = p[row] + v[column] * x
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            p[k] = p[k] + S.dot(h[i]) + body.rotor_inertia * v[k]
            turning[k] = turning[k] + V[i].cross(S).dot(h[i])
        if body.parent != WORLD:
            h[body.parent] = h[body.parent] + X[i].force_to_parent(h[i])
    for k, force in free_rotors(tree, v):
        turning[k] = turning[k] - force
    return p, turning


def momentum_observer(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    momentum: Sequence[Scalar],
    rate: Sequence[Scalar],
    external: Sequence[Scalar],
    dt: Sequence[Scalar],
    gain: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Momentum, its rate without external forces, and the observed forces, a time dt later.

    q: nq [m, rad].  v, tau, momentum, rate, external: nv.  dt [s], gain [1/s]: one number each.
    p = M v has the rate tau + Cᵀ v - g - friction + external. The mean external force over dt is
    the change of p beyond the mean of the known rate. The observed forces approach it like a
    first-order filter: exactly, for constant forces and any gain and dt. A call with dt = 0 starts
    the observer. De Luca and Mattone, ICRA 2003 and 2005; Haddadin, De Luca and Albu-Schäffer, Robot
    collisions: a survey on detection, isolation, and identification, IEEE T-RO 33 (2017).
    """
    p, turning = joint_momentum(tree, q, v)
    down = gravity_torques(tree, q, gravity, f_ext)
    rubbing = passive_forces(tree, q, v, gravity)
    pushed = [t + c - g - r for t, c, g, r in zip(tau, turning, down, rubbing, strict=True)]
    (elapsed,) = dt
    passed = select_less_equal(elapsed, 0.0, 1.0, elapsed)  # NaN stays
    share = 1.0 - exp(-gain[0] * passed)
    observed = []
    for k, old in enumerate(external):
        mean = (p[k] - momentum[k]) * (1.0 / passed) - (pushed[k] + rate[k]) * 0.5
        observed.append(select_less_equal(elapsed, 0.0, 0.0, old + share * (mean - old)))
    return p, pushed, observed


def external_wrench(
    tree: Tree,
    q: Sequence[Scalar],
    external: Sequence[Scalar],
    frame: str,
    reference: str,
    damping: float,
) -> list[Scalar]:
    """Wrench on a frame that causes the external joint forces: (J Jᵀ + damping² 1)⁻¹ J external.

    q: nq [m, rad].  external: nv.  Returns 6, force then moment.
    Damped least squares of Jᵀ wrench = external (Haddadin et al. 2017, section V).
    """
    J = jacobian(tree, q, frame, reference)
    normal = [
        [dot(row, column) + damping**2 * float(i == j) for j, column in enumerate(J)]
        for i, row in enumerate(J)
    ]
    factors = factorise(normal)
    half = factors.solve_transposed([dot(row, external) for row in J])
    return factors.solve(factors.divide_by_diagonal(half))
