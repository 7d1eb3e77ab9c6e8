"""Torsional and rolling friction: a spinning and a rolling ball stop in the time of the formulas."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.constraint_sweeps import RowByRow
from warpdyn.algorithms.simulation.contact_rows import PointContact
from warpdyn.algorithms.simulation.friction_moments import FrictionMoments, friction_moments

G, H, R = 9.81, 0.002, 0.1
TEXT = """<mujoco><option cone="elliptic" timestep="{h}" integrator="implicitfast"/><worldbody>
<geom type="plane" size="1 1 1" {geom}/>
<body name="ball" pos="0 0 {r}"><freejoint/><geom size="{r}" mass="1" {geom}/></body></worldbody></mujoco>"""
BALL = wd.load(TEXT.format(h=H, r=R, geom=""))
SPIN_INERTIA = 0.4 * R * R
COEFFICIENTS = np.array([0.002, 0.004, 0.01])
CONTACTS = ["points", "pairs"]


def balls(contacts: str, **moments: Any) -> wd.Simulation:
    """Balls at rest on the ground, one for each coefficient."""
    each = {name: np.reshape(x, (-1, 1)) for name, x in moments.items()}
    kinds: dict[str, Any] = {"ground": wd.Ground(friction=0.8, **each)}
    if contacts == "pairs":
        pairs = wd.ContactPairs(BALL).with_ground("ball")
        of_pairs = wd.description.PairContact(friction=0.8, **each)
        kinds = {"points": [], "pairs": pairs, "pair_contact": of_pairs}
    sim = wd.Simulation(BALL, len(COEFFICIENTS), dt=H, substeps=5, dtype="float64", **kinds)
    for _ in range(50):
        sim.step()
    sim.v[:] = 0.0
    return sim


@pytest.mark.parametrize("contacts", CONTACTS)
def test_a_spinning_ball_stops_in_the_time_of_the_formula(contacts: str) -> None:
    """I dω/dt = -torsional m g, to the step. Then it does not turn."""
    sim, spin = balls(contacts, torsional_friction=COEFFICIENTS), 3.0
    sim.v[:, 5] = spin
    slows = COEFFICIENTS * G / SPIN_INERTIA
    for k in range(1, 40):
        sim.step()
        wanted = np.maximum(spin - slows * 5 * H * k, 0.0)
        np.testing.assert_allclose(sim.v[:, 5], wanted, atol=1e-3 * spin)
    assert (abs(sim.v[1:, 5]) < 1e-6).all() and sim.v[0, 5] > 1.0
    np.testing.assert_allclose(sim.q[:, :2], 0.0, atol=1e-9)


@pytest.mark.parametrize("contacts", CONTACTS)
def test_a_rolling_ball_stops_in_the_time_of_the_formula(contacts: str) -> None:
    """A solid ball decelerates by 5/7 rolling g / r, and its energy never rises."""
    sim, speed = balls(contacts, rolling_friction=COEFFICIENTS), 0.2
    sim.v[:, 0], sim.v[:, 4] = speed, speed / R
    slows = 5.0 / 7.0 * COEFFICIENTS * G / R
    energy = np.inf
    for k in range(1, 50):
        sim.step()
        wanted = np.maximum(speed - slows * 5 * H * k, 0.0)
        np.testing.assert_allclose(sim.v[:, 4] * R, wanted, atol=0.01 * speed)
        now = 0.5 * ((sim.v[:, :3] ** 2).sum(1) + SPIN_INERTIA * (sim.v[:, 3:] ** 2).sum(1))
        assert (now <= energy + 1e-12).all()
        energy = now
    assert abs(sim.v[2, 4]) * R < 1e-3 and sim.v[0, 4] * R > 0.1


@pytest.mark.parametrize("contacts", CONTACTS)
@pytest.mark.parametrize("kind", ["torsional", "rolling"])
def test_a_spinning_or_rolling_ball_stops_as_in_mujoco(contacts: str, kind: str) -> None:
    """The ball has condim 4 or 6 of an MJCF file.

    MuJoCo bounds sliding and both moments by one cone, which changes these motions by less than a
    thousandth.
    """
    mujoco = pytest.importorskip("mujoco")
    condim, numbers = (4, "0.8 0.005 0") if kind == "torsional" else (6, "0.8 0 0.003")
    # MuJoCo's friction is soft by R / impratio, so that a large impratio makes it hold.
    text = TEXT.format(h=0.001, r=R, geom=f'condim="{condim}" friction="{numbers}"')
    theirs = mujoco.MjModel.from_xml_string(text.replace("<option", '<option impratio="100"'))
    data, ours = mujoco.MjData(theirs), wd.load(text)
    kinds: dict[str, Any] = {}
    if contacts == "pairs":
        kinds = {"points": [], "pairs": wd.ContactPairs(ours).with_ground("ball")}
    sim = wd.Simulation(ours, 1, dt=0.001, substeps=10, dtype="float64", **kinds)
    for _ in range(30):
        sim.step()
    mujoco.mj_step(theirs, data, 300)
    start = (
        [0.0, 0.0, 0.0, 0.0, 0.0, 3.0] if kind == "torsional" else [0.3, 0.0, 0.0, 0.0, 3.0, 0.0]
    )
    sim.v[:], data.qvel[:] = start, start
    for _ in range(30):
        sim.step()
        mujoco.mj_step(theirs, data, 10)
        np.testing.assert_allclose(sim.v[0, 3:], data.qvel[3:], atol=0.03)
    assert sim.v[0, 5] == pytest.approx(0.0, abs=1e-6), "it has stopped, or did not spin at all"


def test_a_box_on_its_corners_has_the_friction_moments_of_all_corners() -> None:
    """The points share the rows of their body. torsional m g adds to friction times the distance
    from the middle to a corner.
    """
    half = 0.1
    text = f"""<mujoco><worldbody><body name="box" pos="0 0 {half}"><freejoint/>
    <geom type="box" size="{half} {half} {half}" mass="1"/></body></worldbody></mujoco>"""
    model = wd.load(text)
    torsional = np.array([[0.0], [0.02], [0.05]]) * np.ones((1, 8))
    ground = wd.Ground(friction=0.1, torsional_friction=torsional, stiffness=1e5)
    sim = wd.Simulation(model, 3, dt=H, substeps=5, ground=ground, dtype="float64", sweeps=8)
    for _ in range(50):
        sim.step()
    sim.v[:] = [0.0, 0.0, 0.0, 0.0, 0.0, 4.0]
    for _ in range(3):
        sim.step()
    inertia = 2.0 / 3.0 * half**2
    slows = (torsional[:, 0] + 0.1 * half * np.sqrt(2.0)) * G / inertia
    np.testing.assert_allclose(sim.v[:, 5], 4.0 - slows * 15 * H, rtol=5e-3)
    moment = sim.impulses[:, :, 5].sum(1) / H
    np.testing.assert_allclose(moment, -torsional[:, 0] * G, rtol=5e-3, atol=1e-9)


def test_a_bar_between_two_fingers_turns_above_the_limit() -> None:
    """Two contacts pinch a bar off its middle.

    They hold its weight by torsion up to twice the coefficient times the force of the fingers.
    Impulses are passed on from step to step.
    """
    text = """<mujoco><worldbody>
    <body name="left" pos="-0.03 0 1"><joint type="slide" axis="1 0 0"/><geom size="0.01" mass="0.2"/></body>
    <body name="right" pos="0.03 0 1"><joint type="slide" axis="-1 0 0"/><geom size="0.01" mass="0.2"/></body>
    <body name="bar" pos="0 0.02 1"><freejoint/><geom type="box" size="0.02 0.06 0.01" mass="0.1"/></body>
    </worldbody></mujoco>"""
    model, press, limit = wd.load(text), 10.0, 0.1 * G * 0.02 / 2 / 10.0
    coefficients = np.array([0.7, 0.95, 1.05, 1.5])[:, None] * limit * np.ones((1, 2))
    sim = wd.Simulation(
        *(model, 4),
        points=[],
        pairs=wd.ContactPairs(model).only(("bar", "*")),
        pair_contact=wd.description.PairContact(friction=0.8, torsional_friction=coefficients),
        **{"dt": H, "substeps": 5, "dtype": "float64", "sweeps": 8},
    )
    joints = [model.coordinates[name].v.start for name in model.joint_names[:2]]
    sim.tau[:, joints] = press
    for _ in range(12):
        sim.step()
    turned = abs(sim.body("bar").velocity[:, 3])
    assert (turned[:2] > 0.2).all() and (turned[2:] < 0.01).all()
    assert sim.pair_impulses.shape == (4, sim.pairs.contacts, 6)


def test_thrown_balls_and_boxes_gain_no_energy() -> None:
    """Random spins, slides and falls with all frictions, without gravity, so that only contacts
    change the energy.
    """
    draw, envs = np.random.default_rng(5), 32
    scene = BALL.with_object("box", wd.description.Box(0.1, 0.16, 0.12), mass=0.7)
    pairs = wd.ContactPairs(scene).with_ground("ball", "box")
    contact = wd.description.PairContact(
        0.6, dissipation=0.02, torsional_friction=0.02, rolling_friction=0.01
    )
    sim = wd.Simulation(
        *(scene, envs),
        points=[],
        pairs=pairs,
        pair_contact=contact,
        gravity=(0.0, 0.0, 0.0),
        **{"dt": H, "dtype": "float64", "substeps": 1},
    )
    for name, height in (("ball", R), ("box", 0.3)):
        body = sim.body(name)
        pose = np.zeros((envs, 7))
        pose[:, :3] = draw.normal(size=(envs, 3)) * [0.05, 0.05, 0.01] + [0.0, 0.0, height]
        pose[:, 3:] = draw.normal(size=(envs, 4)) if name == "box" else [0, 0, 0, 1.0]
        pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
        push = draw.normal(size=(envs, 6)) * [0.5, 0.5, 0.5, 8.0, 8.0, 8.0]
        push[:, 2] -= 1.0
        body.reset(pose=pose, velocity=push)
    before = energy = wd.kinetic_energy(scene, sim.q, sim.v)
    pressed = np.zeros(envs)
    for _ in range(150):
        sim.step()
        now = wd.kinetic_energy(scene, sim.q, sim.v)
        energy = now
        pressed += abs(sim.pair_impulses[..., 3:]).max((1, 2))
    assert (energy <= before * (1 + 1e-9)).all() and (pressed > 0).mean() > 0.9


def test_zero_coefficients_record_the_program_without_moments() -> None:
    """None, the number 0, and a tuple of zeros."""
    from warpdyn.execution.request.call import input_shapes
    from warpdyn.execution.request.evaluate import record_call

    points = wd.ContactPoints(BALL)
    arrays = [np.zeros((2, n)) for n in (BALL.nq, BALL.nv, BALL.nv)]
    listings = set()
    for zero in (None, 0.0, (0.0,)):
        ground = wd.Ground(torsional_friction=zero, rolling_friction=zero)
        call = wd.step.describe(BALL, *arrays, points=points, ground=ground)
        listings.add(record_call(call, input_shapes(call), False).listing())
    assert len(listings) == 1


@pytest.mark.parametrize("seed", range(4))
def test_friction_moments_obey_their_laws(seed: int) -> None:
    """Each moment is at its bound or has stopped its motion after an update.

    No bound is exceeded.
    """
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(6, 6))
    response = A @ A.T
    law = friction_moments(0.3, 0.2, [response[k, k] for k in (3, 4, 5)], 0.0)
    contact, pressed = PointContact(0.0, 0, None, moments=3), 0.7
    begin = RowByRow(draw.normal(size=6).tolist(), response.tolist())
    moments, after = law.update([0.0, 0.0, 0.0], pressed, contact, begin)
    x, y, z = (float(m) for m in moments)  # type: ignore[arg-type]
    assert abs(z) <= 0.3 * pressed + 1e-12 and np.hypot(x, y) <= 0.2 * pressed + 1e-12
    change = response[:, 3:] @ [x, y, z]
    np.testing.assert_allclose(after.values, np.add(begin.values, change))
    assert FrictionMoments.size(1) == 3 and FrictionMoments.size(3) == 6


@pytest.mark.parametrize("condim", [4, 6])
@pytest.mark.parametrize(
    "joint",
    ['type="slide" axis="0 0 1"', 'axis="0 1 0" pos="0.2 0 0"', 'type="slide" axis="1 0 1"'],
)
@pytest.mark.parametrize("softness", [None, "description"])
def test_bodies_that_cannot_turn_have_no_friction_moments(
    joint: str, condim: int, softness: Literal["description"] | None
) -> None:
    """Friction moments change nothing on a slider, or on a hinge across the normal."""
    numbers = []
    for dimension in (3, condim):
        model = wd.load(
            f"""<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="1 1 1" friction="1 0.01 0"
            condim="{dimension}"/><body pos="0 0 0.09">
            <joint {joint}/><geom size="0.1" condim="{dimension}" friction="1 0.01 0"/></body></worldbody></mujoco>"""
        )
        ground = wd.Ground(softness=softness)
        sim = wd.Simulation(model, 1, ground=ground, dt=H, substeps=1, dtype="float64")
        for _ in range(100):
            sim.step()
        numbers.append(np.concatenate([sim.q.ravel(), sim.v.ravel(), sim.forces[..., :3].ravel()]))
    assert np.all(np.isfinite(numbers[1]))
    np.testing.assert_allclose(numbers[1], numbers[0], atol=1e-9)


def test_a_response_of_zero_gives_moments_of_zero() -> None:
    law = friction_moments(0.01, 0.01, [0.0, 0.0, 0.0], 1e-4)
    assert all(np.isfinite(x) for x in law)
