"""Batched rigid-body dynamics for robots, on NVIDIA Warp kernels recorded from the textbook's algorithms."""

import sys
from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from . import convert, description, kernels, loops, random, results, runtime
from .execution.batched import bind
from .execution.compile.kernel import quieten as _quieten
from .execution.config import config
from .execution.launch.state_checks import check_state
from .execution.oracle import oracle
from .execution.public_functions import FIELD_WORDS as _FIELD_WORDS
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
from .functions.energy import contact_power, kinetic_energy, mechanical_energy, potential_energy
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
from .functions.inverse_kinematics import inverse_kinematics
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
from .functions.poses import chain_product
from .functions.randomise import randomise
from .functions.regressors import (
    joint_torque_regressor,
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from .functions.representations import force_transform, motion_transform
from .functions.screws import screw_axes, screws
from .functions.simulation.contact_estimates import estimate_good_contact_parameters
from .functions.simulation.contact_pairs import ContactPairs
from .functions.simulation.contact_points import ContactPoint, ContactPoints
from .functions.simulation.drives import PD
from .functions.simulation.ground import Ground, SoftGround
from .functions.simulation.height_scan import height_scan
from .functions.simulation.pair_distances import pair_distances
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
from .functions.simulation.simulation_step import step
from .functions.simulation.state_derivative import state_derivative
from .functions.simulation.terrain import HeightMap, Plane
from .functions.states import ModelState, random_state
from .model import Model
from .model.builder import ModelBuilder
from .model.description import Joint, Link
from .model.names import ModelError, ModelWarning
from .model.old_members import warn_of_old_name
from .model.params import Params
from .old_names import RENAMED
from .robots import load_robot, robot_names
from .user_kernels.own_kernel import kernel

__version__ = "0.2.0"

_quieten()

__all__ = [  # noqa: RUF022 (in the order of the API reference)
    # Robots as data
    "Model",
    "ModelBuilder",
    "Link",
    "Joint",
    "Params",
    "ModelError",
    "ModelWarning",
    # Robots from files
    "load",
    "load_urdf",
    "load_xacro",
    "load_sdf",
    "load_mjcf",
    "load_usd",
    # Robots that come with warpdyn
    "load_robot",
    "robot_names",
    # Kinematics
    "fk",
    "pose_and_jacobian",
    "frame_velocity",
    "frame_acceleration",
    "frame_bias_acceleration",
    "jacobian",
    "jacobian_derivative",
    "kinematic_hessian",
    "manipulability",
    # Dynamics
    "rnea",
    "aba",
    "crba",
    "mass_matrix_inverse",
    "solve",
    "bias_forces",
    "gravity_torques",
    "coriolis_matrix",
    "effect_torques",
    # Energy
    "kinetic_energy",
    "potential_energy",
    "mechanical_energy",
    "contact_power",
    # Centre of mass
    "com",
    "com_velocity",
    "com_acceleration",
    "com_bias_acceleration",
    "com_jacobian",
    "link_coms",
    # Centroidal
    "momentum",
    "momentum_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_derivative",
    "centroidal_momentum_rate",
    "locked_inertia",
    "average_velocity",
    "average_velocity_jacobian",
    "average_centroidal_velocity",
    "average_centroidal_velocity_jacobian",
    # Manifold
    "integrate",
    "difference",
    "interpolate",
    "configuration_rate",
    "normalize",
    "clamp",
    "random_configuration",
    # States
    "random_state",
    "ModelState",
    # Derivatives
    "derivatives",
    "vjp",
    "jvp",
    "rnea_derivatives",
    "aba_derivatives",
    # Inverse kinematics
    "inverse_kinematics",
    # Operational space
    "operational_space",
    "operational_space_inertia",
    "dynamically_consistent_inverse",
    # Poses
    "chain_product",
    # Representations
    "motion_transform",
    "force_transform",
    # Products of exponentials
    "screws",
    "screw_axes",
    # Actuation
    "actuator_torques",
    # Regressors
    "joint_torque_regressor",
    "kinetic_energy_regressor",
    "potential_energy_regressor",
    # Inertial
    "inertial",
    "inertial_parameters",
    "with_inertial_parameters",
    # Payload identification
    "identify_payload",
    "identify_payload_in_motion",
    # Gravity diagnosis
    "diagnose_gravity",
    # Observers
    "momentum_observer",
    "external_wrench",
    # Randomise
    "randomise",
    # Groups of robots
    "Group",
    # Exporting
    "export",
    # Python extension
    "export_python",
    # Simulation
    "Simulation",
    # Simulation step
    "step",
    # State derivative
    "state_derivative",
    # Contact points
    "ContactPoint",
    "ContactPoints",
    # Contact pairs
    "ContactPairs",
    # Pair distances
    "pair_distances",
    # Point kinematics
    "point_positions",
    "point_velocities",
    "point_heights",
    "point_transforms",
    "point_jacobians",
    "point_jacobian_derivatives",
    "in_contact",
    # Ground
    "Ground",
    "SoftGround",
    # Contact estimates
    "estimate_good_contact_parameters",
    # Terrain
    "HeightMap",
    "Plane",
    # Height scan
    "height_scan",
    # Drives
    "PD",
    # Sensors
    "imu",
    "contact_flags",
    "link_contact_forces",
    "Sensors",
    # Calls
    "bind",
    "oracle",
    "check_state",
    "config",
    # Kernels of your own
    "kernel",
    # Namespaces
    "convert",
    "description",
    "kernels",
    "loops",
    "random",
    "results",
    "runtime",
]

if TYPE_CHECKING:
    from . import labels as labels
    from . import viewer as viewer
    from .labels import label as label
    from .old_names import *  # noqa: F403 (a type checker knows the old names, too)
else:  # a type checker is to reject unknown names itself

    def __getattr__(name: str) -> Any:
        """Import `labels` or the viewer on first use; find a name that has moved, with a warning;
        for any other name, suggest the public name that was probably meant."""
        if name == "viewer":
            return import_module(".viewer", __name__)
        if name == "labels":
            return import_module(".labels", __name__)
        if name in RENAMED:
            warn_of_old_name(f"wd.{name}", f"wd.{RENAMED[name]}")
            return attrgetter(RENAMED[name])(sys.modules[__name__])
        if name.startswith("_"):  # a tool asks for it, and no public name is meant
            raise AttributeError(f"module 'warpdyn' has no attribute {name!r}")
        close = get_close_matches(name, [*__all__, *RENAMED], n=1)
        meant = _FIELD_WORDS.get(name) or next(iter(close), None)
        hint = f"; did you mean wd.{RENAMED.get(meant, meant)}?" if meant else ""
        raise AttributeError(f"module 'warpdyn' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    """Only the public names."""
    return sorted([*__all__, "__version__"])
