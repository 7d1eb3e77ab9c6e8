"""The words for where a robot stands."""

from __future__ import annotations

from ros2_node.control.phase import Phase
from ros2_node.control.report import WARNED


def test_words_differ_and_those_that_warn_are_phases():
    """The diagnostics are read by people and by programs: a word names one phase."""
    assert len({phase.value for phase in Phase}) == len(Phase) == 8
    assert set(WARNED) < set(Phase) and Phase.ENABLED not in WARNED and Phase.READY not in WARNED
