"""MJCF: what <option> switches off, compared with MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, JOINT_PAIR, load

import warpdyn as wd
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model.names import ModelError

TEXT = """<mujoco><option {option}><flag {flag}/></option><worldbody><geom type="plane" size="9 9 1"/>
<body gravcomp="0.5"><joint name="a" axis="0 1 0" stiffness="3" damping="0.2" frictionloss="0.1"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/><geom size="0.1" pos="0 0 -1"/>
<body pos="1 0 0"><joint name="b" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</body></worldbody>
<tendon><fixed name="t" stiffness="2" damping="0.7"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed>
</tendon>
<actuator><motor name="m" joint="a" ctrlrange="-1 1"/><motor name="n" joint="b" group="2" damping="0.3"/>
<motor name="o" joint="b" group="12"/></actuator></mujoco>"""


def torques(text: str) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's passive forces and actuator forces in one state."""
    robot = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(robot)
    data.qpos, data.qvel, data.ctrl = (0.3, -0.2), (0.5, -0.3), (5.0, 3.0, 2.0)
    mujoco.mj_forward(robot, data)
    return data.qfrc_passive, data.qfrc_actuator


@pytest.mark.parametrize(
    ("flag", "option"),
    [
        ('spring="enable"', ""),
        ('spring="disable"', ""),
        ('damper="disable"', ""),
        ('spring="disable" damper="disable"', ""),
        ('actuation="disable"', ""),
        ('clampctrl="disable"', ""),
        ('energy="enable"', 'actuatorgroupdisable="2"'),
        ('energy="enable"', 'actuatorgroupdisable="2 0"'),
        ('energy="enable"', 'actuatorgroupdisable=" 02  +0 "'),
    ],
)
def test_flags_switch_forces_off_as_in_mujoco(flag: str, option: str) -> None:
    text = TEXT.format(flag=flag, option=option)
    passive, actuation = torques(text)
    model, q, v = load(text), np.array([0.3, -0.2]), np.array([0.5, -0.3])
    acting = model.with_springs("description").with_friction(viscous="description")
    acting = acting.with_gravity_compensation("description")
    resisted = wd.oracle(effect_torques, acting, q, v)
    borne = wd.oracle(wd.rnea, model, q, 0 * v, 0 * v) - (
        wd.oracle(wd.rnea, acting, q, 0 * v, 0 * v) - wd.oracle(effect_torques, acting, q, 0 * v)
    )
    np.testing.assert_allclose(borne - resisted, passive, atol=1e-12)
    controls = {"m": 5.0, "n": 3.0, "o": 2.0}
    mine = np.array([controls[each.name] for each in model.actuators])
    forces = wd.oracle(wd.actuator_torques, model, q, v, mine) if len(mine) else np.zeros(2)
    np.testing.assert_allclose(forces, actuation, atol=1e-12)


def test_flags_switch_dry_friction_off() -> None:
    for flag in ("frictionloss", "constraint"):
        model = load(TEXT.format(flag=f'{flag}="disable"', option=""))
        assert model.joint("a").friction == 0.0
        said = 'ignored frictionloss of <joint>, which <flag frictionloss="disable"> switches off (line 2)'
        assert said in model.warnings


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_flags_switch_constraints_off(flag: str) -> None:
    text = f"""<mujoco><option><flag {flag}="disable"/></option><worldbody>{JOINT_PAIR}</worldbody>
    <equality><joint joint1="p" joint2="q"/><connect body1="a" body2="b" anchor="0 0 0"/></equality></mujoco>"""
    model = load(text)
    assert model.nv == 2 and model.loops == ()
    assert "ignored element <connect> of <equality>, not active (line 2)" in model.warnings


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_flags_switch_contacts_off(flag: str) -> None:
    text = TEXT.format(flag='contact="enable"', option="")
    assert len(wd.ContactPoints(load(text))) == 1
    assert len(wd.ContactPoints(load(text.replace('contact="enable"', f'{flag}="disable"')))) == 0
    two = f'<body><freejoint/>{INERTIAL}<geom name="{{}}" size="0.1"/></body>'
    pair = '<contact><pair geom1="g" geom2="h"/></contact>'
    text = f"""<mujoco><option><flag {flag}="{{}}"/></option><worldbody>{two.format("g")}{two.format("h")}
    </worldbody>{pair}</mujoco>"""
    assert len(wd.ContactPairs(load(text.format("enable")))) == 1
    assert len(wd.ContactPairs(load(text.format("disable")))) == 0


def test_flags_that_a_simulation_ignores_are_remarked() -> None:
    said = {
        'limit="disable"': '<flag limit="disable"> (pass stops="none")',
        'constraint="disable"': '<flag limit="disable"> (pass stops="none")',
        'filterparent="disable"': '<flag filterparent="disable"> (bodies that a joint connects do not touch)',
        'eulerdamp="disable"': (
            '<flag eulerdamp="disable"> (damping is implicit with integrator="mujoco_euler")'
        ),
        'override="enable"': (
            '<flag override="enable">, with o_margin, o_solref, o_solimp and o_friction'
        ),
    }
    for flag, part in said.items():
        lines = load(TEXT.format(flag=flag, option="")).warnings
        assert any(line.startswith("a Simulation leaves out: ") and part in line for line in lines)
    assert not any(
        "flag" in line for line in load(TEXT.format(flag='limit="enable"', option="")).warnings
    )


def test_refsafe_disable_permits_short_time_constants() -> None:
    """Otherwise MuJoCo takes a time constant of at least two steps."""
    text = """<mujoco><option><flag refsafe="{}"/></option><worldbody><body>
    <joint name="j" range="-10 10" solreflimit="0.001 1" solimplimit="0.9 0.9"/><geom size="1"/></body>
    </worldbody></mujoco>"""
    rates = []
    for word in ("enable", "disable"):
        limit = load(text.format(word)).joint("j").soft_limit
        assert limit is not None
        rates.append(limit.rate)
    assert rates == pytest.approx([2 / (0.9 * 0.004), 2 / (0.9 * 0.001)])


def test_a_flag_must_be_enable_or_disable() -> None:
    with pytest.raises(ModelError, match='spring is "off"; it must be "enable" or "disable"'):
        load(TEXT.format(flag='spring="off"', option=""))


def test_groups_that_are_no_whole_numbers_are_refused() -> None:
    text = TEXT.format(flag='energy="enable"', option='actuatorgroupdisable="2 x"')
    with pytest.raises(ModelError, match='actuatorgroupdisable is "2 x"; it must be whole'):
        load(text)
