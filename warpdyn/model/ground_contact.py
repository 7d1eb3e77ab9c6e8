"""Contact of a collision shape with the ground and with other shapes, from the descriptions of
simulators (MJCF)."""

from __future__ import annotations

from collections.abc import Mapping
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


class TouchingPair(NamedTuple):
    """Two collision shapes that touch whatever their masks and the joints of their links are, with
    a friction of their own (MJCF's pair).

    `links`: names of their links. `shapes`: their numbers in `collisions` of these links.
    `friction`: sliding coefficient.
    """

    links: tuple[str, str]
    shapes: tuple[int, int]
    friction: float

    def with_renamed_links(self, names: Mapping[str, str]) -> TouchingPair:
        """The pair under new names of links, old ones as keys."""
        a, b = self.links
        return self._replace(links=(names.get(a, a), names.get(b, b)))

    def with_moved_shapes(self, shapes: Mapping[str, tuple[str, int]]) -> TouchingPair:
        """The pair after all shapes of some links have moved to others: by link, the link that has
        them now, and the number of the first one there."""
        moved = [shapes.get(link, (link, 0)) for link in self.links]
        (a, first), (b, second) = moved
        return self._replace(links=(a, b), shapes=(first + self.shapes[0], second + self.shapes[1]))
