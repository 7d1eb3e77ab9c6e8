"""Points of a robot that may touch the ground, from the shapes of its description or named."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, overload

from ..algebra.spatial import Vector
from ..algorithms.contact_rows import ContactPoint
from ..model import Model
from ..model.description import Vector3, several, vector3

RIM = 8
"""Points on each rim of a cylinder."""


class ContactPoints(Sequence[ContactPoint]):
    """The contact points of a model's collision shapes, in the order of its links; for `points=`.

    A sphere is a point; a capsule two, at the centres of its ends; a box its eight corners; a
    cylinder eight points on each rim. Meshes are left out: `left_out` has (link, shape) of each, and
    `with_sphere` puts points on those links. Links that are fixed in the world have none.
    """

    def __init__(self, model: Model):
        self.model = model
        self.points, self.left_out = _of_shapes(model)

    def only(self, *links: str) -> ContactPoints:
        """Those of the links of these names, or that fit these patterns: `only("*_foot")`."""
        chosen = self._links(links)
        return self._with(point for point in self.points if point.link in chosen)

    def without(self, *links: str) -> ContactPoints:
        """All but those of these links, or of links that fit these patterns."""
        chosen = self._links(links)
        return self._with(point for point in self.points if point.link not in chosen)

    def with_sphere(
        self, link: str, centre: Iterable[float] = (0.0, 0.0, 0.0), radius: float = 0.0
    ) -> ContactPoints:
        """These and a sphere in a link: its centre in the link's frame [m], its radius [m]."""
        self.model.link_index(link)
        return self._with((*self.points, ContactPoint(link, vector3(centre), float(radius))))

    @property
    def links(self) -> tuple[str, ...]:
        """Links that have points, in order."""
        return links_of(self)

    def _with(self, points: Iterable[ContactPoint]) -> ContactPoints:
        changed: ContactPoints = object.__new__(ContactPoints)
        changed.model, changed.left_out = self.model, self.left_out
        changed.points = tuple(points)
        return changed

    def _links(self, patterns: Sequence[str]) -> tuple[str, ...]:
        return touched_links(self.model, self, patterns)

    @overload
    def __getitem__(self, index: int) -> ContactPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ContactPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> ContactPoint | tuple[ContactPoint, ...]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[ContactPoint]:
        return iter(self.points)

    def __repr__(self) -> str:
        counts = [f"{sum(p.link == link for p in self.points)} on {link}" for link in self.links]
        left = "; ".join(f"{what} of {link}" for link, what in self.left_out)
        return (
            f"<{len(self)} contact points of {self.model.name}: {', '.join(counts) or 'none'}"
            f"{f'; left out: {left}' if left else ''}>"
        )


def checked_point(model: Model, link: str, centre: Any, radius: float) -> ContactPoint:
    """A contact point of plain numbers, on a link that there is."""
    model.link_index(link)
    at, r = tuple(map(float, centre)), float(radius)
    if len(at) != 3 or not all(map(math.isfinite, (*at, r))) or r < 0:
        raise ValueError(
            f"a contact point is a link, a centre (x, y, z) and a radius of 0 or more; got {at}, {r} "
            f"on {link}"
        )
    return ContactPoint(link, at, r)


def links_of(points: Iterable[ContactPoint]) -> tuple[str, ...]:
    """Links that have points, in order."""
    return tuple(dict.fromkeys(point.link for point in points))


def touched_links(
    model: Model, points: Iterable[ContactPoint], patterns: Iterable[str]
) -> tuple[str, ...]:
    """Links with points that fit patterns, such as "*_foot"; each has to fit some."""
    links, chosen = links_of(points), dict[str, None]()
    for pattern in several(patterns):
        fitting = [link for link in links if fnmatchcase(link, pattern)]
        if not fitting:
            near = get_close_matches(pattern, links, n=3) or links
            raise KeyError(
                f"{model.name} has no contact points on {pattern!r}; "
                f"there are some on {', '.join(near) or 'no link'}"
            )
        chosen |= dict.fromkeys(fitting)
    return tuple(chosen)


def _of_shapes(model: Model) -> tuple[tuple[ContactPoint, ...], tuple[tuple[str, str], ...]]:
    """Points of all collision shapes, and what has none, by link."""
    points: list[ContactPoint] = []
    left: list[tuple[str, str]] = []
    for link in model.links:
        if _fixed_in_the_world(model, link.name):
            continue
        for shape in link.collisions:
            spheres = SPHERES.get(shape.shape)
            if spheres is None:
                left.append((link.name, f"the {shape.shape} {shape.filename or ''}".strip()))
                continue
            for centre, radius in spheres(*shape.size):
                at = shape.pose.placement.point_to_parent(Vector(*centre))
                points.append(ContactPoint(link.name, vector3(at), radius))
    return tuple(points), tuple(left)


def _fixed_in_the_world(model: Model, link: str) -> bool:
    """Whether only fixed joints stand between a link and a root that does not move."""
    if model.floating_base:
        return False
    joint = model.parent_joint(link)
    while joint is not None:
        if joint.kind.nv:
            return False
        joint = model.parent_joint(joint.parent)
    return True


Spheres = list[tuple[Vector3, float]]
"""Centres in the shape's frame [m], and radii [m]."""


def _sphere(radius: float) -> Spheres:
    return [((0.0, 0.0, 0.0), radius)]


def _capsule(radius: float, length: float) -> Spheres:
    return [((0.0, 0.0, z), radius) for z in (-length / 2, length / 2)]


def _box(x: float, y: float, z: float) -> Spheres:
    signs = product((-0.5, 0.5), repeat=3)
    return [((a * x, b * y, c * z), 0.0) for a, b, c in signs]


def _cylinder(radius: float, length: float) -> Spheres:
    turns = [2 * math.pi * k / RIM for k in range(RIM)]
    return [
        ((radius * math.cos(t), radius * math.sin(t), z), 0.0)
        for z in (-length / 2, length / 2)
        for t in turns
    ]


SPHERES: dict[str, Callable[..., Spheres]] = {
    "sphere": _sphere,
    "capsule": _capsule,
    "box": _box,
    "cylinder": _cylinder,
}
"""What touches of each shape (`Geometry.shape`), of its sizes."""
