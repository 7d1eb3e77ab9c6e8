"""The pairs of a group at a configuration, read by number, and the contacts of one of them.

Rows act on the robot's joints, and on one free body for each side of the group that has free bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....algebra.linear import Factors
from ....algebra.rotations import Rotation, axes_about
from ....algebra.row_arrays import RowArray
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, is_number, is_zero, select_less
from ....algebra.spatial import Placement, Vector
from ....model.tree import WORLD, Tree
from ...collision.contact import FAR, Contact, ShapeAt
from ...collision.narrow_phase import contacts
from ..compliant_contact import Surface, compliant_contacts
from ..constraint_sweeps import ConstraintRows
from ..contact_rows import PointContact, components
from ..contact_shapes import placement_in_body
from ..friction_moments import FrictionMoments
from .ground_points import PlacedPoints, ground_contact
from .numbered_bodies import SIX, FreeBodiesAt, FreeBodyAt
from .pair_groups import GroupSide, Mover
from .pair_memory import PairMemory
from .shape_rows import ShapeRow, moving_shapes
from .slot_contact import LAW, SlotContact, coupled_rows
from .slot_rows import RowsAlongTwist, have_one_normal, scaled_rows


class Moment(NamedTuple):
    """The robot in a step: placements of bodies in the world, its velocity before the step and after
    it without constraints, the factors of its mass matrix, and the duration of the step [s]."""

    X: dict[int, Placement]
    v: Sequence[Scalar]
    free: Sequence[Scalar]
    mass: Factors
    dt: float


@dataclass(frozen=True)
class BlockFactors(Factors):
    """Factors of independent mass matrices, one after the other."""

    blocks: tuple[Factors, ...]

    @classmethod
    def of(cls, blocks: Sequence[Factors]) -> BlockFactors:
        """The factors of these blocks."""
        return cls([], [x for block in blocks for x in block.reciprocal], tuple(blocks))

    @property
    def signs(self) -> list[float]:
        """The signs of D of all blocks."""
        return [sign for block in self.blocks for sign in block.signs]

    def solve_transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x = L⁻ᵀ b, for the coordinates of all blocks."""
        rest, x = list(b), []
        for block in self.blocks:
            size = len(block.rows_of_coordinates)
            x += block.solve_transposed(rest[:size])
            rest = rest[size:]
        return x


class Slot(NamedTuple):
    """The content of a slot: the numbers of its free bodies, its contacts, and for each of these the rows
    of the memory that may hold its impulse of the last step. `known`: each contact has a row of its
    own there. Otherwise its row is the one with the contact's feature."""

    bodies: list[Scalar]
    contacts: list[SlotContact]
    earlier: list[list[Scalar]]
    known: bool


class FoundPair(NamedTuple):
    """A pair of a group: its contacts, the numbers of its free bodies and these bodies, the numbers of
    the bodies of both shapes (`PairsAt.number_of`), and the ground's factor on friction coefficients."""

    contacts: Sequence[Contact]
    numbers: list[Scalar]
    bodies: Sequence[FreeBodyAt]
    carriers: tuple[Scalar, Scalar]
    friction: Scalar = 1.0


