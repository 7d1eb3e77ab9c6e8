"""Batched rigid-body dynamics for robots, on NVIDIA Warp kernels recorded from the textbook's algorithms."""

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from .arrays.reused_memory import empty_cache
from .execution.batched import bind
from .execution.compile.kernel import quieten as _quieten
from .execution.compiling_block import compiling
from .execution.config import Config, config
from .execution.launch.state_checks import StateReport, check_state
from .execution.oracle import oracle
from .execution.threads import get_num_threads, set_num_threads
from .formats.load import load
from .formats.mjcf.mjcf import load_mjcf
from .formats.sdf.sdf import load_sdf
from .formats.urdf import load_urdf
from .formats.usd.usd import load_usd
from .formats.xacro import load_xacro
from .functions import inertial
from .functions.actuation import actuator_torques
from .functions.centroidal import (
    average_centroidal_velocity,
    average_centroidal_velocity_jacobian,
    average_velocity,
    average_velocity_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_matrix_derivative,
    centroidal_momentum_rate,
    locked_inertia,
    momentum,
    momentum_jacobian,
)
from .functions.com import (
    com,
    com_acceleration,
    com_bias_acceleration,
    com_jacobian,
    com_velocity,
    link_coms,
)
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
from .functions.derivatives import aba_derivatives, derivatives, jvp, rnea_derivatives, vjp
from .functions.dynamics import (
    aba,
    bias_forces,
    coriolis_matrix,
    crba,
    effect_torques,
    gravity_torques,
    mass_matrix_inverse,
    rnea,
    solve,
)
from .functions.energy import (
    contact_power,
    kinetic_energy,
    mechanical_energy,
    potential_energy,
)
from .functions.export.compile_ahead import compile
from .functions.export.exporting import export
from .functions.export.python_extension import export_python
from .functions.group import Group
from .functions.identification.gravity_diagnosis import diagnose_gravity
from .functions.identification.observers import external_wrench, momentum_observer
from .functions.identification.payload_identification import (
    identify_payload,
    identify_payload_in_motion,
)
from .functions.inertial import inertial_parameters, with_inertial_parameters
from .functions.inverse_kinematics import Solution, inverse_kinematics
from .functions.kinematics import (
    fk,
    frame_acceleration,
    frame_bias_acceleration,
    frame_velocity,
    jacobian,
    jacobian_derivative,
    kinematic_hessian,
    manipulability,
    pose_and_jacobian,
)
from .functions.manifold import (
    clamp,
    configuration_rate,
    difference,
    integrate,
    interpolate,
    normalize,
    random_configuration,
)
from .functions.operational_space import (
    dynamically_consistent_inverse,
    operational_space,
    operational_space_inertia,
)
from .functions.poses import (
    chain_product,
    convert_quaternion,
    matrix_to_pose,
    matrix_to_quaternion,
    pose_to_matrix,
    quaternion_to_matrix,
)
from .functions.randomise import add, randomise, scale
from .functions.regressors import (
    joint_torque_regressor,
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from .functions.representations import (
    convert_acceleration,
    convert_configuration,
    convert_force,
    convert_twist,
    convert_velocity,
    convert_wrench,
    force_transform,
    motion_transform,
)
from .functions.screws import Screws, screw_axes, screws
from .functions.simulation.contact_estimates import estimate_good_contact_parameters
from .functions.simulation.contact_points import ContactPoint, ContactPoints
from .functions.simulation.drives import PD
from .functions.simulation.ground import Ground, SoftGround
from .functions.simulation.height_scan import height_scan
from .functions.simulation.point_kinematics import (
    in_contact,
    point_heights,
    point_jacobian_derivatives,
    point_jacobians,
    point_positions,
    point_transforms,
    point_velocities,
)
from .functions.simulation.sensors import Sensors, contact_flags, imu, link_contact_forces
from .functions.simulation.simulation import Simulation
from .functions.simulation.simulation_step import Step, step
from .functions.simulation.state_derivative import StateDerivative, state_derivative
from .functions.simulation.terrain import HeightMap, Plane
from .functions.states import ModelState, random_state
from .model import Model
from .model.builder import ModelBuilder
from .model.description import (
    Effects,
    Gearbox,
    Geometry,
    Joint,
    Limits,
    Link,
    Mimic,
    ModelError,
    ModelWarning,
    Pose,
)
from .model.joints import KINDS, JointKind
from .model.params import Params
from .robots import load_robot, robot_names
from .user_kernels import random_numbers as random
from .user_kernels.array_functions import solve_symmetric
from .user_kernels.loops import repeat
from .user_kernels.one_robot import OneRobot as Robot
from .user_kernels.own_kernel import kernel
from .user_kernels.refusals import RecordingError
from .user_kernels.signature import shared, table

__version__ = "0.2.0"

_quieten()

__all__ = [
    "KINDS",
    "PD",
    "Config",
    "ContactPoint",
    "ContactPoints",
    "Effects",
    "Gearbox",
    "Geometry",
    "Ground",
    "Group",
    "HeightMap",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelState",
    "ModelWarning",
    "Params",
    "Plane",
    "Pose",
    "RecordingError",
    "Robot",
    "Screws",
    "Sensors",
    "Simulation",
    "SoftGround",
    "Solution",
    "StateDerivative",
    "StateReport",
    "Step",
    "aba",
    "aba_derivatives",
    "actuator_torques",
    "add",
    "average_centroidal_velocity",
    "average_centroidal_velocity_jacobian",
    "average_velocity",
    "average_velocity_jacobian",
    "bias_forces",
    "bind",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_derivative",
    "centroidal_momentum_rate",
    "chain_product",
    "check_state",
    "clamp",
    "com",
    "com_acceleration",
    "com_bias_acceleration",
    "com_jacobian",
    "com_velocity",
    "compile",
    "compiling",
    "config",
    "configuration_rate",
    "contact_flags",
    "contact_power",
    "convert_acceleration",
    "convert_configuration",
    "convert_force",
    "convert_quaternion",
    "convert_twist",
    "convert_velocity",
    "convert_wrench",
    "coriolis_matrix",
    "crba",
    "derivatives",
    "diagnose_gravity",
    "difference",
    "dynamically_consistent_inverse",
    "effect_torques",
    "empty_cache",
    "estimate_good_contact_parameters",
    "export",
    "export_python",
    "external_wrench",
    "fk",
    "force_transform",
    "frame_acceleration",
    "frame_bias_acceleration",
    "frame_velocity",
    "get_num_threads",
    "gravity_torques",
    "height_scan",
    "identify_payload",
    "identify_payload_in_motion",
    "imu",
    "in_contact",
    "inertial",
    "inertial_parameters",
    "integrate",
    "interpolate",
    "inverse_kinematics",
    "jacobian",
    "jacobian_derivative",
    "joint_torque_regressor",
    "jvp",
    "kernel",
    "kinematic_hessian",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "label",
    "link_coms",
    "link_contact_forces",
    "load",
    "load_mjcf",
    "load_robot",
    "load_sdf",
    "load_urdf",
    "load_usd",
    "load_xacro",
    "locked_inertia",
    "manipulability",
    "mass_matrix_inverse",
    "matrix_to_pose",
    "matrix_to_quaternion",
    "mechanical_energy",
    "momentum",
    "momentum_jacobian",
    "momentum_observer",
    "motion_transform",
    "normalize",
    "operational_space",
    "operational_space_inertia",
    "oracle",
    "pack_q",
    "pack_v",
    "point_heights",
    "point_jacobian_derivatives",
    "point_jacobians",
    "point_positions",
    "point_transforms",
    "point_velocities",
    "pose_and_jacobian",
    "pose_to_matrix",
    "potential_energy",
    "potential_energy_regressor",
    "quaternion_to_matrix",
    "random",
    "random_configuration",
    "random_state",
    "randomise",
    "repeat",
    "rnea",
    "rnea_derivatives",
    "robot_names",
    "scale",
    "screw_axes",
    "screws",
    "select_q",
    "select_v",
    "set_num_threads",
    "shared",
    "solve",
    "solve_symmetric",
    "split_q",
    "split_v",
    "state_derivative",
    "step",
    "table",
    "unpack_q",
    "unpack_v",
    "vjp",
    "with_inertial_parameters",
]

_FIELD_WORDS = {
    "acceleration": "aba",
    "center_of_mass": "com",
    "composite_rigid_body": "crba",
    "coriolis": "coriolis_matrix",
    "fd": "aba",
    "forward_dynamics": "aba",
    "forward_kinematics": "fk",
    "gravity": "gravity_torques",
    "gravity_compensation": "gravity_torques",
    "id": "rnea",
    "ik": "inverse_kinematics",
    "inertia_matrix": "crba",
    "inverse_dynamics": "rnea",
    "mass_matrix": "crba",
    "nonlinear_effects": "bias_forces",
    "randomize": "randomise",
}
"""Common names in robotics for functions that warpdyn calls by their algorithm."""


if TYPE_CHECKING:
    from . import viewer as viewer
    from .labels import label as label
else:  # a type checker is to reject unknown names itself

    def __getattr__(name: str) -> ModuleType | Callable[..., object]:
        """Import the viewer or `label` on first use; for any other name, suggest the public name
        that was probably meant."""
        if name == "viewer":
            return import_module(".viewer", __name__)
        if name == "label":
            label: Callable[..., object] = import_module(".labels", __name__).label
            return label
        meant = _FIELD_WORDS.get(name) or next(iter(get_close_matches(name, __all__, n=1)), None)
        hint = f"; did you mean wd.{meant}?" if meant else ""
        raise AttributeError(f"module 'warpdyn' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    """Only the public names."""
    return sorted([*__all__, "__version__", "inertial"])
