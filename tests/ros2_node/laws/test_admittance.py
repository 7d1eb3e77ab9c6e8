"""A frame that follows a virtual body: its torques, and the refusal of inputs that drive the
arm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from driven_arm import GRAVITY, HAND, READY, DrivenArm
from fleets import MODEL, N

import warpdyn as wd
from ros2_node.laws.admittance import admittance, check_admittance

MASS = np.array([5.0, 6.0, 7.0, 0.5, 0.6, 0.7])
DAMPING = np.array([50.0, 60.0, 70.0, 5.0, 6.0, 7.0])
STIFFNESS = np.array([100.0, 0.0, 200.0, 10.0, 20.0, 0.0])


def test_the_frame_has_the_acceleration_of_the_body():
    """J a + J' v of the arm under these torques and the contact is z¨ + 2 ω ė + ω² e.

    The posture may pull in any way.
    """
    rng = np.random.default_rng(0)
    q = READY + rng.uniform(-0.3, 0.3, (5, N)) * [*[1.0] * 7, 0.02]
    v, twist, acceleration, wrench = (rng.normal(size=(5, n)) for n in (N, 6, 6, 6))
    body = np.array(wd.fk(MODEL, q, frame=HAND, form="pose"))
    desired = body.copy()
    for poses in (body, desired):
        poses[:, :3] += rng.uniform(-0.1, 0.1, (5, 3))
        for pose in poses:
            turn = pin.exp3(rng.uniform(-0.3, 0.3, 3))
            pose[3:] = pin.Quaternion(turn @ pin.Quaternion(pose[3:]).matrix()).coeffs()
    arm = DrivenArm(
        admittance,
        q,
        frame=HAND,
        virtual_mass=MASS,
        virtual_damping=DAMPING,
        virtual_stiffness=STIFFNESS,
        bandwidth=15.0,
        pose_desired=desired,
        pose_compliant=body,
        twist_compliant=twist,
        acceleration_compliant=acceleration,
        contact_wrench=wrench,
        q_posture=q + 0.2,
    )
    arm.v[:] = v
    J = wd.jacobian(MODEL, q, frame=HAND, reference="local_world_aligned")
    total = arm.torques() + np.einsum("bji,bj->bi", J, wrench)
    a = wd.aba(MODEL, q, v, total)
    got = wd.frame_acceleration(MODEL, q, v, a, frame=HAND, kind="classical")
    T = wd.fk(MODEL, q, frame=HAND)

    def way(R_to, R_from):
        return pin.log3(R_to @ R_from.T)

    for k in range(5):
        R = pin.Quaternion(body[k, 3:]).matrix()
        e = np.concatenate([body[k, :3] - T[k, :3, 3], way(R, T[k, :3, :3])])
        wanted = acceleration[k] + 30.0 * (twist[k] - J[k] @ v[k]) + 225.0 * e
        np.testing.assert_allclose(got[k], wanted, atol=1e-7)


def test_at_rest_the_law_carries_the_arms_weight():
    arm = DrivenArm(
        admittance,
        READY,
        frame=HAND,
        virtual_mass=MASS,
        virtual_damping=DAMPING,
        pose_compliant=wd.fk(MODEL, READY[None], frame=HAND, form="pose"),
        twist_compliant=0.0,
        acceleration_compliant=0.0,
        contact_wrench=0.0,
    )
    weight = wd.rnea(MODEL, READY, 0 * READY, 0 * READY, gravity=GRAVITY)
    np.testing.assert_allclose(arm.torques()[0], weight, atol=1e-9)


def test_bodies_without_mass_or_with_negative_numbers_are_refused():
    good = {
        "virtual_mass": MASS,
        "virtual_damping": DAMPING,
        "virtual_stiffness": STIFFNESS,
        "bandwidth": np.array(30.0),
        "posture_stiffness": np.ones(N),
        "posture_damping": np.ones(N),
    }
    check_admittance(good)
    with pytest.raises(ValueError, match=r"virtual_mass must be at least 0\.01"):
        check_admittance({**good, "virtual_mass": 0 * MASS})
    for name in set(good) - {"virtual_mass"}:
        with pytest.raises(ValueError, match=f"{name} must be at least 0, got -"):
            check_admittance({**good, name: good[name] - 1e4})
