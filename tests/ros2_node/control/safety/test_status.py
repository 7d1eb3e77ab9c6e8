"""The words for where a robot stands."""

from __future__ import annotations

from ros2_node.control.report import WARNED
from ros2_node.control.safety.gate import Phase
from ros2_node.control.safety.status import SHOWN, Status


def test_words_differ_and_those_that_warn_are_statuses():
    """The diagnostics are read by people and by programs: a word names one status."""
    assert len({status.value for status in Status}) == len(Status) == 8
    assert set(WARNED) < set(Status) and Status.ENABLED not in WARNED and Status.READY not in WARNED


def test_all_phases_have_a_status_but_those_that_depend_on_the_states_age():
    assert set(Phase) - set(SHOWN) == {Phase.OFF, Phase.STARTING}
    assert set(Status) - set(SHOWN.values()) == {
        Status.WAITING,
        Status.WAITING_FOR_BASE,
        Status.READY,
    }
