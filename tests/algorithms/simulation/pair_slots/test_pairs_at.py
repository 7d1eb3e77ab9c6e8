"""Contacts of a pair in a slot: rows compared with differences of gaps, and pairs read by number."""

from __future__ import annotations

import numpy as np
import pytest
from loop_robots import four_bar
from slot_pairs import contact_gaps, pairs_at
from states import states

import warpdyn as wd
from warpdyn.algebra.linear import Factors, factorise
from warpdyn.algorithms.closed_loops.closed_mass import ClosedMass
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_slots.pairs_at import (
    BlockFactors,
    PairsAt,
    depth_first,
    rows_acted_on,
)
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call, tree_of
from warpdyn.recording.program import Program, record

CUBE = wd.description.Box(0.1, 0.1, 0.1)
SCENE = (
    wd.load_robot("quadruped").with_object("cube", CUBE, mass=1.0).with_object("b", CUBE, mass=2.0)
)
ARM = wd.load_robot("panda")

BALL = ContactShape("cube", "sphere", (0.05,), (0.01, 0.02, 0.03))
PAIRS = {
    "a robot and a body": (
        SCENE,
        ContactPair(ContactShape("base", "sphere", (0.1,), (0.2, 0, 0)), BALL),
    ),
    "two bodies": (SCENE, ContactPair(BALL, ContactShape("b", "capsule", (0.05, 0.1)))),
    "one robot": (
        ARM,
        ContactPair(
            ContactShape("panda_link2", "sphere", (0.1,), (0, -0.1, 0)),
            ContactShape("panda_hand", "capsule", (0.03, 0.05), (0, 0, 0.1)),
        ),
    ),
    "the ground": (SCENE, ContactPair(GROUND, BALL)),
}


@pytest.mark.parametrize("model, pair", PAIRS.values(), ids=PAIRS)
def test_the_normal_velocity_of_a_contact_is_the_rate_of_its_gap(
    model: wd.Model, pair: ContactPair
) -> None:
    """d gap / dt by central differences."""
    dt = 1e-6
    sampled = states(model, 20)
    for q, v in zip(sampled.q, sampled.v, strict=True):
        contact = pairs_at(model, [pair], q, v, v).slot(0.0).contacts[0]
        ahead, behind = (
            contact_gaps(tree_of(model), wd.integrate(model, q, v * step).tolist(), pair)[0]
            for step in (dt, -dt)
        )
        expected = (ahead - behind) / (2 * dt)
        np.testing.assert_allclose(contact.unmoved[2], expected, atol=1e-6 * (1 + abs(expected)))


@pytest.mark.parametrize("model, pair", PAIRS.values(), ids=PAIRS)
def test_responses_of_a_contact_equal_those_of_the_mass_matrix(
    model: wd.Model, pair: ContactPair
) -> None:
    """Y Yᵀ = J M⁻¹ Jᵀ, the velocity that each unit impulse causes."""
    tree, (state,) = tree_of(model), [states(model, 1)]
    q, v = state.q[0], state.v[0]
    at = pairs_at(model, [pair], q, v, v)
    contact = at.slot(0.0).contacts[0]
    # Differences of the velocity before constraints give the rows J of all coordinates.
    eye, zero = np.eye(model.nv), np.zeros(model.nv)
    J = np.transpose(
        [pairs_at(model, [pair], q, zero, e).slot(0.0).contacts[0].unmoved for e in eye]
    )
    G = J @ np.linalg.solve(np.array(crba(tree, q.tolist()), float), J.T)
    Y = np.array(contact.Y, float)
    np.testing.assert_allclose(Y @ Y.T, G, atol=1e-9 * abs(G).max())
    np.testing.assert_allclose(contact.coupling, G[:2, 2], atol=1e-9 * abs(G).max())


def test_the_contacts_of_a_single_pair_are_computed_in_loops() -> None:
    """Where the pair is far, a step leaves them out. Edges of two boxes need nine reciprocal roots, and the
    orientation of the body after the step needs one."""
    scene = ARM.with_object("cube", CUBE, mass=1.0)
    boxes = (ContactShape(name, "box", (0.05,) * 3) for name in ("panda_hand", "cube"))
    zero, q = np.zeros(scene.nv), np.zeros(scene.nq)
    call = wd.step.describe(scene, q, zero, zero, points=[], pairs=[ContactPair(*boxes)], dt=0.002)
    program = record_call(call, input_shapes(call), True)

    def roots(part: Program) -> int:
        return sum(s.operation == "rsqrt" for s in part.statements)

    assert roots(program) == 1
    assert max(map(roots, program.routines.values())) >= 9


def test_joints_that_carry_both_shapes_have_no_entry() -> None:
    """The first two joints of the arm carry both links of its pair."""
    model, pair = PAIRS["one robot"]
    state = states(model, 1)
    still = [
        pairs_at(model, [pair], state.q[0], e, e).slot(0.0).contacts[0].unmoved
        for e in np.eye(model.nv)
    ]
    assert not np.any(still[:2]) and np.any(still[2])


