"""Steps on the manifold of configurations: laws, kernels compared with the oracle, Pinocchio."""

from __future__ import annotations

import math

import numpy as np
import programs
import pytest
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.algebra.quaternions import quaternion_log, quaternion_rotation, rigid_exp, rigid_log
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms import manifold as manifold_text
from warpdyn.execution.request.evaluate import evaluate, tree_of
from warpdyn.functions import manifold
from warpdyn.model.joints import KINDS
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.program import record

ROUND_OFF = 1e-13
"""Absolute, of float64 numbers of size one."""

PINOCCHIO = 1e-12

FLAT_ARC = 1e-11
"""Pinocchio's logarithm of a small planar turn loses digits: 1 - cos near zero."""

SINGLE = 4e-6
"""Absolute, of float32 numbers of size one to three."""

H = 1e-6

few = pytest.mark.parametrize("name", ["planar", "balls_wxyz", "two_axes", "mimic_chain_floating"])
scales = pytest.mark.parametrize("scale", [1.0, 0.3, 0.1, 1e-3, 1e-9, 0.0])


def same_place(model: wd.Model, q: np.ndarray, p: np.ndarray) -> float:
    """Largest difference of configurations, up to signs of quaternions."""
    difference = np.abs(q - p)
    for joint in model.moving_joints:
        if joint.kind.quaternion is not None:
            columns = model.coordinates[joint.name].q
            turned = slice(columns.stop - 4, columns.stop)
            other = np.abs(q[:, turned] + p[:, turned])
            difference[:, turned] = np.minimum(
                difference[:, turned], np.max(other, axis=1, keepdims=True)
            )
    return float(np.max(difference, initial=0.0))


# Laws.


@scales
def test_difference_inverts_integrate(robot: Robot, scale: float) -> None:
    """difference(q, integrate(q, d)) = d, on both sides of the switch to series."""
    model, s = robot.model, states(robot.model, 5)
    d = scale * s.v
    reached = wd.oracle(manifold.integrate, model, s.q, d)
    assert (
        np.max(np.abs(wd.oracle(manifold.difference, model, s.q, reached) - d), initial=0.0)
        <= ROUND_OFF
    )


def test_integrate_inverts_difference(robot: Robot) -> None:
    """integrate(q, difference(q, p)) = p, for either sign of quaternions, planar angles up to whole
    turns.
    """
    model, s = robot.model, states(robot.model, 5)
    p = states(model, 5, seed=9).q
    d = wd.oracle(manifold.difference, model, s.q, p)
    reached = wd.oracle(manifold.integrate, model, s.q, d)
    for joint in model.moving_joints:
        if joint.kind is KINDS["planar"]:
            c = model.coordinates[joint.name].q.start + 2
            reached[:, c] += 2 * np.pi * np.round((p[:, c] - reached[:, c]) / (2 * np.pi))
    assert same_place(model, reached, p) <= ROUND_OFF


def test_interpolation_starts_at_q0_and_ends_at_q1(robot: Robot) -> None:
    """The end at t = 1 equals a step by the whole difference. Two halves equal the whole."""
    model, s = robot.model, states(robot.model, 4)
    p = wd.oracle(manifold.integrate, model, s.q, s.v)
    at = [wd.oracle(manifold.interpolate, model, s.q, p, t) for t in (0.0, 0.5, 1.0)]
    assert same_place(model, at[0], s.q) <= ROUND_OFF
    assert same_place(model, at[2], p) <= ROUND_OFF
    assert same_place(model, wd.oracle(manifold.integrate, model, at[1], 0.5 * s.v), p) <= ROUND_OFF


def test_configuration_rate_is_the_derivative_of_integrate(robot: Robot) -> None:
    """integrate(q, h v) - integrate(q, -h v) = 2 h configuration_rate(q, v)."""
    model, s = robot.model, states(robot.model, 4)
    later, earlier = (wd.oracle(manifold.integrate, model, s.q, h * s.v) for h in (H, -H))
    rate = wd.oracle(manifold.configuration_rate, model, s.q, s.v)
    assert np.max(np.abs((later - earlier) / (2 * H) - rate), initial=0.0) <= 1e-9


def test_baumgarte_term_pulls_quaternions_to_unit_length() -> None:
    """d|Q|/dt = ½ K |ω| (1 - |Q|) |Q| for any direction of Q. At unit length it is zero."""
    model = by_name("balls_wxyz").model
    s = states(model, 6)
    plain = wd.oracle(manifold.configuration_rate, model, s.q, s.v)
    assert np.allclose(
        wd.oracle(manifold.configuration_rate, model, s.q, s.v, baumgarte=2.0),
        plain,
        rtol=0,
        atol=ROUND_OFF,
    )
    Q, w = model.coordinates["hip"].q, model.coordinates["hip"].v
    q = s.q.copy()
    q[:, Q] *= np.linspace(0.5, 1.5, 6)[:, None]
    rate = wd.oracle(manifold.configuration_rate, model, q, s.v, baumgarte=2.0)[:, Q]
    length = np.linalg.norm(q[:, Q], axis=1)
    growth = np.sum(q[:, Q] * rate, axis=1) / length
    assert np.allclose(
        growth, np.linalg.norm(s.v[:, w], axis=1) * (1 - length) * length, rtol=0, atol=ROUND_OFF
    )


