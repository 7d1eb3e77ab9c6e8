"""Clocks of a gait: phases, their observation, and which feet should swing."""

from __future__ import annotations

from typing import Any

import numpy as np


def advance_phase(phase: Any, seconds: float, period: float) -> Any:
    """A phase after a step, from 0 to 1; `period` is the time of a whole cycle [s]."""
    later = phase + seconds / period
    return later - np.floor(later)


def is_moving(command: Any, least: float = 1e-3) -> Any:
    """1 if the length of the vector of commanded speeds is larger than `least`, else 0: the clock of a
    robot that should stand stops."""
    return np.where(np.sum(command * command) > least**2, 1.0, 0.0)


def clock(phase: Any, moving: Any = 1.0) -> Any:
    """Sine and cosine of a phase (2,), zero for a robot that should stand: an observation without
    the jump from 1 to 0."""
    angle = 2.0 * np.pi * phase
    return np.stack([moving * np.sin(angle), moving * np.cos(angle)])


def swing_shares(phase: Any, offsets: Any, moving: Any = 1.0) -> Any:
    """Shares by which the feet should be lifted, 0 to 1: the positive half of a sine wave (feet,).

    offsets: of the feet's phases, from 0 to 1: (0, 0.5, 0.5, 0) is a trot.
    """
    angles = 2.0 * np.pi * (phase + np.asarray(offsets, float))
    return moving * np.maximum(np.sin(angles), 0.0)


def gait_match(touch: Any, swing: Any, least: float = 0.2) -> Any:
    """The share of the feet that touch in their stance and are in the air in their swing, 0 to 1.

    touch: (feet,) 1 or 0. swing: `swing_shares`; a foot swings above `least`.
    """
    in_air = np.where(swing > least, 1.0, 0.0)
    wrong = np.abs(touch + in_air - 1.0)
    return 1.0 - np.sum(wrong) / len(touch)
