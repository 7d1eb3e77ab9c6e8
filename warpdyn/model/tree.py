"""The kinematic tree that algorithms loop over: a model with fixed joints lumped and mimic joints
reduced.

Links that never move against each other are one *body*, with one inertia; every link stays
addressable as a *frame*: a body and a constant placement in it. A body's frame is its joint's
frame, turned if need be so that the joint moves about or along a coordinate axis. Then most entries
of a transform are zeros and ones, which recording removes.

RBDA section 4.1 (parents and tree transforms); mimic joints are RBDA section 3.2's q = G y + g,
applied joint by joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ..algebra.point_motion import PointMotion
from ..algebra.scalar import Scalar, as_number
from ..algebra.spatial import (
    ZERO,
    ZERO_FORCE,
    ZERO_INERTIA,
    ZERO_MOTION,
    Force,
    Inertia,
    Motion,
    Placement,
    Rotation,
    Symmetric,
    TwoRotations,
    Vector,
    as_matrix,
)
from .actuators import Affine
from .closed_loops.tree_loops import CoupledJoints, Follower, JoinedFrames, LoopEnd, TreeLoop  # noqa: F401
from .joints import FLOATING, JointKind
from .link_inertia import Point, Spread, all_numbers
from .poses_and_limits import UNLIMITED, Effects, Limits

WORLD = -1
"""Index of the world among bodies: the parent of the first, and the body of root-fixed links."""


@dataclass(frozen=True)
class Body:
    """A rigid body, the joint that carries it, and the indices of its coordinates.

    `X_tree` places the joint frame in the parent body. The joint's coordinates are multiplier *
    q[q_index] + offset; the two numbers differ from 1 and 0 for mimic joints and for axes that
    point backwards.
    """

    joint: str
    parent: int
    kind: JointKind
    axis: int
    X_tree: Placement
    known: Inertia
    q_index: tuple[int, ...]
    v_index: tuple[int, ...]
    multiplier: float = 1.0
    offset: float = 0.0
    armature: float = 0.0
    effects: tuple[Effects, ...] = ()
    limits: Limits = UNLIMITED
    """Bounds of the joint's coordinate, if it has only one."""
    points: tuple[Point, ...] = ()
    spreads: tuple[Spread, ...] = ()
    borne: tuple[tuple[Scalar, Vector], ...] = ()
    """Masses whose weight is compensated, with their centres."""

    @cached_property
    def inertia(self) -> Inertia:
        """The whole inertia: the known part and the part that differs between environments."""
        varying = [
            *(point.inertia for point in self.points),
            *(spread.inertia for spread in self.spreads),
        ]
        return sum(varying, self.known)

    def with_load(self, part: Point | Spread) -> Body:
        """This body with a part of a link added to it."""
        inertia = part.inertia
        if all_numbers(inertia):
            return replace(self, known=self.known + inertia)
        if isinstance(part, Point):
            return replace(self, points=(*self.points, part))
        like = next((each for each in self.spreads if each.shares_axes(part)), None)
        others = tuple(each for each in self.spreads if each is not like)
        return replace(self, spreads=(*others, Spread(part.R, like.J + part.J) if like else part))

    def rate_of_momentum(self, motion: PointMotion) -> Force:
        """The force that gives the body this motion, about the origin of its frame."""
        a, W, known = motion.acc, motion.W, self.known
        if self.spreads:
            J = sum((spread.second_moments for spread in self.spreads), known.J)
            force = replace(known, J=ZERO_INERTIA.J).rate_of_momentum(a, W) + Force(
                ZERO, J.rate_of_momentum(motion.w, motion.dw)
            )
        else:
            force = known.rate_of_momentum(a, W)
        for point in self.points:
            f = (a + W @ point.centre) * point.mass
            force = force + Force(f, point.centre.cross(f))
        return force

    def placement(self, q: Sequence[Scalar]) -> Placement:
        """This body's frame in its parent body, at configuration q."""
        coordinates = [q[k] for k in self.q_index]
        if self.kind.single:
            coordinates = [coordinates[0] * self.multiplier + self.offset]
        R, p = self.kind.placement(self.axis, coordinates)
        return Placement(TwoRotations(self.X_tree.R, R), self.X_tree.point_to_parent(p))

    @property
    def quaternion_index(self) -> tuple[int, ...]:
        """Columns of q with the joint's unit quaternion (x, y, z, w); empty if it has none."""
        return () if self.kind.quaternion is None else self.q_index[self.kind.quaternion :]

    @cached_property
    def subspace(self) -> list[tuple[int, Motion]]:
        """Columns of the joint's motion subspace S, each with its index in v."""
        return [
            (k, S * self.multiplier)
            for k, S in zip(self.v_index, self.kind.subspace(self.axis), strict=True)
        ]

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """S v, the motion across the joint."""
        total = ZERO_MOTION
        for k, S in self.subspace:
            total = total + S * v[k]
        return total

    @cached_property
    def rotor_inertia(self) -> Scalar:
        """Armature at the coordinate. A joint that follows another turns `multiplier` times as
        fast."""
        return self.armature * self.multiplier**2

    @property
    def free_rotor(self) -> Scalar:
        """Armature of a free joint, which is along the world's axes."""
        return self.armature if self.kind is FLOATING else 0.0


