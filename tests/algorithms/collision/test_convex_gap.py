"""Separation of convex shapes by their support points, compared with Qhull."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import ZERO, Vector
from warpdyn.algorithms.collision import convex_gap
from warpdyn.algorithms.collision.contact import direction
from warpdyn.algorithms.collision.convex_gap import Core, convex_separation

ROUND_OFF = 1e-10


def corners(draw: np.random.Generator, count: int) -> tuple[Vector, ...]:
    return tuple(Vector(*x) for x in at.vertices(draw, count))


def test_the_support_point_is_the_farthest_of_all_points() -> None:
    """The support point is compared with all points that the core lists."""
    draw = np.random.default_rng(0)
    edges = tuple(Vector(*x) for x in draw.normal(size=(2, 3)).tolist())
    core = Core(Vector(1.0, 2.0, 3.0), edges, corners(draw, 6))
    assert len(core.points()) == 24
    for u in draw.normal(size=(20, 3)):
        along = [at.array(x) @ u for x in core.points()]
        assert at.array(core.farthest(Vector(*u))) @ u == pytest.approx(max(along))
    assert at.array(core.middle) == pytest.approx(np.mean([at.array(x) for x in core.points()], 0))


def separation(a: Core, b: Core) -> tuple[float, np.ndarray, np.ndarray]:
    found = convex_separation(a, b, [direction(b.middle - a.middle)[1]])
    return found.separation, at.array(found.normal), at.array(found.nearest)  # type: ignore[return-value]


@pytest.mark.parametrize("count", [4, 12, 32])
def test_the_distance_of_separate_shapes_is_exact(count: int) -> None:
    """The point of the first shape is a nearest one."""
    draw = np.random.default_rng(count)
    apart = 0
    for _ in range(20):
        a, shift = corners(draw, count), Vector(*(draw.normal(size=3) * 0.2).tolist())
        b = tuple(x + shift for x in corners(draw, count))
        points = [np.array([at.array(x) for x in core]) for core in (a, b)]
        wanted = at.distance_of_hulls(*points)
        if wanted > 0:
            apart += 1
            gap, n, x = separation(Core(ZERO, (), a), Core(ZERO, (), b))
            assert gap == pytest.approx(wanted, abs=ROUND_OFF)
            assert n @ x == pytest.approx((points[0] @ n).max())
            assert at.distance_of_hulls(points[0], x[None]) < ROUND_OFF
            assert at.distance_of_hulls(points[1], (x + gap * n)[None]) < 1e-8
    assert apart > 5


def test_the_depth_of_slightly_overlapping_shapes_is_exact() -> None:
    """Cores of 12 corners overlap by up to 1 cm."""
    draw = np.random.default_rng(3)
    shallow = 0
    for _ in range(150):
        a, shift = corners(draw, 12), Vector(*(draw.normal(size=3) * 0.12).tolist())
        b = tuple(x + shift for x in corners(draw, 12))
        wanted = at.distance_of_hulls(*(np.array([at.array(x) for x in core]) for core in (a, b)))
        if -0.01 < wanted < 0:
            shallow += 1
            gap, _, _ = separation(Core(ZERO, (), a), Core(ZERO, (), b))
            assert gap == pytest.approx(wanted, abs=ROUND_OFF)
    assert shallow > 5


def test_deeply_overlapping_shapes_touch_after_the_separation() -> None:
    """It may not be the shortest one."""
    draw = np.random.default_rng(4)
    for _ in range(10):
        a, b = corners(draw, 12), corners(draw, 12)
        first, second = (np.array([at.array(x) for x in core]) for core in (a, b))
        gap, n, _ = separation(Core(ZERO, (), a), Core(ZERO, (), b))
        assert gap <= at.distance_of_hulls(first, second) + ROUND_OFF < 0
        assert (second @ n).min() - (first @ n).max() == pytest.approx(gap)


def test_points_and_segments_are_accepted_as_shapes() -> None:
    """Two points at the same place have no direction between them. Their normal has length one."""
    point = Core(Vector(0.3, 0.0, 0.0))
    assert separation(Core(ZERO), point)[0] == pytest.approx(0.3)
    segment = Core(ZERO, (Vector(0.0, 0.0, 1.0),))
    assert separation(segment, point)[0] == pytest.approx(0.3)
    gap, n, _ = separation(Core(ZERO), Core(ZERO))
    assert gap == 0.0 and np.linalg.norm(n) == pytest.approx(1.0)


def test_the_search_begins_with_the_best_of_the_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two boxes are apart along y, by 1. The separation before the first iteration is that of y,
    wherever y stands among the starts."""
    monkeypatch.setattr(convex_gap, "ITERATIONS", 0)
    axes = [Vector(*x) for x in np.eye(3).tolist()]
    a = Core(ZERO, (axes[0] * 0.5, axes[1] * 0.5, axes[2] * 0.5), (ZERO,))
    b = Core(Vector(0.0, 2.0, 0.0), a.edges, (ZERO,))
    for starts in permutations(axes):
        found = convex_separation(a, b, starts)
        assert found.separation == pytest.approx(1.0) and [*found.normal] == [0.0, 1.0, 0.0]
