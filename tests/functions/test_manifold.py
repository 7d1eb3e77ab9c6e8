"""Public functions of configurations: shapes, forms of t, limits, random configurations, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from array_kinds import host, make_array, usable
from contracts import check_call, check_defaults, check_shapes
from devices import assert_same
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.functions import manifold
from warpdyn.model.poses_and_limits import Limits

ROUND_OFF = 1e-13
"""Absolute, of float64 numbers of size one."""

MODEL = by_name("free_inside_wxyz").model
S = states(MODEL, 2)
P = wd.oracle(wd.integrate, MODEL, S.q, S.v)


def test_configurations_have_nq_entries_and_tangent_vectors_nv() -> None:
    """The model has a quaternion, so that nq > nv."""
    assert MODEL.nq > MODEL.nv
    check_shapes(wd.integrate, MODEL, S.q, S.v, shapes=(MODEL.nq,))
    check_shapes(wd.difference, MODEL, S.q, P, shapes=(MODEL.nv,))
    check_shapes(wd.configuration_rate, MODEL, S.q, S.v, shapes=(MODEL.nq,))
    check_shapes(wd.normalize, MODEL, S.q, shapes=(MODEL.nq,))
    check_shapes(wd.clamp, MODEL, S.q, shapes=(MODEL.nq,))
    check_shapes(wd.interpolate, MODEL, S.q, P, 0.5, shapes=(MODEL.nq,))


def test_functions_of_configurations_accept_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested."""
    model = by_name("planar").model
    s = states(model, 3)
    check_call(wd.integrate, model, s.q, s.v)
    check_call(wd.clamp, model, s.q)


def test_the_default_rate_does_not_normalise_quaternions() -> None:
    """baumgarte=0."""
    check_defaults(wd.configuration_rate, MODEL, S.q, S.v, baumgarte=0.0)
    pulled = wd.oracle(wd.configuration_rate, MODEL, 1.1 * S.q, S.v, baumgarte=1.0)
    assert np.abs(pulled - wd.oracle(wd.configuration_rate, MODEL, 1.1 * S.q, S.v)).max() > 0.01


@pytest.mark.parametrize("baumgarte", [-1.0, np.nan, np.inf])
def test_a_negative_baumgarte_gain_is_refused(baumgarte: float) -> None:
    for function, arrays in (
        (wd.configuration_rate, (S.q, S.v)),
        (wd.state_derivative, (S.q, S.v, S.v)),
    ):
        with pytest.raises(ValueError, match="baumgarte must be a finite number of 0 or more"):
            function(MODEL, *arrays, baumgarte=baumgarte)


def test_clamp_uses_the_limits_of_the_model() -> None:
    """The limits are those at the time of the call.

    Quaternions and free coordinates have no limits.
    """
    model = by_name("cartpole").model
    q = np.full((1, model.nq), 100.0)
    assert np.array_equal(wd.oracle(wd.clamp, model, q)[0], np.minimum(100.0, model.position_upper))
    name = model.joint_names[0]
    wider = model.with_limits(name, lower=-200.0, upper=200.0)
    assert wd.oracle(wd.clamp, wider, q)[0, 0] == 100.0
    assert np.array_equal(wd.oracle(wd.clamp, MODEL, 5 * S.q)[:, :7], 5 * S.q[:, :7])


def test_normalising_a_zero_quaternion_gives_nan() -> None:
    """There and nowhere else."""
    q = S.q.copy()
    q[1, 3:7] = 0.0
    found = wd.normalize(MODEL, q)
    assert np.isfinite(found[0]).all() and np.isnan(found[1, 3:7]).all()
    assert np.isfinite(np.delete(found[1], range(3, 7))).all()


def test_interpolate_extrapolates_beyond_both_ends() -> None:
    """t of 0, 1, -1 and 2, as numbers."""
    model = by_name("cartpole").model
    q0, q1 = np.zeros((1, model.nq)), np.full((1, model.nq), 0.5)
    for t in (0, 1, -1.0, 2.0):
        found = wd.oracle(wd.interpolate, model, q0, q1, t)
        assert np.max(np.abs(found - 0.5 * t)) <= ROUND_OFF


