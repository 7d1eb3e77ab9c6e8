"""Long chains of revolute joints as rows of numbers, one row for each body, for `scalar.sweep`.

The step from a body to its parent is the same for all bodies in the frames of `chain_frames`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...algebra.scalar import RowStep, Scalar, cos, is_number, sin, sweep, sweep_in_line
from ...algebra.spatial import (
    ZERO,
    AnyRotation,
    ArticulatedInertia,
    AxisRotation,
    Force,
    Inertia,
    Motion,
    Placement,
    Rotation,
    Symmetric,
    Vector,
    as_matrix,
)
from ...model.tree import WORLD, Tree
from .chain_frames import Z, about_x, chain_frames, entries_of, is_revolute

ENTRIES = 1200
"""Pairs of a body and a body that carries it, from which robots are recorded in sweeps: a chain of
50 joints has 1,225.

A chain of 64 joints whose axes point along x, y and z in turn takes 3 s of CPU to compile `crba` in
sweeps and 17 without, one of 128 joints 7. Sparse short chains lose by sweeps, which drop fewer
zeros: for 44 joints a mass matrix took 1,330 ns in sweeps and 740 without (one core of an AMD EPYC
without AVX-512, float32, 1,024 environments). `aba` of 44 joints took 104 ns both ways, and if the
axes have random directions 154 and 186 (with AVX-512)."""


S = Motion(ZERO, Vector(0.0, 0.0, 1.0))
"""The motion subspace of every revolute joint in its frame here."""

SHORT = 4
"""Bodies of a run that are recorded one after the other, because a sweep of its own would be longer
than they are."""


LONGEST_PERIOD = 4
"""Largest number of bodies in one step of a sweep."""


def is_long_chain(tree: Tree) -> bool:
    """True if the tree is recorded in sweeps: all joints are revolute, except perhaps the root's,
    and most bodies are carried by many."""
    revolute = all(is_revolute(body) for body in tree.bodies[1:])
    if not revolute or tree.shares_coordinates:
        return False
    return sum(len(tree.ancestors(i)) for i in range(len(tree.bodies))) >= ENTRIES


@dataclass(frozen=True)
class LinkPlacement:
    """The placement of a body in its parent, in two stages: the axes of its joint turned by the
    constant `R`, then the body in these axes, moved by `p` and turned about z by the joint."""

    R: AnyRotation
    p: Vector
    joint: AxisRotation

    @property
    def stages(self) -> tuple[Placement, Placement]:
        return Placement(self.R, ZERO), Placement(self.joint, self.p)

    @property
    def whole(self) -> Placement:
        """Both stages as one placement."""
        outer, inner = self.stages
        return outer.compose(inner)

    def motion_to_child(self, m: Motion) -> Motion:
        outer, inner = self.stages
        return inner.motion_to_child(outer.motion_to_child(m))

    def force_to_parent(self, f: Force) -> Force:
        outer, inner = self.stages
        return outer.force_to_parent(inner.force_to_parent(f))

    def inertia_to_parent(self, inertia: Inertia) -> Inertia:
        outer, inner = self.stages
        return outer.inertia_to_parent(inner.inertia_to_parent(inertia))

    def articulated_to_parent(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        outer, inner = self.stages
        return outer.articulated_to_parent(inner.articulated_to_parent(inertia))


@dataclass(frozen=True)
class ChainBody:
    """A body of a chain in a frame whose z axis is the joint's axis."""

    X: LinkPlacement
    inertia: Inertia
    turn: Placement
    """This frame in the body's own frame."""

    def in_frame(self, f: Force) -> Force:
        """A force on the body in this frame."""
        return self.turn.force_to_child(f)

    @property
    def constants(self) -> list[Scalar]:
        """The numbers of the body and its joint."""
        return [*self.row[2:], *inertia_entries(self.inertia)]

    @property
    def row(self) -> list[Scalar]:
        """The joint's cosine and sine, and the two parts of its constant placement."""
        return [self.X.joint.c, self.X.joint.s, *entries_of(self.X.R), *self.X.p]


PLACEMENT = 14
"""Entries of `ChainBody.row`."""


def placement_of(row: Sequence[Scalar]) -> LinkPlacement:
    """The placement of a body in its parent, from its row."""
    c, s, *rest = row[:PLACEMENT]
    R = Rotation([Vector(*rest[k : k + 3]) for k in (0, 3, 6)])
    if all(map(is_number, rest[:4])) and rest[:4] == [1.0, 0.0, 0.0, 0.0]:
        R = about_x(rest[4], rest[7])
    return LinkPlacement(R, Vector(*rest[9:12]), AxisRotation(Z, c, s))


