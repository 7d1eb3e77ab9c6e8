"""Groups of pairs: which pairs share slots, and how many slots they have."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape, body_of
from warpdyn.algorithms.simulation.pair_slots.pair_groups import Mover, pair_groups, point_groups
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD
from warpdyn.rl.tasks.reorient_tasks import HandReorient

CUBE = wd.description.Box(0.1, 0.1, 0.1)
SCENE = (
    wd.load_robot("panda")
    .with_object("a", CUBE, mass=1.0)
    .with_object("b", CUBE, mass=1.0)
    .with_object("c", CUBE, mass=1.0)
)
TREE = tree_of(SCENE)
LIMB_AND_FREE, SIDES = {Mover.JOINTS, Mover.FREE_BODY}, ("left", "right")
HAND, FINGER = (ContactShape(f"panda_{x}", "sphere", (0.03,)) for x in ("hand", "leftfinger"))
A, B, C = (ContactShape(x, "box", (0.05, 0.05, 0.05)) for x in "abc")


def test_pairs_of_the_same_kinds_and_movers_share_slots() -> None:
    """A group has the same kinds of shapes, moved by nothing, by joints or as free bodies."""
    pairs = [ContactPair(*x) for x in ((A, B), (GROUND, A), (HAND, A), (B, C), (FINGER, B))]
    groups = pair_groups(TREE, pairs)
    assert [group.pairs for group in groups] == [(0, 3), (1,), (2, 4)]
    movers = [tuple(side.mover for side in group.sides) for group in groups]
    assert movers == [
        (Mover.FREE_BODY, Mover.FREE_BODY),
        (Mover.NOTHING, Mover.FREE_BODY),
        (Mover.JOINTS, Mover.FREE_BODY),
    ]
    assert groups[0].members == ((0, 0), (1, 1)) and groups[0].sides[0].shapes == (A, B)
    assert [group.contacts for group in groups] == [4, 4, 1]
    assert groups[1].free_sides == [1] and body_of(TREE, GROUND) == WORLD


@pytest.mark.parametrize("slots, wanted", [(None, 3), (2, 2), (9, 3)])
def test_a_group_has_at_most_as_many_slots_as_pairs(slots: int | None, wanted: int) -> None:
    """The default is two slots more than the three bodies, but there are only three pairs."""
    pairs = [ContactPair(*x) for x in ((A, B), (A, C), (B, C))]
    assert pair_groups(TREE, pairs, slots)[0].slots == wanted


def test_limbs_with_much_shorter_rows_are_groups() -> None:
    """A finger of a hand on a cube moves 10 coordinates, and all four fingers move 22. Pairs of two
    fingers, and of a finger and the world, stay together. The two fingers of a gripper share its arm."""
    task = HandReorient()
    tree = tree_of(task.model)
    groups = pair_groups(tree, task.pairs)
    movers = [(*(side.mover for side in group.sides),) for group in groups]
    of_limbs = [g for g, m in zip(groups, movers, strict=True) if {*m} == LIMB_AND_FREE]
    assert len(of_limbs) == 4 and movers.count((Mover.JOINTS, Mover.JOINTS)) == 1
    assert sorted(n for group in groups for n in group.pairs) == [*range(len(task.pairs))]
    for group in of_limbs:
        (side,) = (s for s in group.sides if s.mover is Mover.JOINTS)
        assert len({i for body in side.bodies for i in tree.path(body)}) == 4
        assert (len(group), group.alike, group.slots) == (3, 12, 3)
    gripper = [ContactPair(ContactShape(f"panda_{x}finger", "box", A.size), A) for x in SIDES]
    assert [(len(g), g.alike) for g in pair_groups(TREE, gripper)] == [(2, 2)]


def test_a_free_body_with_joints_is_moved_by_joints() -> None:
    """The mass matrix couples its coordinates with those of its legs."""
    tree = tree_of(wd.load_robot("quadruped"))
    shape = ContactShape("base", "box", (0.1, 0.1, 0.1))
    (group,) = pair_groups(tree, [ContactPair(GROUND, shape)])
    assert group.sides[1].mover is Mover.JOINTS


def test_equal_meshes_share_slots() -> None:
    """The vertices of a mesh are constants of the program."""
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    a, b = (ContactShape(x, "mesh", (), vertices=corners) for x in "ab")
    c = ContactShape("c", "mesh", (), vertices=(*corners, (1.0, 1.0, 1.0)))
    pairs = [ContactPair(GROUND, each) for each in (a, b, c)]
    assert [group.pairs for group in pair_groups(TREE, pairs)] == [(0, 1), (2,)]


def test_points_are_grouped_by_branch() -> None:
    """The base is with the first leg. Each point has a slot, and all points are in a group."""
    model = wd.load_robot("quadruped")
    tree, names = tree_of(model), [link.name for link in model.links if link.collisions]
    pairs = [ContactPair(GROUND, ContactShape(name, "sphere", (0.02,))) for name in names]
    groups = point_groups(tree, pairs)
    assert sorted(n for group in groups for n in group.pairs) == [*range(len(pairs))]
    assert all(group.on_ground and group.slots == len(group) for group in groups)
    assert len(groups) == 4
    for group in groups:
        paths = [set(tree.path(body)) for body in group.sides[1].bodies]
        longest = max(paths, key=len)
        assert all(path <= longest for path in paths)
