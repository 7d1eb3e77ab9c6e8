"""Contact forces by link on plain numbers."""

from __future__ import annotations

import numpy as np
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_rows import ContactPoint
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.link_contact_forces import (
    PairContacts,
    contact_flags,
    link_contact_forces,
    pair_flags,
    pair_forces_on_links,
    with_flags_of_pairs,
)
from warpdyn.execution.request.evaluate import tree_of

QUADRUPED = wd.load_robot("quadruped")
POINTS = (
    ContactPoint("FL_foot", (0.01, 0.0, -0.02), 0.022),
    ContactPoint("base", (0.2, 0.1, 0.0), 0.05),
    ContactPoint("base", (-0.2, 0.1, 0.0), 0.05),
)


def test_moments_use_the_lowest_points_of_the_spheres() -> None:
    """Moments about the world's origin are sums of x × f. Links of one body are separate."""
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


def test_contact_flags_compare_the_length_of_the_net_force() -> None:
    """It must exceed the threshold. Forces that cancel on a link are no contact."""
    tree, forces = tree_of(QUADRUPED), [[0.0, 3.0, 4.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]

    def flags(links: list[str] | None, threshold: float) -> list[float]:
        options = {"points": POINTS, "links": links, "threshold": threshold}
        return [float(x) for x in contact_flags(tree, forces, **options)]

    assert flags(None, 0.0) == [1, 1, 1] and flags(None, 1.0) == [1, 0, 0]
    assert flags(None, 5.0) == [0, 0, 0]
    assert flags(["FL_foot", "base", "RL_foot"], 0.0) == [1, 0, 0]


def test_friction_moments_are_added_to_link_forces() -> None:
    """They are in the world's axes in every reference."""
    q = states(QUADRUPED, 1).q[0].tolist()
    forces, moments = np.random.default_rng(1).normal(size=(2, 3, 3)).tolist()
    options: dict = {"points": POINTS, "frames": ["base"], "reference": "local_world_aligned"}
    tree = tree_of(QUADRUPED)
    plain, with_moments = (
        np.array(link_contact_forces(tree, q, forces, each, **options), float)
        for each in (None, moments)
    )
    change = [0.0, 0.0, 0.0, *np.add(moments[1], moments[2])]
    np.testing.assert_allclose((with_moments - plain)[0], change, atol=1e-12)


FOOT, BASE = ContactShape("FL_foot", "capsule", (0.02, 0.1)), ContactShape("base", "sphere", (0.1,))
PAIRS = [ContactPair(GROUND, FOOT), ContactPair(FOOT, BASE)]


def test_pair_forces_act_on_both_links() -> None:
    """Each contact at its position, about the origins of the links, with its moment if it has one."""
    q, draw = states(QUADRUPED, 1).q[0], np.random.default_rng(2)
    count = sum(pair.contacts for pair in PAIRS)
    wrenches, positions = draw.normal(size=(count, 6)), draw.normal(size=(count, 3))
    tree, links = tree_of(QUADRUPED), ["base", "FL_foot", "FL_calf"]
    for width in (3, 6):
        contacts = PairContacts(PAIRS, wrenches[:, :width].tolist(), positions.tolist())
        got = np.array(pair_forces_on_links(tree, q.tolist(), contacts, links), float)
        origins = [wd.oracle(wd.fk, QUADRUPED, q, frame=link)[:3, 3] for link in links[:2]]
        moments = wrenches[:, 3:] * (width == 6)
        base, foot = (np.cross(positions - o, wrenches[:, :3]) + moments for o in origins)
        split = PAIRS[0].contacts
        wanted = np.zeros((3, 6))
        wanted[0] = [*wrenches[split:, :3].sum(0), *base[split:].sum(0)]
        wanted[1] = [
            *(wrenches[:split, :3].sum(0) - wrenches[split:, :3].sum(0)),
            *(foot[:split].sum(0) - foot[split:].sum(0)),
        ]
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_a_link_with_a_touching_pair_is_in_contact() -> None:
    """A pair touches strictly above the threshold. A touching point of the link counts, too."""
    flags = pair_flags([[0.0, 0.0, 3.0], [0.0, 2.0, 0.0]], 2.0)
    assert flags == [1.0, 0.0]
    links = ["base", "FL_foot", "FL_calf"]
    assert with_flags_of_pairs([0.0, 0.0, 1.0], flags, PAIRS, links) == [0.0, 1.0, 1.0]
