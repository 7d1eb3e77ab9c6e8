"""Joint forces of actuators: laws, the oracle, MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mjcf_texts import INERTIAL, load
from mujoco_peer import Peer
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.model.actuators import Actuator
from warpdyn.model.description import leading_joint
from warpdyn.model.poses_and_limits import UNLIMITED

TEXT = f"""<mujoco><compiler angle="radian"/>
<default><position kp="5"/><default class="weak"><motor forcerange="-0.5 0.3"/></default></default>
<worldbody><body><joint name="a" axis="0 1 0" actuatorfrcrange="-4 4"/>{INERTIAL}
<body pos="1 0 0"><joint name="b" type="slide" range="-0.5 1"/>{INERTIAL}
<body pos="0 1 0"><joint name="c" axis="1 0 0"/>{INERTIAL}</body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="c" coef="-2"/></fixed></tendon>
<actuator>
  <motor name="plain" joint="a" gear="3"/><motor joint="b" class="weak" gear="-2"/>
  <position name="servo" joint="b" kv="0.7" ctrlrange="-0.2 0.4" gear="1.5"/>
  <position joint="b" inheritrange="0.8"/>
  <velocity joint="c" kv="2" forcerange="-3 3"/><damper joint="c" kv="0.4" ctrlrange="0 2"/>
  <motor tendon="t" gear="0.7" ctrlrange="-1 1"/>
  <position tendon="t" kp="3"/>
</actuator></mujoco>"""

GENERAL = (
    TEXT[: TEXT.index("<actuator>")].replace('<position kp="5"/>', "")
    + """<actuator>
  <general joint="a" gainprm="2 0.3 -0.1" gaintype="affine" biasprm="0.2 -1" biastype="affine" gear="2"/>
  <general tendon="t" gainprm="4" biasprm="1 1 1" forcerange="-2 5" forcelimited="true"/>
</actuator></mujoco>"""
)


@pytest.mark.parametrize("text", [TEXT, GENERAL])
def test_actuator_torques_equal_mujocos(text: str) -> None:
    """qfrc_actuator at controls within and beyond their ranges."""
    model = load(text)
    peer, s = Peer(text, model), states(model, 40)
    controls = 2.0 * np.random.default_rng(0).normal(size=(40, len(model.actuators)))
    found = wd.actuator_torques(model, s.q, s.v, controls)
    oracle = wd.oracle(wd.actuator_torques, model, s.q, s.v, controls)
    assert error(found, oracle) < 1e-14
    for q, v, control, tau in zip(s.q, s.v, controls, found, strict=True):
        peer.data.ctrl[:] = control
        peer.mass_matrix(q, v)
        assert error(tau, peer.data.qfrc_actuator) < 1e-12


@pytest.mark.parametrize("name", ["mimic_branches", "quadruped_floating"])
def test_power_of_torques_equals_force_times_rate_of_actuators(name: str) -> None:
    """tau · v is each actuator's force times the rate of its length, also with mimic joints."""
    plain = by_name(name).model
    joints = [joint.name for joint in plain.joints if joint.kind.single][:3]
    arms = tuple((joint, 0.5 + k) for k, joint in enumerate(joints))
    pull = Actuator("pull", arms, (2.0, 0.5, 0.0), (0.3, -1.0, -0.2), constant=0.1)
    free = [replace(joint, limits=UNLIMITED) for joint in plain.joints]
    model, h = replace(plain, joints=tuple(free), actuators=(pull,)), 1e-6
    by_joint = {joint.name: joint for joint in plain.joints}
    s, u = states(model, 5), np.random.default_rng(1).normal(size=(5, 1))

    def length(q: np.ndarray) -> np.ndarray:
        total = np.full(len(q), 0.1)
        for name, arm in arms:
            leader, multiplier, offset = leading_joint(by_joint[name], by_joint)
            total += arm * (q[:, model.coordinates[leader].q.start] * multiplier + offset)
        return total

    ends = [length(wd.integrate(model, s.q, dt * s.v)) for dt in (h, -h)]
    rate = (ends[0] - ends[1]) / (2 * h)
    force = (2.0 + 0.5 * length(s.q)) * u[:, 0] + 0.3 - length(s.q) - 0.2 * rate
    tau = wd.actuator_torques(model, s.q, s.v, u)
    assert error(np.sum(tau * s.v, axis=1), force * rate) < 1e-7
