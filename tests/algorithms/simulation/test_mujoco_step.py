"""Steps by MuJoCo's Euler and Runge-Kutta methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from loop_robots import four_bar

import warpdyn as wd
from warpdyn.algorithms.simulation.soft_stops import SoftStop, bounded_rates
from warpdyn.functions.simulation.described_simulation import with_description, with_passive_forces

STEP, SWEEPS = 0.01, 400

SAME = 1e-8
"""The rounding of MuJoCo's solver and of the sweeps."""

LEG = """<mujoco><compiler angle="radian"/><option timestep="0.01" integrator="{0}"/>
<default><geom friction="0.6" solref=".02 1" solimp="0 .8 .01"/>
<joint solreflimit=".02 1" solimplimit="0 .8 .03"/></default><worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 0.55">
<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<joint axis="0 1 0"/><geom type="capsule" fromto="-.3 0 0 .3 0 0" size=".05"/>
<body pos="0.3 0 0"><joint axis="0 1 0" range="-.4 .5" damping="3" stiffness="120" armature=".1"/>
<geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".04"/>
<body pos=".1 0 -.3"><joint axis="0 1 0" range="-.5 .3" damping="1.5" stiffness="60" armature=".05"/>
<geom type="capsule" fromto="0 0 0 -.1 0 -.2" size=".03"/></body></body></body></worldbody></mujoco>"""
"""A leg in a plane, with springs and dampers, on soft ground."""

THROWN = """<mujoco><option timestep="1e-5" integrator="RK4"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 0.12"><freejoint/><geom type="capsule" fromto="-.2 0 0 .2 .1 0" size=".1" friction="1"/>
<geom type="sphere" size=".05" pos="0 .3 .1"/></body></worldbody></mujoco>"""


def both(text: str) -> tuple[Any, Any, wd.Model, dict[str, Any]]:
    """MuJoCo's model and data, ours, and the options of a step that touches the ground as there."""
    mujoco = pytest.importorskip("mujoco")
    theirs, ours = mujoco.MjModel.from_xml_string(text), with_passive_forces(wd.load(text), None)
    points = wd.ContactPoints(ours)
    ground = with_description(ours, points, wd.Ground(softness="description"))
    return theirs, mujoco.MjData(theirs), ours, {"points": points, "ground": ground}


@pytest.mark.parametrize("method", ["Euler", "RK4"])
def test_a_leg_moves_as_in_mujoco(method: str) -> None:
    """The leg has springs, dampers, limits and contacts. One step from each random state is
    compared.
    """
    mujoco = pytest.importorskip("mujoco")
    theirs, data, model, options = both(LEG.format(method))
    rng, touched = np.random.default_rng(0), 0
    for _ in range(6):
        q, v = rng.uniform(-0.5, 0.5, model.nq), rng.normal(0.0, 1.0, model.nv)
        q[1] = rng.uniform(-0.4, -0.2)
        mujoco.mj_resetData(theirs, data)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_step(theirs, data)
        touched += data.nefc > 4
        end = wd.oracle(
            *(wd.step, model, q, v, np.zeros(model.nv)),
            dt=STEP,
            sweeps=SWEEPS,
            integrator=f"mujoco_{method.lower()}",
            **options,
        )
        np.testing.assert_allclose(end.q, data.qpos, atol=SAME)
        np.testing.assert_allclose(end.v, data.qvel, atol=SAME / STEP)
    assert touched > 2


