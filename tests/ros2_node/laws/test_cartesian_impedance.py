"""A frame on springs and dampers: passive, bounded, and with the requested stiffness and
damping."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from driven_arm import HAND, READY, DrivenArm
from fleets import MODEL, N

import warpdyn as wd
from ros2_node.laws.cartesian_impedance import (
    cartesian_impedance,
    check_cartesian_impedance,
    moment_of,
    rotation_vector,
)

SOFT = np.diag([800.0, 500.0, 300.0, 40.0, 30.0, 20.0])


def hand(q):
    return wd.fk(MODEL, np.atleast_2d(q), frame=HAND)


def jacobian(q):
    return wd.jacobian(MODEL, np.atleast_2d(q), frame=HAND, reference="local_world_aligned")


def coupled_stiffness(seed=0):
    """A stiffness with couplings, positive definite."""
    L = np.random.default_rng(seed).normal(size=(6, 6)) * np.sqrt(np.diag(SOFT))[:, None]
    return L @ L.T


def states(count=40, seed=0):
    rng = np.random.default_rng(seed)
    q = READY + rng.uniform(-0.5, 0.5, (count, N)) * [*[1.0] * 7, 0.02]
    return q, rng.normal(size=(count, N)), rng


def poses(q, rng, way, angle):
    """Wanted poses at a distance and angle from those of the hand [m, rad], position and
    quaternion."""
    made = []
    for place in hand(q):
        turn = rng.normal(size=3)
        R = pin.exp3(angle * turn / np.linalg.norm(turn)) @ place[:3, :3]
        step = rng.normal(size=3)
        position = place[:3, 3] + way * step / np.linalg.norm(step)
        made.append([*position, *pin.Quaternion(R).coeffs()])
    return np.array(made)


def errors(q, pose):
    """The pose errors (B, 6), by Pinocchio's logarithm."""
    return np.array(
        [
            [
                *(p[:3] - T[:3, 3]),
                *pin.log3(pin.Quaternion(p[3:] / np.linalg.norm(p[3:])).matrix() @ T[:3, :3].T),
            ]
            for p, T in zip(pose, hand(q), strict=True)
        ]
    )


def potential(e, K, most):
    """½ eᵀ K e. Beyond the bound it is a root whose slope is the bound. Translation and rotation
    are separate where K does not couple them."""
    hardest = [np.abs(K[k : k + 3, k : k + 3]).sum(axis=1).max() for k in (0, 3)]
    roots = [most[k] / np.sqrt(hardest[k]) for k in range(2)]
    apart = [(slice(3), roots[0]), (slice(3, 6), roots[1])]
    parts = [(slice(6), min(roots))] if K[:3, 3:].any() else apart
    total = 0.0
    for rows, root in parts:
        twice = np.einsum("bi,ij,bj->b", e[:, rows], K[rows, rows], e[:, rows])
        beyond = root * np.sqrt(twice) - 0.5 * root**2
        total = total + np.where(twice <= root**2, 0.5 * twice, beyond)
    return total


@pytest.mark.parametrize(
    ("K", "axes"), [(SOFT, "base"), (coupled_stiffness(), "base"), (coupled_stiffness(), "tip")]
)
def test_no_motion_gains_energy_from_the_law(K, axes):
    """The power without dampers is the rate at which a potential of the error falls.

    This holds for any couplings of the stiffness and where the spring is limited. Dampers only take
    energy.
    """
    most = (60.0, 6.0)
    for way, angle in ((0.01, 0.02), (0.2, 1.5)):
        q, v, rng = states()
        pose = poses(q, rng, way, angle)
        inputs = {"stiffness": K, "max_force": most, "pose_desired": pose, "posture_stiffness": 0.0}
        arm = DrivenArm(cartesian_impedance, q, frame=HAND, axes=axes, **inputs)
        at_rest = arm.torques() - wd.gravity_torques(MODEL, q)

        def stored_energy(q, pose=pose):
            e = errors(q, pose)
            if axes == "tip":
                R = np.array([pin.Quaternion(p[3:]).matrix() for p in pose])
                e = np.concatenate(
                    [np.einsum("bji,bj->bi", R, e[:, k : k + 3]) for k in (0, 3)], axis=1
                )
            return potential(e, K, most)

        h = 1e-6
        falls = -(stored_energy(q + h * v) - stored_energy(q - h * v)) / (2 * h)
        power = np.einsum("bi,bi->b", at_rest, v)
        np.testing.assert_allclose(power, falls, atol=1e-5 * np.abs(falls).max())
        arm.v[:] = v
        taken = power - np.einsum("bi,bi->b", arm.torques() - wd.gravity_torques(MODEL, q), v)
        assert (taken > 0.0).all()


