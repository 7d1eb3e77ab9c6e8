"""Contacts of a simulation for drawing on a page: where robots touch, and the forces there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algorithms.simulation.contact_shapes import GROUND
from ..arrays.libraries import library_of
from ..functions.simulation.pair_gaps import pair_gaps
from ..functions.simulation.point_kinematics import point_positions
from ..functions.simulation.simulation import Simulation
from .overlays import ContactForces

TOUCHING = 5e-4
"""Gap up to which a contact of shapes that press on each other is drawn [m]. A step moves the
bodies after its impulses, so shapes that have pressed on each other may be slightly apart."""


def contact_forces(sim: Simulation, envs: Sequence[int]) -> ContactForces:
    """The contacts of a simulation in its last substep: of its points with the ground, and of its
    pairs. A pair has one force, on its second shape, in the middle of the overlap of its shapes."""
    chosen = np.array(envs, int)
    q = _host(sim, sim.q)[chosen].astype(float)
    parts = [_on_ground(sim, q, chosen)] if len(sim.points) else []
    parts += [_between(sim, q, chosen)] if len(sim.pairs) else []
    if not parts:
        none, nobody = np.zeros((0, 3)), np.zeros(0, int)
        parts = [ContactForces(none, nobody, none, none, nobody == 1, nobody)]
    return ContactForces(*map(np.concatenate, zip(*parts, strict=True)))


def _host(sim: Simulation, array: Any) -> np.ndarray:
    return np.asarray(library_of(sim.q).to_host(array))


def _on_ground(sim: Simulation, q: np.ndarray, chosen: np.ndarray) -> ContactForces:
    """Contacts of points, each below the centre of its sphere."""
    forces = _host(sim, sim.forces)[chosen].astype(float)
    at = np.array(point_positions(sim.model, q, points=sim.points))
    at[..., 2] -= [point.radius for point in sim.points]
    envs, points = np.nonzero(np.abs(forces).max(axis=2))
    here, pressing = at[envs, points], forces[envs, points]
    return ContactForces(here, envs, here, pressing, np.ones(len(envs), bool), envs)


def _between(sim: Simulation, q: np.ndarray, chosen: np.ndarray) -> ContactForces:
    """Contacts of the pairs between which a force acts."""
    positions, gaps = map(np.asarray, pair_gaps(sim.model, q, pairs=sim.pairs))
    forces = _host(sim, sim.pair_forces)[chosen].astype(float)
    ends = np.cumsum([pair.contacts for pair in sim.pairs])
    points, middles = [], []
    pressing = np.argwhere(np.abs(forces).max(axis=2))
    for env, k in pressing:
        mine = slice(ends[k] - sim.pairs[k].contacts, ends[k])
        at, gap = positions[env, mine], gaps[env, mine]
        deep = np.maximum(TOUCHING - gap, 0.0)
        if not deep.any():  # they have just parted
            deep = np.where(gap == gap.min(), 1.0, 0.0)
        points += [(env, x) for x in at[deep > 0.0]]
        middles.append(deep @ at / deep.sum())
    return ContactForces(
        np.reshape([x for _, x in points], (-1, 3)),
        np.array([env for env, _ in points], int),
        np.reshape(middles, (-1, 3)),
        forces[pressing[:, 0], pressing[:, 1]],
        np.array([sim.pairs[k].first == GROUND for _, k in pressing], bool),
        pressing[:, 0],
    )
