"""The results of one iteration of training."""

from __future__ import annotations

from typing import NamedTuple


class Progress(NamedTuple):
    """One iteration: its rewards, and its cost."""

    iteration: int
    steps: int
    """Environment steps so far."""
    seconds: float
    """Wall-clock time since training began, including earlier processes."""
    cpu_seconds: float
    reward: float
    """Mean reward per second of all environments."""
    rewards: dict[str, float]
    """Reward per second, by name: mean of the episodes that ended; empty if none did."""
    length: float
    """Mean length of the episodes that ended [s]."""
    falls: float
    """Share of the ended episodes that ended before their time."""
    steps_per_second: float
    environment_share: float | None
    """Share of the time that is spent in the environments; None on a GPU, where it is not measured."""
    deviation: float
    """Standard deviation of the policy's actions, mean."""
    nonfinite_actions: int = 0
    """Actions of the policy with a NaN or infinite entry."""
    teacher_distance: float = 0.0
    """Root mean squared difference of the actions from the teacher's, in a distillation."""
