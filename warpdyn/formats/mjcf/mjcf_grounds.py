"""MJCF: planes and height fields of the world that stand for the ground of a simulation."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.names import ModelError
from ...model.poses_and_limits import Pose
from .mjcf_contact_attributes import may_touch
from .mjcf_inertia import Part
from .mjcf_values import MjcfValues

GROUNDS = ("plane", "hfield")
"""Kinds of the world's geoms that stand for the ground of a simulation, z = 0 or `terrain=`."""


def is_level_at_zero(pose: Pose) -> bool:
    """True for the pose of a plane z = 0, the default ground of a simulation."""
    return abs(pose.position[2]) < 1e-9 and pose.rotation[2][2] > 1.0 - 1e-9


def grounds_of(values: MjcfValues, geoms: Sequence[Part]) -> list[dict[str, str]]:
    """The attributes of the world's geoms that are the ground.

    These are its planes z = 0, then its height fields, which `terrain=` replaces. Other planes are
    walls or ramps next to these. They are the ground only if the planes z = 0 and height fields are
    drawn but cannot be touched.
    """
    level: list[dict[str, str]] = []
    fields: list[dict[str, str]] = []
    others: list[dict[str, str]] = []
    for element, written, X in geoms:
        if written.get("type") == "hfield":
            fields.append(written)
        elif written.get("type") == "plane":
            try:
                pose = Pose.of(X.compose(values.shape_placement(element, written)))
            except (ModelError, ValueError, IndexError):
                continue
            (level if is_level_at_zero(pose) else others).append(written)
    grounds = level + fields
    return grounds if any(map(may_touch, grounds)) else grounds + others
