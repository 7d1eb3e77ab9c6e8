"""Contact points as frames: the axes of their link, the origin at the point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...algebra.scalar import Scalar, minimum, select_less_equal
from ...model.tree import Tree
from ..fk import fk
from ..frame_motion import frame_velocity
from ..frames import PARTS, at_point
from .contact_rows import ContactPoint, contact_rows
from .uneven_ground import terrain_of


def at_points(algorithm: Callable[..., list]) -> Callable[..., list]:
    """The algorithm for frames, applied to contact points."""

    def of_points(
        tree: Tree, *arrays: Sequence[Scalar], points: Sequence[ContactPoint], **options: Any
    ) -> list:
        names = [f"{n} of the points" for n in range(len(points))]
        seats = {
            name: at_point(tree.frames[point.link], point.centre)
            for name, point in zip(names, points, strict=True)
        }
        pointed = replace(tree, frames={**tree.frames, **seats})
        return algorithm(pointed, *arrays, frames=tuple(names), **options)

    return of_points


def point_positions(
    tree: Tree, q: Sequence[Scalar], points: Sequence[ContactPoint]
) -> list[list[Scalar]]:
    """Centres of the points in the world [m], 3 each."""
    return [[row[3] for row in T[:3]] for T in at_points(fk)(tree, q, points=points)]


def point_velocities(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], points: Sequence[ContactPoint]
) -> list[list[Scalar]]:
    """Velocities of the centres in the world's axes [m/s], 3 each."""
    motions = at_points(frame_velocity)(tree, q, v, points=points, reference="local_world_aligned")
    return [motion[PARTS["linear"]] for motion in motions]


def point_heights(
    tree: Tree,
    q: Sequence[Scalar],
    *more: Sequence,
    points: Sequence[ContactPoint],
    arrays: tuple[str, ...] = (),
) -> list[Scalar]:
    """Heights of the points' spheres above the ground, negative inside [m]: one each.

    arrays: names of the terrain's arrays.
    """
    terrain = terrain_of(dict(zip(arrays, more, strict=True)))
    return [contact.height for contact in contact_rows(tree, q, points, terrain)[0]]


def in_contact(
    tree: Tree,
    q: Sequence[Scalar],
    *more: Sequence,
    points: Sequence[ContactPoint],
    links: Sequence[str],
    arrays: tuple[str, ...] = (),
) -> list[Scalar]:
    """Flags: 1 for each link that has a point on or inside the ground, else 0."""
    heights = point_heights(tree, q, *more, points=points, arrays=arrays)
    touching = []
    for link in links:
        lowest: Scalar = 1.0
        for point, height in zip(points, heights, strict=True):
            if point.link == link:
                lowest = minimum(lowest, height)
        touching.append(select_less_equal(lowest, 0.0, 1.0, 0.0))
    return touching
