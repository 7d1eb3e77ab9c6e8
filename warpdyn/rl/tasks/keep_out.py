"""Distances of a robot's links from spheres that they must avoid, and from the ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra.spatial import Vector
from ...algorithms.simulation.contact_rows import ContactPoint
from ...model import Model
from ...model.names import check_names
from ...model.poses_and_limits import vector3


class LinkCapsule(NamedTuple):
    """All points within `radius` [m] of the line between two points of a link, in its frame [m]."""

    link: str
    ends: tuple[tuple[float, float, float], tuple[float, float, float]]
    radius: float


def capsules(model: Model, links: Sequence[str]) -> tuple[LinkCapsule, ...]:
    """Capsules of the collision shapes of `links`: spheres, cylinders and capsules.

    A cylinder counts as if it had round ends, because URDF describes a capsule this way. A sphere
    at the end of a capsule with the same or a larger radius is inside it and left out. Boxes and
    meshes raise an error.
    """
    made: list[LinkCapsule] = []
    for link in (model.links[model.link_index(name)] for name in check_names(links)):
        lines = [shape for shape in link.collisions if shape.shape != "sphere"]
        for shape in (*lines, *(x for x in link.collisions if x.shape == "sphere")):
            if shape.shape not in ("sphere", "cylinder", "capsule"):
                raise ValueError(
                    f"a capsule is made of a sphere, a cylinder or a capsule; {link.name} of "
                    f"{model.name} has a {shape.shape}: leave the link out"
                )
            radius, length = (*shape.size, 0.0)[:2]
            place = shape.pose.placement
            first, last = (
                vector3(place.point_to_parent(Vector(0.0, 0.0, z)))
                for z in (-length / 2, length / 2)
            )
            if not any(_within(first, last, radius, other) for other in made):
                made.append(LinkCapsule(link.name, (first, last), radius))
    return tuple(made)


def _within(first: Any, last: Any, radius: float, other: LinkCapsule) -> bool:
    """True if both ends of a capsule are at an end of another capsule that is at least as wide."""
    near = [
        min(float(np.linalg.norm(np.subtract(end, there))) for there in other.ends)
        for end in (first, last)
    ]
    return max(near) < 1e-6 and radius <= other.radius


def capsule_ends(robot: Any, q: Any, parts: Sequence[LinkCapsule]) -> tuple[Any, Any]:
    """Both ends of each capsule in the world [m]: two arrays (capsules, 3)."""
    points = [ContactPoint(part.link, end, part.radius) for part in parts for end in part.ends]
    places = robot.point_positions(q, points=points)
    return places[0::2], places[1::2]


def clearance(first: Any, last: Any, radii: Any, centre: Any, radius: Any) -> Any:
    """Gaps between capsules and a sphere (capsules,) [m], negative where they overlap.

    first, last: ends of the capsules (capsules, 3). radii: radii of the capsules (capsules,) [m].
    """
    along, there = last - first, centre - first
    square = np.sum(along * along, axis=1)
    share = np.clip(np.sum(along * there, axis=1) / np.maximum(square, 1e-12), 0.0, 1.0)
    away = there - share[:, None] * along
    return np.sqrt(np.sum(away * away, axis=1)) - radii - radius


def height(first: Any, last: Any, radii: Any) -> Any:
    """Gaps between capsules and the ground z = 0 (capsules,) [m]."""
    return np.minimum(first[:, 2], last[:, 2]) - radii
