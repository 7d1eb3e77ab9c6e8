"""MJCF: attributes of joints, and the forces on them."""

from __future__ import annotations

import numpy as np
import pytest
from mjcf_texts import INERTIAL, MUJOCO, body, load
from mujoco_peer import Peer
from states import error, states

import warpdyn as wd
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model.names import ModelError


@pytest.mark.parametrize("others", ["", 'ref="1"', 'type="slide" ref="1"'])
def test_a_zero_axis_is_refused(others: str) -> None:
    """The error names the line, whether or not the joint has a ref."""
    with pytest.raises(ModelError, match=r'joint "j": axis is zero; a .* joint needs .*\(line 1\)'):
        load(body(INERTIAL + f'<joint name="j" axis="0 0 0" {others}/>'))
    assert load(body(INERTIAL + '<joint type="ball" axis="0 0 0"/>')).nv == 3


SPRUNG = """
<mujoco><compiler angle="degree"/><default><joint stiffness="3" damping="0.4"/></default><worldbody>
<body name="a" gravcomp="0.6" pos="0 0 1" euler="10 20 30">
  <joint name="hinge" axis="0 -1 0" springref="40" ref="15" stiffness="7"/>
  <joint name="slide" type="slide" axis="0 0.6 -0.8" springref="0.3" pos="0.1 0 0"/>
  <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
  <body name="b" gravcomp="1.5" pos="0.3 0 0">
    <joint name="ball" type="ball" stiffness="0" pos="0 0.1 0"/>
    <inertial pos="0 0.2 0" mass="1" diaginertia="0.1 0.2 0.25"/>
    <body name="c" gravcomp="-0.2"><inertial pos="0 0 1" mass="0.5" diaginertia="0.1 0.1 0.1"/></body>
  </body></body></worldbody></mujoco>"""


def test_springs_and_gravity_compensation_equal_mujocos() -> None:
    """qfrc_passive has springs by springref, angles in the file's unit, and gravcomp of each body,
    also of welded bodies."""
    described = load(SPRUNG)
    assert described.joint("hinge").rest == pytest.approx(np.radians(40))
    model = described.with_springs("description").with_gravity_compensation("description")
    model = model.with_friction(viscous="description")
    peer, s = Peer(SPRUNG, model), states(model, 4)
    for q, v in zip(s.q, s.v, strict=True):
        peer.set(q, v)
        found = wd.oracle(effect_torques, model, q, v)
        assert error(found, -peer.data.qfrc_passive) < MUJOCO
        tau = wd.oracle(wd.rnea, model, q, v, 0.0 * v)
        assert error(tau, peer.data.qfrc_bias - peer.data.qfrc_passive) < MUJOCO


@pytest.mark.parametrize(("first", "second"), [(1.5, -0.2), (-0.4, -0.2), (-0.4, 0.0), (0.0, 0.3)])
def test_negative_gravcomp_acts_where_mujoco_applies_it(first: float, second: float) -> None:
    """MuJoCo applies gravcomp only if that of some body is positive. Otherwise a remark says that
    it is ignored."""
    text = SPRUNG.replace('gravcomp="0.6"', 'gravcomp="0"')
    text = text.replace('gravcomp="1.5"', f'gravcomp="{first}"')
    text = text.replace('gravcomp="-0.2"', f'gravcomp="{second}"')
    described = load(text)
    assert any("gravcomp" in line for line in described.warnings) == (first < 0)
    model = described.with_springs("description").with_gravity_compensation("description")
    model = model.with_friction(viscous="description")
    peer, s = Peer(text, model), states(model, 2)
    for q, v in zip(s.q, s.v, strict=True):
        peer.set(q, v)
        found = wd.oracle(effect_torques, model, q, v)
        assert error(found, -peer.data.qfrc_passive) < MUJOCO


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ('springyield="2"', '"springyield" of <joint>: its spring does not yield'),
        (
            'actuatorgravcomp="true"',
            '"actuatorgravcomp" of <joint>: gravcomp is not an actuator here',
        ),
    ],
)
def test_ignored_attributes_of_joints_are_remarked(attribute: str, said: str) -> None:
    lines = load(body(INERTIAL + f'<joint stiffness="1" {attribute}/>')).warnings
    assert lines == (f"ignored attribute {said} (line 1)",)
    assert load(body(INERTIAL + '<joint springyield="0" actuatorgravcomp="false"/>')).warnings == ()
