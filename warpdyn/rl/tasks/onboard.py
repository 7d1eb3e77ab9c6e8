"""Observations of a policy that has an IMU and encoders alone."""

from __future__ import annotations

ONBOARD_HISTORY = {"policy": 5}
"""Number of observations that the policy remembers in place of the base's velocity."""

ONBOARD_SENSED = ("turning", "gravity", "joints", "speeds")
"""Terms that an IMU and encoders measure."""


def onboard_groups(
    *seen: str, hidden: tuple[str, ...] = ("velocity",), hidden_last: tuple[str, ...] = ()
) -> dict[str, tuple[str, ...]]:
    """Terms of the policy's and of the critic's observation.

    seen: terms that both observe. hidden, hidden_last: terms before and after them that only the
    critic observes, by default the velocity of the base, which no sensor measures. If the critic
    observes what the task without `groups` does, in the same order, then a policy of that task can
    be the teacher.
    """
    return {"policy": seen, "critic": (*hidden, *seen, *hidden_last)}
