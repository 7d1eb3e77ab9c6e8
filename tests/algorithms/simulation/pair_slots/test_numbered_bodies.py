"""Free bodies read by number: placements, factors and rows."""

from __future__ import annotations

import numpy as np
from states import states

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algebra.rotations import axes_about
from warpdyn.algebra.rows_by_number import RowsByNumber
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.frames import body_placements
from warpdyn.algorithms.simulation.pair_slots.numbered_bodies import (
    FreeBodiesAt,
    entries_of,
    placement_of,
)
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.recording.program import record

MODEL = (
    wd.ModelBuilder("world")
    .add_link("floor")
    .build()
    .with_object("a", wd.description.Box(0.1, 0.2, 0.3), mass=1.0)
    .with_object("b", wd.description.Sphere(0.2), mass=3.0)
)


def test_a_body_is_read_by_its_number() -> None:
    """Placement, factors of its own block, and velocities."""
    tree, state = tree_of(MODEL), states(MODEL, 1)
    q, v = state.q[0].tolist(), state.v[0].tolist()
    X = body_placements(tree, q, [0, 1])
    H = [list(row) for row in crba(tree, q)]
    bodies = FreeBodiesAt.at(tree, X, factorise(H), v, [2.0 * x for x in v], [0, 1])
    for n in range(2):
        body, k = bodies[float(n)], slice(6 * n, 6 * n + 6)
        assert entries_of(body.X) == entries_of(X[n]) == entries_of(placement_of(entries_of(X[n])))
        assert body.before == v[k] and body.free == [2.0 * x for x in v[k]]
        b = np.arange(1.0, 7.0)
        wanted = np.linalg.solve(np.array(H, float)[k, k], b)
        np.testing.assert_allclose(body.mass.inverse_times(b.tolist()), wanted)


def test_a_single_body_may_be_read_inside_of_loops() -> None:
    """Then its row is in memory if it is computed. Several bodies are in memory in any case."""

    def text(x: list) -> list:
        rows = [[x[0]] * 45, [x[1]] * 45]
        one, two = (FreeBodiesAt((0, 1)[:n], RowsByNumber(rows[:n])) for n in (1, 2))
        for bodies, arrays in ((one, 0), (one.read_inside(), 1), (two, 1)):
            assert bodies.rows is not None and len(bodies.rows.arrays) == arrays
        assert two.read_inside() is two and FreeBodiesAt((), None).read_inside().rows is None
        return x

    record(text, {"x": (2,)})


def test_rows_give_the_velocity_of_a_point() -> None:
    """Compared with the Jacobian of the body at that point, along three axes."""
    tree, state = tree_of(MODEL), states(MODEL, 1)
    q, v = state.q[0], state.v[0]
    X = body_placements(tree, q.tolist(), [0, 1])
    mass = factorise([list(row) for row in crba(tree, q.tolist())])
    bodies = FreeBodiesAt.at(tree, X, mass, v.tolist(), v.tolist(), [0, 1])
    at, axes = Vector(0.3, -0.2, 0.5), axes_about(Vector(0.6, 0.0, 0.8))
    T = wd.fk(MODEL, q, frame="b")
    inside = np.linalg.solve(T, [*at, 1.0])[:3]
    J = wd.jacobian(MODEL, q, frame="b", point=inside, reference="local_world_aligned")
    wanted = np.array([[*axis] for axis in axes.matrix.T.rows]) @ (J @ v)[:3]
    np.testing.assert_allclose(np.array(bodies[1.0].rows(at, axes)) @ v[6:], wanted, atol=1e-12)
