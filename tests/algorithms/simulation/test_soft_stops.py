"""Joint limits that are as soft as MuJoCo's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.soft_stops import FREE, SoftStop, impedance, soft_row

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
