"""The observer of one robot on the rows of its fleet."""

from __future__ import annotations

import numpy as np
import pytest
from feeling import feeling_fleet
from fleets import MODEL, Q, panda_settings

import warpdyn as wd
from ros2_node.control.external_torques import ExternalTorques
from ros2_node.control.payload import Payload

PUSH = np.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.2, 0.05, 0.0])


def settle(torques, tau, steps=60):
    torques.q[:], torques.v[:], torques.tau[0] = Q, 0.0, tau
    torques.update(0.0)
    for _ in range(steps):
        torques.update(0.02)
    return torques.external[0]


def test_it_feels_what_pushes_with_the_load_and_the_gravity_that_are_set():
    """Also when both change while it runs, and when the load goes to another link."""
    fleet = feeling_fleet()
    dynamics, torques = fleet.dynamics, fleet.robots[0].touch.torques
    own = wd.gravity_torques(MODEL, Q)
    np.testing.assert_allclose(settle(torques, own - PUSH), PUSH, atol=1e-6)
    loaded = wd.gravity_torques(MODEL.with_payload("panda_hand", 2.0, (0, 0, 0.1)), Q)
    values = {"payload__mass": 2.0, "payload__com": (0.0, 0.0, 0.1)}
    fleet.change(fleet.settings.changed({k.replace("__", "."): x for k, x in values.items()}))
    np.testing.assert_allclose(settle(torques, loaded - PUSH), PUSH, atol=1e-6)
    np.testing.assert_allclose(torques.weigh(), loaded, atol=1e-9)
    other = panda_settings(effort_source="message", payload__link="panda_link7", payload__mass=1.0)
    dynamics.carry(Payload(MODEL, other))
    moved = wd.gravity_torques(MODEL.with_payload("panda_link7", 1.0, (0, 0, 0)), Q)
    np.testing.assert_allclose(settle(torques, moved - PUSH), PUSH, atol=1e-6)
    np.testing.assert_allclose(torques.weigh(), moved, atol=1e-9)


def test_a_link_that_is_not_there_is_refused():
    settings = panda_settings(effort_source="message", external_wrench_link="panda_hnad")
    with pytest.raises(ValueError, match="external_wrench_link 'panda_hnad' is not a link"):
        ExternalTorques(feeling_fleet().dynamics, 0, settings)
