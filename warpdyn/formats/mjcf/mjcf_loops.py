"""MJCF: constraints that close loops. If a file leaves out one end, this reader computes it from
the drawing of the robot (qpos0), as MuJoCo does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from ...algebra.quaternions import quaternion_rotation
from ...algebra.spatial import HERE, IDENTITY, Placement, Vector
from ...model.closed_loops.loop import Loop
from ...model.poses_and_limits import Pose
from .mjcf_bodies import WORLD, BodyElement
from .mjcf_values import Attributes, Element, MjcfValues

End = tuple[str, Placement]
"""A body and a placement in it."""

SOFTNESS = ("solref", "solimp")
"""Attributes of MuJoCo's springs along a constraint."""


class MjcfLoops:
    """Loops between the bodies of a file."""

    def __init__(self, values: MjcfValues, bodies: Mapping[str, BodyElement]) -> None:
        self.values, self.bodies = values, bodies
        self.sites = {
            str(element.get("name")): (
                body.name,
                X.compose(values.shape_placement(element, written)).as_matrix(),
            )
            for body in bodies.values()
            for element, written, X in body.sites
            if element.get("name")
        }

    def loop(self, element: Element, tag: str, written: Attributes) -> Loop:
        """The loop of a <connect> or a <weld>."""
        remark_softness(self.values, element, tag, written)
        if "site1" in written or "site2" in written:
            first, second = (self._site(element, written, key) for key in ("site1", "site2"))
        elif tag == "connect":
            first, second = self._anchored_ends(element, written)
        else:
            first, second = self._welded_ends(element, written)
        # MuJoCo multiplies a weld's angle by `torquescale`: 0 leaves the rotation free.
        turns = tag == "weld" and self.values.number(element, "torquescale", written, 1.0) != 0.0
        name = written.get("name", "")
        (link_a, a), (link_b, b) = sorted((first, second), key=lambda end: end[0] == WORLD)
        other = None if link_b == WORLD else link_b
        if turns:
            return Loop.weld(link_a, Pose.of(a), other, Pose.of(b), name)
        return Loop.connect(link_a, [*a.p], other, [*b.p], name)

    def _anchored_ends(self, element: Element, written: Attributes) -> tuple[End, End]:
        """Ends at `anchor` of body1, and where it is in body2 in the drawing."""
        if "anchor" not in written:
            raise self.values.refusal(
                element, 'it has no anchor; write anchor="x y z", or site1, site2'
            )
        one, two = self._bodies(element, written)
        at = Placement(IDENTITY, self.values.vector(element, "anchor", written))
        return (one, at), (two, self._between(two, one).compose(at).as_matrix())

    def _welded_ends(self, element: Element, written: Attributes) -> tuple[End, End]:
        """Ends at `anchor` of body2, and at `relpose` in body1 or where the anchor is in the
        drawing."""
        one, two = self._bodies(element, written)
        anchor = Placement(IDENTITY, self.values.vector(element, "anchor", written))
        numbers = [0.0] * 7
        if "relpose" in written:
            numbers = self.values.numbers(element, "relpose", written, 7)
        w, *xyz = numbers[3:]
        length = sum(x * x for x in (w, *xyz)) ** 0.5
        if length < 1e-15:
            return (one, self._between(one, two).compose(anchor).as_matrix()), (two, anchor)
        R = quaternion_rotation([x / length for x in (*xyz, w)])
        return (one, Placement(R, Vector(*numbers[:3]))), (two, anchor)

    def _site(self, element: Element, written: Attributes, key: str) -> End:
        name = written.get(key)
        if name is None:
            raise self.values.refusal(element, f'it has no {key}; write {key}="..."')
        if name not in self.sites:
            raise self.values.refusal(
                element, f'its {key} "{name}" does not exist; correct the name'
            )
        return self.sites[name]

    def _bodies(self, element: Element, written: Attributes) -> tuple[str, str]:
        names = written.get("body1"), written.get("body2", WORLD)
        for key, name in zip(("body1", "body2"), names, strict=True):
            if name is None:
                raise self.values.refusal(element, f'it has no {key}; write {key}="..."')
            if name not in self.bodies:
                raise self.values.refusal(
                    element, f'its {key} "{name}" does not exist; correct the name'
                )
        if names[0] == names[1]:
            raise self.values.refusal(
                element, f'body1 and body2 are both "{names[0]}"; they must differ'
            )
        return str(names[0]), names[1]

    def _between(self, base: str, name: str) -> Placement:
        """The placement of a body in another in the drawing."""
        return self._placement(base).inverse().compose(self._placement(name)).as_matrix()

    def _placement(self, name: str) -> Placement:
        """The placement of a body in the world in the drawing."""
        X = HERE
        while name != WORLD:
            X = self.bodies[name].X.compose(X).as_matrix()
            name = self.bodies[name].parent
        return X


def remark_softness(values: MjcfValues, element: Element, tag: str, written: Attributes) -> None:
    """Remark that a constraint is rigid here if the file makes it soft."""
    if any(key in written for key in SOFTNESS):
        values.ignore(f"solref and solimp of <{tag}>, which is rigid here", element)


def coupling(
    joint: str,
    other: str | None,
    polynomial: Sequence[float],
    zeros: Mapping[str, float],
    name: str,
) -> Loop:
    """The loop of q1 - ref1 = c0 + c1 (q2 - ref2) + ..., as powers of q2."""
    if other is None:
        return Loop.couple(joint, None, (zeros[joint] + polynomial[0],), name)
    powers = [0.0] * len(polynomial)
    for n, c in enumerate(polynomial):
        for k in range(n + 1):
            powers[k] += c * comb(n, k) * (-zeros[other]) ** (n - k)
    powers[0] += zeros[joint]
    return Loop.couple(joint, other, powers, name)
