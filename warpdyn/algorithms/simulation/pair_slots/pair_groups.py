"""Pairs in groups: those of one group have the same kinds of shapes, moved in the same way, so that
one loop computes them. Pairs of a robot's limbs with free bodies are groups of each limb, if its
rows are much shorter than those of all limbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ....model.tree import WORLD, Tree
from ..contact_rows import free_roots
from ..contact_shapes import ContactPair, ContactShape, body_of
from .numbered_bodies import SIX

BRANCHES = 6
"""The largest number of branches of a robot whose points on the ground are groups of their own."""

SHORTER = 0.6
"""Ratio of a limb's rows to those of all limbs up to which the limbs' pairs with free bodies are
groups of their own. Contacts of a finger with a cube have 10 entries in a row, those of four fingers
22. Pairs with the world stay together: few of them touch, and each group adds to the program."""

SPARE = 2
"""Slots of a group in addition to one for each body that its pairs move."""


class Mover(Enum):
    """What moves the shapes on a side of a group."""

    NOTHING = "nothing"
    FREE_BODY = "free body"
    JOINTS = "joints"


@dataclass(frozen=True)
class GroupSide:
    """One side of a group: its shapes, and the body of each. The shapes have one kind, and the same
    vertices if they are meshes."""

    mover: Mover
    shapes: tuple[ContactShape, ...]
    bodies: tuple[int, ...]


@dataclass(frozen=True)
class PairGroup:
    """Pairs that share slots.

    `pairs`: their numbers among all pairs. `members`: for each, the numbers of its two shapes on
    the two `sides`. `contacts`: of one pair. `slots`: the largest number of pairs that may touch at
    a time. `moments`: the number of friction moments of each contact. `located`: positions of
    contacts are kept. `on_ground`: the pairs are points on the ground (`ground_points`). `alike`: the
    number of pairs of the same kinds, on all limbs.
    """

    sides: tuple[GroupSide, GroupSide]
    pairs: tuple[int, ...]
    members: tuple[tuple[int, int], ...]
    contacts: int
    slots: int
    moments: int = 0
    located: bool = False
    on_ground: bool = False
    alike: int = 0

    @property
    def free_sides(self) -> list[int]:
        """The sides whose shapes are on free bodies."""
        return [k for k in range(2) if self.sides[k].mover is Mover.FREE_BODY]

    def __len__(self) -> int:
        return len(self.pairs)


def pair_groups(
    tree: Tree, pairs: Sequence[ContactPair], slots: int | None = None, moments: Sequence[int] = ()
) -> list[PairGroup]:
    """The groups of pairs. `slots`: the number of slots of each group; None: two more than the
    bodies that it moves. A group has at most as many slots as pairs. `moments`: the number of
    friction moments of each pair; empty if none has some."""
    free = _uncoupled_bodies(tree)
    by_key: dict[tuple, list[int]] = {}
    for n, pair in enumerate(pairs):
        key = *(_key(tree, free, shape) for shape in pair), moments[n] if moments else 0
        by_key.setdefault(key, []).append(n)
    return [
        replace(_group(tree, free, pairs, limb, slots, key[-1]), alike=len(numbers))
        for key, numbers in by_key.items()
        for limb in _limbs(tree, free, pairs, numbers)
    ]


def point_groups(
    tree: Tree, pairs: Sequence[ContactPair], moments: Sequence[int] = ()
) -> list[PairGroup]:
    """The groups of pairs of the ground and a point, each pair with a slot. Points on one branch of
    a robot, such as a leg, are a group: their rows have no entries of other branches."""
    branches = _branches(tree, [body_of(tree, pair[1]) for pair in pairs])
    found = []
    for numbers in branches:
        of_branch = [pairs[n] for n in numbers]
        groups = pair_groups(
            tree, of_branch, len(pairs), [moments[n] for n in numbers] if moments else ()
        )
        for each in groups:
            places = tuple(numbers[n] for n in each.pairs)
            found.append(replace(each, pairs=places, on_ground=True))
    return found


def _limbs(
    tree: Tree, free: set[int], pairs: Sequence[ContactPair], numbers: Sequence[int]
) -> list[list[int]]:
    """Numbers of pairs of the same kinds by the branch of the robot that they move. One list if that
    does not make rows much shorter, or if the pairs are not of a robot and free bodies."""
    movers = [_mover(free, body_of(tree, shape)) for shape in pairs[numbers[0]]]
    if {*movers} != {Mover.JOINTS, Mover.FREE_BODY}:
        return [[*numbers]]
    side = movers.index(Mover.JOINTS)
    bodies = [body_of(tree, pairs[n][side]) for n in numbers]
    branches = _branches(tree, bodies)

    def length(moved: Sequence[int]) -> int:
        carriers = {i for body in moved for i in tree.path(body)}
        return SIX + sum(len(tree.bodies[i].v_index) for i in carriers)

    longest = max(length([bodies[k] for k in branch]) for branch in branches)
    if longest > SHORTER * length(bodies):
        return [[*numbers]]
    return [[numbers[k] for k in branch] for branch in branches]


def _branches(tree: Tree, bodies: Sequence[int]) -> list[list[int]]:
    """Numbers of points, given by their bodies, by branch: the bodies of a branch carry each other.
    One list if there are many branches, or closed loops, which couple them."""
    last: list[int] = []
    branch_of: dict[int, int] = {}
    for body in sorted(set(bodies)):
        on_path = (n for n, end in enumerate(last) if end in tree.path(body))
        branch = next(on_path, len(last))
        last[branch : branch + 1] = [body]
        branch_of[body] = branch
    if len(last) > BRANCHES or tree.loops:
        return [[*range(len(bodies))]]
    return [[n for n, b in enumerate(bodies) if branch_of[b] == k] for k in range(len(last))]


def _key(tree: Tree, free: set[int], shape: ContactShape) -> tuple:
    return shape.kind, shape.vertices, _mover(free, body_of(tree, shape))


def _mover(free: set[int], body: int) -> Mover:
    if body == WORLD:
        return Mover.NOTHING
    return Mover.FREE_BODY if body in free else Mover.JOINTS


def _group(
    tree: Tree,
    free: set[int],
    pairs: Sequence[ContactPair],
    numbers: Sequence[int],
    slots: int | None,
    moments: int,
) -> PairGroup:
    sides, places = [], []
    for side in range(2):
        shapes = tuple(dict.fromkeys(pairs[n][side] for n in numbers))
        bodies = tuple(body_of(tree, shape) for shape in shapes)
        sides.append(GroupSide(_mover(free, bodies[0]), shapes, bodies))
        number_of = {shape: k for k, shape in enumerate(shapes)}
        places.append([number_of[pairs[n][side]] for n in numbers])
    moved = {body for side in sides for body in side.bodies} - {WORLD}
    return PairGroup(
        sides=(sides[0], sides[1]),
        pairs=tuple(numbers),
        members=tuple(zip(*places, strict=True)),
        contacts=pairs[numbers[0]].contacts,
        slots=min(len(numbers), SPARE + len(moved) if slots is None else slots),
        moments=moments,
    )


def _uncoupled_bodies(tree: Tree) -> set[int]:
    """Free bodies whose coordinates the mass matrix couples with no others: they carry no joints and
    are in no closed loop."""
    carriers = {body.parent for body in tree.bodies}
    joined = {end.body for loop in tree.loops if loop.frames for end in loop.frames[:2]}
    return {i for i in free_roots(tree) if i not in carriers | joined}