def test_the_spring_is_bounded():
    """However far the pose is, the force is at most max_force, and equals it for an isotropic
    stiffness."""
    q, _, rng = states()
    pose = poses(q, rng, 0.8, 0.0)
    inputs = {"pose_desired": pose, "max_force": (50.0, 5.0), "posture_stiffness": 0.0}
    K = np.diag([1000.0] * 3 + [50.0] * 3)
    arm = DrivenArm(cartesian_impedance, q, frame=HAND, stiffness=K, **inputs)
    tau = arm.torques() - wd.gravity_torques(MODEL, q)
    force = np.array(
        [np.linalg.lstsq(J.T, t, rcond=None)[0] for J, t in zip(jacobian(q), tau, strict=True)]
    )
    np.testing.assert_allclose(np.linalg.norm(force[:, :3], axis=1), 50.0, rtol=1e-6)
    assert np.abs(force[:, 3:]).max() < 1e-6


@pytest.mark.parametrize("axes", ["base", "tip"])
def test_a_force_moves_the_hand_by_force_over_stiffness(axes):
    """This holds at rest, to 1 %, along each axis of the root link or of the pose, and for moments
    too."""
    R = hand(READY)[0, :3, :3]
    turn = np.kron(np.eye(2), R if axes == "tip" else np.eye(3))
    wrench = turn @ np.diag([8.0, 5.0, 3.0, 0.8, 0.6, 0.4])
    q = np.tile(READY, (6, 1))
    arm = DrivenArm(
        cartesian_impedance, q, frame=HAND, axes=axes, stiffness=SOFT, damping_ratio=1.0
    )
    pose = arm.inputs["pose_desired"]
    # The wrench is constant, whatever the arm does.
    for _ in range(30):
        arm.push[:] = np.einsum("bij,ib->bj", jacobian(arm.q), wrench)
        arm.run(0.1)
    moved = -errors(arm.q, pose) @ turn
    np.testing.assert_allclose(np.diag(moved), 0.01 * np.array([1, 1, 1, 2, 2, 2]), rtol=0.01)
    assert np.abs(moved - np.diag(np.diag(moved))).max() < 5e-4, "and in no other way"


@pytest.mark.parametrize("ratio", [0.3, 0.7])
def test_the_overshoot_of_the_hand_agrees_with_the_damping_ratio(ratio):
    """It is released a little way off, along a mode of its stiffness and inertia."""
    J = jacobian(READY)[0]
    inertia = np.linalg.inv(J @ np.linalg.solve(wd.crba(MODEL, READY), J.T))
    root = np.linalg.inv(np.linalg.cholesky(inertia))
    modes = (root.T @ np.linalg.eigh(root @ SOFT @ root.T)[1])[:, [0, 3]].T
    modes *= 1e-3 / np.abs(modes).max(axis=1, keepdims=True)
    reached = np.linalg.solve(wd.crba(MODEL, READY), J.T) @ inertia
    q = READY + modes @ reached.T
    pose = np.tile(wd.fk(MODEL, READY, frame=HAND, form="pose"), (2, 1))
    arm = DrivenArm(
        cartesian_impedance,
        q,
        frame=HAND,
        stiffness=SOFT,
        damping_ratio=ratio,
        pose_desired=pose,
        q_posture=READY,
        posture_stiffness=0.0,
    )
    scale = modes @ inertia
    weight = np.einsum("bi,bi->b", scale, modes)
    way = arm.run(1.2, 2e-4, lambda: -np.einsum("bi,bi->b", scale, errors(arm.q, pose)) / weight)
    overshoot = -way.min(axis=0)
    measured = -np.log(overshoot) / np.hypot(np.pi, np.log(overshoot))
    np.testing.assert_allclose(measured, ratio, rtol=0.03)


