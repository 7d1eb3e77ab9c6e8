"""Quantities that may vary between environments: their owners, shapes and valid numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from ..arrays.libraries import library_of
from .checks import NEGLIGIBLE, ROUNDING
from .description import Joint
from .structure import Structure

SCALE, ADD = "scale", "add"
"""Changes that `randomise` draws."""


@dataclass(frozen=True)
class VaryingQuantity:
    """A quantity of a link or of a joint.

    signed: its numbers may be negative. is_effect: it is an entry of a joint's `Effects`. is_param:
    it is an argument of `Model.params`. changes: how `randomise` may change it; without any it is
    no argument of `randomise`.
    """

    owner: Literal["link", "joint"]
    shape: tuple[int, ...] = ()
    _: KW_ONLY
    signed: bool = False
    is_effect: bool = False
    is_param: bool = True
    changes: tuple[str, ...] = ()


QUANTITIES: dict[str, VaryingQuantity] = {
    "mass": VaryingQuantity("link", changes=(SCALE, ADD)),
    "com": VaryingQuantity("link", (3,), signed=True, changes=(SCALE, ADD)),
    "inertia": VaryingQuantity("link", (6,), signed=True, changes=(SCALE,)),
    "placement": VaryingQuantity("joint", (7,), signed=True, changes=(ADD,)),
    "tilt": VaryingQuantity("joint", (3,), signed=True, is_param=False, changes=(ADD,)),
    "axis": VaryingQuantity("joint", (3,), signed=True),
    "armature": VaryingQuantity("joint", changes=(SCALE, ADD)),
    "viscous": VaryingQuantity("joint", is_effect=True, changes=(SCALE, ADD)),
    "coulomb": VaryingQuantity("joint", is_effect=True, changes=(SCALE, ADD)),
    "stiffness": VaryingQuantity("joint", is_effect=True, changes=(SCALE, ADD)),
    "damping": VaryingQuantity("joint", is_effect=True, changes=(SCALE, ADD)),
    "spring": VaryingQuantity("joint", is_effect=True),
    "rest": VaryingQuantity("joint", is_effect=True, signed=True),
}
"""Quantities of links and joints, in the order of the arguments of `Model.params` and `randomise`.

mass [kg]; com [m] in the link's frame; inertia Ixx Ixy Ixz Iyy Iyz Izz [kg·m²] about the centre of
mass in the link's axes; placement of the joint's frame in its parent link, x y z qx qy qz qw; tilt
[rad], a rotation vector that turns the placement; axis in the joint's frame, whose length is
ignored; armature and joint effects as in `Model.with_armature`, `with_friction`,
`with_limit_springs`, `with_springs`.
"""

SHAPES = {name: each.shape for name, each in QUANTITIES.items() if each.is_param}
"""Shape of the value of one link or joint, by quantity of `Model.params`."""

EFFECTS = tuple(name for name, each in QUANTITIES.items() if each.is_effect)
"""Quantities that are entries of a joint's `Effects`."""

DRAWN = tuple(name for name, each in QUANTITIES.items() if each.changes)
"""Quantities that `randomise` draws."""

OF_ONE_COORDINATE = ("axis", "rest")
"""Quantities of joints that have one coordinate."""


ROUNDED = 1e-3
"""Error that the length of a quaternion may have [1]: that of rounded numbers."""


def owners(model: Structure, quantity: str) -> Sequence[Any]:
    """All links, or all joints: the owners of the quantity."""
    return model.links if QUANTITIES[quantity].owner == "link" else model.joints


def has_direction(joint: Joint) -> bool:
    """True if the joint moves along or about one axis that may vary. The axis of a gear may not,
    because its mimic ratio follows from it."""
    return joint.kind.single and joint.kind.has_axis and not joint.kind.geared


def check_owner(model: Structure, quantity: str, name: str) -> None:
    """Refuse quantities that a link or joint does not have."""
    # Fixed joints have a placement, but every other quantity of a joint needs coordinates.
    if QUANTITIES[quantity].owner == "link" or quantity == "placement":
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
    if quantity in ("stiffness", "damping") and not joint.is_bounded:
        raise ValueError(
            f'joint "{name}" of {model.name} has no position limits for {quantity} to act beyond; give it some: '
            f'model.with_limits("{name}", lower=..., upper=...)'
        )


def _moments_are_positive(inertia: np.ndarray) -> np.ndarray:
    """True for each row Ixx Ixy Ixz Iyy Iyz Izz whose principal moments are not negative, apart from
    the rounding that `checks` allows to files."""
    largest = np.abs(inertia).max(axis=-1, initial=0.0)
    judged = (largest > NEGLIGIBLE) & (largest < np.inf)
    scaled = inertia.astype(float) / np.where(judged, largest, 1.0)[..., None]
    xx, xy, xz, yy, yz, zz = np.moveaxis(np.where(judged[..., None], scaled, 0.0), -1, 0)
    xx, yy, zz = xx + ROUNDING, yy + ROUNDING, zz + ROUNDING
    # A symmetric matrix has no negative eigenvalue if and only if its principal minors are not
    # negative. They take a twentieth of the time of eigenvalues.
    minors = (xx, yy, zz, xx * yy - xy**2, xx * zz - xz**2, yy * zz - yz**2)
    determinant = xx * (yy * zz - yz**2) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return ~judged | (np.minimum.reduce([*minors, determinant]) >= 0)


def check_numbers(model: Structure, quantity: str, names: tuple[str, ...], array: Any) -> None:
    """Refuse numbers that no robot has, if they can be read."""
    library = library_of(array)
    if not library.readable(array):
        return
    host = library.to_host(array)
    entries = tuple(range(-len(QUANTITIES[quantity].shape), 0))
    is_finite = np.isfinite(host).all(axis=entries)
    if quantity == "axis":
        # In an array for all joints, rows of joints without a direction are ignored.
        idle = np.array([not has_direction(model.joint(name)) for name in names])
        sound = idle | (is_finite & (np.linalg.norm(host, axis=-1) > 0))
        needed = "finite and not zero"
    elif quantity == "placement":
        length = np.linalg.norm(host[..., 3:], axis=-1)
        sound = is_finite & (np.abs(length - 1.0) < ROUNDED)
        needed = "finite, with a quaternion of length one"
    elif quantity == "inertia":
        sound = is_finite & _moments_are_positive(host)
        needed = "finite and without negative principal moments"
    elif QUANTITIES[quantity].signed:
        sound, needed = is_finite, "finite"
    else:
        sound, needed = (host >= 0) & (host < np.inf), "finite and not negative"
    wrong = np.argwhere(~sound)
    if len(wrong):
        *row, k = wrong[0].tolist()
        of = f'{QUANTITIES[quantity].owner} "{names[k]}" of {model.name}'
        where = f" in row {row[0]} of {len(host)}" if row else ""
        got = ", ".join(f"{x:g}" for x in np.ravel(host[(*row, k)]))
        raise ValueError(f"{quantity} of {of} must be {needed}, got {got}{where}")
