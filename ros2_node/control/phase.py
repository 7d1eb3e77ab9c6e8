"""Where a robot stands between its messages."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where a robot stands; the value is its word in the diagnostics."""

    WAITING = "waiting for joint_states"
    WAITING_FOR_BASE = "waiting for odom"
    READY = "ready, disabled"
    ENABLED = "enabled"
    FLOATING = "floating"
    STOPPING = "stopping"
    LOST = "state lost"
    FAULT = "fault"
