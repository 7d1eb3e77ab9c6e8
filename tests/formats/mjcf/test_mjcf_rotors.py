"""MJCF: armature and damping of actuators, compared with MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, load

import warpdyn as wd
from warpdyn.functions.dynamics import effect_torques

TEXT = """<mujoco><default><motor armature="0.03"/></default><worldbody>
<body><joint name="a" axis="0 1 0" damping="0.2"/>{body}
<body pos="1 0 0"><joint name="b" type="slide" armature="0.1"/>{body}
<body pos="0 1 0"><joint name="c" type="ball"/>{body}</body></body></body></worldbody>
<tendon><fixed name="t" armature="0.4"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""


@pytest.mark.parametrize(
    "actuators",
    [
        '<motor joint="a" armature="0.2" damping="0.3" gear="-3"/>',
        '<motor joint="a" gear="3"/>',
        '<position jointinparent="b" armature="0.2"/><velocity joint="b" damping="2"/>',
        '<motor tendon="t" gear="2" damping="0.7"/>',
        '<motor joint="c" gear="2 0 0" damping="0.7"/>',
        '<muscle joint="a" lengthrange="0 1" armature="0.2" damping="1"/>',
    ],
)
def test_actuators_add_mujocos_armature_and_damping(actuators: str) -> None:
    text = TEXT.format(body=INERTIAL, actuators=actuators)
    robot = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(robot)
    data.qvel = v = np.array([0.5, -0.3, 0.2, 0.7, -0.4])
    mujoco.mj_forward(robot, data)
    mass = np.zeros((5, 5))
    mujoco.mj_fullM(robot, data, mass)
    model = load(text)
    damped = model.with_friction(viscous="description")
    np.testing.assert_allclose(wd.oracle(wd.crba, model, model.neutral), mass, atol=1e-12)
    damping = wd.oracle(effect_torques, damped, model.neutral, v)
    np.testing.assert_allclose(-damping, data.qfrc_passive, atol=1e-12)


def test_the_motor_of_a_free_base_adds_armature() -> None:
    text = """<mujoco><worldbody><body><freejoint name="f"/><geom size="0.1"/></body></worldbody>
    <actuator><motor joint="f" gear="2 0 0 0 0 0" armature="0.5"/></actuator></mujoco>"""
    assert load(text).base_armature == 2.0


def test_damping_powers_and_rotors_of_spatial_tendons_are_remarked() -> None:
    """Both are ignored."""
    text = TEXT.format(body=INERTIAL, actuators='<position joint="a" damping="1 2 3"/>')
    assert "ignored numbers of damping of an actuator for higher powers" in load(text).warnings[0]
    text = """<mujoco><worldbody><site name="s"/><body><joint/><geom size="1"/><site name="t" pos="0 0 1"/></body>
    </worldbody><tendon><spatial name="t"><site site="s"/><site site="t"/></spatial></tendon>
    <actuator><motor tendon="t" armature="1"/></actuator></mujoco>"""
    said = "ignored armature and damping of an actuator of a spatial tendon (line 3)"
    assert said in load(text).warnings
