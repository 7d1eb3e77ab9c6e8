"""Simulations of several free bodies, and the state of one of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from array_kinds import host, make_array, usable

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.functions.simulation.free_body import FreeBody

CUBE = wd.description.Box(0.1, 0.1, 0.1)
ENVS = 5


def test_a_robot_next_to_an_object_moves_as_without_it() -> None:
    """The object also moves as without the robot, because both only touch the ground.

    A driven quadruped stands next to a falling, spinning cube.
    """
    robot = wd.load_robot("quadruped")
    scene = robot.with_object("cube", CUBE, mass=0.5, pose=(2.0, 0.0, 0.3))
    alone = wd.ModelBuilder("floor").add_link("floor").build()
    alone = alone.with_object("cube", CUBE, mass=0.5, pose=(2.0, 0.0, 0.3))
    feet, corners = wd.ContactPoints(robot).only("*foot*"), wd.ContactPoints(alone)
    ground = wd.Ground(stiffness=1e4, dissipation=0.2)  # by default it follows the robot's weight
    options: dict[str, Any] = {"dt": 0.002, "substeps": 2, "dtype": "float64", "ground": ground}
    control = wd.PD(60.0, 2.0)
    points = [wd.ContactPoint(p.link, p.centre, p.radius) for p in (*feet, *corners)]
    both = wd.Simulation(scene, 2, control=control, points=points, **options)
    first = wd.Simulation(robot, 2, control=control, points=points[: len(feet)], **options)
    second = wd.Simulation(alone, 2, points=points[len(feet) :], **options)
    for sim in (both, second):
        sim.body("cube").velocity[:] = [0.3, 0.0, 0.0, 3.0, 2.0, 1.0]
    for _ in range(200):
        targets = first.start[:, 7:] + 0.1
        first.step(targets)
        both.step(targets)
        second.step()
    np.testing.assert_allclose(both.q[:, : robot.nq], first.q, atol=1e-9)
    np.testing.assert_allclose(both.body("cube").pose, second.q, atol=1e-9)
    np.testing.assert_allclose(both.torques, first.torques, atol=1e-7)
    weight = 9.81 * (robot.total_mass + 0.5)
    np.testing.assert_allclose(both.forces[:, :, 2].sum(1), weight, rtol=0.2)


def test_each_free_body_conserves_its_momentum() -> None:
    """Three bodies fly for a second.

    Their centres follow parabolas, and angular momentum is constant.
    """
    scene = wd.ModelBuilder("sky").add_link("world").build()
    shapes: dict[str, Any] = {
        "box": wd.description.Box(0.1, 0.2, 0.3),
        "rod": wd.description.Capsule(0.05, 0.6),
        "ball": wd.description.Sphere(0.1),
    }
    for k, (name, shape) in enumerate(shapes.items()):
        scene = scene.with_object(name, shape, mass=1.0 + k, pose=(k, 0, 10))
    sim = wd.Simulation(scene, 1, points=[], dt=0.005, substeps=1, dtype="float64")
    before = {}
    for name, shape in shapes.items():
        body = sim.body(name)
        body.velocity[:] = [1.0, 0.5, 0.0, 3.0, 2.0, 1.0]
        before[name] = _momentum(body, shape)
    for _ in range(200):
        sim.step()
    for k, (name, shape) in enumerate(shapes.items()):
        body = sim.body(name)
        np.testing.assert_allclose(_momentum(body, shape), before[name], rtol=1e-9, atol=1e-12)
        fallen = -9.81 * 0.005**2 * 200 * 201 / 2  # semi-implicit Euler of a constant force
        wanted = [k + 1.0, 0.5, 10.0 + fallen]
        np.testing.assert_allclose(body.pose[0, :3], wanted, atol=1e-9)


def _momentum(body: Any, shape: Any) -> np.ndarray:
    """Angular momentum about the centre in the world's axes, at density 1."""
    x, y, z, w = body.pose[0, 3:]
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.asarray(R @ (np.array(shape.moments[1]) * body.velocity[0, 3:]))


