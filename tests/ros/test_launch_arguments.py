"""Arguments of launch files: their choices, their documentation, and their effects."""

from __future__ import annotations

import re

import pytest
from described_launch import FILES, launch_reader  # noqa: F401  a fixture
from harness import ROOT
from launch_cases import user_file


def test_an_argument_that_is_not_set_keeps_the_files_value(describe, tmp_path):
    """This is the recipe of docs/ros2.md: `torque_scale: 0.5` in the file is 0.5 in the node."""
    user = str(user_file(tmp_path))
    _, [(_, merged, _)] = describe("gravity_compensation.launch.py", params_file=user)
    assert merged == {
        "robot_description_file": "ur5e",
        "torque_scale": 0.5,
        "ramp_time": 3.0,
        "start_enabled": True,
        "mode": "gravity",
    }
    arguments = {"params_file": user, "torque_scale": "[1, 0.5]", "start_enabled": "false"}
    _, [(_, merged, _)] = describe("warpdyn.launch.py", **arguments)
    assert merged["torque_scale"] == [1.0, 0.5] and merged["start_enabled"] is False
    assert merged["ramp_time"] == 3.0


def test_arguments_with_a_fixed_set_of_values_have_choices(describe):
    """These are parameters with choices and truth values. The empty default, which selects the
    file's value, is among them. Launch refuses any other value."""
    for file, name, good in (
        ("warpdyn.launch.py", "mode", ("", "computed_torque")),
        ("warpdyn.launch.py", "command_type", ("", "joint_command")),
        ("warpdyn.launch.py", "log_level", ("debug",)),
        ("warpdyn.launch.py", "lifecycle", ("true", "False")),
        ("gravity_compensation.launch.py", "stale_action", ("", "hold")),
        ("gravity_compensation.launch.py", "use_sim_time", ("", "true")),
        ("batch.launch.py", "mode", ("", "inverse_dynamics")),
        ("batch.launch.py", "source", ("true",)),
        ("teleoperation.launch.py", "hand", ("false",)),
        ("demo.launch.py", "rviz", ("false",)),
        ("view.launch.py", "torques", ("false",)),
    ):
        for value in good:
            describe(file, **{name: value})
        with pytest.raises(RuntimeError, match=f'"{name}" provided value "nonsense" is not valid'):
            describe(file, **{name: "nonsense"})


def test_a_bad_argument_is_refused_with_its_name(describe):
    with pytest.raises(ValueError, match=r"torque_scale must lie in 0 .. 1\.5"):
        describe("gravity_compensation.launch.py", torque_scale="8")
    for file in FILES:
        if "params_file" in file.read_text():
            with pytest.raises(ValueError, match=r"params_file 'no\.yaml' is not a file"):
                describe(file.name, params_file="no.yaml")


OTHER = {
    "params_file": str(ROOT / "config" / "namespaces.yaml"),
    "robot_description_file": "ur5e",
    "robot": "ur5e",
    "mode": "inverse_dynamics",
    "device": "cuda:0",
    "joints": "[a]",
    "command_joints": "[b]",
    "torque_scale": "0.25",
    "command_type": "joint_command",
    "command_controller": "arm_controller",
    "realtime": "true",
    "lifecycle": "true",
    "ramp_time": "4",
    "stale_action": "hold",
    "start_enabled": "true",
    "publish_tf": "true",
    "use_sim_time": "true",
    "log_level": "debug",
    "namespace": "left",
    "joint_states": "/all/joint_states",
    "commands": "out",
    "controller": "arm",
    "source": "true",
    "robots": "3",
    "rate": "7.0",
    "speed": "0.7",
    "rviz": "true",
    "policy": "p.onnx",
    "policy_task": "my_tasks:Task",
    "floating_base": "true",
    "torques": "false",
    "bag": "drive.mcap",
    "topic": "/arm/joint_states",
    "host": "0.0.0.0",
    "port": "0",
    "law": "joint_impedance",
    "law_options": "[frame=tool0]",
    "feedback": "12.0",
    "friction": "0.5",
    "hand": "false",
}
"""A value of each argument that is not its default."""


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_argument_is_described_and_used(file, describe, monkeypatch):
    """Another value of an argument starts different processes."""
    prefix = lambda name: "/opt"  # noqa: E731
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", prefix)
    base = {"source": "true"} if file.name.startswith("batch") else {}
    declared, nodes = describe(file.name, **base)
    assert declared
    for argument in declared:
        assert argument.description and len(argument.description) > 10, argument.name
        values = {} if argument.name in base else {**base, argument.name: OTHER[argument.name]}
        assert describe(file.name, **values)[1] != nodes, argument.name


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_the_page_names_every_argument(file, describe):
    """The table of docs/ros2.md has exactly the arguments of each file."""
    page = (ROOT / "docs" / "ros2.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith(f"| {file.name} |")]
    declared, _ = describe(file.name)
    assert set(re.findall(r"`(\w+)`", row)) == {argument.name for argument in declared}
