"""Spheres that replace a robot's collision shapes in contact with the ground: a plane touches a
convex shape exactly where it touches the spheres at the shape's corners."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from ..algebra.spatial import Placement, Vector
from .description import Geometry, Joint
from .ground_contact import GroundContact
from .mesh_files import MeshError
from .poses_and_limits import Pose, Vector3, vector3
from .structure import Structure

RIM = 8
"""Points on each rim of a cylinder."""

CLOSE = 1e-6
"""Tolerance [m] for a sphere that counts as lying inside another."""


class CollisionSphere(NamedTuple):
    """A sphere of a link's collision shape: its centre in the link's frame and its radius [m], and
    the shape's contact with the ground, if the description gives it."""

    link: str
    centre: Vector3
    radius: float
    on_ground: GroundContact | None = None


class LeftOut(NamedTuple):
    """A collision shape without contact points: its link, the shape, and the reason."""

    link: str
    shape: str
    why: str


Corners = Callable[[Geometry], Sequence[Vector3]]
"""Points of a mesh in the shape's frame [m]. Raises `MeshError` if it has none."""


def collision_spheres(
    model: Structure, corners: Corners, spacing: float | None = None
) -> tuple[list[CollisionSphere], list[LeftOut]]:
    """Spheres of all collision shapes, in the order of the links, and the shapes that have none.

    A sphere gives one, a capsule two at the centres of its ends, a box its eight corners, a
    cylinder eight points on each rim, a mesh its `corners`, a plane none. `spacing`: the largest
    distance of neighbouring points on the edges and faces of boxes [m]; None: corners alone. A margin
    of the contact with the ground is part of the radius. Two kinds of spheres are dropped silently:
    those that cannot move, and those that lie inside another one at every position of the joint
    between their links. Where two links with round ends meet at a joint, one sphere is enough.
    """
    spheres: list[CollisionSphere] = []
    left: list[LeftOut] = []
    bodies = _bodies(model)
    for link in model.links:
        if link.name not in bodies:
            continue
        for shape in link.collisions:
            if shape.on_ground is not None and not shape.on_ground.touches:
                continue
            try:
                margin = 0.0 if shape.on_ground is None else shape.on_ground.margin
                contact = _along_capsules(shape)
                for centre, radius in _spheres(shape, corners, spacing):
                    at = vector3(shape.pose.placement.point_to_parent(Vector(*centre)))
                    spheres.append(CollisionSphere(link.name, at, radius + margin, contact))
            except MeshError as error:
                left.append(
                    LeftOut(link.name, f"the mesh {shape.filename or ''}".strip(), str(error))
                )
    return _outermost(model, bodies, spheres), left


def _along_capsules(shape: Geometry) -> GroundContact | None:
    """The shape's contact with the ground. MuJoCo's friction pyramids of capsules have edges along them."""
    contact = shape.on_ground
    if contact is None or contact.softness is None or shape.shape != "capsule":
        return contact
    axis = vector3(shape.pose.placement.R.to_parent(Vector(0.0, 0.0, 1.0)))
    return contact._replace(softness=contact.softness._replace(along=axis))


# Shapes.

Round = list[tuple[Vector3, float]]
"""Centres in the shape's frame [m], and radii [m]."""


def _spheres(shape: Geometry, corners: Corners, spacing: float | None) -> Round:
    if shape.shape == "mesh":
        return [(corner, 0.0) for corner in corners(shape)]
    if shape.shape == "box" and spacing is not None:
        return _box_grid(shape.size, spacing)
    return SHAPES[shape.shape](*shape.size)


def _sphere(radius: float) -> Round:
    return [((0.0, 0.0, 0.0), radius)]


def _capsule(radius: float, length: float) -> Round:
    return [((0.0, 0.0, z), radius) for z in (-length / 2, length / 2)]


def _box(x: float, y: float, z: float) -> Round:
    signs = product((-0.5, 0.5), repeat=3)
    return [((a * x, b * y, c * z), 0.0) for a, b, c in signs]


