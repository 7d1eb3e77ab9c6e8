"""The examples around exported headers build with the command of their README, and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import warpdyn as wd

EXAMPLES = Path(__file__).parents[1] / "examples" / "export"


def test_a_control_loop_of_one_kilohertz_holds_a_simulated_arm(tmp_path: Path) -> None:
    """CMake builds the example if it is installed, else the compiler does. The program succeeds if
    the arm does not move."""
    if shutil.which("g++") is None:
        pytest.skip("there is no g++ here")
    model = wd.load_robot("panda")
    wd.export(model, [wd.gravity_torques, wd.aba, wd.rnea], tmp_path / "panda.hpp")
    program = tmp_path / "build" / "gravity_compensation"
    if shutil.which("cmake"):
        configure = ["cmake", "-S", str(EXAMPLES), "-B", "build", f"-DHEADERS={tmp_path}"]
        subprocess.run(configure, cwd=tmp_path, check=True, capture_output=True)
        subprocess.run(["cmake", "--build", "build"], cwd=tmp_path, check=True, capture_output=True)
    else:
        program.parent.mkdir()
        command = ["g++", "-std=c++17", "-O2", f"-I{tmp_path}", "-pthread"]
        command += [str(EXAMPLES / "gravity_compensation.cpp"), "-o", str(program)]
        subprocess.run(command, check=True)
    ran = subprocess.run([program, "0.5"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "500 cycles" in ran.stdout
    controller = tmp_path / "build" / "compute_test"  # where CMake has found Eigen
    if controller.exists():
        assert subprocess.run([controller], check=False).returncode == 0
