"""Tests of `scripts/test.sh --quick`: the most telling ones of each room.

They run on robots that differ most. Each room lists whole files, or single tests after `::`. Tests
that run over all robots run over `QUICK_ROBOTS` only.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from robots import Robot

QUICK = {
    "algebra": ("test_linear.py", "test_quaternions.py", "test_scalar.py", "test_spatial.py"),
    "arrays": ("test_numpy_arrays.py", "test_overlap.py", "test_protocol.py", "test_views.py"),
    "model": (
        "test_assembly.py",
        "test_builder.py",
        "test_checks.py",
        "test_joints.py",
        "test_model.py",
        "test_params.py",
        "test_params_arrays.py",
        "test_params_checks.py",
    ),
    "model/closed_loops": ("test_loop.py",),
    "model/scene": ("test_objects.py",),
    "model/writers": ("test_to_urdf.py",),
    "logs": ("test_parquet_log.py", "test_open_log.py"),
    "labels": ("test_savitzky_golay.py", "test_row_quantities.py", "test_labelled_file.py"),
    "recording": (
        "test_graph.py",
        "test_loop_places.py",
        "test_loops.py",
        "test_order.py",
        "test_program.py",
        "test_recorder.py",
    ),
    "codegen": (
        "test_arguments.py",
        "test_cpu_loop.py",
        "test_emit.py",
        "test_partition.py",
        "test_targets.py",
    ),
    "cuda_device": ("test_emulated_warp.py",),
    "codegen/bytecode": ("test_encode.py", "test_statements.py"),
    "formats": (
        "test_load.py",
        "test_registry.py",
        "test_urdf.py",
    ),
    "formats/meshes": ("test_mesh_hulls.py",),
    "formats/usd": ("test_usd_values.py",),
    "formats/mjcf": ("test_mjcf.py",),
    "formats/sdf": ("test_sdf.py", "test_sdf_shapes.py"),
    "algorithms": (
        "test_rnea.py",
        "test_aba.py",
        "test_crba.py",
        "test_fk.py",
        "test_jacobian.py",
        "test_rnea_derivatives.py",
    ),
    "algorithms/closed_loops": ("test_loop_equations.py",),
    "algorithms/long_chains": ("test_crba_in_sweeps.py",),
    "algorithms/collision": ("test_box_box.py", "test_round_shapes.py"),
    "algorithms/simulation": ("test_base_step.py", "test_contact_rows.py"),
    "algorithms/simulation/pair_slots": ("test_near_pairs.py", "test_pairs_at.py"),
    "peers": ("test_peer.py", "test_find_peers.py"),
    "execution": (
        "test_in_place.py",
        "test_oracle.py",
    ),
    "execution/autodiff": (
        "test_warp_gradients.py::test_an_array_used_twice_gets_the_sum_of_gradients",
    ),
    "execution/native": ("test_native_call.py",),
    "execution/repeat": ("test_planned_call.py",),
    "execution/request": ("test_argument_checks.py", "test_call.py", "test_inputs.py"),
    "execution/compile": (
        "test_cache.py::test_a_second_process_neither_records_nor_compiles",
        "test_interpreted_program.py",
    ),
    "execution/launch": ("test_launch.py",),
    "robots": ("test_robots.py",),
    "functions": (
        "test_dynamics.py",
        "test_energy.py",
        "test_frame_options.py",
        "test_kinematics.py",
        "test_manifold.py",
    ),
    "functions/pictures": ("test_robot_picture.py",),
    "functions/export": ("test_identifiers.py",),
    "functions/identification": ("test_observers.py",),
    "functions/simulation": ("test_simulation.py", "test_ground.py"),
    "rl/adapters": ("test_registration.py",),
    "rl/learners": ("test_networks.py",),
    "rl/tasks": ("test_tasks.py",),
    "rl/deployment": ("test_policy_match.py",),
    "rl/pictures": ("test_camera.py",),
    "rl/settings": ("test_setting_values.py",),
    "rl/terms": ("test_gait_terms.py", "test_joint_terms.py"),
    "rl": ("test_environment_step.py", "test_vec_env.py"),
    "viewer": ("test_shapes.py", "test_trajectory.py"),
    "user_kernels": (
        "test_own_kernel.py",
        "test_own_kernel_libraries.py",
        "test_signature.py",
        "test_refusals.py",
    ),
    "cli": ("test_command_line.py", "test_info.py", "test_tables.py", "test_workload.py"),
    "cli/learning": ("test_policy_options.py",),
    "cli/pictures": ("test_simulated_motion.py",),
    "benchmarks/fuzzing": ("test_outcomes.py", "test_damaged_files.py"),
    "benchmarks": (
        "test_benchmarks.py::test_the_tables_of_the_figures_page_come_from_the_results",
        "test_benchmarks.py::test_pinocchio_and_mujoco_give_the_same_results",
    ),
    "docs_site": ("test_api_pages.py", "test_docstrings.py", "test_function_matrix.py"),
    "ros2_node/control": ("test_robot.py", "test_robot_states.py", "test_supervisor.py"),
    "ros2_node/control/commands": ("test_torque_output.py",),
    "ros2_node/control/efforts": ("test_collision_guard.py",),
    "ros2_node/control/references": ("test_speed_command.py",),
    "ros2_node/control/safety": ("test_gate.py",),
    "ros2_node/control/settings": ("test_node_settings.py",),
    "ros2_node/control/states": ("test_joint_states.py", "test_state_jumps.py"),
    "ros2_node/control/torques": ("test_payload.py",),
    "ros2_node/laws": ("test_mean_damping.py", "test_joint_impedance.py"),
    "ros2_node/ros2_control": (
        "test_gate_table.py",
        "test_source_files.py",
        "test_controller_parameters.py",
    ),
    "ros2_node/ros": ("test_topics.py", "test_outputs.py", "test_guards.py"),
    "ros2_node/demo": ("test_plant.py",),
    ".": (
        "test_architecture.py",
        "test_demo_picture.py",
        "test_face.py",
        "test_modules.py",
        "test_prose.py",
        "test_readme.py",
        "test_old_names.py",
    ),
}
"""Folder of tests/ → its files, or `file::test` for one test of a file."""

QUICK_ROBOTS = ("panda", "quadruped_floating", "balls")
"""An arm with a mimic joint, a free base with legs, and joints whose coordinates are no plain numbers."""


def is_quick(item: pytest.Item, tests: Path) -> bool:
    """True if a test is in the quick half.

    `QUICK` lists the test or its file. `QUICK_ROBOTS` lists its robot, if it has one.
    """
    path = item.path.relative_to(tests)
    listed = QUICK.get(path.parent.as_posix(), ())
    if path.name not in listed and f"{path.name}::{item.originalname}" not in listed:
        return False
    robot = item.callspec.params.get("robot") if hasattr(item, "callspec") else None
    return not isinstance(robot, Robot) or robot.name in QUICK_ROBOTS
