"""Sweeps over slots, compared with sweeps over all contacts at once."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from loop_robots import four_bar
from slot_pairs import contact_gaps, pairs_at

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.simulation.compliant_contact import Surface, compliant_contacts
from warpdyn.algorithms.simulation.constraint_sweeps import constraint_impulses, rows_of
from warpdyn.algorithms.simulation.contact_rows import ContactPoint, PointContact, contact_rows
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.loop_rows import close_loops
from warpdyn.algorithms.simulation.pair_slots.pair_memory import TouchingBodies
from warpdyn.algorithms.simulation.pair_slots.slot_sweeps import OtherConstraints, slot_sweeps
from warpdyn.execution.request.evaluate import tree_of

SIDE, DT = 0.1, 0.002
CUBE = wd.description.Box(SIDE, SIDE, SIDE)
NAMES = ("a", "b", "c")


def scene(robot: wd.Model) -> wd.Model:
    for name in NAMES:
        robot = robot.with_object(name, CUBE, mass=0.5)
    return robot


PILE = scene(wd.ModelBuilder("floor").add_link("floor").build())
DOG = scene(wd.load_robot("quadruped"))


def heap(model: wd.Model, robot: int) -> np.ndarray:
    """Three cubes one above the other, a little rotated, on the ground or on the robot's back."""
    q, top = np.zeros(model.nq), 0.0
    if robot:
        q[:robot] = wd.load_robot("quadruped").configurations["home"]
        top = q[2] + 0.04
    draw = np.random.default_rng(3)
    for n in range(3):
        turn = draw.normal(size=4) * 0.02 + [0, 0, 0, 1]
        k = robot + 7 * n
        q[k : k + 3] = [0.004 * n, -0.003 * n, top + SIDE * (n + 0.495)]
        q[k + 3 : k + 7] = turn / np.linalg.norm(turn)
    return q


def boxes(model: wd.Model) -> list[ContactPair]:
    cubes = [ContactShape(name, "box", (0.5 * SIDE,) * 3) for name in NAMES]
    pairs = [ContactPair(*pair) for pair in combinations(cubes, 2)]
    if model is DOG:
        back = ContactShape("base", "box", (0.3, 0.1, 0.05), (0.0, 0.0, -0.01))
        return [*pairs, *(ContactPair(back, cube) for cube in cubes)]
    return [*pairs, *(ContactPair(GROUND, cube) for cube in cubes)]


def surface(pair: ContactPair) -> Surface:
    return Surface([0.6] * pair.contacts, 1e4, 0.005, 1.0)


def sweep_slots(model: wd.Model, robot: int, sweeps: int, slots: int | None = None) -> Any:
    """Velocities by slots and by rows of all contacts at once, and the pairs without a slot."""
    tree, q = tree_of(model), heap(model, robot)
    v = np.random.default_rng(1).normal(size=model.nv) * 0.2
    free = (v + np.random.default_rng(2).normal(size=model.nv) * 0.02).tolist()
    mass = factorise([list(row) for row in crba(tree, q.tolist())])
    pairs = boxes(model)
    count = sum(pair.contacts for pair in pairs)
    feet = [ContactPoint(f"{x}_foot", (0.0, 0.0, 0.0), 0.02) for x in ("FL", "FR", "RL", "RR")]
    feet = feet if robot else []
    ground = Surface([0.8] * len(feet), 1e5, 0.01, 1.0)
    at_points, J = contact_rows(tree, q.tolist(), feet)
    first = len(J)
    J = [list(row) for row in J]
    # Rows of all contacts, from the velocities that unit velocities give them.
    columns = []
    for pair in pairs:
        zero = np.zeros(model.nv)
        moved = [
            [
                x
                for each in pairs_at(model, [pair], q, zero, e).slot(0.0).contacts
                for x in each.unmoved
            ]
            for e in np.eye(model.nv)
        ]
        columns.append(np.transpose(moved))
    J += np.concatenate(columns).tolist()
    rows = rows_of(J, mass)
    constraints: list = []
    row = first
    for pair in pairs:
        points = [
            PointContact(gap, row + 3 * k, None)
            for k, gap in enumerate(contact_gaps(tree, q.tolist(), pair))
        ]
        row += 3 * pair.contacts
        constraints += compliant_contacts(points, surface(pair), rows, v.tolist(), free, DT)
    constraints += compliant_contacts(at_points, ground, rows, v.tolist(), free, DT)
    warm = [0.0] * (3 * len(constraints))
    _, wanted = constraint_impulses(rows, constraints, free, warm, sweeps)
    touching = TouchingBodies.of(
        tree, pairs, slots, [surface(x) for x in pairs], [[0.0] * 3] * count, [0.0] * count
    )
    of_feet = rows_of(J[:first], mass)
    others = OtherConstraints(
        of_feet,
        (),
        compliant_contacts(at_points, ground, of_feet, v.tolist(), free, DT),
        (),
        [0.0] * (3 * len(feet)),
    )
    memory = touching.memory
    found = slot_sweeps(tree, q.tolist(), v.tolist(), free, mass, DT, memory, others, sweeps)
    return found, wanted, touching


