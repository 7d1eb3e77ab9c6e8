"""The enable gate of one robot: a state machine with one phase, one table and named refusals."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The positions of the gate."""

    OFF = "off"
    STARTING = "starting"
    """Off; the next valid state enables the robot."""
    ENABLED = "enabled"
    FLOATING = "floating"
    """Commands are gravity torques, after a collision, until ~/enable is called with false."""
    STOPPING = "stopping"
    STOPPING_LOST = "stopping, state lost"
    STOPPING_FAULT = "stopping, fault"
    LOST = "state lost"
    """Off because the state was not reliable; ~/enable clears it."""
    LOST_STARTING = "state lost, starting"
    FAULT = "fault"
    """Off because of a fault; only ~/reset clears it. Then ~/enable, or a new START, enables the
    robot."""


class GateEvent(Enum):
    """The events that move the gate."""

    ENABLE = "enable"
    DISABLE = "disable"
    START = "start"
    """The robot shall be enabled by its next valid state."""
    WITHDRAW = "withdraw"
    """The robot shall not be enabled by a state."""
    COLLIDE = "collide"
    """A collision to which the robot reacts by floating."""
    LOSE = "lose"
    """The state is no longer reliable."""
    FAIL = "fail"
    STOPPED = "stopped"
    """The last command of a stop sequence was computed."""
    RESET = "reset"


OPEN = (Phase.ENABLED, Phase.FLOATING)
"""Phases in which computed commands are sent."""
CLOSED = tuple(phase for phase in Phase if phase not in OPEN)
STOPPING = (Phase.STOPPING, Phase.STOPPING_LOST, Phase.STOPPING_FAULT)
"""Phases in which the commands of a stop sequence are sent."""
STARTING = (Phase.STARTING, Phase.LOST_STARTING)
"""Phases that wait for a valid state."""
FAULTS = (Phase.STOPPING_FAULT, Phase.FAULT)
"""Phases with a latched fault."""
LOSSES = (Phase.STOPPING_LOST, Phase.LOST, Phase.LOST_STARTING)
"""Phases with a latched loss of the state."""
EXPLAINED = (*FAULTS, *LOSSES, Phase.FLOATING)
"""Phases that have a reason."""

