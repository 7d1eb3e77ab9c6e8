"""Steps of robots with closed loops: gaps, order of convergence, contacts, MuJoCo."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from loop_robots import CONNECT, COUPLE, LEG, WELD, four_bar, leg, rod, two_arms
from states import states, step

import warpdyn as wd
from warpdyn.algorithms.simulation.loop_rows import RETURN
from warpdyn.model.structure import start_of

G = 9.81
DRIVES = ("hip", "knee", "crank")
KP, KD = np.array([400.0, 400.0, 40.0]), np.array([20.0, 20.0, 2.0])


def reference_angles(t: float) -> np.ndarray:
    return np.array([0.4 * np.sin(3 * t), 0.5 * np.sin(4 * t), 0.3 * np.sin(5 * t)])


def driven_leg(h: float, dtype: str, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """The largest errors of the leg's loops while hip, knee and crank are driven, and the last q."""
    model = leg()
    sim = wd.Simulation(
        model, 1, dt=h, substeps=1, points=(), dtype=dtype, stops="none", passive_forces="model"
    )
    q, v = model.q_indices(DRIVES), model.v_indices(DRIVES)
    worst = np.zeros(6)
    for k in range(round(seconds / h)):
        sim.tau[0, v] = KP * (reference_angles(k * h) - sim.q[0, q]) - KD * sim.v[0, v]
        sim.step()
        errors = wd.loops.errors(model, sim.q.astype(float))[0]
        worst = np.maximum(worst, np.abs(errors))
    return worst, sim.q[0].astype(float)


@pytest.mark.parametrize(("h", "gap"), [(0.002, 2e-6), (0.01, 5e-5)])
def test_loops_of_the_leg_stay_closed(h: float, gap: float) -> None:
    """The gap grows with h² and does not drift. In float32 it is the same to a tenth."""
    worst, _ = driven_leg(h, "float64", 3.0)
    single, _ = driven_leg(h, "float32", 3.0)
    assert worst.max() < gap and single.max() < 1.1 * worst.max() + 1e-7


def test_a_parallelogram_swings_as_a_pendulum() -> None:
    """The angle after 1 s converges to that of I th'' = -G sin th, with first order."""
    length, mass, th = 0.3, 1.0, 1.0
    model = four_bar(length, 0.5, length, 0.5)
    ratio = G * 2 * length * mass / (2 * mass * length**2 / 3 + mass * length**2)
    state, fine = np.array([th, 0.0]), 1e-4
    for _ in range(10_000):  # the midpoint rule, exact to 1e-8

        def rate(y: np.ndarray) -> np.ndarray:
            return np.array([y[1], -ratio * np.sin(y[0])])

        state = state + fine * rate(state + fine / 2 * rate(state))
    errors = []
    for substeps in (500, 1000):
        out = wd.step(
            model,
            np.array([[th, -th, th]]),
            np.zeros((1, 3)),
            np.zeros((1, 3)),
            dt=1.0 / substeps,
            substeps=substeps,
        )
        assert np.abs(wd.loops.errors(model, out.q)).max() < 1e-5
        errors.append(abs(out.q[0, 0] - state[0]))
    assert errors[0] < 0.02 and 1.8 < errors[0] / errors[1] < 2.2


