"""One kernel launch for the rows of all robots."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, panda_settings

import warpdyn as wd
from ros2_node.control.torques import fleet_dynamics as chosen
from ros2_node.control.torques.device_launch import DeviceLaunch
from ros2_node.control.torques.fleet_dynamics import FleetDynamics, check_device
from ros2_node.control.torques.payload import Payload


@pytest.fixture
def dynamics():
    return FleetDynamics(MODEL, panda_settings(), 3)


def fill(dynamics, seed=0):
    """Random rows; returns them as arguments of `wd.rnea`."""
    rng, state = np.random.default_rng(seed), dynamics.state
    for row in (state.q, state.v, state.a, state.wrench):
        row[...] = rng.uniform(-1.0, 1.0, row.shape)
    return state


def expected_torques(model, state, **options):
    wrench = {
        name: np.ascontiguousarray(state.wrench[:, i]) for i, name in enumerate(model.link_names)
    }
    return wd.rnea(model, state.q, state.v, state.a, f_ext=wrench, **options)


def test_torque_is_the_inverse_dynamics_of_the_rows(dynamics):
    """Each call of `compute` reads the present values of q, v, a and wrench."""
    for seed in range(3):
        state = fill(dynamics, seed)
        state.torque[:] = np.nan
        dynamics.compute()
        np.testing.assert_allclose(state.torque, expected_torques(MODEL, state), atol=1e-9)


def test_gravity_and_payload_may_change_between_launches(dynamics):
    """The rows remain, and the torques are those of the new gravity and load."""
    state = fill(dynamics)
    dynamics.change_gravity((0.0, 0.0, -1.62))
    dynamics.compute()
    moon = expected_torques(MODEL, state, gravity=(0.0, 0.0, -1.62))
    np.testing.assert_allclose(state.torque, moon, atol=1e-9)
    settings = panda_settings(payload__link="panda_hand", payload__mass=2.0)
    dynamics.carry(Payload(MODEL, settings))
    for mass, com in ((2.0, (0.0, 0.0, 0.1)), (0.5, (0.1, 0.0, 0.0))):
        changed = settings.with_changes({"payload.mass": mass, "payload.com": com})
        dynamics.payload.change(changed)
        dynamics.compute()
        heavy = MODEL.with_payload("panda_hand", mass, com)
        heavier = expected_torques(heavy, state, gravity=(0.0, 0.0, -1.62))
        np.testing.assert_allclose(state.torque, heavier, atol=1e-9)
        assert dynamics.total_mass == pytest.approx(heavy.total_mass)


def test_a_device_gets_all_inputs_at_every_launch(monkeypatch):
    """These are rows, gravity and payload. Warp's arrays on the CPU replace those of a GPU."""

    class There(DeviceLaunch):
        def __init__(self, function, model, wanted, *rest):
            assert wanted == "cuda:0"
            super().__init__(function, model, "cpu", *rest)

    monkeypatch.setattr("ros2_node.control.torques.device_launch.DeviceLaunch", There)
    settings = panda_settings(payload__link="panda_link5", payload__mass=1.0)
    dynamics = FleetDynamics(MODEL, settings, 2)
    dynamics.device = "cuda:0"
    dynamics.carry(Payload(MODEL, settings))
    for mass in (1.0, 3.0):
        state, gravity = fill(dynamics, int(mass)), (0.0, 0.0, -mass)
        dynamics.payload.change(settings.with_changes({"payload.mass": mass}))
        dynamics.change_gravity(gravity)
        dynamics.compute()
        heavy = MODEL.with_payload("panda_link5", mass)
        wanted = expected_torques(heavy, state, gravity=gravity)
        np.testing.assert_allclose(state.torque, wanted, atol=1e-9)


def test_an_unknown_device_is_refused_with_the_available_ones():
    check_device("cpu")
    with pytest.raises(ValueError, match=r"'cuda:77' is not there; this machine has cpu"):
        check_device("cuda:77")


def test_the_device_is_looked_up_after_warps_cache_has_started(monkeypatch):
    """Otherwise Warp compiles into its own folder."""
    started = []
    monkeypatch.setattr(chosen, "start_kernel_cache", lambda: started.append("cache"))
    check_device("cpu")
    assert started == ["cache"]


def test_the_first_launch_is_that_of_the_start(monkeypatch):
    """It may compile. Another payload binds the kernels again and launches nothing."""
    launches = []
    monkeypatch.setattr(FleetDynamics, "_bind", lambda self: lambda: launches.append(self))
    dynamics = FleetDynamics(MODEL, panda_settings(), 1)
    dynamics._first_launch()
    assert launches == [dynamics]
    dynamics.carry(dynamics.payload)
    assert launches == [dynamics]
