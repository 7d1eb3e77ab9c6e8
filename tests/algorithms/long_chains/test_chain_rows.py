"""Chains as rows: frames, runs and periods."""

from __future__ import annotations

import pytest
from long_chains import SWEPT, branched_chain, chain, snake
from robots import ROBOTS, Robot

import warpdyn as wd
from warpdyn.algorithms.long_chains import chain_rows
from warpdyn.algorithms.long_chains.chain_frames import about_x, entries_of
from warpdyn.algorithms.long_chains.chain_rows import (
    chain_bodies,
    inertia_entries,
    inertia_of,
    is_long_chain,
    period,
    runs,
    sweep_chain,
)
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD


def test_inertia_entries_are_converted_back() -> None:
    entries = [float(k) for k in range(10)]
    assert inertia_entries(inertia_of(entries)) == entries


@pytest.mark.parametrize("name", SWEPT)
def test_runs_contain_each_body_once(name: str) -> None:
    """The runs go from the ends to the root: each body comes after all bodies that it carries."""
    tree = tree_of(SWEPT[name]())
    order = [i for run in runs(tree) for i in run]
    assert sorted(order) == list(range(len(tree.bodies)))
    place = {i: n for n, i in enumerate(order)}
    assert all(
        body.parent == WORLD or place[i] < place[body.parent] for i, body in enumerate(tree.bodies)
    )


def test_the_period_of_a_chain_is_that_of_its_axes() -> None:
    """The axes of a snake repeat after two bodies. Those of a random chain have one form."""

    def of(model: wd.Model) -> int:
        tree = tree_of(model)
        return period(chain_bodies(tree, [0.3] * tree.nq))

    assert of(snake(21)) == 2
    assert of(chain(12)) == 1
    assert of(snake(4)) == 1


def test_a_turn_about_x_is_read_from_its_cosine_and_sine_alone() -> None:
    """A row that begins as a turn about x gives a rotation with constant zeros, which symbols in
    the other entries would hide."""
    c, s, other = 0.8, 0.6, 7.0
    turn = [1.0, 0.0, 0.0, 0.0, c, other, other, s, other]
    R = chain_rows.placement_of([1.0, 0.0, *turn, 0.1, 0.2, 0.3]).R
    assert entries_of(R) == entries_of(about_x(c, s))
    turn[3] = other
    R = chain_rows.placement_of([1.0, 0.0, *turn, 0.1, 0.2, 0.3]).R
    assert entries_of(R) == turn


@pytest.mark.parametrize("count", [0, 1, 2, 7, 12, 13])
@pytest.mark.parametrize("from_root", [False, True])
def test_a_chain_in_groups_gives_the_same_sweep(count: int, from_root: bool) -> None:
    """Groups of bodies and remaining bodies visit all rows in order."""
    rows = [[float(k)] for k in range(count)]
    values, (last,) = sweep_chain(
        lambda s, row: ([2.0 * s[0] + row[0]], [s[0], row[0]]), [1.0], rows, 2, from_root
    )
    state, wanted = 1.0, []
    for (x,) in rows:
        wanted.append([state, x])
        state = 2.0 * state + x
    assert (values, last) == (wanted, state)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_robots_of_the_test_suite_are_not_long_chains(robot: Robot) -> None:
    """Their programs do not change."""
    assert not is_long_chain(tree_of(robot.model))


def test_a_snake_of_64_joints_is_a_long_chain() -> None:
    assert is_long_chain(tree_of(snake(64)))
    assert not is_long_chain(tree_of(branched_chain()))


def test_the_number_of_carrying_pairs_decides_what_is_a_long_chain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pairs of a body and one that carries it: 1,225 for 50 joints in a row."""
    assert chain_rows.ENTRIES == 1200
    tree = tree_of(snake(20))
    for entries, long in ((190, True), (191, False)):
        monkeypatch.setattr(chain_rows, "ENTRIES", entries)
        assert is_long_chain(tree) is long