def test_a_loop_over_pairs_has_the_arrays_of_the_free_bodies_that_it_reads() -> None:
    """A group without free bodies reads none, although there are some."""
    (_, free_pair), (arm, joint_pair) = PAIRS["two bodies"], PAIRS["one robot"]
    state, of_arm = states(SCENE, 1), states(arm, 1)
    free = pairs_at(SCENE, [free_pair], state.q[0], state.v[0], state.v[0])
    joints = pairs_at(arm, [joint_pair] * 2, of_arm.q[0], of_arm.v[0], of_arm.v[0])
    assert free.free.rows is not None and free.free.rows.arrays
    there = [id(array) for array in free.arrays]
    assert all(there.count(id(array)) == 1 for array in free.free.rows.arrays)
    other = PairsAt(joints.tree, joints.memory, joints.moment, joints.free)
    assert other.free.rows is None and len(other.arrays) == len(joints.arrays)
    other.free = free.free
    assert not {id(array) for array in other.arrays} & {*there}


def test_joints_that_carry_all_shapes_of_both_sides_need_no_comparison() -> None:
    """Their sign is zero whatever the pair. Those of other joints depend on the numbers of the bodies."""
    model, pair = PAIRS["one robot"]
    state = states(model, 1)
    at = pairs_at(model, [pair], state.q[0], state.v[0], state.v[0])
    program = record(lambda carriers: at._signs(*carriers), {"carriers": (2,)})
    both = {*tree_of(model).path(at.group.sides[0].bodies[0])}
    both &= {*tree_of(model).path(at.group.sides[1].bodies[0])}
    needless = [output.node is None for output in program.outputs]
    assert needless == [i in both for i in at.carriers] and sum(needless) == 2


def test_a_number_selects_the_pair() -> None:
    """Each pair gives its own contacts. Beyond the pairs contacts are far away."""
    boxes = [ContactShape(x, "box", size) for x, size in (("cube", (0.1,) * 3), ("b", (0.2,) * 3))]
    pairs = [ContactPair(GROUND, box) for box in boxes]
    state = states(SCENE, 1)
    q, v = state.q[0], state.v[0]
    together = pairs_at(SCENE, pairs, q, v, v)
    for n, pair in enumerate(pairs):
        alone = pairs_at(SCENE, [pair], q, v, v).slot(0.0)
        both = zip(together.slot(float(n)).contacts, alone.contacts, strict=True)
        for x, y in both:
            np.testing.assert_allclose(x.numbers, y.numbers, rtol=1e-12)
    # 1000 m in a step of 2 ms.
    assert all(each.law[-1] == pytest.approx(-1e3 / 0.002) for each in together.slot(2.0).contacts)


def test_closed_loops_couple_all_joints() -> None:
    """Contacts on a robot with loops act on all rows except those of free bodies without joints."""
    model = four_bar().with_object("cube", CUBE, mass=1.0)
    tree = tree_of(model)
    cube = len(tree.bodies) - 1
    H = [list(row) for row in crba(tree, states(model, 1).q[0].tolist())]
    J = [[float(k < model.nv - 6)] * model.nv for k in range(2)]
    mass = ClosedMass.of(H, [[*row[:-6], *[0.0] * 6] for row in J])
    rows = rows_acted_on(tree, mass, [0], [cube])
    assert len(rows) == model.nv - 6 + 2
    assert not {mass.rows_of_coordinates[k] for k in tree.bodies[cube].v_index} & set(rows)
    assert rows_acted_on(tree, mass, [], [cube]) == ()


def test_depth_first_order_keeps_branches_together() -> None:
    """Each body is followed by all bodies that it carries."""
    tree = tree_of(SCENE)
    order = depth_first(tree, range(len(tree.bodies)))
    assert sorted(order) == list(range(len(tree.bodies)))
    for n, i in enumerate(order):
        carried = {k for k in order if i in tree.path(k)}
        assert set(order[n : n + len(carried)]) == carried


def test_blocks_are_solved_as_one_matrix() -> None:
    """Although each is solved by itself."""
    draw = np.random.default_rng(0)
    blocks = []
    for n in (2, 3):
        A = draw.normal(size=(n, n))
        blocks.append(A @ A.T + np.eye(n))
    whole = np.zeros((5, 5))
    whole[:2, :2], whole[2:, 2:] = blocks
    b = draw.normal(size=5).tolist()
    found = BlockFactors.of([factorise(x.tolist()) for x in blocks])
    wanted: Factors = factorise(whole.tolist())
    np.testing.assert_allclose(found.solve_transposed(b), wanted.solve_transposed(b))
    np.testing.assert_allclose(found.divide_by_diagonal(b), wanted.divide_by_diagonal(b))
