"""Contact forces by link on plain numbers."""

from __future__ import annotations

import numpy as np
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_rows import ContactPoint
from warpdyn.algorithms.simulation.link_contact_forces import contact_flags, link_contact_forces
from warpdyn.execution.request.evaluate import tree_of

QUADRUPED = wd.load_robot("quadruped")
POINTS = (
    ContactPoint("FL_foot", (0.01, 0.0, -0.02), 0.022),
    ContactPoint("base", (0.2, 0.1, 0.0), 0.05),
    ContactPoint("base", (-0.2, 0.1, 0.0), 0.05),
)


def test_moments_are_of_where_the_spheres_are_lowest() -> None:
    """About the world's origin: the sum of x × f; links on the same body keep their own."""
    q = states(QUADRUPED, 1).q[0]
    forces = np.random.default_rng(0).normal(size=(3, 3))
    places = []
    for point in POINTS:
        T = wd.oracle(wd.fk, QUADRUPED, q, frame=point.link)
        places.append((T @ [*point.centre, 1.0])[:3] - [0, 0, point.radius])
    moments = np.cross(places, forces)
    got = link_contact_forces(
        tree_of(QUADRUPED),
        q.tolist(),
        forces.tolist(),
        points=POINTS,
        frames=["base", "FL_foot", "FL_calf"],
        reference="world",
    )
    wanted = np.zeros((3, 6))
    wanted[0] = np.r_[forces[1:].sum(0), moments[1:].sum(0)]
    wanted[1] = np.r_[forces[0], moments[0]]
    assert np.allclose(np.array(got, float), wanted, atol=1e-12)


def test_flags_compare_lengths() -> None:
    """Strictly beyond the threshold; pushes that cancel on a link leave it untouched."""
    tree, forces = tree_of(QUADRUPED), [[0.0, 3.0, 4.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]

    def flags(links: list[str] | None, threshold: float) -> list[float]:
        options = {"points": POINTS, "links": links, "threshold": threshold}
        return [float(x) for x in contact_flags(tree, forces, **options)]

    assert flags(None, 0.0) == [1, 1, 1] and flags(None, 1.0) == [1, 0, 0]
    assert flags(None, 5.0) == [0, 0, 0]
    assert flags(["FL_foot", "base", "RL_foot"], 0.0) == [1, 0, 0]
