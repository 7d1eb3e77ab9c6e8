"""Softness of joint limits in MJCF files."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.soft_stops import impedance
from warpdyn.formats.mjcf.mjcf_softness import (
    LEAST_IMPEDANCE,
    bounded_curve,
    impedance_at,
    number_of,
    reference_rates,
)
from warpdyn.model.ground_contact import LimitSoftness

ROD = """<mujoco>{0}<worldbody><body><joint name="j" axis="0 1 0" {1}/><geom size="0.1" mass="1"/></body>
</worldbody></mujoco>"""


def softness_of(written: str, option: str = "") -> LimitSoftness | None:
    return wd.load(ROD.format(option, written)).joint("j").soft_limit


def test_the_softness_of_a_limit_has_mujocos_defaults() -> None:
    """A joint without a limit has no softness."""
    assert softness_of("") is None
    soft = softness_of('range="-30 40"')
    assert soft is not None and soft.margin == 0.0
    assert soft.impedance == (0.9, 0.95, 0.001, 0.5, 2.0)
    assert (soft.stiffness, soft.rate) == pytest.approx(((0.95 * 0.02) ** -2, 2 / (0.95 * 0.02)))


def test_the_softness_of_a_limit_is_read_from_its_joint() -> None:
    """Numbers that are not written are the defaults. Impedances are within MuJoCo's bounds."""
    soft = softness_of('range="-30 40" solreflimit="0.05 0.5" solimplimit="0 2 .03" margin="0.01"')
    assert soft is not None
    highest = 1.0 - LEAST_IMPEDANCE
    assert soft.impedance == (LEAST_IMPEDANCE, highest, 0.03, 0.5, 2.0) and soft.margin == 0.01
    assert soft.stiffness == pytest.approx((highest * 0.05 * 0.5) ** -2)
    with pytest.raises(wd.ModelError, match="solreflimit"):
        softness_of('range="-30 40" solreflimit="soft"')


def test_time_constants_are_at_least_two_steps() -> None:
    """The steps are those of the file's timestep. A negative solref gives stiffness and damping
    instead."""
    soft = softness_of('range="-30 40"', '<option timestep="0.02"/>')
    assert soft is not None and soft.rate == pytest.approx(2 / (0.95 * 0.04))
    assert reference_rates((-400.0, -30.0), 0.5, 0.002) == (1600.0, 60.0)
    assert number_of("fast", 0.002) == 0.002 and number_of("0.01", 0.002) == 0.01


@pytest.mark.parametrize(
    "solref",
    [
        "0.02 1",
        "0.001 0.5",
        "0.05 0.0001",
        "-400 -30",
        "-400 0",
        "0 -30",
        "-4000 5",
        "0.02 -1",
        "0 1",
        "0.02 0",
    ],
)
def test_reference_rates_equal_mujocos(solref: str) -> None:
    """If only one number is positive, MuJoCo takes its default, and warns."""
    mujoco = pytest.importorskip("mujoco")
    text = ROD.format(
        '<compiler angle="radian"/>', f'range="1 2" limited="true" solreflimit="{solref}"'
    )
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    soft = wd.load(text).joint("j").soft_limit
    assert soft is not None
    assert (soft.stiffness, soft.rate) == pytest.approx(data.efc_KBIP[0, :2], abs=1e-9)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("midpoint", [-1.0, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("width", [-0.1, 0.0, 1e-15, 1.4e-15, 0.05])
@pytest.mark.parametrize("ends", [(0.2, 0.8), (0.9, 0.5), (-1.0, 2.0), (0.7, 0.7)])
def test_impedances_equal_mujocos(
    ends: tuple[float, float], width: float, midpoint: float, power: float
) -> None:
    """They are compared within the width of a curve and beyond it. MuJoCo bounds the numbers of a
    curve, and takes the mean if the curve has no width. The same bounds apply to a softness that
    does not come from a file."""
    mujoco = pytest.importorskip("mujoco")
    curve = (*ends, width, midpoint, power)
    solimp = " ".join(map(str, curve))
    text = ROD.format(
        '<compiler angle="radian"/>', f'range="1 2" limited="true" solimplimit="{solimp}"'
    )
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    soft = wd.load(text).joint("j").soft_limit
    assert soft is not None
    for depth in (1e-5, 0.012, 0.04, 0.06):
        data.qpos[0] = 1.0 - depth
        mujoco.mj_forward(theirs, data)
        wanted = pytest.approx(data.efc_KBIP[0, 2], rel=1e-6)
        assert impedance(soft.impedance, depth) == wanted
        assert impedance((*soft.impedance[:2], width, midpoint, power), depth) == wanted
        assert impedance_at(bounded_curve(curve), depth) == wanted
