"""Robots in MuJoCo C in warpdyn's coordinates. They obey warpdyn's equations of motion."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.peers.mujoco_robots import MujocoRobots
from warpdyn.peers.mujoco_scene import Drives
from warpdyn.peers.peer import NotComparable

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")

DT = 1e-6
DRAW = np.random.default_rng(4)


def states(model, count):
    """Random rotated and moving states within limits."""
    q = 0.2 * DRAW.normal(size=(count, model.nq))
    q[:, 3:7] = DRAW.normal(size=(count, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    q[:, 7:] += np.tile([0.0, 0.9, -1.5], 4)
    return q, DRAW.normal(0.0, 1.0, (count, model.nv)), DRAW.normal(0.0, 3.0, (count, model.nv))


@pytest.fixture(scope="module")
def quadruped():
    return wd.load_robot("quadruped").with_armature(0.01).with_friction(viscous=0.1)


def test_a_state_is_read_back_unchanged(quadruped):
    """The test covers the quaternion's order, velocities in the base's axes, and places in the
    scene."""
    robots = MujocoRobots(quadruped, 3, 1e-12)
    q, v, _ = states(quadruped, 3)
    for env, origin in enumerate(([0.0, 0.0, 0.0], [4.0, -3.0, 0.5], [0.0, 0.0, 1.0])):
        robots.put(env, q[env], v[env], origin)
        reached = robots.advance(env, None, None, 1, origin=origin)
        assert np.allclose(reached.q, q[env], atol=1e-9)
        assert np.allclose(reached.v, v[env], atol=1e-7)


def test_velocity_changes_agree_with_aba(quadruped):
    """The robot is in the air, with torques on all coordinates, armature and friction. (v' - v) /
    dt is compared."""
    robots = MujocoRobots(quadruped, 4, DT)
    q, v, tau = states(quadruped, 4)
    wanted = wd.oracle(wd.aba, quadruped, q, v, tau)
    for env in range(4):
        robots.put(env, q[env], v[env])
        after = robots.advance(env, None, tau[env], 1)
        found = (after.v - v[env]) / DT
        assert np.allclose(found, wanted[env], rtol=1e-3, atol=0.05)
        assert np.allclose(after.torques, tau[env][6:])


def test_each_robot_has_its_own_bounded_drives():
    """The torque is kp (target - q) - kd v, limited by the effort. Another robot has other gains
    and gravity, which do not change those of the first."""
    model = wd.load_robot("double_pendulum")
    robots = MujocoRobots(model, 2, DT, drives=Drives(30.0, 2.0, [5.0, 5.0]))
    q, v = np.array([0.2, -0.1]), np.array([0.5, -0.3])
    targets = q + np.array([0.1, 1.0])
    weak = {"kp": 10.0, "kd": 1.0, "effort": 4.0, "gravity": [0.0, 0.0, 0.0]}
    usual = {"kp": 30.0, "kd": 2.0, "effort": 5.0, "gravity": [0.0, 0.0, -9.81]}
    for numbers in (usual, weak, usual):
        for env in range(2):
            robots.put(env, q, v)
        asked = numbers["kp"] * (targets - q) - numbers["kd"] * v
        wanted = np.clip(asked, -numbers["effort"], numbers["effort"])
        after = robots.advance(1, [targets] * 2, None, 2, numbers=numbers)
        assert np.allclose(after.torques, wanted, atol=1e-3)
        a = wd.oracle(wd.aba, model, q, v, wanted, gravity=numbers["gravity"])
        assert np.allclose((after.v - v) / (2 * DT), a, rtol=1e-3, atol=0.02)


def test_targets_may_differ_from_step_to_step():
    """Late targets reach the drives in the middle of a launch."""
    model = wd.load_robot("double_pendulum")
    robots = MujocoRobots(model, 1, DT, drives=Drives(10.0, 0.0, [9.0, 9.0]))
    robots.put(0, np.zeros(2), np.zeros(2))
    after = robots.advance(0, [np.zeros(2), np.zeros(2), 0.5 * np.ones(2)], None, 3)
    assert np.allclose(after.torques, 5.0 / 3.0, atol=1e-4)


def test_feet_carry_the_weight(quadruped):
    """The forces of all points add up to it and point upwards, anywhere in the scene. A lighter
    robot has smaller forces."""
    stance = np.tile([0.0, 0.9, -1.8], 4)
    points = wd.ContactPoints(quadruped).only("*_foot")
    drives = Drives(60.0, 2.0, quadruped.effort_limit[6:])
    robots = MujocoRobots(quadruped, 2, 0.002, points=points, drives=drives)
    light = quadruped.with_link_mass("base", 2.0)
    robots.remodel(1, light)
    for env, model in enumerate((quadruped, light)):
        q = np.concatenate([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], stance])
        origin = [3.0, 1.0, 0.0]
        robots.put(env, q, np.zeros(18), origin)
        for _ in range(10):
            end = robots.advance(env, [stance] * 100, None, 100, origin=origin)
        assert end.forces[:, 2].sum() == pytest.approx(9.81 * model.total_mass, rel=5e-3)
        assert np.all(end.forces[:, 2] > 0) and np.abs(end.forces.sum(0)[:2]).max() < 0.5
        assert np.abs(end.q[:2]).max() < 0.2 and 0.15 < end.q[2] < 0.35


def test_each_robot_has_its_own_friction(quadruped):
    """The tangential forces of a sliding robot are mu times the normal ones."""
    points = wd.ContactPoints(quadruped).only("*_foot")
    drives = Drives(60.0, 2.0, quadruped.effort_limit[6:])
    robots = MujocoRobots(quadruped, 2, 0.002, points=points, drives=drives)
    stance = np.tile([0.0, 0.9, -1.8], 4)
    q = np.concatenate([[0.0, 0.0, 0.27, 0.0, 0.0, 0.0, 1.0], stance])
    for mu in (0.3, 0.6):
        robots.put(0, q, np.array([2.0, *np.zeros(17)]))
        end = robots.advance(0, [stance] * 40, None, 40, numbers={"friction": mu})
        touching = end.forces[:, 2] > 5.0
        share = np.hypot(*end.forces[touching, :2].T) / end.forces[touching, 2]
        assert touching.any() and np.allclose(share, mu, rtol=0.02)


def test_a_nonfinite_state_remains_nonfinite(quadruped):
    """MuJoCo by default would reset it without a message."""
    robots = MujocoRobots(quadruped, 1, 0.002)
    q, v, _ = states(quadruped, 1)
    v[0, 8] = np.inf
    robots.put(0, q[0], v[0])
    assert not np.isfinite(robots.advance(0, None, None, 3).v).all()


def test_a_joint_kind_that_mujoco_lacks_is_refused():
    """The refusal has the joint's name and the words of the scene."""
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="planar">
    <parent link="a"/><child link="b"/></joint></robot>"""
    with pytest.raises(NotComparable, match=r'^MuJoCo has no planar joint in URDF \("j"\)'):
        MujocoRobots(wd.load_urdf(text, floating_base=True), 1, 0.002)


def test_other_base_velocity_axes_are_refused(quadruped):
    with pytest.raises(NotComparable, match="in its own axes"):
        MujocoRobots(quadruped.with_base_velocity("world"), 1, 0.002)


def test_quadratic_friction_applies_to_one_call():
    """The next call has the model's own friction."""
    model = wd.load_robot("double_pendulum").with_friction(viscous=0.3)
    robots = MujocoRobots(model, 1, DT)
    q, v = np.array([0.2, -0.1]), np.array([1.5, -0.5])
    for numbers, extra in (({"quadratic_friction": 2.0}, 2.0), (None, 0.0)):
        robots.put(0, q, v)
        after = robots.advance(0, None, None, 1, numbers=numbers)
        tau = -(0.3 + extra * np.abs(v)) * v
        plain = wd.load_robot("double_pendulum")
        wanted = wd.oracle(wd.aba, plain, q, v, tau)
        np.testing.assert_allclose((after.v - v) / DT, wanted, rtol=1e-3)


def test_each_point_and_pair_has_its_friction_moments(quadruped):
    """MuJoCo's number of contact dimensions is right for 0, 1 and 3 moments, and each coefficient
    of a pair is at its index."""
    points = wd.ContactPoints(quadruped).only("*_foot")
    pairs = wd.ContactPairs(quadruped).only(("FL_calf", "FR_calf"), ("RL_calf", "RR_calf"))
    robots = MujocoRobots(quadruped, 1, 0.002, points=points, pairs=pairs)
    count = len(pairs)
    numbers = {
        "moments": [0, 1, 3, 0],
        "torsional_friction": [0.1, 0.2, 0.3, 0.4],
        "rolling_friction": [0.5, 0.6, 0.7, 0.8],
        "pair_friction": np.linspace(0.2, 0.9, count),
        "pair_moments": [(0, 1, 3)[k % 3] for k in range(count)],
        "pair_torsional_friction": np.linspace(0.01, 0.02, count),
        "pair_rolling_friction": np.linspace(0.03, 0.04, count),
    }
    robot = robots._robots[0]
    robots._write(robot, numbers)
    for k in range(4):
        geom = robot.geom(f"point{k}")
        assert robot.geom_condim[geom.id] == (3, 4, 6, 3)[k]
        assert geom.friction[1] == numbers["torsional_friction"][k]
        assert geom.friction[2] == numbers["rolling_friction"][k]
    for k in range(count):
        pair = robot.pair(f"pair{k}")
        slide, spin, roll = (
            numbers[f"pair_{x}friction"][k] for x in ("", "torsional_", "rolling_")
        )
        np.testing.assert_array_equal(
            robot.pair_friction[pair.id], [slide, slide, spin, roll, roll]
        )
        assert robot.pair_dim[pair.id] == (3, 4, 6)[k % 3]


def test_forces_of_all_steps_are_read_on_request(quadruped):
    """They are the mean and the largest magnitude. Otherwise both are those of the last step."""
    points = wd.ContactPoints(quadruped).only("*_foot")
    drives = Drives(60.0, 2.0, quadruped.effort_limit[6:])
    robots = MujocoRobots(quadruped, 1, 0.002, points=points, drives=drives)
    stance = np.tile([0.0, 0.9, -1.8], 4)
    q = np.concatenate([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], stance])

    def start():
        robots.put(0, q, np.zeros(18))

    start()
    single = [robots.advance(0, [stance], None, 1).forces for _ in range(40)]
    start()
    all_steps = robots.advance(0, [stance] * 40, None, 40, every_step=True)
    start()
    last = robots.advance(0, [stance] * 40, None, 40)
    np.testing.assert_allclose(all_steps.mean_forces, np.mean(single, axis=0), atol=1e-9)
    np.testing.assert_allclose(
        all_steps.peak_forces, np.linalg.norm(single, axis=2).max(axis=0), atol=1e-9
    )
    np.testing.assert_allclose(last.forces, single[-1], atol=1e-9)
    np.testing.assert_allclose(last.mean_forces, single[-1], atol=1e-9)
    np.testing.assert_allclose(last.peak_forces, np.linalg.norm(single[-1], axis=1), atol=1e-9)


def test_a_robot_that_mujoco_does_not_read_is_refused(monkeypatch):
    """The refusal has the first line of MuJoCo's reason."""

    def fail(*given, **options):
        raise ValueError("\nno such thing\nsecond line")

    monkeypatch.setattr("warpdyn.peers.mujoco_robots.mujoco_scene", fail)
    with pytest.raises(NotComparable, match=r"^MuJoCo does not read it: no such thing$"):
        MujocoRobots(wd.load_robot("double_pendulum"), 1, 0.002)
