"""Dry friction and stops of joints: sticking joints hold, and sliding ones lose the power of
friction.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.simulation.constraint_sweeps import constraint_impulses, rows_of
from warpdyn.algorithms.simulation.joint_rows import (
    RETURN,
    Bounds,
    joint_rows,
    limited_tendons,
)
from warpdyn.model.description import Effects
from warpdyn.model.tree import Cable

G, H = 9.81, 0.005
LIMITS = '<limit lower="{}" upper="{}" effort="100" velocity="100"/>'
PENDULUM = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
<origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0"
izz="0.1"/></inertial></link><joint name="j" type="{kind}"><parent link="base"/><child link="rod"/>
<axis xyz="0 1 0"/>{limits}</joint></robot>"""
INERTIA, WEIGHT = 0.1 + 2 * 0.25, 2 * G * 0.5
"""About the joint; torque that holds the rod level."""
PANDA = wd.load_robot("panda").with_friction(coulomb=40.0)


def pendulum(coulomb: float = 0.0, limits: tuple[float, float] | None = None) -> wd.Model:
    kind, said = ("revolute", LIMITS.format(*limits)) if limits else ("continuous", "")
    model = wd.load_urdf(PENDULUM.format(kind=kind, limits=said), floating_base=False)
    return model.with_friction(coulomb=coulomb) if coulomb else model


def roll_out(model: wd.Model, q: Any, v: Any, tau: Any = None, **options: Any) -> wd.results.Step:
    """The oracle's step of one robot."""
    given = [np.array(x, dtype=float) for x in (q, v, np.zeros(model.nv) if tau is None else tau)]
    return wd.oracle(wd.step, model, *given, **{"dt": H, **options})


@pytest.mark.parametrize("share", [0.5, 0.99, -0.99])
def test_a_joint_below_the_breakaway_torque_does_not_move(share: float) -> None:
    """The position does not change by one bit in 2 s. Friction balances gravity and tau."""
    model, q = pendulum(3.0), [0.7]
    tau = [WEIGHT * math.sin(0.7) + share * 3.0]
    end = roll_out(model, q, [0.0], tau, substeps=400)
    assert end.q[0] == 0.7 and end.v[0] == pytest.approx(0.0, abs=1e-15)
    assert end.joint_impulses[0] / H == pytest.approx(-share * 3.0)


def test_a_joint_above_the_breakaway_torque_slides_with_the_excess() -> None:
    """The acceleration from rest and against the motion is (tau - friction) / I, exactly."""
    free: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0)}
    for tau, v in ((3.5, 0.0), (-5.0, 0.0), (3.5, 2.0), (0.0, -2.0), (-3.1, -0.5)):
        end = roll_out(pendulum(3.0), [0.2], [v], [tau], substeps=10, **free)
        against = math.copysign(3.0, v or tau)
        assert end.v[0] == pytest.approx(v + 10 * H * (tau - against) / INERTIA, rel=1e-12)
        assert end.joint_impulses[0] / H == pytest.approx(-against)


def test_dry_friction_stops_a_spin_after_the_analytic_time() -> None:
    """The speed falls linearly. After v I / f seconds the joint stands, at v² I / (2 f) minus the
    half step of semi-implicit Euler.
    """
    friction, v0, free = 0.3, 4.0, {"gravity": (0.0, 0.0, 0.0)}
    model, lasts = pendulum(friction), v0 * INERTIA / friction
    speeds = []
    q, v, impulses = [0.0], [v0], None
    for _ in range(4):
        end = roll_out(model, q, v, substeps=round(lasts / 5 / H), joint_impulses=impulses, **free)
        q, v, impulses = end.q, end.v, end.joint_impulses
        speeds.append(v[0])
    assert speeds == pytest.approx([v0 * (1 - k / 5) for k in (1, 2, 3, 4)], rel=1e-12)
    energy = [0.5 * INERTIA * x * x for x in speeds]
    lost = np.diff(np.sqrt(energy))
    assert lost == pytest.approx([lost[0]] * 3)
    end = roll_out(model, q, v, substeps=round(lasts / 4 / H), joint_impulses=impulses, **free)
    assert end.v[0] == pytest.approx(0.0, abs=1e-14)
    assert end.q[0] == pytest.approx(v0**2 * INERTIA / (2 * friction) - v0 * H / 2, rel=1e-9)


