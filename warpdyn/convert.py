"""Conversions: configurations and velocities of other libraries, twists and wrenches, quaternions
and matrices, and coordinates by joint name."""

from .functions.coordinates import (
    pack_q,
    pack_v,
    select_q,
    select_v,
    split_q,
    split_v,
    unpack_q,
    unpack_v,
)
from .functions.poses import convert_quaternion as quaternion
from .functions.poses import (
    matrix_to_pose,
    matrix_to_quaternion,
    pose_to_matrix,
    quaternion_to_matrix,
)
from .functions.representations import convert_acceleration as acceleration
from .functions.representations import convert_configuration as configuration
from .functions.representations import convert_force as force
from .functions.representations import convert_twist as twist
from .functions.representations import convert_velocity as velocity
from .functions.representations import convert_wrench as wrench

__all__ = [
    "acceleration",
    "configuration",
    "force",
    "matrix_to_pose",
    "matrix_to_quaternion",
    "pack_q",
    "pack_v",
    "pose_to_matrix",
    "quaternion",
    "quaternion_to_matrix",
    "select_q",
    "select_v",
    "split_q",
    "split_v",
    "twist",
    "unpack_q",
    "unpack_v",
    "velocity",
    "wrench",
]
