"""The articulated-body algorithm of long chains, in sweeps along their bodies.

A long program does not fit into a processor's instruction cache, so that the processor waits for
code. In a sweep the code of one body serves all bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.articulated_joint import ArticulatedJoint
from ...algebra.scalar import Scalar
from ...algebra.spatial import (
    ZERO,
    ZERO_FORCE,
    ZERO_INERTIA,
    ZERO_MOTION,
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix,
    Motion,
    Symmetric,
    Vector,
    force_of,
    motion_of,
)
from ...model.tree import WORLD, Body, Tree
from ..free_rotors import free_rotors
from .chain_frames import is_revolute
from .chain_rows import (
    PLACEMENT,
    ChainBody,
    S,
    chain_bodies,
    inertia_entries,
    inertia_of,
    period,
    placement_of,
    runs,
    sweep_chain,
)


def aba_in_sweeps(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint accelerations produced by forces on the bodies.

    RBDA table 7.1, as in `aba.articulated_accelerations`: each of its three loops is a sweep along
    each run of revolute joints. A root of another kind is computed between the sweeps.
    """
    bodies, tau = chain_bodies(tree, q), list(tau)
    for k, taken in free_rotors(tree, v):
        tau[k] = tau[k] - taken
    # A revolute joint is computed by the angle between its bodies, which is q times a ratio.
    ratio = [body.multiplier for body in tree.bodies]
    rate = [v[body.v_index[0]] * r for body, r in zip(tree.bodies, ratio, strict=True)]
    outside = [body.in_frame(f) for body, f in zip(bodies, tree.on_bodies(f_ext), strict=True)]
    root = tree.bodies[0]
    chains = _chains(tree, bodies)

    # Velocities, from the root to the ends. The sweep hands on what the later ones read, too: a
    # sweep reads values of an earlier one where they are, but symbols of rows from a copy.
    V = {WORLD: ZERO_MOTION}
    placed: dict[int, list[Scalar]] = {}
    if not is_revolute(root):
        V[0] = root.motion(v)
    for chain, n in reversed(chains):
        rows = [[*bodies[i].row, rate[i]] for i in reversed(chain)]
        values, _ = sweep_chain(_velocity, list(V[tree.bodies[chain[-1]].parent]), rows, n, True)
        for i, (c, s, speed, *entries) in zip(reversed(chain), values, strict=True):
            V[i], rate[i] = motion_of(entries), speed
            placed[i] = [c, s, *bodies[i].row[2:]]

    # Articulated inertias and bias forces, from the ends to the root: those that each body's
    # children pass on are the state.
    nothing = [*_articulated_entries(ArticulatedInertia.of(ZERO_INERTIA)), *ZERO_FORCE]
    carried = dict.fromkeys(range(WORLD, len(bodies)), nothing)
    joints: dict[int, list[Scalar]] = {}
    for chain, n in chains:
        rows = [
            [
                *placed[i],
                *inertia_entries(bodies[i].inertia),
                *V[i],
                *outside[i],
                rate[i],
                tau[tree.bodies[i].v_index[0]] / ratio[i],
                tree.bodies[i].armature,
            ]
            for i in chain
        ]
        values, last = sweep_chain(_articulate, carried[chain[0]], rows, n, False)
        joints |= zip(chain, values, strict=True)
        parent = tree.bodies[chain[-1]].parent
        carried[parent] = [a + b for a, b in zip(carried[parent], last, strict=True)]

    # Accelerations, from the root to the ends.
    qdd: list[Scalar] = [0.0] * tree.nv
    A = {WORLD: Motion(-Vector(*gravity), ZERO)}
    if not is_revolute(root):
        columns = [S_k for _, S_k in root.subspace]
        joint = _root_joint(root, bodies[0].inertia, V[0], outside[0], carried[0], tau)
        A[0] = root.placement(q).motion_to_child(A[WORLD]) + V[0].cross(root.motion(v))
        for k, S_k, x in zip(root.v_index, columns, joint.accelerations(A[0]), strict=True):
            qdd[k] = x
            A[0] = A[0] + S_k * x
    for chain, n in reversed(chains):
        rows = [[*placed[i], *V[i], rate[i], *joints[i]] for i in reversed(chain)]
        values, last = sweep_chain(
            _acceleration, list(A[tree.bodies[chain[-1]].parent]), rows, n, True
        )
        A[chain[0]] = motion_of(last)
        for i, (x,) in zip(reversed(chain), values, strict=True):
            qdd[tree.bodies[i].v_index[0]] = x / ratio[i]
    return qdd


