"""IMUs on plain numbers: readings, and the acceleration between two states."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.imu import imu, mean_acceleration
from warpdyn.execution.request.evaluate import tree_of

QUADRUPED = wd.load_robot("quadruped")
G = [0.0, 0.0, -9.81]


def read_imu(
    model: wd.Model, q: np.ndarray, v: np.ndarray, a: list[float], link: str
) -> np.ndarray:
    read = imu(tree_of(model), q.tolist(), v.tolist(), a, G, {}, frames=[link])
    return np.array(read[0], float)


@pytest.mark.parametrize("link", ["base", "FL_foot", "RR_calf"])
def test_an_imu_reads_the_classical_acceleration_minus_gravity(link: str) -> None:
    s = states(QUADRUPED, 1)
    q, v, a = s.q[0], s.v[0], s.tau[0]
    R = wd.oracle(wd.fk, QUADRUPED, q, frame=link)[:3, :3]
    options = {"frame": link, "reference": "local"}
    moved = wd.oracle(wd.frame_acceleration, QUADRUPED, q, v, a, kind="classical", **options)
    rate = wd.oracle(wd.frame_velocity, QUADRUPED, q, v, **options)
    reading = read_imu(QUADRUPED, q, v, a.tolist(), link)
    assert np.allclose(reading[:3], moved[:3] - R.T @ G, atol=1e-11)
    assert np.allclose(reading[3:], rate[3:], atol=1e-12)


def test_imus_on_links_fixed_in_the_world_read_gravity_only() -> None:
    arm = wd.load_robot("panda")
    reading = read_imu(arm, arm.neutral, np.ones(arm.nv), [1.0] * arm.nv, arm.root)
    assert np.array_equal(reading, [0, 0, 9.81, 0, 0, 0])


def test_a_spinning_base_in_straight_flight_has_no_acceleration() -> None:
    """Its velocity is constant in the world and turns in its own axes.

    This holds for any length of step.
    """
    tree, q, v = tree_of(QUADRUPED), QUADRUPED.neutral.copy(), np.zeros(18)
    through, spin, h = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, 4.0]), 0.05
    v[:3], v[3:6] = through, spin
    turned = wd.oracle(wd.integrate, QUADRUPED, q, h * np.r_[0, 0, 0, spin, np.zeros(12)])
    R = wd.oracle(wd.fk, QUADRUPED, turned, frame="base")[:3, :3]
    end = v.copy()
    end[:3] = R.T @ through
    a = mean_acceleration(tree, (q.tolist(), v.tolist()), (turned.tolist(), end.tolist()), h)
    classical = np.array(a[:3]) + np.cross(spin, end[:3])
    assert np.allclose(classical, 0, atol=1e-13) and np.allclose(a[3:], 0, atol=1e-13)
    reading = read_imu(QUADRUPED, turned, end, a, "base")
    assert np.allclose(reading[:3], R.T @ [0, 0, 9.81], atol=1e-12)


def test_acceleration_between_close_states_equals_aba() -> None:
    """The robot is moving. The error is proportional to the step."""
    s = states(QUADRUPED, 1)
    q, v, tau = s.q[0], s.v[0], s.tau[0]
    errors = []
    for h in (1e-3, 1e-4, 1e-5):
        end = wd.oracle(wd.step, QUADRUPED, q, v, tau, dt=h, stops="none", speed_guard=False)
        states_ = ((q.tolist(), v.tolist()), (end[0].tolist(), end[1].tolist()))
        a = np.array(mean_acceleration(tree_of(QUADRUPED), *states_, h), float)
        wanted = wd.oracle(wd.aba, QUADRUPED, q, v, tau)
        errors.append(np.abs(a - wanted).max() / np.abs(wanted).max())
    assert errors[2] < 1e-3 and errors[0] > 5 * errors[1] > 25 * errors[2]


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
def test_free_joints_have_the_acceleration_of_free_bases(quaternion: str) -> None:
    """The second body of a model flies straight and spins.

    It is not accelerated, with the scalar of its quaternion first or last.
    """
    body = """<body name="{0}"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>"""
    text = f"<mujoco><worldbody>{body.format('a')}{body.format('b')}</worldbody></mujoco>"
    model = wd.load(text, quaternion=quaternion)
    v, h = np.zeros(12), 0.05
    v[6:9], v[9:] = (1.0, -2.0, 0.5), (0.3, 0.2, 4.0)
    q = model.neutral
    turned = wd.oracle(wd.integrate, model, q, h * np.r_[np.zeros(9), v[9:]])
    R = wd.oracle(wd.fk, model, turned, frame="b")[:3, :3]
    end = np.r_[np.zeros(6), R.T @ v[6:9], v[9:]]
    states = (q.tolist(), v.tolist()), (turned.tolist(), end.tolist())
    a = np.array(mean_acceleration(tree_of(model), *states, h), float)
    assert np.allclose(a[6:9] + np.cross(end[9:], end[6:9]), 0, atol=1e-13)
    assert np.allclose(a[9:], 0, atol=1e-13) and not a[:6].any()
