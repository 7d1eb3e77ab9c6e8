"""A model with numbers or symbols in place of its numbers that vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.pose_forms import position_and_quaternion
from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar, sqrt
from .checks import first_repeated
from .description import Joint, Link
from .names import look_up
from .poses_and_limits import Effects, Pose
from .quantities import EFFECTS, QUANTITIES, has_direction, owners
from .structure import Robot

TYPICAL: dict[str, Any] = {
    "mass": 1.0,
    "com": (0.1, 0.2, 0.3),
    "inertia": (0.02, 0.0, 0.0, 0.03, 0.0, 0.04),
    "armature": 0.1,
}


def typical(model: Robot, varying: Mapping[str, tuple[str, ...]]) -> Robot:
    """The model with a valid number in place of each that varies (names by quantity), to find out
    which results are defined in general."""
    names = {quantity: varying[quantity] for quantity in TYPICAL if quantity in varying}
    return substitute_values(model, names, {q: [TYPICAL[q]] * len(k) for q, k in names.items()})


def substitute_values(
    model: Robot, names: Mapping[str, tuple[str, ...]], values: Mapping[str, Any]
) -> Robot:
    """The model with these values, numbers or symbols, in place of those of its description. Raises
    if the names of a quantity are not those of its links or joints, each once."""
    by_name: dict[str, dict[str, Any]] = {}
    for quantity, nested in values.items():
        _check_names(model, quantity, names[quantity])
        for name, value in zip(names[quantity], nested, strict=True):
            owner = f"{QUANTITIES[quantity].owner} {name}"
            by_name.setdefault(owner, {})[quantity] = value
    links = tuple(_link(link, by_name.get(f"link {link.name}")) for link in model.links)
    joints = tuple(_joint(joint, by_name.get(f"joint {joint.name}")) for joint in model.joints)
    return replace(model, links=links, joints=joints)


def _check_names(model: Robot, quantity: str, names: Sequence[str]) -> None:
    """Refuse names without an owner, whose values would have no effect, and names that are there
    twice."""
    known = dict.fromkeys(owner.name for owner in owners(model, quantity))
    for name in names:
        look_up(known, name, QUANTITIES[quantity].owner, model.name)
    if (twice := first_repeated(names)) is not None:
        raise ValueError(
            f'{quantity} of {model.name} has {QUANTITIES[quantity].owner} "{twice}" twice; make '
            "params with model.params(...)"
        )


def nominal_value(quantity: str, owner: Link | Joint) -> Any:
    """The description's number or numbers for a quantity of a link or joint."""
    if isinstance(owner, Link):
        return owner.symmetric.entries if quantity == "inertia" else getattr(owner, quantity)
    if quantity == "placement":
        return position_and_quaternion(owner.pose.placement)
    if quantity in ("armature", "axis"):
        return getattr(owner, quantity)
    return getattr(owner.effects[0], quantity) if owner.effects else 0.0


def _link(link: Link, values: Mapping[str, Any] | None) -> Link:
    if values is None:
        return link
    inertia: Any = link.inertia
    if "inertia" in values:
        xx, xy, xz, yy, yz, zz = values["inertia"]
        inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return replace(
        link,
        mass=values.get("mass", link.mass),
        com=tuple(values.get("com", link.com)),
        inertia=inertia,
    )


def _joint(joint: Joint, values: Mapping[str, Any] | None) -> Joint:
    if values is None:
        return joint
    pose = joint.pose
    if "placement" in values:
        pose = _pose(values["placement"])
    axis = joint.axis
    if "axis" in values and has_direction(joint):
        axis = _direction(values["axis"])
    varied_effects = {name: values[name] for name in EFFECTS if name in values}
    if not joint.kind.single:  # then the slack position of a spring is not a single number
        varied_effects.pop("rest", None)
    effects = joint.effects or ((Effects(),) * joint.kind.nv if varied_effects else ())
    return replace(
        joint,
        pose=pose,
        axis=axis,
        armature=values.get("armature", joint.armature),
        effects=tuple(replace(each, **varied_effects) for each in effects),
    )


def _direction(u: Sequence[Scalar]) -> Any:
    """The axis at unit length, so that derivatives with respect to it are along the sphere."""
    scale = 1.0 / sqrt(sum((x * x for x in u), 0.0))
    return tuple(x * scale for x in u)


def _pose(placement: Sequence[Scalar]) -> Pose:
    x, y, z, *quaternion = placement
    rows = quaternion_rotation(quaternion).matrix.rows
    return Pose((x, y, z), tuple(tuple(row) for row in rows))  # type: ignore[arg-type]
