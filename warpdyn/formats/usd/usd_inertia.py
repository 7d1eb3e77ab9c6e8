"""Mass, centre of mass and inertia of a USD body whose stage leaves them to its shapes.

usd-core adds them up, by the densities of bodies, shapes and materials. This module supplies each
shape's volume and inertia at density 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...model.mesh_files import MeshError
from ...model.scene.solids import Box, Capsule, Cylinder, Moments, Sphere
from ..meshes.mesh_surface import hull_of

SAME = 1e-5
"""Relative tolerance for the scales across a round shape: round-off of single precision."""

AXES_OF_SHAPES = "those of its shapes are taken; write principalAxes"
"""Remark on a body that writes moments of inertia alone; usd-core then computes their axes."""


class RoundShape(NamedTuple):
    """A sphere, cylinder or capsule, in the unit of its scales."""

    radius: float
    height: float
    """Height; 0 for a sphere."""
    axis: int
    """Index of its axis among x, y, z."""


ROUND: dict[str, type[Cylinder] | type[Capsule]] = {"Cylinder": Cylinder, "Capsule": Capsule}


def mesh_moments(points: np.ndarray, triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre of mass, and inertia (3, 3) about it at density 1, of a closed surface.

    points (n, 3), triangles (m, 3): sums over tetrahedra from the origin to each triangle (Tonon,
    J. Mathematics and Statistics 1, 2005); zeros if the surface encloses nothing.
    """
    corners = points[triangles]
    volumes = np.linalg.det(corners) / 6
    V = volumes.sum()
    if not V:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = (volumes @ corners.sum(axis=1)) / 4 / V
    about = corners - centre
    total = about.sum(axis=1)
    # For a tetrahedron with a corner at the origin: ∫ x xᵀ = V/20 (Σ c cᵀ + Σ c Σ cᵀ).
    volumes = np.linalg.det(about) / 6
    second = np.einsum("t,tci,tcj->ij", volumes, about, about)
    second = (second + np.einsum("t,ti,tj->ij", volumes, total, total)) / 20
    J = np.trace(second) * np.eye(3) - second
    return abs(V), centre, J * np.sign(V)


def surface_moments(prim: Any, scale: np.ndarray) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Moments of a mesh, or of its convex hull if that is its collision shape. None for other
    collision shapes, and for meshes that enclose nothing."""
    words = [
        prim.GetAttribute(x).Get() for x in ("points", "faceVertexCounts", "faceVertexIndices")
    ]
    approximation = str(prim.GetAttribute("physics:approximation").Get() or "none")
    if not all(words) or approximation not in ("none", "convexHull"):
        return None
    points, counts, corners = (
        np.array(words[0], float) * scale,
        np.array(words[1]),
        np.array(words[2]),
    )
    # Numbers of an untrusted file index arrays below, so that they are checked first.
    ends = np.cumsum(counts)
    if (
        counts.min() < 3
        or ends[-1] != len(corners)
        or not 0 <= corners.min() <= corners.max() < len(points)
    ):
        return None
    # A face of n corners becomes a fan of n - 2 triangles.
    triangles = np.array(
        [
            (corners[end - n], corners[k], corners[k + 1])
            for n, end in zip(counts, ends, strict=True)
            for k in range(end - n + 1, end - 1)
        ]
    )
    try:
        if approximation == "convexHull":
            points, triangles = hull_of(points)
        V, centre, J = mesh_moments(points, triangles)
    except MeshError:
        return None
    return (V, centre, J) if np.isfinite(J).all() and V > 0 else None


def round_shape(prim: Any, sizes: np.ndarray) -> RoundShape | None:
    """A round shape with these scales along its axes; None for other shapes and for ovals."""

    def size(name: str) -> float:
        return float(prim.GetAttribute(name).Get())

    kind = str(prim.GetTypeName())
    if kind != "Sphere" and kind not in ROUND:
        return None
    axis = "XYZ".index(str(prim.GetAttribute("axis").Get())) if kind in ROUND else 2
    across = np.delete(sizes, axis) if kind in ROUND else sizes
    if not np.ptp(across) < SAME * across[0]:
        return None
    height = size("height") * sizes[axis] if kind in ROUND else 0.0
    return RoundShape(size("radius") * across[0], height, axis)


def shape_moments(prim: Any, scale: np.ndarray) -> Moments | None:
    """Moments of a round shape or a cube of this size in the stage's unit; None for other
    shapes."""
    kind, sizes = str(prim.GetTypeName()), np.abs(scale)
    if kind == "Cube":
        return Box(*(float(prim.GetAttribute("size").Get()) * sizes).tolist()).moments
    shape = round_shape(prim, sizes)
    if shape is None:
        return None
    if kind == "Sphere":
        return Sphere(shape.radius).moments
    V, (across, _, along) = ROUND[kind](shape.radius, shape.height).moments
    x, y, z = (along if i == shape.axis else across for i in range(3))
    return V, (x, y, z)


def mass_properties(
    pxr: Any, body: Any, placed: Callable[[Any], tuple[np.ndarray, np.ndarray]]
) -> tuple[float, Any, Any, Any] | str:
    """Mass, moments, centre of mass and principal axes in the stage's units; or the path of a shape
    whose volume cannot be computed here.

    placed: placement of a prim in the body, in the stage's unit, and its scale.
    """
    unknown: list[str] = []

    def information(prim: Any) -> Any:
        made = pxr.UsdPhysics.RigidBodyAPI.MassInformation()
        X, scale = placed(prim)
        if str(prim.GetTypeName()) == "Mesh":
            known = surface_moments(prim, scale)
        else:
            shape = shape_moments(prim, scale)
            known = shape and (shape[0], np.zeros(3), np.diag(shape[1]))
        if known is None:
            unknown.append(str(prim.GetPath()))
            known = (1.0, np.zeros(3), np.eye(3))
        made.volume, centre, inertia = known
        made.inertia = pxr.Gf.Matrix3f(*inertia.ravel().tolist())
        made.centerOfMass = pxr.Gf.Vec3f(*centre.tolist())
        made.localPos = pxr.Gf.Vec3f(*X[:3, 3].tolist())
        rows = pxr.Gf.Matrix3d(*X[:3, :3].T.ravel().tolist())  # pxr multiplies row vectors
        made.localRot = pxr.Gf.Quatf(rows.ExtractRotation().GetQuat())
        return made

    found = pxr.UsdPhysics.RigidBodyAPI(body).ComputeMassProperties(information)
    return unknown[0] if unknown else found


def takes_axes_of_shapes(pxr: Any, body: Any, axes: Any) -> bool:
    """True if a body writes its principal moments alone, and the principal axes of its shapes, the
    quaternion `axes`, are not its own."""
    api = pxr.UsdPhysics.MassAPI(body)
    own = api.GetPrincipalAxesAttr().Get()
    has_axes = own is not None and own.GetLength() > 0
    moments = api.GetDiagonalInertiaAttr().Get() or ()
    return any(moments) and not has_axes and abs(axes.GetReal()) < 1.0 - SAME
