"""Bodies that collide at high speed: states stay finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

CUBE = wd.description.Box(0.04, 0.04, 0.04)


def world(*objects: tuple[str, Any, float, Any]) -> wd.Model:
    """Free bodies: name, shape, mass and pose of each."""
    model = wd.ModelBuilder("world").add_link("world").build()
    for name, shape, mass, pose in objects:
        model = model.with_object(name, shape, mass=mass, pose=pose)
    return model


FAST = 1e6
"""Speeds of simulation_of_fast_bodies bodies [m/s, rad/s]."""


def simulation_of_fast_bodies(model: wd.Model, columns: slice, **told: Any) -> wd.Simulation:
    """300 steps of 2 ms of 128 environments with velocities up to FAST.

    In 128 more one of the velocities is FAST.
    """
    sim = wd.Simulation(model, 256, points=[], dt=0.002, substeps=1, **told)
    v, draw = np.zeros(sim.v.shape), np.random.default_rng(0)
    width = v[:128, columns].shape[1]
    v[:128, columns] = FAST * draw.uniform(-1.0, 1.0, (128, width))
    v[128:, columns] = FAST * np.resize(
        np.concatenate([np.eye(width), -np.eye(width)]), (128, width)
    )
    sim.reset(v=v)
    for _ in range(300):
        sim.step()
    return sim


@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_fast_bodies_stay_finite(restitution: float) -> None:
    """A cube, a ball and a rod that touch each other and the ground. No state is reset."""
    heap = world(
        ("cube", wd.description.Box(0.1, 0.1, 0.1), 1.0, (0, 0, 0.049)),
        ("ball", wd.description.Sphere(0.05), 1.0, (0, 0, 0.149)),
        ("rod", wd.description.Capsule(0.02, 0.2), 0.3, (-0.068, 0, 0.1)),
    )
    pairs = wd.ContactPairs(heap).with_ground("cube", "ball", "rod")
    contact = wd.description.PairContact(restitution=restitution)
    sim = simulation_of_fast_bodies(heap, slice(None), pairs=pairs, pair_contact=contact)
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all() and not sim.failures.any()
    # The same without the guard of a simulation: one step of `wd.step` from each of these states.
    end = wd.step(heap, sim.q, sim.v, sim.tau, dt=0.002, pairs=pairs, pair_contact=contact)
    assert all(np.isfinite(x).all() for x in end)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_an_arm_hit_by_fast_bodies_stays_finite(restitution: float) -> None:
    """Bodies leave it at most with the speed limit of joints and spins, which its joints would
    otherwise amplify.
    """
    panda = wd.load_robot("panda")
    hand = wd.fk(panda, panda.configurations["home"][None], frame="panda_hand_tcp")[0, :3, 3]
    scene = panda.with_object("cube", CUBE, mass=0.1, pose=tuple(hand))
    scene = scene.with_object(
        "ball", wd.description.Sphere(0.05), mass=1.0, pose=tuple(hand - [0, 0, 0.06])
    )
    touching = (
        ("panda_*finger", "cube"),
        ("cube", "ball"),
        ("panda_link5", "ball"),
        ("panda_hand", "cube"),
    )
    sim = simulation_of_fast_bodies(
        scene,
        slice(panda.nv, None),
        pairs=wd.ContactPairs(scene).only(*touching),
        pair_contact=wd.description.PairContact(restitution=restitution),
        control=wd.PD(1000.0, 100.0),
    )
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all() and not sim.failures.any()
