"""The time between two blends that begin at the last command."""

from __future__ import annotations

import math

FLOAT_TIME = 0.05
"""Time in which commands change to gravity torques at a collision, to rest at the end of a
reference or at a joint's limit, and when an external wrench appears or disappears [s]. It is also
the shortest time between two events of one kind that blend the commands."""


class BlendSpacing:
    """Events of one kind, of which at most one in FLOAT_TIME blends the commands.

    A blend begins at the last command. With a blend in every cycle the commands would stay
    constant while the robot moves.
    """

    def __init__(self) -> None:
        self._last = -math.inf
        """The last time at which `may_blend` was true [s]."""

    def may_blend(self, now: float) -> bool:
        """True if an event at this time [s] may blend the commands. A time before that of the last
        blend says nothing about the time between them, so the event may."""
        if 0.0 <= now - self._last < FLOAT_TIME:
            return False
        self._last = now
        return True