def _box_grid(size: Sequence[float], spacing: float) -> Round:
    """The corners of a box, then further points of a grid on its edges and faces."""
    lines = []
    for side in size:
        gaps = max(math.ceil(side / spacing - CLOSE), 1)
        lines.append([side * (k / gaps - 0.5) for k in range(gaps + 1)])
    ends = [(line[0], line[-1]) for line in lines]
    surface = [p for p in product(*lines) if any(x in e for x, e in zip(p, ends, strict=True))]
    surface.sort(key=lambda p: not all(x in e for x, e in zip(p, ends, strict=True)))
    return [(vector3(p), 0.0) for p in surface]


def _plane(_x: float, _y: float) -> Round:
    return []


def _cylinder(radius: float, length: float) -> Round:
    turns = [2 * math.pi * k / RIM for k in range(RIM)]
    return [
        ((radius * math.cos(t), radius * math.sin(t), z), 0.0)
        for z in (-length / 2, length / 2)
        for t in turns
    ]


SHAPES: dict[str, Callable[..., Round]] = {
    "sphere": _sphere,
    "capsule": _capsule,
    "box": _box,
    "plane": _plane,
    "cylinder": _cylinder,
}
"""The function that turns the sizes of each shape (`Geometry.shape`) into spheres."""


# Spheres inside others.


def _bodies(model: Structure) -> dict[str, tuple[str, Placement]]:
    """The first link of the rigid body of each link that can move, and the link's placement in
    that first link."""
    bodies: dict[str, tuple[str, Placement]] = {}
    if model.floating_base:
        bodies[model.root] = model.root, Pose().placement
    for joint in model.joints:
        if joint.kind.nv:
            bodies[joint.child] = joint.child, Pose().placement
        elif joint.parent in bodies:
            first, place = bodies[joint.parent]
            bodies[joint.child] = first, place.compose(joint.pose.placement).as_matrix()
    return bodies


def _outermost(
    model: Structure, bodies: dict[str, tuple[str, Placement]], spheres: list[CollisionSphere]
) -> list[CollisionSphere]:
    """The spheres that move and do not lie inside another. The other sphere may belong to the same
    body or, for spheres on a hinge's axis, to the neighbouring body. Of equal spheres the first is
    kept."""
    members: dict[str, list[int]] = {}
    centres: dict[int, Vector3] = {}
    for n, sphere in enumerate(spheres):
        first, place = bodies[sphere.link]
        members.setdefault(first, []).append(n)
        centres[n] = vector3(place.point_to_parent(Vector(*sphere.centre)))
    hidden: set[int] = set()

    def hide(near: Sequence[tuple[int, Vector3]]) -> None:
        for (a, p), (b, r) in product(near, repeat=2):
            reach = math.dist(p, r) + spheres[a].radius - spheres[b].radius
            equal = spheres[a].radius + CLOSE >= spheres[b].radius
            if a != b and reach <= CLOSE and (not equal or a > b):
                hidden.add(a)

    for inside in members.values():
        hide([(n, centres[n]) for n in inside])
    # A point on a hinge's axis stays where it is as the hinge turns, so that spheres of both bodies
    # can be compared there once for all positions.
    for joint in model.joints:
        if not joint.kind.single or not joint.kind.turns or joint.kind.threaded:
            continue
        mine = [n for n in members.get(joint.child, ()) if _on_axis(joint, centres[n])]
        if joint.parent not in bodies:  # the world carries it: these never move
            hidden.update(mine)
            continue
        above, place = bodies[joint.parent]
        onto = place.compose(joint.pose.placement)
        around = [(n, centres[n]) for n in mine]
        for n in members.get(above, ()):
            at = vector3(onto.R.to_child(Vector(*centres[n]) - onto.p))
            if _on_axis(joint, at):
                around.append((n, at))
        hide(around)
    return [sphere for n, sphere in enumerate(spheres) if n not in hidden]


def _on_axis(joint: Joint, point: Vector3) -> bool:
    """True if a point, in the frame that a joint carries, stays where it is as the joint turns."""
    beside = Vector(*joint.axis).cross(Vector(*point))
    return math.hypot(*map(float, vector3(beside))) <= CLOSE
