"""Bodies that joints join, and short names of prims."""

from __future__ import annotations

from warpdyn.formats.usd.usd_groups import group_bodies, last_words


def test_bodies_are_joined_in_the_order_of_the_stage() -> None:
    """Whatever the order of the joints; the world, "", joins none."""
    bodies = ["e", "a", "d", "b", "c"]
    ends = [("c", "b"), ("", "d"), ("a", "b"), ("e", "")]
    assert group_bodies(bodies, ends) == [["e"], ["a", "b", "c"], ["d"]]
    assert group_bodies(bodies, []) == [[body] for body in bodies]


def test_a_long_chain_is_one_group() -> None:
    """Joints from its end to its beginning, whose groups grow one by one."""
    bodies = [f"b{k}" for k in range(20_000)]
    ends = [(bodies[k + 1], bodies[k]) for k in reversed(range(len(bodies) - 1))]
    assert group_bodies(bodies, ends) == [bodies]


def test_names_are_last_words_where_they_are_unique() -> None:
    """Else whole paths."""
    paths = ["/r/left/hand", "/r/right/hand", "/r/base"]
    assert list(last_words(paths).values()) == ["/r/left/hand", "/r/right/hand", "base"]
