"""Checks of contact pairs, and the arrays that a step takes from the last one."""

from __future__ import annotations

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.execution.launch.state_checks import check_bounds
from warpdyn.functions.simulation import pair_arrays as pair_arrays_module
from warpdyn.functions.simulation.pair_arrays import MOST_CONTACTS, checked_pairs, pair_arrays
from warpdyn.functions.simulation.step_options import StepOptions

CUBE = wd.description.Box(0.04, 0.04, 0.04)


def pile(count: int) -> wd.Model:
    """A scene with this number of cubes."""
    model = wd.ModelBuilder("world").add_link("world").build()
    for n in range(count):
        model = model.with_object(f"cube{n}", CUBE, mass=0.1, pose=(0, 0, 0.05 * (n + 1)))
    return model


TWO = pile(2)
PAIRS = wd.ContactPairs(TWO)
Q, V = np.zeros((1, TWO.nq)) + TWO.neutral, np.zeros((1, TWO.nv))


def test_too_many_contacts_are_refused() -> None:
    """The message gives the number of contacts and the remedy."""
    many = pile(24)
    with pytest.raises(
        ValueError, match=rf"276 pairs have 1104 contacts, more than {MOST_CONTACTS}"
    ):
        checked_pairs(many, wd.ContactPairs(many))


def test_the_largest_number_of_contacts_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    count = sum(pair.contacts for pair in PAIRS)
    monkeypatch.setattr(pair_arrays_module, "MOST_CONTACTS", count)
    assert checked_pairs(TWO, PAIRS) == tuple(PAIRS)
    monkeypatch.setattr(pair_arrays_module, "MOST_CONTACTS", count - 1)
    with pytest.raises(ValueError, match=f"{count} contacts, more than {count - 1}"):
        checked_pairs(TWO, PAIRS)


def test_impulses_and_features_must_be_given_together() -> None:
    """Impulses without features do not say which contacts they belong to."""
    with pytest.raises(ValueError, match="pair_impulses= and pair_features= of the last step"):
        wd.step(TWO, Q, V, V, pairs=PAIRS, pair_impulses=np.zeros((1, 4, 3)))
    with pytest.raises(ValueError, match="pair_features= needs pairs="):
        wd.step(TWO, Q, V, V, pair_features=np.zeros((1, 4)))


@pytest.mark.parametrize("size", [(-0.1,), (float("nan"),)])
def test_negative_sizes_and_nan_are_refused(size: tuple[float, ...]) -> None:
    """Sizes of shapes are lengths."""
    ball = ContactShape("cube0", "sphere", size)
    with pytest.raises(ValueError, match="a sphere on cube0 has sizes"):
        checked_pairs(TWO, [ContactPair(ball, PAIRS[0].second)])


def test_infinite_friction_of_pairs_is_refused() -> None:
    endless = wd.description.PairContact(friction=np.inf)
    with pytest.raises(ValueError, match="friction must be finite, got inf"):
        wd.step(TWO, Q, V, V, pairs=PAIRS, pair_contact=endless)


def test_a_stiffness_of_pairs_must_be_above_zero() -> None:
    """Contacts without stiffness have no force, and their equations no solution. Infinite ones are
    as stiff as the step allows."""
    start = Q.copy()
    start[:, -5] = 0.075  # they overlap by 15 mm
    for number in (0.0, 0, (0.0,), np.zeros((1, 1)), np.nan):
        contact = wd.description.PairContact(stiffness=number)
        with pytest.raises(ValueError, match="stiffness must be above 0, got"):
            wd.step(TWO, start, V, V, pairs=PAIRS, pair_contact=contact)
    call = wd.step.describe(
        TWO,
        Q,
        V,
        V,
        pairs=PAIRS,
        pair_contact=wd.description.PairContact(stiffness=np.ones((1, 1))),
    )
    call.arrays["pair_stiffness"][0] = 0.0
    with pytest.raises(ValueError, match=r"pair_stiffness in environment 0: .*must be above 0"):
        check_bounds(call)


def test_a_restitution_above_one_is_refused() -> None:
    """The value may be a number or an array. 1 itself is accepted."""
    elastic, *faster = (
        StepOptions(pairs=PAIRS, pair_contact=wd.description.PairContact(restitution=e))
        for e in ((1.0,), (1.1,), np.array([1.1]))
    )
    arrays = pair_arrays(elastic, PAIRS, Q)
    assert arrays["pair_restitution"] == ((1.0,), (1,))
    for options in faster:
        with pytest.raises(ValueError, match="restitution must be at most 1, got"):
            pair_arrays(options, PAIRS, Q)


def test_a_pair_within_one_rigid_body_is_refused() -> None:
    """A user can make such a pair."""
    shape = PAIRS[0].first
    with pytest.raises(ValueError, match="parts of one rigid body"):
        wd.step(TWO, Q, V, V, pairs=[ContactPair(shape, shape)])
    with pytest.raises(KeyError, match="gone"):
        checked_pairs(TWO, [ContactPair(shape._replace(link="gone"), shape)])


@pytest.mark.parametrize("terrain", [wd.HeightMap(np.full((9, 9), 0.3), 0.5), wd.Plane(level=0.3)])
def test_bodies_rest_on_a_terrain_and_on_each_other(terrain: wd.HeightMap | wd.Plane) -> None:
    """Contact points touch the terrain, and pairs touch each other.

    Pairs with the plane z = 0 are refused next to a terrain.
    """
    start = TWO.neutral.copy()
    start[2], start[9] = 0.33, 0.38
    told = {"terrain": terrain, "dt": 0.002, "start": start, "dtype": "float64"}
    sim = wd.Simulation(TWO, 1, pairs=PAIRS, **told)
    for _ in range(200):
        sim.step()
    assert sim.q[0, 2] == pytest.approx(0.32, abs=3e-3)
    assert sim.q[0, 9] - sim.q[0, 2] == pytest.approx(0.04, abs=1e-3)
    assert np.abs(sim.v).max() < 1e-3
    with pytest.raises(ValueError, match=r"plane z = 0 with cube1 \(with_ground\), and terrain="):
        wd.Simulation(TWO, 1, pairs=PAIRS.with_ground("cube1"), points=[], **told)


def test_a_mesh_with_fewer_than_four_vertices_is_refused() -> None:
    """Three vertices have no volume."""
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for count in (3, 4):
        mesh = ContactShape("cube0", "mesh", (), vertices=corners[:count])
        pair = ContactPair(mesh, PAIRS[0].second)
        if count == 4:
            assert checked_pairs(TWO, [pair]) == (pair,)
        else:
            with pytest.raises(ValueError, match="a mesh on cube0 needs at least 4 vertices"):
                checked_pairs(TWO, [pair])


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.pair_arrays", MOST_CONTACTS=1000)


def test_a_step_without_pairs_has_no_pair_arrays() -> None:
    assert pair_arrays(StepOptions(), (), Q) == {}
    assert set(pair_arrays(StepOptions(pairs=PAIRS), PAIRS, Q)) >= {"pair_friction"}
