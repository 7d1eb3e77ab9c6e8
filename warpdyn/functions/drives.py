"""Drives of joints, and the stops and speeds that bound them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..algorithms.implicit_forces import Stop
from ..model import Model
from ..model.params import Params
from .varied_numbers import Shaped, for_each

PRESSED, STOPPING = 0.01, 4.0
"""How far a joint's effort presses it into a stop [rad, m]; and up to how much of that it pushes
harder."""


class PD(NamedTuple):
    """Proportional-derivative drives of all joints, implicit in a step: kp (target - q) - kd v.

    `kp` [N·m/rad, N/m], `kd` [N·m·s/rad, N·s/m], `effort` [N·m, N]: the largest force or torque,
    None for the limits of the description. Numbers, or arrays (joints,) or (B, joints), a free
    base's coordinates left out. Where the effort is bounded both gains give way by one share.
    """

    kp: Any
    kd: Any
    effort: Any = None


def drive_arrays(model: Model, control: Any, targets: Any) -> Shaped:
    """Targets, gains and efforts with their shapes, by name; none without drives."""
    if (control is None) != (targets is None):
        raise ValueError(
            "targets= are of drives: control=wd.PD(kp, kd)"
            if control is None
            else "control= needs targets=, (B, joints); without drives pass torques as tau"
        )
    if control is None:
        return {}
    _check_drives(model, control)
    joints = model.nv - (6 if model.floating_base else 0)
    effort = model.effort_limit[model.nv - joints :] if control.effort is None else control.effort
    numbers = {"kp": control.kp, "kd": control.kd, "effort": effort}
    return {"targets": (targets, (joints,))} | {
        name: (for_each(name, each, joints, 0.0), (joints,)) for name, each in numbers.items()
    }


def _check_drives(model: Model, control: Any) -> None:
    """Refuse what is no PD, and joints whose coordinates are no angles or lengths."""
    if isinstance(control, (list, tuple)) and not isinstance(control, PD):
        raise TypeError(
            f"control is one law for all joints, wd.PD(kp, kd) with gains of each; got {len(control)} "
            "laws: add the torques of others as tau"
        )
    if not isinstance(control, PD):
        raise TypeError(f"control must be wd.PD(kp, kd), got {type(control).__name__}")
    for joint in model.moving_joints[int(model.floating_base) :]:
        if not all(part.single for part in joint.kind.parts):
            raise ValueError(
                f'wd.PD drives single angles and lengths; the {joint.kind.name} joint "{joint.name}" '
                f"of {model.name} has none: pass torques as tau"
            )


def speed_limits(model: Model) -> tuple[tuple[int, float], ...]:
    """Coordinates that have a velocity limit, and their limits [rad/s, m/s]."""
    limits = enumerate(model.velocity_limit.tolist())
    return tuple((k, x) for k, x in limits if math.isfinite(x) and x > 0)


def stops_of(model: Model, params: Params | None) -> tuple[Stop, ...]:
    """Stops of joints with limits and an effort, but without springs of the model or of `params`."""
    found = []
    varied = dict(params.names).get("stiffness", ()) if isinstance(params, Params) else ()
    for joint in model.moving_joints[int(model.floating_base) :]:
        columns = model.coordinates[joint.name]
        sprung = joint.name in varied or any(e.stiffness for e in joint.effects)
        if sprung or not all(part.single for part in joint.kind.parts):
            continue
        for k, limits in enumerate(joint.v_limits):
            bounded = min(abs(limits.lower), abs(limits.upper)) < math.inf
            if bounded and 0.0 < limits.effort < math.inf:
                found.append(
                    Stop(
                        columns.v.start + k,
                        columns.q.start + k,
                        limits.lower,
                        limits.upper,
                        limits.effort / PRESSED,
                        PRESSED * STOPPING,
                    )
                )
    return tuple(found)
