"""Shapes at random poses, their signed distances by coal and Qhull, and laws that contacts obey."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from warpdyn.algebra.quaternions import quaternion_exp, quaternion_rotation
from warpdyn.algebra.rotations import Rotation, Vector, as_matrix
from warpdyn.algebra.spatial import Placement
from warpdyn.algorithms.collision.contact import Contact, ShapeAt

NarrowPhase = Callable[[ShapeAt, ShapeAt], list[Contact]]

SIZES = {"sphere": 1, "capsule": 2, "box": 3, "plane": 0, "mesh": 0}
"""Numbers of a size, by kind."""


def rotation(draw: np.random.Generator) -> Rotation:
    return quaternion_rotation(quaternion_exp(draw.uniform(-1.8, 1.8, 3).tolist()))


def rotation_of(angles: tuple[float, float, float]) -> Rotation:
    """The rotation of a rotation vector [rad]."""
    return quaternion_rotation(quaternion_exp(list(angles)))


def vertices(draw: np.random.Generator, count: int) -> tuple[tuple[float, float, float], ...]:
    """Random points on an ellipsoid."""
    points = draw.normal(size=(count, 3))
    points *= np.array([0.1, 0.15, 0.08]) / np.linalg.norm(points, axis=1)[:, None]
    return tuple((x, y, z) for x, y, z in points.tolist())


def box_vertices(x: float, y: float, z: float) -> tuple[tuple[float, float, float], ...]:
    return tuple((i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1))


def shape(
    kind: str,
    size: tuple[float, ...],
    p: tuple[float, ...] = (0.0, 0.0, 0.0),
    R: Rotation | None = None,
    corners: tuple[tuple[float, float, float], ...] = (),
) -> ShapeAt:
    return ShapeAt(kind, size, Placement(R or rotation_of((0.0, 0.0, 0.0)), Vector(*p)), corners)


def random_shape(
    kind: str, draw: np.random.Generator, spread: float = 0.12, count: int = 12
) -> ShapeAt:
    """A random shape of about 0.1 m. The centres of two are about `spread` apart, so that many of
    them overlap."""
    size = {
        "sphere": draw.uniform(0.02, 0.2, 1),
        "capsule": draw.uniform((0.02, 0.0), (0.1, 0.3)),
        "box": draw.uniform(0.03, 0.3, 3),
    }.get(kind, np.zeros(0))
    corners = vertices(draw, count) if kind == "mesh" else ()
    p = draw.normal(size=3) * spread
    return shape(kind, tuple(size.tolist()), tuple(p.tolist()), rotation(draw), corners)


def move_shape(a: ShapeAt, by: Placement) -> ShapeAt:
    """The shape after a motion of the whole world."""
    return replace(a, placement=by.compose(a.placement).as_matrix())


def shift_shape(a: ShapeAt, by: Vector) -> ShapeAt:
    return replace(a, placement=Placement(a.placement.R, a.placement.p + by))


def array(x: Vector) -> np.ndarray:
    return np.array([*x], dtype=float)


def pose(a: ShapeAt) -> tuple[np.ndarray, np.ndarray]:
    """The rotation matrix and the origin of a shape."""
    rows = as_matrix(a.placement.R).matrix.rows
    return np.array([[*row] for row in rows], dtype=float), array(a.placement.p)


def distance(a: ShapeAt, b: ShapeAt) -> float:
    """The signed distance. Qhull computes it if a shape is a mesh and none is a plane, else coal
    does."""
    kinds = {a.kind, b.kind}
    if "mesh" in kinds:
        if "plane" in kinds:
            plane, mesh = (a, b) if a.kind == "plane" else (b, a)
            R, p = pose(plane)
            return float(((corners_of(mesh) - p) @ R[:, 2]).min())
        return distance_of_hulls(corners_of(a), corners_of(b)) - _rounding(a) - _rounding(b)
    coal = pytest.importorskip("coal")
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    poses = [coal.Transform3s(*pose(x)) for x in (a, b)]
    return coal.distance(_geometry(a), poses[0], _geometry(b), poses[1], request, result)


def _geometry(a: ShapeAt):  # type: ignore[no-untyped-def]
    import coal

    if a.kind == "box":
        return coal.Box(*(2 * x for x in a.size))
    if a.kind == "capsule":
        return coal.Capsule(a.size[0], 2 * a.size[1])
    return coal.Sphere(*a.size) if a.kind == "sphere" else coal.Halfspace(0, 0, 1, 0)


def _rounding(a: ShapeAt) -> float:
    return float(a.size[0]) if a.kind in ("sphere", "capsule") else 0.0  # type: ignore[arg-type]


def corners_of(a: ShapeAt) -> np.ndarray:
    """Corners of a mesh or box, ends of a capsule's axis, or the centre of a sphere, in the
    world."""
    R, p = pose(a)
    inside = {
        "mesh": a.vertices,
        "box": box_vertices(*a.size) if a.kind == "box" else (),  # type: ignore[arg-type]
        "capsule": ((0, 0, -a.size[-1]), (0, 0, a.size[-1])) if a.kind == "capsule" else (),  # type: ignore[operator]
        "sphere": ((0, 0, 0),),
    }[a.kind]
    return np.array(inside, dtype=float) @ R.T + p


def distance_of_hulls(a: np.ndarray, b: np.ndarray) -> float:
    """The distance of the origin from the hull of all differences of corners. Inside it is that of
    the nearest face, outside that of the nearest point on the triangles."""
    hull = pytest.importorskip("scipy.spatial").ConvexHull
    differences = (a[:, None] - b[None]).reshape(-1, 3)
    found = hull(differences)
    normals, offsets = found.equations[:, :3], found.equations[:, 3]
    if offsets.max() < 0:
        return float(offsets.max())
    p, q, r = differences[found.simplices].transpose(1, 0, 2)
    n, foot = np.cross(q - p, r - p), -normals * offsets[:, None]
    area = (n * n).sum(1)
    s = (np.cross(foot - p, r - p) * n).sum(1) / area
    t = (np.cross(q - p, foot - p) * n).sum(1) / area
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    least = [np.abs(offsets[inside]).min()] if inside.any() else []
    for u, w in ((p, q), (q, r), (r, p)):
        along = np.clip(-(u * (w - u)).sum(1) / ((w - u) ** 2).sum(1), 0, 1)
        least.append(np.linalg.norm(u + (w - u) * along[:, None], axis=1).min())
    return float(min(least))


def outside(a: ShapeAt, x: np.ndarray) -> float:
    """The signed distance of a point from a shape."""
    point = shape("sphere", (0.0,), tuple(x.tolist()))
    return distance(point, a)


def gaps(found: list[Contact]) -> np.ndarray:
    return np.array([contact.gap for contact in found], dtype=float)


def deepest(found: list[Contact]) -> Contact:
    return found[int(gaps(found).argmin())]


# Errors of laws that contacts obey, in metres or as numbers of size one.


def swap_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt) -> float:
    """Error of the law that swapped shapes have the same least gap, and the opposite normal
    there."""
    one, two = deepest(contacts(a, b)), deepest(contacts(b, a))
    turned_back = np.abs(array(one.normal) + array(two.normal)).max()
    return max(abs(one.gap - two.gap), turned_back)  # type: ignore[operator, type-var, return-value]


def motion_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt, by: Placement) -> float:
    """Error of the law that a moved scene has the same least gap, at the moved position and
    normal."""
    one = deepest(contacts(a, b))
    two = deepest(contacts(move_shape(a, by), move_shape(b, by)))
    errors = (
        array(by.point_to_parent(one.position)) - array(two.position),
        array(by.R.to_parent(one.normal)) - array(two.normal),
    )
    return max(abs(one.gap - two.gap), *(np.abs(x).max() for x in errors))  # type: ignore[operator, type-var, return-value]


def slope_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt, step: float = 1e-6) -> float:
    """Error of the law that the least gap grows by 1 m for each metre along its normal."""
    first = deepest(contacts(a, b))
    further = deepest(contacts(a, shift_shape(b, first.normal * step)))
    return abs((further.gap - first.gap) / step - 1.0)  # type: ignore[operator, arg-type, return-value]


def touching_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt) -> float:
    """Error of the law that two shapes touch after one is moved along the normal by the least
    gap."""
    first = deepest(contacts(a, b))
    return abs(distance(a, shift_shape(b, first.normal * -first.gap)))  # type: ignore[operator]


def surface_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt) -> float:
    """Error of the law that half the gap from the position, against and along the normal, is on the
    two surfaces."""
    first = deepest(contacts(a, b))
    x, n = array(first.position), array(first.normal)
    return max(
        abs(outside(a, x - n * (0.5 * first.gap))),  # type: ignore[operator]
        abs(outside(b, x + n * (0.5 * first.gap))),  # type: ignore[operator]
    )


def position_error(contacts: NarrowPhase, a: ShapeAt, b: ShapeAt) -> float:
    """Error of the law that the deepest contact is within half its gap of both surfaces."""
    first = deepest(contacts(a, b))
    x, half = array(first.position), 0.5 * abs(first.gap)  # type: ignore[operator, arg-type]
    return max(abs(outside(s, x)) - half for s in (a, b))  # type: ignore[no-any-return]
