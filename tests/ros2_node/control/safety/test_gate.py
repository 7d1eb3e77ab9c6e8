"""The enable gate: every event in every phase, and transitions that must not exist."""

from __future__ import annotations

import itertools
import random

import pytest

from ros2_node.control.safety.gate import (
    CLOSED,
    EXPLAINED,
    FAULTS,
    LOSSES,
    OPEN,
    REFUSED,
    STARTING,
    STOPPING,
    TRANSITIONS,
    Gate,
    GateEvent,
    Phase,
)

REASONS = {GateEvent.FAIL: "a fault", GateEvent.LOSE: "a loss", GateEvent.COLLIDE: "a collision"}

TABLE = """
              OFF      START    ENABLED  FLOAT    STOP     STOP_L   STOP_F   LOST     LOST_S   FAULT
    ENABLE    ENABLED  ENABLED  ENABLED  -        -        -        -        ENABLED  ENABLED  -
    DISABLE   OFF      OFF      STOP     STOP     STOP     STOP_L   STOP_F   LOST     LOST     FAULT
    START     START    START    -        -        -        -        -        LOST_S   LOST_S   -
    WITHDRAW  OFF      OFF      ENABLED  FLOAT    STOP     STOP_L   STOP_F   LOST     LOST     FAULT
    COLLIDE   -        -        FLOAT    -        -        -        -        -        -        -
    LOSE      -        -        STOP_L   STOP_L   -        -        -        -        -        -
    FAIL      FAULT    FAULT    STOP_F   STOP_F   STOP_F   STOP_F   STOP_F   FAULT    FAULT    FAULT
    STOPPED   -        -        -        -        OFF      LOST     FAULT    -        -        -
    RESET     OFF      START    ENABLED  FLOAT    STOP     STOP     STOP     OFF      START    OFF
"""
"""The phase after each event (row) in each phase (column); `-` is a refusal."""
SHORT = {
    "START": Phase.STARTING,
    "FLOAT": Phase.FLOATING,
    "STOP": Phase.STOPPING,
    "STOP_L": Phase.STOPPING_LOST,
    "STOP_F": Phase.STOPPING_FAULT,
    "LOST_S": Phase.LOST_STARTING,
}


def expected_transitions() -> dict[tuple[GateEvent, Phase], Phase | None]:
    """TABLE by event and phase. None means a refusal."""
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    names = {phase.name: phase for phase in Phase} | SHORT
    return {
        (GateEvent[event], names[before]): names.get(after)
        for event, *row in rows
        for before, after in zip(head, row, strict=True)
    }


def at(phase: Phase) -> Gate:
    """A gate in a phase."""
    gate = Gate()
    gate.phase, gate.reason = phase, "before" if phase in EXPLAINED else ""
    return gate


def test_the_table_names_every_event_and_every_phase():
    assert set(expected_transitions()) == set(itertools.product(GateEvent, Phase))


@pytest.mark.parametrize("event", GateEvent)
@pytest.mark.parametrize("phase", Phase)
def test_every_event_in_every_phase_follows_the_table(event, phase):
    """An event moves the gate as TABLE says, or it is refused with a text and changes nothing."""
    gate, after = at(phase), expected_transitions()[event, phase]
    refusal = gate.refusal(event)
    assert gate.send(event, REASONS.get(event, "")) is (after is not None)
    if after is None:
        assert refusal and gate.phase is phase
        assert gate.reason == ("before" if phase in EXPLAINED else "")
        assert phase not in TRANSITIONS[event] and phase in REFUSED[event]
    else:
        assert not refusal and gate.phase is after
        assert phase not in REFUSED.get(event, {})
        if after not in EXPLAINED:
            assert gate.reason == ""
        else:
            assert gate.reason == REASONS.get(event, "before")


def test_groups_of_phases_are_disjoint():
    """Each phase is open or closed. The groups of closed phases do not overlap."""
    assert set(OPEN) | set(CLOSED) == set(Phase) and not set(OPEN) & set(CLOSED)
    for group in (STOPPING, STARTING, FAULTS, LOSSES):
        assert set(group) < set(CLOSED)
    assert not set(STOPPING) & set(STARTING) and not set(FAULTS) & set(LOSSES)
    assert set(CLOSED) - set(STOPPING) - set(STARTING) - set(FAULTS) - set(LOSSES) == {Phase.OFF}


def successors(phase: Phase, without: GateEvent) -> set[Phase]:
    """All phases that sequences of events reach, without one of the events."""
    reached = {phase}
    while True:
        more = {
            row[each]
            for event, row in TRANSITIONS.items()
            if event is not without
            for each in reached
            if each in row
        }
        if more <= reached:
            return reached
        reached |= more


