"""Points on the ground in slots move a robot as inline points do, and only near ones are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.simulation.pair_slots.ground_points import MARGIN, PlacedPoint, above_reach
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.functions.simulation import point_checks

QUADRUPED = wd.load_robot("quadruped")
DT = 0.002


def simulations(
    monkeypatch: pytest.MonkeyPatch, model: wd.Model, envs: int = 4, **options: Any
) -> list[wd.Simulation]:
    """The same robots with inline points, and with points in slots."""
    found = []
    given = {"dt": DT, "substeps": 4, "dtype": "float64", **options}
    for rows in (1000, 0):
        monkeypatch.setattr(point_checks, "MOST_ROWS", rows)
        found.append(wd.Simulation(model, envs, **given))
        assert dict(found[-1]._call.options)["scene"].points_in_slots == (rows == 0)
    v = 0.5 * np.random.default_rng(0).normal(size=found[0].v.shape)
    for sim in found:
        sim.v[:] = v
    return found


@pytest.mark.parametrize(
    "ground",
    [
        wd.Ground(),
        wd.Ground(restitution=0.5),
        wd.Ground(np.linspace(0.3, 0.9, 21)[None].repeat(4, 0), torsional_friction=0.02),
        wd.Ground(rolling_friction=(0.02,) * 9 + (0.0,) * 12, dissipation=np.full(4, 0.01)),
    ],
    ids=["plain", "rebounds", "torsional friction by environment", "rolling friction of some"],
)
def test_points_in_slots_equal_inline_points(
    monkeypatch: pytest.MonkeyPatch, ground: wd.Ground
) -> None:
    """Grounds with all kinds of numbers are compared for 0.25 s, in which several points make and
    lose contact.
    """
    in_line, in_slots = simulations(monkeypatch, QUADRUPED, ground=ground)
    pressed = np.zeros(21)
    for _ in range(32):
        for sim in (in_line, in_slots):
            sim.step()
        np.testing.assert_allclose(in_slots.q, in_line.q, atol=1e-10)
        np.testing.assert_allclose(in_slots.forces, in_line.forces, atol=1e-6)
        np.testing.assert_allclose(in_slots.impulses, in_line.impulses, atol=1e-9)
        pressed += in_line.forces[..., 2].max(0) > 0
    assert (pressed > 0).sum() >= 4 and (pressed == 0).any()


@pytest.mark.parametrize(
    "terrain",
    [
        wd.Plane((0.1, 0.05), 0.02),
        wd.HeightMap(0.02 * np.random.default_rng(1).normal(size=(30, 30)), 0.1),
        wd.HeightMap(np.zeros((8, 8)), 0.5, friction=np.full((8, 8), 0.5)),
    ],
    ids=["plane", "hills", "friction"],
)
def test_points_in_slots_equal_inline_points_on_uneven_ground(
    monkeypatch: pytest.MonkeyPatch, terrain: Any
) -> None:
    """The tangents of a contact differ, so that sweeps that have not converged differ a little."""
    sims = simulations(monkeypatch, QUADRUPED, terrain=terrain, sweeps=40)
    for _ in range(20):
        for sim in sims:
            sim.step()
    np.testing.assert_allclose(sims[1].q, sims[0].q, atol=2e-3)
    weights = [sim.forces.sum(1) for sim in sims]
    np.testing.assert_allclose(weights[1], weights[0], atol=0.2 * QUADRUPED.total_mass * 9.81)
    assert sims[0].forces.any()


def test_friction_of_a_map_scales_friction_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map scales friction moments in slots as it scales those inline."""
    ground = wd.Ground(torsional_friction=0.02, rolling_friction=0.01)
    terrain = wd.HeightMap(np.zeros((8, 8)), 0.5, friction=np.full((8, 8), 0.2))
    sims = simulations(monkeypatch, QUADRUPED, ground=ground, terrain=terrain)
    for _ in range(20):
        for sim in sims:
            sim.step()
    np.testing.assert_allclose(sims[1].q, sims[0].q, atol=1e-9)
    assert sims[0].impulses[..., 3:].any()


