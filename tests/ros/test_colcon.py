"""The package builds and tests with colcon, and the installed executables start."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from harness import ROOT, NodeProcess

TOOLS = Path(sys.executable).parent
PARTS = ("warpdyn", "ros2_node", "launch", "config", "rviz", "resource", "scripts")
TESTS = (
    "fleets.py",
    "ros2_node/control/settings/test_node_settings.py",
    "ros2_node/control/states/test_joint_states.py",
)
"""A few that need no ROS, with what they import."""
FILES = (
    "package.xml",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CITATION.cff",
)


def run(*command, cwd):
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


OURS = {"warpdyn", "ros2_node"}
OPTIONAL = {
    *("jax", "torch", "mujoco", "matplotlib", "pinocchio", "trimesh", "PIL", "pxr"),
    *("gymnasium", "rsl_rl", "tensordict", "onnx", "onnxruntime"),
    *(
        "viser",
        "imageio",
        "websockets",
        "rosbags",
        "pyarrow",
        "ray",
        "stable_baselines3",
        "skrl",
        "tensorboard",
    ),
    "wandb",
}
"""Libraries of extras, which the package does without."""
NO_KEY = {"warp", "typing_extensions"}
"""What rosdep does not know, or, for Python 3.10 (Ubuntu 22.04), only in a version that is too old;
docs/installation.md says what to ask pip for."""
KEYS = {"urdf_parser_py": "urdfdom_py"} | {
    name: f"python3-{name}" for name in ("numpy", "lxml", "rich", "tqdm", "pytest", "yaml")
}
"""Keys of rosdep by the module's name, where they differ."""


def imported_modules(folder):
    """Modules outside of the standard library that the files of a folder import."""
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def test_package_xml_names_all_dependencies():
    """They are every package that the code and its launch files import or start, and every
    requirement of pip."""
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    named = {element.text for element in package.iter("exec_depend")}
    modules = {m for folder in ("warpdyn", "ros2_node", "launch") for m in imported_modules(folder)}
    modules -= OURS | OPTIONAL | NO_KEY | set(sys.stdlib_module_names)
    assert {KEYS.get(m, m) for m in modules} <= named
    setup = (ROOT / "setup.py").read_text()
    required = re.search(r"install_requires=\[(.*?)\]", setup, re.DOTALL)[1]
    names = {re.split(r"[><=]", n)[0] for n in re.findall(r'"(.+?)"', required)}
    renamed = {"urdf-parser-py": "urdf_parser_py", "warp-lang": "warp"}
    needed = {renamed.get(n, n) for n in names} - NO_KEY
    assert {KEYS.get(n, n) for n in needed} <= named
    started = {
        name
        for file in (ROOT / "launch").glob("*.launch.py")
        for name in re.findall(r'package="(.+?)"', file.read_text())
    }
    assert started - OURS <= named
    said = {
        module
        for file in (ROOT / "launch").glob("*.launch.py")
        for module in re.findall(r'require_package\("(\w+)"', file.read_text())
    }
    assert said == {"mujoco", "onnxruntime", "viser"}, "viser has no key"
    assert {f"python3-{module}-pip" for module in said - {"viser"}} <= named
    assert "`viser`" in (ROOT / "docs/installation.md").read_text()
    for_tests = {element.text for element in package.iter("test_depend")}
    assert {"python3-pytest", "python3-hypothesis"} <= for_tests


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A workspace with a copy of the package, built."""
    folder = tmp_path_factory.mktemp("workspace")
    package = folder / "src" / "warpdyn"
    package.mkdir(parents=True)
    for name in PARTS:
        shutil.copytree(ROOT / name, package / name)
    for name in FILES:
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, package)
    for name in TESTS:
        copy = package / "tests" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / name, copy)
    shutil.copytree(ROOT / "docs", package / "docs")
    run(TOOLS / "colcon", "build", cwd=folder)
    return folder


def test_the_build_installs_all_files_that_ros_needs(workspace):
    installed = workspace / "install" / "warpdyn"
    for path in (
        "lib/warpdyn/warpdyn_node",
        "lib/warpdyn/warpdyn_state_source",
        "lib/warpdyn/warpdyn_view",
        "share/ament_index/resource_index/packages/warpdyn",
        "share/warpdyn/package.xml",
        "share/warpdyn/launch/gravity_compensation.launch.py",
        "share/warpdyn/config/warpdyn.yaml",
        "share/warpdyn/rviz/warpdyn.rviz",
    ):
        assert (installed / path).is_file(), path
    assert (workspace / "install" / "setup.bash").is_file()
    assert not list(installed.rglob("site-packages/launch")), (
        "our launch folder is not a Python package"
    )


def test_the_installed_executable_runs_in_the_sourced_workspace(workspace):
    """It is lib/warpdyn/warpdyn_node, started as by `ros2 run`."""
    node = "install/warpdyn/lib/warpdyn/warpdyn_node"
    script = f'source install/setup.bash && exec "$0" {node} --ros-args -p robot_description_file:=nowhere.urdf'
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["bash", "-c", script, sys.executable],
        cwd=workspace,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "nowhere.urdf" in done.stdout + done.stderr


def test_colcon_test_passes(workspace):
    run(
        TOOLS / "colcon",
        "test",
        "--event-handlers",
        "console_cohesion+",
        "--pytest-args",
        "-q",
        "-k",
        "not no_message_makes_a_row_nonfinite",  # takes seconds, and runs with the other tests
        cwd=workspace,
    )
    result = run(TOOLS / "colcon", "test-result", "--verbose", cwd=workspace)
    assert "0 errors, 0 failures" in result and "Summary: 0 tests" not in result, result


def test_the_module_starts_without_colcon():
    with NodeProcess({"robot_description_file": "double_pendulum"}, fresh=True) as node:
        node.wait_for("ready: double_pendulum")
