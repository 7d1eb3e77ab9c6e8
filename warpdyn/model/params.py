"""What may differ from one environment to the next: masses, inertias, placements, friction,
gravity.

`Params` holds one array for each quantity that varies; what does not vary stays folded into the
program. The arrays are NumPy's, Torch's, JAX' or Warp's, and are read at every launch, so that they
may be changed in place between launches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar
from ..arrays.stacking import count_of, shape_of, stacked
from .description import Effects, Joint, Link, Pose, look_up
from .structure import Robot, Structure

LINK = {"mass": (), "com": (3,), "inertia": (6,)}
JOINT = {
    "placement": (7,),
    "armature": (),
    "viscous": (),
    "coulomb": (),
    "stiffness": (),
    "damping": (),
}
SHAPES: dict[str, tuple[int, ...]] = {**LINK, **JOINT}
"""Shape of the value of one link or joint, by quantity.

mass [kg]; com [m] in the link's frame; inertia Ixx Ixy Ixz Iyy Iyz Izz [kg·m²] about the centre of
mass in the link's axes; placement of the joint's frame in its parent link, x y z qx qy qz qw;
armature and joint effects as in `Model.with_armature`, `with_friction`, `with_limit_springs`.
"""

TYPICAL: dict[str, Any] = {
    "mass": 1.0,
    "com": (0.1, 0.2, 0.3),
    "inertia": (0.02, 0.0, 0.0, 0.03, 0.0, 0.04),
    "armature": 0.1,
}


@dataclass(frozen=True, eq=False)
class Params:
    """Parameters of a model that vary, by quantity; made by `model.params(...)`."""

    model: Structure
    """Whose they are."""
    arrays: Mapping[str, Any]
    """By quantity: (B, k, *shape) for the k links or joints of `names`, or (k, *shape) where one
    set serves all environments."""
    names: Mapping[str, tuple[str, ...]]
    """By quantity, the links or joints that it varies for."""
    gravity: Any = None
    """(B, 3) or (3,), acceleration of free fall in the world [m/s²]; None for the standard one."""

    def __repr__(self) -> str:
        """What varies, of whom, in which shape."""

        def told(quantity: str) -> str:
            names = self.names[quantity]
            whose = names[0] if len(names) == 1 else f"{len(names)} of the model"
            return f"{quantity} {tuple(self.arrays[quantity].shape)} of {whose}"

        varying = [told(quantity) for quantity in self.names]
        if self.gravity is not None:
            varying.append(f"gravity {tuple(self.gravity.shape)}")
        return f"<Params of {self.model.name}: {', '.join(varying) or 'nothing varies'}>"

    @property
    def key(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names of what varies, by quantity; calls that share it share a program."""
        return tuple(self.names.items())

    def shape(self, quantity: str) -> tuple[int, ...]:
        """Shape of one environment's slice of a quantity's array."""
        return (len(self.names[quantity]), *SHAPES[quantity])

    def __getitem__(self, quantity: str) -> Any:
        return look_up(
            self.arrays, quantity, "varying quantity", f"the params of {self.model.name}"
        )

    def replaced(self, **arrays: Any) -> Params:
        """The same quantities with other arrays."""
        for quantity in arrays:
            self[quantity]
        return replace(self, arrays={**self.arrays, **arrays})


def params(
    self: Structure,
    envs: int | None = None,
    *,
    mass: Any = None,
    com: Any = None,
    inertia: Any = None,
    placement: Any = None,
    armature: Any = None,
    viscous: Any = None,
    coulomb: Any = None,
    stiffness: Any = None,
    damping: Any = None,
    gravity: Any = None,
    dtype: Any = None,
) -> Params:
    """Parameters that differ from one environment to the next, for the `params=` of every function.

    Each is {name: values}, values (B, ..) or one for all environments; or one array for all links
    (mass (B, nlinks) [kg], com (B, nlinks, 3) [m], inertia (B, nlinks, 6) Ixx Ixy Ixz Iyy Iyz Izz
    [kg·m²]) or joints (placement (B, njoints, 7) x y z qx qy qz qw, armature, viscous, coulomb,
    stiffness, damping (B, njoints)).
    gravity: (B, 3) [m/s²]. What is not given stays as it is and costs nothing at run time.
    envs: number of environments, where only single values are given. The arrays' library, dtype and
    device are kept; `dtype` converts NumPy's. Change the arrays in place (`params["mass"][:] = ..`)
    between calls.

    >>> model = wd.load_robot("panda")
    >>> params = model.params(mass={"panda_hand": np.linspace(0.5, 1.5, 100)})
    >>> wd.crba(model, wd.random_configuration(model, 100), params=params).shape
    (100, 8, 8)
    """
    quantities = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "placement": placement,
        "armature": armature,
        "viscous": viscous,
        "coulomb": coulomb,
        "stiffness": stiffness,
        "damping": damping,
    }
    arrays: dict[str, Any] = {}
    names: dict[str, tuple[str, ...]] = {}
    rows = {} if envs is None else {"envs": envs}
    for quantity, values in quantities.items():
        if values is None:
            continue
        names[quantity], arrays[quantity] = _stack(self, quantity, values, envs, dtype)
        if len(arrays[quantity].shape) > len(SHAPES[quantity]) + 1:
            rows[quantity] = arrays[quantity].shape[0]
    if gravity is not None and len(shape_of(gravity)) == 2:
        rows["gravity"] = shape_of(gravity)[0]
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{what}: {count}" for what, count in rows.items())
        raise ValueError(
            f"params are for different numbers of environments: {counts}; give all of them the same"
        )
    return Params(self, arrays, names, gravity)


