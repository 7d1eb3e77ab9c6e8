"""The contents of a launch file, read with a recording stand-in for `launch` and `launch_ros`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
import yaml
from harness import ROOT

FILES = sorted((ROOT / "launch").glob("*.launch.py"))

STAND_IN = Path(__file__).parent / "stand_in"


@pytest.fixture(name="describe")
def launch_reader(monkeypatch, tmp_path):
    """Read a launch file with argument values. Returns (arguments, nodes as command lines)."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))  # no rviz2
    monkeypatch.delenv("DISPLAY", raising=False)
    of_launch = ("launch.", "launch_ros", "ros2_node.ros.launch_parts")
    for name in [m for m in sys.modules if m == "launch" or m.startswith(of_launch)]:
        monkeypatch.delitem(sys.modules, name)

    def read(file, **values):
        from launch.actions import DeclareLaunchArgument, LogInfo
        from launch_ros.actions import Node
        from launch_ros.substitutions import FindPackageShare

        FindPackageShare.root = str(ROOT)
        description = runpy.run_path(str(ROOT / "launch" / file))["generate_launch_description"]()
        declared = [e for e in description.entities if isinstance(e, DeclareLaunchArgument)]
        assert set(values) <= {d.name for d in declared}
        chosen = {}
        for d in declared:
            chosen[d.name] = values.get(d.name, text(d.default_value, chosen))
            if d.choices and chosen[d.name] not in d.choices:  # as launch does
                raise RuntimeError(
                    f'Argument "{d.name}" provided value "{chosen[d.name]}" is not valid'
                )
        actions = [e for e in description.entities if e not in declared]
        found = list(open_actions(actions, chosen))
        nodes = read.nodes = [e for e in found if isinstance(e, Node)]
        assert all(isinstance(e, (Node, LogInfo)) for e in found)
        return declared, [command(node, chosen, tmp_path) for node in nodes]

    return read


def open_actions(actions, chosen):
    """The actions whose condition holds, and the actions that functions return."""
    for action in actions:
        if action.condition is None or text(action.condition.expression, chosen) in (
            "true",
            "True",
            "1",
        ):
            if hasattr(action, "function"):
                yield from open_actions(action.function(chosen) or (), chosen)
            else:
                yield action


def text(value, chosen):
    """The text that launch makes of a text, a substitution or a list of both."""
    if isinstance(value, (list, tuple)):
        return "".join(text(part, chosen) for part in value)
    return value if isinstance(value, str) else value.perform(chosen)


def command(node, chosen, folder):
    """(executable, merged parameters, command line after the executable) as launch_ros would start
    it. Each dictionary is a parameter file, for the node's full name if that is known."""
    space = "/" + text(node.namespace or "", chosen).lstrip("/")
    name = "/**" if node.namespace is None else f"{space.rstrip('/')}/{node.name}"
    line = [*(text(a, chosen) for a in node.arguments), "--ros-args"]
    line += [text(a, chosen) for a in node.ros_arguments]
    line += ["-r", f"__node:={node.name}"]
    if node.namespace is not None:
        line += ["-r", f"__ns:={space}"]
    merged = {}
    for k, entry in enumerate(node.parameters):
        if isinstance(entry, dict):
            values = {parameter: evaluate(value, chosen) for parameter, value in entry.items()}
            place = f"{space}_{node.name}".replace("/", "_")
            path = folder / f"launch_params{place}_{k}.yaml"
            path.write_text(yaml.safe_dump({name: {"ros__parameters": values}}))
        else:
            path = Path(text(entry, chosen))
        line += ["--params-file", str(path)]
        for key, values in yaml.safe_load(path.read_text()).items():
            if key == "/**" or f"/{key.lstrip('/')}" == name:
                merged |= values["ros__parameters"]
    for old, new in node.remappings:
        line += ["-r", f"{old}:={text(new, chosen)}"]
    return node.executable, merged, line


def evaluate(value, chosen):
    """The value of a parameter. A ParameterValue converts a text."""
    if not hasattr(value, "value_type"):
        return value
    return (
        yaml.safe_load(text(value.value, chosen))
        if value.value_type is bool
        else (value.value_type(text(value.value, chosen)))
    )
