"""The choice of a few points among many."""

from __future__ import annotations

import numpy as np

from warpdyn.algorithms.collision.point_choice import (
    DIRECTIONS,
    Candidate,
    best_candidate,
    choose_candidate,
    contact_points,
    farthest_points,
)

CIRCLE = [
    Candidate(float(np.cos(a)), float(np.sin(a)), 0.0, 1.0, float(k))
    for k, a in enumerate(np.arange(16) * np.pi / 8)
]

LOW = Candidate(0.0, 0.0, -1.0, 1.0, 99.0)


def test_the_best_candidate_is_the_first_of_the_largest() -> None:
    """Only candidates that exist are compared. If none exists, the first is returned."""
    assert best_candidate(CIRCLE, lambda p: p.x).number == 0.0
    assert best_candidate(CIRCLE, lambda p: 1.0).number == 0.0
    missing = [p._replace(exists=0.0) for p in CIRCLE]
    assert best_candidate([*missing, LOW], lambda p: p.x).number == 99.0
    assert best_candidate(missing, lambda p: p.x) == missing[0]
    assert choose_candidate(0.0, 1.0, LOW, CIRCLE[0]) == LOW


def test_four_points_of_a_circle_are_a_quarter_turn_apart() -> None:
    assert np.ptp(np.diff([p.number for p in farthest_points(CIRCLE)])) == 0.0
    assert [p.number for p in farthest_points(CIRCLE)] == [2.0, 6.0, 10.0, 14.0]


def test_high_points_are_not_chosen_with_a_penalty_on_height() -> None:
    """The high points are chosen without the penalty."""
    cylinder = [*CIRCLE, *(Candidate(2 * p.x, 2 * p.y, 1.0, 1.0, 20 + p.number) for p in CIRCLE)]  # type: ignore[operator]
    assert max(p.number for p in farthest_points(cylinder, penalty=5.0)) < 16  # type: ignore[type-var, operator]
    assert min(p.number for p in farthest_points(cylinder)) >= 20  # type: ignore[type-var, operator]


def test_the_lowest_point_replaces_one_only_if_none_is_as_low() -> None:
    """The one in its direction."""
    for k, (x, y) in enumerate(DIRECTIONS):
        wanted = [2.0, 6.0, 10.0, 14.0]
        wanted[k] = 99.0
        chosen = contact_points(CIRCLE, LOW._replace(x=0.1 * x, y=0.1 * y))
        assert [p.number for p in chosen] == wanted
    nearly = contact_points(CIRCLE, LOW._replace(height=-1e-5))
    assert [p.number for p in nearly] == [2.0, 6.0, 10.0, 14.0]
    assert min(p.height for p in nearly) == -1e-5  # type: ignore[type-var]
    as_low = LOW._replace(height=-1e-7)
    assert [p.number for p in contact_points(CIRCLE, as_low)] == [2.0, 6.0, 10.0, 14.0]


def test_each_point_is_chosen_once() -> None:
    """Two points in four directions give two contacts and two that do not exist."""
    chosen = contact_points([CIRCLE[0], CIRCLE[8]], CIRCLE[0])
    assert [p.exists for p in chosen] == [1.0, 1.0, 0.0, 0.0]
    assert {p.number for p in chosen[:2]} == {0.0, 8.0}