TRANSITIONS: dict[GateEvent, dict[Phase, Phase]] = {
    GateEvent.ENABLE: {
        Phase.OFF: Phase.ENABLED,
        Phase.STARTING: Phase.ENABLED,
        Phase.ENABLED: Phase.ENABLED,
        Phase.LOST: Phase.ENABLED,
        Phase.LOST_STARTING: Phase.ENABLED,
    },
    GateEvent.DISABLE: {
        Phase.OFF: Phase.OFF,
        Phase.STARTING: Phase.OFF,
        Phase.ENABLED: Phase.STOPPING,
        Phase.FLOATING: Phase.STOPPING,
        Phase.STOPPING: Phase.STOPPING,
        Phase.STOPPING_LOST: Phase.STOPPING_LOST,
        Phase.STOPPING_FAULT: Phase.STOPPING_FAULT,
        Phase.LOST: Phase.LOST,
        Phase.LOST_STARTING: Phase.LOST,
        Phase.FAULT: Phase.FAULT,
    },
    GateEvent.START: {
        Phase.OFF: Phase.STARTING,
        Phase.STARTING: Phase.STARTING,
        Phase.LOST: Phase.LOST_STARTING,
        Phase.LOST_STARTING: Phase.LOST_STARTING,
    },
    GateEvent.WITHDRAW: {
        Phase.OFF: Phase.OFF,
        Phase.STARTING: Phase.OFF,
        Phase.ENABLED: Phase.ENABLED,
        Phase.FLOATING: Phase.FLOATING,
        Phase.STOPPING: Phase.STOPPING,
        Phase.STOPPING_LOST: Phase.STOPPING_LOST,
        Phase.STOPPING_FAULT: Phase.STOPPING_FAULT,
        Phase.LOST: Phase.LOST,
        Phase.LOST_STARTING: Phase.LOST,
        Phase.FAULT: Phase.FAULT,
    },
    GateEvent.COLLIDE: {Phase.ENABLED: Phase.FLOATING},
    GateEvent.LOSE: {Phase.ENABLED: Phase.STOPPING_LOST, Phase.FLOATING: Phase.STOPPING_LOST},
    GateEvent.FAIL: {
        Phase.OFF: Phase.FAULT,
        Phase.STARTING: Phase.FAULT,
        Phase.ENABLED: Phase.STOPPING_FAULT,
        Phase.FLOATING: Phase.STOPPING_FAULT,
        Phase.STOPPING: Phase.STOPPING_FAULT,
        Phase.STOPPING_LOST: Phase.STOPPING_FAULT,
        Phase.STOPPING_FAULT: Phase.STOPPING_FAULT,
        Phase.LOST: Phase.FAULT,
        Phase.LOST_STARTING: Phase.FAULT,
        Phase.FAULT: Phase.FAULT,
    },
    GateEvent.STOPPED: {
        Phase.STOPPING: Phase.OFF,
        Phase.STOPPING_LOST: Phase.LOST,
        Phase.STOPPING_FAULT: Phase.FAULT,
    },
    GateEvent.RESET: {
        Phase.OFF: Phase.OFF,
        Phase.STARTING: Phase.STARTING,
        Phase.ENABLED: Phase.ENABLED,
        Phase.FLOATING: Phase.FLOATING,
        Phase.STOPPING: Phase.STOPPING,
        Phase.STOPPING_LOST: Phase.STOPPING,
        Phase.STOPPING_FAULT: Phase.STOPPING,
        Phase.LOST: Phase.OFF,
        Phase.LOST_STARTING: Phase.STARTING,
        Phase.FAULT: Phase.OFF,
    },
}
"""The next phase for each event and phase. The pairs that are missing here are in REFUSED."""

IS_LATCHED = "a fault is latched, call ~/reset first: {reason}"
IS_STOPPING = "the stop sequence is still running"
IS_OPEN = "the gate is open"
IS_CLOSED = "the gate is closed"
REFUSED: dict[GateEvent, dict[Phase, str]] = {
    GateEvent.ENABLE: {
        Phase.FLOATING: "floating after a {reason}: call ~/enable with false first",
        Phase.STOPPING: IS_STOPPING,
        Phase.STOPPING_LOST: IS_STOPPING,
        Phase.STOPPING_FAULT: IS_LATCHED,
        Phase.FAULT: IS_LATCHED,
    },
    # A robot that remembered START through a fault would enable itself on ~/reset.
    GateEvent.START: dict.fromkeys(OPEN, IS_OPEN)
    | dict.fromkeys(STOPPING, IS_STOPPING)
    | {Phase.FAULT: IS_LATCHED},
    GateEvent.COLLIDE: dict.fromkeys(CLOSED, IS_CLOSED) | {Phase.FLOATING: "floating already"},
    GateEvent.LOSE: dict.fromkeys(CLOSED, IS_CLOSED),
    GateEvent.STOPPED: {p: "no stop sequence is running" for p in Phase if p not in STOPPING},
}
"""The reason why an event is refused in a phase; the phase does not change."""


class Gate:
    """The phase of one robot, and its reason if there is one."""

    def __init__(self) -> None:
        self.phase = Phase.OFF
        self.reason = ""
        """The fault, the loss or the collision that led to a phase of EXPLAINED; else empty."""

    def refusal(self, event: GateEvent) -> str:
        """The reason why the event would be refused now; empty if it would not."""
        return REFUSED.get(event, {}).get(self.phase, "").format(reason=self.reason)

    def send(self, event: GateEvent, reason: str = "") -> bool:
        """Move to the next phase. False, without any change, if the event is refused.

        reason: the text of a fault, a loss or a collision.
        """
        phase = TRANSITIONS[event].get(self.phase)
        if phase is None:
            return False
        self.phase = phase
        self.reason = (reason or self.reason) if phase in EXPLAINED else ""
        return True
