"""Packages of controllers: their files, their names, and the life cycle of a controller on stand-in
headers."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from exported_code import WARNINGS, compiler
from hostile_names import hostile_names
from lxml import etree

import warpdyn as wd
from ros2_node.ros2_control.control_package import (
    commanded_joints,
    control_package,
    package_name,
    write_package,
)
from ros2_node.ros2_control.controller_laws import built_in_laws

MODEL = wd.load_robot("ur5e")
LAWS = built_in_laws("tool0")
STAND_IN = Path(__file__).parent / "stand_in"
HEADERS = (
    "controller_interface/controller_interface",
    "geometry_msgs/msg/pose_stamped",
    "rcl_interfaces/msg/set_parameters_result",
    "rclcpp/rclcpp",
    "rclcpp_lifecycle/lifecycle_node",
    "std_srvs/srv/set_bool",
    "std_srvs/srv/trigger",
    "trajectory_msgs/msg/joint_trajectory",
    "pluginlib/class_list_macros",
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    write_package(control_package(MODEL, [*LAWS.values()]), folder, overwrite=True)
    for header in HEADERS:
        file = folder / f"stand_in/{header}.hpp"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#include "stand_in_ros.hpp"\n')
    return folder


def stand_in_parameters(package: Path, law: str) -> str:
    """The output of generate_parameter_library for a law's file, as plain values: those of the
    example parameters, or the defaults."""
    (namespace, entries), *_ = yaml.safe_load(
        (package / f"src/{law}_parameters.yaml").read_text()
    ).items()
    example = yaml.safe_load((package / "config/controllers.yaml").read_text())
    given = example[law]["ros__parameters"]
    lines = ["#include <rclcpp_lifecycle/lifecycle_node.hpp>", f"namespace {namespace} {{"]
    lines += ["struct Params {", *_fields(entries, given), "};"]
    lines += [
        "struct ParamListener {",
        "  template <class Node>",
        "  ParamListener(const Node &) {}",
    ]
    lines += ["  Params get_params() const { return given; }"]
    lines += ["  static inline Params given;", "};", "}"]
    return "\n".join(lines)


def _fields(entries: dict[str, Any], given: dict[str, Any]) -> list[str]:
    types = {"double": "double", "bool": "bool", "string": "std::string"}
    types |= {f"{name}_array": f"std::vector<{cpp}>" for name, cpp in types.items()}
    lines = []
    for name, entry in entries.items():
        if "type" not in entry:
            inner = _fields(entry, given.get(name, {}))
            lines += ["  struct {", *inner, f"  }} {name};"]
            continue
        value = json.dumps(given.get(name, entry.get("default_value")))
        lines.append(f"  {types[entry['type']]} {name} = {value.translate({91: '{', 93: '}'})};")
    return lines


def drive(package: Path, law: str, which: int, options: Sequence[str]) -> str:
    """Compile a controller with drive_controller.cpp, and run it. Returns its output, the checks
    that failed."""
    name = LAWS[law].class_name
    parameters = package / f"stand_in/ur5e_controllers/{law}_parameters.hpp"
    parameters.parent.mkdir(exist_ok=True)
    parameters.write_text(stand_in_parameters(package, law))
    program = package / "drive"
    (package / "drive.cpp").write_text(
        f'#include "src/{law}_controller.cpp"\n'
        f"#define CONTROLLER {name}Controller\n#define PARAMETERS {law}_parameters::ParamListener\n"
        '#include "drive_controller.cpp"\n'
    )
    command = [compiler("c++", which), "-std=c++17", *WARNINGS, *options]
    command += ["-isystem", "stand_in", "-isystem", str(STAND_IN), "-I", "include", "-I", "."]
    command += ["drive.cpp", "-o", str(program), "-ldl", "-pthread"]
    ran = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


ADDRESSES = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize(
    ("law", "which", "options"),
    [
        ("joint_impedance", 0, ("-O1", "-DCOUNTS")),
        ("cartesian_impedance", 1, ("-O0", "-DCOUNTS", "-DOLD_HANDLES")),
        ("gravity_compensation", 0, ADDRESSES),
    ],
)
def test_a_controller_passes_its_life_cycle_checks(
    law: str, which: int, options: Sequence[str], package: Path
) -> None:
    """They cover activation, faults, requests and deactivation. `update` neither allocates nor
    locks."""
    assert drive(package, law, which, options) == "0 failures\n"


def test_the_tests_of_a_package_pass(package: Path) -> None:
    """These are its own tests of the guards, with each law."""
    program = package / "guards"
    command = [compiler("c++", 0), "-std=c++17", *WARNINGS, "-O1", "-isystem", str(STAND_IN)]
    command += ["-I", "include", "test/guards_test.cpp", "-o", str(program)]
    ran = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.stdout == f"{5 * len(LAWS)} tests, 0 failures\n"


def test_files_of_a_package_name_the_same_plugins(package: Path) -> None:
    """The files are XML, YAML, Python and CMake."""
    root = etree.parse(package / "package.xml").getroot()
    assert root.findtext("name") == "ur5e_controllers"
    plugins = etree.parse(package / "ur5e_controllers_plugins.xml").getroot()
    assert plugins.get("path") == "ur5e_controllers_plugins"
    names = {each.get("name") for each in plugins}
    manager = yaml.safe_load((package / "config/controllers.yaml").read_text())
    types = manager["controller_manager"]["ros__parameters"]
    assert names == {types[law]["type"] for law in LAWS}
    for each in plugins:
        law = each.get("name").split("/")[1].removesuffix("Controller")
        assert any(law == x.class_name for x in LAWS.values())
        assert each.get("type") == f"ur5e_controllers::{law}Controller"
    assert types["joint_state_broadcaster"]["type"].endswith("/JointStateBroadcaster")
    launch = ast.parse((package / "launch/controllers.launch.py").read_text())
    assert any(isinstance(x, ast.FunctionDef) for x in launch.body)
    cmake = (package / "CMakeLists.txt").read_text()
    assert "-mfma -ffp-contract=fast)" in cmake  # as test_controller_laws.py compiles the laws
    assert "project(ur5e_controllers" in cmake and f"set(LAWS {' '.join(LAWS)})" in cmake


def test_hostile_names_are_escaped_in_every_file(tmp_path: Path) -> None:
    """Names of robots, joints and links occur only in comments, strings and lists. C++ compiles,
    and XML, YAML and Python read the names back."""
    parts = [name for name in hostile_names(90) if name.strip()]
    names = ["".join(parts[k::5]) for k in range(5)]
    made = wd.ModelBuilder("".join(parts)).add_link("base")
    for name, parent in zip(names, ["base", *names], strict=False):
        made.add_link(name, mass=1.0, inertia=np.eye(3))
        made.add_joint(name, "revolute", parent, name, axis=(0, 0, 1), lower=-1.0, upper=1.0)
    model = made.build()
    files = control_package(model, [*built_in_laws(names[3]).values()], name="arm")
    for path, text in files.items():
        assert text.isascii() or path.endswith((".yaml", ".xml", ".md")), path
    write_package(files, tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "arm/guarded_law.hpp"\n#include "arm/laws.hpp"\n'
        "template class arm::GuardedLaw<arm::CartesianImpedanceLaw>;\n"
    )
    command = [compiler("c++", 0), "-std=c++17", "-trigraphs", *WARNINGS, "-fsyntax-only"]
    command += ["-I", "include", "main.cpp"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:2000]
    example = yaml.safe_load(files["config/controllers.yaml"])
    assert example["joint_impedance"]["ros__parameters"]["joints"] == list(model.joint_names)
    for law in LAWS:
        yaml.safe_load(files[f"src/{law}_parameters.yaml"])
    etree.fromstring(files["package.xml"].encode())
    ast.parse(files["launch/controllers.launch.py"])


def test_the_commanded_joints_are_checked() -> None:
    panda = wd.load_robot("panda")
    arm = [f"panda_joint{k}" for k in range(1, 8)]
    assert commanded_joints(panda, arm) == tuple(arm)
    assert commanded_joints(MODEL, ()) == MODEL.joint_names
    with pytest.raises(ValueError, match="a joint is named twice"):
        commanded_joints(panda, [arm[0], arm[0]])
    with pytest.raises(ValueError, match="panda has no joint 'elbow'"):
        commanded_joints(panda, ["elbow"])
    with pytest.raises(ValueError, match="has a free base"):
        commanded_joints(wd.load_robot("quadruped", floating_base=True), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("UR-5e__arm", "ur_5e_arm"),
        ("7dof", "n7dof"),
        ("double", "double_controllers"),
        ("rclcpp", "rclcpp_controllers"),
        ("gamma", "gamma_controllers"),
        ("脚", "x"),
    ],
)
def test_package_names_are_made_valid(text: str, name: str) -> None:
    assert package_name(text) == name


def test_a_nonempty_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty"):
        write_package({"a/b.txt": "x"}, tmp_path)
    write_package({"a/b.txt": "x"}, tmp_path, overwrite=True)
    assert (tmp_path / "a/b.txt").read_text() == "x" and (tmp_path / "mine").exists()


def test_joints_of_several_velocities_and_laws_of_one_name_are_refused() -> None:
    ball = wd.ModelBuilder("arm").add_link("a").add_link("b", 1.0, (0, 0, 0), np.eye(3))
    model = ball.add_joint("j", "ball", "a", "b").build()
    with pytest.raises(ValueError) as error:
        commanded_joints(model, ())
    assert str(error.value) == (
        "joint j has 3 velocities; a controller commands joints with one: leave it out"
    )
    law = LAWS["gravity_compensation"]
    with pytest.raises(ValueError) as error:
        control_package(MODEL, [law, law])
    assert str(error.value) == "two laws would be called gravity_compensation: name each once"


def test_a_package_is_written_to_an_empty_or_new_folder(tmp_path: Path) -> None:
    """A file at its path is refused."""
    for folder in (tmp_path / "empty", tmp_path / "new"):
        if folder.name == "empty":
            folder.mkdir()
        write_package({"b.txt": "x"}, folder)
        assert (folder / "b.txt").read_text() == "x"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        write_package({"b.txt": "x"}, tmp_path / "file")
