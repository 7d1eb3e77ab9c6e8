"""USD: visual and collision shapes of a body: cubes, spheres, cylinders and capsules as `Geometry`.

Meshes of a stage are stored in the stage, not in mesh files, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...model.description import Geometry
from ...model.poses_and_limits import Pose
from ..meshes.colors import Color
from .usd_inertia import round_shape
from .usd_values import UsdValues

TO_Z = (
    np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
    np.eye(4),
)
"""Rotations that turn the z axis to x, y or z: the axis of a cylinder or a capsule."""


class BodyGeometry(NamedTuple):
    """Visual shapes, collision shapes, and the number of shapes that are left out."""

    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]
    left_out: int


def shapes_of(values: UsdValues, body: Any) -> BodyGeometry:
    """Shapes of a body: visual ones are those that the stage shows, collision shapes those with
    collision enabled. Meshes, ovals and sheared shapes are left out."""
    usd = values.pxr.UsdGeom
    visuals: list[Geometry] = []
    collisions: list[Geometry] = []
    left_out = 0
    for prim in values.below(body):
        if not prim.IsA(usd.Gprim):
            continue
        seen = usd.Imageable(prim)
        shown = str(seen.ComputePurpose()) in ("default", "render")
        shown = shown and str(seen.ComputeVisibility()) != "invisible"
        touches = values.is_collider(prim)
        if not (shown or touches):
            continue
        shape = _shape(values, body, prim)
        if shape is None:
            left_out += 1
            continue
        visuals += [shape] if shown else []
        collisions += [shape] if touches else []
    return BodyGeometry(tuple(visuals), tuple(collisions), left_out)


def _shape(values: UsdValues, body: Any, prim: Any) -> Geometry | None:
    values.check(prim)
    if values.is_sheared(prim):
        return None
    kind = str(prim.GetTypeName())
    X, scale = values.in_stage(prim)
    X, sizes = np.linalg.inv(values.in_stage(body)[0]) @ X, np.abs(scale) * values.units.metre

    def make_geometry(shape: str, measures: Iterable[float], at: np.ndarray) -> Geometry:
        measured = values.numbers(prim, "its size", measures)
        return Geometry(
            shape, tuple(measured), None, Pose.of(at), prim.GetName(), color=_color(values, prim)
        )

    if kind == "Cube":
        return make_geometry("box", float(prim.GetAttribute("size").Get()) * sizes, X)
    shape = round_shape(prim, sizes)
    if shape is None:
        return None
    measures = (shape.radius,) if kind == "Sphere" else (shape.radius, shape.height)
    return make_geometry(kind.lower(), measures, X @ TO_Z[shape.axis])


def _color(values: UsdValues, prim: Any) -> Color | None:
    """The one display colour of the prim; None if it has none or several."""
    colors = values.pxr.UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
    if not colors or len(colors) != 1:
        return None
    red, green, blue = (min(max(float(x), 0.0), 1.0) for x in colors[0])
    return red, green, blue, 1.0
