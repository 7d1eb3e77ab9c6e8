"""Steps on the manifold of configurations: laws on every robot, kernels against the oracle, Pinocchio, random draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import programs
import pytest
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.algebra.quaternions import quaternion_log, quaternion_rotation, rigid_exp, rigid_log
from warpdyn.algebra.spatial import Vector
from warpdyn.execution.evaluate import evaluate
from warpdyn.functions import manifold
from warpdyn.model.description import Limits
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
    """Largest difference between configurations, up to signs of quaternions."""
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
def test_a_difference_undoes_a_step(robot: Robot, scale: float) -> None:
    """difference(q, integrate(q, d)) = d, on either side of where series take over."""
    model, s = robot.model, states(robot.model, 5)
    d = scale * s.v
    reached = wd.oracle(manifold.integrate, model, s.q, d)
    assert (
        np.max(np.abs(wd.oracle(manifold.difference, model, s.q, reached) - d), initial=0.0)
        <= ROUND_OFF
    )


def test_a_step_by_the_difference_arrives(robot: Robot) -> None:
    """integrate(q, difference(q, p)) = p, whatever the sign of quaternions; planar angles up to whole turns."""
    model, s = robot.model, states(robot.model, 5)
    p = states(model, 5, seed=9).q
    d = wd.oracle(manifold.difference, model, s.q, p)
    reached = wd.oracle(manifold.integrate, model, s.q, d)
    for joint in model.moving_joints:
        if joint.kind is KINDS["planar"]:
            c = model.coordinates[joint.name].q.start + 2
            reached[:, c] += 2 * np.pi * np.round((p[:, c] - reached[:, c]) / (2 * np.pi))
    assert same_place(model, reached, p) <= ROUND_OFF


def test_the_ends_of_an_interpolation(robot: Robot) -> None:
    """At t = 0 it is q0, at t = 1 what integrate makes of the whole difference; halves add up to the whole."""
    model, s = robot.model, states(robot.model, 4)
    p = wd.oracle(manifold.integrate, model, s.q, s.v)
    at = [wd.oracle(manifold.interpolate, model, s.q, p, t) for t in (0.0, 0.5, 1.0)]
    assert same_place(model, at[0], s.q) <= ROUND_OFF
    assert same_place(model, at[2], p) <= ROUND_OFF
    assert same_place(model, wd.oracle(manifold.integrate, model, at[1], 0.5 * s.v), p) <= ROUND_OFF


def test_the_rate_is_the_derivative_of_a_step(robot: Robot) -> None:
    """integrate(q, h v) - integrate(q, -h v) = 2 h configuration_rate(q, v)."""
    model, s = robot.model, states(robot.model, 4)
    later, earlier = (wd.oracle(manifold.integrate, model, s.q, h * s.v) for h in (H, -H))
    rate = wd.oracle(manifold.configuration_rate, model, s.q, s.v)
    assert np.max(np.abs((later - earlier) / (2 * H) - rate), initial=0.0) <= 1e-9


def test_baumgarte_draws_quaternions_to_unit_length() -> None:
    """d|Q|/dt = ½ K |ω| (1 - |Q|) |Q| whatever Q's direction; at unit length the term is not there."""
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


def test_normalize_and_clamp(robot: Robot) -> None:
    """Quaternions get unit length and keep their direction; clamped coordinates lie within limits, others stay."""
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


def test_clamping_leaves_nan_alone() -> None:
    """NaN is not a limit."""
    model = by_name("panda").model
    q = model.neutral.copy()
    q[2] = math.nan
    clamped = manifold.clamp(model, q)
    assert math.isnan(clamped[2]) and not np.isnan(np.delete(clamped, 2)).any()


# The exponential map itself.