def test_joints_held_by_friction_do_not_creep() -> None:
    """Eight joints hold each other's weight with four sweeps per step.

    After a second nothing moves, and friction balances the weight.
    """
    q = np.array([0.3, 0.5, 0.2, -1.2, 0.3, 1.5, 0.2, 0.02])
    model = PANDA.with_friction(coulomb=60.0)
    first = roll_out(model, q, np.zeros(8), substeps=200)
    again = roll_out(model, first.q, first.v, substeps=200, joint_impulses=first.joint_impulses)
    assert np.abs(first.q - q).max() < 5e-4
    assert np.abs(again.v).max() < 1e-12 and np.abs(again.q - first.q).max() < 1e-9
    weight = wd.oracle(wd.gravity_torques, model, again.q)
    assert np.allclose(again.joint_impulses / H, weight, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_impulses_obey_the_laws_of_dry_friction_and_stops(seed: int) -> None:
    """They are within the box after each sweep.

    After convergence a moving joint has all of its friction against it, a sticking one has no
    speed, and friction and stops take power.
    """
    rng = np.random.default_rng(seed)
    s = states(PANDA, 1, seed)
    M, n = wd.oracle(wd.crba, PANDA, s.q[0]), PANDA.nv
    free, friction = rng.normal(size=n), rng.uniform(0, 40, n)
    bounds = [Bounds(k, k, s.q[0, k] - 0.001, s.q[0, k] + 0.001) for k in (1, 3)]
    rows = rows_of(np.eye(n).tolist(), factorise(M.tolist()))
    constraints = joint_rows(
        rows, range(n), dict(enumerate(friction)), bounds, s.q[0].tolist(), [0.0] * n, H
    )
    for sweeps in (1, 5000):
        found = constraint_impulses(
            rows, constraints, free.tolist(), [0.0] * n, sweeps, along_paths=True
        )
        impulses, after = (np.array(x) for x in found)
        loose = [k for k in range(n) if k not in (1, 3)]
        assert (np.abs(impulses) <= H * friction * (1 + 1e-12))[loose].all()
        assert np.allclose(M @ (after - free), impulses, atol=1e-9)
    moving = np.abs(after) > 1e-6
    for k in loose:
        if moving[k]:
            assert impulses[k] == pytest.approx(-H * friction[k] * np.sign(after[k]))
    for k in (1, 3):
        assert abs(after[k]) <= 0.001 / H + 1e-9
        if abs(after[k]) < 0.001 / H - 1e-6:
            assert abs(impulses[k]) <= H * friction[k] * (1 + 1e-9)
    assert (impulses * after <= 1e-9).all() and moving.any()


def test_an_arm_dropped_onto_its_limit_stops_there() -> None:
    """The overshoot is within rounding. The stop carries the weight and the applied torque."""
    model = pendulum(limits=(-0.5, 1.0))
    q, v, impulses = [-0.45], [-3.0], None
    for _ in range(10):
        end = roll_out(model, q, v, [-20.0], stops="rows", substeps=20, joint_impulses=impulses)
        q, v, impulses = end.q, end.v, end.joint_impulses
        assert q[0] >= -0.5 - 1e-14
    assert q[0] == pytest.approx(-0.5, abs=1e-14) and v[0] == pytest.approx(0.0, abs=1e-12)
    assert impulses[0] / H == pytest.approx(20 + WEIGHT * math.sin(-0.5))


def test_a_stop_pushes_inwards_at_a_bounded_speed() -> None:
    """A joint can leave it. From beyond the limit it returns at one radian a second or less, also
    against friction, and moves on at that speed until friction stops it.
    """
    free: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "stops": "rows"}
    model = pendulum(limits=(-0.5, 1.0))
    left = roll_out(model, [1.0], [0.0], [-2.0], substeps=5, **free)
    assert left.v[0] == pytest.approx(-5 * H * 2 / INERTIA) and left.joint_impulses[0] == 0
    for friction in (0.0, 50.0):
        rubbing = model.with_friction(coulomb=friction)
        back = roll_out(rubbing, [1.2], [0.0], **free)
        assert back.v[0] == pytest.approx(-1.0)
        there = roll_out(rubbing, [1.2], [0.0], substeps=100, **free)
        if friction:
            assert 1.0 - RETURN**2 * INERTIA / (2 * friction) <= there.q[0] <= 1.0
            assert there.v[0] == pytest.approx(0.0, abs=1e-14)
        else:
            assert there.q[0] == pytest.approx(1.2 - 100 * H * RETURN)