def test_friction_pyramids_have_the_edges_of_mujoco() -> None:
    """Those of a capsule are along it, also when it spins.

    Those of a sphere are along the world's axes.
    """
    mujoco = pytest.importorskip("mujoco")
    theirs, data, model, options = both(THROWN)
    rng = np.random.default_rng(1)
    for _ in range(3):
        turn, v = rng.normal(0.0, 1.0, 4), rng.normal(0.0, 2.0, 6)
        turn /= np.linalg.norm(turn)
        mujoco.mj_resetData(theirs, data)
        data.qpos[:] = [0.0, 0.0, 0.05, turn[3], *turn[:3]]
        rotation = wd.oracle(wd.fk, model, [0, 0, 0, *turn], frame=model.root)[:3, :3]
        data.qvel[:] = [*(rotation @ v[:3]), *v[3:]]
        before = np.array(data.qvel)
        mujoco.mj_step(theirs, data)
        q = np.array([0.0, 0.0, 0.05, *turn])
        end = wd.oracle(
            *(wd.step, model, q, v, np.zeros(6)),
            dt=1e-5,
            sweeps=SWEEPS,
            integrator="mujoco_rk4",
            **options,
        )
        rotation = wd.oracle(wd.fk, model, end.q, frame=model.root)[:3, :3]
        after = np.concatenate([rotation @ end.v[:3], end.v[3:]])
        assert np.abs(data.qvel - before).max() > 1e-4
        np.testing.assert_allclose(after - before, data.qvel - before, atol=1e-8)


def test_a_spinning_body_moves_with_order_four() -> None:
    """Compared with a fine explicit step. The body's axes turn with it."""
    model = wd.load(THROWN)
    q, v = np.array([0, 0, 3.0, 0, 0, 0, 1.0]), np.array([1.0, -2.0, 0.5, 3.0, -4.0, 2.0])
    ends = {
        (integrator, count): wd.oracle(
            *(wd.step, model, q, v, np.zeros(6)),
            dt=0.1 / count,
            substeps=count,
            integrator=integrator,
        )
        for integrator, count in (("rk4", 64), ("mujoco_rk4", 4), ("mujoco_rk4", 8))
    }
    fine = ends["rk4", 64]
    off = [np.abs(ends["mujoco_rk4", n].v - fine.v).max() for n in (4, 8)]
    assert off[0] < 1e-5 and off[1] < off[0] / 12


ARMS = """<mujoco><option timestep="0.01" integrator="{0}"/><worldbody><body><freejoint/>
<inertial pos=".1 .05 0" mass="2" diaginertia=".03 .05 .07"/><body pos="0 .2 .1"><joint type="ball" damping="0.3"/>
<inertial pos=".2 0 .1" mass="1" diaginertia=".02 .03 .04"/></body><body pos="-.2 0 .1"><joint axis="0 1 1"/>
<inertial pos="0 0 .2" mass="1" diaginertia=".02 .02 .02"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
@pytest.mark.parametrize("method", ["Euler", "RK4"])
def test_a_free_body_with_arms_moves_as_in_mujoco(method: str, quaternion: Any) -> None:
    """Ten steps, each of which turns the body by 0.1 rad, with quaternions in either order."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(ARMS.format(method))
    data = mujoco.MjData(theirs)
    model = with_passive_forces(wd.load(ARMS.format(method), quaternion=quaternion), None)
    v = np.array([1.0, -2.0, 0.5, 6.0, -7.0, 5.0, 3.0, -2.0, 4.0, -3.0])
    data.qvel[:] = v
    for _ in range(10):
        mujoco.mj_step(theirs, data)
    end = wd.step(
        *(model, model.neutral[None], v[None], 0.0 * v[None]),
        dt=STEP,
        substeps=10,
        integrator=f"mujoco_{method.lower()}",
        stops="none",
    )
    q, v = end.q[0], end.v[0]
    rotation = wd.oracle(wd.fk, model, q, frame=model.root)[:3, :3]
    # MuJoCo has w first, and linear velocities in the world.
    if quaternion == "xyzw":
        q = q[[0, 1, 2, 6, 3, 4, 5, 10, 7, 8, 9, 11]]
    np.testing.assert_allclose(q, data.qpos, atol=1e-11)
    np.testing.assert_allclose([*(rotation @ v[:3]), *v[3:]], data.qvel, atol=1e-10)


