"""Payloads from torques: exact without noise, calibrated with noise, and unknown if unobservable."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.functions.identification.payload_identification import (
    LENGTH,
    NUMBERS,
    ROUGH_COM,
    ROUGH_INERTIA,
    IdentifiedPayload,
    _at_instants,
)

MODEL, TOOL = wd.load_robot("ur5e"), "tool0"
INERTIA = np.array([[0.02, 0.001, -0.002], [0.001, 0.022, 0.0015], [-0.002, 0.0015, 0.011]])
COM = (0.02, -0.03, 0.08)
LOADED = MODEL.with_payload(TOOL, 2.0, COM, INERTIA)
TRUTH = np.array([2.0, *COM, *INERTIA[np.triu_indices(3)]])
NOISE = np.array([1.0, 1.0, 0.5, 0.25, 0.15, 0.1])
"""Standard deviations of a robot of this size whose efforts come of motor currents [N·m]."""
GRAVITY = (0.0, 0.0, -9.81)

CALIBRATED = (0.85, 1.15)
"""Between which standard deviations of 200 z-scores of ten numbers lie: three of their own."""


def motion(samples: int = 100):
    draw = np.random.default_rng(0)
    q = wd.random_configuration(MODEL, samples, seed=0)
    return q, draw.uniform(-2, 2, (samples, 6)), draw.uniform(-8, 8, (samples, 6))


@pytest.fixture(scope="module")
def random_motion():
    q, v, a = motion()
    return q, v, a, wd.rnea(LOADED, q, v, a)


def swing(rate: float, seconds: float, size: float = 1.0):
    """Sines with one frequency per joint: times, positions, velocities, and torques with the load."""
    time = np.arange(0.0, seconds, 1.0 / rate)
    w = 2 * np.pi * np.array([0.31, 0.43, 0.53, 0.71, 0.83, 0.97])
    high = size * np.array([0.5, 0.4, 0.5, 0.6, 0.8, 1.0])
    phase = w * time[:, None] + np.arange(6)
    q = np.array([0.0, -1.2, 1.2, -0.5, 0.4, 0.0]) + high * np.sin(phase)
    v, a = high * w * np.cos(phase), -high * w * w * np.sin(phase)
    return time, q, v, wd.rnea(LOADED, q, v, a)


def test_a_payload_is_exact_without_noise(random_motion) -> None:
    """All ten numbers, to rounding."""
    found = wd.identify_payload(MODEL, TOOL, *random_motion)
    np.testing.assert_allclose(found.values, TRUTH, atol=1e-12)
    assert found.consistent and not found.unknown and found.condition < 100.0
    np.testing.assert_allclose(found.com, COM, atol=1e-12)
    assert found.mass == pytest.approx(2.0) and "mass: 2 ±" in str(found)
    np.testing.assert_array_equal(found.parameters, found.estimate)


def test_the_condition_number_is_that_of_columns_in_units_of_a_small_body(random_motion) -> None:
    """First moments are in kg times the length of 0.1 m, and second moments in kg times its square."""
    q, v, a, tau = random_motion
    Y = wd.joint_torque_regressor(MODEL, q, v, a, links=[TOOL])
    columns = Y * LENGTH ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2]) / NOISE[:, None]
    found = wd.identify_payload(MODEL, TOOL, q, v, a, tau, noise=NOISE)
    assert found.condition == pytest.approx(np.linalg.cond(columns.reshape(-1, 10)))


def test_a_motion_is_read_at_its_first_and_last_instants(random_motion) -> None:
    q, v, _, tau = random_motion
    instants = np.arange(float(len(q)))
    found = _at_instants(MODEL, instants[[0, -1]], instants, q, v, tau)
    for x, wanted in zip(found, (q, v, tau), strict=True):
        np.testing.assert_allclose(x, wanted[[0, -1]], atol=1e-12)


def test_standard_deviations_are_calibrated(random_motion) -> None:
    """Errors over their standard deviations are N(0, 1), for the regression's numbers and for mass,
    centre and inertia. Noise is estimated for each joint.
    """
    q, v, a, tau = random_motion
    regressed, derived, noise = [], [], []
    wanted = wd.inertial.from_body(2.0, COM, INERTIA)
    for k in range(200):
        measured = tau + np.random.default_rng(k).normal(size=tau.shape) * 0.1 * NOISE
        found = wd.identify_payload(MODEL, TOOL, q, v, a, measured)
        regressed.append((found.estimate - wanted) / np.sqrt(found.covariance.diagonal()))
        derived.append((found.values - TRUTH) / found.deviations)
        noise.append(found.noise)
    for z in (np.array(regressed), np.array(derived)):
        assert np.abs(z.mean(axis=0)).max() < 3.5 / np.sqrt(len(z))
        assert ((z.std(axis=0) > CALIBRATED[0]) & (z.std(axis=0) < CALIBRATED[1])).all()
    np.testing.assert_allclose(np.mean(noise, axis=0), 0.1 * NOISE, rtol=0.05)


@pytest.mark.parametrize(("friction", "columns"), [(False, 0), (True, 3)])
def test_noise_of_few_samples_is_not_too_small(friction: bool, columns: int) -> None:
    """The ten numbers and each joint's friction take degrees of freedom: of 14 samples, 14 - 10 / 6 are left for a
    joint, or 3 less."""
    q, v, a = (x[:14] for x in motion())
    tau, draw, shares = wd.rnea(LOADED, q, v, a), np.random.default_rng(0), []
    for _ in range(50):
        measured = tau + draw.normal(size=tau.shape) * 0.1
        found = wd.identify_payload(MODEL, TOOL, q, v, a, measured, friction=friction)
        shares.append((found.noise / 0.1) ** 2)
    assert np.mean(shares) == pytest.approx(1.0, abs=0.1)


def test_noise_that_is_known_weighs_the_joints(random_motion) -> None:
    """The result is that of least squares with it, and standard deviations are in proportion to it."""
    q, v, a, tau = random_motion
    measured = tau + np.random.default_rng(0).normal(size=tau.shape) * NOISE
    found = wd.identify_payload(MODEL, TOOL, q, v, a, measured, noise=NOISE)
    Y = np.asarray(wd.joint_torque_regressor(MODEL, q, v, a, links=[TOOL]))
    rest = measured - wd.rnea(MODEL, q, v, a)
    weighted = (Y / NOISE[:, None]).reshape(-1, 10)
    wanted = np.linalg.lstsq(weighted, (rest / NOISE).ravel(), rcond=None)[0]
    np.testing.assert_allclose(found.estimate, wanted, rtol=1e-9, atol=1e-9)
    assert np.array_equal(found.noise, NOISE) and found.samples == len(q)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(weighted.T @ weighted), rtol=1e-6)
    double = wd.identify_payload(MODEL, TOOL, q, v, a, measured, noise=2.0 * NOISE)
    np.testing.assert_allclose(double.deviations, 2.0 * found.deviations, rtol=1e-6)


@pytest.mark.parametrize(("deviations", "refused"), [(2.9, False), (3.1, True)])
def test_a_mass_may_be_negative_by_three_standard_deviations(
    random_motion, deviations: float, refused: bool
) -> None:
    q, v, a, tau = random_motion
    bare = wd.rnea(MODEL, q, v, a)
    one = wd.identify_payload(MODEL, TOOL, q, v, a, tau, noise=np.ones(6))
    scale = one.mass / one.deviations[0] / deviations
    identify = partial(wd.identify_payload, MODEL, TOOL, q, v, a, 2.0 * bare - tau)
    if refused:
        with pytest.raises(ValueError, match=r"mass would be -2 ± 0\.65 kg: the model"):
            identify(noise=np.full(6, scale))
    else:
        assert identify(noise=np.full(6, scale)).estimate[0] == pytest.approx(-2.0)


def test_a_payload_is_identified_from_a_motion_with_jittering_stamps() -> None:
    """Accelerations are not an input.

    The result is exact without noise. With the noise of a real arm its deviations are calibrated.
    """
    time, q, v, tau = swing(250.0, 10.0)
    exact = wd.identify_payload_in_motion(MODEL, TOOL, time, q, v, tau)
    np.testing.assert_allclose(exact.values, TRUTH, atol=1e-7)
    z = []
    for k in range(15):
        draw = np.random.default_rng(k)
        found = wd.identify_payload_in_motion(
            MODEL,
            TOOL,
            time,
            q,
            v + draw.normal(size=v.shape) * 1e-3,
            tau + draw.normal(size=tau.shape) * NOISE,
        )
        z.append((found.values - TRUTH) / found.deviations)
    assert 0.8 < np.std(z) < 1.25, "150 z-scores that belong together by tens"
    jitter = time + np.random.default_rng(0).uniform(-1e-4, 1e-4, len(time))
    at = np.linspace(jitter[0], jitter[-1], len(time))
    moved = [np.stack([np.interp(at, time, c) for c in x.T], axis=1) for x in (q, v, tau)]
    assert wd.identify_payload_in_motion(MODEL, TOOL, at, *moved).mass == pytest.approx(2, rel=1e-3)


def test_angles_may_jump_by_a_turn_and_quaternions_change_their_sign() -> None:
    """Positions between two samples are those of the motion, not of its numbers."""
    model = wd.load_robot("double_pendulum", floating_base=True)
    assert not any(joint.is_bounded for joint in model.moving_joints)
    link, draw = model.link_names[-1], np.random.default_rng(0)
    loaded = model.with_payload(link, 2.0, COM, INERTIA)
    time = np.arange(0.0, 12.0, 4e-3) + draw.uniform(-1e-3, 1e-3, 3000)
    w = np.linspace(1.0, 4.0, model.nv)
    v, a = np.sin(w * time[:, None]), w * np.cos(w * time[:, None])
    q = np.cos(np.linspace(0.5, 1.5, model.nq) * time[:, None] + np.arange(model.nq))
    q[:, 7:] = 2.0 * time[:, None]
    q = wd.normalize(model, q)
    tau = wd.rnea(loaded, q, v, a)
    identify = partial(wd.identify_payload_in_motion, model, link, time)
    smooth = identify(q, v, tau).values
    np.testing.assert_allclose(smooth, TRUTH, rtol=2e-3, atol=1e-4)
    q[:, 7:] = (q[:, 7:] + np.pi) % (2.0 * np.pi) - np.pi
    q[:, 3:7] *= draw.choice([-1.0, 1.0], (len(q), 1))
    np.testing.assert_allclose(identify(q, v, tau).values, smooth, atol=1e-9)


def test_a_pause_of_the_log_is_left_out() -> None:
    """No motion is made up between samples that are far apart."""
    time, q, v, tau = swing(250.0, 20.0)
    there = (time < 8.0) | (time > 9.0)
    found = wd.identify_payload_in_motion(MODEL, TOOL, *(x[there] for x in (time, q, v, tau)))
    np.testing.assert_allclose(found.values, TRUTH, atol=1e-7)
    whole = wd.identify_payload_in_motion(MODEL, TOOL, time, q, v, tau)
    assert 0.9 * whole.samples < found.samples < 0.95 * whole.samples
    rare = time[there] % 1.0 < 0.1
    with pytest.raises(ValueError, match=r"only 0 filtered samples.*pauses of more than 0.025 s"):
        wd.identify_payload_in_motion(MODEL, TOOL, *(x[there][rare] for x in (time, q, v, tau)))


def test_unknown_friction_and_offsets_are_identified() -> None:
    """Coulomb and viscous friction and an offset per joint: exact with `friction`, wrong without.

    Joints without measured torques are left out.
    """
    time, q, v, tau = swing(250.0, 10.0)
    rubbed = tau + 3.0 * np.sign(v) + 2.0 * v + np.array([0.5, -1.0, 0.3, 0.2, 0.1, 0.0])
    rubbed[:, 0] = np.nan
    joints = MODEL.joint_names[1:]
    found = wd.identify_payload_in_motion(
        MODEL, TOOL, time, q, v, np.nan_to_num(rubbed), joints=joints, friction=True
    )
    np.testing.assert_allclose(found.values, TRUTH, atol=1e-6)
    wrong = wd.identify_payload_in_motion(
        MODEL, TOOL, time, q, v, np.nan_to_num(rubbed), joints=joints
    )
    assert np.abs(wrong.values - TRUTH).max() > 0.01


def test_unobservable_numbers_are_reported_as_unknown() -> None:
    """A robot at rest determines mass and centre of mass but not the inertia.

    One pose does not determine mass and centre, either. The condition number is large.
    """
    q = wd.random_configuration(MODEL, 40, seed=2)
    rest, noise = np.zeros((40, 6)), np.random.default_rng(0).normal(size=(40, 6)) * 0.02
    tau = wd.rnea(LOADED, q, rest, rest) + noise
    still = wd.identify_payload(MODEL, TOOL, q, rest, rest, tau)
    assert set(still.unknown) == {name for name in NUMBERS if name.startswith("I")}
    assert still.condition == np.inf and np.isinf(still.deviations[4:]).all()
    assert abs(still.mass - 2.0) < 5 * still.deviations[0] < 0.05
    assert (still.deviations[1:4] < ROUGH_COM).all() and "Ixx: not known" in str(still)
    one = np.tile(q[:1], (40, 1))
    tau = wd.rnea(LOADED, one, rest, rest) + noise
    lone = wd.identify_payload(MODEL, TOOL, one, rest, rest, tau)
    assert {"mass", "com x"} & set(lone.unknown) or len(lone.unknown) >= 7


def test_an_inconsistent_estimate_is_replaced_by_the_nearest_body(random_motion) -> None:
    """Noise makes the regression's inertia impossible.

    The replacement is reported. In the noise's metric it is nearer than the true body.
    """
    q, v, a, tau = random_motion
    seen = 0
    for k in range(40):
        measured = tau + np.random.default_rng(k).normal(size=tau.shape) * 5.0 * NOISE
        found = wd.identify_payload(MODEL, TOOL, q, v, a, measured)
        assert wd.inertial.physically_consistent(found.parameters) and found.mass > 0.0
        if not found.consistent:
            seen += 1
            weight = np.linalg.inv(found.covariance)
            truth = wd.inertial.from_body(2.0, COM, INERTIA)
            near, far = found.parameters - found.estimate, truth - found.estimate
            assert near @ weight @ near <= far @ weight @ far
            assert "nearest" in str(found)
    assert seen > 5


def test_the_cutoff_is_at_most_a_quarter_of_the_rate() -> None:
    """That frequency is accepted, and higher ones are refused. The shortest motion is bounded too."""
    time, q, v, tau = swing(50.0, 4.0)
    identify = partial(wd.identify_payload_in_motion, MODEL, TOOL)
    assert np.isfinite(identify(time, q, v, tau, cutoff=12.5).values).all()
    wrong = "^samples every 0.02 s are too few for a cutoff of 12.6 Hz: it must be at most 12.5 Hz$"
    with pytest.raises(ValueError, match=wrong):
        identify(time, q, v, tau, cutoff=12.6)
    time, q, v, tau = (x[:81] for x in (time, q, v, tau))
    assert np.isfinite(identify(time, q, v, tau, cutoff=12.5).values).all()
    wrong = "^the motion lasts 1.58 s; with a cutoff of 12.5 Hz at least 1.6 s are needed$"
    with pytest.raises(ValueError, match=wrong):
        identify(time[:80], q[:80], v[:80], tau[:80], cutoff=12.5)


def test_wrong_signs_links_and_samples_are_refused(random_motion) -> None:
    """Torques of the other sign, a link without a parent joint, and too few or too slow samples."""
    q, v, a, tau = random_motion
    with pytest.raises(ValueError, match="another sign"):
        bare = wd.rnea(MODEL, q, v, a)
        wd.identify_payload(MODEL, TOOL, q, v, a, 2.0 * bare - tau)
    with pytest.raises(ValueError, match="no torque depends on its payload"):
        wd.identify_payload(MODEL, MODEL.root, q, v, a, tau)
    with pytest.raises(ValueError, match="at least 10 samples"):
        wd.identify_payload(MODEL, TOOL, q[:9], v[:9], a[:9], tau[:9])
    few = wd.identify_payload(MODEL, TOOL, q[:10], v[:10], a[:10], tau[:10])
    np.testing.assert_allclose(few.values, TRUTH, atol=1e-9)
    with pytest.raises(ValueError, match=r"tau must be \(N, nv\) = .*got \(1, 6\)"):
        wd.identify_payload(MODEL, TOOL, q, v, a, tau[:1])
    for noise in (np.ones(7), -np.ones(6), np.zeros(6)):
        with pytest.raises(ValueError, match="noise must be 6 standard deviations above 0"):
            wd.identify_payload(MODEL, TOOL, q, v, a, tau, noise=noise)
    time = np.arange(100) * 0.01
    with pytest.raises(ValueError, match="at least"):
        wd.identify_payload_in_motion(MODEL, TOOL, time, q, v, tau)
    turned, folded = time[::-1], time.reshape(10, 10)
    for wrong in (time[:9], turned, folded):
        with pytest.raises(ValueError, match="time must be at least 10 increasing instants"):
            wd.identify_payload_in_motion(MODEL, TOOL, wrong, q, v, tau)
    with pytest.raises(ValueError, match="too few for a cutoff of 1000 Hz: it must be at most 25"):
        wd.identify_payload_in_motion(MODEL, TOOL, time[:10], q, v, tau, cutoff=1000.0)
    with pytest.raises(ValueError, match="at most 25 Hz"):
        wd.identify_payload_in_motion(MODEL, TOOL, time, q, v, tau, cutoff=40.0)
    with pytest.raises(ValueError, match="increasing"):
        wd.identify_payload_in_motion(MODEL, TOOL, 0 * time, q, v, tau)
    with pytest.raises(ValueError, match=r"a row for each of the 100 instants, got 100, 99, 100"):
        wd.identify_payload_in_motion(MODEL, TOOL, time / 5, q, v[:99], tau, cutoff=100.0)
    with pytest.raises(ValueError, match="finite"):
        wd.identify_payload(MODEL, TOOL, q, v, a, tau * np.nan)
    for cutoff in (0.0, np.nan, "10 Hz"):
        with pytest.raises(ValueError, match="cutoff must be a frequency above 0"):
            wd.identify_payload_in_motion(MODEL, TOOL, time, q, v, tau, cutoff=cutoff)
    for name, rows in (
        ("q", (q[:, :5], v, tau)),
        ("v", (q, v[:, 0], tau)),
        ("tau", (q, v, v[:, 1:])),
    ):
        with pytest.raises(ValueError, match=rf"{name} must be \(100, 6\), got \(100,"):
            wd.identify_payload_in_motion(MODEL, TOOL, time / 5, *rows, cutoff=100.0)


@pytest.mark.parametrize("joints", [[], [*MODEL.joint_names[2:], MODEL.joint_names[-1]]])
def test_measured_joints_are_named_once(random_motion, joints: list[str]) -> None:
    """The noise of a joint that is named twice would count as independent: deviations would be too
    small."""
    with pytest.raises(ValueError, match="joints must name at least one joint, and each once, got"):
        wd.identify_payload(MODEL, TOOL, *random_motion, joints=joints)
    q, _, _, tau = random_motion
    with pytest.raises(ValueError, match="joints must name at least one joint, and each once, got"):
        wd.diagnose_gravity(MODEL, q, tau, joints=joints)


@pytest.mark.parametrize(("share", "told"), [(0.9, True), (1.1, False)])
def test_the_accuracy_of_inertias_is_relative_to_the_largest_moment(
    share: float, told: bool
) -> None:
    """Moments of 0.1, 0.06 and 0.05 have one standard deviation.

    Whether all six are known depends on its ratio to the largest moment.
    """
    rod = np.diag([0.06, 0.05, 0.1])
    covariance = np.diag([1e-12] * 4 + [(share * ROUGH_INERTIA * 0.1) ** 2] * 6)
    parameters = np.asarray(wd.inertial.from_body(1.0, (0.0, 0.0, 0.0), rod))
    found = IdentifiedPayload(
        TOOL, parameters, parameters, covariance, True, 1.0, np.zeros(6), samples=10
    )
    assert found.deviations[4:] == pytest.approx(np.full(6, share * ROUGH_INERTIA * 0.1))
    assert set(found.unknown) == (set() if told else {n for n in NUMBERS if n.startswith("I")})


def test_a_joint_without_noise_does_not_dominate_the_fit(random_motion) -> None:
    """Its standard deviation is set to a millionth of the largest one."""
    q, v, a, tau = random_motion
    draw = np.random.default_rng(0).normal(size=tau.shape)
    measured = tau + draw * [0.1, 0.1, 0.1, 0.1, 0.1, 0.0]
    found = wd.identify_payload(MODEL, TOOL, q, v, a, measured)
    assert found.noise[5] == pytest.approx(1e-6 * found.noise.max(), rel=1e-3)
    np.testing.assert_allclose(found.noise[:5], 0.1, rtol=0.2)


def test_a_payload_is_described_line_by_line() -> None:
    """Each line has its unit. Inaccurate numbers are not printed."""
    parameters = np.asarray(wd.inertial.from_body(2.0, (0.1, 0.0, -0.05), np.diag([0.3, 0.4, 0.5])))
    covariance = np.diag([0.01**2] + [1e-3**2] * 3 + [0.02**2] * 6)
    for consistent in (True, False):
        found = IdentifiedPayload(
            TOOL, parameters, parameters, covariance, consistent, 12.3456, np.zeros(6), samples=10
        )
        lines = str(found).splitlines()
        values = [f"  {n}: {x:.4g} ± {s:.2g} {unit}" for n, x, s, unit in zip(
            NUMBERS, found.values, found.deviations, ["kg", *["m"] * 3, *["kg·m²"] * 6], strict=True
        )]  # fmt: skip
        nearest = ["  the regression gave no possible body; this is the nearest one"]
        wanted = [f"payload on {TOOL}, from 10 samples", *values, *nearest * (not consistent)]
        assert lines == [*wanted, "  condition number 12.3"]
    assert lines[1] == "  mass: 2 ± 0.01 kg" and lines[2].startswith("  com x: 0.1 ± ")
    hidden = np.array(covariance)
    hidden[4:, 4:] = np.diag([np.inf] * 6)
    found = IdentifiedPayload(
        TOOL, parameters, parameters, hidden, True, np.inf, np.zeros(6), samples=10
    )
    assert found.unknown == NUMBERS[4:] and "  Iyz: not known" in str(found).splitlines()


def test_documented_numbers() -> None:
    check_numbers(
        "functions.identification.payload_identification",
        LENGTH=0.1,
        ROUGH_MASS=0.2,
        ROUGH_COM=0.02,
        ROUGH_INERTIA=0.5,
    )
