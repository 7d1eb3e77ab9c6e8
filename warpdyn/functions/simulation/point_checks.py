"""Checks of contact points, which become constants of a program."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...algorithms.simulation.contact_rows import ContactPoint, joint_coordinates
from ...execution.request.evaluate import tree_of
from ...model import Model
from ...model.structure import Structure
from ...model.tree import WORLD
from ..unmoved_joints import refuse_unmoved

MOST_IN_LINE, MOST_ROWS = 40, 64
"""Largest number of points, and of their rows, that a program computes in line. More are in slots,
which compile sooner. Gymnasium's humanoid has 29 points and 72 rows: its step compiles in a third of
the time and takes 0.45 to 0.98 of the time. One with 37 points and 63 rows would take up to twice the
time, because its feet, pelvis and torso have four to eight points each."""


def need_slots(points: Sequence[ContactPoint]) -> bool:
    """True for points that a step computes in slots, because there are many. A link with one point has
    three rows, one with more has six."""
    by_link = Counter(point.link for point in points)
    rows = sum(min(3 * count, 6) for count in by_link.values())
    return len(points) > MOST_IN_LINE or rows > MOST_ROWS


def checked_points(model: Model, points: Iterable[ContactPoint]) -> tuple[ContactPoint, ...]:
    """Points as constants of a program; raises for an invalid link, centre or radius."""
    checked = []
    one = isinstance(points, (str, ContactPoint))
    for point in points:
        if one or isinstance(point, str) or len(point) != 3:
            raise TypeError(
                "points must be a list of wd.ContactPoint(link, centre, radius), or those of "
                f"wd.ContactPoints(model), which .only(pattern) selects; got {points if one else point!r}"
            )
        checked.append(checked_point(model, *point))
    return tuple(checked)


def checked_point(model: Model, link: str, centre: Any, radius: float) -> ContactPoint:
    """A contact point made of plain numbers, on an existing link."""
    model.link_index(link)
    at, r = tuple(map(float, centre)), float(radius)
    if len(at) != 3 or not all(map(math.isfinite, (*at, r))) or r < 0:
        raise ValueError(
            f"a contact point is a link, a centre (x, y, z) and a radius of 0 or more; got {at}, {r} "
            f"on {link}"
        )
    return ContactPoint(link, at, r)


def refusing_still_points(points: Sequence[ContactPoint]) -> Callable[[Structure], None]:
    """Function that raises for points on links that are fixed to the world (`Call.refuse`)."""

    def refuse(model: Structure) -> None:
        still = [p.link for p in points if tree_of(model).frames[p.link].body == WORLD]
        if still:
            raise ValueError(
                f"contact points on {still[0]!r}, which is fixed in the world, touch nothing that "
                "moves; leave them out"
            )

    return refuse


def refusing_for_step(
    points: Sequence[ContactPoint], *, implicit: bool, driven: bool, varied: bool
) -> Callable[[Structure], None]:
    """Function that raises for points and joints that the integrator cannot step.

    An implicit step needs inertia only in joints that neither friction, a spring, a closed loop
    nor, if `driven`, a drive holds. If `varied`, `params` may have the inertia that a model lacks.
    """

    def refuse(model: Structure) -> None:
        refusing_still_points(points)(model)
        if not implicit:
            refuse_unmoved(model)
        elif not (varied or model.loops):
            refuse_unmoved(model, _held_coordinates(model, driven))

    return refuse


def _held_coordinates(model: Structure, driven: bool) -> set[int]:
    """Coordinates that implicit friction, springs or drives hold."""
    tree = tree_of(model)
    held = set(joint_coordinates(tree)) if driven else set()
    for body in tree.bodies:
        effects = zip(body.v_index, body.effects, strict=False)
        held |= {k for k, each in effects if each.viscous or each.spring}
    return held


def refusing_for_explicit_forces(points: Sequence[ContactPoint]) -> Callable[[Structure], None]:
    """Function that raises for such points, and for joints that move no inertia, because the mass
    matrix must be invertible."""
    still = refusing_still_points(points)

    def refuse(model: Structure) -> None:
        still(model)
        refuse_unmoved(model)

    return refuse
