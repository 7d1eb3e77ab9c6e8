"""How a shape of a description touches the ground, where the description is a simulator's own."""

from __future__ import annotations

from typing import NamedTuple

STANDARD_WEIGHT = 9.81
"""Weight of one kilogram [N]."""

NOT_SIMULATED = "a Simulation leaves out: "
"""How the remark begins on what of a description is not simulated."""


class GroundContact(NamedTuple):
    """Contact of a shape with the ground, in the numbers that `warpdyn.Ground` has.

    `touches`: the description lets the shape touch its floor. `friction`: coefficient of the pair.
    `sink`: how deep the ground carries the shape under standard gravity [m]. `dissipation`: damping
    in parts of stiffness [s].
    """

    touches: bool
    friction: float
    sink: float
    dissipation: float