def test_friction_of_mimic_joints_adds_to_their_leaders() -> None:
    """Friction f of a leader and of its mimic joint with multiplier m holds f (1 + |m|)."""
    text = """<robot name="r"><link name="a"/><link name="b">{0}</link><link name="c">{0}</link>
    <joint name="one" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>{1}</joint>
    <joint name="two" type="prismatic"><parent link="a"/><child link="c"/><axis xyz="1 0 0"/>{1}
    <mimic joint="one" multiplier="-2"/></joint></robot>"""
    mass = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    limit = '<limit lower="-9" upper="9" effort="100" velocity="100"/>'
    model = wd.load_urdf(text.format(mass, limit), floating_base=False)
    model = model.with_friction(coulomb={"one": 2.0, "two": 2.0})
    held = roll_out(model, [0.0], [0.0], [5.9], substeps=20, stops="none")
    assert held.q[0] == pytest.approx(0.0, abs=1e-15)
    slid = roll_out(model, [0.0], [0.0], [7.0], stops="none")
    assert slid.v[0] == pytest.approx(H * (7.0 - 6.0) / 5.0)


def test_dry_friction_equals_mujocos_with_hard_constraints() -> None:
    """A double pendulum swings, sticks in its elbow and slides again.

    With MuJoCo's `frictionloss` made hard it agrees to 1e-6. With MuJoCo's defaults a stuck joint
    creeps by 3 mrad.
    """
    mujoco = pytest.importorskip("mujoco")
    from lxml import etree

    from warpdyn.peers.peer import bare

    plain = wd.load_robot("double_pendulum")
    root = bare(plain.to_urdf())
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for name in ("fusestatic", "balanceinertia", "inertiafromgeom"):
        options.set(name, "false")
    text = etree.tostring(root, encoding="unicode")
    dt, steps = 1e-3, 500
    ends = []
    for hard in (True, False):
        robot = mujoco.MjModel.from_xml_string(text)
        robot.opt.timestep, robot.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        robot.dof_frictionloss[:] = 2.0
        if hard:
            robot.dof_solref[:] = 2 * dt, 1.0
            robot.dof_solimp[:] = 0.9999, 0.9999, 0.001, 0.5, 2
        data = mujoco.MjData(robot)
        data.qpos[:] = 2.0, 0.5
        mujoco.mj_step(robot, data, nstep=steps)
        ends.append((data.qpos.copy(), data.qvel.copy()))
    rubbing = plain.with_friction(coulomb=2.0)
    q, v = np.array([[2.0, 0.5]]), np.zeros((1, 2))
    end = wd.step(rubbing, q, v, 0 * v, dt=dt, substeps=steps, sweeps=8, speed_guard=False)
    assert np.allclose(end.q[0], ends[0][0], atol=1e-6) and abs(end.q[0, 1] - 0.5) < 1e-6
    assert np.allclose(end.v[0], ends[0][1], atol=1e-5)
    assert abs(ends[1][0][1] - 0.5) > 2e-3