@pytest.mark.parametrize("phase", FAULTS)
def test_no_fault_is_left_without_reset(phase):
    """No sequence of other events ends a fault, so that nothing is enabled or floats."""
    assert successors(phase, without=GateEvent.RESET) <= set(FAULTS)


@pytest.mark.parametrize("phase", CLOSED)
def test_no_closed_gate_opens_without_enable(phase):
    assert not successors(phase, without=GateEvent.ENABLE) & set(OPEN)


@pytest.mark.parametrize("phase", STOPPING)
def test_a_stop_sequence_ends_before_anything_else_begins(phase):
    assert successors(phase, without=GateEvent.STOPPED) <= set(STOPPING)


@pytest.mark.parametrize("phase", OPEN)
def test_an_open_gate_closes_only_by_a_stop_sequence(phase):
    """The only closed phases that follow an open one are those that stop."""
    after = {row[phase] for row in TRANSITIONS.values() if phase in row}
    assert after - set(OPEN) <= set(STOPPING)


def test_a_floating_robot_must_be_disabled_before_it_is_enabled():
    """No single event leads from floating to enabled; a stop sequence is between them."""
    assert Phase.ENABLED not in {row.get(Phase.FLOATING) for row in TRANSITIONS.values()}


@pytest.mark.parametrize("phase", Phase)
def test_nothing_starts_after_disable_or_a_fault_without_start(phase):
    """No starting phase follows until START comes again."""
    for event in (GateEvent.DISABLE, GateEvent.FAIL):
        gate = at(phase)
        gate.send(event)
        assert not successors(gate.phase, without=GateEvent.START) & set(STARTING)


@pytest.mark.parametrize("phase", FAULTS)
def test_a_robot_with_a_fault_waits_for_enable_after_reset(phase):
    """A START during the latched fault has no effect after ~/reset."""
    gate = at(phase)
    for event in (GateEvent.START, GateEvent.STOPPED, GateEvent.START, GateEvent.RESET):
        gate.send(event)
    assert gate.phase is Phase.OFF


def test_refusals_of_enable_name_the_remedy():
    """The texts are the answers of ~/enable."""
    told = {phase: at(phase).refusal(GateEvent.ENABLE) for phase in Phase}
    latched = "a fault is latched, call ~/reset first: before"
    stopping = "the stop sequence is still running"
    assert {phase: text for phase, text in told.items() if text} == {
        Phase.FLOATING: "floating after a before: call ~/enable with false first",
        Phase.STOPPING: stopping,
        Phase.STOPPING_LOST: stopping,
        Phase.STOPPING_FAULT: latched,
        Phase.FAULT: latched,
    }


class Flags:
    """The gate as six flags. It was implemented so before it became a state machine."""

    def __init__(self) -> None:
        self.enabled = self.starting = self.stopping = False
        self.floating = self.lost = self.fault = ""

    def send(self, event: GateEvent, reason: str) -> None:
        if event is GateEvent.ENABLE:
            if not (self.fault or self.stopping or self.floating or self.enabled):
                self.lost, self.enabled, self.starting = "", True, False
        elif event is GateEvent.START:
            if not (self.enabled or self.stopping or self.fault):
                self.starting = True
        elif event is GateEvent.WITHDRAW:
            self.starting = False
        elif event is GateEvent.COLLIDE:
            if self.enabled and not self.floating:
                self.floating = reason
        elif event is GateEvent.STOPPED:
            self.stopping = False
        elif event is GateEvent.RESET:
            self.fault = self.lost = ""
        elif event is not GateEvent.LOSE or self.enabled:
            if event is GateEvent.FAIL:
                self.fault = reason
            elif event is GateEvent.LOSE:
                self.lost = reason
            self.starting = False
            if self.enabled:
                self.enabled, self.stopping, self.floating = False, True, ""


def test_random_event_sequences_agree_with_the_six_flags():
    """Ten thousand random sequences end in the same state with the same text."""
    chance = random.Random(1)
    seen = set()
    for _ in range(10_000):
        gate, flags = Gate(), Flags()
        for k in range(12):
            event = chance.choice(list(GateEvent))
            reason = f"{event.value} {k}" if event in REASONS else ""
            gate.send(event, reason)
            flags.send(event, reason)
            seen.add(gate.phase)
            assert (gate.phase in OPEN) == flags.enabled
            assert (gate.phase in STARTING) == flags.starting
            assert (gate.phase in STOPPING) == flags.stopping
            assert (gate.phase in FAULTS) == bool(flags.fault)
            assert (gate.phase in LOSSES) == bool(flags.lost and not flags.fault)
            assert (gate.phase is Phase.FLOATING) == bool(flags.floating)
            assert gate.reason == (flags.fault or flags.lost or flags.floating)
    assert seen == set(Phase)