def test_drives_are_explicit_in_mujocos_euler_method() -> None:
    """One joint with a drive, compared with a step by hand.

    Only the joint's damping is implicit.
    """
    text = """<mujoco><worldbody><body><joint type="slide" axis="1 0 0" damping="4"/>
    <geom size="0.1" mass="2"/></body></worldbody></mujoco>"""
    sim = wd.Simulation(
        wd.load(text),
        1,
        dtype="float64",
        points=[],
        dt=STEP,
        substeps=1,
        integrator="mujoco_euler",
        control=wd.PD(100.0, 10.0),
    )
    sim.reset(q=[0.1], v=[1.0])
    sim.step(targets=np.array([[0.3]]))
    force = 100.0 * 0.2 - 10.0
    speed = 1.0 + STEP * (force - 4.0) / (2.0 + STEP * 4.0)
    assert sim.v[0, 0] == pytest.approx(speed) and sim.q[0, 0] == pytest.approx(0.1 + STEP * speed)
    assert sim.torques[0, 0] == pytest.approx(force)


def test_time_constants_are_at_least_two_steps() -> None:
    """The bound is MuJoCo's. The damping ratio stays. Implicit steps have other bounds."""
    stop = SoftStop(2500.0 / 0.8**2, 100.0 / 0.8, (0.1, 0.8, 0.01, 0.5, 2.0), 1.0, True)
    assert bounded_rates(stop, 0.01) == pytest.approx((stop.rate, stop.stiffness))
    b, K = bounded_rates(stop, 0.04)
    assert b == pytest.approx(2.0 / (0.8 * 0.08))
    assert pytest.approx((b / 2.0) ** 2) == K
    assert bounded_rates(stop._replace(in_mujoco_steps=False), 0.01)[0] == pytest.approx(100.0)
    free = stop._replace(is_bounded=False)
    assert bounded_rates(free, 0.04) == (stop.rate, stop.stiffness)


def soft_steps(
    text: str, states: Sequence[tuple[list[float], list[float]]], sweeps: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Velocities after a step of 4 ms from each state with soft limits: ours and MuJoCo's."""
    mujoco = pytest.importorskip("mujoco")
    model, robot = wd.load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(robot)
    for q, v in states:
        data.qpos, data.qvel = q, v
        mujoco.mj_step(robot, data)
        after = wd.oracle(
            *(wd.step, model, np.array(q), np.array(v), np.zeros(len(v))),
            dt=0.004,
            integrator="mujoco_euler",
            stops="soft",
            ground=wd.Ground(softness="description"),
            sweeps=sweeps,
        )
        yield after[1], data.qvel


@pytest.mark.parametrize(
    "softness",
    [
        'solreflimit="-5000 -700"',
        'solreflimit="-100000 -10"',
        'solreflimit="0.001 0.5"',
        'solimplimit="0.5 0.9 0"',
        'solimplimit="0.5 0.9 0.1 0 2"',
        'solimplimit="0.5 0.9 0.1 1 2" margin="0.1"',
    ],
)
def test_limits_of_every_softness_equal_mujocos(softness: str) -> None:
    """Every kind of solref and solimp is compared.

    MuJoCo does not bound a solref of stiffness and damping.
    """
    text = f"""<mujoco><compiler angle="radian"/><option timestep="0.004" tolerance="1e-15"/><worldbody><body>
    <joint axis="0 1 0" range="-0.5 0.4" {softness}/><inertial pos="0.1 0 0.2" mass="1" diaginertia="1 1 1"/>
    </body></worldbody></mujoco>"""
    for mine, theirs in soft_steps(
        text, (([0.45], [1.0]), ([0.41], [-2.0]), ([-0.52], [-3.0])), 50
    ):
        assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"speed_guard": True}, 'speed_guard= is not for integrator="mujoco_rk4"'),
        ({"stops": "rows"}, 'needs stops="soft" or "none"'),
        ({"ground": wd.Ground()}, r'pass ground=wd.Ground\(softness="description"\)'),
        ({"ground": wd.SoftGround(1e4, 1e3)}, r'pass ground=wd.Ground\(softness="description"\)'),
    ],
)
def test_options_that_mujocos_methods_lack_are_refused(options: dict[str, Any], error: str) -> None:
    model = wd.load(LEG.format("RK4"))
    numbers = np.zeros((1, model.nq)), np.zeros((1, model.nv)), np.zeros((1, model.nv))
    with pytest.raises(ValueError, match=error):
        wd.step(model, *numbers, integrator="mujoco_rk4", points=wd.ContactPoints(model), **options)


