"""Measured torques at rest against a model: scales, offsets, and loads missing in the model."""

from __future__ import annotations

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.functions.identification.gravity_diagnosis import (
    EXPLAINED,
    FELT,
    LEAST_TORQUE,
    GravityDiagnosis,
    JointGravity,
    _of_joint,
)

MODEL, TOOL = wd.load_robot("ur5e"), "tool0"
Q = wd.random_configuration(MODEL, 8, seed=3)
OWN = wd.gravity_torques(MODEL, Q)
NOISE = np.random.default_rng(0).normal(size=(8, 6)) * 0.02


def test_a_correct_model_has_no_scale_offset_or_load() -> None:
    """Torques have measurement noise."""
    found = wd.diagnose_gravity(MODEL, Q, OWN + NOISE, link=TOOL)
    assert found.load == "" and found.poses == 8
    assert all("low" not in str(j) and "offset" not in str(j) for j in found.joints)


def test_joints_with_wrong_scales_or_offsets_are_reported() -> None:
    """The report gives size and standard deviation. Such joints are not mistaken for a load."""
    tau = OWN * [1, 1.031, 1, 1, 1, 1] + [0, 0, 0.4, 0, 0, 0] + NOISE
    found = wd.diagnose_gravity(MODEL, Q, tau, link=TOOL)
    lift, elbow = found.joints[1], found.joints[2]
    assert abs(lift.scale - 0.031) < 4 * lift.scale_deviation < 0.01
    assert "model 3.1 % low" in str(lift)
    assert abs(elbow.offset - 0.4) < 4 * elbow.offset_deviation < 0.1
    assert "offset +0.397" in str(elbow) and found.load == ""
    high = wd.diagnose_gravity(MODEL, Q, OWN * [1, 0.9, 1, 1, 1, 1] + NOISE)
    assert "% high" in str(high.joints[1])


def test_springs_and_compensated_weight_of_the_model_are_known() -> None:
    """The torques of a robot that equals its model agree, and a load on it is found."""
    model = MODEL.with_springs(20.0, rest=0.3).with_gravity_compensation({"forearm_link": 1.0})
    loaded = model.with_payload("tool0", 0.42, (0.0, 0.0, 0.05))
    q = wd.random_configuration(model, 12, seed=1)
    still = np.zeros((12, model.nv))
    found = wd.diagnose_gravity(model, q, wd.rnea(model, q, still, still))
    assert max(joint.error for joint in found.joints) < 1e-10
    found = wd.diagnose_gravity(model, q, wd.rnea(loaded, q, still, still), link="tool0")
    assert abs(found.mass - 0.42) < 1e-9 and np.allclose(found.com, (0.0, 0.0, 0.05), atol=1e-9)


def test_a_load_missing_in_the_model_is_reported() -> None:
    """The report gives mass and centre of mass. If `params` includes the load, none is reported."""
    loaded = MODEL.with_payload(TOOL, 0.42, (0.0, 0.01, 0.05))
    tau = wd.gravity_torques(loaded, Q) + NOISE
    found = wd.diagnose_gravity(MODEL, Q, tau, link=TOOL)
    assert abs(found.mass - 0.42) < 4 * found.mass_deviation < 0.02
    np.testing.assert_allclose(found.com, (0.0, 0.01, 0.05), atol=0.01)
    assert found.load.startswith("a payload of 0.4") and found.load in str(found)
    light = wd.diagnose_gravity(loaded, Q, OWN + NOISE, link=TOOL)
    assert light.mass < -0.4 and "carries too much" in light.load
    link = loaded.link(TOOL)
    params = MODEL.params(mass={TOOL: np.array(link.mass)}, com={TOOL: np.array(link.com)})
    assert wd.diagnose_gravity(MODEL, Q, tau, link=TOOL, params=params).load == ""


def test_the_load_is_found_under_the_gravity_and_the_placements_of_params() -> None:
    """The regressor that fits the load has the varied numbers too."""
    shoulder = MODEL.joints[1]
    moved = (*shoulder.pose.position[:2], 0.3, 0.0, 0.2, 0.0, np.sqrt(0.96))
    params = MODEL.params(gravity=(1.0, 0.5, -3.7), placement={shoulder.name: np.array(moved)})
    loaded = MODEL.with_payload(TOOL, 0.42, (0.0, 0.01, 0.05))
    same = loaded.params(gravity=(1.0, 0.5, -3.7), placement={shoulder.name: np.array(moved)})
    tau = wd.gravity_torques(loaded, Q, params=same)
    found = wd.diagnose_gravity(MODEL, Q, tau, link=TOOL, params=params)
    assert found.mass == pytest.approx(0.42) and found.explained == pytest.approx(1.0)
    np.testing.assert_allclose(found.com, (0.0, 0.01, 0.05), atol=1e-9)


