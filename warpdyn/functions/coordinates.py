"""Coordinates by name: pack q and v, unpack them, and select joints from them.

Arrays are NumPy, Torch, JAX or Warp, with any leading dimensions. Plain numbers become NumPy
float64 arrays.
Warp arrays are not broadcast. In an array of one robot, a single coordinate keeps a dimension of
one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from ..arrays import A, Array, views
from ..arrays.columns import Part, column, columns, join_columns, pick_columns
from ..model import Model
from ..model.model import check_model
from ..model.structure import Coordinates

Values = Mapping[str, Any] | Array | Sequence[float]
Numbers = Mapping[str, float | Sequence[float]] | Sequence[float]
Host = np.ndarray | Sequence[float] | None
"""Arguments for which the result is a NumPy array."""


@overload
def pack_q(
    model: Model,
    joints: Mapping[str, Array[A]] | Array[A],
    *,
    base: Any = None,
    default: Any = None,
) -> A: ...
@overload
def pack_q(
    model: Model, joints: Numbers, *, base: Host = None, default: Host = None
) -> np.ndarray: ...
@overload
def pack_q(model: Model, joints: Values, *, base: Any = None, default: Any = None) -> Array: ...
def pack_q(model: Model, joints: Values, *, base: Any = None, default: Any = None) -> Array:
    """The configuration q (..., nq) from the coordinates of joints [m, rad].

    joints: a mapping by joint name: (...) for a joint with one coordinate, (..., n) for a joint
    with n, and the base's seven under "floating_base" (`model.base_joint`). Or one array (..., nq
    without the base's) of all joints in the order of `model.joint_names`.
    base: (..., 7) [x y z qx qy qz qw] (in the model's quaternion order), instead of the mapping's
    entry.
    default: (..., nq), such as `model.neutral`, for the joints that the mapping leaves out. Without
    it a mapping must be complete.
    """
    return _pack(model, "q", joints, base, default)


@overload
def pack_v(
    model: Model,
    joints: Mapping[str, Array[A]] | Array[A],
    *,
    base: Any = None,
    default: Any = None,
) -> A: ...
@overload
def pack_v(
    model: Model, joints: Numbers, *, base: Host = None, default: Host = None
) -> np.ndarray: ...
@overload
def pack_v(model: Model, joints: Values, *, base: Any = None, default: Any = None) -> Array: ...
def pack_v(model: Model, joints: Values, *, base: Any = None, default: Any = None) -> Array:
    """The generalized velocity (..., nv) from joint velocities [m/s, rad/s], with the arguments of
    `pack_q`; base: (..., 6).

    Accelerations and forces have the same columns.
    """
    return _pack(model, "v", joints, base, default)


def unpack_q(model: Model, q: Array[A]) -> dict[str, A]:
    """The columns of q (..., nq) by joint name, the base's seven under "floating_base"
    (`model.base_joint`); the inverse of `pack_q`."""
    return _unpack(model, "q", q)


def unpack_v(model: Model, v: Array[A]) -> dict[str, A]:
    """The columns of v (..., nv), or of an acceleration or a force, by joint name."""
    return _unpack(model, "v", v)


def split_q(model: Model, q: Array[A]) -> tuple[A | None, A]:
    """The two parts of q (..., nq): that of the free base (..., 7), None without a free base, and
    that of the joints."""
    return _split(model, "q", q)


def split_v(model: Model, v: Array[A]) -> tuple[A | None, A]:
    """The two parts of v (..., nv): that of the free base (..., 6), None without a free base, and
    that of the joints."""
    return _split(model, "v", v)


def select_q(model: Model, q: Array[A], joints: Iterable[str]) -> A:
    """The columns of q (..., nq) that belong to the named joints, in the order of the names."""
    check_model(model)
    _check(model, "q", "q", q, model.nq)
    return pick_columns(q, model.q_indices(joints))


def select_v(model: Model, v: Array[A], joints: Iterable[str]) -> A:
    """The columns of v (..., nv), or of an acceleration or a force, that belong to the named
    joints, in the order of the names."""
    check_model(model)
    _check(model, "v", "v", v, model.nv)
    return pick_columns(v, model.v_indices(joints))


def _slice(of: Coordinates, which: str) -> slice:
    return of.q if which == "q" else of.v


def _total(model: Model, which: str) -> int:
    return model.nq if which == "q" else model.nv


def _base_width(model: Model, which: str) -> int:
    if not model.floating_base:
        return 0
    place = _slice(model.coordinates[model.base_joint], which)
    return place.stop - place.start


def _check(model: Model, which: str, name: str, array: Any, wanted: int) -> None:
    shape = tuple(getattr(array, "shape", ()))
    if not shape or shape[-1] != wanted:
        got = shape or type(array).__name__
        raise ValueError(
            f"{name} must be an array (..., {wanted}), got {got} (see model.{which}_names)"
        )


def _pack(model: Model, which: str, joints: Any, base: Any, default: Any) -> Array:
    check_model(model)
    if base is not None and not model.floating_base:
        raise ValueError(
            f"{model.name} has no floating base; leave out base=, or load it with floating_base=True"
        )
    if isinstance(joints, Mapping):
        return _from_names(
            model, which, joints if base is None else {**joints, model.base_joint: base}, default
        )
    if default is not None:
        raise ValueError(
            "default= is for joints that a mapping by name leaves out; an array has all joints: leave out default="
        )
    width = _base_width(model, which)
    if (base is None) != (width == 0):
        raise ValueError(
            f"{model.name} has a floating base: give its {width} coordinates as base=(..., {width})"
        )
    parts = [] if base is None else [_part("base", base, width, False)]
    return join_columns([*parts, _part("joints", joints, _total(model, which) - width, False)])


def _from_names(model: Model, which: str, values: Mapping[str, Any], default: Any) -> Array:
    model.q_indices(values)  # raises for a name that is not a moving joint
    missing = [name for name in model.coordinates if name not in values]
    if missing and default is None:
        raise ValueError(
            f"{which} needs a value for every joint of {model.name}; {', '.join(missing)} missing: "
            f"add them, or give default= (such as model.neutral)"
        )
    if default is not None:
        views.check_entries("default", default)
        default = default if hasattr(default, "shape") else np.asarray(default, dtype=float)
        _check(model, which, "default", default, _total(model, which))
    parts: list[Part] = []
    for joint in model.moving_joints:
        place = _slice(model.coordinates[joint.name], which)
        if joint.name in values:
            parts.append(
                _part(joint.name, values[joint.name], place.stop - place.start, joint.kind.single)
            )
        else:
            parts.append(Part(columns(default, place), place.stop - place.start, False))
    return join_columns(parts, like_first=values.values())


def _part(name: str, values: Any, width: int, single: bool) -> Part:
    views.check_entries(name, values)
    if not single:
        shape = tuple(values.shape) if hasattr(values, "shape") else (len(values),)
        if not shape or shape[-1] != width:
            raise ValueError(f"{name} must be (..., {width}), got {shape}")
    return Part(values, width, single)


def _unpack(model: Model, which: str, array: Array[A]) -> dict[str, A]:
    check_model(model)
    _check(model, which, which, array, _total(model, which))
    cut: dict[str, A] = {}
    for joint in model.moving_joints:
        place = _slice(model.coordinates[joint.name], which)
        cut[joint.name] = column(array, place.start) if joint.kind.single else columns(array, place)
    return cut


def _split(model: Model, which: str, array: Array[A]) -> tuple[A | None, A]:
    check_model(model)
    _check(model, which, which, array, _total(model, which))
    width = _base_width(model, which)
    return (columns(array, slice(0, width)) if width else None), columns(array, slice(width, None))
