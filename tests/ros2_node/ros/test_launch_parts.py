"""The shared parts of launch files, with a stand-in for `launch`. tests/ros/test_launch.py runs
whole launch files."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from harness import ROOT

STAND_IN = ROOT / "tests" / "ros" / "stand_in"


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """The module, with the stand-in as its `launch`."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    of_launch = ("launch.", "launch_ros", "ros2_node.ros.launch_parts")
    for name in [m for m in sys.modules if m == "launch" or m.startswith(of_launch)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))  # no rviz2
    module = importlib.import_module("ros2_node.ros.launch_parts")
    monkeypatch.setattr(module.FindPackageShare, "root", str(ROOT))
    yield module
    del sys.modules["ros2_node.ros.launch_parts"]


def launch_configuration(parts, arguments, **values):
    """The launch configuration after launch has read the arguments."""
    declared = parts.declare_arguments(arguments)
    assert all(argument.description for argument in declared)
    text = {a.name: a.default_value for a in declared}
    perform = lambda x: x if isinstance(x, str) else x.perform({})  # noqa: E731
    return {name: perform(default) for name, default in text.items()} | values


def test_an_argument_overrides_the_parameter_file(parts):
    parameters = (("torque_scale", "factor"), ("mode", "what it does"))
    values = launch_configuration(
        parts, parts.over_a_file("warpdyn.yaml", parameters), torque_scale="[1, 0.5]"
    )
    file, given = parts.file_and_given(values, parameters)
    assert Path(file) == ROOT / "config" / "warpdyn.yaml" and Path(file).is_file()
    assert given == {"torque_scale": [1.0, 0.5]}
    with pytest.raises(ValueError, match=r"params_file 'no\.yaml' is not a file"):
        parts.file_and_given({**values, "params_file": "no.yaml"}, parameters)


def test_a_value_has_its_type(parts):
    rate = parts.value("rate", float)
    assert rate.value_type is float and rate.value.perform({"rate": "250"}) == "250"


@pytest.mark.parametrize("display", ["DISPLAY", "WAYLAND_DISPLAY", None])
def test_rviz_starts_by_default_if_there_is_a_display(display, parts, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if display:
        monkeypatch.setenv(display, ":0")
    assert launch_configuration(parts, [parts.rviz_argument()]) == {
        "rviz": "true" if display else "false"
    }


def test_rviz_uses_our_config_or_a_line_says_it_is_missing(parts, monkeypatch):
    action = parts.rviz("-f", "odom")
    assert action.condition.expression.name == "rviz"
    [line] = action.function({})
    assert "rviz2 is not installed" in line.msg
    monkeypatch.setattr(parts.packages, "get_package_prefix", lambda name: "/opt")
    [node] = action.function({})
    flag, picture, *rest = node.arguments
    assert node.executable == "rviz2" and flag == "-d" and rest == ["-f", "odom"]
    assert Path(picture.perform({})).is_file()


def test_a_missing_required_package_ends_the_launch(parts, monkeypatch):
    """The error says what needs it, and how to install it."""
    check = parts.require_package("mujoco", "the demo").function
    monkeypatch.setattr(parts, "find_spec", lambda name: name == "mujoco" or None)
    assert check(None) is None
    monkeypatch.setattr(parts, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="the demo needs the Python package mujoco"):
        check(None)


def test_a_required_node_ends_the_launch(parts):
    node = parts.required_node("warpdyn_plant", name="plant")
    assert node.executable == "warpdyn_plant"
    assert node.on_exit.reason == "warpdyn_plant has ended, and the rest needs it"
