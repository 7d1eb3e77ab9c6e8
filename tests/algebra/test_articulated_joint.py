"""A joint of the articulated-body algorithm: laws of the inertia and force that it passes on."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algebra.articulated_joint import ArticulatedJoint
from warpdyn.algebra.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Motion,
    Symmetric,
    Vector,
)

ROUND_OFF = 1e-11
"""Relative: a solution with up to three unknowns."""


@pytest.mark.parametrize("freedoms", [1, 2, 3])
def test_the_articulated_inertia_satisfies_the_equation_of_motion(
    freedoms: int, draw: np.random.Generator
) -> None:
    """The parent has the acceleration A, the joint q̈, and the body a = A + c + S q̈. Along S the
    force I a + p equals tau. In total it equals the force I^a A + p^a on the parent.
    """

    def vector() -> Vector:
        return Vector(*draw.normal(size=3).tolist())

    IA = ArticulatedInertia.of(
        Inertia.at_com(2.0, vector(), Symmetric(0.5, 0.02, 0.01, 0.6, 0.03, 0.7))
    )
    pA, c, A = Force(vector(), vector()), Motion(vector(), vector()), Motion(vector(), vector())
    S = [Motion(vector(), vector()) for _ in range(freedoms)]
    tau = draw.normal(size=freedoms).tolist()
    joint = ArticulatedJoint.of(IA, pA, S, tau, 0.0)
    Ia, pa = joint.passed_on(IA, pA, c)
    a = A + c
    for S_k, x in zip(S, joint.accelerations(A + c), strict=True):
        a = a + S_k * x
    force = IA @ a + pA
    size = max(abs(x) for x in (*force, *tau))
    for S_k, t in zip(S, tau, strict=True):
        assert abs(S_k.dot(force) - t) <= ROUND_OFF * size * 10
    felt = Ia @ A + pa
    assert np.abs(np.array([*force]) - [*felt]).max() <= ROUND_OFF * size * 10


def test_a_joint_without_rotor_passes_no_inertia_on_along_its_axis(
    draw: np.random.Generator,
) -> None:
    """It is exactly zero for any ratio of its coordinate.

    With a rotor, or with an axis of two entries, rounding remains.
    """

    def vector() -> Vector:
        return Vector(*draw.normal(size=3).tolist())

    IA = ArticulatedInertia.of(
        Inertia.at_com(2.0, vector(), Symmetric(0.5, 0.02, 0.01, 0.6, 0.03, 0.7))
    )
    pA, c = Force(vector(), vector()), Motion(vector(), vector())
    for k in range(6):
        for ratio in (1.0, -2.0):
            e = (ratio * np.eye(6)[k]).tolist()
            S = Motion(Vector(*e[:3]), Vector(*e[3:]))
            joint = ArticulatedJoint.of(IA, pA, [S], [0.3], 0.0)
            Ia, _ = joint.passed_on(IA, pA, c)
            assert joint.felt == k and [*(Ia @ S)] == [0.0] * 6
            assert ArticulatedJoint.of(IA, pA, [S], [0.3], 0.1).felt is None
    tilted = Motion(Vector(0.0, 0.0, 0.0), Vector(0.6, 0.8, 0.0))
    assert ArticulatedJoint.of(IA, pA, [tilted], [0.3], 0.0).felt is None
    assert ArticulatedJoint.of(IA, pA, [S, tilted], [0.3, 0.1], 0.0).felt is None
