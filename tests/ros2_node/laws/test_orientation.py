"""The logarithm of rotations, and moments of potentials of it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from fleets import MODEL

import warpdyn as wd
from ros2_node.laws.orientation import moment_of, rotation_vector


@wd.kernel
def logarithm(robot, R: (3, 3)):
    return rotation_vector(robot, R)[0]


@wd.kernel
def moment(robot, R: (3, 3), K: (3, 3)):
    turn, half_by_tangent = rotation_vector(robot, R)
    return moment_of(K @ turn, turn, half_by_tangent)


def turns(angles, seed=0):
    axes = np.random.default_rng(seed).normal(size=(len(angles), 3))
    return angles[:, None] * axes / np.linalg.norm(axes, axis=1, keepdims=True)


def test_the_logarithm_is_the_turn_that_made_the_rotation():
    """From none, by turns that numbers hardly tell from none, to nearly half a turn."""
    angles = np.array([0.0, 1e-15, 1e-9, 1e-5, 1e-3, 0.3, 1.5, 3.0, np.pi - 1e-6])
    wanted = turns(angles)
    R = np.array([pin.exp3(w) for w in wanted])
    np.testing.assert_allclose(logarithm(MODEL, R), wanted, atol=1e-9)


def test_a_moment_is_the_slope_of_its_potential():
    """The power of the moment is the rate at which ½ turnᵀ K turn falls, whatever the stiffness."""
    rng = np.random.default_rng(2)
    angles = np.array([1e-7, 1e-3, 0.4, 1.2, 2.5, 3.0])
    R = np.array([pin.exp3(w) for w in turns(angles)])
    K = rng.normal(size=(len(angles), 3, 3))
    K = K @ K.transpose(0, 2, 1)
    omega, h = rng.normal(size=(len(angles), 3)), 1e-6

    def energy(t):
        # The body turns by omega; the rotation from it to a fixed orientation is R exp(-t omega).
        way = np.array([pin.log3(r @ pin.exp3(-t * w)) for r, w in zip(R, omega, strict=True)])
        return 0.5 * np.einsum("bi,bij,bj->b", way, K, way)

    falls = -(energy(h) - energy(-h)) / (2 * h)
    power = np.einsum("bi,bi->b", moment(MODEL, R, K), omega)
    np.testing.assert_allclose(power, falls, atol=1e-6)
