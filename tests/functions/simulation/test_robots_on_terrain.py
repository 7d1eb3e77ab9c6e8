"""Robots that stand on uneven ground."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd

G, DT, RADIUS = 9.81, 0.005, 0.1

QUADRUPED = wd.load_robot("quadruped").with_armature(0.01)

FEET = wd.ContactPoints(QUADRUPED).only("*_foot")

STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]


def test_quadrupeds_stand_on_every_kind_of_ground() -> None:
    """They are dropped at the middle of each tile and next to it.

    States stay finite, feet stay on the ground, and the ground carries standing robots.
    """
    terrain = wd.HeightMap.tiles(levels=2, size=5.0)
    middle = terrain.origins.reshape(-1, 3)
    beside = middle + np.array([1.6, 0.3, 0.0])
    place = np.concatenate([middle, beside]).astype(np.float32)
    sim = wd.Simulation(
        *(QUADRUPED, len(place)),
        points=FEET,
        control=wd.PD(40.0, 1.0),
        start=[0, 0, 0.45, 0, 0, 0, 1, *STANCE],
        terrain=terrain.with_offset(place),
    )
    for _ in range(200):
        sim.step(np.tile(np.float32(STANCE), (len(place), 1)))
    assert not sim.failures.any() and np.isfinite(sim.q).all()
    weight = QUADRUPED.total_mass * G
    count = len(middle)
    standing = sim.forces[:count, :, 2].sum(1)
    assert np.allclose(standing, weight, rtol=0.02)
    for foot in FEET:
        centre = np.array([foot.centre[:2]], np.float32)
        scan = wd.height_scan(QUADRUPED, sim.q, centre, frame=foot.link, terrain=sim.terrain)
        assert scan[:count].min() > 0.01  # the sphere's radius is 0.022
        assert (
            scan[count:].min() > -0.25
        )  # walls of blocks and stairs push feet out at 1 m/s or less


def test_a_quadruped_stands_on_a_slope() -> None:
    sim = wd.Simulation(
        *(QUADRUPED, 1),
        points=FEET,
        control=wd.PD(40.0, 1.0),
        start=[0, 0, 0.36, 0, 0, 0, 1, *STANCE],
        terrain=wd.Plane((0.1, 0.0)),
    )
    for _ in range(400):
        sim.step(np.tile(np.float32(STANCE), (1, 1)))
    assert np.allclose(sim.forces[0].sum(0), [0, 0, QUADRUPED.total_mass * G], atol=0.1)
    assert np.abs(sim.v).max() < 1e-3


def test_a_plank_with_points_on_its_edges_lies_on_a_ridge() -> None:
    """The plank has points on edges and faces.

    A plank with corners only would sink to the ground.
    """
    heights = np.zeros((41, 41))
    heights[19:22] = 0.05  # a ridge along y, 0.1 m wide at its top
    terrain = wd.HeightMap(heights, 0.05)
    builder = wd.ModelBuilder("plank")
    plank = wd.description.Geometry("box", (1.0, 0.2, 0.04))
    builder.add_link("plank", mass=2.0, inertia=np.diag([0.01, 0.17, 0.17]), collisions=[plank])
    model = builder.build(floating_base=True)
    found = []
    for spacing in (None, 0.1):
        points = wd.ContactPoints(model, box_spacing=spacing)
        sim = wd.Simulation(
            *(model, 1),
            points=points,
            terrain=terrain,
            ground=wd.Ground(stiffness=2e4),
            start=[0.0, 0.0, 0.08, 0.0, 0.0, 0.0, 1.0],
            **{"dt": 0.002, "substeps": 5, "dtype": "float64"},
        )
        for _ in range(100):
            sim.step()
        found.append(sim.q[0, 2] - 0.02)
        assert sim.forces[0, :, 2].sum() == pytest.approx(2.0 * 9.81, rel=0.02)
    assert found == pytest.approx([0.0, 0.05], abs=2e-3)
    with pytest.raises(ValueError, match="box_spacing must be a length above 0"):
        wd.ContactPoints(model, box_spacing=0.0)