DIFFERENTIAL = """<mujoco><option timestep="0.0005" gravity="0 0 0"/><worldbody>
<body><joint name="left" axis="0 0 1" armature=".01"/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>
<body pos="1 0 0"><joint name="right" axis="0 0 1" armature=".02"/>
 <inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>
<body pos="2 0 0"><joint name="out" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia=".05 .05 .05"/></body>
</worldbody><tendon><fixed name="gear" limited="true" range="-0.001 0.001">
 <joint joint="left" coef="0.5"/><joint joint="right" coef="-0.25"/><joint joint="out" coef="1"/></fixed></tendon>
</mujoco>"""
"""Two motors turn a third joint by a tendon of nearly one length, as differential gears are written."""


def test_tendon_limits_hold() -> None:
    """The length stays within its range, and the joints move as one mechanism and as MuJoCo's.

    Without stops it is not limited.
    """
    mujoco = pytest.importorskip("mujoco")
    model = wd.load_mjcf(DIFFERENTIAL)
    tau, c = np.array([0.2, 0.5, 0.0]), np.array([0.5, -0.25, 1.0])
    peer = mujoco.MjModel.from_xml_string(DIFFERENTIAL)
    peer.tendon_solref_lim[:] = (0.002, 1)
    data = mujoco.MjData(peer)
    data.qfrc_applied[:] = tau
    sims = {
        stops: wd.Simulation(
            model, 1, dt=0.0005, substeps=1, points=(), dtype="float64", stops=stops
        )
        for stops in ("rows", "none")
    }
    for _ in range(1000):
        mujoco.mj_step(peer, data)
        for sim in sims.values():
            sim.tau[:] = tau
            sim.step()
    q = sims["rows"].q[0]
    assert abs(c @ q) <= 0.001 + 1e-9
    assert abs(c @ sims["none"].q[0]) > 0.1
    # One mechanism: M a + c l = tau with c · a = 0.
    M = np.diag([0.02, 0.03, 0.05])
    a = np.linalg.solve(np.block([[M, c[:, None]], [c[None], np.zeros((1, 1))]]), [*tau, 0.0])[:3]
    np.testing.assert_allclose(q, a * 0.5**2 / 2, rtol=0, atol=3e-3)
    np.testing.assert_allclose(q, data.qpos, rtol=0, atol=3e-3)


def test_a_tendon_moves_freely_up_to_its_limit() -> None:
    """It stops in the step in which it would leave its range."""
    text = DIFFERENTIAL.replace('range="-0.001 0.001"', 'range="-10 0.1"')
    model, v = wd.load_mjcf(text), np.array([[0.0, 0.0, 1.0]])
    free = wd.step(model, np.zeros((1, 3)), v, 0 * v, dt=0.01, substeps=9, stops="rows")
    np.testing.assert_allclose(free.q[0], [0, 0, 0.09], rtol=0, atol=1e-12)
    end = wd.step(model, free.q, free.v, 0 * v, dt=0.01, substeps=5, stops="rows")
    c = np.array([0.5, -0.25, 1.0])
    assert c @ end.q[0] == pytest.approx(0.1, abs=1e-9) and abs(c @ end.v[0]) < 1e-9
    assert end.v[0, 0] < -0.1 < 0.05 < end.v[0, 1]  # The other joints take their share.


def test_a_tendon_has_a_row_if_it_moves_and_has_a_limit() -> None:
    """One over joints that do not move, or without a finite limit, has none."""
    columns = ((2, 3, 0.5), (0, 1, -2.0))
    limits = ((-math.inf, 1.0), (-math.inf, math.inf))
    cables = [
        Cable(each, 0.0, 0.0, Effects(), (0.0, 0.0), bounds)
        for each in (columns, ())
        for bounds in limits
    ]
    tree: Any = SimpleNamespace(cables=cables, nv=3)
    assert limited_tendons(tree) == (cables[:1], [[-2.0, 0.0, 0.5]])
