"""The momentum observer of one robot, on the rows of its fleet."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from feeling import feeling_fleet
from fleets import MODEL, Q, chain_text, panda_settings

import warpdyn as wd
from ros2_node.control.efforts.external_torques import (
    SMALLEST_SINGULAR_VALUE,
    ExternalTorques,
    check_wrench_link,
    fitted_wrench,
    joints_that_move,
)
from ros2_node.control.torques.payload import Payload

KNOWN = np.ones(8, dtype=bool)
PUSH = np.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.2, 0.05, 0.0])


def settle(torques, tau, steps=60):
    torques.q[:], torques.v[:], torques.tau[0] = Q, 0.0, tau
    torques.update(0.0, KNOWN)
    for _ in range(steps):
        torques.update(0.02, KNOWN)
    return torques.external[0]


def test_the_observer_uses_the_present_load_and_gravity():
    """Both may change while it runs, and the load may move to another link."""
    fleet = feeling_fleet()
    torques = fleet.robots[0].effort_watch.torques
    own = wd.gravity_torques(MODEL, Q)
    np.testing.assert_allclose(settle(torques, own - PUSH), PUSH, atol=1e-6)
    loaded = wd.gravity_torques(MODEL.with_payload("panda_hand", 2.0, (0, 0, 0.1)), Q)
    values = {"payload__mass": 2.0, "payload__com": (0.0, 0.0, 0.1)}
    fleet.change(fleet.settings.with_changes({k.replace("__", "."): x for k, x in values.items()}))
    np.testing.assert_allclose(settle(torques, loaded - PUSH), PUSH, atol=1e-6)
    np.testing.assert_allclose(torques.gravity_torques(), loaded, atol=1e-9)
    other = panda_settings(effort_source="message", payload__link="panda_link7", payload__mass=1.0)
    torques.rebase(Payload(MODEL, other))
    moved = wd.gravity_torques(MODEL.with_payload("panda_link7", 1.0, (0, 0, 0)), Q)
    np.testing.assert_allclose(settle(torques, moved + PUSH), -PUSH, atol=1e-6)
    torques.rebase(Payload(MODEL, panda_settings(effort_source="message")))
    np.testing.assert_allclose(torques.gravity_torques(), own, atol=1e-9)


UR5E = wd.load_robot("ur5e")
WRENCH = np.array([5.0, -8.0, 12.0, 0.4, -0.2, 0.3])


def local_jacobian(model, q, frame):
    return wd.oracle(wd.jacobian, model, q, frame=frame, reference="local")


def test_a_wrench_is_exact_in_directions_that_joints_measure():
    """The condition number of the UR5e's Jacobian is 12 in this pose, where damped least squares
    with 0.01 had errors of up to 2.4 %. For an arm of three joints, the part that they measure is
    exact as well."""
    q = np.array([0.3, -1.4, 1.1, -0.5, 1.2, 0.4])
    J = local_jacobian(UR5E, q, "tool0")
    assert 10.0 < np.linalg.cond(J) < 14.0
    np.testing.assert_allclose(fitted_wrench(J, J.T @ WRENCH), WRENCH, atol=1e-11)
    J = J[:, :3]
    found = fitted_wrench(J, J.T @ WRENCH)
    np.testing.assert_allclose(J.T @ found, J.T @ WRENCH, atol=1e-11)
    np.testing.assert_allclose(found, np.linalg.pinv(J.T) @ J.T @ WRENCH, atol=1e-10)


def test_a_wrench_is_bounded_near_singular_poses():
    """Noise grows by at most 1 / SMALLEST_SINGULAR_VALUE. On the way into a singular pose the
    wrench has no step."""
    noise = np.random.default_rng(0).normal(size=(200, 6))
    before = None
    for bend in np.linspace(0.2, 0.0, 201):  # the wrist's second joint at 0 is singular
        J = local_jacobian(UR5E, np.array([0.3, -1.4, 1.1, -0.5, bend, 0.4]), "tool0")
        grown = [np.linalg.norm(fitted_wrench(J, x)) / np.linalg.norm(x) for x in noise]
        assert max(grown) <= 1.0 / SMALLEST_SINGULAR_VALUE * (1 + 1e-9)
        found = fitted_wrench(J, J.T @ WRENCH)
        assert np.linalg.norm(found) <= np.linalg.norm(WRENCH) * (1 + 1e-9)
        assert before is None or np.abs(found - before).max() < 0.5
        before = found


def test_the_observed_wrench_is_exact():
    """The wrench is on the hand and in its axes."""
    fleet = feeling_fleet(external_wrench_link="panda_hand")
    torques = fleet.robots[0].effort_watch.torques
    J = local_jacobian(MODEL, Q, "panda_hand")
    settle(torques, wd.gravity_torques(MODEL, Q) - J.T @ WRENCH)
    np.testing.assert_allclose(torques.wrench[0], WRENCH, atol=1e-6)


def test_an_unknown_wrench_link_is_refused():
    settings = panda_settings(effort_source="message", external_wrench_link="panda_hnad")
    with pytest.raises(ValueError, match="external_wrench_link 'panda_hnad' is not a link"):
        of = feeling_fleet().dynamics
        ExternalTorques(of.model, of.state, of.gravity, of.payload, settings, 0)


def test_a_change_of_the_load_is_no_external_torque():
    """While the arm moves, a load of 5 kg changes its momentum, which would look like 100 N·m. The
    torques that were observed before remain. The same holds for a load on another link."""
    fleet = feeling_fleet(gravity=[0.0, 0.0, 0.0])
    dynamics, torques = fleet.dynamics, fleet.robots[0].effort_watch.torques
    v = np.array([0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5, 0.0])
    torques.v[0], torques.q[:] = v, Q
    torques.update(0.0, KNOWN)

    def moving(model):
        torques.q[0] += 0.001 * v
        torques.tau[0] = wd.rnea(model, torques.q[0], v, 0 * v, gravity=(0, 0, 0)) - PUSH
        torques.update(0.001, KNOWN)
        return torques.external[0].copy()

    before = [moving(MODEL) for _ in range(60)][-1]
    np.testing.assert_allclose(before, PUSH, atol=0.02)
    settings = fleet.settings.with_changes({"payload.mass": 5.0, "payload.com": (0.0, 0.0, 0.1)})
    fleet.change(settings)
    loaded = MODEL.with_payload("panda_hand", 5.0, (0, 0, 0.1))
    momentum = wd.crba(loaded, torques.q[0]) @ v
    np.testing.assert_allclose(torques.momentum[0], momentum, atol=1e-9)
    after = moving(loaded)
    np.testing.assert_allclose(after, PUSH, atol=0.5)
    other = feeling_fleet(payload__link="panda_link7", payload__mass=9.0)
    fleet.blend_to(other)
    after = moving(MODEL.with_payload("panda_link7", 9.0, (0, 0, 0)))
    assert dynamics.payload is other.dynamics.payload
    np.testing.assert_allclose(after, PUSH, atol=0.5)


def test_an_unknown_joint_restarts_without_the_others():
    """The other joints remain observed. A wrench that needs the unknown joint is NaN; a finger
    behind the hand is not needed."""
    torques = feeling_fleet().robots[0].effort_watch.torques
    own = wd.gravity_torques(MODEL, Q)
    for joint in (1, 7):
        np.testing.assert_allclose(settle(torques, own - PUSH), PUSH, atol=1e-6)
        lacking, tau = KNOWN.copy(), own - PUSH
        lacking[joint] = False
        tau[joint] = 0.0
        for known in (lacking, KNOWN, lacking, KNOWN, lacking):
            torques.tau[0] = tau if known is lacking else own - PUSH
            torques.update(0.001, known)
            np.testing.assert_allclose(torques.external[0, lacking], PUSH[lacking], atol=1e-6)
            assert torques.external[0, joint] == 0.0
            assert np.isnan(torques.wrench).all() == (joint == 1 and known is lacking)


def test_the_joints_that_move_a_link_are_listed():
    """A mimic joint is replaced by the joint that it follows."""
    assert joints_that_move(MODEL, "panda_link0") == [] == joints_that_move(MODEL, "")
    assert joints_that_move(MODEL, "panda_hand") == list(MODEL.joint_names[:7])
    assert joints_that_move(MODEL, "panda_rightfinger") == list(MODEL.joint_names)


def test_singular_values_below_two_hundredths_are_damped():
    for felt, wrench in ((0.04, 25.0), (0.02, 50.0), (0.01, 25.0), (0.0, 0.0)):
        J = np.zeros((6, 1))
        J[2] = felt
        found = fitted_wrench(J, np.ones(1))
        np.testing.assert_allclose(found, [0.0, 0.0, wrench, 0.0, 0.0, 0.0], atol=1e-12)


def test_the_refusal_lists_at_most_forty_links():
    chain, links = wd.load_urdf(chain_text(42)), ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        check_wrench_link(chain, SimpleNamespace(external_wrench_link="hand"))
    assert (
        str(error.value) == f"external_wrench_link 'hand' is not a link of chain, which has {links}"
    )
    check_wrench_link(chain, SimpleNamespace(external_wrench_link="l41"))
    check_wrench_link(chain, SimpleNamespace(external_wrench_link=""))