class PairsAt:
    """The pairs of a group at a configuration.

    `rows`: rows of the mass matrix that contacts act on, except those of free bodies.
    """

    def __init__(self, tree: Tree, memory: PairMemory, moment: Moment, free: FreeBodiesAt):
        self.tree, self.memory, self.moment = tree, memory, moment
        self.group = group = memory.group
        # A group with one pair computes everything about this pair inside its loops. Where the pair
        # is far away in all environments, the loops skip it.
        single = len(group) == 1
        self.free = free = free.read_inside() if single else free
        moved = [b for s in group.sides if s.mover is Mover.JOINTS for b in s.bodies]
        self.carriers = depth_first(tree, sorted({i for b in moved for i in tree.path(b)}))
        self.rows = rows_acted_on(tree, moment.mass, self.carriers, free.bodies)
        self.points: PlacedPoints | None = None
        if group.on_ground and group.sides[1].mover is Mover.JOINTS:
            number = self.carriers.index
            self.points = PlacedPoints(tree, group.sides[1], moment.X, lambda b: [float(number(b))])
        self.moving: list[RowsByNumber] = []
        """The shapes of both sides in the world; none for points on the ground."""
        if not group.on_ground:
            self.moving = [
                moving_shapes(tree, moment.X, side, moment.free, moment.dt, self.carriers, single)
                for side in group.sides
            ]
        self.shapes = [] if self.points else [self._shapes(side) for side in range(2)]

    @property
    def width(self) -> int:
        """Entries of a contact's row: those of joints, then six for each free body."""
        return len(self.rows) + SIX * len(self.group.free_sides)

    @property
    def signs(self) -> list[float]:
        """The signs of D for the entries of a row."""
        signs = self.moment.mass.signs
        return [*(signs[k] for k in self.rows), *[1.0] * (self.width - len(self.rows))]

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop over pairs must have."""
        moving = self.shapes if self.points is None else [self.points]
        tables = [self.memory.members, *moving, self.memory.properties]
        if self.group.free_sides and self.free.rows is not None:
            tables.append(self.free.rows)
        return [array for table in tables for array in table.arrays]

    def _shapes(self, side: int) -> RowsByNumber:
        """The shapes on a side: in the world, or in the free bodies that carry them, with the
        numbers of these."""
        whole = self.group.sides[side]
        if whole.mover is not Mover.FREE_BODY and self.moving:
            return self.moving[side]
        rows = []
        for shape, body in zip(whole.shapes, whole.bodies, strict=True):
            X, number = placement_in_body(self.tree, shape), self.number_of(whole, body)
            rows.append(ShapeRow(X, 0.0, 0.0, number, shape.size).numbers)
        return RowsByNumber(rows)

    def number_of(self, side: GroupSide, body: int) -> float:
        """The number of a body of a side among the free bodies or the carriers; -1 in neither."""
        among = self.free.bodies if side.mover is Mover.FREE_BODY else self.carriers
        return float(among.index(body)) if body in among else -1.0

    def slot(self, number: Scalar) -> Slot:
        """A pair in a slot. Contacts of a number beyond the pairs are far away."""
        found = self._point(number) if self.group.on_ground else self.pair(number)
        known = all(is_number(each.feature) for each in found.contacts)
        return self.slot_of(number, found, [float(c) for c in range(self.group.contacts)], known)

    def slot_of(
        self, number: Scalar, found: FoundPair, places: Sequence[Scalar], known: bool
    ) -> Slot:
        """A slot with contacts of the pair that has this number. `places`: the contacts' numbers in
        the pair. `known`: their features are the same in all steps."""
        signs, surface = self._signs(*found.carriers), self._surface(number, len(places))

        def scale(values: Sequence[Scalar] | None) -> list[Scalar] | None:
            return None if values is None else [x * found.friction for x in values]

        surface = surface._replace(
            friction=[mu * found.friction for mu in surface.friction],
            torsional=scale(surface.torsional),
            rolling=scale(surface.rolling),
        )
        contacts = self._contacts(found.contacts, found.bodies, signs, surface)
        own = [[self.memory.contact(number, place)] for place in places]
        of_pair = [self.memory.contact(number, float(c)) for c in range(self.group.contacts)]
        earlier = own if known else [of_pair] * len(places)
        return Slot(found.numbers, contacts, earlier, known)

    def pair(self, number: Scalar) -> FoundPair:
        """The pair of a number. Contacts of a number beyond the pairs are far away."""
        members, free_sides = self.memory.members[number], self.group.free_sides
        rows = [ShapeRow.of(shapes[m]) for shapes, m in zip(self.shapes, members, strict=True)]
        numbers = [rows[side].number for side in free_sides]
        bodies = {side: self.free[n] for side, n in zip(free_sides, numbers, strict=True)}
        shapes = [self._shape(side, rows[side], bodies.get(side)) for side in range(2)]
        carriers = rows[0].number, rows[1].number
        found = self._far_beyond(number, contacts(*shapes))
        return FoundPair(found, numbers, [*bodies.values()], carriers)

    def reach(self, number: Scalar) -> Scalar:
        """Sum of the distances that the two shapes of a pair can move in a step [m]. It reads the
        arrays of `moving`."""
        members = self.memory.members[number]
        first, second = (
            ShapeRow.of(rows[m]).reach for rows, m in zip(self.moving, members, strict=True)
        )
        return first + second

    def _point(self, number: Scalar) -> FoundPair:
        """A point on the ground, by its number."""
        (_, member), bodies = self.memory.members[number], list[FreeBodyAt]()
        if self.points is not None:
            centre, radius, (carrier,) = self.points[member]
            numbers: list[Scalar] = []
        else:
            row = ShapeRow.of(self.shapes[1][member])
            carrier, (radius,) = row.number, row.size
            numbers, bodies = [carrier], [self.free[carrier]]
            centre = bodies[0].X.point_to_parent(row.placement.p)
        contact, share = ground_contact(centre, radius, self.memory.terrain)
        found = self._far_beyond(number, [contact])
        return FoundPair(found, numbers, bodies, (-1.0, carrier), share)

    def _far_beyond(self, number: Scalar, found: Sequence[Contact]) -> list[Contact]:
        """The contacts of a pair, far away if its number is beyond the pairs."""
        last = len(self.group) - 0.5
        return [replace(each, gap=select_less(number, last, each.gap, FAR)) for each in found]

    def _signs(self, first: Scalar, second: Scalar) -> list[Scalar]:
        """For each carrier 1 if it carries the second shape alone, -1 if the first one alone, else
        0. `first`, `second`: numbers of the bodies of the shapes among the carriers."""
        joints = [side.mover is Mover.JOINTS for side in self.group.sides]
        signs: list[Scalar] = []
        for n, i in enumerate(self.carriers):
            if all(joints) and self._carries_all(i):
                signs.append(0.0)
                continue
            # In depth-first order a body carries those from itself to the last one of its branch.
            last = n + sum(i in self.tree.path(k)[:-1] for k in self.carriers)
            carried = [
                select_less(n - 0.5, x, select_less(x, last + 0.5, 1.0, 0.0), 0.0) if moved else 0.0
                for x, moved in zip((first, second), joints, strict=True)
            ]
            signs.append(carried[1] - carried[0])
        return signs

    def _carries_all(self, i: int) -> bool:
        """True if a carrier carries the shapes of both sides and so does not move them relative to
        each other."""
        return all(i in self.tree.path(body) for side in self.group.sides for body in side.bodies)

    def _shape(self, side: int, row: ShapeRow, body: FreeBodyAt | None) -> ShapeAt:
        """A shape of a side in the world, from its row."""
        like, placement = self.group.sides[side].shapes[0], row.placement
        if body is not None:
            placement = body.X.compose(placement).as_matrix()
        return ShapeAt(like.kind, tuple(row.size), placement, like.vertices)

    def _surface(self, number: Scalar, count: int) -> Surface:
        """The contact properties of a pair, repeated for `count` contacts."""
        friction, stiffness, dissipation, *more = self.memory.properties[number]
        surface = self.memory.surface._replace(
            friction=[friction] * count, stiffness=stiffness, dissipation=dissipation
        )
        if self.group.moments:
            torsional, *more = more
            surface = surface._replace(torsional=[torsional] * count)
        if self.group.moments == 3:
            rolling, *more = more
            surface = surface._replace(rolling=[rolling] * count)
        if surface.soft_normal is not None:
            *more, inverse_mass = more
            surface = surface._replace(
                soft_normal=surface.soft_normal._replace(normal=inverse_mass)
            )
        return surface._replace(restitution=more * count or None)

    def _contacts(
        self,
        touching: Sequence[Contact],
        bodies: Sequence[FreeBodyAt],
        signs: Sequence[Scalar],
        surface: Surface,
    ) -> list[SlotContact]:
        """Contacts with their rows and laws."""
        # The robot and the free bodies of the slot are independent systems: their velocities and
        # masses go one after the other, and so do the entries of each row.
        moment, moments = self.moment, self.group.moments
        size = 3 + moments
        points = [
            PointContact(each.gap, n * size, None, axes_about(each.normal), moments=moments)
            for n, each in enumerate(touching)
        ]
        mass = BlockFactors.of([moment.mass, *(body.mass for body in bodies)])
        rows = self._scaled_rows(touching, bodies, signs, mass)
        free = [*moment.free, *(x for body in bodies for x in body.free)]
        before = [*moment.v, *(x for body in bodies for x in body.before)]
        unmoved = rows.of(free)
        laws = compliant_contacts(points, surface, rows, before, free, moment.dt)
        found = []
        for point, each, law in zip(points, touching, laws, strict=True):
            mine = slice(point.first, point.first + point.rows)
            first = point.first
            coupled = coupled_rows(self.group.moments)
            contact = SlotContact(
                unmoved=unmoved[mine],
                Y=[self._entries(row) for row in rows.Y[mine]],
                coupling=[rows.response(first + a, first + b) for a, b in coupled],
                law=[getattr(law, name) for name in LAW],
                moments=[*law.moments][: FrictionMoments.size(point.moments)]
                if law.moments
                else [],
                normal=[*each.normal],
                feature=each.feature,
                position=tuple(each.position) if self.group.located else (),
            )
            found.append(contact)
        return found

    def _scaled_rows(
        self,
        touching: Sequence[Contact],
        bodies: Sequence[FreeBodyAt],
        signs: Sequence[Scalar],
        mass: Factors,
    ) -> ConstraintRows:
        """The rows of contacts, one contact after the other."""
        moments = self.group.moments
        if have_one_normal(touching):
            first = touching[0]
            axes = axes_about(first.normal)
            twist = self._rows(first.position, axes, bodies, signs, 3)
            offsets = [axes.to_child(each.position - first.position) for each in touching]
            return RowsAlongTwist.at(twist, offsets, moments, mass)
        J: list[list[Scalar]] = []
        for each in touching:
            J += self._rows(each.position, axes_about(each.normal), bodies, signs, moments)
        return scaled_rows(J, mass)

    def _rows(
        self,
        at: Vector,
        axes: Rotation,
        bodies: Sequence[FreeBodyAt],
        signs: Sequence[Scalar],
        moments: int,
    ) -> list[list[Scalar]]:
        """Rows of the velocity of the second shape minus that of the first one, at a point of the
        world and along the axes, then rows of the angular velocities for this many friction
        moments. A row has the entries of all joints, then those of the free bodies."""
        nv = self.tree.nv
        rows: list[list[Scalar]] = [[0.0] * nv for _ in range(3 + moments)]
        for i, sign in zip(self.carriers, signs, strict=True):
            if is_zero(sign):
                continue
            here = Placement(self.moment.X[i].R, self.moment.X[i].p - at)
            for k, S in self.tree.bodies[i].subspace:
                motion = here.motion_to_parent(S)
                velocity = [*axes.to_child(motion.linear)]
                if moments:
                    velocity += components(axes.to_child(motion.angular), moments)
                for row, x in zip(rows, velocity, strict=True):
                    row[k] = row[k] + x * sign
        for side, body in zip(self.group.free_sides, bodies, strict=True):
            sign = 2.0 * side - 1.0
            for row, entries in zip(rows, body.rows(at, axes, moments), strict=True):
                row += [x * sign for x in entries]
        return rows

    def _entries(self, row: Sequence[Scalar]) -> list[Scalar]:
        """The entries of a row that are not always zero."""
        return [*(row[k] for k in self.rows), *row[len(self.moment.mass.reciprocal) :]]


def depth_first(tree: Tree, bodies: Sequence[int]) -> list[int]:
    """Bodies in depth-first order: each is followed by those that it carries. `bodies`: with their
    parents."""

    def branch(i: int) -> list[int]:
        carried = [k for k in bodies if tree.bodies[k].parent == i]
        return [i, *(x for k in carried for x in branch(k))]

    return [x for i in bodies if tree.bodies[i].parent == WORLD for x in branch(i)]


def rows_acted_on(
    tree: Tree, mass: Factors, carriers: Sequence[int], free_bodies: Sequence[int]
) -> tuple[int, ...]:
    """Rows of the mass matrix that contacts act on: those of the carriers or, with closed loops,
    which couple all joints, all but those of `free_bodies`."""
    if carriers and tree.loops:
        numbered = {
            mass.rows_of_coordinates[k] for i in free_bodies for k in tree.bodies[i].v_index
        }
        return tuple(k for k in range(len(mass.reciprocal)) if k not in numbered)
    return tuple(sorted({k for i in carriers for k in tree.bodies[i].v_index}))
