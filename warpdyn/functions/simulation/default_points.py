"""Default contact points of a simulation: those of all collision shapes, with errors that suggest fewer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from ...algorithms.simulation.contact_shapes import GROUND, ContactPair
from ...model import Model
from .contact_points import ContactPoints

MOST_POINTS = 500
"""Largest number of contact points that a simulation uses without an explicit choice. With 480 points
a humanoid's step takes five times as long as with 30, and its kernel compiles as fast as that of 37
points in line."""

FEWER_OF_MESHES = (8, 4, 2, 1)
"""Points per mesh to try if a robot has too many."""

SHORTEST_ENDING = 3
"""Least number of common letters that make a pattern."""

LISTED = 4
"""Largest number of names in a message; further names are only counted."""


def default_points(model: Model, pairs: Sequence[ContactPair] = ()) -> ContactPoints:
    """All contact points of a model, except those on links that touch the ground through `pairs`.
    Raises if some shapes could not be read, or if there are so many points that a step would be
    slow."""
    points = ContactPoints(model)
    refuse_unread(points)
    grounded = {pair.second.link for pair in pairs if pair.first == GROUND}
    if twice := [link for link in points.links if link in grounded]:
        points = points.without(*twice)
    if len(points) > MOST_POINTS:
        raise ValueError(
            f"{model.name} has {len(points)} contact points, more than {MOST_POINTS}; choose those "
            f"that touch: {' or '.join(_fewer(points))}"
        )
    return points


def refuse_unread(points: object) -> None:
    """Raise for all the points of a model (`ContactPoints` without a selection) if some collision
    shapes gave no points, because the robot would sink into the ground there."""
    if not isinstance(points, ContactPoints) or points.are_chosen or not points.left_out:
        return
    whole = f"all {len(points.left_out)}" if not len(points) else f"{len(points.left_out)}"
    link, shape, why = points.left_out[0]
    more = f", and {len(points.left_out) - 1} more" if len(points.left_out) > 1 else ""
    raise ValueError(
        f"{points.model.name} would sink into the ground: {whole} of its collision shapes could not "
        f"be read: {shape} of {link} ({why}){more}. Repair them, or choose what touches: "
        f"points=wd.ContactPoints(model).with_sphere({link!r}, (0, 0, 0), 0.02), or points=[] for "
        "nothing"
    )


def refuse_none(points: object) -> None:
    """Raise for the default points of a model if it has none because no shape could be read."""
    if isinstance(points, ContactPoints) and not len(points):
        refuse_unread(points)


def _fewer(points: ContactPoints) -> Iterator[str]:
    """Expressions that choose fewer points of this robot, for an error message."""
    ends = _links_at_ends(points)
    if sum(point.link in ends for point in points) <= MOST_POINTS:
        yield f"points=wd.ContactPoints(model).only({', '.join(map(repr, patterns_for(points, ends)))})"
    if any(s.shape == "mesh" for link in points.model.links for s in link.collisions):
        for count in FEWER_OF_MESHES:
            if len(ContactPoints(points.model, mesh_points=count)) <= MOST_POINTS:
                yield f"fewer of each mesh: points=wd.ContactPoints(model, mesh_points={count})"
                break
    far = sorted(ends, key=lambda link: -_joints_above(points.model, link))
    shown = ", ".join(map(repr, far[:LISTED]))
    more = f" and {len(ends) - LISTED} more" if len(ends) > LISTED else ""
    yield f"spheres of your own, points=[wd.ContactPoint(link, centre, radius), ...] on {shown}{more}"


def _links_at_ends(points: ContactPoints) -> list[str]:
    """Links with points that carry no other links with points."""
    above = {joint.child: joint.parent for joint in points.model.joints}
    carrying: set[str] = set()
    for link in points.links:
        while link in above:
            link = above[link]
            carrying.add(link)
    return [link for link in points.links if link not in carrying]


def _joints_above(model: Model, link: str) -> int:
    """Number of moving joints between a link and the root."""
    by_child = {joint.child: joint for joint in model.joints}
    count = 0
    while link in by_child:
        count += by_child[link].kind.nv > 0
        link = by_child[link].parent
    return count


def patterns_for(points: ContactPoints, links: Sequence[str]) -> list[str]:
    """One pattern that matches exactly these links among the links with points, by the ends or the
    beginnings of their names; without such a pattern, the names."""
    ending, beginning = _common([link[::-1] for link in links])[::-1], _common(links)
    for pattern, part in ((f"*{ending}", ending), (f"{beginning}*", beginning)):
        fitting = [link for link in points.links if fnmatchcase(link, pattern)]
        if len(links) > 1 and len(part) >= SHORTEST_ENDING and fitting == list(links):
            return [pattern]
    return list(links)


def _common(words: Sequence[str]) -> str:
    """The letters with which all words begin."""
    columns = zip(*words, strict=False)
    return "".join(column[0] for column in takewhile(lambda c: len(set(c)) == 1, columns))
