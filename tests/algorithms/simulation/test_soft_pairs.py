"""Contacts between bodies that are as soft as in MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

STEP, STEPS = 0.004, 60

MEETING = """<mujoco><option timestep="0.004" integrator="{}"/><default><geom condim="1"/></default><worldbody>
<body><joint axis="0 1 0" armature="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size="0.03" mass="1"/>
<body pos="0 0 -.5"><joint axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size="0.02" mass=".5"/></body></body>
<body pos="0.2 0 -.6"><joint type="slide" axis="1 0 0" armature="0.3"/><joint type="slide" axis="0 0 1"/>
<geom size="0.05" mass="0.7"/></body></worldbody></mujoco>"""
"""A double pendulum and a ball that slides."""

SOFTNESS = wd.description.ContactSoftness(
    stiffness=1.0 / (0.95 * 0.02) ** 2,
    rate=2.0 / (0.95 * 0.02),
    impedance=(0.9, 0.95, 0.001, 0.5, 2.0),
)
"""MuJoCo's default."""


@pytest.mark.parametrize("method", ["Euler", "RK4"])
def test_bodies_collide_as_in_mujoco(method: str) -> None:
    """Positions agree to 1e-7 during and after the impact. With a stiff pair they differ by more
    than 5e-3.
    """
    mujoco = pytest.importorskip("mujoco")
    text = MEETING.format(method)
    theirs, model = mujoco.MjModel.from_xml_string(text), wd.load(text)
    data, off = mujoco.MjData(theirs), {}
    for softness in (SOFTNESS, None):
        sim = wd.Simulation(
            model,
            1,
            dt=STEP,
            substeps=1,
            sweeps=50,
            dtype="float64",
            points=[],
            integrator=f"mujoco_{method.lower()}",
            pairs=wd.ContactPairs(model),
            pair_contact=wd.description.PairContact(friction=0.0, softness=softness),
        )
        sim.reset(v=[-3.0, 0.0, 0.0, 1.0])
        mujoco.mj_resetData(theirs, data)
        data.qvel[:] = sim.v[0]
        touched, off[softness] = 0, 0.0
        for _ in range(STEPS):
            mujoco.mj_step(theirs, data)
            sim.step()
            touched += data.ncon
            off[softness] = max(off[softness], np.abs(sim.q[0] - data.qpos).max())
        assert touched > 2
    assert off[SOFTNESS] < 1e-7 and off[None] > 5e-3


def test_a_softness_with_restitution_is_refused() -> None:
    model = wd.load(MEETING.format("RK4"))
    zeros = np.zeros((1, model.nq))
    both: Any = wd.description.PairContact(restitution=0.5, softness=SOFTNESS)
    with pytest.raises(
        ValueError, match="restitution is for rigid pairs and softness for soft ones"
    ):
        wd.step(model, zeros, zeros, zeros, pairs=wd.ContactPairs(model), pair_contact=both)
