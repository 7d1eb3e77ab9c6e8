"""Four contacts in place of many: the deepest point of a set, and points far from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, select_less

TIE = 2e-6
"""Slope along the first axis by which one of equally low points is the first."""

SAME_POINT = 1e-6
"""Length [m], and share of a triangle's base that its height has, below which a further point is no
point of its own."""

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


def four_points(
    points: Sequence[Candidate], otherwise: Candidate, steepness: float = 0.0
) -> list[Candidate]:
    """The lowest candidate, the one farthest from it, and the two farthest from the line through
    these on its two sides.

    `otherwise`: the first point if no candidate exists. `steepness`: the slope from which a farther
    point counts less because it is higher. 0: heights do not count.
    """
    first = _best(points, lambda p: p.x * TIE + p.y * (0.9 * TIE) - p.height, otherwise)

    def above(p: Candidate) -> Scalar:
        return (p.height - first.height) * (1.0 / steepness)

    def square(p: Candidate) -> Scalar:
        distance = _square(p.x - first.x, p.y - first.y)
        return distance - _square(above(p), 0.0) if steepness else distance

    second = _best(points, square, first)
    a, b = second.x - first.x, second.y - first.y
    length = _square(a, b)

    def area(p: Candidate, sign: float) -> Scalar:
        twice = sign * (a * (p.y - first.y) - b * (p.x - first.x))
        return twice - above(p) * (absolute(a) + absolute(b)) if steepness else twice

    third = _best(points, lambda p: area(p, 1.0), first)
    fourth = _best(points, lambda p: area(p, -1.0), first)
    least = SAME_POINT * length
    return [
        first,
        _if_positive(second, length - SAME_POINT * SAME_POINT),
        _if_positive(third, area(third, 1.0) - least),
        _if_positive(fourth, area(fourth, -1.0) - least),
    ]


def _best(
    points: Sequence[Candidate], score: Callable[[Candidate], Scalar], otherwise: Candidate
) -> Candidate:
    """The candidate with the highest score, the first of equal ones."""
    best, highest = otherwise, NOT_THERE
    for p in points:
        value = select_less(0.5, p.exists, score(p), NOT_THERE)
        pairs = zip(p, best, strict=True)
        best = Candidate(*(select_less(highest, value, new, old) for new, old in pairs))
        highest = maximum(highest, value)
    return best


def _if_positive(point: Candidate, x: Scalar) -> Candidate:
    """The candidate, which exists only if x > 0."""
    return point._replace(exists=select_less(0.0, x, point.exists, 0.0))


def _square(x: Scalar, y: Scalar) -> Scalar:
    return x * x + y * y
