"""Which tests `scripts/test_cuda.sh` runs on the emulated CUDA device: those that take the `device` fixture.

It also runs tests/cuda_device, the tests of the emulated device itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_device import emulated_warp
from quick import QUICK_ROBOTS
from robots import Robot

QUICK = (
    "algorithms/test_aba.py",
    "algorithms/test_crba.py::test_crba_equals_the_oracle",
    "algorithms/test_crba.py::test_crba_equals_pinocchios",
    "algorithms/test_crba.py::test_the_inertia_matrix_of_the_puma_560_equals_the_published_table",
    "algorithms/test_fk.py",
    "algorithms/test_inverse_kinematics.py",
    "algorithms/test_inverse_kinematics_kernels.py",
    "algorithms/test_jacobian.py::test_jacobian_equals_the_oracle",
    "algorithms/test_jacobian.py::test_references_express_one_motion_in_three_frames",
    "algorithms/test_rnea.py",
    "algorithms/test_rnea_derivatives.py",
    "arrays/test_protocol.py",
    "arrays/test_views.py",
    "arrays/test_warp_arrays.py",
    "codegen/test_cpu.py::test_results_do_not_depend_on_the_batch_size",
    "codegen/test_cpu.py::test_an_input_with_stride_zero_is_one_row_for_all",
    "codegen/test_cpu.py::test_each_array_of_a_call_may_have_its_own_layout",
    "codegen/test_cpu_sines.py::test_sine_and_cosine_are_accurate_for_every_finite_angle",
    "execution/autodiff/test_warp_gradients.py",
    "execution/launch/test_launch.py",
    "execution/test_batched.py",
    "functions/test_dynamics.py",
    "functions/test_kinematics.py",
    "recording/test_differentiation.py",
    "ros2_node/control/torques/test_device_launch.py",
    "user_kernels/test_own_kernel.py",
    "user_kernels/test_own_kernel_libraries.py",
)
"""Files, or tests of a file, that `--quick` runs. What runs over all robots runs over `quick.QUICK_ROBOTS`."""

LEFT_OUT = {
    "algorithms/long_chains/": "NVRTC compiles these long programs for minutes",
    "algorithms/test_orientation_springs.py::test_stiffness_can_vary_between_environments": (
        "the test gives NumPy parameters with arrays on the device, which is refused"
    ),
}
"""Folder, `file::test`, or `file::value` of a test's parameters -> why these tests are not run."""

NOT_EMULATED = {
    "arrays/test_protocol.py::torch": "Torch on CUDA is not emulated",
    "arrays/test_random_rows.py::torch": "Torch on CUDA is not emulated",
    "arrays/test_views.py::torch": "Torch on CUDA is not emulated",
}
"""The same for tests that a GPU runs."""

ITSELF = "cuda_device"
"""Folder of the tests of the emulated device."""


def why_left_out(item: pytest.Item, tests: Path) -> str | None:
    """The reason in `LEFT_OUT`, or on the emulated device in `NOT_EMULATED`, if the test is
    listed."""
    file = item.path.relative_to(tests).as_posix()
    parameters = item.callspec.id.split("-") if hasattr(item, "callspec") else []
    names = {f"{file}::{name}" for name in (item.originalname, *parameters)}
    left_out = LEFT_OUT | (NOT_EMULATED if emulated_warp.is_imported() else {})
    for entry, reason in left_out.items():
        if entry in names or (entry.endswith("/") and file.startswith(entry)):
            return reason
    return None


def is_device_test(item: pytest.Item, tests: Path, selection: str) -> bool:
    """True if `--device-tests` runs the test. The selection is "quick" or "all"."""
    file = item.path.relative_to(tests).as_posix()
    if file.startswith(f"{ITSELF}/"):
        return True
    if "device" not in item.fixturenames:
        return False
    if selection == "all":
        return True
    robot = item.callspec.params.get("robot") if hasattr(item, "callspec") else None
    if isinstance(robot, Robot) and robot.name not in QUICK_ROBOTS:
        return False
    return file in QUICK or f"{file}::{item.originalname}" in QUICK


def folders(selection: str) -> list[str]:
    """The paths below tests/ that pytest has to collect for the selection."""
    if selection == "quick":
        return sorted({ITSELF, *(entry.partition("::")[0] for entry in QUICK)})
    return [
        *("algorithms", "arrays", "cli", "codegen", ITSELF, "execution", "functions", "model"),
        *("recording", "ros2_node", "test_accuracy.py", "test_accuracy_derivatives.py"),
        "user_kernels",
    ]


if __name__ == "__main__":
    import sys

    print("\n".join(f"tests/{folder}" for folder in folders(sys.argv[1])))
