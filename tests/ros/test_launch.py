"""Launch files: read by a recording stand-in of `launch` and `launch_ros`, and what they describe is run."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from harness import ROOT, NodeProcess, Peer
from std_msgs.msg import Float64MultiArray

FILES = sorted((ROOT / "launch").glob("*.launch.py"))
STAND_IN = Path(__file__).parent / "stand_in"


@pytest.fixture
def describe(monkeypatch):
    """Reads a launch file, gives arguments their values, and returns (arguments, nodes as command lines)."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    for name in [
        m for m in sys.modules if m == "launch" or m.startswith(("launch.", "launch_ros"))
    ]:
        monkeypatch.delitem(sys.modules, name)

    def read(file, **values):
        from launch.actions import DeclareLaunchArgument
        from launch_ros.actions import Node
        from launch_ros.substitutions import FindPackageShare

        FindPackageShare.root = str(ROOT)
        description = runpy.run_path(str(ROOT / "launch" / file))["generate_launch_description"]()
        declared = [e for e in description.entities if isinstance(e, DeclareLaunchArgument)]
        nodes = [e for e in description.entities if isinstance(e, Node)]
        assert len(declared) + len(nodes) == len(description.entities)
        assert set(values) <= {d.name for d in declared}
        chosen = {}
        for d in declared:
            chosen[d.name] = values.get(d.name, text(d.default_value, chosen))
        return declared, [command(node, chosen) for node in nodes if wanted(node, chosen)]

    return read


def text(value, chosen):
    """What launch makes of a text, a substitution or a list of both."""
    if isinstance(value, (list, tuple)):
        return "".join(text(part, chosen) for part in value)
    return value if isinstance(value, str) else value.perform(chosen)


def wanted(node, chosen):
    return node.condition is None or text(node.condition.expression, chosen) in (
        "true",
        "True",
        "1",
    )


def command(node, chosen):
    """(executable, parameters, command line after the executable) as launch_ros would start it."""
    line = ["--ros-args", "-r", f"__node:={node.name}"]
    if node.namespace is not None and text(node.namespace, chosen):
        line += ["-r", f"__ns:=/{text(node.namespace, chosen).lstrip('/')}"]
    parameters = {}
    for entry in node.parameters:
        if not isinstance(entry, dict):
            line += ["--params-file", text(entry, chosen)]
            continue
        for name, value in entry.items():
            if hasattr(value, "value_type"):
                string = text(value.value, chosen)
                value = {bool: lambda s: {"true": True, "false": False}[s]}.get(
                    value.value_type, value.value_type
                )(string)
            parameters[name] = value
            line += [
                "-p",
                f"{name}:={yaml.safe_dump(value, default_flow_style=True).strip().removesuffix('...').strip()}",
            ]
    for old, new in node.remappings:
        line += ["-r", f"{old}:={text(new, chosen)}"]
    return node.executable, parameters, [*line, *(text(a, chosen) for a in node.arguments)]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_argument_is_described_and_used(file, describe):
    declared, _ = describe(file.name)
    assert declared
    for argument in declared:
        assert argument.description and len(argument.description) > 10, argument.name
        assert (
            file.read_text().count(f'"{argument.name}"') >= 2
            or f'("{argument.name}"' in file.read_text()
        )


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_executables_are_installed_by_the_package(file, describe):
    _, nodes = describe(file.name)
    setup = (ROOT / "setup.py").read_text()
    for executable, _, _ in nodes:
        assert executable == "rviz2" or f"{executable} =" in setup


def test_there_are_four_launch_files():
    assert [f.name.split(".")[0] for f in FILES] == [
        "batch",
        "demo",
        "gravity_compensation",
        "warpdyn",
    ]


def test_gravity_compensation_sends_to_the_controller(describe, context):
    """The node that the launch file describes, run for real: commands arrive at the controller's topic."""
    _, nodes = describe(
        "gravity_compensation.launch.py",
        robot_description_file="panda",
        controller="arm_effort",
        ramp_time="0.05",
    )
    [(executable, parameters, line)] = nodes
    assert executable == "warpdyn_node" and parameters["mode"] == "gravity"
    with NodeProcess(arguments=line[1:]) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        received: list[Float64MultiArray] = []
        peer.listen(Float64MultiArray, "arm_effort/commands", received.append)
        names = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
        q = [0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.0, 0.0]

        def send():
            peer.send(names, q)

        peer.wait(lambda: peer.torques, "torques", each=send)
        assert peer.enable(each=send).success
        peer.wait(
            lambda: len(received) > 20 and np.abs(received[-1].data[1]) > 1.0, "commands", each=send
        )
        assert len(received[-1].data) == 8
        peer.close()


def test_warpdyn_launch_in_a_namespace_with_another_state_topic(describe, context):
    values = {
        "robot_description_file": "ur5e",
        "namespace": "left",
        "joint_states": "/all/joint_states",
        "commands": "out",
    }
    _, [(_, _, line)] = describe("warpdyn.launch.py", **values)
    with NodeProcess(arguments=line[1:]) as node:
        node.wait_for("ready: ur5e")
        peer = Peer(context, "left")
        peer.wait(lambda: peer.node.count_subscribers("/all/joint_states") == 1, "subscription")
        peer.wait(lambda: peer.node.count_publishers("/left/out") == 1, "commands remapped")
        peer.close()


def test_demo_and_batch_start_the_state_source(describe):
    _, nodes = describe("demo.launch.py", rviz="true")
    assert [n[0] for n in nodes] == ["warpdyn_state_source", "warpdyn_node", "rviz2"]
    assert nodes[2][2][-1] == f"{ROOT}/rviz/warpdyn.rviz" and Path(nodes[2][2][-1]).is_file()
    _, nodes = describe("demo.launch.py", rviz="false")
    assert len(nodes) == 2
    _, nodes = describe("batch.launch.py", source="true", robots="16")
    assert nodes[1][1] == {"robot": "panda", "robots": 16, "rate": 100.0}
    assert "~/batch/state:=warpdyn/batch/state" in nodes[1][2]


def test_rviz_file_is_yaml_and_shows_our_topics():
    config = yaml.safe_load((ROOT / "rviz" / "warpdyn.rviz").read_text())
    displays = {d["Name"]: d for d in config["Visualization Manager"]["Displays"]}
    assert displays["Link poses"]["Topic"]["Value"] == "/warpdyn/link_poses"
    assert displays["Robot"]["Description Topic"]["Value"] == "/robot_description"


def test_batch_launch_runs(describe, context):
    """Node and source as described, small: torques of 16 robots come."""
    _, nodes = describe(
        "batch.launch.py", source="true", robots="16", robot_description_file="double_pendulum"
    )
    node_line, source_line = nodes[0][2], nodes[1][2]
    with (
        NodeProcess(arguments=node_line[1:]) as node,
        NodeProcess(arguments=source_line[1:], module="ros2_node.demo.state_source"),
    ):
        node.wait_for("ready: double_pendulum")
        peer = Peer(context)
        got: list[Float64MultiArray] = []
        peer.listen(Float64MultiArray, "warpdyn/batch/torques", got.append)
        peer.wait(lambda: got, "batch torques")
        assert [d.size for d in got[0].layout.dim] == [16, 2]
        peer.close()