def expm(A: np.ndarray) -> np.ndarray:
    """By its series, of a quartered matrix, in long double."""
    A = A.astype(np.longdouble) / 16
    total = term = np.eye(4, dtype=np.longdouble)
    for k in range(1, 25):
        term = term @ A / k
        total = total + term
    for _ in range(4):
        total = total @ total
    return total


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-3, 0.2499, 0.2501, 1.0, 3.0, math.pi - 1e-9, 5.0])
def test_the_exponential_of_a_twist(angle: float) -> None:
    """It is that of the 4x4 matrix [ω× v; 0 0]; the logarithm gives the twist back, by the shorter way."""
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
def test_the_logarithm_of_a_quaternion(n: float) -> None:
    """2 asin n about the axis, on either side of where the series takes over; q and -q alike."""
    w = math.sqrt(1 - n * n)
    for sign in (1, -1):
        assert list(quaternion_log([0.0, sign * n, 0.0, sign * w])) == pytest.approx(
            [0, 2 * math.asin(n), 0], abs=0, rel=4e-16
        )


# Kernels.


@few
def test_kernels_match_the_oracle(name: str, run) -> None:
    """Every function, float64 and float32."""
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


def test_interpolation_takes_a_number_or_one_for_each_robot() -> None:
    """And arrays of other libraries, and one robot alone."""
    model = by_name("balls_wxyz").model
    s = states(model)
    p = manifold.integrate(model, s.q, s.v)
    t = np.linspace(-0.2, 1.2, len(p))
    each = manifold.interpolate(model, s.q, p, t)
    assert np.max(np.abs(each - wd.oracle(manifold.interpolate, model, s.q, p, t))) <= ROUND_OFF
    half = manifold.interpolate(model, s.q, p, 0.5)
    assert np.array_equal(half, manifold.interpolate(model, s.q, p, np.full(len(p), 0.5)))
    assert np.array_equal(half[3], manifold.interpolate(model, s.q[3], p[3], 0.5))
    with pytest.raises(
        ValueError, match=r"t must be a number, or one for each row: \(19,\), got \(4,\)"
    ):
        manifold.interpolate(model, s.q, p, t[:4])


def test_interpolation_of_torch_and_warp_arrays() -> None:
    """The same numbers, on their memory."""
    torch = pytest.importorskip("torch")
    import warp as wp

    model = by_name("balls_wxyz").model
    s = states(model)
    p, t = manifold.integrate(model, s.q, s.v), np.linspace(0, 1, 19)
    for make in (torch.as_tensor, lambda x: wp.array(x, dtype=wp.float64)):
        for share, plain in ((make(t), t), (0.25, 0.25)):
            found = manifold.interpolate(model, make(s.q), make(p), share).numpy()
            assert np.array_equal(found, manifold.interpolate(model, s.q, p, plain))


@pytest.mark.parametrize("name", ["planar", "balls_wxyz", "free_inside"])
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_gradients_are_finite_where_closed_forms_are_not(name: str, scale: float) -> None:
    """Adjoints of steps and differences, of nothing and of much, are finite and those that small changes give."""
    model = by_name(name).model
    s = states(model, 1)
    q, d = s.q[0], scale * s.v[0]
    p = wd.oracle(manifold.integrate, model, q, d)

    def moved(x: np.ndarray, step: np.ndarray) -> np.ndarray:
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
                        function, model, *(moved(y, sign * (j == k) * H * e) for j, y in enumerated)
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
def test_integrate_and_difference_match_pinocchio(robot: Robot, scale: float) -> None:
    """pinocchio.integrate and pinocchio.difference, quaternions up to sign."""
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
def test_interpolate_and_normalize_match_pinocchio(name: str) -> None:
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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_configurations_lie_within_limits(robot: Robot, dtype: str) -> None:
    """Within limits where there are any, else angles within half a turn, lengths within a metre; quaternions of unit
    length."""
    model = robot.model
    q = manifold.random_configuration(model, 200, seed=5, dtype=dtype)
    assert q.shape == (200, model.nq) and q.dtype == dtype
    slack = 1e-6
    for joint in model.moving_joints:
        columns = model.coordinates[joint.name].q
        for c, limits, angle in zip(
            range(columns.start, columns.stop), joint.q_limits, joint.kind.angles, strict=False
        ):
            reach = math.pi if angle else 1.0
            lower = limits.lower if math.isfinite(limits.lower) else -reach
            upper = limits.upper if math.isfinite(limits.upper) else reach
            assert lower - slack <= q[:, c].min() and q[:, c].max() <= upper + slack
            assert q[:, c].max() - q[:, c].min() >= 0.9 * (upper - lower)
        if joint.kind.quaternion is not None:
            length = np.linalg.norm(q[:, columns.stop - 4 : columns.stop], axis=1)
            assert np.max(np.abs(length - 1)) <= 1e-6


