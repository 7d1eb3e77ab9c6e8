"""Contact between bodies: laws of impact, friction and rest, and the choice of pairs."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.functions.simulation.contact_pairs import LARGEST_MESH

CUBE = wd.description.Box(0.04, 0.04, 0.04)

BALL = wd.description.Sphere(0.1)

FLOAT64: dict[str, Any] = {"dtype": "float64"}


def world(*objects: tuple[str, Any, float, Any]) -> wd.Model:
    """Free bodies: name, shape, mass and pose of each."""
    model = wd.ModelBuilder("world").add_link("world").build()
    for name, shape, mass, pose in objects:
        model = model.with_object(name, shape, mass=mass, pose=pose)
    return model


def pose_with_heading(angle: float, z: float) -> tuple[float, ...]:
    """A pose at a height, with a rotation about the vertical."""
    return (0.0, 0.0, z, 0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


TWO_BALLS = world(("a", BALL, 1.0, (0, 0, 1)), ("b", BALL, 2.0, (0.5, 0, 1)))


def collide(restitution: float, aside: float = 0.0, friction: float = 0.0) -> wd.Simulation:
    """A ball at 3 m/s hits another one at rest, without gravity."""
    sim = wd.Simulation(
        TWO_BALLS,
        1,
        points=[],
        pairs=wd.ContactPairs(TWO_BALLS),
        pair_contact=wd.description.PairContact(friction, dissipation=0.1, restitution=restitution),
        dt=0.001,
        substeps=1,
        gravity=(0, 0, 0),
        **FLOAT64,
    )
    sim.q[0, 1] = aside
    sim.v[0, 0] = 3.0
    return sim


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_velocities_after_an_impact_follow_newtons_law(restitution: float) -> None:
    """Velocities after a central impact follow from momentum and restitution.

    Without rebound the balls overlap a little, and are pushed apart at depth / dissipation.
    """
    sim = collide(restitution)
    for _ in range(300):
        sim.step()
    common = 3.0 * 1.0 / 3.0
    near = 1e-3 if restitution else 0.01
    np.testing.assert_allclose(sim.v[0, 0], common - restitution * 3.0 * 2 / 3, atol=near)
    np.testing.assert_allclose(sim.v[0, 6], common + restitution * 3.0 * 1 / 3, atol=near)


def test_momentum_is_conserved() -> None:
    """An eccentric impact with friction changes neither linear nor angular momentum."""
    sim = collide(0.3, aside=0.12, friction=0.5)
    before = wd.momentum(TWO_BALLS, sim.q, sim.v).copy()
    for _ in range(300):
        sim.step()
    assert abs(sim.v[0, 3:6]).max() > 0.1
    np.testing.assert_allclose(wd.momentum(TWO_BALLS, sim.q, sim.v), before, atol=1e-10)


STACK = world(
    ("a", CUBE, 0.1, pose_with_heading(0.0, 0.02)),
    ("b", CUBE, 0.1, pose_with_heading(0.3, 0.06)),
    ("c", CUBE, 0.1, pose_with_heading(0.6, 0.10)),
)


def test_a_stack_of_cubes_stands() -> None:
    """Three cubes, each rotated against the one below, with four sweeps, for 2 s."""
    sim = wd.Simulation(
        STACK,
        2,
        points=[],
        pairs=wd.ContactPairs(STACK).without(("a", "c")).with_ground("a", friction=0.6),
        pair_contact=wd.description.PairContact(friction=0.6),
        dt=0.002,
        substeps=5,
        **FLOAT64,
    )
    for _ in range(200):
        sim.step()
    assert abs(sim.v).max() < 1e-4
    for names, cubes in ((("ground", "a"), 3), (("a", "b"), 2), (("b", "c"), 1)):
        force = sim.force_between(*names)[0]
        np.testing.assert_allclose(force, [0, 0, cubes * 0.1 * 9.81], atol=1e-3)
        np.testing.assert_array_equal(sim.force_between(*names[::-1])[0], -force)


SLOPE = 0.4
"""Angle of a ramp [rad]; its tangent is 0.42."""


def on_ramp(friction: float) -> wd.Simulation:
    """A cube on a box that is fixed in the world and tilted."""
    ramp = f"""<mujoco><worldbody><geom type="box" size="5 5 .1" euler="0 {math.degrees(SLOPE)} 0"/>
    </worldbody></mujoco>"""
    top = np.array([math.sin(SLOPE), 0, math.cos(SLOPE)]) * 0.12
    tilt = (0, math.sin(SLOPE / 2), 0, math.cos(SLOPE / 2))
    model = wd.load(ramp).with_object("cube", CUBE, mass=0.1, pose=(*top, *tilt))
    return wd.Simulation(
        model,
        1,
        points=[],
        pairs=wd.ContactPairs(model),
        pair_contact=wd.description.PairContact(friction=friction),
        dt=0.002,
        substeps=1,
        **FLOAT64,
    )


def test_a_cube_sticks_below_the_friction_angle_and_slides_above_it() -> None:
    """The cube rests at a friction coefficient of 0.5.

    At 0.3 its acceleration is g (sin - 0.3 cos) of the angle.
    """
    resting, sliding = on_ramp(0.5), on_ramp(0.3)
    for _ in range(500):
        resting.step()
        sliding.step()
    assert np.linalg.norm(resting.body("cube").velocity[0, :3]) < 1e-3
    speed = np.linalg.norm(sliding.body("cube").velocity[0, :3])
    expected = 9.81 * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE)) * 1.0
    np.testing.assert_allclose(speed, expected, rtol=0.01)


def test_an_environment_has_the_same_bits_alone_and_in_a_batch() -> None:
    """The comparison covers 40 steps after an impact of cubes."""
    pairs = wd.ContactPairs(STACK).with_ground("a", "b", "c")
    rng = np.random.default_rng(3)
    q = np.tile(STACK.configurations["qpos0"], (40, 1))
    q[:, 2::7] += rng.uniform(0.0, 0.01, (40, 3))
    both = [wd.Simulation(STACK, n, points=[], pairs=pairs, substeps=1) for n in (40, 1)]
    both[0].reset(q=q)
    both[1].reset(q=q[17])
    for _ in range(40):
        for sim in both:
            sim.step()
    np.testing.assert_array_equal(both[0].q[17], both[1].q[0])
    assert not both[0].failures.any()


def test_a_failed_state_clears_contacts_in_its_environment_only() -> None:
    """Impulses, features and forces are 0 there. Other environments continue with the same bits."""
    pairs = wd.ContactPairs(STACK).with_ground("a", "b", "c")
    both = [wd.Simulation(STACK, 40, points=[], pairs=pairs, substeps=1) for _ in range(2)]
    for _ in range(60):
        for sim in both:
            sim.step()
    assert np.all(abs(both[0].pair_forces).max((1, 2)) > 0.1)
    both[0].v[17, 3] = np.nan
    for sim in both:
        sim.step()
    failed, whole = both
    assert failed.failures.ravel().tolist() == [float(n == 17) for n in range(40)]
    rest = np.arange(40) != 17
    for name in ("q", "v", "pair_impulses", "pair_features", "pair_forces"):
        found, wanted = getattr(failed, name), getattr(whole, name)
        np.testing.assert_array_equal(found[rest], wanted[rest])
        if name.startswith("pair"):
            assert not found[17].any() and wanted[17].any()


def test_the_number_of_threads_does_not_change_results() -> None:
    """Two threads share the batch."""
    pairs = wd.ContactPairs(STACK).with_ground("a", "b", "c")
    threads, found = wd.runtime.get_num_threads(), []
    try:
        for count in (1, 2):
            wd.runtime.set_num_threads(count)
            sim = wd.Simulation(STACK, 1024, points=[], pairs=pairs, substeps=1)
            sim.q[:, 0] += np.linspace(0.0, 0.02, 1024, dtype=np.float32)
            for _ in range(5):
                sim.step()
            found.append(sim.q.copy())
    finally:
        wd.runtime.set_num_threads(threads)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("aside", [0.0, 1e-3, 0.02])
def test_overlapping_bodies_are_pushed_apart(aside: float) -> None:
    """Two cubes at nearly one place: at most at `push_out`, and at once if their centres are equal."""
    model = world(("a", CUBE, 0.1, (0, 0, 1)), ("b", CUBE, 0.1, (aside, 0, 1)))
    sim = wd.Simulation(
        model,
        1,
        points=[],
        pairs=wd.ContactPairs(model),
        pair_contact=wd.description.PairContact(push_out=0.5),
        dt=0.002,
        substeps=1,
        gravity=(0, 0, 0),
        **FLOAT64,
    )
    for _ in range(500):
        sim.step()
        assert np.linalg.norm(sim.v[0, 6:9] - sim.v[0, :3]) < 0.51
    apart = sim.q[0, 7:10] - sim.q[0, :3]
    assert abs(apart).max() > 0.0399 and not sim.failures.any()


def test_derivatives_of_a_step_with_pairs_equal_finite_differences() -> None:
    """Forward and backward, for a cube that slides on another one."""
    model = world(("a", CUBE, 0.1, (0, 0, 0.02)), ("b", CUBE, 0.1, pose_with_heading(0.3, 0.0599)))
    pairs = wd.ContactPairs(model)
    q, v = model.configurations["qpos0"], np.zeros(12)
    v[6:8] = 0.3, 0.1
    tau, rng = np.zeros(12), np.random.default_rng(0)
    direction, weights = rng.normal(size=12), rng.normal(size=12)

    options: dict[str, Any] = {"dt": 0.002, "pairs": pairs}

    def after(v: np.ndarray) -> np.ndarray:
        return wd.step(model, q, v, tau, **options).v

    expected = (after(v + 1e-6 * direction) - after(v - 1e-6 * direction)) / 2e-6
    forward = wd.jvp(wd.step, model, q, v, tau, tangents={"v": direction}, **options)
    np.testing.assert_allclose(forward[1], expected, atol=1e-5)
    cotangents = tuple(np.zeros_like(x) for x in forward)
    cotangents[1][:] = weights
    backward = wd.vjp(wd.step, model, q, v, tau, cotangents=cotangents, wrt="v", **options)
    np.testing.assert_allclose(backward @ direction, weights @ expected, atol=1e-5)


def test_steps_with_passed_on_arrays_equal_a_simulation() -> None:
    """`step` with the arrays of the last step moves as a `Simulation`."""
    pairs = wd.ContactPairs(STACK).with_ground("a")
    sim = wd.Simulation(STACK, 1, points=[], pairs=pairs, dt=0.002, substeps=1, **FLOAT64)
    q, v = sim.q.copy(), sim.v.copy()
    memory: dict[str, Any] = {}
    for _ in range(5):
        sim.step()
        after = wd.step(STACK, q, v, np.zeros_like(v), dt=0.002, pairs=pairs, **memory)
        q, v = after.q, after.v
        memory = {"pair_impulses": after.pair_impulses, "pair_features": after.pair_features}
    np.testing.assert_allclose(q, sim.q, atol=1e-12)
    np.testing.assert_allclose(after.pair_forces, sim.pair_forces, atol=1e-8)
    assert after.pair_forces.shape == (1, len(pairs), 3)


def test_contact_properties_can_differ_by_pair_and_environment() -> None:
    """The first cube slides and the second one does not if friction has a row per environment."""
    model = world(("a", CUBE, 0.1, (0, 0, 0.02)), ("b", CUBE, 0.1, (1, 0, 0.02)))
    pairs = wd.ContactPairs(model).without(("a", "b")).with_ground("a", "b")
    friction = np.array([[0.0, 1.0], [1.0, 0.0]])
    sim = wd.Simulation(
        model,
        2,
        points=[],
        pairs=pairs,
        pair_contact=wd.description.PairContact(friction=friction),
        **FLOAT64,
    )
    sim.v[:, [0, 6]] = 1.0
    for _ in range(30):
        sim.step()
    np.testing.assert_allclose(sim.v[:, [0, 6]], [[1, 0], [0, 1]], atol=1e-3)


def test_friction_of_pairs_is_read_from_the_file() -> None:
    """It is the larger one of two geoms, unless one has a higher priority."""
    text = """<mujoco><worldbody><body name="a"><freejoint/><geom size=".1" friction=".3"/></body>
    <body name="b"><freejoint/><geom size=".1" friction=".7"/></body>
    <body name="c"><freejoint/><geom size=".1" friction=".2" priority="1"/></body></worldbody></mujoco>"""
    assert wd.ContactPairs(wd.load(text)).friction == (0.7, 0.2, 0.2)
    assert wd.ContactPairs(STACK).friction == (None, None, None)


def test_pairs_are_chosen_by_names_and_patterns() -> None:
    """The two names of a pair may be in any order."""
    pairs = wd.ContactPairs(STACK)
    assert pairs.links == (("a", "b"), ("a", "c"), ("b", "c")) and pairs.contacts == 12
    assert pairs.only(("b", "a")).links == (("a", "b"),)
    assert pairs.without("c").links == (("a", "b"),)
    assert pairs.only(("[ab]", "c")).links == (("a", "c"), ("b", "c"))
    assert "3 contact pairs of world with 12 contacts: a and b" in repr(pairs)
    assert pairs == wd.ContactPairs(STACK) != pairs.only("a")
    assert copy.deepcopy(pairs) == pickle.loads(pickle.dumps(pairs)) == pairs
    with pytest.raises(KeyError, match="no pair of 'd' and 'a'; there are pairs of a"):
        pairs.only(("d", "a"))
    with pytest.raises(KeyError, match="no pair of a and d; there are a and b"):
        pairs.between("a", "d")


def test_unreadable_shapes_are_listed() -> None:
    """A mesh whose file is missing is left out with the reason."""
    mesh = '<collision><geometry><mesh filename="gone.stl"/></geometry></collision>'
    model = wd.load(f'<robot name="r"><link name="base">{mesh}</link></robot>', floating_base=False)
    pairs = wd.ContactPairs(model.with_object("ball", BALL, mass=1.0))
    assert len(pairs) == 0 and pairs.left_out[0].link == "base" and "left out" in repr(pairs)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"pair_contact": wd.Ground()}, "pair_contact must be wd.description.PairContact"),
        (
            {"pair_contact": wd.description.PairContact(friction=-1.0)},
            "friction must be at least 0",
        ),
        (
            {"pair_contact": wd.description.PairContact(restitution=2.0)},
            "restitution must be at most 1",
        ),
        ({"pairs": ["cube"]}, "pairs must be those of wd.ContactPairs"),
        ({"integrator": "rk4"}, "pairs= needs an implicit step"),
    ],
)
def test_invalid_contact_options_are_refused(options: dict[str, Any], message: str) -> None:
    """The error message names the option."""
    with pytest.raises((TypeError, ValueError), match=message):
        wd.Simulation(TWO_BALLS, 1, points=[], **{"pairs": wd.ContactPairs(TWO_BALLS), **options})


@pytest.mark.parametrize("count", [3, 4.0, True, LARGEST_MESH + 1])
def test_the_number_of_mesh_vertices_is_bounded(count: Any) -> None:
    words = f"mesh_vertices must be a whole number from 4 to {LARGEST_MESH}, got {count!r}"
    with pytest.raises(ValueError, match=words):
        wd.ContactPairs(TWO_BALLS, mesh_vertices=count)
    assert len(wd.ContactPairs(TWO_BALLS, mesh_vertices=LARGEST_MESH)) == 1
    assert len(wd.ContactPairs(TWO_BALLS, mesh_vertices=4)) == 1


@pytest.mark.parametrize("count", [0, 1.0, True])
def test_slots_must_be_a_positive_whole_number(count: Any) -> None:
    words = f"slots must be a whole number of at least 1, got {count!r}"
    with pytest.raises(ValueError, match=words):
        wd.ContactPairs(TWO_BALLS, slots=count)
    assert wd.ContactPairs(TWO_BALLS, slots=1).slots == 1


def test_pairs_are_equal_if_their_models_and_entries_are_equal() -> None:
    pairs = wd.ContactPairs(TWO_BALLS)
    assert pairs == wd.ContactPairs(TWO_BALLS) and pairs != "pairs"
    same, other = (
        world(("a", BALL, 1.0, (0, 0, 1)), ("b", BALL, mass, (0.5, 0, 1))) for mass in (2.0, 3.0)
    )
    assert pairs == wd.ContactPairs(same) and hash(pairs) == hash(wd.ContactPairs(same))
    assert pairs != wd.ContactPairs(other) and pairs != wd.ContactPairs(TWO_BALLS, slots=1)
    grounded = [pairs.with_ground("a", friction=mu) for mu in (0.5, 0.5, 0.6)]
    assert grounded[0] == grounded[1] != grounded[2] and grounded[0] != pairs


def test_a_plane_of_the_world_is_paired_with_a_ball() -> None:
    """It is a shape without sizes at the pose of its link."""
    lifted = wd.description.Pose((0.0, 0.0, 0.5))
    plane = wd.description.Geometry("plane", (0.0, 0.0), pose=lifted)
    links = [replace(x, collisions=(plane,)) if x.name == "world" else x for x in TWO_BALLS.links]
    pairs = wd.ContactPairs(replace(TWO_BALLS, links=tuple(links)))
    assert pairs.links == (("world", "a"), ("world", "b"), ("a", "b"))
    shape = pairs[0].first
    assert (shape.kind, shape.size, shape.vertices) == ("plane", (), ())
    assert shape.position == (0.0, 0.0, 0.5) and not pairs.left_out


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.contact_pairs", MESH_VERTICES=16, LARGEST_MESH=32, LISTED=4)
