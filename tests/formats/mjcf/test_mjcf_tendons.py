"""MJCF: fixed tendons compared with MuJoCo; remarks on spatial tendons; constraints on tendons."""

from __future__ import annotations

import numpy as np
import pytest
from mjcf_texts import INERTIAL, MUJOCO, load
from mujoco_peer import Peer
from states import error, states

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model.names import ModelError

TIED = """
<mujoco><compiler angle="radian"/><default><tendon damping="0.3"/></default><worldbody>
<body name="a"><joint name="j" axis="0 1 0" springref="0.2"/>
  <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/><site name="s"/>
  <body name="b" pos="0 0 0.4"><joint name="k" type="slide" axis="1 0 0" ref="0.1"/>
    <inertial pos="0 0.2 0" mass="1" diaginertia="0.1 0.2 0.25"/><site name="t"/>
    <body name="c" pos="0 0 0.4"><joint name="l" axis="1 0 0"/>
      <inertial pos="0 0.2 0" mass="1" diaginertia="0.1 0.2 0.25"/></body></body></body></worldbody>
<tendon>
  <fixed name="one" armature="0.7" stiffness="3"><joint joint="j" coef="2"/><joint joint="k" coef="-0.5"/></fixed>
  <fixed name="two" armature="0.2" stiffness="5" springlength="-0.2 0.3" range="-1 1" damping="0">
    <joint joint="l" coef="1"/><joint joint="j" coef="0.3"/></fixed>{}
</tendon>{}</mujoco>"""


LEFT_OUT = "a Simulation leaves out: "


def test_fixed_tendons_equal_mujocos() -> None:
    """Armature in M and in joint forces, springs with the range in which they are slack, and
    dampers are compared."""
    text = TIED.format("", "")
    model = load(text).with_springs("description").with_friction(viscous="description")
    assert model.warnings == () and model.tendons[0].slack == pytest.approx((0.4, 0.4))
    assert (model.tendons[1].limits.lower, model.tendons[1].limits.upper) == (-1, 1)
    peer, s = Peer(text, model), states(model, 6)
    for q, v in zip(s.q, s.v, strict=True):
        assert error(wd.oracle(wd.crba, model, q), peer.mass_matrix(q, v)) < MUJOCO
        assert error(wd.oracle(effect_torques, model, q, v), -peer.data.qfrc_passive) < MUJOCO


def test_spatial_tendons_that_act_are_remarked() -> None:
    """The remark says which forces or limits are ignored."""
    rope = '<spatial name="r" {}><site site="s"/><site site="t"/></spatial>'
    with pytest.warns(wd.ModelWarning, match="ignored stiffness and damping of a spatial tendon"):
        assert len(load_mjcf(TIED.format(rope.format('stiffness="3"'), "")).tendons) == 2
    assert load(TIED.format(rope.format('damping="0"'), "")).warnings == ()
    limited = load(TIED.format(rope.format('range="0 1"'), ""))
    assert f"{LEFT_OUT}limits of spatial tendons" in limited.warnings
    rubbing = load(TIED.replace('armature="0.7"', 'armature="0.7" frictionloss="1"').format("", ""))
    assert rubbing.warnings == (f"{LEFT_OUT}dry friction of tendons",)


def test_default_classes_of_tendons_count_for_what_a_simulation_leaves_out() -> None:
    """Friction and limits act if a class has them, limits only if they are switched on."""
    rope = '<spatial name="r" {}><site site="s"/><site site="t"/></spatial>'
    of_class = TIED.replace('damping="0.3"', 'damping="0" frictionloss="2"')
    assert f"{LEFT_OUT}dry friction of tendons" in load(of_class.format("", "")).warnings
    of_class = TIED.replace('damping="0.3"', 'damping="0" range="0 1"')
    limited = load(of_class.format(rope.format(""), ""))
    assert f"{LEFT_OUT}limits of spatial tendons" in limited.warnings
    free = load(of_class.format(rope.format('limited="false"'), ""))
    assert free.warnings == ()
    still = '<fixed name="n" frictionloss="0"><joint joint="l" coef="1"/></fixed>'
    assert load(TIED.format(still, "")).warnings == ()


def test_a_joint_twice_in_a_tendon_is_refused() -> None:
    twice = '<fixed name="n"><joint joint="l" coef="1"/><joint joint="l" coef="2"/></fixed>'
    with pytest.raises(ModelError, match='"n": it names a joint twice'):
        load(TIED.format(twice, ""))


@pytest.mark.parametrize("others", ["", 'polycoef="0.3 1 0 0 0"'])
def test_a_constraint_on_a_tendon_of_two_joints_couples_them(others: str) -> None:
    """One joint follows the other so that the tendon's length is constant, as in MuJoCo's
    constraint."""
    held = f'<equality><tendon tendon1="one" {others}/></equality>'
    model = load(TIED.format("", held))
    mimic = model.joint("j").mimic
    start = 0.15 if others else 0.0
    assert (mimic.joint, mimic.multiplier) == ("k", 0.25)
    assert mimic.offset == pytest.approx(start - 0.25 * 0.1)
    mujoco = pytest.importorskip("mujoco")
    there = mujoco.MjModel.from_xml_string(TIED.format("", held))
    data = mujoco.MjData(there)
    data.qpos[1] = 0.7
    data.qpos[0] = mimic.multiplier * 0.7 + mimic.offset
    mujoco.mj_forward(there, data)
    assert abs(data.efc_pos[0]) < 1e-12


