"""Sensors of links with contact pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

G = 9.81

BOX = wd.description.Box(0.1, 0.16, 0.12)


def pile(**options: Any) -> wd.Simulation:
    """Two boxes fall on each other and on the ground. The lower one has points or pairs."""
    scene = wd.ModelBuilder("table").add_link("table").build()
    for n, name in enumerate(("low", "high")):
        scene = scene.with_object(
            name, BOX, mass=0.5 + 0.3 * n, pose=(0.02 * n, 0.0, 0.06 + 0.125 * n)
        )
    given: dict[str, Any] = {
        "points": wd.ContactPoints(scene).only("low"),
        "pairs": wd.ContactPairs(scene),
        "pair_contact": wd.description.PairContact(0.6, torsional_friction=0.01),
        "ground": wd.Ground(rolling_friction=0.01),
        "sensors": wd.Sensors(links=["low", "high"], threshold=1.0),
        "dt": 0.002,
        "substeps": 1,
        "dtype": "float64",
    }
    return wd.Simulation(scene, 3, **{**given, **options})


@pytest.mark.parametrize("ground", ["points", "pairs"])
def test_contact_forces_equal_the_change_of_momentum(ground: str) -> None:
    """F + m g is the change of a box's momentum in a step, and the moment about its centre that of
    its angular momentum. Forces of the ground, of the other box, and friction moments count.
    """
    sim = pile()
    if ground == "pairs":
        pairs = wd.ContactPairs(sim.model).with_ground("low")
        contact = wd.description.PairContact(0.6, torsional_friction=0.01, rolling_friction=0.01)
        sim = pile(points=[], pairs=pairs, pair_contact=contact)
    for name in ("low", "high"):
        sim.body(name).velocity[:] = [0.3, -0.2, -0.5, 1.0, -2.0, 3.0]
    felt = np.zeros(2)
    # Points act at the end of a step, and their body has moved by then.
    exact = 0.05 if ground == "points" else 5e-3
    for _ in range(40):
        before = [momenta(sim, name) for name in ("low", "high")]
        sim.step()
        for k, name in enumerate(("low", "high")):
            after, mass = momenta(sim, name), sim.model.link(name).mass
            change = (after - before[k]) / 0.002
            change[:, 2] += mass * G
            np.testing.assert_allclose(sim.link_forces[:, k, :3], change[:, :3], atol=1e-6)
            np.testing.assert_allclose(sim.link_forces[:, k, 3:], change[:, 3:], atol=exact)
            felt[k] += np.abs(change[:, 3:]).max()
            flag = sim.link_contacts[:, k]
            assert (flag[np.linalg.norm(change[:, :3], axis=1) > 2.01] == 1.0).all()
    assert (felt > 4.0).all() and sim.pair_contacts.shape == (3, len(sim.pairs))


def momenta(sim: wd.Simulation, name: str) -> np.ndarray:
    """Linear and angular momentum of a box in the world's axes, about its centre (envs, 6)."""
    body, link = sim.body(name), sim.model.link(name)
    R = wd.fk(sim.model, sim.q, frame=name)[:, :3, :3]
    L = body.velocity[:, 3:] @ np.array(link.inertia)
    spins = np.einsum("bij,bj->bi", R, L)
    return np.concatenate([link.mass * np.einsum("bij,bj->bi", R, body.velocity[:, :3]), spins], 1)


def test_a_pinched_link_is_in_contact() -> None:
    """The forces on it cancel, but each is above the threshold. A link without contacts has 0."""
    sim = pile(gravity=(0.0, 0.0, 0.0), pair_contact=wd.description.PairContact(0.6))
    sim.body("high").reset(pose=[0.0, 0.0, 0.179, 0.0, 0.0, 0.0, 1.0])
    sim.tau[:, 8] = -20.0
    sim.body("high").reset([2], pose=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    for _ in range(80):
        sim.step()
    assert np.abs(sim.link_forces[:2, 0, :3]).max() < 1.0
    assert sim.pair_contacts[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert sim.link_contacts.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    between = sim.force_between("low", "high")
    np.testing.assert_allclose(between[:2, 2], 20.0, atol=1.0)
    np.testing.assert_allclose(sim.force_between("ground", "low")[:2, 2], 20.0, atol=1.0)
    sim.reset()
    assert not sim.pair_contacts.any() and not sim.link_forces.any()


def test_links_with_pairs_only_can_have_sensors() -> None:
    """Patterns choose the links, and the error lists the existing ones."""
    sim = pile(sensors=wd.Sensors(links=["h*"]))
    assert sim.sensors is not None and sim.sensors.links == ("high",)
    sim.step()
    assert sim.link_forces.shape == (3, 1, 6)
    with pytest.raises(KeyError, match=r"no contact points or pairs on 'table'; .* low, high"):
        pile(sensors=wd.Sensors(links=["table"]))


def test_pair_contacts_do_not_need_force_sensors() -> None:
    """The flags equal those of a simulation that also measures forces on links."""
    flags = []
    for sensors in (wd.Sensors(imu=["low"]), wd.Sensors(links=["low"])):
        sim = pile(sensors=sensors)
        for _ in range(40):
            sim.step()
        flags.append(sim.pair_contacts.tolist())
        assert sim.link_forces.shape == (3, len(sensors.links), 6)
    assert flags[0] == flags[1] and np.any(flags)