def test_interpolation_accepts_one_number_or_one_per_robot() -> None:
    """Also arrays of other libraries, and one robot alone."""
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


@pytest.mark.parametrize("library", ["torch", "warp"])
def test_interpolation_works_on_torch_and_warp_arrays(library: str, device: str) -> None:
    """The numbers are the same as NumPy's. The results are arrays of the library."""
    usable(library, device)
    model = by_name("balls_wxyz").model
    s = states(model)
    p, t = manifold.integrate(model, s.q, s.v), np.linspace(0, 1, 19)
    q0, q1, each = (make_array(library, x, device) for x in (s.q, p, t))
    for share, plain in ((each, t), (0.25, 0.25)):
        found = host(manifold.interpolate(model, q0, q1, share))
        assert_same(found, manifold.interpolate(model, s.q, p, plain), device)


# Random configurations.


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_configurations_are_within_limits(robot: Robot, dtype: str) -> None:
    """Angles without limits are within half a turn, and lengths within a metre.

    Quaternions have unit length.
    """
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


def test_random_configurations_depend_on_the_seed_only() -> None:
    """Equal seeds give equal rows for any count, and other seeds other rows.

    No two rows are equal.
    """
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


def test_random_configurations_are_uniform() -> None:
    """Means and correlations of 100,000 draws, within five standard errors.

    Orientations average to zero.
    """
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


def test_random_configurations_have_the_requested_library_and_box() -> None:
    """Like another array, on a device, with origins of floating joints in a box, and with one-sided
    limits.
    """
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


def test_random_configurations_are_float64_numpy_arrays_by_default() -> None:
    """The default seed is 0.

    Origins of floating joints are within a metre of the world's origin.
    """
    q = wd.random_configuration(MODEL, 300)
    assert type(q) is np.ndarray and q.dtype == np.float64 and q.shape == (300, MODEL.nq)
    again = wd.random_configuration(MODEL, 300, seed=0, box=((-1, -1, -1), (1, 1, 1)))
    assert np.array_equal(q, again)
    assert np.abs(q[:, :3]).max() <= 1.0 and np.abs(q[:, :3]).max(axis=0).min() > 0.9


# Refusals.


def test_invalid_counts_boxes_dtypes_and_devices_are_refused() -> None:
    """Each by its name."""
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
    with pytest.raises(ValueError, match="like= is on cpu, not on cuda:0"):
        manifold.random_configuration(model, 2, like=np.zeros(1), device="cuda:0")


def test_seeds_must_be_whole_numbers() -> None:
    """Fractions are refused."""
    with pytest.raises(TypeError, match=r"seed must be a whole number, got 0\.5"):
        wd.random_configuration(MODEL, 2, seed=0.5)  # type: ignore[arg-type]


def test_boxes_must_have_two_corners_of_three_numbers() -> None:
    """They are finite, and the lower corner comes first."""
    reversed_box = ((0.5, 0, 0), (0.2, 1, 1))
    infinite = ((0, 0, 0), (1, 1, math.inf))
    for box in (((0, 0), (1, 1)), infinite, reversed_box, (0, 1), ("abc", "def")):
        with pytest.raises(
            ValueError, match=r"box must be \(\(x, y, z\), \(x, y, z\)\), least and greatest"
        ):
            wd.random_configuration(MODEL, 2, box=box)  # type: ignore[arg-type]


def test_the_first_argument_must_be_a_model() -> None:
    """A path in its place is refused by its type."""
    with pytest.raises(TypeError, match=r"the first argument must be a Model .*got str"):
        wd.random_configuration("panda.urdf", 2)  # type: ignore[arg-type]


def test_both_configurations_must_have_nq_columns() -> None:
    """q0 and q1, each by its name."""
    wide = np.zeros((2, MODEL.nq + 1))
    for function in (wd.difference, lambda model, q0, q1: wd.interpolate(model, q0, q1, 0.5)):
        with pytest.raises(ValueError, match=r"^q0 must be"):
            function(MODEL, wide, S.q)
        with pytest.raises(ValueError, match=r"^q1 must be"):
            function(MODEL, S.q, wide)