def test_drives_and_torques_apply_to_joints_only() -> None:
    """An arm next to a cube moves as the arm alone, in any order of coordinates."""
    arm = wd.load_robot("panda")
    scene = arm.with_object("cube", CUBE, mass=0.5, pose=(1, 0, 1))
    options: dict[str, Any] = {"control": wd.PD(50.0, 5.0), "points": [], "dtype": "float64"}
    sims = [wd.Simulation(m, 2, **options) for m in (arm, scene)]
    assert [sim.targets.shape for sim in sims] == [(2, arm.nv)] * 2
    np.testing.assert_array_equal(sims[0].targets, sims[1].targets)
    for sim in sims:
        for _ in range(10):
            sim.step(sim.start[:, : arm.nq] + 0.1)
    np.testing.assert_allclose(sims[1].torques, sims[0].torques, rtol=1e-9)
    np.testing.assert_allclose(sims[1].q[:, : arm.nq], sims[0].q, rtol=1e-9)


def test_drives_of_an_mjcf_scene_apply_to_its_joints() -> None:
    """The cube is listed before the arm, so that its coordinates come first."""
    text = """<mujoco><worldbody>
      <body name="cube" pos="1 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
      <body name="arm"><joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 1" size=".05" mass="1"/></body>
    </worldbody></mujoco>"""
    sim = wd.Simulation(wd.load(text), 2, control=wd.PD(500.0, 50.0), points=[], dtype="float64")
    for _ in range(100):
        sim.step(np.array([0.3]))
    assert sim.torques.shape == (2, 1)
    np.testing.assert_allclose(sim.q[:, 7], 0.3, atol=0.02)
    np.testing.assert_allclose(sim.body("cube").pose[:, :2], [[1, 0]] * 2, atol=1e-12)


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_a_body_is_reset_on_its_own(library: str, device: str) -> None:
    """All, by a mask and by indices. Its impulses become zero, and everything else is unchanged."""
    usable(library, device)
    robot = wd.load_robot("cartpole")
    scene = robot.with_object("cube", CUBE, mass=0.5, pose=(1, 0, 0.05))
    like = make_array(library, np.zeros(1, np.float32), device)
    points = wd.ContactPoints(scene).only("cube")
    sim = wd.Simulation(scene, ENVS, points=points, like=like)
    cube = sim.body("cube")
    for _ in range(3):
        sim.step()
    before = {name: np.array(x) for name, x in sim.state().items()}
    assert before["impulses"].any()
    pose = np.array([[5, k, 1, 0, 0, 0, 1] for k in range(ENVS)], np.float32)
    cube.reset([3, 1], pose=pose[[3, 1]], velocity=[1, 0, 0, 0, 0, 0])
    q, v = host(sim.q), host(sim.v)
    columns = scene.coordinates["world_to_cube"]
    np.testing.assert_array_equal(q[[3, 1], columns.q], pose[[3, 1]])
    np.testing.assert_array_equal(q[[0, 2, 4]], before["q"][[0, 2, 4]])
    np.testing.assert_array_equal(q[:, : robot.nq], before["q"][:, : robot.nq])
    np.testing.assert_array_equal(v[[1, 3], columns.v], [[1, 0, 0, 0, 0, 0]] * 2)
    assert not host(sim.impulses)[[1, 3]].any()
    np.testing.assert_array_equal(host(sim.impulses)[[0, 2, 4]], before["impulses"][[0, 2, 4]])
    cube.reset(np.arange(ENVS) == 0)
    np.testing.assert_allclose(host(cube.pose)[0], [1, 0, 0.05, 0, 0, 0, 1], atol=1e-7)
    assert not host(cube.velocity)[0].any()
    cube.reset(pose=pose)
    np.testing.assert_array_equal(host(cube.pose), pose)


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_a_reset_clears_the_impulses_of_the_bodys_pairs(library: str, device: str) -> None:
    """The reset clears the chosen environments only.

    It keeps impulses between other cubes.
    """
    usable(library, device)
    scene = wd.ModelBuilder("floor").add_link("floor").build()
    for k in range(4):
        place = (float(k // 2), 0.0, 0.05 + 0.0999 * (k % 2))
        scene = scene.with_object(f"cube{k}", CUBE, mass=0.5, pose=place)
    pairs = wd.ContactPairs(scene).only(("cube0", "cube1"), ("cube2", "cube3"))
    pairs = pairs.with_ground("cube0", "cube2")
    like = make_array(library, np.zeros(1, np.float32), device)
    sim = wd.Simulation(scene, ENVS, pairs=pairs, points=[], like=like)
    for _ in range(5):
        sim.step()
    before = host(sim.pair_impulses).copy()
    links = [{pair.first.link, pair.second.link} for pair in pairs for _ in range(pair.contacts)]
    of_cube = np.array(["cube1" in both for both in links])
    assert before[:, of_cube].any() and before[:, ~of_cube].any()
    sim.body("cube1").reset([0, 2], pose=[0, 0, 3, 0, 0, 0, 1])
    after = host(sim.pair_impulses)
    assert not after[[0, 2]][:, of_cube].any()
    np.testing.assert_array_equal(after[:, ~of_cube], before[:, ~of_cube])
    np.testing.assert_array_equal(after[[1, 3, 4]], before[[1, 3, 4]])


def test_a_floating_base_is_a_free_body() -> None:
    robot = wd.load_robot("quadruped")
    sim = wd.Simulation(robot, 2)
    base = sim.body(robot.root)
    base.pose[:, 2] = 3.0
    assert (sim.q[:, 2] == 3.0).all() and repr(
        base
    ) == f"<free body {robot.root} of 2 environments>"


def test_links_with_joints_are_not_free_bodies() -> None:
    sim = wd.Simulation(wd.load_robot("panda").with_object("cube", CUBE, mass=1.0), 2, points=[])
    with pytest.raises(KeyError, match="no free body named 'panda_link3'; it has cube"):
        sim.body("panda_link3")
    with pytest.raises(KeyError, match="no link named 'kube'"):
        sim.body("kube")


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_values_that_are_no_states_are_refused(library: str) -> None:
    """Nothing is written. A robot would otherwise start again from its first configuration, and be
    counted as a failure, in the next step."""
    usable(library, "cpu")
    scene = wd.load_robot("cartpole").with_object("cube", CUBE, mass=1.0, pose=(0, 0, 1))
    like = make_array(library, np.zeros(1, np.float32), "cpu")
    sim = wd.Simulation(scene, 3, points=[], like=like)
    cube, before = sim.body("cube"), sim.state()
    rows = np.tile([0.0, 0, 1, 0, 0, 0, 1], (3, 1))
    rows[2, 6] = 2.0
    with pytest.raises(ValueError, match="quaternion of a pose must have length 1, got 2"):
        cube.reset(pose=rows)
    with pytest.raises(ValueError, match="quaternion of a pose must have length 1, got 2"):
        cube.reset([2, 0], pose=rows)
    with pytest.raises(ValueError, match=r"pose must be finite .* first at \(1,\): nan"):
        cube.reset([1], pose=[0, np.nan, 1, 0, 0, 0, 1], velocity=np.zeros(6))
    with pytest.raises(ValueError, match=r"velocity must be finite .* first at \(0, 5\): inf"):
        cube.reset([1], velocity=[[0, 0, 0, 0, 0, np.inf]])
    with pytest.raises(ValueError, match=r"q is not a valid state .* quaternion of world_to_cube"):
        sim.reset([0], q=np.zeros(scene.nq))
    for name, array in sim.state().items():
        np.testing.assert_array_equal(array, before[name])
    cube.reset([1], pose=rows)  # only the rows that are used count


def test_impulses_of_a_body_are_those_of_its_points_and_pairs() -> None:
    """The columns of a pair follow those of the pairs before it. Each number is that of its column."""
    model = wd.ModelBuilder("floor").add_link("floor").build()
    for k, name in enumerate(("a", "b", "c")):
        model = model.with_object(name, CUBE, mass=0.5, pose=(k, 0, 1))
    balls = {name: ContactShape(name, "sphere", (0.1,)) for name in ("a", "b", "c", "floor")}
    rods = {name: ContactShape(name, "capsule", (0.1, 0.2)) for name in balls}
    pairs = [
        ContactPair(rods["a"], rods["b"]),
        ContactPair(balls["b"], balls["floor"]),
        ContactPair(balls["a"], balls["c"]),
        ContactPair(rods["b"], rods["a"]),
    ]
    assert [pair.contacts for pair in pairs] == [2, 1, 1, 2]
    points = [SimpleNamespace(link=name) for name in ("c", "floor", "c")]
    of_pairs, of_points = np.arange(6.0)[None, :, None], np.arange(10.0, 13.0)[None, :, None]
    arrays = {"impulses": of_points, "pair_impulses": of_pairs}
    sim = SimpleNamespace(model=model, points=points, pairs=pairs, **arrays)
    for name, wanted in (("a", [0, 1, 3, 4, 5]), ("b", [0, 1, 2, 4, 5]), ("c", [10, 12, 3])):
        body: Any = SimpleNamespace(_sim=sim, name=name)
        assert [float(x[0, 0]) for x in FreeBody._impulses(body)] == wanted
