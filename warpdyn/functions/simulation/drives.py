"""Joint drives, and the stops and speed limits of the joints."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ...algorithms.passive_forces import dry_friction
from ...algorithms.simulation.implicit_forces import Stop
from ...algorithms.simulation.joint_rows import Bounds
from ...execution.request.evaluate import tree_of
from ...model import Model
from ...model.description import Joint
from ...model.params import Params
from ...model.poses_and_limits import Limits
from ...model.scene.free_bodies import internal_joints
from .varied_numbers import Shaped, for_each, is_number

PRESSED, STOPPING = 0.01, 4.0
"""Depth to which a joint's effort presses it into a stop [rad, m], and the multiple of it up to
which the stop pushes harder."""

FINITE = ("kp", "kd", "strength")
"""Numbers of drives that must be finite. An effort or a speed without bound is infinite."""

Stops = Literal["springs", "rows", "soft", "none"]
"""Kinds of stops at the joint limits."""


class PD(NamedTuple):
    """Proportional-derivative drives of all joints, implicit in a step: kp (target - q) - kd v.

    `kp` [N·m/rad, N/m], `kd` [N·m·s/rad, N·s/m], `effort` [N·m, N]: the largest force or torque,
    None for the limits of the description. At this bound both gains shrink by the same factor.
    `strength`: a factor on gains and effort, for weak motors; the plain number 1 costs nothing.
    `no_load_speed` [rad/s, m/s]: the no-load speed of a speed-torque curve. The effort is then at
    most `stall_effort` (1 - v / no_load_speed), with v in the effort's direction, and not below 0.
    `stall_effort` [N·m, N] None: the effort. Braking can use the whole effort.
    Numbers, or arrays (joints,) or (B, joints), without the coordinates of free bodies. A ball joint
    has no drive: `kp` and `kd` are NumPy arrays with zeros there, and its targets have no effect.
    """

    kp: Any
    kd: Any
    effort: Any = None
    strength: Any = 1.0
    no_load_speed: Any = None
    stall_effort: Any = None


def drive_arrays(model: Model, control: Any, targets: Any) -> Shaped:
    """Targets, gains and efforts with their shapes, by name; empty without drives."""
    if (control is None) != (targets is None):
        raise ValueError(
            "targets= needs drives: control=wd.PD(kp, kd)"
            if control is None
            else "control= needs targets=, (B, joints); without drives pass torques as tau"
        )
    if control is None:
        return {}
    _check_drives(model, control)
    columns = model.joint_columns
    joints = len(columns)
    effort = model.effort_limit[columns] if control.effort is None else control.effort
    numbers = {"kp": control.kp, "kd": control.kd, "effort": effort}
    # Arrays that the drives do not need are left out, so that the kernel spends nothing on them.
    if not (is_number(control.strength) and control.strength == 1):
        numbers["strength"] = control.strength
    if control.stall_effort is not None:
        if control.no_load_speed is None:
            raise ValueError(
                "stall_effort= is for a speed-torque curve, which needs no_load_speed="
            )
        numbers["stall_effort"] = control.stall_effort
    arrays = {
        name: for_each(name, each, joints, finite=name in FINITE) for name, each in numbers.items()
    }
    if control.no_load_speed is not None:
        arrays["no_load_speed"] = for_each(
            "no_load_speed", control.no_load_speed, joints, above=0.0
        )
    return {"targets": (targets, (joints,))} | {
        name: (each, (joints,)) for name, each in arrays.items()
    }


def _check_drives(model: Model, control: Any) -> None:
    """Raise if `control` is not a PD, or if it drives a joint whose coordinates are not angles or
    lengths."""
    if isinstance(control, (tuple, list)) and not isinstance(control, PD):
        raise TypeError(
            f"control must be one wd.PD(kp, kd), got a {type(control).__name__}; gains of each joint are "
            "arrays (joints,), and forces in addition to the drives are tau"
        )
    if not isinstance(control, PD):
        raise TypeError(f"control must be wd.PD(kp, kd), got {type(control).__name__}")
    columns = model.joint_columns.tolist()
    for joint in internal_joints(model):
        entries = [columns.index(k) for k in model.v_indices([joint.name])]
        if not is_single(joint) and not all(
            _are_zero(gains, entries) for gains in (control.kp, control.kd)
        ):
            raise ValueError(
                f'wd.PD drives single angles and lengths; the {joint.kind.name} joint "{joint.name}" '
                f"of {model.name} has none: pass torques as tau, and kp and kd as NumPy arrays "
                f"(joints,) with zeros at {entries}"
            )


def warn_of_zero_efforts(model: Model, control: Any) -> None:
    """Warn of drives that never move because their effort limit in the description is 0. Programs
    write 0 into URDF files for an unknown limit."""
    if not isinstance(control, PD) or control.effort is not None:
        return
    columns = model.joint_columns.tolist()
    dead = [
        model.v_names[column]
        for k, column in enumerate(columns)
        if model.effort_limit[column] == 0
        and not (_are_zero(control.kp, [k]) and _are_zero(control.kd, [k]))
    ]
    if dead:
        more = f" and {len(dead) - 5} more" if len(dead) > 5 else ""
        warnings.warn(
            f"{model.name} has an effort limit of 0 at {', '.join(dead[:5])}{more}, so that drives and "
            "springs at position limits have no torque there; pass wd.PD(kp, kd, effort=...), or change "
            "the model: model.with_limits(joint, effort=...)",
            stacklevel=3,
        )


def is_single(joint: Joint) -> bool:
    """True if each of its coordinates is an angle or a length, which a drive can move."""
    return all(part.single for part in joint.kind.parts)


def held_positions(model: Model, q: np.ndarray) -> np.ndarray:
    """Targets (B, joints) that hold the joints at their positions, zero for joints without a drive."""
    columns, driven = model.joint_columns.tolist(), filter(is_single, internal_joints(model))
    names = [joint.name for joint in driven]
    held = np.zeros((len(q), len(columns)), q.dtype)
    held[:, [columns.index(k) for k in model.v_indices(names)]] = q[:, model.q_indices(names)]
    return held


def _are_zero(gains: Any, entries: Sequence[int]) -> bool:
    """True if these gains are known to be zero."""
    if is_number(gains):
        return bool(gains == 0.0)
    if not isinstance(gains, (np.ndarray, tuple, list)):
        return False
    return not np.asarray(gains)[..., list(entries)].any()


def speed_limits(model: Model) -> tuple[tuple[int, float], ...]:
    """Coordinates that have a velocity limit, and their limits [rad/s, m/s]."""
    limits = enumerate(model.velocity_limit.tolist())
    return tuple((k, x) for k, x in limits if math.isfinite(x) and x > 0)


def stops_of(model: Model, params: Params | None) -> tuple[Stop, ...]:
    """Springs for joints that have limits and an effort, but no limit springs in the model or in
    `params`."""
    return tuple(
        Stop(*where, limits.lower, limits.upper, limits.effort / PRESSED, PRESSED * STOPPING)
        for where, limits in _limited_coordinates(model, params)
        if 0.0 < limits.effort < math.inf
    )


def bounds_of(model: Model, params: Params | None) -> tuple[Bounds, ...]:
    """Limits of joints without limit springs in the model or in `params`, as rows."""
    return tuple(
        Bounds(*where, limits.lower, limits.upper)
        for where, limits in _limited_coordinates(model, params)
    )


def _limited_coordinates(
    model: Model, params: Params | None
) -> Iterator[tuple[tuple[int, int], Limits]]:
    """Coordinates in v and q with limits but without limit springs, and their limits."""
    varied = dict(params.names).get("stiffness", ()) if isinstance(params, Params) else ()
    for joint in internal_joints(model):
        columns = model.coordinates[joint.name]
        sprung = joint.name in varied or any(e.stiffness for e in joint.effects)
        if sprung or not all(part.single for part in joint.kind.parts):
            continue
        for k, limits in enumerate(joint.v_limits):
            if min(abs(limits.lower), abs(limits.upper)) < math.inf:
                yield (columns.v.start + k, columns.q.start + k), limits


def rows_of_joints(
    model: Model, params: Params | None, bounds: Sequence[Bounds]
) -> tuple[int, ...]:
    """Coordinates of v with a row: those with dry friction in the model or in `params`, or with
    bounds."""
    varied = dict(params.names).get("coulomb", ()) if isinstance(params, Params) else ()
    tree = tree_of(model)
    rubbing = {k for body in tree.bodies if body.joint in varied for k in body.v_index}
    return tuple(sorted({*dry_friction(tree), *rubbing, *(each.v_index for each in bounds)}))
