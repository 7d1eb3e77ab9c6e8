"""Rows of shapes: conversion to numbers, motion in a step, bounding radii."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.frames import body_placements
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape, body_of
from warpdyn.algorithms.simulation.pair_slots.pair_groups import pair_groups
from warpdyn.algorithms.simulation.pair_slots.shape_rows import (
    ShapeRow,
    bounding_radius,
    moving_shapes,
)
from warpdyn.execution.request.evaluate import tree_of

ARM = wd.load_robot("panda")
TREE = tree_of(ARM)
SAMPLED = states(ARM, 20)
CORNERS = tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.05, 0.05))
CAPSULE = ContactShape("panda_hand", "capsule", (0.03, 0.05), (0.0, 0.0, 0.1))
OTHER = ContactShape("panda_link5", "capsule", (0.03, 0.05))
POINTS = [Vector(*x) for x in ((0, 0, 0.08), (0, 0, -0.08), (0.03, 0, 0.05), (0, -0.03, -0.05))]
"""Points on the surface of a capsule, in its axes."""


def test_the_bounding_radius_is_that_of_the_sphere_around_the_origin() -> None:
    """A plane has none."""
    assert bounding_radius(ContactShape("a", "capsule", (0.05, 0.2))) == 0.25
    assert bounding_radius(ContactShape("a", "sphere", (0.1,))) == 0.1
    assert bounding_radius(GROUND) == 0.0
    radius = np.linalg.norm([0.1, 0.2, 0.05])
    assert bounding_radius(ContactShape("a", "box", (0.1, 0.2, 0.05))) == pytest.approx(radius)
    mesh = ContactShape("a", "mesh", (), vertices=CORNERS)
    assert bounding_radius(mesh) == pytest.approx(radius)


def test_points_of_a_shape_move_at_most_the_reach_of_its_row() -> None:
    """One point of a capsule moves more than half of it in a step."""
    pairs, dt = [ContactPair(GROUND, CAPSULE), ContactPair(GROUND, OTHER)], 0.01
    side = pair_groups(TREE, pairs)[0].sides[1]
    bodies = [body_of(TREE, shape) for shape in (CAPSULE, OTHER)]
    far = 0.0
    for q, v in zip(SAMPLED.q, SAMPLED.v, strict=True):
        now, later = (
            moving_shapes(
                TREE, body_placements(TREE, x.tolist(), bodies), side, v.tolist(), dt, bodies
            )
            for x in (q, q + v * 1e-3 * dt)
        )
        for n in range(2):
            before, after = (ShapeRow.of(rows[float(n)]) for rows in (now, later))
            assert before.number == n and tuple(before.size) == (0.03, 0.05)
            assert ShapeRow.of(before.numbers).numbers == before.numbers
            assert before.radius == pytest.approx(0.08)
            moved = []
            for p in POINTS:
                end, begin = (x.placement.point_to_parent(p) for x in (after, before))
                moved.append(1e3 * np.linalg.norm([*(end - begin)]))
            assert max(moved) <= before.reach * (1 + 1e-3)
            far = max(far, max(moved) / before.reach)
    assert far > 0.5
    other = moving_shapes(TREE, body_placements(TREE, q.tolist(), bodies), side, v.tolist(), dt)
    assert ShapeRow.of(other[0.0]).number == -1.0
