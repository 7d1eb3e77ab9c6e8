"""Distances of many pairs: the search of the nearest points is one loop for pairs of the same
kinds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.collision.distance import distance, is_searched
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_distances import pair_distances
from warpdyn.algorithms.simulation.pair_gaps import shapes_in_world
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("panda")
TREE = tree_of(MODEL)
Q = [0.3, -0.5, 0.7, -1.4, 0.2, 1.6, 0.1, 0.02, 0.03][: MODEL.nq]
LINKS = ("panda_link2", "panda_link4", "panda_link6", "panda_hand")
CUBE = tuple(itertools.product((-0.05, 0.05), (-0.04, 0.04), (-0.03, 0.03)))
WEDGE = ((0.0, 0.0, 0.09), *CUBE[:4])


def shape(link: str | None, kind: str) -> ContactShape:
    """A shape of a kind on a link."""
    size = {"mesh": (), "box": (0.05, 0.04, 0.03), "sphere": (0.05,), "capsule": (0.03, 0.05)}[kind]
    vertices = () if kind != "mesh" else WEDGE if link == "panda_hand" else CUBE
    return ContactShape(link, kind, size, (0.01, 0.02, 0.03), vertices=vertices)


def pairs_of(one: str, other: str, count: int = 6) -> list[ContactPair]:
    """Pairs of shapes of two kinds on different links."""
    combined = itertools.islice(itertools.combinations(LINKS, 2), count)
    return [ContactPair(shape(a, one), shape(b, other)) for a, b in combined]


def program_of(pairs: list[ContactPair], slopes: bool = False) -> Program:
    """The program of the distances, or of the derivative of their sum."""

    def text(q: list[Any]) -> list[Any]:
        found = pair_distances(TREE, q, pairs)
        return pullback(q, found, [1.0] * len(found)) if slopes else found

    return record(text, {"q": (MODEL.nq,)})


KINDS = [("mesh", "mesh"), ("sphere", "mesh"), ("mesh", "capsule"), ("box", "box"), ("box", "mesh")]


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_distances_in_a_loop_are_those_of_single_pairs(kinds: tuple[str, str]) -> None:
    """Meshes have different numbers of vertices. A pair on the ground stays in its place."""
    pairs = pairs_of(*kinds)
    pairs.insert(2, ContactPair(GROUND, shape("panda_hand", "sphere")))
    placed = shapes_in_world(TREE, Q, pairs)
    wanted = [distance(placed[a], placed[b]) for a, b in pairs]
    np.testing.assert_allclose(pair_distances(TREE, Q, pairs), wanted, rtol=0, atol=1e-12)
    found = program_of(pairs).on_numbers({"q": Q})["out"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kinds", [("mesh", "mesh"), ("box", "box")], ids="-".join)
def test_derivatives_of_distances_in_a_loop_are_those_of_single_pairs(
    kinds: tuple[str, str],
) -> None:
    """They do not go through the loop."""
    pairs = pairs_of(*kinds, count=3)
    single = [program_of([pair], slopes=True).on_numbers({"q": Q})["out"] for pair in pairs]
    found = program_of(pairs, slopes=True).on_numbers({"q": Q})["out"]
    np.testing.assert_allclose(found, np.sum(single, axis=0), rtol=0, atol=1e-8)


@pytest.mark.parametrize("kinds", [("mesh", "mesh"), ("box", "box")], ids="-".join)
def test_the_program_has_one_search_for_all_pairs(kinds: tuple[str, str]) -> None:
    """A further pair adds the numbers that it keeps, a single pair's search many statements."""
    one, two, six = (len(program_of(pairs_of(*kinds, count=n)).listing()) for n in (1, 2, 6))
    assert (six - two) / 4 < 0.1 * one


def test_pairs_without_a_search_have_statements_of_their_own() -> None:
    """They are shorter than reading shapes by number."""
    assert not program_of(pairs_of("sphere", "capsule")).routines
    assert program_of(pairs_of("mesh", "mesh")).routines
    assert is_searched("box", "box") and is_searched("sphere", "mesh")
    assert not is_searched("plane", "mesh") and not is_searched("box", "sphere")
