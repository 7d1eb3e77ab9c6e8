"""Joint limits that are as soft as MuJoCo's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.simulation.soft_stops import (
    FREE,
    LEAST_MIDPOINT,
    NO_WIDTH,
    SoftPoint,
    SoftStop,
    bounded_rates,
    impedance,
    point_row,
    soft_row,
)

STEP, STEPS = 0.001, 800
ARM = """<mujoco><option timestep="0.001"/><worldbody>
<body><joint name="a" axis="0 1 0" range="-30 40" armature="0.1" damping="0.2" {0}/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="1"/>
<body pos="0.5 0 0"><joint name="b" axis="0 1 0" range="-20 20" {0}/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5"/></body></body></worldbody></mujoco>"""
"""Two rods that fall onto both limits."""


@pytest.mark.parametrize(
    "limit",
    [
        "",
        'solreflimit="0.05 0.7" solimplimit="0 .8 .1"',
        'solimplimit="0.5 .9 .02 .3 3" margin="0.02"',
        'solreflimit="-400 -30" solimplimit=".9 .9 .01 .5 1"',
    ],
    ids=["defaults", "from zero", "cubic, with a margin", "stiffness and damping"],
)
def test_rods_fall_onto_their_limits_as_in_mujoco(limit: str) -> None:
    """The whole path agrees to the first order of the step.

    Rigid limits differ 50 times as much.
    """
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(ARM.format(limit))
    data, model = mujoco.MjData(theirs), wd.load(ARM.format(limit))
    off = {}
    for stops in ("soft", "rows"):
        mujoco.mj_resetData(theirs, data)
        off[stops] = 0.0
        sim = wd.Simulation(
            *(model, 1), dt=STEP, substeps=10, dtype="float64", stops=stops, points=[]
        )
        for _ in range(STEPS // 10):
            mujoco.mj_step(theirs, data, nstep=10)
            sim.step()
            off[stops] = max(off[stops], np.abs(sim.q[0] - data.qpos).max())
    assert off["soft"] < 1e-3 and off["rows"] > 50 * off["soft"]


def test_a_soft_limit_acts_only_beyond_itself() -> None:
    """There its target velocity brings the joint back, on either side."""
    stop = SoftStop(2500.0, 100.0, (0.9, 0.95, 0.001, 0.5, 2.0), 2.0)
    row = soft_row(stop, 0.5, 3.0, -1.0, 1.0, 0.001)
    assert row.lowest == -FREE and row.highest == FREE
    above = soft_row(stop, 1.1, 0.0, -1.0, 1.0, 0.001)
    assert above.lowest == -FREE
    assert above.highest == pytest.approx(-0.001 * 2500.0 * 0.95 * 0.1)
    assert above.compliance == pytest.approx(0.05 / 0.95 * 2.0)
    below = soft_row(stop, -1.1, -2.0, -1.0, 1.0, 0.001)
    assert below.highest == FREE
    assert below.lowest == pytest.approx(-2.0 * 0.9 + 0.001 * 2500.0 * 0.95 * 0.1)


def test_a_long_step_limits_the_stiffness_of_a_soft_limit() -> None:
    """It damps all of the velocity, and is as stiff as a time constant of two steps."""
    stop = SoftStop(1e9, 1e6, (0.9, 0.9, 0.001, 0.5, 2.0), 1.0)
    row = soft_row(stop, 1.01, 5.0, -1.0, 1.0, 0.02)
    assert row.highest == pytest.approx(-0.25 / 0.02 * 0.9 * 0.01)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
def test_impedances_follow_mujocos_documented_curve(power: float) -> None:
    """Its values at the ends and in the midpoint, and its slope there."""
    numbers = (0.2, 0.8, 0.05, 0.3, power)

    def share(depth: float) -> float:
        found = impedance(numbers, depth)
        assert isinstance(found, float)
        return (found - 0.2) / 0.6

    assert share(0.0) == pytest.approx(0.0, abs=1e-9)
    assert share(0.05) == share(1.0) == pytest.approx(1.0)
    assert share(0.05 * 0.3) == pytest.approx(0.3)
    x = 0.2
    wanted = x if power == 1.0 else x**power / 0.3 ** (power - 1.0)
    assert share(0.05 * x) == pytest.approx(wanted)
    x = 0.9
    wanted = x if power == 1.0 else 1.0 - (1.0 - x) ** power / 0.7 ** (power - 1.0)
    assert share(0.05 * x) == pytest.approx(wanted)
    assert math.isfinite(share(0.049999999))


def test_an_impedance_without_a_width_is_the_mean_of_its_ends() -> None:
    """Up to MuJoCo's least width. A midpoint at an end of the curve is moved off it."""
    for depth in (0.0, 0.01, 1.0):
        assert impedance((0.2, 0.8, 0.0, 0.3, 2.0), depth) == 0.5
        assert impedance((0.2, 0.8, NO_WIDTH, 0.3, 2.0), depth) == 0.5
        assert impedance((0.4, 0.4, 0.01, 0.3, 2.0), depth) == 0.4
    wider = impedance((0.2, 0.8, 1.5 * NO_WIDTH, 0.3, 2.0), 1.0)
    assert wider == pytest.approx(0.8)
    for x in (0.3, 0.7):
        early, late = (impedance((0.0, 1.0, 1.0, m, 2.0), x) for m in (0.0, 1.0))
        assert early == pytest.approx(1.0 - (1.0 - x) ** 2 / (1.0 - LEAST_MIDPOINT))
        assert late == pytest.approx(x**2 / (1.0 - LEAST_MIDPOINT))


def test_mujocos_steps_keep_the_damping_ratio_of_a_bounded_limit() -> None:
    """The time constant is two steps or more. Limits that are not bounded, or are slow enough, keep
    their numbers. Other steps take at most the whole velocity."""
    h, curve = 0.01, (0.5, 0.8, 0.001, 0.5, 2.0)
    bound = 1.0 / (h * 0.8)
    fast = SoftStop(4e6, 5.0 * bound, curve, 1.0, in_mujoco_steps=True)
    assert bounded_rates(fast, h) == pytest.approx((bound, 4e6 / 25.0))
    assert bounded_rates(fast._replace(is_bounded=False), h) == (5.0 * bound, 4e6)
    for rate in (bound, 0.5 * bound, 0.0):
        slow = fast._replace(rate=rate)
        assert bounded_rates(slow, h) == (rate, 4e6)
    assert bounded_rates(fast._replace(in_mujoco_steps=False), h) == (1.0 / h, 0.25 / h**2)
    soft = SoftStop(3.0, 2.0, curve, 1.0)
    assert bounded_rates(soft, h) == (2.0, 3.0)
    rigid = fast._replace(impedance=(0.0, 0.0, 0.001, 0.5, 2.0))
    assert bounded_rates(rigid, h) == (5.0 * bound, 4e6)


def test_a_soft_point_presses_below_the_ground_alone() -> None:
    """Friction has a damper and no spring, at any height."""
    h, curve = 0.002, (0.6, 0.9, 0.01, 0.5, 1.0)
    point = SoftPoint(2500.0, 100.0, curve, normal=0.3, tangential=0.7)
    v, kept = Vector(0.4, -0.5, -2.0), 1.0 - h * 100.0
    for height, d in ((-0.005, 0.75), (-0.1, 0.9), (0.0, 0.6), (0.2, 0.6)):
        row = point_row(point, height, v, h)
        share = (1.0 - d) / d
        assert (row.R_n, row.R_t) == pytest.approx((share * 0.3, share * 0.7))
        assert (row.slip_x, row.slip_y) == pytest.approx((0.4 * kept, -0.5 * kept))
        pushed = -2.0 * kept - d * height * h * 2500.0
        assert row.target == (pytest.approx(pushed) if height < 0.0 else -FREE)
