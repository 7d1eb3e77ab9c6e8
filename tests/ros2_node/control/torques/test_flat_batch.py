"""Thousands of robots in one flat array."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from fleets import MODEL, N, Q, panda_fleet, panda_settings
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.commands.torque_output import TorqueOutput
from ros2_node.control.states.name_maps import single_joints
from ros2_node.control.torques.device_launch import DeviceLaunch
from ros2_node.control.torques.flat_batch import FlatBatch
from ros2_node.control.torques.fleet_dynamics import FleetDynamics


@given(st.integers(1, 50), st.integers(0, 10))
@examples(max_examples=20)
def test_robots_with_bad_states_get_zero_torque_and_affect_no_other(shared_fleet, robots, bad):
    """The torques of the other robots are those of their states."""
    rng = np.random.default_rng(robots)
    state = rng.uniform(-1.5, 1.5, (robots, 2, 8))
    rows = rng.integers(0, robots, min(bad, robots))
    state[rows, rng.integers(0, 2, len(rows)), rng.integers(0, 8, len(rows))] = rng.choice(
        [np.nan, np.inf, 1e9]
    )
    torque = shared_fleet.batch.compute(state)
    broken = np.isin(np.arange(robots), rows)
    assert not torque[broken].any()
    q = np.ascontiguousarray(state[~broken, 0])
    np.testing.assert_allclose(torque[~broken], wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)


def test_batch_sizes_are_checked(shared_fleet):
    """Dimensions may be left out. Otherwise they must be [robots, 2, dof]."""
    assert (
        shared_fleet.batch.robots_in(32, [2, 2, 8]) == 2
        and shared_fleet.batch.robots_in(32, []) == 2
    )
    for length, sizes in ((0, []), (15, []), (32, [4, 2, 4]), (32, [2, 8])):
        with pytest.raises(ValueError, match="must be"):
            shared_fleet.batch.robots_in(length, sizes)


@pytest.mark.parametrize("robots", [1, 7])
def test_poses_belong_to_the_last_states(shared_fleet, robots):
    """They are position and quaternion xyzw of forward kinematics, of every link of every robot."""
    state = np.random.default_rng(robots).uniform(-1.0, 1.0, (robots, 2, MODEL.nv))
    shared_fleet.batch.compute(state)
    poses, T = shared_fleet.batch.poses(), wd.fk(MODEL, np.ascontiguousarray(state[:, 0]))
    assert poses.shape == (robots, MODEL.nlinks, 7)
    np.testing.assert_allclose(poses[..., :3], T[..., :3, 3], atol=1e-12)
    R = wd.convert.quaternion_to_matrix(np.ascontiguousarray(poses[..., 3:]).reshape(-1, 4))
    np.testing.assert_allclose(R.reshape(*T.shape[:2], 3, 3), T[..., :3, :3], atol=1e-12)


def test_velocities_are_used_if_the_mode_needs_them():
    """A batch in mode inverse_dynamics gets M(q) 0 + h(q, v)."""
    moving = panda_fleet(mode="inverse_dynamics")
    state = np.random.default_rng(3).uniform(-1.0, 1.0, (5, 2, MODEL.nv))
    q, v = np.ascontiguousarray(state[:, 0]), np.ascontiguousarray(state[:, 1])
    torque = moving.batch.compute(state)
    np.testing.assert_allclose(torque, wd.rnea(MODEL, q, v, 0 * v), atol=1e-9)


def test_a_batch_without_the_torques_of_its_settings_is_refused():
    """It has neither references nor the travel after which the compensation of friction ends."""
    fleet = panda_fleet(mode="computed_torque")
    with pytest.raises(ValueError, match="no references to track"):
        fleet.batch.robots_in(2 * N, [])
    friction = {"mode": "inverse_dynamics", "friction.scale": 0.5}
    fleet.change(panda_settings(**friction))
    with pytest.raises(ValueError, match=r"set friction\.scale to 0"):
        fleet.batch.robots_in(2 * N, [])
    fleet.change(panda_settings(mode="inverse_dynamics"))
    assert fleet.batch.robots_in(2 * N, []) == 1


def test_torques_of_a_batch_are_scaled_and_limited():
    """torque_scale and the scaled effort limits apply as for a single robot."""
    fleet = panda_fleet(gravity=[0.0, 0.0, -98.1])
    state = np.zeros((3, 2, N))
    state[:, 0] = Q
    full = fleet.batch.compute(state).copy()
    limit = MODEL.effort_limit
    assert (np.abs(full) <= limit).all() and (np.abs(full) == limit).any()
    fleet.change(
        panda_settings(torque_scale=0.1, effort_limit_scale=0.05, gravity=[0.0, 0.0, -98.1])
    )
    unlimited = wd.rnea(MODEL, Q, 0 * Q, 0 * Q, gravity=(0.0, 0.0, -98.1))
    expected = np.clip(0.1 * unlimited, -0.05 * limit, 0.05 * limit)
    assert (np.abs(expected) == 0.05 * limit).any()
    np.testing.assert_allclose(fleet.batch.compute(state), np.tile(expected, (3, 1)), atol=1e-9)


def test_a_robot_with_joints_of_several_coordinates_has_no_flat_batch():
    """The four numbers of a quaternion are not four joints."""
    model = wd.load_robot("panda", floating_base=True)
    output = TorqueOutput(model, single_joints(model), panda_settings())
    batch = FlatBatch(FleetDynamics(model, panda_settings(), 1), panda_settings(), output)
    with pytest.raises(ValueError, match="one coordinate each"):
        batch.robots_in(2 * model.nv, [])


@pytest.mark.parametrize(
    ("floating", "law", "calls"), [(False, None, 1), (True, None, 0), (False, "law", 0)]
)
def test_warming_computes_the_torques_of_one_robot_if_batches_are_possible(
    monkeypatch, floating, law, calls
):
    """Neither a robot with a quaternion nor a node with a law computes batches."""
    model = wd.load_robot("panda", floating_base=floating)
    output = TorqueOutput(model, single_joints(model), panda_settings())
    dynamics = FleetDynamics(model, panda_settings(), 1)
    monkeypatch.setattr(dynamics, "law", law)
    batch = FlatBatch(dynamics, panda_settings(), output)
    shapes = []
    monkeypatch.setattr(batch, "compute", lambda states: shapes.append(states.shape))
    batch.warm()
    assert shapes == calls * [(1, 2, model.nv)]


@pytest.fixture
def on_device(monkeypatch):
    """A function that makes batches run on a device, and the device names they asked for. Without a
    GPU, Warp's arrays on the CPU replace those of a device."""
    asked = []

    def place(device):
        class There(DeviceLaunch):
            def __init__(self, function, model, wanted, *rest):
                asked.append(wanted)
                super().__init__(function, model, device, *rest)

        monkeypatch.setattr("ros2_node.control.torques.device_launch.DeviceLaunch", There)
        return asked

    return place