@dataclass(frozen=True)
class Frame:
    """A frame fixed in a body: a link of the description, with its mass and its centre of mass in
    the body."""

    body: int
    placement: Placement
    mass: Scalar = 0.0
    com: Vector = ZERO


class Cable(NamedTuple):
    """A tendon of a tree: the columns of its joints in v and q, with their coefficients. `limits`:
    bounds of its length, which stops hold."""

    columns: tuple[tuple[int, int, float], ...]
    constant: float
    armature: float
    effects: Effects
    slack: tuple[float, float]
    limits: tuple[float, float]

    def without_effects(self) -> Cable:
        """The same armature, without spring and damping."""
        return self._replace(effects=Effects())

    def length(self, q: Sequence[Scalar]) -> Scalar:
        """Length [m] at the configuration q."""
        total: Scalar = self.constant
        for _, k, c in self.columns:
            total = total + q[k] * c
        return total

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """Rate of the length [m/s] at the velocity v."""
        total: Scalar = 0.0
        for k, _, c in self.columns:
            total = total + v[k] * c
        return total


class DrivenJoint(NamedTuple):
    """A joint that actuators push: its coordinates, the `ratio` and `offset` by which it follows
    them, and the largest sum of forces that the actuators may apply to it [N, N·m]."""

    v_index: int
    q_index: int
    ratio: float
    offset: float
    effort: float


class TreeActuator(NamedTuple):
    """An actuator of a tree, whose arms refer to driven joints by index."""

    arms: tuple[tuple[int, float], ...]
    constant: float
    gain: Affine
    bias: Affine
    controls: tuple[float, float]
    forces: tuple[float, float]


