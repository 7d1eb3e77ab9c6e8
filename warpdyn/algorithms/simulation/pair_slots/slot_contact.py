"""A contact in a slot: the numbers with which sweeps compute its impulse.

With M^ = Lᵀ D L, a row J and an impulse l, the velocities are v = v_free + L⁻¹ |D|⁻½ w with the
reaction w = S Y l, Y = |D|⁻½ L⁻ᵀ Jᵀ. A contact moves at J v = J v_free + Yᵀ w. S has the signs of D,
which are 1 but for the equations of closed loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....algebra.rotations import Rotation, axes_about
from ....algebra.scalar import Scalar, is_zero
from ....algebra.spatial import Vector
from ..compliant_contact import CompliantContact
from ..constraint_sweeps import RowByRow, sparse_dot
from ..contact_rows import PointContact
from ..friction_moments import FrictionMoments

LAW = ("friction", "R_n", "R_t", "normal_share", "tangent_share", "target")
"""Numbers of a `CompliantContact` that its turn needs."""


class SlotContact(NamedTuple):
    """A contact in a slot.

    `unmoved`: its velocity J v_free [m/s], then the angular velocities of its friction moments
    [rad/s]. `Y`: its rows, as many. `coupling`: velocities of rows for unit impulses on those that
    take their turn earlier (`coupled_rows`). `law`: the numbers of LAW. `moments`: those of its
    `FrictionMoments`, if it has some. `normal`, `feature`: as in `Contact`. `position`: in the world
    [m], empty if it is not kept.
    """

    unmoved: list[Scalar]
    Y: list[list[Scalar]]
    coupling: list[Scalar]
    law: list[Scalar]
    moments: list[Scalar]
    normal: list[Scalar]
    feature: Scalar
    position: Sequence[Scalar] = ()

    @property
    def numbers(self) -> list[Scalar]:
        """All numbers, as a row of an array."""
        rows = [x for row in self.Y for x in row]
        laws = *self.law, *self.moments
        place = *self.normal, self.feature, *self.position
        return [*self.unmoved, *rows, *self.coupling, *laws, *place]

    @classmethod
    def size(cls, width: int, moments: int = 0, located: bool = False) -> int:
        """The count of its numbers. `width`: of a row. `moments`: the number of friction
        moments. `located`: its position is kept."""
        laws = len(LAW) + FrictionMoments.size(moments)
        place = 3 + 1 + 3 * located
        return (3 + moments) * (1 + width) + len(coupled_rows(moments)) + laws + place

    @classmethod
    def of_numbers(cls, numbers: Sequence[Scalar], width: int, moments: int = 0) -> SlotContact:
        """The contact with these numbers."""
        rest = iter(numbers)

        def take(count: int) -> list[Scalar]:
            return [next(rest) for _ in range(count)]

        return cls(
            unmoved=take(3 + moments),
            Y=[take(width) for _ in range(3 + moments)],
            coupling=take(len(coupled_rows(moments))),
            law=take(len(LAW)),
            moments=take(FrictionMoments.size(moments)),
            normal=take(3),
            feature=next(rest),
            position=tuple(rest),
        )

    @property
    def axes(self) -> Rotation:
        """Rotation from its axes to the world's."""
        return axes_about(Vector(*self.normal))

    def update(self, before: Sequence[Scalar], reaction: Sequence[Scalar]) -> list[Scalar]:
        """Its impulse after its turn. `before`: the impulse so far; `reaction`: w on the coordinates
        of its rows."""
        v = [u + short_dot(y, reaction) for u, y in zip(self.unmoved, self.Y, strict=True)]
        law = dict(zip(LAW, self.law, strict=True))
        moments = len(self.Y) - 3
        at = PointContact(0.0, 0, None, moments=moments)
        of_moments = FrictionMoments(*self.moments) if moments else None
        contact = CompliantContact(at, G_nn=0.0, moments=of_moments, **law)
        G: list[list[Scalar]] = [[0.0] * len(self.Y) for _ in self.Y]
        for (row, earlier), x in zip(coupled_rows(moments), self.coupling, strict=True):
            G[row][earlier] = x
        return contact.update(before, RowByRow(v, G))[0]

    def push(
        self, reaction: Sequence[Scalar], impulse: Sequence[Scalar], signs: Sequence[float]
    ) -> list[Scalar]:
        """The reaction after an impulse at the contact. `signs`: S."""
        pushed = list(reaction)
        for y, x in zip(self.Y, impulse, strict=True):
            pushed = [w + e * x * sign for w, e, sign in zip(pushed, y, signs, strict=True)]
        return pushed


def coupled_rows(moments: int) -> list[tuple[int, int]]:
    """Pairs of a row and an earlier one: its impulse changes before the velocity of the first row is
    read. The normal has its turn first, then both tangents, then the moment about the normal, then
    those about the tangents."""
    turns = [[2], [0, 1]]
    if moments:
        turns += [[2 + moments], [3, 4] if moments == 3 else []]
    return [
        (row, earlier)
        for n, rows in enumerate(turns)
        for row in rows
        for before in turns[:n]
        for earlier in before
    ]


def short_dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of a_i b_i in several short sums, which a processor computes at the same time. Entries of
    a that are zero are left out."""
    entries = [(x, y) for x, y in zip(a, b, strict=True) if not is_zero(x)]
    if not entries:
        return 0.0
    a, b = zip(*entries, strict=True)
    sums = [sparse_dot(a[k : k + 3], b[k : k + 3]) for k in range(0, len(a), 3)]
    while len(sums) > 1:
        pairs = [sums[k : k + 2] for k in range(0, len(sums), 2)]
        sums = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return sums[0]
