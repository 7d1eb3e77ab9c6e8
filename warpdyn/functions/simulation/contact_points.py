"""Points of a robot that may touch the ground, from its collision shapes or given by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import overload

from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.contact_shapes import ContactPair
from ...execution.repeat.call_key import compared_by_value
from ...formats.meshes.mesh_hulls import hull_points
from ...model import Model
from ...model.collision_points import collision_spheres
from ...model.model import check_model
from ...model.names import check_names, count_with_noun
from ...model.poses_and_limits import vector3
from ..whole_numbers import whole_number
from .varied_numbers import is_number


@compared_by_value
class ContactPoints(Sequence[ContactPoint]):
    """The contact points of a model's collision shapes, in the order of its links; for `points=`.

    A sphere gives one point. A capsule gives two, at the centres of its ends, and a box its eight
    corners. A cylinder gives eight points on each rim. A mesh gives up to `mesh_points` vertices of
    its convex hull; the package trimesh reads it. Shapes that cannot be read are left out:
    `left_out` has (link, shape, reason) of each, and `with_sphere` puts points on those links.
    `box_spacing`: the largest distance of neighbouring points on the edges and faces of boxes [m],
    for ground with bumps and stairs; None: only corners. A point inside another sphere of the same
    body, or inside a sphere of a body that turns about it, is dropped, because the other sphere
    touches first. Links that are fixed to the world have no points. `on_ground` maps each point to
    the contact numbers of its shape in an MJCF file. `are_chosen` is True if the points are a
    selection.
    """

    def __init__(self, model: Model, *, mesh_points: int = 16, box_spacing: float | None = None):
        check_model(model)
        mesh_points = whole_number("mesh_points", mesh_points, least=0)
        if box_spacing is not None and not (is_number(box_spacing) and box_spacing > 0):
            raise ValueError(f"box_spacing must be a length above 0 [m], got {box_spacing!r}")
        self.model = model
        spheres, left = collision_spheres(
            model, lambda mesh: hull_points(mesh, mesh_points), box_spacing
        )
        self.points = tuple(ContactPoint(*sphere[:3]) for sphere in spheres)
        self.on_ground = {ContactPoint(*s[:3]): s.on_ground for s in spheres if s.on_ground}
        self.left_out = tuple(left)
        self.are_chosen = False

    def only(self, *links: str) -> ContactPoints:
        """The points on links with these names, or that match these patterns: `only("*_foot")`."""
        chosen = self._links(links)
        return self._with(point for point in self.points if point.link in chosen)

    def without(self, *links: str) -> ContactPoints:
        """All points except those on links with these names, or that match these patterns."""
        chosen = self._links(links)
        return self._with(point for point in self.points if point.link not in chosen)

    def with_sphere(
        self, link: str, centre: Iterable[float] = (0.0, 0.0, 0.0), radius: float = 0.0
    ) -> ContactPoints:
        """The points and one more sphere on a link: its centre in the link's frame [m], its radius
        [m]."""
        self.model.link_index(link)
        return self._with((*self.points, ContactPoint(link, vector3(centre), float(radius))))

    @property
    def links(self) -> tuple[str, ...]:
        """Links that have points, in order."""
        return links_of(self)

    def _with(self, points: Iterable[ContactPoint]) -> ContactPoints:
        changed: ContactPoints = object.__new__(ContactPoints)
        changed.model, changed.left_out = self.model, self.left_out
        changed.on_ground = self.on_ground
        changed.points, changed.are_chosen = tuple(points), True
        return changed

    def _links(self, patterns: Sequence[str]) -> tuple[str, ...]:
        return touched_links(self.model, self, patterns)

    @overload
    def __getitem__(self, index: int) -> ContactPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ContactPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> ContactPoint | tuple[ContactPoint, ...]:
        return self.points[index]

    def __eq__(self, other: object) -> bool:
        """True if both have the same points of the same model."""
        if not isinstance(other, ContactPoints):
            return NotImplemented
        return self.points == other.points and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[ContactPoint]:
        return iter(self.points)

    def __repr__(self) -> str:
        counts = [f"{sum(p.link == link for p in self.points)} on {link}" for link in self.links]
        left = "; ".join(f"{shape} of {link} ({why})" for link, shape, why in self.left_out)
        return (
            f"<{count_with_noun(len(self), 'contact point')} of {self.model.name}: "
            f"{', '.join(counts) or 'none'}"
            f"{f'; left out: {left}' if left else ''}>"
        )


def links_of(points: Iterable[ContactPoint]) -> tuple[str, ...]:
    """Links that have points, in order."""
    return tuple(dict.fromkeys(point.link for point in points))


def touched_links(
    model: Model,
    points: Iterable[ContactPoint],
    patterns: Iterable[str],
    pairs: Iterable[ContactPair] = (),
) -> tuple[str, ...]:
    """Links with points, or with shapes in pairs, that match patterns, such as "*_foot"; each pattern
    must match some link."""
    chosen = dict[str, None]()
    of_pairs = (shape.link for pair in pairs for shape in pair if shape.link is not None)
    links = tuple(dict.fromkeys((*links_of(points), *of_pairs)))
    for pattern in check_names(patterns):
        fitting = [link for link in links if fnmatchcase(link, pattern)]
        if not fitting:
            near = get_close_matches(pattern, links, n=3) or links
            raise KeyError(
                f"{model.name} has no contact points{' or pairs' * bool(pairs)} on {pattern!r}; "
                f"there are some on {', '.join(near) or 'no link'}"
            )
        chosen |= dict.fromkeys(fitting)
    return tuple(chosen)
