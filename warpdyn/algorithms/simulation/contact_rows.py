"""Contact points of a robot on the ground, and contact Jacobians that map v to their velocities,
body by body.

A point is the centre of a sphere fixed in a link. It touches where its sphere is lowest above the
ground, which is the plane z = 0 of the world or a terrain. A terrain is replaced by the plane that
is tangent to it below the centre.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra.rotations import IDENTITY, ZERO, Rotation, as_matrix
from ...algebra.scalar import Scalar
from ...algebra.spatial import Motion, Placement, Vector
from ...model.tree import WORLD, Tree
from ..frames import body_placements, path_beyond
from .uneven_ground import Terrain

UPWARDS = Vector(0.0, 0.0, 1.0)
"""The world's z axis."""

SHARED_FROM = 3
"""Number of points of one body from which they share its twist: six rows instead of three for each
point. A box of eight corners has rank six, and a foot of four points takes a sixth fewer
operations."""


class ContactPoint(NamedTuple):
    """A sphere that may touch the ground: a link, the centre in its frame [m], the radius [m]."""

    link: str
    centre: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class PointContact:
    """One point at a configuration.

    `height`: of its lowest point above the ground, along the normal, negative inside [m]. `first`:
    its first row. `arm`: from the origin of six rows to the contact, in the world's axes
    [m]; None if it has three rows of its own. `axes`: rotation from the contact's axes, whose z is
    the ground's normal, to the world's; None if they are equal. Own rows are in the contact's axes,
    shared ones in the world's. `friction`: the ground's factor on the coefficient at the contact.
    `moments`: the number of its friction moments: 0, 1 about the normal, or 3 about all axes. `along`:
    the direction of a pyramidal friction cone's first edges, in the contact's axes; None for x.
    """

    height: Scalar
    first: int
    arm: Vector | None
    axes: Rotation | None = None
    friction: Scalar = 1.0
    moments: int = 0
    along: Vector | None = None

    @property
    def rows(self) -> int:
        """The number of its rows: its own, three and one for each moment, or six shared ones."""
        return 3 + self.moments if self.arm is None else 6

    def on_rows(self, impulse: Vector) -> list[Scalar]:
        """The entries of an impulse at the point, given in the contact's axes, on its rows: the
        impulse, and its moment if there are six rows."""
        if self.arm is None:
            return [*impulse]
        impulse = self.to_world(impulse)
        return [*impulse, *self.arm.cross(impulse)]

    def velocity(self, rows: Sequence[Scalar]) -> Vector:
        """Velocity of the point in the contact's axes, from a vector over all rows."""
        linear = Vector(*rows[self.first : self.first + 3])
        if self.arm is None:
            return linear
        return self.from_world(
            linear + Vector(*rows[self.first + 3 : self.first + 6]).cross(self.arm)
        )

    def moment_on_rows(self, moment: Vector) -> list[Scalar]:
        """The entries of a moment, given in the contact's axes, on its rows."""
        if self.arm is None:
            return [0.0, 0.0, 0.0, *components(moment, self.moments)]
        return [0.0, 0.0, 0.0, *self.to_world(moment)]

    def spin(self, rows: Sequence[Scalar]) -> Vector:
        """Angular velocity of the body in the contact's axes, from a vector over all rows. With one
        moment only the entry about the normal is known, and the others are zero."""
        first = self.first + 3
        if self.arm is not None:
            return self.from_world(Vector(*rows[first : first + 3]))
        if self.moments == 1:
            return Vector(0.0, 0.0, rows[first])
        return Vector(*rows[first : first + 3])

    def to_world(self, u: Vector) -> Vector:
        """A vector in the contact's axes, turned to the world's."""
        return u if self.axes is None else self.axes.to_parent(u)

    def from_world(self, u: Vector) -> Vector:
        """A vector in the world's axes, turned to the contact's."""
        return u if self.axes is None else self.axes.to_child(u)


def contact_rows(
    tree: Tree,
    q: Sequence[Scalar],
    points: Sequence[ContactPoint],
    terrain: Terrain | None = None,
    moments: Sequence[int] = (),
    halfway: Sequence[float | None] = (),
    along: Sequence[Sequence[float] | None] = (),
) -> tuple[list[PointContact], list[list[Scalar]]]:
    """The points at a configuration, and the rows J of their velocities. `moments`: the number of
    friction moments of each point; empty if no point has some. `halfway`: the part of a sphere's
    radius that is a margin [m], of points that touch halfway between the ground and their shape, as
    in MuJoCo; None for others, which touch at the lowest point of their sphere. `along`: directions of
    the first edges of friction pyramids, in the axes of the points' links.

    Rows of bodies that a free root carries are computed in the root's axes, where most of them are
    shortest, and turned at the end. RBDA section 3.3.
    """
    by_body: dict[int, list[int]] = {}
    for n, point in enumerate(points):
        by_body.setdefault(tree.frames[point.link].body, []).append(n)
    roots = {body: _root(tree, body) for body in by_body}
    origins = {root: _origin(tree, q, root) for root in dict.fromkeys(roots.values())}
    carried = {root: [body for body in by_body if roots[body] == root] for root in origins}
    placements = {root: body_placements(tree, q, carried[root], root) for root in origins}
    contacts: dict[int, PointContact] = {}
    rows: list[list[Scalar]] = []
    for body, members in by_body.items():
        base = roots[body]
        X, (turn, origin, up) = placements[base], origins[base]
        # Three or more points of a body share the six rows of its twist, about the body's origin.
        # Fewer have rows of their own, at the point that touches and in the contact's axes.
        shares = len(members) >= SHARED_FROM
        first = len(rows)
        if shares:
            rows += _rows(tree, X, body, base, X[body].p, turn, angular=True)
        for n in members:
            frame = tree.frames[points[n].link]
            inside = frame.placement.point_to_parent(Vector(*points[n].centre))
            centre = X[body].point_to_parent(inside)
            axes, normal, to_contact = None, up, turn
            share: Scalar = 1.0
            if terrain is None:
                height = up.dot(centre) + origin.z - points[n].radius
            else:
                at = turn.to_parent(centre) + origin
                patch = terrain.below(at.x, at.y)
                axes, share = patch.axes(), patch.friction
                ahead, _, normal = axes.matrix.T.rows
                ahead, normal = turn.to_child(ahead), turn.to_child(normal)
                to_contact = Rotation((ahead, normal.cross(ahead), normal))
                height = (at.z - patch.height) * axes.matrix.rows[2].z - points[n].radius
            reach: Scalar = points[n].radius
            if halfway and (margin := halfway[n]) is not None:
                reach = (height - margin) * 0.5 + reach
            touching = centre - normal * reach
            turning = moments[n] if moments else 0
            edges = None
            if along and (direction := along[n]) is not None:
                inside = frame.placement.R.to_parent(Vector(*direction))
                edges = to_contact.to_parent(X[body].R.to_parent(inside))
            if shares:
                arm = turn.to_parent(touching - X[body].p)
                contacts[n] = PointContact(height, first, arm, axes, share, turning, edges)
            else:
                contacts[n] = PointContact(height, len(rows), None, axes, share, turning, edges)
                own = _rows(tree, X, body, base, touching, to_contact, angular=turning > 0)
                rows += [*own[:3], *own[6 - turning :]]
    return [contacts[n] for n in range(len(points))], rows


