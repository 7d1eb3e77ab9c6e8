"""Parts of a link's inertia whose numbers may be symbols: together they add to a body what the link
adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from algebra_draws import close, inertia, placement, vector

from warpdyn.algebra.spatial import as_matrix
from warpdyn.model.link_inertia import Point, Spread, all_numbers
from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols


@pytest.fixture(params=range(4))
def draw(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def spread(draw: np.random.Generator) -> Spread:
    return Spread(as_matrix(placement(draw).R), inertia(draw).J)


def test_a_point_and_a_spread_add_up_to_the_link(draw) -> None:
    """Mass at the centre and second moments about it give the link's inertia in the body."""
    X, com, mass = placement(draw).as_matrix(), vector(draw), 1.7
    J = inertia(draw).J
    point, around = Point(X, mass, com), Spread(as_matrix(X.R), J)
    both = point.inertia + around.inertia
    centre = X.point_to_parent(com)
    close(list(both.h), list(centre * mass))
    c = np.array(list(centre))
    turned = np.array([list(row) for row in X.R.symmetric_to_parent(J).rows])
    wanted = turned + mass * (c @ c * np.eye(3) - np.outer(c, c))
    close([list(row) for row in both.J.rows], wanted)


def test_a_spread_transforms_like_its_inertia(draw) -> None:
    """The joint's placement rotates it in the parent. It has no mass to shift."""
    part, X = spread(draw), placement(draw)
    close(part.in_parent(X).inertia.J.entries, X.inertia_to_parent(part.inertia).J.entries)


def test_spreads_in_the_same_axes_add(draw) -> None:
    """If shares_axes is true, the moments of the sum are the sum of the moments."""
    part, other = spread(draw), spread(draw)
    same = Spread(part.R, other.J)
    assert part.shares_axes(same) and not part.shares_axes(other)
    total = Spread(part.R, part.J + same.J)
    close(total.second_moments.entries, (part.second_moments + same.second_moments).entries)


def test_an_inertia_is_known_if_all_its_entries_are_numbers() -> None:
    """One symbol makes an inertia unknown while recording."""
    mass, *_ = input_symbols(Graph(), "mass", 1)
    point = Point(placement(np.random.default_rng(0)), 1.0, vector(np.random.default_rng(1)))
    assert all_numbers(point.inertia) and not all_numbers(replace(point, mass=mass).inertia)
