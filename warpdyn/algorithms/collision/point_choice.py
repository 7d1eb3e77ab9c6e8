"""A few contacts in place of many: points of a set that are far from each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less

DIRECTIONS = ((1.0, 0.9), (-0.9, 1.0), (-1.0, -0.9), (0.9, -1.0))
"""Directions across the normal, counterclockwise, in which the points are the farthest ones. They are
not along axes nor between them, so that corners of regular shapes do not tie."""

AS_LOW = 1e-6
"""Height by which the lowest of the chosen points may be above the lowest candidate [m]."""

ALMOST_AS_LOW = 1e-4
"""Height above the lowest candidate up to which a point takes the height of the lowest one and keeps
its place [m]."""

SAME_POINT = 1e-5
"""Distance at which two candidates count as one [m]."""

NOT_THERE = -1e6
"""The score of a candidate that does not exist."""


class Candidate(NamedTuple):
    """A point that may be chosen: coordinates across the normal, height along it [m], 1 if it
    exists else 0, and a number."""

    x: Scalar
    y: Scalar
    height: Scalar
    exists: Scalar
    number: Scalar


def choose_candidate(x: Scalar, y: Scalar, if_less: Candidate, otherwise: Candidate) -> Candidate:
    """`select_less` of candidates."""
    pairs = zip(if_less, otherwise, strict=True)
    return Candidate(*(select_less(x, y, u, w) for u, w in pairs))


def farthest_points(
    points: Sequence[Candidate],
    directions: Sequence[tuple[Scalar, Scalar]] = DIRECTIONS,
    penalty: float = 0.0,
    lowest: Candidate | None = None,
) -> list[Candidate]:
    """The candidate that is farthest in each direction. A height counts as a distance of `penalty`
    times the height in the opposite direction. `lowest` gives way to one that is as far."""

    def score(direction: tuple[Scalar, Scalar]) -> Callable[[Candidate], Scalar]:
        x, y = direction
        # The lowest may be at the place of another one. Noise would choose between their numbers.
        return lambda p: (
            p.x * x + p.y * y - p.height * penalty - (SAME_POINT if p is lowest else 0.0)
        )

    return [best_candidate(points, score(direction)) for direction in directions]


def contact_points(
    points: Sequence[Candidate],
    lowest: Candidate,
    directions: Sequence[tuple[Scalar, Scalar]] = DIRECTIONS,
    penalty: float = 0.0,
) -> list[Candidate]:
    """The candidate that is farthest in each direction, each once, with the lowest among them.

    Each keeps its place while the set moves little. The lowest takes the place of its direction if
    none of them is as low.
    """
    chosen = farthest_points(points, directions, penalty, lowest)
    for k in range(1, len(chosen)):
        exists = chosen[k].exists
        for before in chosen[:k]:
            apart = absolute(chosen[k].x - before.x) + absolute(chosen[k].y - before.y)
            exists = select_less(SAME_POINT, apart, exists, 0.0)
        chosen[k] = chosen[k]._replace(exists=exists)
    least: Scalar = -NOT_THERE
    for p in chosen:
        least = minimum(least, select_less(0.5, p.exists, p.height, -NOT_THERE))
    # The place of the direction in which the lowest is the least behind the farthest.
    ways = [
        (lowest.x - p.x) * x + (lowest.y - p.y) * y
        for p, (x, y) in zip(chosen, directions, strict=True)
    ]
    nearest = ways[0]
    for way in ways[1:]:
        nearest = maximum(nearest, way)
    limit = lowest.height + AS_LOW
    limits = [select_less(way, nearest, -NOT_THERE, limit) for way in ways]
    found = []
    for limit, p in zip(limits, chosen, strict=True):
        # A point that is almost as low keeps its place, so that noise does not change it.
        near = p._replace(height=lowest.height, exists=1.0)
        lower = choose_candidate(p.height, lowest.height + ALMOST_AS_LOW, near, lowest)
        found.append(choose_candidate(limit, least, lower, p))
    return found


def best_candidate(points: Sequence[Candidate], score: Callable[[Candidate], Scalar]) -> Candidate:
    """The existing candidate with the highest score, the first of equal ones. If none exists, the
    first candidate."""
    best = points[0]
    highest: Scalar = NOT_THERE
    for p in points:
        value = select_less(0.5, p.exists, score(p), NOT_THERE)
        best = choose_candidate(highest, value, p, best)
        highest = maximum(highest, value)
    return best
