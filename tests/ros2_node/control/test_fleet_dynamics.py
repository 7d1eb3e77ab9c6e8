"""One launch for the rows of all robots."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, panda_settings

import warpdyn as wd
from ros2_node.control.fleet_dynamics import FleetDynamics, check_device


@pytest.fixture
def dynamics():
    return FleetDynamics(MODEL, panda_settings(), 3)


def fill(dynamics, seed=0):
    """Random rows; returns them as arguments of `wd.rnea`."""
    rng, state = np.random.default_rng(seed), dynamics.state
    for row in (state.q, state.v, state.a, state.wrench):
        row[...] = rng.uniform(-1.0, 1.0, row.shape)
    return state


def expected(model, state, **options):
    wrench = {
        name: np.ascontiguousarray(state.wrench[:, i]) for i, name in enumerate(model.link_names)
    }
    return wd.rnea(model, state.q, state.v, state.a, f_ext=wrench, **options)


def test_torque_is_the_inverse_dynamics_of_the_rows(dynamics):
    """Whatever stands in q, v, a and wrench when `compute` is called, it is read anew."""
    for seed in range(3):
        state = fill(dynamics, seed)
        state.torque[:] = np.nan
        dynamics.compute()
        np.testing.assert_allclose(state.torque, expected(MODEL, state), atol=1e-9)


def test_gravity_and_model_change_between_launches(dynamics):
    """The rows stay; torques are those of the new gravity, of the new inertias."""
    state = fill(dynamics)
    dynamics.change_gravity((0.0, 0.0, -1.62))
    dynamics.compute()
    moon = expected(MODEL, state, gravity=(0.0, 0.0, -1.62))
    np.testing.assert_allclose(state.torque, moon, atol=1e-9)
    heavy = MODEL.with_payload("panda_hand", 2.0, (0.0, 0.0, 0.1))
    dynamics.change_model(heavy)
    dynamics.compute()
    heavier = expected(heavy, state, gravity=(0.0, 0.0, -1.62))
    np.testing.assert_allclose(state.torque, heavier, atol=1e-9)
    assert dynamics.model is heavy


def test_a_model_of_other_joints_is_refused(dynamics):
    """Its rows would mean something else."""
    with pytest.raises(ValueError, match="inertias"):
        dynamics.change_model(wd.load_robot("double_pendulum"))


def test_a_device_that_is_not_there_is_named_with_those_that_are():
    check_device("cpu")
    with pytest.raises(ValueError, match=r"'cuda:77' is not there; this machine has cpu"):
        check_device("cuda:77")