def inertia_entries(inertia: Inertia) -> list[Scalar]:
    return [inertia.mass, *inertia.h, *inertia.J.entries]


def inertia_of(entries: Sequence[Scalar]) -> Inertia:
    mass, x, y, z, *J = entries[:10]
    return Inertia(mass, Vector(x, y, z), Symmetric(*J))


def chain_bodies(tree: Tree, q: Sequence[Scalar]) -> list[ChainBody]:
    """The bodies in frames whose z axes are their joints'. A root that is not revolute keeps its
    frame."""
    frames = chain_frames(tree)
    bodies = []
    for body, frame in zip(tree.bodies, frames, strict=True):
        X = body.X_tree.compose(frame.start)
        if body.parent != WORLD:
            X = frames[body.parent].turn.inverse().compose(X)
        R = as_matrix(X.R)
        p = R.to_child(X.p)
        # What is zero by the choice of the frame is exactly zero.
        if frame.is_about_x:
            R = about_x(R.matrix.rows[2].z, R.matrix.rows[2].y)
        if frame.is_nearest:
            p = Vector(p.x, p.y, 0.0)
        angle = q[body.q_index[0]] * body.multiplier + body.offset if is_revolute(body) else 0.0
        angle = angle + frame.offset
        inertia = frame.turn.inverse().inertia_to_parent(body.inertia)
        joint = AxisRotation(Z, cos(angle), sin(angle))
        bodies.append(ChainBody(LinkPlacement(R, p, joint), inertia, frame.turn))
    return bodies


def runs(tree: Tree) -> Iterator[list[int]]:
    """Bodies that carry each other, without a branch between them: from the last body of each run
    to its first. Every run comes after those that it carries."""
    children = [0] * len(tree.bodies)
    for body in tree.bodies:
        if body.parent != WORLD:
            children[body.parent] += 1
    for end in reversed(range(len(tree.bodies))):
        if children[end] == 1:
            continue
        run = [end]
        while (parent := tree.bodies[run[-1]].parent) != WORLD and children[parent] == 1:
            run.append(parent)
        yield run


def period(bodies: Sequence[ChainBody]) -> int:
    """Number of bodies after which the zeros and ones of a chain's constants repeat, without the
    bodies at both ends: 2 for a snake whose axes alternate; 1 if they do not repeat."""
    kinds = [
        [x if is_number(x) and x in (-1.0, 0.0, 1.0) else None for x in body.constants]
        for body in bodies[1:-1]
    ]
    for n in range(1, LONGEST_PERIOD + 1):
        if len(kinds) > SHORT * n and kinds[n:] == kinds[:-n]:
            return n
    return 1


def sweep_chain(
    step: RowStep,
    state: Sequence[Scalar],
    rows: Sequence[Sequence[Scalar]],
    bodies_in_step: int,
    from_root: bool,
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Values of the steps along a chain, and the last state.

    `bodies_in_step`: the `period` of the chain, whose bodies share one step of the sweep. The
    bodies at both ends are recorded in line. Their rows and states have other zeros than those
    between them: a last body carries nothing, and the inertia that joints cannot feel is regrouped
    into a first body.
    """
    n = bodies_in_step
    # Both directions have the same bodies in each step, so that a sweep can read the values of a
    # sweep in the other direction.
    before, after = 1, 1 + max(len(rows) - 2, 0) % n
    if from_root:
        before, after = after, before
    if len(rows) <= SHORT * n:
        before, after = len(rows), 0
    end = len(rows) - after
    groups = [[x for row in rows[k : k + n] for x in row] for k in range(before, end, n)]

    def step_of_group(state: list[Scalar], row: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        width = len(row) // n
        parts = [row[k : k + width] for k in range(0, len(row), width)]
        ((found,), (after,)) = sweep_in_line(step, [state], [range(n)], parts)
        return after, [x for values in found for x in values]

    first, state = _steps(sweep_in_line, step, state, rows[:before])
    middle, state = _steps(sweep, step_of_group, state, groups)
    last, state = _steps(sweep_in_line, step, state, rows[end:])
    width = len(first[0]) if first else 0
    split = [values[k : k + width] for values in middle for k in range(0, len(values), width)]
    return [*first, *split, *last], list(state)


def _steps(
    run: Callable[..., Any],
    step: RowStep,
    state: Sequence[Scalar],
    rows: Sequence[Sequence[Scalar]],
) -> tuple[list[list[Scalar]], list[Scalar]]:
    (found,), (last,) = run(step, [state], [range(len(rows))], rows)
    return found, last
