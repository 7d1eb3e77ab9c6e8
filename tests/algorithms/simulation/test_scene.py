"""Records of a simulation step: contacts with memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warpdyn.algorithms.simulation.scene import Contacts


def test_the_memory_of_pairs_comes_before_that_of_points() -> None:
    """One list for all groups. A scene without contacts in slots has an empty one."""
    pairs: Any = SimpleNamespace(memory=["first pairs", "second pairs"])
    points: Any = SimpleNamespace(memory=["points"])
    both: Any = Contacts(None, None, None, pairs, points)
    assert both.memory == ["first pairs", "second pairs", "points"]
    alone: Any = Contacts(None, None, None, points=points)
    assert alone.memory == ["points"]
    assert not Contacts(None, None, None).memory
