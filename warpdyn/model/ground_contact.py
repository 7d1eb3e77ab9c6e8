"""Contact of a collision shape with the ground and with other shapes, from the descriptions of
simulators (MJCF)."""

from __future__ import annotations

from typing import NamedTuple

STANDARD_WEIGHT = 9.81
"""Weight of one kilogram [N]."""

NOT_SIMULATED = "a Simulation leaves out: "
"""First words of the remark that lists the parts of a description that are not simulated."""


class GroundContact(NamedTuple):
    """Contact of a shape with the ground, in the parameters of `warpdyn.Ground`.

    `touches`: the description lets the shape touch its floor. `friction`: coefficient of the pair.
    `sink`: depth [m] to which the shape sinks into the ground under standard gravity.
    `dissipation`: damping in parts of stiffness [s].
    """

    touches: bool
    friction: float
    sink: float
    dissipation: float


class ShapeTouch(NamedTuple):
    """Which shapes a shape touches, and how.

    `kinds`, `others`: MJCF's masks contype and conaffinity. Two shapes touch if the kinds of one
    have a bit in common with the others of the other one. `friction`: sliding coefficient.
    `priority`: the friction of the shape with the higher priority counts; of equal ones, the larger
    friction.
    """

    kinds: int
    others: int
    friction: float
    priority: int
