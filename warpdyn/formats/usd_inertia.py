"""Mass, centre of mass and inertia of a USD body whose stage leaves them to its shapes.

usd-core adds them up, by the densities of bodies, shapes and materials; here is what it asks of
each shape: its volume and inertia at density 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

SAME = 1e-5
"""How far scales across a round shape may be apart, relative: round-off of single precision."""

Moments = tuple[float, tuple[float, float, float]]
"""Volume, and moments about x, y, z through its middle at density 1."""


def box(a: float, b: float, c: float) -> Moments:
    """Edges along x, y, z."""
    V = a * b * c
    return V, (V / 12 * (b * b + c * c), V / 12 * (a * a + c * c), V / 12 * (a * a + b * b))


def cylinder(r: float, h: float) -> tuple[float, float, float]:
    """Volume, moment across and moment along."""
    V = math.pi * r * r * h
    return V, V / 12 * (3 * r * r + h * h), V / 2 * r * r


def capsule(r: float, h: float) -> tuple[float, float, float]:
    """A cylinder between two half spheres, likewise; h between their centres."""
    V, across, along = cylinder(r, h)
    S = 4 / 3 * math.pi * r**3
    return V + S, across + S * (0.4 * r * r + h * h / 4 + 0.375 * h * r), along + 0.4 * S * r * r


ROUND = {"Cylinder": cylinder, "Capsule": capsule}


def shape_moments(prim: Any, scale: np.ndarray) -> Moments | None:
    """A shape of this size in the stage's unit; None for meshes and others."""

    def size(name: str) -> float:
        return float(prim.GetAttribute(name).Get())

    kind, sizes = str(prim.GetTypeName()), np.abs(scale)
    if kind == "Cube":
        return box(*(size("size") * sizes).tolist())
    if kind == "Sphere" and np.ptp(sizes) < SAME * sizes[0]:
        r = size("radius") * sizes[0]
        V = 4 / 3 * math.pi * r**3
        return V, (0.4 * V * r * r,) * 3
    if kind in ROUND:
        axis = "XYZ".index(str(prim.GetAttribute("axis").Get()))
        r, other = np.delete(sizes, axis)
        if abs(r - other) < SAME * r:
            V, across, along = ROUND[kind](size("radius") * r, size("height") * sizes[axis])
            x, y, z = (along if i == axis else across for i in range(3))
            return V, (x, y, z)
    return None


def mass_properties(
    pxr: Any, body: Any, placed: Callable[[Any], tuple[np.ndarray, np.ndarray]]
) -> tuple[float, Any, Any, Any] | str:
    """Mass, moments, centre of mass and principal axes in the stage's units; or the path of a shape
    whose volume is not known here.

    placed: placement of a prim in the body, in the stage's unit, and its scale.
    """
    unknown: list[str] = []

    def information(prim: Any) -> Any:
        made = pxr.UsdPhysics.RigidBodyAPI.MassInformation()
        X, scale = placed(prim)
        known = shape_moments(prim, scale)
        if known is None:
            unknown.append(str(prim.GetPath()))
            known = (1.0, (1.0, 1.0, 1.0))
        made.volume, moments = known
        made.inertia = pxr.Gf.Matrix3f(*np.diag(moments).ravel().tolist())
        made.centerOfMass = pxr.Gf.Vec3f(0.0)
        made.localPos = pxr.Gf.Vec3f(*X[:3, 3].tolist())
        rows = pxr.Gf.Matrix3d(*X[:3, :3].T.ravel().tolist())  # of row vectors, in pxr
        made.localRot = pxr.Gf.Quatf(rows.ExtractRotation().GetQuat())
        return made

    found = pxr.UsdPhysics.RigidBodyAPI(body).ComputeMassProperties(information)
    return unknown[0] if unknown else found
