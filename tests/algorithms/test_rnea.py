"""Inverse dynamics: laws on every robot, the oracle, Pinocchio, published tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tables
from hypothesis import given, settings
from pinocchio_peer import in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, size, states, step, without_mimic

import warpdyn as wd

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term: a few hundred roundings in a row on robots of up to 34 coordinates."""

DIFFERENCE = 3e-8
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-16 / 1e-5 to rounding, of each term."""

H = 1e-5
"""Step of central differences [s]."""

FREE_FALL = (0.0, 0.0, 0.0)


def torque_of(model: wd.Model, forces: np.ndarray, q: np.ndarray) -> np.ndarray:
    """sum J^T f over links, by the oracle's Jacobians."""
    total = np.zeros((len(q), model.nv))
    for i, link in enumerate(model.link_names):
        J = wd.oracle(wd.jacobian, model, q, frame=link, reference="local")
        total += np.einsum("eij,ei->ej", J, forces[:, i])
    return total


def energy(model: wd.Model, q: np.ndarray, v: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy of every state. The potential is - m g . c over the links."""
    M, T = wd.oracle(wd.crba, model, q), wd.oracle(wd.fk, model, q)
    com = np.array([[*link.com, 1.0] for link in model.links])
    mass = np.array([link.mass for link in model.links])
    height = np.einsum("elij,lj->eli", T, com)[..., :3]
    return 0.5 * np.einsum("ei,eij,ej->e", v, M, v) - np.einsum(
        "l,eli,ei->e", mass, height, gravity
    )


def test_rnea_equals_the_oracle(robot: Robot, run, dtype) -> None:
    """The kernel gives the numbers of the same algorithm in float64."""
    s = states(robot.model).rounded(dtype)
    wanted = wd.oracle(wd.rnea, robot.model, s.q, s.v, s.a)
    assert (
        error(run(wd.rnea, robot.model, s.q, s.v, s.a, dtype=dtype), wanted)
        <= ROUND_OFF[str(dtype)]
    )


def test_rnea_with_forces_and_gravity_equals_the_oracle(robot: Robot, run) -> None:
    """Gravity differs between environments, and a force acts on every link."""
    s = states(robot.model)
    found = run(wd.rnea, robot.model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    wanted = wd.oracle(wd.rnea, robot.model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    assert error(found, wanted) <= ROUND_OFF["float64"]


def test_external_forces_act_through_the_jacobian(robot: Robot, run) -> None:
    """tau without forces - tau with forces = sum over links of J^T f."""
    model, s = robot.model, states(robot.model, 5)
    with_forces = run(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    without = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity)
    expected = torque_of(model, s.forces, s.q)
    assert error(without - with_forces, expected, with_forces, without) <= ROUND_OFF["float64"]


def test_forces_on_root_fixed_links_have_no_effect(run) -> None:
    """They are accepted and change no joint force."""
    model = by_name("rooted").model
    s = states(model)
    forces = {"pedestal": s.forces[:, 0], "cabinet": s.forces[:, 1]}
    plain = run(wd.rnea, model, s.q, s.v, s.a)
    assert error(run(wd.rnea, model, s.q, s.v, s.a, f_ext=forces), plain) <= ROUND_OFF["float64"]


def test_power_is_the_rate_of_energy(robot: Robot, run) -> None:
    """tau . v = dE/dt along the motion with velocity v and acceleration a, for kinetic plus
    potential energy.
    """
    model, s = robot.model, states(robot.model, 4)
    tau = run(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity)
    later = energy(model, step(model, s.q, H * s.v), s.v + H * s.a, s.gravity)
    earlier = energy(model, step(model, s.q, -H * s.v), s.v - H * s.a, s.gravity)
    power = np.sum(tau * s.v, axis=1)
    assert error(power, (later - earlier) / (2 * H), np.abs(tau * s.v)) <= DIFFERENCE


def test_power_without_gravity_is_the_rate_of_kinetic_energy(robot: Robot) -> None:
    """tau . v = d(v^T M v / 2)/dt, by the oracle."""
    model, s = robot.model, states(robot.model, 3, seed=1)
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=FREE_FALL)
    weightless = np.zeros((3, 3))
    later = energy(model, step(model, s.q, H * s.v), s.v + H * s.a, weightless)
    earlier = energy(model, step(model, s.q, -H * s.v), s.v - H * s.a, weightless)
    assert (
        error(np.sum(tau * s.v, axis=1), (later - earlier) / (2 * H), np.abs(tau * s.v))
        <= DIFFERENCE
    )


def test_gravity_can_differ_by_environment(robot: Robot, run) -> None:
    """(B, 3) gravity gives each environment the result of its (3,).

    The default is (0, 0, -9.81).
    """
    model, s = robot.model, states(robot.model, 3)
    each = run(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=np.zeros_like(s.forces))
    for e in range(3):
        alone = wd.oracle(wd.rnea, model, s.q[e], s.v[e], s.a[e], gravity=s.gravity[e].tolist())
        assert error(each[e], alone) <= ROUND_OFF["float64"]
    default = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=(0, 0, -9.81))
    assert np.array_equal(default, wd.oracle(wd.rnea, model, s.q, s.v, s.a))


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """tau = G^T tau_full(G q + g, G v, G a), with tau_full of the robot whose mimic joints are
    free.
    """
    model, full, s = robot.model, without_mimic(robot.model), states(robot.model)
    Gq, Gv, g = reduction(model)
    tau_full = wd.oracle(wd.rnea, full, s.q @ Gq.T + g, s.v @ Gv.T, s.a @ Gv.T)
    assert (
        error(run(wd.rnea, model, s.q, s.v, s.a), tau_full @ Gv, tau_full) <= ROUND_OFF["float64"]
    )


@pytest.mark.parametrize(
    "name", ["panda", "rooted", "planar", "mimic_branches", "free_inside", "massless"]
)
def test_a_floating_robot_at_rest_has_the_forces_of_the_fixed_robot(name: str, run) -> None:
    """Joint forces with the base at rest at orientation R are those of the fixed robot under
    gravity R^T g.
    """
    fixed = by_name(name)
    floating = replace(fixed, floating=True).model
    s, base = states(fixed.model), states(floating)
    q = np.hstack([base.q[:, :7], s.q])
    zeros = np.zeros((len(q), 6))
    found = run(wd.rnea, floating, q, np.hstack([zeros, s.v]), np.hstack([zeros, s.a]))
    R = wd.oracle(wd.fk, floating, q, frame=floating.root)[:, :3, :3]
    gravity = np.einsum("eji,j->ei", R, [0, 0, -9.81])
    wanted = wd.oracle(wd.rnea, fixed.model, s.q, s.v, s.a, gravity=gravity)
    assert error(found[:, 6:], wanted, found) <= ROUND_OFF["float64"]


def test_the_order_of_a_quaternion_does_not_change_forces(run) -> None:
    """wxyz and xyzw models give the same forces for the same orientation."""
    robot = by_name("branches_wxyz")
    other = replace(robot, quaternion="xyzw").model
    s = states(robot.model)
    q = s.q[:, [0, 1, 2, 4, 5, 6, 3, *range(7, robot.model.nq)]]
    assert (
        error(run(wd.rnea, robot.model, s.q, s.v, s.a), wd.oracle(wd.rnea, other, q, s.v, s.a))
        <= ROUND_OFF["float64"]
    )
    assert robot.model.q_names[3:7] == tuple(f"floating_base.q{c}" for c in "wxyz")


def test_armature_adds_to_the_diagonal(run) -> None:
    """tau of the bare robot + armature * a, through mimic joints with the square of the multiplier."""
    robot = by_name("mimic_chain").model
    geared = robot.with_armature({"lead": 0.5, "second": 0.2, "own": 0.1})
    s = states(robot)
    added = np.zeros_like(s.a)
    added[:, robot.joint_index("lead")] = (0.5 + 0.2 * 0.25) * s.a[:, robot.joint_index("lead")]
    added[:, robot.joint_index("own")] = 0.1 * s.a[:, robot.joint_index("own")]
    bare = wd.oracle(wd.rnea, robot, s.q, s.v, s.a)
    assert error(run(wd.rnea, geared, s.q, s.v, s.a), bare + added) <= ROUND_OFF["float64"]


@settings(max_examples=40)
@given(random_trees())
def test_random_trees_satisfy_the_power_balance(robot: Robot) -> None:
    """tau . v = dE/dt, and forces act through J^T."""
    model, s = robot.model, states(robot.model, 2)
    if not model.nv:
        return
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity)
    later = energy(model, step(model, s.q, H * s.v), s.v + H * s.a, s.gravity)
    earlier = energy(model, step(model, s.q, -H * s.v), s.v - H * s.a, s.gravity)
    assert (
        error(np.sum(tau * s.v, axis=1), (later - earlier) / (2 * H), np.abs(tau * s.v))
        <= DIFFERENCE
    )
    with_forces = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    expected = torque_of(model, s.forces, s.q)
    assert (
        size(tau) > 0
        and error(tau - with_forces, expected, tau, with_forces) <= ROUND_OFF["float64"]
    )


def test_rnea_equals_pinocchios(robot: Robot, run) -> None:
    """Forces are computed in float64 for the same robot and state."""
    s = states(robot.model)
    wanted = in_pinocchio(robot).rnea(s.q, s.v, s.a)
    assert error(run(wd.rnea, robot.model, s.q, s.v, s.a), wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("case", tables.PUMA_RNE, ids=lambda case: case.name)
def test_forces_of_the_puma_560_equal_the_published_table(case: tables.PumaCase, run) -> None:
    """The Robotics Toolbox printed the table, with motors."""
    model, q, one = tables.puma(), np.array([tables.PUMA_QN]), np.ones((1, 6))
    links = run(wd.rnea, model, q, case.v * one, case.a * one, gravity=case.gravity)
    found = links[0] + tables.puma_motors(case.v * one[0], case.a * one[0])
    assert np.max(np.abs(found - case.tau)) <= case.printed
