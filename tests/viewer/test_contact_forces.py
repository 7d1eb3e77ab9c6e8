"""Contact forces of a simulation as they are drawn: position, magnitude and robot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer import contact_forces as module
from warpdyn.viewer.contact_forces import contact_forces

SIDE, MASS = 0.1, 0.5
WEIGHT = 9.81 * MASS


def tower(ground: bool) -> wd.Simulation:
    """Two cubes on each other, at rest. The lower one touches the ground by a pair or by points."""
    model = wd.ModelBuilder("world").add_link("world").build()
    for n, name in enumerate(("low", "high")):
        cube = wd.description.Box(SIDE, SIDE, SIDE)
        model = model.with_object(name, cube, mass=MASS, pose=(0.3, 0.0, SIDE * (n + 0.5)))
    pairs = wd.ContactPairs(model)
    points = wd.ContactPoints(model).only("low")
    pairs = pairs.with_ground("low") if ground else pairs
    told: dict[str, Any] = {"pairs": pairs, "points": [] if ground else points, "dtype": "float64"}
    sim = wd.Simulation(model, 2, dt=0.002, substeps=5, **told)
    for _ in range(60):
        sim.step()
    return sim


@pytest.fixture(scope="module")
def by_points() -> wd.Simulation:
    return tower(ground=False)


def test_forces_between_cubes_and_from_the_ground_are_found(by_points: wd.Simulation) -> None:
    """The ground carries both cubes at four corners, by points or by a pair. The lower cube carries
    the upper one in the middle of four contacts."""
    found = contact_forces(by_points, [1])
    on_ground = found.positions[:, 2] < SIDE / 2
    assert on_ground.sum() == 4 and (~on_ground).sum() == 1
    assert found.forces[on_ground, 2].sum() == pytest.approx(2 * WEIGHT, rel=1e-3)
    assert found.forces[~on_ground, 2] == pytest.approx(WEIGHT, rel=1e-3)
    assert found.positions[~on_ground][0] == pytest.approx([0.3, 0.0, SIDE], abs=2e-3)
    assert found.from_ground.tolist() == on_ground.tolist()
    assert len(found.points) == 8 and set(found.envs_of_points) == {0}
    pair = contact_forces(tower(ground=True), [0, 1])
    first = pair.envs_of_forces == 0
    assert len(pair.points) == 16 and first.sum() == 2
    assert sorted(pair.forces[first, 2]) == pytest.approx([WEIGHT, 2 * WEIGHT], rel=1e-3)
    assert sorted(pair.positions[first, 2]) == pytest.approx([0.0, SIDE], abs=2e-3)


def test_bodies_in_the_air_have_no_contacts(by_points: wd.Simulation) -> None:
    """A simulation without points and pairs has none either."""
    model = by_points.model
    for told in ({"pairs": wd.ContactPairs(model)}, {}):
        sim = wd.Simulation(model, 1, points=[], **told)  # type: ignore[arg-type]
        sim.reset(q=[0, 0, 2, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 1.0])
        sim.step()
        found = contact_forces(sim, [0])
        assert not len(found.points) and not len(found.forces)


@pytest.fixture
def page(by_points: wd.Simulation) -> Iterator[Any]:
    shown = viewer.show(by_points.model, by_points.q, controls=False)
    yield shown
    shown.stop()


def test_contacts_are_drawn_at_their_robots(page: Any, by_points: wd.Simulation) -> None:
    """Balls and arrows are drawn for both robots, with the scaled length. A new call replaces them,
    and clear removes them."""
    paths = page.stage.server.scene._handle_from_node_name
    page.contacts(by_points, scale=0.01)
    balls, arrows = paths["/contacts/points"], paths["/contacts/forces"]
    places = page.robots["robot"].places
    assert len(balls.batched_positions) == 16 and len(arrows.points) == 10
    # The arrow between the cubes ends where they touch.
    ends = arrows.points[:, 1] - [*places[0, :2], 0.0]
    assert np.abs(ends - [0.3, 0.0, SIDE]).max(1).min() < 2e-3
    low = balls.batched_positions[:4, :2]
    assert np.allclose(low.mean(0), places[0, :2] + [0.3, 0.0], atol=1e-3)
    assert (balls.batched_wxyzs == [1.0, 0.0, 0.0, 0.0]).all()
    lengths = np.linalg.norm(np.diff(arrows.points, axis=1)[:, 0], axis=1)
    assert lengths.max() == pytest.approx(0.01 * WEIGHT, rel=1e-3)
    page.contacts(by_points, envs=[1])
    assert len(paths["/contacts/points"].batched_positions) == 8
    drawn = paths["/contacts/forces"].points
    assert np.linalg.norm(np.diff(drawn, axis=1), axis=2).max() == pytest.approx(
        0.2 * page.robots["robot"].size, rel=1e-3
    )
    page.clear()
    assert "/contacts/points" not in paths
    with pytest.raises(viewer.ViewerError, match="no robot is called 'robot'"):
        page.contacts(by_points)


def test_the_force_of_a_separated_pair_acts_at_its_nearest_points(
    by_points: wd.Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No contact is deep enough any more, but a force of the last step remains."""
    monkeypatch.setattr(module, "TOUCHING", -1.0)
    found = contact_forces(by_points, [0])
    between = ~found.from_ground
    q = np.asarray(by_points.q)
    places, gaps = map(np.asarray, module.pair_gaps(by_points.model, q, pairs=by_points.pairs))
    nearest = places[0][gaps[0] == gaps[0].min()]
    assert between.sum() == 1 and len(nearest) < 8
    assert found.positions[between][0] == pytest.approx(nearest.mean(axis=0), abs=1e-6)