@dataclass(frozen=True)
class Tree:
    """Bodies in an order in which every parent comes before its children, and the frames fixed in
    them."""

    bodies: tuple[Body, ...]
    frames: Mapping[str, Frame]
    nq: int
    nv: int
    ground: Inertia = ZERO_INERTIA
    """Inertia of the links that are fixed to the world, about the world's origin."""
    cables: tuple[Cable, ...] = ()
    """Fixed tendons of the tree."""
    actuators: tuple[TreeActuator, ...] = ()
    loops: tuple[TreeLoop, ...] = ()
    """Constraints that close loops."""
    driven: tuple[DrivenJoint, ...] = ()
    """The joints that actuators push."""

    @cached_property
    def shares_coordinates(self) -> bool:
        """True if some coordinate moves more than one joint (mimic), so that bodies are not
        independent."""
        columns = [k for body in self.bodies for k in body.v_index]
        return len(columns) != len(set(columns))

    @property
    def ties_bodies(self) -> bool:
        """True if shared coordinates or a tendon with armature couple bodies in addition to their
        joints; articulated bodies must not be coupled in this way."""
        return self.shares_coordinates or any(cable.armature for cable in self.cables)

    @cached_property
    def independent_bodies(self) -> list[Body]:
        """One body for each set of coordinates: the first of the bodies that share one (mimic)."""
        return list({body.v_index: body for body in reversed(self.bodies)}.values())[::-1]

    def rate(
        self, q: Sequence[Scalar], v: Sequence[Scalar], baumgarte: float = 0.0
    ) -> list[Scalar]:
        """dq/dt at velocity v."""
        rate: list[Scalar] = [0.0] * self.nq
        for body in self.independent_bodies:
            rates = body.kind.manifold.rate(
                [q[k] for k in body.q_index], [v[k] for k in body.v_index], baumgarte
            )
            for k, x in zip(body.q_index, rates, strict=True):
                rate[k] = x
        return rate

    def path(self, body: int) -> list[int]:
        """Bodies from the root to `body`."""
        path: list[int] = []
        while body != WORLD:
            path.append(body)
            body = self.bodies[body].parent
        return path[::-1]

    def ancestors(self, body: int) -> list[int]:
        """Bodies that carry `body`, from its parent to the root."""
        return self.path(self.bodies[body].parent)[::-1]

    def on_bodies(self, f_ext: Mapping[str, Sequence[Scalar]]) -> list[Force]:
        """External forces on links (link frame, about the link origin) as forces on bodies."""
        total = [ZERO_FORCE for _ in self.bodies]
        for link, (fx, fy, fz, nx, ny, nz) in f_ext.items():
            frame = self.frames[link]
            if frame.body != WORLD:
                force = Force(Vector(fx, fy, fz), Vector(nx, ny, nz))
                total[frame.body] = total[frame.body] + frame.placement.force_to_parent(force)
        return total

    def regroup(self) -> Tree:
        """The same dynamics with fewer numbers: each body passes to its parent the inertia that its
        joint cannot feel.

        About a revolute axis that is the mass, the moment along the axis, and the spread of mass
        along the axis; across a prismatic joint, the second moments, including varying ones if they
        add to others. The part that reaches the world becomes `ground`. M, C, g and every pivot of
        their factorisation stay as they are, but the inertia of a single body is no longer that of
        its own mass (Gautier and Khalil, IEEE T-RA 6, 1990: base parameters).
        """
        bodies, ground = list(self.bodies), self.ground
        # From the leaves to the root, because a body may pass on the inertia that it received.
        for i in reversed(range(len(bodies))):
            body = bodies[i]
            share = body.kind.unfelt(body.axis, body.known)
            moved = body.X_tree.inertia_to_parent(share)
            # If the placement varies, moving the share would cost more at run time than it saves.
            if not all_numbers(moved):
                continue
            up: tuple[Spread, ...] = ()
            if not body.kind.turns:
                up = tuple(spread.in_parent(body.X_tree) for spread in body.spreads)
            # Varying moments move up only if they add to others with the same axes: a new set of
            # axes in the parent would have to be rotated there, as it is here.
            if body.parent != WORLD:
                there = bodies[body.parent].spreads
                up = up if all(any(map(s.shares_axes, there)) for s in up) else ()
            bodies[i] = replace(body, known=body.known - share, spreads=() if up else body.spreads)
            if body.parent == WORLD:
                ground = sum((spread.inertia for spread in up), ground + moved)
                continue
            above = bodies[body.parent]
            bodies[body.parent] = replace(above, known=above.known + moved)
            for spread in up:
                bodies[body.parent] = bodies[body.parent].with_load(spread)
        return replace(self, bodies=tuple(bodies), ground=ground)

    def snap(self, epsilon: float) -> Tree:
        """The same tree with rounding noise removed: constants below `epsilon` of their
        neighbours are set to 0 or ±1.

        Right angles written as 1.5708 in a description leave such residues, which a program of that
        precision cannot resolve.
        """
        # Positions are compared with the robot's size, rotations with one, and each inertia with
        # its largest entry: nothing else says which constant is noise.
        reach = max(
            [abs(x) for b in self.bodies for x in b.X_tree.p if isinstance(x, float)], default=0.0
        )

        def place(X: Placement) -> Placement:
            rows = [[_snap(x, epsilon) for x in row] for row in X.R.matrix.rows]  # type: ignore[union-attr]
            p = Vector(*(_without_rounding_noise(x, epsilon * reach) for x in X.p))
            return Placement(Rotation([Vector(*row) for row in rows]), p)

        def weigh(inertia: Inertia) -> Inertia:
            # Moments are only ever added to other moments of the body, so that small ones next to
            # them are lost.
            h_size, J_size = (
                max(abs(as_number(x)) for x in entries)
                for entries in (inertia.h, inertia.J.entries)
            )
            h = Vector(*(_without_rounding_noise(x, epsilon * h_size) for x in inertia.h))
            return Inertia(
                inertia.mass,
                h,
                Symmetric(
                    *(_without_rounding_noise(x, epsilon * J_size) for x in inertia.J.entries)
                ),
            )

        def settle(body: Body) -> Body:
            # The numbers of points and spreads vary, so that only their positions can be noise.
            points = tuple(
                replace(point, placement=place(point.placement)) for point in body.points
            )
            spreads = tuple(
                replace(spread, R=as_matrix(place(Placement(spread.R, ZERO)).R))
                for spread in body.spreads
            )
            X_tree, known = place(body.X_tree), weigh(body.known)
            return replace(body, X_tree=X_tree, known=known, points=points, spreads=spreads)

        bodies = tuple(map(settle, self.bodies))
        frames = {
            name: replace(frame, placement=place(frame.placement))
            for name, frame in self.frames.items()
        }
        loops = tuple(loop.with_placements(place) for loop in self.loops)
        return replace(self, bodies=bodies, frames=frames, loops=loops)


def _without_rounding_noise(x: Scalar, least: float) -> Scalar:
    return x if not isinstance(x, float) or abs(x) > least else 0.0


def _snap(x: Scalar, epsilon: float) -> Scalar:
    if not isinstance(x, (int, float)):
        return x
    near = round(x)
    return float(near) if abs(x - near) <= epsilon else x
