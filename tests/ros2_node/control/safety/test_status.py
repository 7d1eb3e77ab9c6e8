"""The words for the status of a robot."""

from __future__ import annotations

from ros2_node.control.report import WARNED
from ros2_node.control.safety.gate import Phase
from ros2_node.control.safety.status import SHOWN, Status


def test_status_words_are_unique_and_warnings_are_statuses():
    """People and programs read the diagnostics, so a word names one status."""
    assert len({status.value for status in Status}) == len(Status) == 8
    assert set(WARNED) < set(Status) and Status.ENABLED not in WARNED and Status.READY not in WARNED


def test_only_phases_that_depend_on_the_states_age_have_no_fixed_status():
    assert set(Phase) - set(SHOWN) == {Phase.OFF, Phase.STARTING}
    assert set(Status) - set(SHOWN.values()) == {
        Status.WAITING,
        Status.WAITING_FOR_BASE,
        Status.READY,
    }