@pytest.mark.parametrize("name", ["four_bar", "weld", "couple"])
def test_steps_converge_to_the_continuous_motion(name: str) -> None:
    """Convergence to Runge-Kutta steps of `wd.loops.dynamics`, which equals Pinocchio's, is of
    first order.
    """
    model = {"four_bar": four_bar(), "weld": two_arms(WELD), "couple": two_arms(COUPLE)}[name]
    begin = step(model, start_of(model)[None], 0.2 * states(model, 1, seed=1).v)
    q = wd.loops.close(model, begin)
    rest = np.zeros((1, model.nv))
    now, speed, h = q, rest, 0.001
    for _ in range(200):
        ks: list[tuple[np.ndarray, np.ndarray]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dv = (share * h * x for x in ks[-1]) if ks else (rest, rest)
            here = speed + dv
            ks.append((here, wd.loops.dynamics(model, now + dq, here, rest).acceleration))
        now, speed = (
            x + h / 6 * (a + 2 * b + 2 * c + d)
            for x, (a, b, c, d) in zip((now, speed), zip(*ks, strict=True), strict=True)
        )
    off = []
    for n in (100, 200):
        out = wd.step(model, q, rest, rest, dt=0.2 / n, substeps=n)
        off.append(np.abs(out.q - now).max())
    assert off[0] < 0.02 and 1.7 < off[0] / off[1] < 2.3


@pytest.mark.parametrize("loop", [CONNECT, WELD, COUPLE])
def test_loop_forces_equal_those_of_the_dynamics(loop: wd.description.Loop) -> None:
    """Loop forces and accelerations of a short step are compared."""
    model = two_arms(loop)
    q = wd.loops.close(model, 0.1 * states(model, 2).q)
    rest, tau = np.zeros((2, model.nv)), states(model, 2).tau
    h = 1e-6
    out = wd.step(model, q, rest, tau, dt=h)
    truth = wd.loops.dynamics(model, q, rest, tau)
    near = 1e-3 * np.abs(truth.loop_forces).max()
    np.testing.assert_allclose(out.loop_forces, truth.loop_forces, rtol=0, atol=near)
    np.testing.assert_allclose(out.v / h, truth.acceleration, rtol=1e-3, atol=1e-2)


def test_an_open_loop_closes_at_a_bounded_speed() -> None:
    """A start that is not closed is pulled together at 1 m/s and then stays closed."""
    model = four_bar()
    q = np.array([[1.0, -0.3, 0.2]])
    v = np.zeros((1, 3))
    gaps = [np.abs(wd.loops.errors(model, q)).max()]
    for _ in range(300):
        out = wd.step(model, q, v, np.zeros((1, 3)), dt=0.002)
        q, v = out.q, out.v
        gaps.append(np.abs(wd.loops.errors(model, q)).max())
    steps = np.diff(gaps)
    assert gaps[0] > 0.1 and steps.min() > -1.2 * RETURN * 0.002
    assert max(gaps[-100:]) < 5e-5


def test_loops_stay_closed_while_contacts_push() -> None:
    """A linkage falls on the ground. With any contact forces J v+ = -r / h. The remaining gap comes
    from curvature, as in flight.
    """
    model = four_bar(floating=True)
    points = [
        wd.ContactPoint(link, (x, y, z), 0.02)
        for link, x, z in (("coupler", 0.2, 0.0), ("rocker", 0.0, -0.35), ("ground", 0.6, 0.0))
        for y in (-0.1, 0.1)
    ]
    q = np.zeros((1, model.nq))
    q[0, 2], q[0, 6] = 0.6, 1.0
    q = wd.loops.close(model, q, fixed=[model.base_joint, "j1"])
    v = np.zeros((1, model.nv))
    pressed, gap, open_speed, impulses = 0.0, 0.0, 0.0, None
    for _ in range(1000):
        out = wd.step(
            model, q, v, np.zeros((1, model.nv)), dt=0.002, points=points, impulses=impulses
        )
        J, errors = wd.loops.constraint_jacobian(model, q), wd.loops.errors(model, q)
        unmet = (J @ out.v[..., None])[..., 0] + errors / 0.002
        q, v, impulses = out.q, out.v, out.impulses
        open_speed = max(open_speed, np.abs(unmet).max())
        pressed = max(pressed, float(out.forces[0, :, 2].sum()))
        gap = max(gap, np.abs(wd.loops.errors(model, q)).max())
    assert pressed > 200.0 and gap < 1e-3
    assert open_speed < 1e-4
    weight = model.total_mass * G
    assert abs(out.forces[0, :, 2].sum() - weight) < 0.02 * weight
    assert np.isfinite(out.loop_forces).all()
    assert np.abs(wd.loops.errors(model, q)).max() < 1e-5


def test_a_step_conserves_the_momentum_of_a_floating_linkage() -> None:
    """Forces of loops are internal, also while a gap closes."""
    model = four_bar(floating=True)
    q = np.zeros((1, model.nq))
    q[0, 6] = 1.0
    q[0, -3:] = 1.0, -0.3, 0.2
    v = 0.3 * states(model, 1).v
    before = wd.centroidal_momentum(model, q, v)
    for _ in range(20):
        out = wd.step(model, q, v, 0 * v, dt=1e-5, gravity=(0, 0, 0), speed_guard=False)
        q, v = out.q, out.v
    after = wd.centroidal_momentum(model, q, v)
    np.testing.assert_allclose(after, before, rtol=0, atol=2e-3)


def test_the_leg_moves_as_in_mujoco() -> None:
    """Half a second under the same torques. MuJoCo's springs of solref 0.004 are nearly rigid."""
    h, seconds = 0.0005, 0.5
    model = leg()
    peer = mujoco.MjModel.from_xml_string(LEG)
    peer.opt.timestep = h
    peer.eq_solref[:] = (0.004, 1)
    data = mujoco.MjData(peer)
    sim = wd.Simulation(
        model, 1, dt=h, substeps=1, points=(), dtype="float64", stops="none", passive_forces="model"
    )
    names = (*DRIVES, "ankle", "toe")
    columns = {name: (model.q_indices([name])[0], model.v_indices([name])[0]) for name in names}
    for k in range(round(seconds / h)):
        data.qfrc_applied[:] = 0
        for name, torque in zip(DRIVES, reference_angles(k * h), strict=True):
            data.qfrc_applied[peer.joint(name).dofadr[0]] = torque
            sim.tau[0, columns[name][1]] = torque
        mujoco.mj_step(peer, data)
        sim.step()
    for name in names:
        off = data.qpos[peer.joint(name).qposadr[0]] - sim.q[0, columns[name][0]]
        assert abs(off) < 0.01, name


def test_stops_that_contradict_loops_do_not_open_them() -> None:
    """Three rods on hinges are a rigid triangle with one joint beyond its limit.

    Its stop pushes, and nothing moves.
    """
    builder = wd.ModelBuilder("triangle").add_link("ground")
    builder.add_link("left", **rod(0.3, 2)).add_link("right", **rod(0.4, 2))
    builder.add_joint("j1", "continuous", "ground", "left", axis=(0, 1, 0))
    limits = {"lower": -0.5, "upper": 0.5, "effort": 10.0, "velocity": 10.0}
    builder.add_joint("j2", "revolute", "ground", "right", (0.5, 0, 0), axis=(0, 1, 0), **limits)
    model = builder.connect("left", (0, 0, -0.3), "right", (0, 0, -0.4)).build()
    q = wd.loops.close(model, np.array([[-0.6, 0.9]]))
    assert q[0, 1] > 0.6  # beyond its limit
    v = np.zeros((1, 2))
    for dtype in (np.float32, np.float64):
        out = wd.step(
            model, *(x.astype(dtype) for x in (q, v, v)), dt=0.002, substeps=500, stops="rows"
        )
        assert np.abs(out.q - q).max() < 1e-3
        assert np.abs(wd.loops.errors(model, out.q.astype(float))).max() < 1e-4


def test_simulations_report_loop_forces() -> None:
    """Loop forces are reported with and without rows of joints. A robot without loops has none."""
    for friction, passive in itertools.product((False, True), ("model", None)):
        model = four_bar().with_friction(coulomb=0.01) if friction else four_bar()
        sim = wd.Simulation(model, 2, points=(), passive_forces=passive)
        sim.step()
        assert sim.loop_forces.shape == (2, 1, 6) and np.abs(sim.loop_forces).max() > 0.1
        assert set(sim.state()) >= {"loop_forces"}
        sim.reset()
        assert not sim.loop_forces.any()
    assert wd.Simulation(four_bar(loop=False), 2, points=()).loop_forces.shape == (2, 0, 6)
