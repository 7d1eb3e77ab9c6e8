"""Sensors in a task, and all reward terms in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl import terms
from warpdyn.rl.terms.sensor_terms import imu_reading, link_forces
from warpdyn.user_kernels.own_kernel import OwnKernel


class SensingQuadruped(rl.QuadrupedVelocity):
    """A quadruped that observes sensors. Its rewards use each term once."""

    scales = {"all": 1.0}  # noqa: RUF012
    groups = {"policy": ("gravity",), "critic": ("imu", "feet")}  # noqa: RUF012

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        feet = link_forces(robot, s, [point.link for point in self.points])
        return {
            "gravity": terms.gravity_in_base(s.q),
            "imu": imu_reading(robot, s, "imu"),
            "feet": feet,
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        q, v, model = s.q, s.v, self.model
        touch, places = terms.touching(s.forces), robot.point_positions(q, points=self.points)
        speeds = robot.point_velocities(q, v, points=self.points)
        swing = terms.swing_shares(s.phase, (0.0, 0.5, 0.5, 0.0), terms.is_moving(s.command))
        found = [
            *(terms.tilt(q), terms.uprightness(q), terms.bounce(v), terms.roll_and_pitch(v)),
            *(terms.heading(q), terms.heading_error(q, 1.0), terms.level_velocity(q, v)[0]),
            *(terms.speed_error(v, s.command), terms.turning_error(v, s.command)),
            terms.near(terms.speed_error(v, s.command), 0.5),
            *(
                terms.within(q[2], 0.2, 0.4, 0.1),
                terms.wrap_angle(q[7]),
                terms.beyond(q[8], -1.0, 1.0),
            ),
            terms.joint_limits(q[7:], model.position_lower[7:], model.position_upper[7:]),
            terms.speed_limits(v[6:], model.velocity_limit[6:]),
            terms.torque_limits(s.torques, model.effort_limit[6:]),
            *(terms.torque_cost(s.torques), terms.mechanical_power(s.torques, v[6:])),
            terms.motor_power(s.torques, v[6:]),
            terms.cost_of_transport(s.torques, v[6:], model.total_mass, v[0]),
            terms.joint_acceleration(v[6:], s.last_v[6:], self.step_seconds),
            terms.deviation(q[7:], self.stance),
            terms.action_rate(s.action, s.last_action),
            terms.action_curvature(s.action, s.last_action, s.last_action),
            *(terms.sum_of_squares(terms.clock(s.phase)), terms.advance_phase(s.phase, 0.02, 0.4)),
            *(terms.slip(speeds, touch), terms.foot_clearance(places[:, 2], speeds, 0.08)),
            *(terms.stumble(s.forces), terms.force_excess(s.forces, 100.0)),
            terms.landing_speed(speeds, touch, touch),
            terms.landing_reward(terms.air_times(touch, touch, 0.02), touch, 0.2),
            *(terms.feet_too_near(places, 0.1), terms.gait_match(touch, swing)),
            np.sum(terms.contact_times(touch, touch, 0.02)),
            np.sum(terms.touched_lately(terms.shift_history(np.stack([touch, touch]), touch))),
            np.sum(terms.world_to_base(q, terms.base_to_world(q, v[:3])) - v[:3]),
            np.where(terms.every(s.age, 3), 1.0, 0.0),
        ]
        return {"all": sum(found)}


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(SensingQuadruped(), 3, seed=0)
    made.reset()
    return made


def test_a_launch_equals_the_terms_on_plain_numbers(env: Any) -> None:
    """`plain_step` runs the same functions on float64 numbers."""
    for _ in range(3):
        action = 0.2 * np.ones((3, 12))
        plain = rl.plain_step(env, action[1], 1)
        _, reward, *_ = env.step(action)
        assert float(reward[1]) == pytest.approx(float(plain["reward"]), rel=1e-3, abs=1e-4)
        np.testing.assert_allclose(
            env.observations["critic"][1], plain["critic"], rtol=1e-2, atol=0.05
        )


def test_an_imu_at_rest_reads_gravity_and_feet_carry_the_weight(env: Any) -> None:
    """The IMU of a robot at rest reads 9.81 m/s² upwards, in the axes of its link."""
    task = env.task
    q = np.array([0, 0, task.height, 0, 0, 0, 1.0, *task.stance])

    def read(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        s = rl.Episode({**fields, "last_v": fields["v"], "age": 1.0}, task)
        feet = [point.link for point in task.points]
        return {"imu": imu_reading(robot, s, "imu"), "feet": link_forces(robot, s, feet)}

    shapes = {"q": (19,), "v": (18,), "forces": (4, 3)}
    kernel = OwnKernel.of_shapes("read", shapes, read)
    forces = np.zeros((1, 4, 3))
    forces[0, :, 2] = 30.0
    found = wd.oracle(kernel, task.model, q[None], np.zeros((1, 18)), forces)
    np.testing.assert_allclose(found.imu[0], [0, 0, 9.81, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.feet[0][:, 2], 30.0)


def test_moments_of_links_include_torsional_and_rolling_friction() -> None:
    """They are in the impulses of points with friction moments, and were left out."""
    task = rl.QuadrupedVelocity()
    feet = [point.link for point in task.points]

    def read(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        return {"feet": link_forces(robot, rl.Episode(fields, task), feet)}

    q = np.array([[0, 0, task.height, 0, 0, 0, 1.0, *task.stance]])
    forces, impulses = np.zeros((1, 4, 3)), np.random.default_rng(0).normal(size=(1, 4, 6))
    shapes = {"q": (19,), "forces": (4, 3), "impulses": (4, 6)}
    kernel = OwnKernel.of_shapes("read", shapes, read)
    found = wd.oracle(kernel, task.model, q, forces, impulses)
    found = getattr(found, "feet", found)
    assert np.abs(found[..., :3]).max() == 0.0
    np.testing.assert_allclose(found[..., 3:], impulses[..., 3:] / task.dt, rtol=1e-12)


@pytest.mark.parametrize("varies", [False, True])
def test_an_imu_reads_the_gravity_of_the_task(varies: bool) -> None:
    """It read standard gravity in every task. A varied one is that of the environment."""
    task = rl.CartpoleSwingUp()
    task.gravity, task.vary = (0.0, 0.0, -1.62), {"gravity": rl.Vary(1, 1)} if varies else {}
    frame = task.model.link_names[0]

    def imu(robot: Any, fields: dict[str, Any]) -> Any:
        s = rl.Episode({**fields, "last_v": fields["v"], "age": 1.0}, task)
        return imu_reading(robot, s, frame)

    kernel = OwnKernel.of_shapes("imu", {"q": (2,), "v": (2,), "gravity": (3,)}, imu)
    now = np.array([[0.0, 0.0, -3.7]])
    found = wd.oracle(kernel, task.model, np.zeros((1, 2)), np.zeros((1, 2)), now)
    np.testing.assert_allclose(found[0], [0, 0, 3.7 if varies else 1.62, 0, 0, 0], atol=1e-12)
