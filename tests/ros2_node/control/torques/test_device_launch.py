"""Bound functions on a device, with arrays on the host."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from fleets import MODEL, Q

import warpdyn as wd
from ros2_node.control.torques.device_launch import DeviceLaunch, bound_on


@pytest.mark.parametrize("device", [d.alias for d in wp.get_devices()])
def test_fresh_inputs_are_read_at_each_call_and_others_once(device):
    """The result uses the present values of the fresh arrays, and the first values of the
    others."""
    q = np.tile(Q, (3, 1))
    inputs = {"q": q, "v": 0 * q, "a": 0 * q, "gravity": np.tile([0.0, 0.0, -9.81], (3, 1))}
    out = np.full_like(q, np.nan)
    launch = DeviceLaunch(wd.rnea, MODEL, device, inputs, out, ("q",))
    assert {name: x.device.alias for name, x in launch.arrays.items()} == dict.fromkeys(
        inputs, device
    )
    for scale in (1.0, 0.5):
        q[:] = scale * Q
        launch()
        np.testing.assert_allclose(out, wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)
    inputs["gravity"][:] = 0.0
    launch()
    np.testing.assert_allclose(out, wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)


@pytest.mark.parametrize("device", [d.alias for d in wp.get_devices()])
def test_params_are_read_at_each_call(device):
    """Another mass in the same array gives another torque."""
    q = np.tile(Q, (3, 1))
    inputs = {"q": q, "v": 0 * q, "a": 0 * q}
    params = MODEL.params(mass={"panda_hand": 1.0})
    out = np.full_like(q, np.nan)
    launch = DeviceLaunch(wd.rnea, MODEL, device, inputs, out, (), params)
    for mass in (0.5, 3.0):
        params["mass"][:] = mass
        launch()
        np.testing.assert_allclose(out, wd.rnea(MODEL, q, 0 * q, 0 * q, params=params), atol=1e-9)
    assert not np.allclose(out, wd.rnea(MODEL, q, 0 * q, 0 * q))


def test_the_single_robot_kernel_gives_the_torques_of_the_batch_kernel():
    """They agree to rounding."""
    q = np.tile(Q, (1, 1))
    inputs = {"q": q, "v": 0 * q + 0.3, "a": 0 * q, "gravity": np.array([[0.0, 0.0, -9.81]])}
    out = {single: np.full_like(q, np.nan) for single in (True, False)}
    for single, torque in out.items():
        bound_on("cpu", wd.rnea, MODEL, inputs, torque, tuple(inputs), single=single)()
    np.testing.assert_allclose(out[True], out[False], rtol=1e-12, atol=1e-12)
