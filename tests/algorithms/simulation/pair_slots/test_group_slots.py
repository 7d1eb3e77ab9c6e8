"""Slots of a group over several steps: warm starts by feature, and environments with fewer
contacts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import warpdyn as wd
from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import Scalar
from warpdyn.algorithms.simulation.pair_slots.group_slots import Reaction, _begun
from warpdyn.algorithms.simulation.pair_slots.slot_contact import SlotContact
from warpdyn.recording.program import record

CUBE = wd.description.Box(0.1, 0.1, 0.1)


def touching(feature: float, moments: int = 0) -> SlotContact:
    count = 3 + moments
    return SlotContact([0.0] * count, [[0.0]] * count, [], [0.0] * 6, [], [0.0, 0.0, 1.0], feature)


def test_a_contact_starts_with_the_impulse_of_its_feature() -> None:
    """Its index may have changed. Without a contact of this feature it starts at zero. A contact
    with a known index has the impulse of that index.
    """
    earlier = [[7.0, 1.0, 2.0, 3.0], [3.0, 4.0, 5.0, 6.0]]
    assert _begun(touching(3.0), earlier[:1], True) == [1.0, 2.0, 3.0]
    program = record(lambda x: _begun(touching(x[0]), earlier, False), {"x": (1,)})
    assert program.on_numbers({"x": [3.0]})["out"] == [4.0, 5.0, 6.0]
    assert program.on_numbers({"x": [7.0]})["out"] == [1.0, 2.0, 3.0]
    assert program.on_numbers({"x": [5.0]})["out"] == [0.0, 0.0, 0.0]
    wide = [[*each, 7.0, 8.0, 9.0] for each in earlier]
    assert _begun(touching(3.0, moments=1), wide[:1], True) == [1.0, 2.0, 3.0, 9.0]
    assert _begun(touching(3.0, moments=3), wide[1:], True) == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def test_reactions_are_read_and_written_by_the_number_of_the_body() -> None:
    """The program may compute the number. Each body has six numbers."""
    reaction = Reaction([1.0, 2.0], RowArray([[float(k)] * 6 for k in range(3)]))
    assert reaction.on_bodies([2.0, 0.0]) == [*[2.0] * 6, *[0.0] * 6]

    def step(_: Scalar, state: list[Scalar], __: Sequence[RowArray]) -> Sequence[Scalar]:
        reaction.write([1.0], [9.0, *[7.0] * 6])
        return state

    assert reaction.bodies is not None
    loop(1, step, [], [reaction.bodies])
    assert reaction.on_bodies([1.0]) == [7.0] * 6


def pile() -> wd.Model:
    model = wd.ModelBuilder("floor").add_link("floor").build()
    for name in "abcd":
        model = model.with_object(name, CUBE, mass=1.0)
    return model


def test_environments_with_more_contacts_do_not_change_others() -> None:
    """Lanes run until all have ended.

    Each environment has the bits that it has alone, with stacked, separate or flying cubes.
    """
    model = pile()
    pairs = wd.ContactPairs(model).with_ground(*"abcd")
    draw, envs = np.random.default_rng(0), 37
    q = np.tile(model.configurations["qpos0"], (envs, 1))
    for n in range(4):
        q[:, 7 * n : 7 * n + 3] = draw.uniform((-0.12, -0.12, 0.04), (0.12, 0.12, 0.3), (envs, 3))
    q[::5, [2, 9, 16, 23]] += 3.0
    v = draw.normal(size=(envs, 24)) * 0.5
    options = {"pairs": pairs, "points": [], "dt": 0.002, "substeps": 10}
    sims = [wd.Simulation(model, n, **options) for n in (envs, 1)]
    for n in (0, 7, 20, 36):
        alone, whole = sims[1], sims[0]
        whole.reset(q=q, v=v)
        alone.reset(q=q[n : n + 1], v=v[n : n + 1])
        for _ in range(15):
            whole.step()
            alone.step()
        np.testing.assert_array_equal(whole.q[n], alone.q[0])
        np.testing.assert_array_equal(whole.pair_impulses[n], alone.pair_impulses[0])
        np.testing.assert_array_equal(whole.pairs_left_out[n], alone.pairs_left_out[0])
