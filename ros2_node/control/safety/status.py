"""Status words of a robot for the diagnostics."""

from __future__ import annotations

from enum import Enum

from .gate import Phase


class Status(Enum):
    """The status of a robot; the value is its word in the diagnostics."""

    WAITING = "waiting for joint_states"
    WAITING_FOR_BASE = "waiting for odom"
    READY = "ready, disabled"
    ENABLED = "enabled"
    FLOATING = "floating"
    STOPPING = "stopping"
    LOST = "state lost"
    FAULT = "fault"


SHOWN = {
    Phase.ENABLED: Status.ENABLED,
    Phase.FLOATING: Status.FLOATING,
    Phase.STOPPING: Status.STOPPING,
    Phase.STOPPING_LOST: Status.STOPPING,
    Phase.STOPPING_FAULT: Status.FAULT,
    Phase.LOST: Status.LOST,
    Phase.LOST_STARTING: Status.LOST,
    Phase.FAULT: Status.FAULT,
}
"""The status of each phase of the gate, except phases where it depends on the states' age."""
