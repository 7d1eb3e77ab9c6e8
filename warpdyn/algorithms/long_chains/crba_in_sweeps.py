"""The composite-rigid-body algorithm of long chains, in sweeps along their bodies.

The program of `crba` without sweeps grows with the square of a chain's length, and so does the time
to compile it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra.scalar import Scalar, sweep
from ...algebra.spatial import Inertia, Motion, force_of
from ...model.tree import WORLD, Tree
from .chain_frames import is_revolute
from .chain_rows import (
    PLACEMENT,
    ChainBody,
    S,
    chain_bodies,
    inertia_entries,
    inertia_of,
    period,
    placement_of,
    runs,
    sweep_chain,
)


def crba_in_sweeps(tree: Tree, q: Sequence[Scalar]) -> Iterator[tuple[int, int, Scalar]]:
    """Entries of the joint-space inertia matrix without armature, of one triangle: row, column,
    value.

    RBDA table 6.2 in two loops, each of which is a sweep: the composite inertias of all bodies,
    then for each joint the force that moves its subtree, from body to body down to the root.
    """
    bodies = chain_bodies(tree, q)
    inertia = _composite_inertias(tree, bodies)
    root = tree.bodies[0]
    at_root: list[tuple[int, Motion]] = [] if is_revolute(root) else root.subspace
    for k, S_k in at_root:
        F = inertia[0] @ S_k
        yield from ((other, k, x.dot(F)) for other, x in at_root if other <= k)

    def step(force: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        F = placement_of(row).force_to_parent(force_of(force))
        return list(F), [S.dot(F)]

    columns = [i for i, body in enumerate(tree.bodies) if is_revolute(body)]
    # A step leads from a body to its parent, so bodies that the world carries are not visited.
    paths = [
        [j for j in (i, *tree.ancestors(i)) if tree.bodies[j].parent != WORLD] for i in columns
    ]
    forces = [list(inertia[i] @ S) for i in columns]
    found, ends = sweep(step, forces, paths, [body.row for body in bodies])
    for i, force, path, values, end in zip(columns, forces, paths, found, ends, strict=True):
        (k,), ratio = tree.bodies[i].v_index, tree.bodies[i].multiplier
        yield k, k, S.dot(force_of(force)) * ratio**2
        for j, (value,) in zip(path, values, strict=True):
            parent = tree.bodies[tree.bodies[j].parent]
            if is_revolute(parent):
                yield parent.v_index[0], k, value * (ratio * parent.multiplier)
            else:
                yield from ((column, k, x.dot(force_of(end)) * ratio) for column, x in at_root)


def _composite_inertias(tree: Tree, bodies: Sequence[ChainBody]) -> list[Inertia]:
    """The inertia of each body together with all that it carries."""
    inertia = [body.inertia for body in bodies]

    def step(carried: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        parent = inertia_of(row[PLACEMENT:])
        whole = inertia_entries(parent + placement_of(row).inertia_to_parent(inertia_of(carried)))
        return whole, whole

    for run in runs(tree):
        rows = {
            j: [*bodies[j].row, *inertia_entries(bodies[tree.bodies[j].parent].inertia)]
            for j in run[:-1]
        }
        state, n = inertia_entries(inertia[run[0]]), period([bodies[j] for j in rows])
        found, _ = sweep_chain(step, state, list(rows.values()), n, False)
        for i, whole in zip(run[1:], found, strict=True):
            inertia[i] = inertia_of(whole)
        end, parent = run[-1], tree.bodies[run[-1]].parent
        if parent != WORLD:
            carried = placement_of(bodies[end].row).inertia_to_parent(inertia[end])
            inertia[parent] = inertia[parent] + carried
    return inertia
