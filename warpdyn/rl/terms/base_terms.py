"""Quantities of a free base: its rotation, heading and tilt, and errors of its speeds.

q and v are those of a model whose free base comes first, with a quaternion (x, y, z, w) and the base's
velocities in its own axes. In a task or an own kernel the functions refuse the q and v of another
model. Outside a kernel they receive numbers only, and cannot check this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra.quaternions import quaternion_rotation
from ...user_kernels.refusals import RECORDED_MODEL, refuse

OF_A_BODY = {
    "nq": (
        "q, whose rotation this term computes; give it the seven numbers of a pose: position, then "
        "quaternion x, y, z, w"
    ),
    "nv": (
        "v, whose velocity this term reads; give it the six velocities of a body in its own axes, "
        "linear first"
    ),
}
"""Ends of error messages for the q or v of a robot with a fixed base: the remedy."""


def _recorded_model(x: Any, size: str) -> Any:
    """The model whose whole q or v is x, while a kernel is recorded; None for other numbers, such
    as those of one body. Refuses a fixed base. size: "nq" or "nv"."""
    model = RECORDED_MODEL.get()
    if model is None or np.shape(x) != (getattr(model, size),):
        return None
    if model.floating_base:
        return model
    if np.shape(x) != ({"nq": 7, "nv": 6}[size],):
        refuse(f"{model.name} has no free base at the beginning of {OF_A_BODY[size]}")
    return None


def _check_quaternion(model: Any, this: str) -> None:
    """Refuse a model whose quaternions are not x, y, z, w. this: what has that order."""
    if model is not None and model.quaternion != "xyzw":
        refuse(
            f"{model.name} has {model.quaternion} quaternions, and {this} x, y, z, w; load the robot "
            'without quaternion="wxyz"'
        )


def _check_velocity(v: Any) -> None:
    """Refuse the v of a model that does not begin with a base's velocities in its own axes."""
    model = _recorded_model(v, "nv")
    if model is not None and model.base_velocity != "local":
        refuse(
            f"{model.name} has {model.base_velocity} base velocities, and this term reads those in "
            f'the base\'s axes; take the model without base_velocity="{model.base_velocity}"'
        )


def rotation(q: Any) -> Any:
    """The rotation of a free base from q, base to world (3, 3).

    q: configuration that begins with the base: position, then quaternion (x, y, z, w).
    kernels.RecordingError, in all functions of q or v: in a kernel, q or v is that of a model with
    a fixed base, other quaternions or other base velocities.
    """
    _check_quaternion(_recorded_model(q, "nq"), "this term reads")
    rows = quaternion_rotation([q[k] for k in range(3, 7)]).matrix.rows
    return np.stack([np.stack([*row]) for row in rows])


def world_to_base(q: Any, vector: Any) -> Any:
    """A vector of the world in a free base's axes (3,)."""
    return rotation(q).T @ vector


def gravity_in_base(q: Any) -> Any:
    """The direction of gravity in a free base's axes, of unit length (3,)."""
    return -rotation(q)[2]


def heading_quaternion(yaw: Any) -> Any:
    """The quaternion (x, y, z, w) of a level base with heading `yaw` [rad] (4,).

    kernels.RecordingError: in a kernel of a model with quaternions w, x, y, z.
    """
    _check_quaternion(RECORDED_MODEL.get(), "heading_quaternion gives")
    return np.stack([0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])


def base_to_world(q: Any, vector: Any) -> Any:
    """A vector in a free base's axes in the world's axes (3,)."""
    return rotation(q) @ vector


def heading(q: Any) -> Any:
    """The direction of the base's x axis in the ground plane [rad]."""
    ahead = rotation(q)[:2, 0]
    return np.arctan2(ahead[1], ahead[0])


def heading_error(q: Any, wanted: Any) -> Any:
    """The angle from the base's heading to a wanted one, within ±pi [rad]."""
    ahead, along = rotation(q)[:2, 0], np.stack([np.cos(wanted), np.sin(wanted)])
    return np.arctan2(ahead[0] * along[1] - ahead[1] * along[0], np.sum(ahead * along))


def level_velocity(q: Any, v: Any) -> Any:
    """The base's velocity in level axes along its heading: forward, left, up (3,) [m/s].

    v: the base's velocities in its own axes, linear first.
    """
    _check_velocity(v)
    velocity = rotation(q) @ v[:3]
    c, s = np.cos(heading(q)), np.sin(heading(q))
    return np.stack(
        [c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0], velocity[2]]
    )


def tilt(q: Any) -> Any:
    """The squared sine of the angle between the base's z axis and the vertical."""
    return np.sum(gravity_in_base(q)[:2] ** 2)


def uprightness(q: Any) -> Any:
    """The cosine of the angle between the base's z axis and the vertical: 1 upright, -1 upside
    down."""
    return rotation(q)[2, 2]


def bounce(v: Any) -> Any:
    """The squared vertical speed of the base, in its own axes [m²/s²]."""
    _check_velocity(v)
    return v[2] ** 2


def roll_and_pitch(v: Any) -> Any:
    """The squared angular velocity of the base about its x and y axes [rad²/s²]."""
    _check_velocity(v)
    return v[3] ** 2 + v[4] ** 2


def speed_error(v: Any, command: Any) -> Any:
    """The distance between commanded and actual speeds forward and sideways [m/s].

    command: speeds forward and sideways [m/s], then others.
    """
    _check_velocity(v)
    off = command[:2] - v[:2]
    return np.sqrt(np.sum(off**2))


def turning_error(v: Any, command: Any) -> Any:
    """The difference between commanded and actual turning speed, without sign [rad/s].

    command: speeds forward, sideways [m/s] and turning [rad/s].
    """
    _check_velocity(v)
    return np.abs(command[2] - v[5])