def test_normalize_and_clamp_change_only_lengths_and_limits(robot: Robot) -> None:
    """Quaternions get unit length in their direction.

    Clamped coordinates are within limits, others do not change.
    """
    model, s = robot.model, states(robot.model, 3)
    q = s.q.copy()
    for joint in model.moving_joints:
        if joint.kind.quaternion is not None:
            q[
                :, model.coordinates[joint.name].q.stop - 4 : model.coordinates[joint.name].q.stop
            ] *= 2.5
    assert np.max(np.abs(wd.oracle(manifold.normalize, model, q) - s.q), initial=0.0) <= ROUND_OFF
    wanted = np.clip(3 * q, model.position_lower, model.position_upper)
    assert np.array_equal(wd.oracle(manifold.clamp, model, 3 * q), wanted)


def test_clamp_keeps_nan() -> None:
    """It does not become a limit."""
    model = by_name("panda").model
    q = model.neutral.copy()
    q[2] = math.nan
    clamped = manifold.clamp(model, q)
    assert math.isnan(clamped[2]) and not np.isnan(np.delete(clamped, 2)).any()


# The exponential map itself.


def expm(A: np.ndarray) -> np.ndarray:
    """Matrix exponential by its series, for a scaled matrix, in long double."""
    A = A.astype(np.longdouble) / 16
    total = term = np.eye(4, dtype=np.longdouble)
    for k in range(1, 25):
        term = term @ A / k
        total = total + term
    for _ in range(4):
        total = total @ total
    return total


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-3, 0.2499, 0.2501, 1.0, 3.0, math.pi - 1e-9, 5.0])
def test_the_exponential_of_a_twist_equals_the_matrix_exponential(angle: float) -> None:
    """The matrix is [ω× v; 0 0]. The logarithm returns the twist of the shorter rotation."""
    v, axis = np.array([0.3, -0.7, 0.5]), np.array([0.36, 0.48, -0.8])
    w = angle * axis
    A = np.zeros((4, 4))
    A[:3, :3], A[:3, 3] = np.cross(w, np.eye(3)).T, v
    p, quaternion = rigid_exp(Vector(*v), Vector(*w))
    wanted = expm(A)
    assert np.max(np.abs(np.array(list(p)) - wanted[:3, 3])) <= 1e-15 * 4
    R = np.array([list(row) for row in quaternion_rotation(quaternion).matrix.rows])
    assert np.max(np.abs(R - wanted[:3, :3])) <= 1e-15 * 4
    linear, angular = rigid_log(p, quaternion)
    if angle <= math.pi:
        assert np.max(np.abs([*(linear - Vector(*v)), *(angular - Vector(*w))])) <= ROUND_OFF
    else:
        assert [*angular] == pytest.approx((angle - 2 * math.pi) * axis, abs=ROUND_OFF)


@pytest.mark.parametrize("n", [0.0, 1e-10, 0.0316, 0.0317, 0.3])
def test_the_logarithm_of_a_quaternion_is_its_rotation_vector(n: float) -> None:
    """2 asin n about the axis, on both sides of the switch to series, for q and -q."""
    w = math.sqrt(1 - n * n)
    for sign in (1, -1):
        assert list(quaternion_log([0.0, sign * n, 0.0, sign * w])) == pytest.approx(
            [0, 2 * math.asin(n), 0], abs=0, rel=4e-16
        )


# Kernels.


@few
def test_kernels_equal_the_oracle(name: str, run) -> None:
    """Every function is compared in float64 and float32."""
    model = by_name(name).model
    for dtype, tolerance in ((np.float64, ROUND_OFF), (np.float32, SINGLE)):
        s = states(model).rounded(np.dtype(dtype))
        p = wd.oracle(manifold.integrate, model, s.q, s.v).astype(dtype).astype(float)
        for function, given in (
            (manifold.integrate, (s.q, s.v)),
            (manifold.integrate, (s.q, 0 * s.v)),
            (manifold.difference, (s.q, p)),
            (manifold.difference, (s.q, s.q)),
            (manifold.normalize, (1.5 * s.q,)),
            (manifold.clamp, (2 * s.q,)),
            (manifold.configuration_rate, (s.q, s.v)),
        ):
            found = function(model, *(x.astype(dtype) for x in given))
            assert found.dtype == dtype
            wanted = wd.oracle(function, model, *(x.astype(dtype).astype(float) for x in given))
            assert np.max(np.abs(found - wanted)) <= tolerance, function.__name__


