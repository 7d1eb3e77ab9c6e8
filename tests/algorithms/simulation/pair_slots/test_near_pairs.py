"""The broad phase: touching pairs are never left out, and far pairs take no slot."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algorithms.frames import body_placements
from warpdyn.algorithms.simulation.compliant_contact import Surface
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_slots.ground_points import MARGIN
from warpdyn.algorithms.simulation.pair_slots.near_pairs import near_pairs
from warpdyn.algorithms.simulation.pair_slots.pair_groups import pair_groups
from warpdyn.algorithms.simulation.pair_slots.pair_memory import PairMemory
from warpdyn.algorithms.simulation.pair_slots.shape_rows import moving_shapes
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.simulation.pair_gaps import pair_gaps
from warpdyn.model.tree import WORLD

CORNERS = tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.05, 0.05))
SHAPES = {
    "sphere": ((0.1,), ()),
    "capsule": ((0.05, 0.2), ()),
    "box": ((0.1, 0.2, 0.05), ()),
    "mesh": ((), CORNERS),
}
NAMES = ("a", "b", "c", "d")


def world() -> wd.Model:
    model = wd.ModelBuilder("world").add_link("floor").build()
    for name in NAMES:
        model = model.with_object(name, wd.description.Box(0.1, 0.1, 0.1), mass=1.0)
    return model


MODEL = world()
TREE = tree_of(MODEL)


def shape(link: str | None, kind: str) -> ContactShape:
    size, vertices = SHAPES[kind]
    return ContactShape(link, kind, size, (0.02, 0.0, -0.01), vertices=vertices)


def choose_pairs(
    q: list,
    v: list,
    pairs: list[ContactPair],
    dt: float,
    slots: int | None = None,
    by_contact: bool = False,
) -> tuple:
    """Numbers of the pairs in slots, how many are near, and how many of these have no slot."""
    (group,) = pair_groups(TREE, pairs, slots)
    surfaces = [Surface([0.5], 1e4, 0.01, 1.0)] * len(pairs)
    memory = PairMemory.of(group, pairs, surfaces, [[0.0] * 3] * 99, [0.0] * 99)
    X = body_placements(TREE, q, sorted({b for s in group.sides for b in s.bodies} - {WORLD}))
    sides = [moving_shapes(TREE, X, side, v, dt) for side in group.sides]
    numbers, near, without = near_pairs(memory, sides, by_contact)
    return [int(numbers[k][0]) for k in range(group.slots)], near, without


def gaps(q: np.ndarray, pairs: list[ContactPair]) -> np.ndarray:
    """The smallest gap of each pair of the same kinds, for each state."""
    found = np.asarray(pair_gaps(MODEL, q, pairs=pairs).gaps)
    return found.reshape(len(q), len(pairs), -1).min(axis=2)


def dense_states(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bodies close together."""
    sampled = states(MODEL, count)
    q = sampled.q.copy()
    for n in range(len(NAMES)):
        q[:, 7 * n : 7 * n + 3] *= 0.15
    return q, sampled.v


@pytest.mark.parametrize("kinds", [*combinations(SHAPES, 2), *((x, x) for x in SHAPES)], ids=str)
def test_touching_pairs_are_near(kinds: tuple[str, str]) -> None:
    """Now, or after a step without contact forces. Most far pairs are not near."""
    pairs = [ContactPair(shape(a, kinds[0]), shape(b, kinds[1])) for a, b in combinations(NAMES, 2)]
    dt, touched, far = 0.02, 0, 0
    q_all, v_all = dense_states(60)
    later = wd.integrate(MODEL, q_all, v_all * dt)
    overlaps = (gaps(q_all, pairs) < 0) | (gaps(later, pairs) < 0)
    for q, v, overlap in zip(q_all, v_all, overlaps, strict=True):
        touching = np.flatnonzero(overlap)
        numbers, near, without = choose_pairs(q.tolist(), v.tolist(), pairs, dt, len(pairs))
        slots = numbers[: int(near)]
        assert set(touching) <= set(slots) and slots == sorted(slots) and without == 0
        assert numbers[int(near) :] == [len(pairs)] * (len(pairs) - int(near))
        touched += len(touching)
        far += len(pairs) - len(slots)
    assert touched > 10 and far > 10


def test_boxes_none_of_whose_contacts_takes_a_slot_are_left_out() -> None:
    """The contacts of all other boxes are the same. A third of the near boxes is left out."""
    pairs = [ContactPair(shape(a, "box"), shape(b, "box")) for a, b in combinations(NAMES, 2)]
    dt, counts = 0.002, np.zeros(2, int)
    q_all, v_all = dense_states(60)
    for q, v, gap in zip(q_all, v_all, gaps(q_all, pairs), strict=True):
        chosen = []
        for by_contact in (False, True):
            given = q.tolist(), v.tolist(), pairs, dt, len(pairs), by_contact
            numbers, near, _ = choose_pairs(*given)
            chosen.append(set(numbers[: int(near)]))
        assert chosen[1] <= chosen[0]
        assert all(gap[n] > MARGIN for n in chosen[0] - chosen[1])
        counts += [len(each) for each in chosen]
    assert counts[1] < 0.9 * counts[0] and counts[1] > 60


def test_a_ball_above_a_large_table_is_far() -> None:
    """The bounding sphere of the table would be near everything."""
    table = ContactShape(None, "box", (2.0, 2.0, 0.05), (0.0, 0.0, -0.05))
    pairs = [ContactPair(table, shape(name, "sphere")) for name in NAMES]
    q = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (4, 1))
    q[:, 2] = 0.12, 0.1, 0.3, 0.105
    q[:, 0] = 1.9, 0.5, -1.5, 2.5
    numbers, near, _ = choose_pairs(q.ravel().tolist(), [0.0] * 24, pairs, 0.01)
    assert near == 1 and numbers[0] == 1


def test_low_and_falling_shapes_are_near_a_plane() -> None:
    """A shape is near if the lowest point that it can reach in the step is near the plane."""
    pairs = [ContactPair(GROUND, shape(name, "box")) for name in NAMES]
    q = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (4, 1))
    q[:, 2] = 0.2, 1.0, 1.0, -0.5
    v = np.zeros((4, 6))
    v[2, 2] = -100.0
    numbers, near, _ = choose_pairs(q.ravel().tolist(), v.ravel().tolist(), pairs, 0.01)
    assert near == 3 and numbers[:3] == [0, 2, 3]


def test_pairs_without_a_slot_are_counted() -> None:
    """Six pairs of four bodies at one place, and four slots."""
    pairs = [ContactPair(shape(a, "box"), shape(b, "box")) for a, b in combinations(NAMES, 2)]
    q = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 4).tolist()
    assert choose_pairs(q, [0.0] * 24, pairs, 0.01, 4) == ([0, 1, 2, 3], 6, 2)