def _stack(
    model: Structure, quantity: str, values: Any, envs: int | None, dtype: Any
) -> tuple[tuple[str, ...], Any]:
    """Names of the links or joints that a quantity varies for, in the model's order, and its
    array."""
    known = tuple(each.name for each in (model.links if quantity in LINK else model.joints))
    shape = SHAPES[quantity]
    if not isinstance(values, Mapping):
        return known, _whole(quantity, values, (len(known), *shape), envs, dtype, model.name)
    for name in values:
        look_up(dict.fromkeys(known), name, "link" if quantity in LINK else "joint", model.name)
        _check_joint(model, quantity, name)
    if not values:
        raise ValueError(f"{quantity} varies for nothing: give at least one name")
    names = tuple(name for name in known if name in values)
    count = count_of(quantity, values, shape, envs)
    return names, stacked([values[name] for name in names], shape, count, dtype)


def _check_joint(model: Structure, quantity: str, name: str) -> None:
    """Refuse what a joint has no use for."""
    if quantity in LINK or quantity == "placement":
        return
    joint = model.joint(name)
    if not joint.kind.nv:
        raise ValueError(
            f'joint "{name}" of {model.name} is fixed; {quantity} belongs to a moving joint'
        )
    if quantity in ("stiffness", "damping") and not joint.bounded:
        raise ValueError(
            f'joint "{name}" of {model.name} has no position limits for {quantity} to act beyond; give it some: '
            f'model.with_limits("{name}", lower=..., upper=...)'
        )


def _whole(
    quantity: str, values: Any, expected: tuple[int, ...], envs: int | None, dtype: Any, model: str
) -> Any:
    """One array for all links or joints, as it is where it is one of (B, *expected)."""
    if isinstance(values, (int, float)):
        values = np.full(expected, float(values))
    array = (
        np.asarray(values, dtype=dtype or float) if isinstance(values, (list, tuple)) else values
    )
    shape = shape_of(array)
    if shape not in (expected, (envs or (shape or expected)[0], *expected)):
        what = "link" if quantity in LINK else "joint"
        raise ValueError(
            f"{quantity} must be {{{what} name: values}} or an array (B, {', '.join(map(str, expected))}), "
            f"for the {expected[0]} {what}s of {model}; got {shape}"
        )
    if shape == expected and envs:
        return stacked([array[k] for k in range(expected[0])], expected[1:], envs, dtype)
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)


def typical(model: Robot, varying: Mapping[str, tuple[str, ...]]) -> Robot:
    """The model with some sound number in place of each that varies (names by quantity), to see
    what is defined in general."""
    names = {quantity: varying[quantity] for quantity in TYPICAL if quantity in varying}
    return varied(model, names, {q: [TYPICAL[q]] * len(k) for q, k in names.items()})


def varied(model: Robot, names: Mapping[str, tuple[str, ...]], values: Mapping[str, Any]) -> Robot:
    """The model with these values, numbers or symbols, in place of those of its description."""
    by_name: dict[str, dict[str, Any]] = {}
    for quantity, nested in values.items():
        for name, value in zip(names[quantity], nested, strict=True):
            by_name.setdefault(f"{'link' if quantity in LINK else 'joint'} {name}", {})[
                quantity
            ] = value
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
    varied_effects = {
        name: values[name]
        for name in ("viscous", "coulomb", "stiffness", "damping")
        if name in values
    }
    effects = joint.effects or ((Effects(),) * joint.kind.nv if varied_effects else ())
    return replace(
        joint,
        pose=pose,
        armature=values.get("armature", joint.armature),
        effects=tuple(replace(each, **varied_effects) for each in effects),
    )


def _pose(placement: Sequence[Scalar]) -> Pose:
    x, y, z, *quaternion = placement
    rows = quaternion_rotation(quaternion).matrix.rows
    return Pose((x, y, z), tuple(tuple(row) for row in rows))  # type: ignore[arg-type]