def test_the_posture_does_not_accelerate_the_hand():
    """Springs and dampers of the posture move the remaining freedom towards it."""
    q, v, _ = states()
    arms = []
    for stiffness, damping in ((0.0, 0.0), (20.0, 4.0)):
        inputs = {"posture_stiffness": stiffness, "posture_damping": damping, "stiffness": SOFT}
        arm = DrivenArm(cartesian_impedance, q, frame=HAND, q_posture=READY, **inputs)
        arm.v[:] = v
        arms.append(arm.torques().copy())
    J, M = jacobian(q), wd.crba(MODEL, q)
    mobility = np.einsum("bij,bjk,blk->bil", J, np.linalg.inv(M), J)
    plain = 1.0 / np.trace(np.linalg.inv(mobility), axis1=1, axis2=2) > 1.0 / (
        10.0 * MODEL.total_mass
    )
    assert plain.sum() > 30, "of most of these poses, which are far from singular"
    pull = 20.0 * (READY - q) - 4.0 * v
    felt, bare = (
        np.einsum("bij,bj->bi", J, np.linalg.solve(M, x[..., None])[..., 0])
        for x in (arms[1] - arms[0], pull)
    )
    assert np.abs(felt[plain]).max() < 1e-9 * np.abs(bare).max()
    assert np.abs(arms[1] - arms[0]).max() > 1.0

    turned = READY + np.array([0.3, 0.1, -0.3, 0.1, 0.2, -0.1, 0.1, 0.01])
    arm = DrivenArm(
        cartesian_impedance,
        turned,
        frame=HAND,
        stiffness=SOFT,
        q_posture=READY,
        posture_stiffness=20.0,
        posture_damping=4.0,
    )
    start = hand(turned)[0, :3, 3]
    before = np.linalg.norm(turned - READY)
    strayed = arm.run(3.0, seen=lambda: np.linalg.norm(hand(arm.q)[0, :3, 3] - start))
    assert strayed.max() < 2e-3 and np.abs(arm.v).max() < 0.02
    assert np.linalg.norm(arm.q[0] - READY) < 0.8 * before


