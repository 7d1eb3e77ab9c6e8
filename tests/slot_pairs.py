"""Pairs of shapes at a configuration: their gaps by the narrow phase, and their contacts in
slots."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.closed_loops.closed_mass import ClosedMass
from warpdyn.algorithms.closed_loops.loop_equations import LoopRows
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.frames import body_placements
from warpdyn.algorithms.simulation.compliant_contact import Surface
from warpdyn.algorithms.simulation.contact_shapes import ContactPair
from warpdyn.algorithms.simulation.pair_gaps import pair_gaps
from warpdyn.algorithms.simulation.pair_slots.numbered_bodies import FreeBodiesAt
from warpdyn.algorithms.simulation.pair_slots.pair_groups import Mover, pair_groups
from warpdyn.algorithms.simulation.pair_slots.pair_memory import PairMemory
from warpdyn.algorithms.simulation.pair_slots.pairs_at import Moment, PairsAt
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD


def contact_gaps(tree: Any, q: list, pair: ContactPair) -> list[float]:
    """The gap of each contact of a pair [m]."""
    return pair_gaps(tree, q, [pair])[1]  # type: ignore[return-value]


def pairs_at(
    model: wd.Model, pairs: list[ContactPair], q: np.ndarray, v: np.ndarray, free: np.ndarray
) -> PairsAt:
    """The first group of pairs, with the velocities before the step and those after an
    unconstrained step."""
    tree = tree_of(model)
    group = pair_groups(tree, pairs)[0]
    bodies = sorted({body for side in group.sides for body in side.bodies} - {WORLD})
    X = body_placements(tree, q.tolist(), bodies)
    H = [list(row) for row in crba(tree, q.tolist())]
    mass = ClosedMass.of(H, LoopRows.at(tree, q.tolist()).J) if tree.loops else factorise(H)
    moment = Moment(X, v.tolist(), free.tolist(), mass, 0.002)
    free_bodies = [b for s in group.sides if s.mover is Mover.FREE_BODY for b in s.bodies]
    numbered = FreeBodiesAt.at(tree, X, mass, v.tolist(), free.tolist(), sorted(set(free_bodies)))
    surface = Surface([0.5] * group.contacts, 1e4, 0.01, 1.0)
    memory = PairMemory.of(group, pairs, [surface] * len(pairs), [[0.0] * 3] * 99, [0.0] * 99)
    return PairsAt(tree, memory, moment, numbered)
