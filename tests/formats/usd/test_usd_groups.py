"""Groups of bodies that joints connect, and short names of prims."""

from __future__ import annotations

from warpdyn.formats.usd.usd_groups import group_bodies, last_words


def test_groups_have_the_order_of_the_stage() -> None:
    """The order of the joints does not matter. The world, "", connects no bodies."""
    bodies = ["e", "a", "d", "b", "c"]
    ends = [("c", "b"), ("", "d"), ("a", "b"), ("e", "")]
    assert group_bodies(bodies, ends) == [["e"], ["a", "b", "c"], ["d"]]
    assert group_bodies(bodies, []) == [[body] for body in bodies]


def test_a_long_chain_is_one_group() -> None:
    """The joints go from its end to its beginning, so that the groups grow one by one."""
    bodies = [f"b{k}" for k in range(20_000)]
    ends = [(bodies[k + 1], bodies[k]) for k in reversed(range(len(bodies) - 1))]
    assert group_bodies(bodies, ends) == [bodies]


def test_unique_last_words_of_paths_are_names() -> None:
    """Prims with the same last word have their whole paths."""
    paths = ["/r/left/hand", "/r/right/hand", "/r/base"]
    assert list(last_words(paths).values()) == ["/r/left/hand", "/r/right/hand", "base"]