@pytest.mark.parametrize("name", ["planar", "balls_wxyz", "free_inside"])
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_gradients_are_finite_at_singular_points_of_closed_forms(name: str, scale: float) -> None:
    """Adjoints of steps and differences, from zero to large ones, equal finite differences."""
    model = by_name(name).model
    s = states(model, 1)
    q, d = s.q[0], scale * s.v[0]
    p = wd.oracle(manifold.integrate, model, q, d)

    def move(x: np.ndarray, step: np.ndarray) -> np.ndarray:
        return wd.oracle(manifold.integrate, model, x, step) if len(x) == model.nq else x + step

    for function, given in (
        (manifold.integrate, {"q": q, "d": d}),
        (manifold.difference, {"q0": q, "q1": p}),
    ):
        call = function.describe(model, *given.values())
        weights = np.random.default_rng(0).normal(
            size=len(wd.oracle(function, model, *given.values()))
        )

        def adjoint(call=call, weights=weights, **symbols):
            inputs = [x for array in symbols.values() for x in array]
            return pullback(inputs, evaluate(call, symbols)["out"], weights.tolist())

        program = record(adjoint, {name: x.shape for name, x in given.items()})
        found = np.array(programs.evaluate(program, given))
        assert np.isfinite(found).all()
        enumerated = list(enumerate(given.values()))
        for k, (x, bar) in enumerate(
            zip(given.values(), (found[: model.nq], found[model.nq :]), strict=True)
        ):
            for e in np.eye(model.nv):
                values = [
                    weights
                    @ wd.oracle(
                        function, model, *(move(y, sign * (j == k) * H * e) for j, y in enumerated)
                    )
                    for sign in (1, -1)
                ]
                along = (
                    wd.oracle(manifold.configuration_rate, model, x, e) if len(x) == model.nq else e
                )
                assert bar @ along == pytest.approx((values[0] - values[1]) / (2 * H), abs=1e-8)


# Pinocchio.


def peer_of(robot: Robot) -> Peer:
    if robot.has_mimic:
        pytest.skip("Pinocchio knows no mimic joints")
    return in_pinocchio(robot)


@scales
def test_integrate_and_difference_equal_pinocchios(robot: Robot, scale: float) -> None:
    """Quaternions up to sign."""
    model, s, peer = robot.model, states(robot.model, 4), peer_of(robot)
    d = scale * s.v
    reached = wd.oracle(manifold.integrate, model, s.q, d)
    back = wd.oracle(manifold.difference, model, s.q, reached)
    planar = any(joint.kind is KINDS["planar"] for joint in model.joints)
    for e in range(len(d)):
        q, p = peer.q(s.q[e]), peer.q(reached[e])
        wanted = pin.integrate(peer.pin, q, peer.v(d[e]))
        assert np.max(np.abs(pin.difference(peer.pin, wanted, p)), initial=0.0) <= PINOCCHIO
        if planar and 0 < scale < 1e-6:
            continue  # their logarithm is off by 6e-10 there
        theirs = peer.back(pin.difference(peer.pin, q, p))
        assert np.max(np.abs(theirs - back[e]), initial=0.0) <= (FLAT_ARC if planar else PINOCCHIO)


@pytest.mark.parametrize("name", ["quadruped_floating", "planar", "balls_wxyz", "free_inside"])
def test_interpolate_and_normalize_equal_pinocchios(name: str) -> None:
    """pinocchio.interpolate and pinocchio.normalize."""
    robot = by_name(name)
    model, s, peer = robot.model, states(robot.model, 4), in_pinocchio(robot)
    other = wd.oracle(manifold.integrate, model, s.q, s.v)
    for t in (0.0, 0.3, 1.0):
        at = wd.oracle(manifold.interpolate, model, s.q, other, t)
        for e in range(4):
            wanted = pin.interpolate(peer.pin, peer.q(s.q[e]), peer.q(other[e]), t)
            assert np.max(np.abs(pin.difference(peer.pin, wanted, peer.q(at[e])))) <= PINOCCHIO
    long = np.where(model.neutral == 1, 1.3, 1.0) * s.q
    for e in range(4):
        wanted = pin.normalize(peer.pin, peer.q(long[e]))
        assert (
            np.max(np.abs(peer.q(wd.oracle(manifold.normalize, model, long[e])) - wanted))
            <= PINOCCHIO
        )


# Random configurations.


@few
def test_the_tangent_rate_gives_back_the_velocity(name: str) -> None:
    """(q0 ⊕ (d + h rate) ⊖ q0 ⊕ d) / h = v to fourth powers of d, so that half of d leaves a
    sixteenth of the error or less.
    """
    model = by_name(name).model
    s, h = states(model, 1), 1e-5
    errors = []
    for size in (0.4, 0.2):
        d = size * s.a[0] / 3
        rate = np.array(manifold_text.tangent_rate(tree_of(model), d.tolist(), s.v[0].tolist()))
        ahead, behind = (
            wd.oracle(wd.integrate, model, s.q[0], d + x * h * rate) for x in (1.0, -1.0)
        )
        moved = wd.oracle(wd.difference, model, behind, ahead) / (2 * h)
        errors.append(np.abs(moved - s.v[0]).max())
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 12 + 1e-9
