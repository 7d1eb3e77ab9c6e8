"""The intersection of two polygons, of a segment and a polygon, of two segments, and of points."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algorithms.collision.common_polygon import common_points, facing_polygon
from warpdyn.algorithms.collision.point_choice import Candidate

SQUARE = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]


def candidates(points: list) -> list[Candidate]:  # type: ignore[type-arg]
    return [Candidate(*map(float, p), 1.0, float(k)) for k, p in enumerate(points)]


def common(a: list, b: list) -> dict[tuple[float, float], float]:  # type: ignore[type-arg]
    """Heights, by position, of the points that two shapes have in common."""
    found = common_points(facing_polygon(candidates(a)), facing_polygon(candidates(b)))
    return {
        (round(float(p.x), 5) + 0.0, round(float(p.y), 5) + 0.0): float(p.height)  # type: ignore[arg-type]
        for p in found
        if p.exists
    }


def lift(points: list, height: float, scale: float = 1.0, shift: float = 0.0) -> list:  # type: ignore[type-arg]
    return [(x * scale + shift, y * scale + shift, z + height) for x, y, z in points]


def test_the_surface_interpolates_the_heights_of_its_corners() -> None:
    """Two triangles between the corners give the heights of the surface."""
    corners = [(-1.0, -1.0, 0.1), (1.0, -1.0, 0.2), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.1)]
    polygon = facing_polygon(candidates(corners))
    assert len({(p.x, p.y) for p in polygon.corners}) == 4
    for x, y, z in corners:
        assert polygon.height(x, y) == pytest.approx(z)
    assert min(abs(polygon.height(0.0, 0.0) - z) for z in (0.05, 0.15)) < 1e-9  # type: ignore[operator, type-var]


def test_the_intersection_of_two_squares() -> None:
    inner = common(SQUARE, lift(SQUARE, 0.3, 0.5))
    assert set(inner) == {(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)}
    assert list(inner.values()) == pytest.approx([0.3] * 4)
    assert set(common(lift(SQUARE, 0.3, 0.5), SQUARE)) == set(inner)
    overlap = common(SQUARE, lift(SQUARE, 0.3, shift=0.5))
    for corner in ((-0.5, -0.5), (1.0, -0.5), (1.0, 1.0), (-0.5, 1.0)):
        assert min(np.hypot(*(np.array(corner) - p)) for p in overlap) < 1e-5


def test_a_segment_over_a_square_is_clipped_at_its_edges() -> None:
    """The order of the segment and the square does not matter."""
    segment = [(-3.0, 0.2, 0.1), (0.5, 0.2, 0.1)]
    for found in (common(SQUARE, segment), common(segment, SQUARE)):
        assert min(x for x, _ in found) == pytest.approx(-1.0, abs=1e-5)
        assert max(x for x, _ in found) == pytest.approx(0.5, abs=1e-5)
        assert list(found.values()) == pytest.approx([0.1] * len(found))


def test_crossed_segments_have_one_common_point() -> None:
    """Segments whose lines cross beyond an end have no common point."""
    one = [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    crossing = common(one, [(0.5, -1.0, 0.2), (0.5, 1.0, 0.2)])
    assert crossing and all(np.hypot(x - 0.5, y) < 1e-5 for x, y in crossing)
    assert not common(one, [(1.5, -1.0, 0.2), (1.5, 1.0, 0.2)])


def test_a_point_inside_a_polygon_is_the_common_point() -> None:
    """No corner of the polygon is."""
    assert set(common(SQUARE, [(0.2, 0.3, 0.4)])) == {(0.2, 0.3)}
    assert set(common([(0.2, 0.3, 0.4)], SQUARE)) == {(0.2, 0.3)}
    assert not common(SQUARE, [(2.0, 0.3, 0.4)]) and not common([(2.0, 0.3, 0.4)], SQUARE)
