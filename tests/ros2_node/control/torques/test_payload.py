"""A payload as numbers that the kernels read."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from fleets import MODEL, Q, chain_text, feed, launch, panda_fleet, panda_settings
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.torques.payload import Payload, check_link, numbers

HAND = {"payload__link": "panda_hand"}
COORDINATE = st.floats(-0.3, 0.3)


@given(st.floats(0.0, 20.0), st.tuples(COORDINATE, COORDINATE, COORDINATE), st.floats(0.0, 0.1))
def test_payload_numbers_agree_with_a_model_that_has_the_load(mass, com, size):
    """They are mass, centre and inertia of link and load together. Without mass there is no
    load."""
    inertia = (size, 0.1 * size, 0.0, 2.0 * size, 0.0, 1.5 * size)
    settings = panda_settings(
        **HAND, payload__mass=mass, payload__com=com, payload__inertia=inertia
    )
    matrix = ((size, 0.1 * size, 0.0), (0.1 * size, 2.0 * size, 0.0), (0.0, 0.0, 1.5 * size))
    loaded = MODEL.with_payload("panda_hand", mass, com, matrix) if mass else MODEL
    link = loaded.link("panda_hand")
    found = numbers(MODEL, settings)
    assert found[0] == link.mass and tuple(found[1]) == link.com
    np.testing.assert_array_equal(found[2], np.array(link.inertia)[np.triu_indices(3)])


def test_a_load_changes_torques_total_mass_and_batches():
    """All results, inertia included, are those of a model with that load."""
    inertia = (0.02, 0.0, 0.0, 0.03, 0.0, 0.04)
    load = {**HAND, "payload__mass": 2.0, "payload__com": (0.0, 0.01, 0.1)}
    fleet = panda_fleet(mode="inverse_dynamics", **load, payload__inertia=inertia)
    robot, v = fleet.robots[0], np.linspace(-0.3, 0.3, 8)
    heavy = MODEL.with_payload("panda_hand", 2.0, (0.0, 0.01, 0.1), np.diag([0.02, 0.03, 0.04]))
    robot.setpoint.read(list(MODEL.joint_names), ((), (), np.ones(8)), 0.0)
    feed(robot, 0.0, v=v)
    launch(fleet, robot, 0.0)
    np.testing.assert_allclose(robot.state.torque, wd.rnea(heavy, Q, v, np.ones(8)), atol=1e-9)
    np.testing.assert_allclose(
        fleet.batch.compute(np.stack([Q, v])[None])[0], wd.rnea(heavy, Q, v, 0 * v), atol=1e-9
    )


def test_another_load_on_the_same_link_is_written_in_place():
    """The change is distinguished from no change, and from a load on another link, which needs
    other kernels."""
    settings = panda_settings(**HAND, payload__mass=1.0)
    payload = Payload(MODEL, settings)
    params = payload.params
    assert not payload.change(settings)
    assert payload.change(settings.with_changes({"payload.mass": 2.0})) and payload.mass == 2.0
    assert payload.params is params and params["mass"][0] == MODEL.link("panda_hand").mass + 2.0
    assert not payload.change(settings.with_changes({"payload.link": "panda_link5"}))
    assert payload.mass == 2.0 and Payload(MODEL, panda_settings()).params is None


@pytest.mark.parametrize(
    "inertia", [(1.0, 0.0, 0.0, 1.0, 0.0, 9.0), (-1.0, 0.0, 0.0, 1.0, 0.0, 1.0)]
)
def test_an_impossible_inertia_is_refused(inertia):
    with pytest.raises(ValueError, match=r"payload\.inertia must be that of a body"):
        numbers(MODEL, panda_settings(**HAND, payload__mass=1.0, payload__inertia=inertia))


def test_the_inertia_of_a_load_without_mass_is_not_checked():
    """So mass and inertia can be set one after the other."""
    none = panda_settings(**HAND, payload__inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 9.0))
    mass, _, _ = numbers(MODEL, none)
    assert mass == MODEL.link("panda_hand").mass


def test_an_unknown_payload_link_is_refused():
    with pytest.raises(ValueError, match="'nose' is not a link of panda, which has panda_link0"):
        check_link(MODEL, "nose")


def resident():
    """Memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def test_two_hundred_loads_make_no_kernel_and_leak_no_memory(monkeypatch):
    """Each load is in the torques of the next cycle."""
    settings = panda_settings(**HAND, ramp_time=0.0)
    fleet = panda_fleet(**HAND, ramp_time=0.0)
    robot = fleet.robots[0]

    def refuse_kernel(*arguments, **options):
        raise AssertionError("a kernel is made")

    def carry(k):
        changed = settings.with_changes(
            {"payload.mass": 0.01 * k, "payload.com": [0.0, 0.0, 1e-3 * k]}
        )
        fleet.change(changed)
        feed(robot, 0.01 * k)
        launch(fleet, robot, 0.01 * k)

    for k in range(1, 21):
        carry(k)
    monkeypatch.setattr("warpdyn.execution.launch.launch._make_kernel", refuse_kernel)
    gc.collect()
    before = resident()
    for k in range(21, 221):
        carry(k)
        heavy = MODEL.with_payload("panda_hand", 0.01 * k, (0.0, 0.0, 1e-3 * k))
        if k % 50 == 0:
            exact = wd.oracle(wd.rnea, heavy, Q, 0 * Q, 0 * Q)
            np.testing.assert_allclose(robot.state.torque, exact, atol=1e-9)
    gc.collect()
    assert resident() - before < 2.0, "one kernel alone is 2 to 6 MB"


@pytest.mark.parametrize(
    ("moments", "good"),
    [
        ((1.0, 2.0, 3.0), True),
        ((1.0, 2.0, 3.0000029), True),
        ((1.0, 2.0, 3.0000031), False),
        ((0.0, 2.0, 2.0), True),
        ((-1e-3, 2.0, 2.0), False),
    ],
)
def test_the_inertia_of_a_thin_body_is_accepted(moments, good):
    """One moment may be the sum of the other two, to a part in a million, and one may be zero."""
    xx, yy, zz = moments
    settings = panda_settings(**HAND, payload__mass=1.0, payload__inertia=(xx, 0, 0, yy, 0, zz))
    if good:
        numbers(MODEL, settings)
        return
    with pytest.raises(ValueError) as error:
        numbers(MODEL, settings)
    assert str(error.value) == (
        "payload.inertia must be that of a body: principal moments of at least 0, none larger than the "
        f"sum of the other two; got {', '.join(f'{x:g}' for x in moments)} kg*m^2"
    )


def test_the_refusal_lists_at_most_forty_links():
    chain, links = wd.load_urdf(chain_text(42)), ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        check_link(chain, "nose")
    assert str(error.value) == f"payload.link 'nose' is not a link of chain, which has {links}"