@pytest.mark.parametrize("sweeps", [1, 4])
@pytest.mark.parametrize("model, robot", [(PILE, 0), (DOG, 19)], ids=["pile", "on a robot"])
def test_sweeps_over_slots_equal_sweeps_over_all_contacts(
    model: wd.Model, robot: int, sweeps: int
) -> None:
    """The constraints have the same order. Pairs that are not near have no impulse."""
    found, wanted, touching = sweep_slots(model, robot, sweeps)
    np.testing.assert_allclose(found.v, wanted, atol=1e-10)
    assert len(found.impulses) == 12 * bool(robot)  # only of the four feet
    impulses, features, forces = touching.results(DT)
    of_pairs = np.array(impulses, float).reshape(-1, 4, 3).sum(axis=1)
    np.testing.assert_allclose(np.array(forces, float), of_pairs / DT, atol=1e-9)
    pressed = np.linalg.norm(np.array(impulses, float), axis=1)
    assert (pressed > 1e-4).sum() >= 4 and found.left_out == 0
    assert features[4:8] == [-1.0] * 4  # the lowest cube and the highest one


def test_pairs_without_a_slot_have_no_impulse() -> None:
    """Two pairs of cubes are near, and there is one slot."""
    found, wanted, touching = sweep_slots(PILE, 0, 4, slots=1)
    assert found.left_out == 1.0 and abs(np.subtract(found.v, wanted)).max() > 1e-3
    assert not np.any(touching.results(DT)[0][8:12])


def test_sweeps_over_slots_keep_closed_loops_closed() -> None:
    """A cube falls on a four-bar linkage.

    The velocities satisfy the equations of the loop, and equal those of sweeps over all contacts.
    """
    model = four_bar().with_object("a", CUBE, mass=0.5)
    tree, bar = tree_of(model), "coupler"
    q = np.array([0.3, -0.2, 0.1, *[0.0] * 6, 1.0])
    place = wd.fk(model, q, frame=bar)[:3, 3]
    q[-7:-4] = np.add(place, [0.0, 0.0, 0.5 * SIDE + 0.009])
    pair = ContactPair(
        ContactShape(bar, "sphere", (0.01,)), ContactShape("a", "box", (0.5 * SIDE,) * 3)
    )
    v, h = np.zeros(model.nv), 0.002
    v[-4] = -1.0
    H = [list(row) for row in crba(tree, q.tolist())]
    closed = close_loops(tree, q.tolist(), v.tolist(), H, [0.0] * model.nv, h)
    free = closed.velocities
    columns = [
        pairs_at(model, [pair], q, np.zeros(model.nv), e).slot(0.0).contacts[0].unmoved
        for e in np.eye(model.nv)
    ]
    rows = rows_of(np.transpose(columns).tolist(), closed.mass)
    point = PointContact(contact_gaps(tree, q.tolist(), pair)[0], 0, None)
    constraints = compliant_contacts([point], surface(pair), rows, v.tolist(), free, h)
    _, wanted = constraint_impulses(rows, constraints, free, [0.0] * 3, 4)
    touching = TouchingBodies.of(tree, [pair], None, [surface(pair)], [[0.0] * 3], [0.0])
    others = OtherConstraints(rows_of([], closed.mass), (), (), (), ())
    memory = touching.memory
    found = slot_sweeps(tree, q.tolist(), v.tolist(), free, closed.mass, h, memory, others, 4)
    np.testing.assert_allclose(found.v, wanted, atol=1e-10)
    assert abs(np.subtract(found.v, free)).max() > 0.01
    errors = wd.loops.constraint_jacobian(model, q) @ np.array(found.v)
    before = wd.loops.constraint_jacobian(model, q) @ np.array(free)
    np.testing.assert_allclose(errors, before, atol=1e-6)
