"""Dynamics of closed mechanisms: power of loop forces, Pinocchio, and equations of one coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loop_robots import LEG, ROBOTS, closed_configurations, four_bar
from pinocchio_peer import build_pinocchio, pin
from states import states, step

import warpdyn as wd
from warpdyn.algorithms.closed_loops.loop_dynamics import free_rods
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.names import ModelWarning

ROUNDING = 1e-9
"""Error of float64, relative to the largest number. Pinocchio's proximal solver has about the same."""
STEP = 1e-5
"""Step of central differences [rad, m]."""
WIDE = 1e-4
"""The same for Pinocchio, whose solver ends at errors of 1e-10."""
CLOSE_TO_SINGULAR = 1e-6
"""Error next to a singular configuration, relative to the largest number."""
DIFFERENCES, SINGLE = 1e-6, 1e-5
"""Errors of central differences, and of float32, relative to the largest number."""


def moving(model: wd.Model, count: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Closed configurations, velocities that keep them closed, and joint forces."""
    q = closed_configurations(model, count)
    s = states(model, count)
    J = np.array([wd.oracle(wd.loops.constraint_jacobian, model, x) for x in q])
    v = s.v - np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-9) @ J, s.v)
    return q, v, s.tau


def near(mine: np.ndarray, truth: np.ndarray, share: float = ROUNDING) -> None:
    np.testing.assert_allclose(mine, truth, rtol=0, atol=share * max(1.0, np.abs(truth).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_accelerations_satisfy_newton_and_keep_the_loops_closed(name: str) -> None:
    """M a + h = tau + Jᵀ f with forces f that do no work. Inverse dynamics recovers them."""
    model = ROBOTS[name]
    for q, v, tau in zip(*moving(model), strict=True):
        a, forces = wd.oracle(wd.loops.dynamics, model, q, v, tau)
        J = wd.oracle(wd.loops.constraint_jacobian, model, q)
        parts = [f[: loop.rows] for f, loop in zip(forces, model.loops, strict=True)]
        if name == "hinge":  # whose rows are about its own axes
            R = wd.oracle(wd.fk, model, q, frame="left3")[:3, :3]
            parts = [np.r_[forces[0, :3], (R.T @ forces[0, 3:])[:2]]]
        pushed = J.T @ np.concatenate(parts)
        near(wd.oracle(wd.rnea, model, q, v, a), tau + pushed)
        assert abs(pushed @ v) < ROUNDING * np.abs(pushed).max()


PINOCCHIOS = ["connect", "weld", "four_bar", "floating", "leg"]
"""Robots whose loops Pinocchio has too."""


def with_pinocchio(model: wd.Model) -> tuple[Any, ...]:
    """Robot, data, constraints, their data and settings, for `constraintDynamics`."""
    robot = build_pinocchio(model)
    for joint in model.moving_joints:
        robot.armature[model.v_indices([joint.name])] = joint.armature
    kinds = {"connect": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}
    constraints = pin.StdVec_RigidConstraintModel()
    for loop in model.loops:
        ends = []
        for link, pose in ((loop.first, loop.first_pose), (loop.second, loop.second_pose)):
            frame = robot.frames[robot.getFrameId(link)]
            place = pin.SE3(np.array(pose.rotation), np.array(pose.position))
            ends += [frame.parentJoint, frame.placement * place]
        constraints.append(pin.RigidConstraintModel(kinds[loop.kind], robot, *ends, pin.LOCAL))
    data, datas = robot.createData(), pin.StdVec_RigidConstraintData()
    for each in constraints:
        datas.append(each.createData())
    pin.initConstraintDynamics(robot, data, constraints, datas)
    return robot, data, constraints, datas, pin.ProximalSettings(1e-14, 1e-10, 200)


@pytest.mark.parametrize("name", PINOCCHIOS)
def test_accelerations_equal_pinocchios(name: str) -> None:
    """The truth is `constraintDynamics` of the tree with rigid constraints."""
    model = ROBOTS[name]
    robot, data, *loops = with_pinocchio(model)
    for q, v, tau in zip(*moving(model), strict=True):
        truth = pin.constraintDynamics(robot, data, q, v, tau, *loops)
        near(wd.oracle(wd.loops.dynamics, model, q, v, tau)[0], np.array(truth))


@pytest.mark.parametrize("name", PINOCCHIOS)
def test_derivatives_of_accelerations_equal_pinocchios(name: str) -> None:
    """Derivatives are compared along motions of positions and velocities that keep the loops
    closed. (For open loops the acceleration of a gap is not unique, and the libraries differ.)
    Pinocchio's `computeConstraintDynamicsDerivatives` by q and v are those of its own dynamics for
    a weld, but not for a connect (4.1.0). There differences of its dynamics are the reference.
    """
    model = ROBOTS[name]
    robot, data, *loops = with_pinocchio(model)
    q, v, tau = moving(model)
    wrt = ("q", "v", "tau")
    by_q, by_v, by_tau = wd.derivatives(wd.loops.dynamics, model, q, v, tau, wrt=wrt)[::2]
    for k, J in enumerate(wd.loops.constraint_jacobian(model, q)):
        pin.constraintDynamics(robot, data, q[k], v[k], tau[k], *loops)
        found = pin.computeConstraintDynamicsDerivatives(robot, data, *loops)
        their_q, their_v, their_tau = (np.array(x) for x in found[:3])
        near(by_tau[k], their_tau)
        inverse = np.linalg.pinv(J, rcond=1e-9)
        for way in (np.eye(model.nv) - inverse @ J).T:
            there = [step(model, q[k : k + 1], h * way[None]) for h in (WIDE, -WIDE)]
            ahead, behind = (wd.loops.constraint_jacobian(model, x)[0] @ v[k] for x in there)
            turn = -inverse @ (ahead - behind) / (2 * WIDE)
            ends = [
                np.array(pin.constraintDynamics(robot, data, x[0], v[k] + h * turn, tau[k], *loops))
                for x, h in zip(there, (WIDE, -WIDE), strict=True)
            ]
            ours = by_q[k] @ way + by_v[k] @ turn
            near(ours, (ends[0] - ends[1]) / (2 * WIDE), DIFFERENCES)
            if name == "weld":
                near(ours, their_q @ way + their_v @ turn, DIFFERENCES)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_equal_finite_differences(name: str) -> None:
    """Accelerations and forces have derivatives in both modes, in float64 and float32."""
    model = ROBOTS[name]
    q, v, tau = moving(model)
    s, weights = states(model, 2, seed=5), states(model, 2, seed=6)
    ways = {
        "q": (step(model, q, STEP * s.v) - step(model, q, -STEP * s.v)) / (2 * STEP),
        "v": s.v,
        "tau": s.tau,
    }
    for dtype, share in ((np.float64, DIFFERENCES), (np.float32, SINGLE)):
        batch = [x.astype(dtype) for x in (q, v, tau)]
        there = wd.loops.dynamics(model, *batch)
        w = (weights.v.astype(dtype), np.ones_like(there.loop_forces))
        bars = wd.vjp(wd.loops.dynamics, model, *batch, cotangents=w)
        for (name, way), bar in zip(ways.items(), bars, strict=True):
            ends = []
            for h in (STEP, -STEP):
                moved = {"q": q, "v": v, "tau": tau}
                moved[name] = step(model, q, h * s.v) if name == "q" else moved[name] + h * way
                ends.append(wd.loops.dynamics(model, *moved.values()))
            truth = [(one - other) / (2 * STEP) for one, other in zip(*ends, strict=True)]
            found = wd.jvp(wd.loops.dynamics, model, *batch, tangents={name: way.astype(dtype)})
            for mine, rate in zip(found, truth, strict=True):
                near(mine, rate, share)
            total = [(x * y).sum() for x, y in zip(w, truth, strict=True)]
            near(np.array((bar * way).sum()), np.array(sum(total)), 10 * share)


def test_redundant_loops_have_the_derivatives_of_one_loop() -> None:
    """A hinge as two connect constraints on its axis, compared with one. (They share the forces.)"""
    one = four_bar()
    builder = wd.ModelBuilder("double")
    for link in one.links:
        builder.add_link(link.name, link.mass, link.com, np.array(link.inertia))
    for joint in one.joints:
        builder.add_joint(
            joint.name, "continuous", joint.parent, joint.child, joint.pose, axis=(0, 1, 0)
        )
    (loop,) = one.loops
    for y in (0.0, 0.1):
        (ax, _, az), (bx, _, bz) = loop.first_pose.position, loop.second_pose.position
        builder.connect(loop.first, (ax, y, az), str(loop.second), (bx, y, bz))
    two = builder.build()
    q, v, tau = moving(one)
    for name, way in (("q", v), ("v", v), ("tau", tau)):
        truth, found = (
            wd.jvp(wd.loops.dynamics, model, q, v, tau, tangents={name: way})
            for model in (one, two)
        )
        near(found[0], truth[0], 1e-8)
        near(found[1][..., :3].sum(1), truth[1][..., :3].sum(1), 1e-8)


def test_a_parallelogram_moves_as_a_pendulum() -> None:
    """Equal cranks move by I th'' = tau - G sin th."""
    length, mass, g = 0.3, 1.0, 9.81
    model = four_bar(length, 0.5, length, 0.5)
    inertia = 2 * mass * length**2 / 3 + mass * length**2
    weight = g * (2 * mass * length / 2 + mass * length)
    for th, rate, tau in ((0.4, 0.7, 0.0), (-1.0, 2.0, 3.0)):
        q, v = np.array([th, -th, th]), np.array([rate, -rate, rate])
        a = wd.oracle(wd.loops.dynamics, model, q, v, np.array([tau, 0, 0]))[0]
        truth = (tau - weight * np.sin(th)) / inertia
        near(a, truth * np.array([1, -1, 1]))
        needed = wd.oracle(wd.loops.inverse_dynamics, model, q, v, a, actuated=["j1"])
        near(needed, np.array([tau, 0, 0]))


@pytest.mark.parametrize("bend", [1e-2, 1e-3, 2e-4])
def test_a_nearly_stretched_chain_has_accurate_accelerations(bend: float) -> None:
    """Close to a singularity, here at 3e-8 of the largest eigenvalue of J M⁻¹ Jᵀ."""
    builder = wd.ModelBuilder("chain").add_link("ground")
    for k, parent in enumerate(("ground", "link0", "link1")):
        builder.add_link(f"link{k}", mass=1.0, com=(0.2, 0, 0), inertia=np.diag([1e-3, 0.01, 0.01]))
        at = (0.4 * (k > 0), 0, 0)
        builder.add_joint(f"j{k}", "continuous", parent, f"link{k}", at, axis=(0, 1, 0))
    q = np.array([0.7, bend, -2.0 * bend])
    turns = np.cumsum(q)
    end = (0.4 * np.cos(turns).sum(), 0.0, -0.4 * np.sin(turns).sum())
    model = builder.connect("link2", (0.4, 0, 0), None, end).build()
    tau, still = np.array([0.3, -0.2, 0.5]), np.zeros(3)
    J = wd.oracle(wd.loops.constraint_jacobian, model, q)
    # The only motion that the loop allows, and its response to joint forces.
    freedom = np.linalg.svd(J)[2][2:].T
    M, h = wd.oracle(wd.crba, model, q), wd.oracle(wd.rnea, model, q, still, still)
    response = freedom @ np.linalg.inv(freedom.T @ M @ freedom) @ freedom.T
    results = wd.loops.dynamics(model, q[None], still[None], tau[None])
    near(results.acceleration[0], response @ (tau - h), CLOSE_TO_SINGULAR)
    found = wd.jvp(
        wd.loops.dynamics,
        model,
        q[None],
        still[None],
        tau[None],
        tangents={"tau": np.array([[1.0, 2.0, 3.0]])},
    )
    near(np.asarray(found[0])[0], response @ [1.0, 2.0, 3.0], CLOSE_TO_SINGULAR)
    one = np.array([0.3, 0.0, 0.0])
    a = response @ (one - h)
    needed = wd.loops.inverse_dynamics(model, q[None], still[None], a[None], actuated=["j0"])
    near(needed[0], one, CLOSE_TO_SINGULAR)


def test_a_branch_that_is_cut_and_welded_moves_as_the_tree() -> None:
    """A rod on two hinges, compared with one whose frame is held by a weld in place of the joint."""
    tree = four_bar(loop=False)
    builder = wd.ModelBuilder("cut").add_link("world")
    for link in tree.links:
        builder.add_link(link.name, link.mass, link.com, np.array(link.inertia))
    builder.add_joint("hold", "fixed", "world", "ground")
    joint = {j.name: j for j in tree.joints}
    for name in ("j1", "j3"):
        j = joint[name]
        builder.add_joint(name, "continuous", j.parent, j.child, j.pose, axis=(0, 1, 0))
    builder.add_joint("loose", "floating", "world", "coupler")
    builder.add_link("hinge", 1e-3, inertia=1e-6 * np.eye(3))
    builder.add_joint("j2", "continuous", "crank", "hinge", joint["j2"].pose, axis=(0, 1, 0))
    cut = builder.weld("hinge", (0, 0, 0), "coupler").build()
    q = dict(zip(tree.joint_names, (0.3, -0.5, 0.8), strict=True))
    v = dict(zip(tree.joint_names, (0.7, -1.1, 0.4), strict=True))
    there = wd.oracle(wd.fk, tree, np.array([*q.values()]), frame="coupler", form="pose")
    whole = cut.neutral.copy()
    for name, x in q.items():
        whole[cut.q_indices([name])] = x
    whole[cut.q_indices(["loose"])] = there
    J = wd.oracle(wd.loops.constraint_jacobian, cut, whole)
    speed = np.zeros(cut.nv)
    for name, x in v.items():
        speed[cut.v_indices([name])] = x
    loose = cut.v_indices(["loose"])
    speed[loose] = np.linalg.solve(J[:, loose], -J @ speed)
    a = wd.oracle(wd.loops.dynamics, cut, whole, speed, np.zeros(cut.nv))[0]
    # The tree has the hinge's mass on the coupler.
    tree = tree.with_payload("coupler", 1e-3, inertia=1e-6 * np.eye(3))
    truth = wd.oracle(wd.aba, tree, np.array([*q.values()]), np.array([*v.values()]), np.zeros(3))
    near(a[cut.v_indices(tree.joint_names)], truth, 1e-6)


def test_the_number_of_drives_must_equal_the_degrees_of_freedom() -> None:
    """The leg has three of both. Two or four drives are refused."""
    leg = ROBOTS["leg"]
    q, v, _ = (x[0] for x in moving(leg, 1))
    with pytest.raises(ValueError, match=r"joints with 3 coordinates.*got 2 \(hip, knee\)"):
        wd.loops.inverse_dynamics(leg, q, v, v, actuated=["hip", "knee"])
    with pytest.raises(ValueError, match=r"3 coordinates.*got 4 \(hip, knee, crank, toe\)"):
        wd.loops.inverse_dynamics(leg, q, v, v, actuated=["hip", "knee", "crank", "toe"])


def test_inverse_dynamics_of_the_leg_ignores_spins_of_its_rods() -> None:
    """It recovers the torques of three drives, also with another spin of the rods in `a`."""
    leg, drives = ROBOTS["leg"], ["hip", "knee", "crank"]
    columns = leg.v_indices(drives)
    spin = np.zeros(leg.nv)
    spin[leg.v_indices(["plantar"])] = np.array([0.25, 0.0, -0.2]) * 3.0
    spin[leg.v_indices(["rod"])] = np.array([0.0, 0.0, -0.9]) * 2.0
    for q, v, tau in zip(*moving(leg), strict=True):
        tau[[k for k in range(leg.nv) if k not in columns]] = 0.0
        a = wd.oracle(wd.loops.dynamics, leg, q, v, tau)[0]
        J = wd.oracle(wd.loops.constraint_jacobian, leg, q)
        assert np.abs(J @ spin).max() < ROUNDING
        for other in (a, a + spin):
            near(wd.oracle(wd.loops.inverse_dynamics, leg, q, v, other, actuated=drives), tau)


def test_only_rods_with_two_undriven_ball_joints_are_free() -> None:
    """A rod that carries a link, closes another loop, is driven or welded is not."""
    tree = tree_of(ROBOTS["leg"])
    assert [axis for _, axis in free_rods(tree)] == [(0.0, 0.0, -0.9), (0.25, 0.0, -0.2)]
    (plantar,) = [columns for columns, axis in free_rods(tree) if axis[0]]
    assert len(free_rods(tree, plantar[:1])) == 1
    weld = (
        LEG.replace("<connect", "<weld")
        .replace('anchor="0 0 -.9"', "")
        .replace('anchor=".25 0 -.2"', "")
    )
    carries = LEG.replace(
        '<inertial pos="0 0 -.45"',
        '<body><joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
        '<inertial pos="0 0 -.45"',
    )
    for text, count in ((weld, 0), (carries, 1)):
        with pytest.warns(ModelWarning):
            assert len(free_rods(tree_of(wd.load_mjcf(text)))) == count