def test_constraints_on_long_tendons_and_unknown_joints_are_refused() -> None:
    """The message names the tendon or the joint."""
    with pytest.raises(ModelError, match="couples tendons of more than two joints"):
        load(TIED.format("", '<equality><tendon tendon1="one" tendon2="two"/></equality>'))
    more = '<fixed name="three"><joint joint="j"/><joint joint="k"/><joint joint="l"/></fixed>'
    held = '<equality><tendon tendon1="three"/></equality>'
    with pytest.raises(ModelError, match="couples tendons of more than two joints"):
        load(TIED.format(more, held))
    with pytest.raises(ModelError, match='fixed "three": its joint "x" does not exist'):
        load(TIED.format('<fixed name="three"><joint joint="x"/></fixed>', ""))
    with pytest.raises(ModelError, match='two tendons are named "one"'):
        load(TIED.format('<fixed name="one"><joint joint="j"/></fixed>', ""))
    ball = TIED.replace('name="l" axis="1 0 0"', 'name="l" type="ball"').format("", "")
    with pytest.raises(ModelError, match='its joint "l" must be a hinge or a slide joint'):
        load(ball)


def test_unknown_elements_of_tendon_are_remarked() -> None:
    """The tendons after them are read."""
    with pytest.warns(wd.ModelWarning, match="ignored element <rope> of <tendon>"):
        model = load_mjcf(TIED.format("", "").replace("<tendon>", "<tendon><rope/>", 2))
    assert len(model.tendons) == 2


def test_a_constraint_on_a_tendon_of_one_joint_locks_the_joint() -> None:
    """The joint is at its reference, moved by the constant over the coefficient."""
    one = '<fixed name="three"><joint joint="l" coef="2"/></fixed>'
    held = '<equality><tendon tendon1="three" polycoef="0.6"/></equality>'
    model = load(TIED.format(one, held))
    assert model.joint_names == ("j", "k")
    mujoco = pytest.importorskip("mujoco")
    there = mujoco.MjModel.from_xml_string(TIED.format(one, held))
    data = mujoco.MjData(there)
    data.qpos[2] = 0.3
    mujoco.mj_forward(there, data)
    assert abs(data.efc_pos[0]) < 1e-12
    child = wd.oracle(wd.fk, model, np.array([0.0, 0.1]), frame="c")
    np.testing.assert_allclose(child[:3, :3], data.body("c").xmat.reshape(3, 3), atol=1e-12)


def test_a_weld_to_a_mocap_body_is_ignored_with_a_remark() -> None:
    """The user moves that body. A weld between two other bodies is still refused."""
    hand = f'<body name="hand"><joint/>{INERTIAL}</body>'
    goal = '<body name="goal" mocap="true"/>'
    text = f'<mujoco><worldbody>{hand}{goal}</worldbody><equality><weld body1="goal" body2="hand"/></equality></mujoco>'
    with pytest.warns(
        wd.ModelWarning, match=r"it pulls a body to one that the user moves \(mocap\)"
    ):
        assert load_mjcf(text).nv == 1
    with pytest.raises(ModelError, match="closes a loop"):
        load_mjcf(text.replace(' mocap="true"', ""), loops="refuse")


def test_tendons_and_actuators_of_locked_joints_act_as_in_mujoco() -> None:
    """polycoef locks a joint at ref plus a constant, and its follower at a position of its own.
    Springs and servos on tendons over such joints have MuJoCo's force there."""
    mujoco = pytest.importorskip("mujoco")
    held = (
        '<equality><joint joint1="j" polycoef="0.4 0 0 0 0"/>'
        '<joint joint1="k" joint2="j" polycoef="0.1 2 0 0 0"/></equality>'
        '<actuator><position tendon="two" kp="3"/></actuator>'
    )
    both = '<fixed name="both" stiffness="4"><joint joint="k" coef="3"/><joint joint="l" coef="1"/></fixed>'
    text = TIED.format(both, held)
    there, described = mujoco.MjModel.from_xml_string(text), load(text)
    model = described.with_springs("description").with_friction(viscous="description")
    assert model.joint_names == ("l",)
    data = mujoco.MjData(there)
    number = {name: int(there.joint(name).qposadr[0]) for name in "jkl"}
    data.qpos[number["j"]] = there.qpos0[number["j"]] + 0.4
    data.qpos[number["k"]] = there.qpos0[number["k"]] + 0.1 + 2 * 0.4
    data.qpos[number["l"]], data.ctrl[0] = 0.7, 0.5
    mujoco.mj_forward(there, data)
    q, column = np.array([0.7]), there.joint("l").dofadr[0]
    torque = wd.oracle(wd.actuator_torques, model, q, 0 * q, data.ctrl)
    assert torque[0] == pytest.approx(data.qfrc_actuator[column])
    passive = wd.oracle(effect_torques, model, q, 0 * q)
    assert passive[0] == pytest.approx(-data.qfrc_passive[column])


@pytest.mark.parametrize("key", ["stiffness", "damping"])
def test_stiffness_and_damping_powers_of_tendons_are_remarked(key: str) -> None:
    more = f'<fixed name="n" {key}="1 2 0"><joint joint="l" coef="1"/></fixed>'
    said = f"ignored numbers of {key} of a tendon for higher powers (line 12)"
    assert said in load(TIED.format(more, "")).warnings


def test_springyield_of_tendons_is_remarked() -> None:
    more = '<fixed name="n" stiffness="1" springyield="0.1"><joint joint="l" coef="1"/></fixed>'
    assert any("springyield of a tendon" in line for line in load(TIED.format(more, "")).warnings)
