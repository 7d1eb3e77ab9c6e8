"""What may differ from one environment to the next: masses, inertias, placements, friction, gravity.

`Params` holds one array for each quantity that varies; what does not vary stays folded into the program. The arrays are
NumPy's, Torch's, JAX' or Warp's, and are read at every launch, so that they may be changed in place between launches.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .description import Effects, Joint, Link, Pose, look_up
from .joints import quaternion_rotation
from .scalar import Scalar

LINK = {"mass": (), "com": (3,), "inertia": (6,)}
JOINT = {"placement": (7,), "armature": (), "viscous": (), "coulomb": (), "stiffness": (), "damping": ()}
SHAPES: dict[str, tuple[int, ...]] = {**LINK, **JOINT}
"""Of one link's or joint's value. mass [kg]; com [m] in the link's frame; inertia Ixx Ixy Ixz Iyy Iyz Izz [kg·m²] about
the centre of mass in the link's axes; placement of the joint's frame in its parent link, x y z qx qy qz qw; armature
and joint effects as in `Model.with_armature`, `with_friction`, `with_limit_springs`."""


@dataclass(frozen=True, eq=False)
class Params:
    """Parameters of a model that vary, by quantity.

    `arrays`: (B, k, *shape), or (k, *shape) where one set serves all environments, for the k links or joints of
    `names`; `gravity` (B, 3) or (3,). Made by `model.params(...)`.
    """

    model: Any
    arrays: Mapping[str, Any]
    names: Mapping[str, tuple[str, ...]]
    gravity: Any = None

    @property
    def key(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What varies; programs are the same where it is."""
        return tuple(self.names.items())

    def shape(self, quantity: str) -> tuple[int, ...]:
        """Of one environment's part of a quantity's array."""
        return (len(self.names[quantity]), *SHAPES[quantity])

    def __getitem__(self, quantity: str) -> Any:
        return look_up(self.arrays, quantity, "varying quantity", f"the params of {self.model.name}")

    def replaced(self, **arrays: Any) -> Params:
        """The same quantities with other arrays."""
        for quantity in arrays:
            self[quantity]
        return replace(self, arrays={**self.arrays, **arrays})


def build(model: Any, envs: int | None, dtype: Any, gravity: Any, given: Mapping[str, Any]) -> Params:
    """Stack what was given by link or joint name, or for all of them in the model's order."""
    arrays: dict[str, Any] = {}
    names: dict[str, tuple[str, ...]] = {}
    for quantity, values in given.items():
        if values is None:
            continue
        known = [x.name for x in (model.links if quantity in LINK else model.joints)]
        what = "link" if quantity in LINK else "joint"
        if isinstance(values, Mapping):
            for name in values:
                look_up(dict.fromkeys(known), name, what, model.name)
            names[quantity] = tuple(name for name in known if name in values)
            arrays[quantity] = _stacked([values[name] for name in names[quantity]], SHAPES[quantity], envs, dtype)
        else:
            names[quantity] = tuple(known)
            arrays[quantity] = _whole(quantity, values, (len(known), *SHAPES[quantity]), envs, dtype, what, model.name)
        if not names[quantity]:
            raise ValueError(f"{quantity} varies for no {what}: give at least one name")
    return Params(model, arrays, names, gravity)


def _library(values: Sequence[Any]) -> Any:
    """The array module of the values: NumPy, Torch or JAX."""
    for x in values:
        name = type(x).__module__.partition(".")[0]
        if name == "torch":
            return sys.modules["torch"]
        if name in ("jax", "jaxlib"):
            return sys.modules["jax"].numpy
    return np


def _stacked(values: Sequence[Any], own: tuple[int, ...], envs: int | None, dtype: Any) -> Any:
    """Values of shape `own` or (B, *own), side by side."""
    library = _library(values)
    like = next((x for x in values if hasattr(x, "dtype")), None)
    kind = {"dtype": dtype or (np.float64 if like is None else like.dtype)}
    if library.__name__ == "torch" and like is not None:
        kind["device"] = like.device
    convert = library.as_tensor if library.__name__ == "torch" else library.asarray
    arrays = [convert(x, **kind) for x in values]
    rows = {len(x) for x in arrays if x.ndim > len(own)} | ({envs} if envs else set())
    if len(rows) > 1:
        raise ValueError(f"values are for different numbers of environments: {sorted(rows)}")
    for x in arrays:
        if tuple(x.shape[x.ndim - len(own) :]) != own or x.ndim > len(own) + 1:
            raise ValueError(f"a value must be {own} or (B, {', '.join(map(str, own))}), got {tuple(x.shape)}")
    if not rows:
        return library.stack(arrays, 0)
    (count,) = rows
    return library.stack([library.broadcast_to(x, (count, *own)) for x in arrays], 1)


def _whole(
    quantity: str, values: Any, own: tuple[int, ...], envs: int | None, dtype: Any, what: str, model: str
) -> Any:
    """One array for all links or joints."""
    if isinstance(values, (int, float)):
        values = np.full(own, float(values))
    array = np.asarray(values, dtype=dtype or float) if isinstance(values, (list, tuple)) else values
    if tuple(array.shape) == own and envs:
        library = _library([array])
        array = library.broadcast_to(array, (envs, *own)) + 0.0  # memory of its own
    if tuple(array.shape) not in (own, (envs or array.shape[0], *own)):
        raise ValueError(
            f"{quantity} must be {{{what} name: values}} or an array (B, {', '.join(map(str, own))}), "
            f"for the {own[0]} {what}s of {model}; got {tuple(array.shape)}"
        )
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)


def varied(model: Any, names: Mapping[str, tuple[str, ...]], values: Mapping[str, Any]) -> Any:
    """The model with the given values, numbers or symbols, in place of its own."""
    by_name: dict[str, dict[str, Any]] = {}
    for quantity, nested in values.items():
        for name, value in zip(names[quantity], nested, strict=True):
            by_name.setdefault(f"{'link' if quantity in LINK else 'joint'} {name}", {})[quantity] = value
    links = tuple(_link(link, by_name.get(f"link {link.name}")) for link in model.links)
    joints = tuple(_joint(joint, by_name.get(f"joint {joint.name}")) for joint in model.joints)
    return replace(model, links=links, joints=joints)


def _link(link: Link, values: Mapping[str, Any] | None) -> Link:
    if values is None:
        return link
    inertia: Any = link.inertia
    if "inertia" in values:
        xx, xy, xz, yy, yz, zz = values["inertia"]
        inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return replace(link, mass=values.get("mass", link.mass), com=tuple(values.get("com", link.com)), inertia=inertia)


def _joint(joint: Joint, values: Mapping[str, Any] | None) -> Joint:
    if values is None:
        return joint
    pose = joint.pose
    if "placement" in values:
        pose = _pose(values["placement"])
    given = {name: values[name] for name in ("viscous", "coulomb", "stiffness", "damping") if name in values}
    effects = joint.effects or ((Effects(),) * joint.kind.nv if given else ())
    return replace(
        joint,
        pose=pose,
        armature=values.get("armature", joint.armature),
        effects=tuple(replace(each, **given) for each in effects),
    )


def _pose(placement: Sequence[Scalar]) -> Pose:
    x, y, z, *quaternion = placement
    rows = quaternion_rotation(quaternion).matrix.rows
    return Pose((x, y, z), tuple(tuple(row) for row in rows))  # type: ignore[arg-type]
