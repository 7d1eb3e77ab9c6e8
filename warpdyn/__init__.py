"""Batched rigid-body dynamics for robots, on NVIDIA Warp kernels recorded from the textbook's algorithms."""

from .batch import bind, oracle
from .description import Joint, Link, ModelError, ModelWarning
from .formats.urdf import load_urdf
from .functions.derivatives import aba_derivatives, derivatives, jvp, rnea_derivatives, vjp
from .functions.dynamics import aba, crba, rnea
from .functions.kinematics import fk, jacobian
from .model import Model
from .robots import load_robot, robot_names
from .threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "Joint",
    "Link",
    "Model",
    "ModelError",
    "ModelWarning",
    "aba",
    "aba_derivatives",
    "bind",
    "crba",
    "derivatives",
    "fk",
    "get_num_threads",
    "jacobian",
    "jvp",
    "load_robot",
    "load_urdf",
    "oracle",
    "rnea",
    "rnea_derivatives",
    "robot_names",
    "set_num_threads",
    "vjp",
]
