"""Public actuator torques: shapes, calls, steps compared with MuJoCo, users' kernels, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_shapes
from mjcf_texts import INERTIAL, load
from states import states

import warpdyn as wd

SERVOED = f"""<mujoco><compiler angle="radian"/><option timestep="0.001" gravity="0 0 -9.81"/><worldbody>
<body><joint name="a" axis="0 1 0"/>{INERTIAL}
<body pos="0.5 0 0"><joint name="b" axis="0 1 0" actuatorfrcrange="-6 6"/>{INERTIAL}</body></body></worldbody>
<actuator><position name="first" joint="a" kp="40" kv="4" ctrlrange="-1 1"/>
<velocity name="second" joint="b" kv="3" forcerange="-2 2"/><motor joint="b" gear="2"/></actuator></mujoco>"""
MODEL = load(SERVOED)
S = states(MODEL, 3)
CONTROL = np.array([[0.3, -0.2, 0.5], [2.0, 5.0, -0.3], [-0.4, 0.1, 0.0]])


def test_actuator_torques_have_one_entry_per_joint() -> None:
    """Three controls, two joints."""
    assert [each.name for each in MODEL.actuators] == ["first", "second", "actuator2"]
    check_shapes(wd.actuator_torques, MODEL, S.q, S.v, CONTROL, shapes=(2,))


def test_actuator_torques_accept_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested. The robot is at rest if v is absent."""
    check_call(wd.actuator_torques, MODEL, S.q, S.v, CONTROL)
    rest = wd.actuator_torques(MODEL, S.q, None, CONTROL)
    np.testing.assert_array_equal(rest, wd.actuator_torques(MODEL, S.q, 0 * S.v, CONTROL))


def test_a_robot_with_actuators_moves_as_in_mujoco() -> None:
    """A second with a position servo, a velocity servo and a motor, by explicit Euler in both."""
    mujoco = pytest.importorskip("mujoco")
    there = mujoco.MjModel.from_xml_string(SERVOED)
    data, (q, v) = mujoco.MjData(there), np.zeros((2, 1, 2))
    for k in range(1000):
        control = np.array([[np.sin(0.01 * k), 1.0, 0.1 * np.cos(0.02 * k)]])
        data.ctrl[:] = control[0]
        mujoco.mj_step(there, data)
        tau = wd.actuator_torques(MODEL, q, v, control)
        q, v, *_ = wd.step(MODEL, q, v, tau, dt=1e-3)
    np.testing.assert_allclose(q[0], data.qpos, atol=1e-9)
    np.testing.assert_allclose(v[0], data.qvel, atol=1e-8)


def test_actuator_torques_work_in_a_users_kernel() -> None:
    """The function is a method of the robot in a kernel."""

    @wd.kernel
    def twice_the_torques(robot, q, v, control: (3,)):
        return robot.actuator_torques(q, v, control) * 2.0

    found = twice_the_torques(MODEL, S.q, S.v, CONTROL)
    np.testing.assert_allclose(
        found, 2.0 * wd.actuator_torques(MODEL, S.q, S.v, CONTROL), rtol=1e-12
    )


def test_robots_without_actuators_and_wrong_controls_are_refused() -> None:
    """Both errors say what is needed."""
    panda = wd.load_robot("panda")
    with pytest.raises(ValueError, match="panda has no actuators: they come with MJCF files"):
        wd.actuator_torques(panda, panda.neutral, None, panda.neutral)
    with pytest.raises(ValueError, match=r"control must be .*3.*got \(3, 2\)"):
        wd.actuator_torques(MODEL, S.q, S.v, CONTROL[:, :2])