def test_closed_loops_are_refused_by_mujocos_methods() -> None:
    bars = four_bar()
    zeros = np.zeros((1, bars.nq)), np.zeros((1, bars.nv)), np.zeros((1, bars.nv))
    with pytest.raises(ValueError, match="has no closed loops"):
        wd.step(bars, *zeros, integrator="mujoco_euler", stops="none")


SLIDERS = """<mujoco><worldbody><body><joint type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body>
<body pos="0.25 0 0"><joint type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("integrator", ["mujoco_euler", "mujoco_rk4"])
def test_two_colliding_bodies_conserve_momentum(integrator: Any) -> None:
    """They move on together, also in stages. A compiled step equals one on plain numbers."""
    model = wd.load(SLIDERS)
    options: dict[str, Any] = {"dt": 0.005, "substeps": 30, "integrator": integrator}
    options |= {"pairs": wd.ContactPairs(model), "pair_contact": wd.description.PairContact()}
    q, v = np.zeros((1, 2)), np.array([[1.0, 0.0]])
    end = wd.step(model, q, v, 0.0 * v, **options)
    assert v[0] @ [2.0, 1.0] == pytest.approx(end.v[0] @ [2.0, 1.0])
    assert end.v[0] == pytest.approx([2 / 3, 2 / 3], abs=0.1)
    assert 0.19 < 0.25 + end.q[0, 1] - end.q[0, 0] < 0.21
    same = wd.oracle(wd.step, model, q, v, 0.0 * v, **options)
    np.testing.assert_allclose(end.q, same.q, atol=1e-12)
    np.testing.assert_allclose(end.pair_impulses, same.pair_impulses, atol=1e-12)


@pytest.mark.parametrize("integrator", ["mujoco_euler", "mujoco_rk4"])
def test_gradients_through_stages_and_limits_equal_differences(integrator: Any) -> None:
    """The joint is damped and beyond its limit."""
    text = """<mujoco><worldbody><body><joint axis="0 1 0" range="-20 20" damping="0.4" stiffness="3"/>
    <geom size="0.1" pos="0.3 0 0" mass="2"/></body></worldbody></mujoco>"""
    model = with_passive_forces(wd.load(text), None)
    options: dict[str, Any] = {"dt": 0.01, "substeps": 3, "integrator": integrator}
    q, v, tau, eps = np.array([[0.4]]), np.array([[1.0]]), np.array([[0.5]]), 1e-6
    ends = [wd.step(model, q, v + d, tau, **options).q[0, 0] for d in (eps, -eps)]
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    nothing = np.zeros((1, 0, 3))
    cotangents = one, none, nothing, nothing, none, none
    found = wd.vjp(wd.step, model, q, v, tau, cotangents=cotangents, wrt="v", **options)
    assert np.asarray(found).ravel()[0] == pytest.approx((ends[0] - ends[1]) / (2 * eps), rel=1e-6)


@pytest.mark.parametrize(
    "softness", ["", 'solreflimit="-900 -20" solimplimit="0.5 0.9 0.1"', 'margin="0.1"']
)
def test_tendon_limits_equal_mujocos(softness: str) -> None:
    inertial = '<inertial pos="0.1 0 0.2" mass="1" diaginertia="1 1 1"/>'
    text = f"""<mujoco><compiler angle="radian"/><option timestep="0.004" tolerance="1e-15"/><worldbody><body>
    <joint name="a" axis="0 1 0" range="-1 0.2"/>{inertial}<body pos="0 0 0.5"><joint name="b" axis="1 1 0"/>{inertial}
    </body></body></worldbody><tendon><fixed armature="0.3" range="-0.2 0.5" {softness}><joint joint="a" coef="2"/>
    <joint joint="b" coef="-0.5"/></fixed><fixed><joint joint="b" coef="1"/></fixed></tendon></mujoco>"""
    states = (([0.3, 0.1], [1.0, 0.5]), ([-0.3, 0.4], [-2.0, 0.5]), ([0.1, 0.0], [0.3, 0.0]))
    for mine, theirs in soft_steps(text, states, 200):
        assert mine == pytest.approx(theirs, rel=1e-9)