def test_points_in_slots_work_next_to_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm on the table, a cube on the ground by its corners, and a ball on the cube."""
    scene = wd.load_robot("panda").with_object(
        "cube", wd.description.Box(0.1, 0.1, 0.1), mass=0.5, pose=(0.6, 0.0, 0.05)
    )
    scene = scene.with_object("ball", wd.description.Sphere(0.05), mass=0.2, pose=(0.6, 0.01, 0.15))
    points = wd.ContactPoints(scene).only("cube", "ball").with_sphere("panda_hand", (0, 0, 0), 0.06)
    sims = simulations(
        *(monkeypatch, scene),
        points=points,
        pairs=wd.ContactPairs(scene).only(("cube", "ball")),
        control=wd.PD(50.0, 5.0),
    )
    for _ in range(30):
        for sim in sims:
            sim.step()
        np.testing.assert_allclose(sims[1].q, sims[0].q, atol=1e-9)
    assert sims[0].forces[:, :8, 2].max() > 1.0 and sims[0].pair_forces.any()


def test_a_point_is_near_if_it_may_touch_within_the_step() -> None:
    """The velocity of its body counts in each direction, and a margin is added."""

    def near(
        height: float, linear: tuple[float, ...], angular: tuple[float, ...] = (0, 0, 0)
    ) -> bool:
        point = PlacedPoint(Vector(1.0, 0.0, height), 0.1, [*linear, *angular])
        return above_reach(point, 0.01, None) <= 0.0  # type: ignore[operator]

    assert near(0.1 + 0.9 * MARGIN, (0, 0, 0)) and not near(0.1 + 1.1 * MARGIN, (0, 0, 0))
    assert near(0.119, (0, 0, -1.0)) and not near(0.13, (0, 0, -1.0))
    assert near(0.119, (0, 0, 0), (0, 1.0, 0)) and not near(0.119, (0, 0, 0), (1.0, 0, 0))


def test_points_in_slots_add_few_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point in a slot adds its numbers and results, an inline point several hundred statements."""
    links = [link.name for link in QUADRUPED.links if link.mass]
    draw = np.random.default_rng(0)
    points = [wd.ContactPoint(links[k % 12], draw.normal(size=3).tolist(), 0.0) for k in range(100)]
    arrays = [np.zeros((1, n)) for n in (QUADRUPED.nq, QUADRUPED.nv, QUADRUPED.nv)]

    def statements(count: int) -> int:
        call = wd.step.describe(QUADRUPED, *arrays, points=points[:count])
        return len(record_call(call, input_shapes(call), True).listing().splitlines())

    assert statements(100) - statements(50) < 50 * 30
    assert statements(100) < 1.5 * statements(20)


def test_derivatives_through_slots_equal_those_of_inline_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Derivatives of the next state by the present one."""
    q = np.tile(QUADRUPED.configurations["home"], (2, 1))
    q[:, 2] -= 0.01
    v = 0.2 * np.random.default_rng(3).normal(size=(2, QUADRUPED.nv))
    points = wd.ContactPoints(QUADRUPED).only("*_foot")
    draw, found = np.random.default_rng(4), []
    shapes = [(19,), (18,), (4, 3), (4, 3), (12,)]
    seeds = tuple(draw.normal(size=(2, *shape)) for shape in shapes)
    for rows in (1000, 0):
        monkeypatch.setattr(point_checks, "MOST_ROWS", rows)
        options: dict[str, Any] = {"points": points, "cotangents": seeds}
        found.append(wd.vjp(wd.step, QUADRUPED, q, v, 0.0 * v, wrt=["q", "v", "tau"], **options))
    for in_line, in_slots in zip(*found, strict=True):
        np.testing.assert_allclose(in_slots, in_line, rtol=1e-7, atol=1e-6)


def test_an_environment_has_the_same_bits_alone_and_in_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop runs until none of them has near points left."""
    monkeypatch.setattr(point_checks, "MOST_ROWS", 0)
    sims = [wd.Simulation(QUADRUPED, envs, dt=DT) for envs in (40, 1)]
    v = np.float32(np.random.default_rng(2).normal(size=(40, QUADRUPED.nv)))
    sims[0].v[:], sims[1].v[:] = v, v[17]
    for _ in range(40):
        for sim in sims:
            sim.step()
    assert np.array_equal(sims[0].q[17], sims[1].q[0]) and sims[1].forces.any()