def _chains(tree: Tree, bodies: Sequence[ChainBody]) -> list[tuple[list[int], int]]:
    """Each chain of revolute joints, with the number of bodies in one step of its sweeps."""
    revolute = ([i for i in run if is_revolute(tree.bodies[i])] for run in runs(tree))
    return [(chain, period([bodies[i] for i in chain])) for chain in revolute if chain]


def _root_joint(
    root: Body,
    inertia: Inertia,
    V: Motion,
    outside: Force,
    carried: Sequence[Scalar],
    tau: Sequence[Scalar],
) -> ArticulatedJoint:
    """The joint of a root that is not revolute. `carried`: the entries that its children pass on."""
    IA = ArticulatedInertia.of(inertia) + _articulated_of(carried)
    pA = V.cross_force(inertia @ V) - outside + force_of(carried[-6:])
    columns = [S_k for _, S_k in root.subspace]
    return ArticulatedJoint.of(IA, pA, columns, [tau[k] for k in root.v_index], root.rotor_inertia)


def _velocity(state: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The velocity of a body from that of its parent; values: cosine, sine and rate of its joint, and
    it."""
    rate = row[PLACEMENT]
    V = placement_of(row).motion_to_child(motion_of(state)) + S * rate
    return list(V), [*row[:2], rate, *V]


def _articulate(state: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The entries that a body passes on to its parent; values: u / D of its joint, and U / D."""
    inertia, V = inertia_of(row[PLACEMENT:]), motion_of(row[PLACEMENT + 10 :])
    outside = force_of(row[PLACEMENT + 16 :])
    rate, tau, armature = row[PLACEMENT + 22 :]
    IA = ArticulatedInertia.of(inertia) + _articulated_of(state)
    pA = V.cross_force(inertia @ V) - outside + force_of(state[-6:])
    joint = ArticulatedJoint.of(IA, pA, [S], [tau], armature)
    Ia, pa = joint.passed_on(IA, pA, V.cross(S * rate))
    X = placement_of(row)
    passed = [*_articulated_entries(X.articulated_to_parent(Ia)), *X.force_to_parent(pa)]
    reciprocal = 1.0 / joint.D[0][0]
    return passed, [joint.u[0] * reciprocal, *(x * reciprocal for x in joint.U[0])]


def _acceleration(state: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The acceleration of a body from that of its parent; value: that of the joint."""
    V, rate = motion_of(row[PLACEMENT:]), row[PLACEMENT + 6]
    free, *weights = row[PLACEMENT + 7 :]
    A = placement_of(row).motion_to_child(motion_of(state)) + V.cross(S * rate)
    x = free - A.dot(force_of(weights))
    A = A + S * x
    return list(A), [x]


def _articulated_entries(inertia: ArticulatedInertia) -> list[Scalar]:
    H = [x for row in inertia.H.rows for x in row]
    return [*inertia.M.entries, *H, *inertia.J.entries]


def _articulated_of(entries: Sequence[Scalar]) -> ArticulatedInertia:
    H = Matrix((Vector(*entries[6:9]), Vector(*entries[9:12]), Vector(*entries[12:15])))
    return ArticulatedInertia(Symmetric(*entries[:6]), H, Symmetric(*entries[15:21]))
