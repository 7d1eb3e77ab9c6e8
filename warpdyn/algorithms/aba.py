"""Forward dynamics: the articulated-body algorithm."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..algebra.articulated_joint import ArticulatedJoint
from ..algebra.linear import solve_symmetric
from ..algebra.scalar import Scalar, as_number
from ..algebra.spatial import (
    ZERO,
    ZERO_FORCE,
    ZERO_INERTIA,
    ZERO_MOTION,
    ArticulatedInertia,
    Force,
    Motion,
    Placement,
    Vector,
)
from ..model.tree import WORLD, Tree
from .crba import crba
from .free_rotors import free_rotors
from .long_chains.aba_in_sweeps import aba_in_sweeps
from .long_chains.chain_rows import is_long_chain
from .passive_forces import passive_forces
from .rnea import rnea


def aba(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint accelerations produced by the joint forces `tau`.

    q: nq [m, rad].  v: nv.  tau: nv [N, N·m].  gravity, f_ext: as in `rnea`.
    Returns nv [m/s², rad/s²].
    The recursion requires bodies that are coupled by their joints only. Joints that share a
    coordinate (mimic) and tendons with armature couple more of them; robots that have such parts
    use `forward_dynamics_crba` instead.
    """
    if tree.ties_bodies:
        return forward_dynamics_crba(tree, q, v, tau, gravity, f_ext)
    taken = passive_forces(tree, q, v, gravity)
    on_inertia = [t - p for t, p in zip(tau, taken, strict=True)]
    return articulated_accelerations(tree, q, v, on_inertia, gravity, f_ext)


def articulated_accelerations(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint accelerations produced by forces on the bodies, for robots whose coordinates move one
    joint each.

    Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1, with gravity as an upward
    acceleration of the world.
    """
    if is_long_chain(tree):
        return aba_in_sweeps(tree, q, v, tau, gravity, f_ext)
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    c: dict[int, Motion] = {}
    IA: dict[int, ArticulatedInertia] = {WORLD: ArticulatedInertia.of(ZERO_INERTIA)}
    pA: dict[int, Force] = {WORLD: ZERO_FORCE}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        vJ = body.motion(v)
        V[i] = X[i].motion_to_child(V[body.parent]) + vJ
        c[i] = V[i].cross(vJ)
        IA[i] = ArticulatedInertia.of(body.inertia)
        pA[i] = V[i].cross_force(body.inertia @ V[i]) - outside[i]

    tau = list(tau)
    for k, taken in free_rotors(tree, v):
        tau[k] = tau[k] - taken
    joints: dict[int, ArticulatedJoint] = {}
    for i, body in reversed(list(enumerate(tree.bodies))):
        S = [column for _, column in body.subspace]
        on_joint = [tau[k] for k in body.v_index]
        joints[i] = ArticulatedJoint.of(IA[i], pA[i], S, on_joint, body.rotor_inertia)
        if body.parent == WORLD:
            continue
        Ia, pa = joints[i].passed_on(IA[i], pA[i], c[i])
        IA[body.parent] = IA[body.parent] + X[i].articulated_to_parent(Ia)
        pA[body.parent] = pA[body.parent] + X[i].force_to_parent(pa)

    A: dict[int, Motion] = {WORLD: Motion(-Vector(*gravity), ZERO)}
    qdd: list[Scalar] = [0.0] * tree.nv
    for i, body in enumerate(tree.bodies):
        A[i] = X[i].motion_to_child(A[body.parent]) + c[i]
        # A_i here is the book's a': it lacks the joint's acceleration, which is computed from it.
        accelerations = joints[i].accelerations(A[i])
        for (k, S_k), acceleration in zip(body.subspace, accelerations, strict=True):
            qdd[k] = acceleration
            A[i] = A[i] + S_k * acceleration
    return qdd


def forward_dynamics_crba(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """The accelerations of `aba` from M qdd = tau - h, factorised from the leaves up.

    RBDA chapter 6.

    Its cost grows with the square of a branch's depth, but it is the shorter program for arms and
    for most robots of up to 30 joints.
    """
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    return solve_symmetric(crba(tree, q), [t - b for t, b in zip(tau, h, strict=True)])


def generic_configurations(tree: Tree) -> Iterator[list[float]]:
    """A few generic configurations: a matrix that is singular at all of them is singular
    everywhere."""
    for turn in range(3):
        q = [0.3 + 0.7 * turn + 0.11 * k for k in range(tree.nq)]
        for body in tree.bodies:
            for k in body.quaternion_index:
                q[k] = 0.5
        yield q


def unmoved_joint(tree: Tree, held: Collection[int] = ()) -> str | None:
    """Name of a joint that moves no inertia, if there is one: its acceleration is not defined.

    Pivots of M = Lᵀ D L at a few configurations: D_i is the inertia that joint i moves when all
    joints beyond it are free. `held`: coordinates that implicit forces hold in a step.
    """
    for q in generic_configurations(tree):
        M = crba(tree, q)
        for k in held:
            M[k][k] += 1.0
        largest = [as_number(M[k][k]) for k in range(tree.nv)]
        for k in reversed(range(tree.nv)):
            if not as_number(M[k][k]) > 1e-13 * largest[k] or largest[k] <= 0.0:
                return next(body.joint for body in tree.bodies if k in body.v_index)
            for i in range(k):
                for j in range(i + 1):
                    M[i][j] -= M[k][i] * M[k][j] / M[k][k]
    return None
