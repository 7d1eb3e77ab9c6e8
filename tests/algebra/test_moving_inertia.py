"""Velocity products of a moving body: momentum, the rate of its inertia, and the matrix B."""

from __future__ import annotations

import numpy as np
from algebra_draws import close, inertia, motion, placement, six

from warpdyn.algebra.moving_inertia import AT_REST, MovingInertia
from warpdyn.algebra.spatial import Force, Inertia, Motion, Vector


def matrix(body: Inertia) -> np.ndarray:
    return six(lambda m: body @ m, Motion)


def doubled_B(moving: MovingInertia) -> np.ndarray:
    return six(moving.twice_B_times, Motion)


def rate(body: Inertia, v: Motion) -> np.ndarray:
    """The rate v x* I - I v x of an inertia that moves with v (RBDA 2.65)."""
    return six(lambda m: v.cross_force(body @ m), Motion) - matrix(body) @ six(v.cross, Motion)


def test_momentum_is_inertia_times_velocity(draw) -> None:
    """I v."""
    body, v = inertia(draw), motion(draw)
    close(list(MovingInertia.of(body, v).momentum), list(body @ v))


def test_B_plus_its_transpose_is_the_rate_of_the_inertia(draw) -> None:
    """B + B^T = dI/dt. Here B is doubled."""
    body, v = inertia(draw), motion(draw)
    B = doubled_B(MovingInertia.of(body, v))
    close(B + B.T, 2.0 * rate(body, v))


def test_B_gives_the_velocity_product(draw) -> None:
    """B v = v x* I v."""
    body, v = inertia(draw), motion(draw)
    close(
        0.5 * np.array(list(MovingInertia.of(body, v).twice_B_times(v))),
        list(v.cross_force(body @ v)),
    )


def test_the_transpose_of_B_gives_a_pure_couple(draw) -> None:
    """2B^T m has no force part, and its couple is twice_B_transposed_times(m)."""
    body, v, m = inertia(draw), motion(draw), motion(draw)
    moving = MovingInertia.of(body, v)
    couple = doubled_B(moving).T @ list(m)
    close(couple, [0.0, 0.0, 0.0, *moving.twice_B_transposed_times(m)])


def test_moving_inertias_of_bodies_are_summed(draw) -> None:
    """B of a sum is the sum of B. A body at rest only adds its inertia."""
    a, b = (MovingInertia.of(inertia(draw), motion(draw)) for _ in range(2))
    close(doubled_B(a + b), doubled_B(a) + doubled_B(b))
    close(doubled_B(a + AT_REST), doubled_B(a))


def test_moving_inertias_are_transformed_to_the_parent(draw) -> None:
    """The transformed one equals the one computed in the parent's frame."""
    X, body, v = placement(draw), inertia(draw), motion(draw)
    there = MovingInertia.of(X.inertia_to_parent(body), X.motion_to_parent(v))
    here = MovingInertia.of(body, v).to_parent(X)
    close(doubled_B(here), doubled_B(there))
    close(list(here.momentum), list(there.momentum))
    close(matrix(here.inertia), matrix(there.inertia))


def test_a_sliding_point_has_a_constant_inertia() -> None:
    """Pure translation changes no second moment about the centre."""
    point = Inertia.at_com(2.0, Vector(0.0, 0.0, 0.0), AT_REST.J_rate)
    moving = MovingInertia.of(point, Motion(Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)))
    assert list(moving.momentum) == list(Force(Vector(2.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)))
    assert list(moving.J_rate.entries) == [0.0] * 6