def test_random_configurations_are_repeatable() -> None:
    """The same seed, the same rows, however many; another seed, other rows; no two rows alike."""
    model = by_name("balls_wxyz").model
    q = manifold.random_configuration(model, 1000, seed=7)
    assert np.array_equal(q[:10], manifold.random_configuration(model, 10, seed=7))
    assert np.min(np.abs(q[:10] - manifold.random_configuration(model, 10, seed=8))) > 0
    assert len(np.unique(q, axis=0)) == 1000
    assert (
        np.max(np.abs(q - manifold.random_configuration(model, 1000, seed=7, dtype=np.float32)))
        <= 1e-6
    )
    assert manifold.random_configuration(model, 0).shape == (0, model.nq)


def test_random_numbers_are_uniform() -> None:
    """Means and correlations of 100,000 draws, within five standard errors; orientations turn everything to nothing."""
    model, count = by_name("balls").model, 100_000
    q = manifold.random_configuration(model, count, seed=1)
    knee = q[:, model.coordinates["knee"].q.start]
    assert abs(np.mean(knee)) <= 5 * 3 / math.sqrt(3 * count)
    histogram, _ = np.histogram(knee, bins=20, range=(-3, 3))
    assert np.max(np.abs(histogram - count / 20)) <= 5 * math.sqrt(count / 20)
    toe = q[:, model.coordinates["toe"].q.start]
    assert abs(np.corrcoef(knee, toe)[0, 1]) <= 5 / math.sqrt(count)
    assert abs(np.corrcoef(knee[1:], knee[:-1])[0, 1]) <= 5 / math.sqrt(count)
    hip = q[:, model.coordinates["hip"].q]
    assert np.max(np.abs(hip.T @ hip / count - np.eye(4) / 4)) <= 5 * 0.25 / math.sqrt(count)
    assert np.max(np.abs(np.mean(hip, axis=0))) <= 5 * 0.5 / math.sqrt(count)


def test_random_configurations_of_a_kind() -> None:
    """Like another array; on a device; origins of floating joints in a box; one-sided limits."""
    torch = pytest.importorskip("torch")
    model = by_name("free_inside_wxyz").model
    q = manifold.random_configuration(model, 50, like=torch.zeros(3))
    assert isinstance(q, torch.Tensor) and q.dtype is torch.float32
    assert type(manifold.random_configuration(model, 5, device="cpu")).__module__.startswith("warp")
    placed = manifold.random_configuration(model, 50, box=((1, 2, 3), (1, 4, 3.5)))
    assert (placed[:, :3].min(axis=0) >= [1, 2, 3]).all() and (
        placed[:, :3].max(axis=0) <= [1, 4, 3.5]
    ).all()
    half = replace(
        model,
        joints=tuple(
            replace(j, limits=Limits(lower=5.0)) if j.name == "hinge" else j for j in model.joints
        ),
    )
    hinge = manifold.random_configuration(half, 50)[:, half.coordinates["hinge"].q.start]
    assert hinge.min() >= 5.0 and hinge.max() <= 5.0 + 2 * math.pi


def test_what_cannot_be_drawn_is_refused() -> None:
    """Counts, boxes, kinds of numbers and devices that make no sense."""
    model = by_name("free_inside").model
    for count in (-1, 2.5):
        with pytest.raises(ValueError, match="count must be a whole number"):
            manifold.random_configuration(model, count)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"box must be .*, least and greatest, finite and in order"
    ):
        manifold.random_configuration(model, 2, box=((0, 0, 0), (1, -1, 1)))
    with pytest.raises(TypeError, match="dtype must be float32 or float64, got int32"):
        manifold.random_configuration(model, 2, dtype="int32")
    with pytest.raises(ValueError, match="like= lies on cpu, not on cuda:0"):
        manifold.random_configuration(model, 2, like=np.zeros(1), device="cuda:0")