def impulse_width(moments: Iterable[int]) -> int:
    """Entries of each point's impulse in the world's axes: 3, or 6 with its moment if some points
    have friction moments."""
    return 6 if any(moments) else 3


def components(moment: Vector, count: int) -> list[Scalar]:
    """The entries of a moment in a contact's axes that a contact with `count` moments has."""
    return [*moment] if count == 3 else [moment.z] * count


def moment_of(entries: Sequence[Scalar]) -> Vector:
    """The moment in a contact's axes with these `components`."""
    if len(entries) == 3:
        return Vector(*entries)
    return Vector(0.0, 0.0, entries[0] if entries else 0.0)


def in_contact_axes(contacts: Sequence[PointContact], impulses: Sequence[Scalar]) -> list[Scalar]:
    """Impulses on points, `impulse_width` each, turned from the world's axes to those of the
    contacts: 3 each, and one for each moment."""
    width = impulse_width(contact.moments for contact in contacts)
    turned: list[Scalar] = []
    for n, contact in enumerate(contacts):
        mine = impulses[width * n : width * (n + 1)]
        turned += contact.from_world(Vector(*mine[:3]))
        if contact.moments:
            turned += components(contact.from_world(Vector(*mine[3:])), contact.moments)
    return turned


def in_world_axes(contacts: Sequence[PointContact], impulses: Sequence[Scalar]) -> list[Scalar]:
    """Impulses on points, 3 each and one for each moment, turned from the axes of the contacts to
    the world's: `impulse_width` each."""
    width = impulse_width(contact.moments for contact in contacts)
    turned: list[Scalar] = []
    first = 0
    for contact in contacts:
        mine = impulses[first : first + 3 + contact.moments]
        first += len(mine)
        turned += contact.to_world(Vector(*mine[:3]))
        if width == 6:
            turned += contact.to_world(moment_of(mine[3:]))
    return turned


def _root(tree: Tree, body: int) -> int:
    """The body in whose axes the rows of a body are computed: the free root that carries it, or the
    world."""
    first = tree.path(body)[:1]
    return first[0] if first and first[0] in free_roots(tree) else WORLD


def _origin(tree: Tree, q: Sequence[Scalar], root: int) -> tuple[Rotation, Vector, Vector]:
    """Rotation of a root's axes to the world's, its origin, and the upward direction in its
    axes."""
    if root == WORLD:
        return IDENTITY, ZERO, UPWARDS
    X = tree.bodies[root].placement(q)
    turn = as_matrix(X.R)
    return turn, X.p, turn.to_child(UPWARDS)


def free_roots(tree: Tree) -> list[int]:
    """Bodies that move freely in the world and have a twist in their own axes as velocity: the free
    base, or bodies on free joints to the world."""
    return [i for i, body in enumerate(tree.bodies) if body.parent == WORLD and body.kind.nv == 6]


def joint_coordinates(tree: Tree) -> list[int]:
    """Coordinates of v that belong to joints, not to free bodies."""
    free = {k for i in free_roots(tree) for k in tree.bodies[i].v_index}
    return [k for k in range(tree.nv) if k not in free]


def _rows(
    tree: Tree,
    X: dict[int, Placement],
    body: int,
    base: int,
    origin: Vector,
    turn: Rotation,
    angular: bool,
) -> list[list[Scalar]]:
    """Rows of the velocity of a body's point at `origin`, and of its angular velocity."""
    columns = [
        (k, Placement(X[i].R, X[i].p - origin).motion_to_parent(S))
        for i in path_beyond(tree, body, base)
        for k, S in tree.bodies[i].subspace
    ]
    if base != WORLD:
        for k, S in tree.bodies[base].subspace:
            columns.append((k, Motion(S.linear + S.angular.cross(origin), S.angular)))
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6 if angular else 3)]
    for k, motion in columns:
        parts = [*turn.to_parent(motion.linear)]
        if angular:
            parts += turn.to_parent(motion.angular)
        for row, x in zip(rows, parts, strict=True):
            row[k] = row[k] + x
    return rows
