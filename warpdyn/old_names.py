"""Public names that have moved into a namespace, and the places where they are now.

`warpdyn.__getattr__` finds the old names with a DeprecationWarning.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arrays.reused_memory import empty_cache as empty_cache
    from .execution.compiling_block import compiling as compiling
    from .execution.config import Config as Config
    from .execution.launch.state_checks import StateReport as StateReport
    from .execution.threads import get_num_threads as get_num_threads
    from .execution.threads import set_num_threads as set_num_threads
    from .functions.coordinates import pack_q as pack_q
    from .functions.coordinates import pack_v as pack_v
    from .functions.coordinates import select_q as select_q
    from .functions.coordinates import select_v as select_v
    from .functions.coordinates import split_q as split_q
    from .functions.coordinates import split_v as split_v
    from .functions.coordinates import unpack_q as unpack_q
    from .functions.coordinates import unpack_v as unpack_v
    from .functions.export.compile_ahead import compile as compile
    from .functions.inverse_kinematics import Solution as Solution
    from .functions.poses import convert_quaternion as convert_quaternion
    from .functions.poses import matrix_to_pose as matrix_to_pose
    from .functions.poses import matrix_to_quaternion as matrix_to_quaternion
    from .functions.poses import pose_to_matrix as pose_to_matrix
    from .functions.poses import quaternion_to_matrix as quaternion_to_matrix
    from .functions.randomise import add as add
    from .functions.randomise import scale as scale
    from .functions.representations import convert_acceleration as convert_acceleration
    from .functions.representations import convert_configuration as convert_configuration
    from .functions.representations import convert_force as convert_force
    from .functions.representations import convert_twist as convert_twist
    from .functions.representations import convert_velocity as convert_velocity
    from .functions.representations import convert_wrench as convert_wrench
    from .functions.screws import Screws as Screws
    from .functions.simulation.state_derivative import StateDerivative as StateDerivative
    from .functions.simulation.step_results import Step as Step
    from .kernels import Robot as Robot
    from .model.description import Gearbox as Gearbox
    from .model.description import Geometry as Geometry
    from .model.description import Mimic as Mimic
    from .model.joints import KINDS as KINDS
    from .model.joints import JointKind as JointKind
    from .model.poses_and_limits import Effects as Effects
    from .model.poses_and_limits import Limits as Limits
    from .model.poses_and_limits import Pose as Pose
    from .user_kernels.array_functions import solve_symmetric as solve_symmetric
    from .user_kernels.loops import repeat as repeat
    from .user_kernels.refusals import RecordingError as RecordingError
    from .user_kernels.signature import shared as shared
    from .user_kernels.signature import table as table

RENAMED = {
    "Config": "runtime.Config",
    "Effects": "description.Effects",
    "Gearbox": "description.Gearbox",
    "Geometry": "description.Geometry",
    "JointKind": "description.JointKind",
    "KINDS": "description.KINDS",
    "Limits": "description.Limits",
    "Mimic": "description.Mimic",
    "Pose": "description.Pose",
    "RecordingError": "kernels.RecordingError",
    "Robot": "kernels.Robot",
    "Screws": "results.Screws",
    "Solution": "results.Solution",
    "StateDerivative": "results.StateDerivative",
    "StateReport": "results.StateReport",
    "Step": "results.Step",
    "add": "random.add",
    "compile": "kernels.compile",
    "compiling": "kernels.compiling",
    "convert_acceleration": "convert.acceleration",
    "convert_configuration": "convert.configuration",
    "convert_force": "convert.force",
    "convert_quaternion": "convert.quaternion",
    "convert_twist": "convert.twist",
    "convert_velocity": "convert.velocity",
    "convert_wrench": "convert.wrench",
    "empty_cache": "runtime.empty_cache",
    "get_num_threads": "runtime.get_num_threads",
    "label": "labels.label",
    "matrix_to_pose": "convert.matrix_to_pose",
    "matrix_to_quaternion": "convert.matrix_to_quaternion",
    "pack_q": "convert.pack_q",
    "pack_v": "convert.pack_v",
    "pose_to_matrix": "convert.pose_to_matrix",
    "quaternion_to_matrix": "convert.quaternion_to_matrix",
    "repeat": "kernels.repeat",
    "scale": "random.scale",
    "select_q": "convert.select_q",
    "select_v": "convert.select_v",
    "set_num_threads": "runtime.set_num_threads",
    "shared": "kernels.shared",
    "solve_symmetric": "kernels.solve_symmetric",
    "split_q": "convert.split_q",
    "split_v": "convert.split_v",
    "table": "kernels.table",
    "unpack_q": "convert.unpack_q",
    "unpack_v": "convert.unpack_v",
}

"""Old names, and new names after `wd.`."""
