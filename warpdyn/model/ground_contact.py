"""Contact of a collision shape with the ground and with other shapes, from the descriptions of
simulators (MJCF)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

STANDARD_WEIGHT = 9.81
"""Weight of one kilogram [N]."""

NOT_SIMULATED = "a Simulation leaves out: "
"""First words of the remark that lists the parts of a description that are not simulated."""


class ContactFriction(NamedTuple):
    """Friction of a contact: the sliding coefficient, and those of the moments about the normal and
    about the tangents [m]."""

    sliding: float
    torsional: float = 0.0
    rolling: float = 0.0

    def of_condim(self, condim: int) -> ContactFriction:
        """The friction that MJCF's condim leaves: 1: none, 3: sliding, 4: torsional too, 6: all."""
        sliding, torsional, rolling = self
        return ContactFriction(
            sliding if condim > 1 else 0.0,
            torsional if condim > 3 else 0.0,
            rolling if condim > 4 else 0.0,
        )


class ContactSoftness(NamedTuple):
    """How a contact gives way in MuJoCo (MJCF's solref and solimp).

    `stiffness`, `rate` and `impedance`: as in `LimitSoftness`. `normal`, `tangential`: R of the normal
    and of the tangents for an impedance of one half, in parts of the inverse mass. Both are 1 with
    elliptic cones; with pyramidal ones (`is_pyramidal`) they depend on the friction. `along`: the
    direction of the first edges of a pyramid in the link's frame; None for the ground's x axis.
    `is_bounded`: as in `LimitSoftness`.
    """

    stiffness: float
    rate: float
    impedance: tuple[float, float, float, float, float]
    normal: float = 1.0
    tangential: float = 1.0
    is_pyramidal: bool = False
    along: tuple[float, float, float] | None = None
    is_bounded: bool = True


class GroundContact(NamedTuple):
    """Contact of a shape with the ground, in the parameters of `warpdyn.Ground`.

    `touches`: the description lets the shape touch its floor. `friction`: coefficient of the pair.
    `sink`: depth [m] to which the shape sinks into the ground under standard gravity.
    `dissipation`: damping in parts of stiffness [s]. `torsional`, `rolling`: coefficients of its
    moments [m]. `margin`: the distance from the ground at which the shape begins to touch it [m].
    `softness`: MuJoCo's law of the contact.
    """

    touches: bool
    friction: float
    sink: float
    dissipation: float
    torsional: float = 0.0
    rolling: float = 0.0
    margin: float = 0.0
    softness: ContactSoftness | None = None


class LimitSoftness(NamedTuple):
    """How a joint limit gives way in MuJoCo (MJCF's solreflimit, solimplimit and margin).

    Beyond the limit by r the joint has the acceleration (1 - d) a0 + d (-b v - K d r), where a0 is
    the one without the limit. `stiffness`: K [1/s²]. `rate`: b [1/s]. `impedance`: the numbers of
    d(r), MJCF's solimp: smallest and largest d, the width [rad, m] over which it grows, the midpoint
    and the power of its curve. `margin`: the limit acts this far before the end of the range [rad, m].
    `is_bounded`: MuJoCo's steps give it a time constant of at least two steps; False for a solref of
    stiffness and damping, and with refsafe="disable".
    """

    stiffness: float
    rate: float
    impedance: tuple[float, float, float, float, float]
    margin: float = 0.0
    is_bounded: bool = True


class ShapeTouch(NamedTuple):
    """Which shapes a shape touches, and how.

    `kinds`, `others`: MJCF's masks contype and conaffinity. Two shapes touch if `kinds` of one and
    `others` of the other have a common bit. `friction`: its coefficients, of which a contact has
    those of its `condim`. `priority`: the friction and condim of the shape with the higher priority
    count; of equal ones, the larger numbers.
    """

    kinds: int
    others: int
    friction: ContactFriction
    priority: int
    condim: int = 3


class TouchingPair(NamedTuple):
    """Two collision shapes that touch whatever their masks and the joints of their links are, with
    a friction of their own (MJCF's pair).

    `links`: names of their links. `shapes`: their numbers in `collisions` of these links.
    `friction`: its coefficients.
    """

    links: tuple[str, str]
    shapes: tuple[int, int]
    friction: ContactFriction

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