def test_torques_are_bounded_and_continuous_at_singular_poses():
    """The arm is stretched. It settles when its reference is out of reach."""
    stretched = np.array([0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2, 0.0, 0.02])
    near = np.linspace(0.0, 0.3, 61)[:, None] * [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    q = stretched + near
    assert np.linalg.matrix_rank(jacobian(q)[0], tol=1e-9) < 6
    rng = np.random.default_rng(4)
    pose = poses(q, rng, 0.05, 0.1)
    pose[:] = pose[0]
    arm = DrivenArm(cartesian_impedance, q, frame=HAND, stiffness=SOFT, q_posture=READY)
    arm.v[:] = 0.3
    tau = arm.torques() - wd.gravity_torques(MODEL, q)
    assert np.isfinite(tau).all() and np.abs(tau).max() < 60.0
    assert np.abs(np.diff(tau, axis=0)).max() < 6.0, "no jump between poses 0.005 rad apart"
    arm = DrivenArm(cartesian_impedance, READY, frame=HAND, stiffness=SOFT)
    out = arm.inputs["pose_desired"]
    out[0, :3] = [0.9, 0.0, 0.4]  # out of reach
    arm.run(4.0)
    assert np.isfinite(arm.q).all() and np.abs(arm.v).max() < 0.05
    reach = hand(arm.q)[0, :3, 3]
    assert 0.3 < np.linalg.norm(reach - [0.0, 0.0, 0.333]) < np.linalg.norm(out[0, :3])


def test_the_kernel_agrees_with_the_oracle():
    q, v, rng = states(2)
    inputs = {"stiffness": coupled_stiffness(), "pose_desired": poses(q, rng, 0.05, 0.2)}
    arm = DrivenArm(cartesian_impedance, q, frame=HAND, axes="tip", q_posture=READY, **inputs)
    arm.v[:] = v
    one = {name: x[:1] for name, x in arm.inputs.items()}
    wanted = wd.oracle(cartesian_impedance, MODEL, **one, frame=HAND, axes="tip")
    np.testing.assert_allclose(arm.torques()[:1], wanted, atol=1e-8)


def test_inputs_that_drive_the_arm_are_refused():
    good = {
        "stiffness": SOFT,
        "damping_ratio": np.array(0.7),
        "max_force": np.array([100.0, 20.0]),
        "posture_stiffness": np.zeros(N),
        "posture_damping": np.zeros(N),
    }
    check_cartesian_impedance(good)
    check_cartesian_impedance({**good, "stiffness": 0 * SOFT})
    for name, value, said in (
        ("stiffness", SOFT + np.triu(np.ones((6, 6)), 1), "symmetric"),
        ("stiffness", -SOFT, "least eigenvalue is -800"),
        ("damping_ratio", np.array(-0.1), "damping_ratio must be at least 0"),
        ("posture_damping", np.full(N, -1.0), "posture_damping must be at least 0"),
        ("max_force", np.array([100.0, 0.0]), r"max_force must be above 0"),
    ):
        with pytest.raises(ValueError, match=said):
            check_cartesian_impedance({**good, name: value})


@wd.kernel
def logarithm(robot, R: (3, 3)):
    return rotation_vector(robot, R)[0]


@wd.kernel
def moment(robot, R: (3, 3), K: (3, 3)):
    turn, half_by_tangent = rotation_vector(robot, R)
    return moment_of(K @ turn, turn, half_by_tangent)


def turns(angles, seed=0):
    axes = np.random.default_rng(seed).normal(size=(len(angles), 3))
    return angles[:, None] * axes / np.linalg.norm(axes, axis=1, keepdims=True)


def test_the_logarithm_inverts_the_exponential_map():
    """The angles are zero, too small for rounding to show, and up to nearly half a turn."""
    angles = np.array([0.0, 1e-15, 1e-9, 1e-5, 1e-3, 0.3, 1.5, 3.0, np.pi - 1e-6])
    wanted = turns(angles)
    R = np.array([pin.exp3(w) for w in wanted])
    np.testing.assert_allclose(logarithm(MODEL, R), wanted, atol=1e-9)


def test_a_moment_is_the_gradient_of_its_potential():
    """The power of the moment is the rate at which ½ turnᵀ K turn falls, whatever the stiffness."""
    rng = np.random.default_rng(2)
    angles = np.array([1e-7, 1e-3, 0.4, 1.2, 2.5, 3.0])
    R = np.array([pin.exp3(w) for w in turns(angles)])
    K = rng.normal(size=(len(angles), 3, 3))
    K = K @ K.transpose(0, 2, 1)
    omega, h = rng.normal(size=(len(angles), 3)), 1e-6

    def energy(t):
        # The body turns by omega; the rotation from it to a fixed orientation is R exp(-t omega).
        way = np.array([pin.log3(r @ pin.exp3(-t * w)) for r, w in zip(R, omega, strict=True)])
        return 0.5 * np.einsum("bi,bij,bj->b", way, K, way)

    falls = -(energy(h) - energy(-h)) / (2 * h)
    power = np.einsum("bi,bi->b", moment(MODEL, R, K), omega)
    np.testing.assert_allclose(power, falls, atol=1e-6)
