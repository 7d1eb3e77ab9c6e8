"""Commands that stay continuous when parameters or the payload change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STEPS = 16
"""Changes that follow each other within this share of their fading time share one fade."""
MOST_FADES = 64
"""Largest number of fades. Beyond it, the next change is added to the fade with the largest share
left."""


class Fade:
    """An offset that falls linearly to zero from time `start` on, within `duration` [s]."""

    def __init__(self, value: np.ndarray, start: float, duration: float) -> None:
        self._value, self._start, self._duration = value, start, duration

    def share_left(self, now: float) -> float:
        """The share of the offset that is left."""
        if self._duration <= 0.0:
            return 0.0
        return max(1.0 - max(now - self._start, 0.0) / self._duration, 0.0)

    def at(self, now: float) -> np.ndarray:
        return self.share_left(now) * self._value

    def absorb(self, more: np.ndarray, now: float) -> bool:
        """Add another offset, which ends together with this one. False if this one began too long
        ago."""
        if self.share_left(now) < 1.0 - 1.0 / STEPS:
            return False
        self.take(more, now)
        return True

    def take(self, more: np.ndarray, now: float) -> None:
        """Add another offset, which ends together with this one. This one must not have ended."""
        self._value = self._value + more / self.share_left(now)


class Transfer(NamedTuple):
    """A transfer that the next command starts."""

    duration: float
    """Time in which the step fades in [s]."""
    step: np.ndarray | None = None
    """The step of the wanted command that the changes cause. None: all that the next wanted command
    differs from the last command, which includes the robot's motion since then."""


class BumplessTransfer:
    """The sum of all fading offsets. Each cancels the step in the commands that a change would
    cause.

    Each change has its own fade, so that frequent changes do not delay each other. Where the step of
    a change is known, the motion of the robot is in the commands at once. Otherwise the next command
    is the last one, and changes in every cycle would freeze the commands.
    """

    def __init__(self) -> None:
        self._fades: list[Fade] = []
        self.pending: Transfer | None = None
        """The transfer that the next command starts."""
        self.active = False
        """True while a fade is running or pending."""

    def begin(self, duration: float) -> None:
        """Start a transfer at a change: the next command continues from the last one, within `duration` [s]."""
        self.replace(Transfer(max(duration, self.pending.duration if self.pending else 0.0)))

    def replace(self, pending: Transfer | None) -> None:
        """Let the next command start this transfer, or none."""
        self.pending = pending
        self.active = pending is not None or bool(self._fades)

    def clear(self) -> None:
        """Remove all offsets."""
        self._fades.clear()
        self.pending = None
        self.active = False

    def add(self, offset: np.ndarray, now: float, duration: float) -> None:
        """Add an offset, which fades from now on."""
        if duration <= 0.0 or (self._fades and self._fades[-1].absorb(offset, now)):
            return
        if len(self._fades) == MOST_FADES:
            max(self._fades, key=lambda fade: fade.share_left(now)).take(offset, now)
            return
        self._fades.append(Fade(offset, now, duration))
        self.active = True

    def apply(self, wanted: np.ndarray, last: np.ndarray, now: float) -> np.ndarray:
        """The wanted command plus the remaining offsets; `last` is the previous command."""
        self._fades = [fade for fade in self._fades if fade.share_left(now) > 0.0]
        moved = wanted + sum(fade.at(now) for fade in self._fades)
        pending, self.pending = self.pending, None
        if pending is not None:
            begin = last.copy() if pending.step is None else moved - pending.step
            self.add(begin - moved, now, pending.duration)
            moved = begin if pending.duration > 0.0 else moved
        self.active = bool(self._fades)
        return moved