def test_too_few_poses_are_refused_and_joints_can_be_left_out() -> None:
    """Fewer than three poses and numbers that are not finite are refused.

    A joint without gravity torque only gets an offset.
    """
    with pytest.raises(ValueError, match="at least 3 poses"):
        wd.diagnose_gravity(MODEL, Q[:2], OWN[:2])
    with pytest.raises(ValueError, match=r"tau must be \(N, nv\) = \(8, 6\).*got \(8, 7\)"):
        wd.diagnose_gravity(MODEL, Q, np.concatenate([OWN, OWN[:, :1]], axis=1))
    assert wd.diagnose_gravity(MODEL, Q[:3], OWN[:3]).poses == 3
    for q, tau in ((Q, OWN * np.nan), (Q * np.nan, OWN)):
        with pytest.raises(ValueError, match="finite"):
            wd.diagnose_gravity(MODEL, q, tau)
    free = wd.load_robot("ur5e", floating_base=True)
    with pytest.raises(ValueError, match=r"joints must have one coordinate each, got .* with 6"):
        q = wd.random_configuration(free, 3)
        wd.diagnose_gravity(free, q, np.zeros((3, free.nv)), joints=[free.base_joint])
    pan = wd.diagnose_gravity(MODEL, Q, OWN + np.eye(6)[0] / 2).joints[0]
    assert pan.scale == 0.0 and pan.scale_deviation == np.inf
    assert pan.offset == pytest.approx(0.5)
    some = wd.diagnose_gravity(MODEL, Q, OWN, joints=MODEL.joint_names[:3])
    assert [j.name for j in some.joints] == list(MODEL.joint_names[:3])


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.5, 0.125, 1.0, 0.25, 9.0), "model 50.0 % low (± 12.5), offset +1 ± 0.2 N·m"),
        ((-0.5, 0.125, -1.0, 0.25, 9.0), "model 50.0 % high (± 12.5), offset -1 ± 0.2 N·m"),
        ((0.375, 0.125, 0.75, 0.25, 9.0), "differs by 9 N·m without a pattern"),
        ((0.5, 0.25, LEAST_TORQUE, 0.0, 0.0), "agrees"),
        ((0.0, np.inf, 0.0, 1.0, LEAST_TORQUE), "differs by 0.02 N·m without a pattern"),
        ((0.0, np.inf, 1.5 * LEAST_TORQUE, 0.001, 0.0), "offset +0.03 ± 0.001 N·m"),
        ((0.0, np.inf, 2.0 * LEAST_TORQUE, LEAST_TORQUE, 0.0), "agrees"),
    ],
)
def test_a_joint_is_described_by_its_significant_deviations(
    numbers: tuple[float, ...], text: str
) -> None:
    """Scale, its deviation, offset, its deviation, error.

    A value at its bound is not significant.
    """
    assert FELT == 3.0
    assert str(JointGravity("j", *numbers)) == f"j: {text}"


def load_of(mass: float = 0.5, deviation: float = 0.125, explained: float = 0.9) -> str:
    found = GravityDiagnosis((), 4, "hand", mass, deviation, (0.1, -0.25, 0.0), explained)
    return found.load


def test_a_load_is_described_if_it_is_significant() -> None:
    """Its mass must reach three deviations and explain enough of the errors."""
    words = "0.5 ± 0.1 kg at hand, centre of mass (0.1, -0.25, 0) m, would explain 90 % of it"
    assert load_of() == f"a payload of {words}"
    assert load_of(-0.5) == f"the model carries too much: {words}"
    assert EXPLAINED == 0.8
    assert load_of(0.375) and not load_of(0.374) and load_of(-0.375) and not load_of(-0.374)
    assert load_of(explained=0.8) and not load_of(explained=0.79)
    joint = JointGravity("j", 0.5, 0.125, 1.0, 0.25, 9.0)
    for link, more in (("hand", [f"  {load_of()}"]), ("", [])):
        found = GravityDiagnosis((joint, joint), 4, link, 0.5, 0.125, (0.1, -0.25, 0.0), 0.9)
        assert str(found).splitlines() == ["4 poses at rest", *[f"  {joint}"] * 2, *more]


def test_scale_and_offset_equal_those_of_a_least_squares_fit() -> None:
    """The standard deviations are equal, too. A torque that hardly varies has only an offset."""
    own, rest = np.array([1.0, 2.0, 3.0, 5.0, 8.0]), np.array([0.3, 0.1, 0.5, 0.6, 1.1])
    found = _of_joint("j", own, rest)
    (scale, offset), covariance = np.polyfit(own, rest, 1, cov="unscaled")
    variance = ((rest - scale * own - offset) ** 2).sum() / 3
    spread = np.sqrt(variance * covariance.diagonal())
    assert (found.scale, found.offset) == pytest.approx((scale, offset))
    assert (found.scale_deviation, found.offset_deviation) == pytest.approx(tuple(spread))
    assert found.error == pytest.approx(np.sqrt((rest**2).mean()))
    for level in ([10.0, 11.0, 10.5], [0.1, 0.11, 0.12], [-10.0, -11.0, -10.5]):
        flat = _of_joint("j", np.array(level), rest[:3])
        assert (flat.scale, flat.scale_deviation) == (0.0, np.inf)
        assert flat.offset == pytest.approx(0.3)
        assert flat.offset_deviation == pytest.approx(np.std(rest[:3], ddof=1) / np.sqrt(3))
    for level in ([10.0, 11.2, 10.5], [0.1, 0.125, 0.12], [-10.0, -11.2, -10.5]):
        assert np.isfinite(_of_joint("j", np.array(level), rest[:3]).scale_deviation)


def test_an_unidentifiable_load_has_no_centre_of_mass() -> None:
    """Its mass is small against its deviation, or the poses do not determine its four numbers.

    Without errors nothing is explained.
    """
    found = wd.diagnose_gravity(MODEL, Q, OWN + NOISE, link=TOOL)
    assert found.com == (0.0, 0.0, 0.0) and abs(found.mass) < FELT * found.mass_deviation
    same = wd.diagnose_gravity(MODEL, np.tile(Q[:1], (4, 1)), np.tile(OWN[:1], (4, 1)), link=TOOL)
    assert same.mass_deviation == np.inf and same.com == (0.0, 0.0, 0.0)
    assert wd.diagnose_gravity(MODEL, Q, OWN, link=TOOL).explained == 0.0


def test_documented_numbers() -> None:
    check_numbers(
        "functions.identification.gravity_diagnosis",
        FELT=3.0,
        VARIED=0.1,
        LEAST_TORQUE=0.02,
        EXPLAINED=0.8,
    )
