"""Pairs of shapes that may touch each other, from a robot's description."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from ..description import Geometry
from ..ground_contact import ContactFriction
from ..structure import Structure


class LinkShape(NamedTuple):
    """A collision shape, its link, and its number in the link's `collisions`."""

    link: str
    shape: Geometry
    number: int


class ShapePair(NamedTuple):
    """Two shapes that may touch, and the friction of their contacts by the description, or None."""

    first: LinkShape
    second: LinkShape
    friction: ContactFriction | None


def shape_pairs(model: Structure) -> Iterator[ShapePair]:
    """All pairs of collision shapes that may touch, in the order of the links.

    Shapes of one rigid body do not touch, nor do those of two bodies that a joint connects, nor
    those of links in `model.excluded_pairs`. MJCF's contype and conaffinity are respected. In an
    MJCF file a joint to the world does not keep a body from touching the world's shapes. A free
    joint never does. Of these rules only the first one holds for `model.touching_pairs`, which have
    a friction of their own.
    """
    body = _bodies(model)
    neighbours = _neighbours(model, body)
    excluded = {frozenset(pair) for pair in model.excluded_pairs}
    named = {frozenset(zip(p.links, p.shapes, strict=True)): p for p in model.touching_pairs}
    shapes = [
        LinkShape(link.name, shape, number)
        for link in model.links
        for number, shape in enumerate(link.collisions)
    ]
    for a, b in combinations(shapes, 2):
        pair = frozenset((body[a.link], body[b.link]))
        said = named.get(frozenset(((a.link, a.number), (b.link, b.number))))
        if len(pair) == 1:
            continue
        if said is not None:
            yield ShapePair(a, b, said.friction)
        elif (
            pair not in neighbours
            and frozenset((a.link, b.link)) not in excluded
            and _masks_match(a.shape, b.shape)
        ):
            yield ShapePair(a, b, _friction(a.shape, b.shape))


def _friction(a: Geometry, b: Geometry) -> ContactFriction | None:
    """The larger coefficients, or those of the shape with the higher priority; None if the
    description has none."""
    touches = [shape.touch for shape in (a, b) if shape.touch is not None]
    if not touches:
        return None
    highest = max(touch.priority for touch in touches)
    chosen = [touch for touch in touches if touch.priority == highest]
    largest = ContactFriction(*map(max, zip(*(touch.friction for touch in chosen), strict=True)))
    return largest.of_condim(max(touch.condim for touch in chosen))


def _bodies(model: Structure) -> dict[str, str]:
    """For each link the first link of its rigid body."""
    body = {model.root: model.root}
    for joint in model.joints:  # parents come first
        body[joint.child] = joint.child if joint.kind.nv else body[joint.parent]
    return body


def _neighbours(model: Structure, body: dict[str, str]) -> set[frozenset[str]]:
    """Pairs of bodies that a joint connects."""
    still = None if model.floating_base else model.root
    found = set()
    for joint in model.moving_joints:
        above = body.get(joint.parent)
        if above is None or joint.kind.nv == 6:
            continue
        if not (model.is_simulated and above == still):
            found.add(frozenset((above, joint.child)))
    return found


def _masks_match(a: Geometry, b: Geometry) -> bool:
    """True unless the masks of an MJCF file keep the shapes from touching."""
    if a.touch is None or b.touch is None:
        return True
    return bool(a.touch.kinds & b.touch.others or b.touch.kinds & a.touch.others)
