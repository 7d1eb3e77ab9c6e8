"""Accelerations of a body's points: a rigid field, rates of velocities, joints and fixed frames."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algebra.point_motion import PointMotion
from warpdyn.algebra.quaternions import quaternion_exp, quaternion_rotation
from warpdyn.algebra.spatial import ZERO, Motion, Placement, Vector

ROUND_OFF = 1e-12
"""Absolute, on numbers of size one to a hundred."""

DIFFERENCE = 1e-5
"""Absolute; second differences with step 1e-4 lose 1e-8 to curvature and 1e-16 / 1e-8 to
rounding."""

H = 1e-4


@pytest.fixture(params=range(5))
def draw(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def vector(draw: np.random.Generator) -> Vector:
    return Vector(*draw.uniform(-2, 2, 3).tolist())


def placement(draw: np.random.Generator) -> Placement:
    return Placement(
        quaternion_rotation(quaternion_exp(draw.uniform(-1.5, 1.5, 3).tolist())), vector(draw)
    )


def moving(draw: np.random.Generator) -> PointMotion:
    """Any motion, by a joint of all six velocities on the world."""
    return PointMotion.without_rotation().across(
        placement(draw), Motion(vector(draw), vector(draw)), Motion(vector(draw), vector(draw))
    )


def rows(R) -> np.ndarray:
    return np.array([list(row) for row in R.matrix.rows])


def array(u: Vector) -> np.ndarray:
    return np.array(list(u))


def at(motion: PointMotion, x: Vector) -> np.ndarray:
    return array(motion.acc + motion.W @ x)


def test_points_have_the_accelerations_of_a_rigid_body(draw: np.random.Generator) -> None:
    """a(x) = a(0) + α × x + ω × (ω × x)."""
    m, x = moving(draw), vector(draw)
    wanted = m.acc + m.dw.cross(x) + m.w.cross(m.w.cross(x))
    assert at(m, x) == pytest.approx(array(wanted), abs=ROUND_OFF)


def test_a_frame_fixed_in_a_body_has_its_motion(draw: np.random.Generator) -> None:
    """The frame and the body have the same w, dw and acceleration of every point, each in its own axes."""
    m, X, x = moving(draw), placement(draw), vector(draw)
    fixed = m.across(X)
    R = rows(X.R)
    assert R @ array(fixed.w) == pytest.approx(array(m.w), abs=ROUND_OFF)
    assert R @ array(fixed.dw) == pytest.approx(array(m.dw), abs=ROUND_OFF)
    assert R @ at(fixed, x) == pytest.approx(at(m, X.point_to_parent(x)), abs=ROUND_OFF)


def test_frames_fixed_in_frames_compose(draw: np.random.Generator) -> None:
    """across(X) across(Y) = across(X Y)."""
    m, X, Y = moving(draw), placement(draw), placement(draw)
    one, two = m.across(X.compose(Y)), m.across(X).across(Y)
    for found, wanted in ((one.w, two.w), (one.dw, two.dw), (one.acc, two.acc)):
        assert array(found) == pytest.approx(array(wanted), abs=ROUND_OFF)


def test_an_acceleration_of_the_world_is_added_to_every_point(draw: np.random.Generator) -> None:
    """The sum is in the child's axes. Angular velocity and acceleration do not change."""
    X, up = placement(draw), vector(draw)
    vJ, aJ = (Motion(vector(draw), vector(draw)) for _ in range(2))
    still, falling = (PointMotion.without_rotation(a).across(X, vJ, aJ) for a in (ZERO, up))
    assert array(falling.acc - still.acc) == pytest.approx(array(X.R.to_child(up)), abs=ROUND_OFF)
    assert list(falling.w) == list(still.w) and list(falling.dw) == list(still.dw)


def test_accelerations_equal_second_differences_of_positions(draw: np.random.Generator) -> None:
    """The points lie beyond two joints of six coordinates each."""
    X = [placement(draw) for _ in range(2)]
    v, a = draw.uniform(-1, 1, (2, 2, 6))
    x = np.append(draw.uniform(-1, 1, 3), 1.0)

    def position(t: float) -> np.ndarray:
        point = x
        for k in (1, 0):
            point = matrix(X[k]) @ displacement(v[k], a[k], t) @ point
        return point[:3]

    motion = PointMotion.without_rotation()
    for k in range(2):
        vJ, aJ = (Motion(Vector(*u[:3].tolist()), Vector(*u[3:].tolist())) for u in (v[k], a[k]))
        motion = motion.across(X[k], vJ, aJ)
    R = rows(X[0].R) @ rows(X[1].R)
    found = R @ at(motion, Vector(*x[:3].tolist()))
    wanted = (position(H) - 2 * position(0.0) + position(-H)) / H**2
    assert found == pytest.approx(wanted, abs=DIFFERENCE)


def matrix(X: Placement) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rows(X.R), list(X.p)
    return T


def displacement(v: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
    """Pose at time t of what starts at the identity with the body velocity v and the rate a of its
    components: the exponential of v t + a t² / 2, true to second order."""
    u = v * t + a * t**2 / 2
    A = np.zeros((4, 4))
    A[:3, :3] = [[0, -u[5], u[4]], [u[5], 0, -u[3]], [-u[4], u[3], 0]]
    A[:3, 3] = u[:3]
    total, term = np.eye(4), np.eye(4)
    for n in range(1, 12):
        term = term @ A / n
        total = total + term
    return total
