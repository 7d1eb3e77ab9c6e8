"""Quantities that may vary between environments: their owners, shapes and valid numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.libraries import library_of
from .description import Joint
from .structure import Structure

LINK = {"mass": (), "com": (3,), "inertia": (6,)}
JOINT = {
    "placement": (7,),
    "axis": (3,),
    "armature": (),
    "viscous": (),
    "coulomb": (),
    "stiffness": (),
    "damping": (),
    "spring": (),
    "rest": (),
}
SHAPES: dict[str, tuple[int, ...]] = {**LINK, **JOINT}
"""Shape of the value of one link or joint, by quantity.

mass [kg]; com [m] in the link's frame; inertia Ixx Ixy Ixz Iyy Iyz Izz [kg·m²] about the centre of
mass in the link's axes; placement of the joint's frame in its parent link, x y z qx qy qz qw; axis
in the joint's frame, whose length is ignored; armature and joint effects as in
`Model.with_armature`, `with_friction`, `with_limit_springs`, `with_springs`.
"""

OF_ONE_COORDINATE = ("axis", "rest")
"""Quantities of joints that have one coordinate."""


def has_direction(joint: Joint) -> bool:
    """True if the joint moves along or about one axis that may vary. The axis of a gear may not,
    because its mimic ratio follows from it."""
    return joint.kind.single and joint.kind.has_axis and not joint.kind.geared


def check_owner(model: Structure, quantity: str, name: str) -> None:
    """Refuse quantities that a link or joint does not have."""
    # Fixed joints have a placement, but every other quantity of a joint needs coordinates.
    if quantity in LINK or quantity == "placement":
        return
    joint = model.joint(name)
    if not joint.kind.nv:
        raise ValueError(
            f'joint "{name}" of {model.name} is fixed; {quantity} belongs to a moving joint'
        )
    if quantity in OF_ONE_COORDINATE and not joint.kind.single:
        raise ValueError(
            f'joint "{name}" of {model.name} is a {joint.kind.name} joint; {quantity} is for joints '
            "of one coordinate"
        )
    if quantity == "spring" and not joint.kind.elastic:
        raise ValueError(
            f'joint "{name}" of {model.name} is a {joint.kind.name} joint; springs are for joints of '
            "one coordinate, ball and free joints"
        )
    if quantity == "axis" and not has_direction(joint):
        raise ValueError(
            f'joint "{name}" of {model.name} is a {joint.kind.name} joint, whose axis its ratio '
            "depends on; it cannot vary"
        )
    if quantity in ("stiffness", "damping") and not joint.bounded:
        raise ValueError(
            f'joint "{name}" of {model.name} has no position limits for {quantity} to act beyond; give it some: '
            f'model.with_limits("{name}", lower=..., upper=...)'
        )


def check_numbers(model: Structure, quantity: str, names: tuple[str, ...], array: Any) -> None:
    """Refuse invalid masses, frictions and axes, if the numbers can be read."""
    library = library_of(array)
    if quantity in ("com", "inertia", "placement", "rest") or not library.readable(array):
        return
    host = library.to_host(array)
    if quantity == "axis":
        length = np.linalg.norm(host, axis=-1)
        # In an array for all joints, rows of joints without a direction are ignored.
        idle = np.array([not has_direction(model.joint(name)) for name in names])
        sound, needed = idle | ((length > 0) & (length < np.inf)), "finite and not zero"
    else:
        sound, needed = (host >= 0) & (host < np.inf), "finite and not negative"
    wrong = np.argwhere(~sound)
    if len(wrong):
        *row, k = wrong[0].tolist()
        of = f'{"link" if quantity in LINK else "joint"} "{names[k]}" of {model.name}'
        where = f" in row {row[0]} of {len(host)}" if row else ""
        got = ", ".join(f"{x:g}" for x in np.ravel(host[(*row, k)]))
        raise ValueError(f"{quantity} of {of} must be {needed}, got {got}{where}")
