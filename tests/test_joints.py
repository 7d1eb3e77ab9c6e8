"""Every joint kind: neutral position, subspace as the rate of the placement, steps on the manifold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpdyn.joints import KINDS, JointKind, quaternion_exp, quaternion_product, quaternion_rotation, screw
from warpdyn.spatial import Placement, Vector, as_matrix

ROUND_OFF = 1e-14
"""Absolute, on numbers of size one."""

DIFFERENCE = 1e-9
"""Absolute; central differences with step 1e-5."""

H = 1e-5

KINDS_OF_ONE_BODY = [kind for kind in KINDS.values() if not kind.series] + [screw(0.3)]

kinds = pytest.mark.parametrize("kind", KINDS_OF_ONE_BODY, ids=lambda kind: f"{kind.name}{kind.pitch or ''}")
axes = pytest.mark.parametrize("axis", range(3))


def place(kind: JointKind, axis: int, q: list[float]) -> np.ndarray:
    X = Placement(*kind.placement(axis, q)).as_matrix()
    T = np.eye(4)
    T[:3, :3] = [list(row) for row in as_matrix(X.R).matrix.rows]
    T[:3, 3] = list(X.p)
    return T


def configuration(kind: JointKind, seed: int) -> list[float]:
    draw = np.random.default_rng(seed)
    q = draw.uniform(-1.5, 1.5, kind.nq)
    if kind.quaternion is not None:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q.tolist()


@kinds
@axes
def test_neutral_is_the_identity(kind: JointKind, axis: int) -> None:
    """At its neutral position a joint puts the child where its frame is."""
    assert len(kind.neutral) == kind.nq == len(kind.q_names) and kind.nv == len(kind.v_names)
    assert np.array_equal(place(kind, axis, list(kind.neutral)), np.eye(4))


@kinds
@axes
def test_subspace_is_the_rate_of_the_placement(kind: JointKind, axis: int) -> None:
    """X^-1 dX/dt for the motion of unit velocity k is column k of the subspace, in the child's frame."""
    q = configuration(kind, axis)
    T = place(kind, axis, q)
    columns = kind.subspace(axis)
    assert len(columns) == kind.nv
    for k, column in enumerate(columns):
        d = [H * float(k == j) for j in range(kind.nv)]
        later = place(kind, axis, kind.manifold.step(q, d))
        earlier = place(kind, axis, kind.manifold.step(q, [-x for x in d]))
        twist = np.linalg.inv(T) @ (later - earlier) / (2 * H)
        found = [*twist[:3, 3], twist[2, 1], twist[0, 2], twist[1, 0]]
        assert found == pytest.approx(list(column), abs=DIFFERENCE)


@kinds
def test_a_step_of_nothing_stays(kind: JointKind) -> None:
    """step(q, 0) = q."""
    q = configuration(kind, 3)
    assert kind.manifold.step(q, [0.0] * kind.nv) == pytest.approx(q, abs=ROUND_OFF)


@kinds
def test_steps_there_and_back(kind: JointKind) -> None:
    """A small step and its opposite cancel to second order."""
    q, d = configuration(kind, 4), np.random.default_rng(4).uniform(-1e-6, 1e-6, kind.nv)
    back = kind.manifold.step(kind.manifold.step(q, d.tolist()), (-d).tolist())
    assert back == pytest.approx(q, abs=1e-11)


def test_a_planar_step_follows_the_arc() -> None:
    """Two half steps of one constant twist are the whole step."""
    kind, q, d = KINDS["planar"], [0.3, -0.2, 0.7], [0.5, 0.4, 1.2]
    half = [x / 2 for x in d]
    assert kind.manifold.step(kind.manifold.step(q, half), half) == pytest.approx(
        kind.manifold.step(q, d), abs=ROUND_OFF
    )


def test_quaternions_are_rotations() -> None:
    """exp of a vector turns about it by its length; products of quaternions are products of matrices; x, y, z, w."""
    assert quaternion_exp([0.0, 0.0, math.pi / 2]) == pytest.approx([0, 0, math.sqrt(0.5), math.sqrt(0.5)])
    turned = quaternion_rotation(quaternion_exp([0.0, 0.0, math.pi / 2])).to_parent(Vector(1.0, 0.0, 0.0))
    assert list(turned) == pytest.approx([0.0, 1.0, 0.0], abs=ROUND_OFF)
    a, b = quaternion_exp([0.3, -1.0, 0.4]), quaternion_exp([1e-10, 2e-10, 0.0])
    A, B, AB = (
        np.array([list(r) for r in quaternion_rotation(x).matrix.rows]) for x in (a, b, quaternion_product(a, b))
    )
    assert np.max(np.abs(A @ B - AB)) <= ROUND_OFF
    assert math.fsum(x * x for x in quaternion_product(a, b)) == pytest.approx(1.0, abs=ROUND_OFF)
    assert quaternion_exp([0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0, 1.0]