@pytest.mark.parametrize("device", [d.alias for d in wp.get_devices()])
def test_a_batch_is_computed_on_the_device(device, on_device):
    """Parameter `device` selects the device of torques and poses."""
    asked = on_device(device)
    fleet = panda_fleet(mode="inverse_dynamics")
    fleet.dynamics.device = "cuda:0"
    for seed in range(2):
        state = np.random.default_rng(seed).uniform(-1.0, 1.0, (5, 2, MODEL.nv))
        q, v = np.ascontiguousarray(state[:, 0]), np.ascontiguousarray(state[:, 1])
        torque = fleet.batch.compute(state)
        np.testing.assert_allclose(torque, wd.rnea(MODEL, q, v, 0 * v), atol=1e-9)
        np.testing.assert_allclose(fleet.batch.poses(), wd.fk(MODEL, q, form="pose"), atol=1e-12)
    assert asked == ["cuda:0"], "bound once for one number of robots"


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_a_batch_includes_the_payload(device, on_device):
    """The present mass on the present link is used, on a device too."""
    asked = on_device("cpu")
    fleet = panda_fleet(payload__link="panda_hand", payload__mass=1.0)
    fleet.dynamics.device = device
    state = np.random.default_rng(4).uniform(-1.0, 1.0, (5, 2, MODEL.nv))
    q = np.ascontiguousarray(state[:, 0])
    for link, mass in (("panda_hand", 1.0), ("panda_hand", 3.0), ("panda_link5", 2.0)):
        changed = panda_settings(payload__link=link, payload__mass=mass)
        if link != fleet.dynamics.payload.link:
            fleet.blend_to(panda_fleet(payload__link=link, payload__mass=mass))
        fleet.dynamics.payload.change(changed)
        heavy = MODEL.with_payload(link, mass)
        np.testing.assert_allclose(
            fleet.batch.compute(state), wd.rnea(heavy, q, 0 * q, 0 * q), atol=1e-9
        )
    assert asked == ([] if device == "cpu" else [device] * 3), "batch, robots, batch"


def test_a_fleet_on_a_device_compiles_nothing_in_a_callback(on_device, monkeypatch):
    """The poses of a batch are not computed where those of the robots are. The kernels of both are
    compiled when the fleet is created."""
    on_device("cpu")
    seen = []
    fk = wd.fk
    monkeypatch.setattr(
        "ros2_node.control.torques.flat_batch.fk",
        lambda model, q, **options: seen.append(type(q)) or fk(model, q, **options),
    )
    panda_fleet(device="cuda:0")
    assert seen == [wp.array]
    panda_fleet(device="cuda:0", publish_link_poses=False)
    panda_fleet()
    assert len(seen) == 1, "nobody wants them, or the robots' kernels serve"


def test_a_state_has_at_most_four_million_numbers(shared_fleet):
    """The documentation has this limit."""
    assert shared_fleet.batch.robots_in(4_194_304, []) == 262_144
    with pytest.raises(ValueError) as error:
        shared_fleet.batch.robots_in(4_194_320, [])
    assert str(error.value) == (
        "the data has 4194320 numbers; at most 4194304 are read, 262144 robots: send them in parts"
    )


def test_the_memory_of_more_than_1024_robots_is_released(shared_fleet):
    """The next state allocates it again."""
    state = np.zeros((1025, 2, N))
    state[:, 0] = Q
    for robots, freed in ((1024, False), (1025, True), (3, False)):
        held = shared_fleet.batch.compute(state[:robots]).copy()
        assert held.shape == (robots, N)
        assert shared_fleet.batch.release() == freed and len(shared_fleet.batch.torque) == (
            1 if freed else robots
        )
        np.testing.assert_allclose(held, np.tile(held[0], (robots, 1)), atol=1e-12)
    assert not shared_fleet.batch.release()


def test_a_value_of_ten_thousand_is_still_accepted(shared_fleet):
    state = np.zeros((3, 2, N))
    state[:, 0] = Q
    before = shared_fleet.batch.bad_robots
    state[1, 1, 2], state[2, 1, 2] = 1e4, -1.0001e4
    torque = shared_fleet.batch.compute(state)
    assert torque[:2].any(axis=1).all() and not torque[2].any()
    assert shared_fleet.batch.bad_robots == before + 1
    state[1:, 1, 2] = -1e4
    assert (
        shared_fleet.batch.compute(state).any(axis=1).all()
        and shared_fleet.batch.bad_robots == before + 1
    )
