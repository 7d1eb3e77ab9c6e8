"""Launch files, read with a recording stand-in for `launch` and `launch_ros`. Their nodes are
run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from ament_index_python.packages import get_package_prefix
from described_launch import FILES, launch_reader  # noqa: F401  a fixture
from harness import GENEROUS, ROOT, NodeProcess, Peer
from launch_cases import CASES, RECORD, USER, in_order, summary, user_file
from std_msgs.msg import Float64MultiArray

from ros2_node.control.settings.node_settings import Settings


@pytest.mark.parametrize("case", CASES)
def test_the_stand_in_starts_the_processes_of_the_real_launch(case, describe, tmp_path):
    """The executables, the parameter files and their order, the remappings and the arguments are as
    recorded."""
    file, arguments = CASES[case]
    user = user_file(tmp_path)
    values = {k: str(user) if v == USER else v for k, v in arguments.items()}
    _, nodes = describe(file, **values)
    places = {str(ROOT): "$SHARE", str(user): USER}
    found = []
    for executable, _, line in nodes:
        files = {x: Path(x).read_text() for x in line if Path(x).is_file()}
        found.append(summary(executable, line, files, places))
    assert in_order(found) == json.loads(RECORD.read_text())[case]


REQUIRED = {
    "batch.launch.py": {"warpdyn_node", "warpdyn_state_source"},
    "demo.launch.py": {"warpdyn_node", "warpdyn_state_source"},
    "teleoperation.launch.py": {
        "warpdyn_plant",
        "warpdyn_node",
        "warpdyn_teleoperation",
        "warpdyn_hand",
    },
    "walk.launch.py": {"warpdyn_node", "warpdyn_walker"},
}
"""Children without which the rest of their launch file would wait for ever."""


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_a_launch_ends_when_a_required_process_ends(file, describe, monkeypatch):
    """An unknown robot in demo.launch.py is an example.

    RViz may be closed. A node that is alone in its file, which other files may include, ends alone.
    """
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", lambda name: "/opt")
    arguments = {"batch.launch.py": {"source": "true"}, "demo.launch.py": {"rviz": "true"}}
    describe(file.name, **arguments.get(file.name, {}))
    ends = {node.executable for node in describe.nodes if node.on_exit is not None}
    assert ends == REQUIRED.get(file.name, set())


@pytest.mark.parametrize(
    ("file", "package"),
    [("teleoperation", "mujoco"), ("walk", "onnxruntime"), ("view", "viser")],
)
def test_a_missing_package_ends_the_launch_with_its_install_command(
    file, package, describe, monkeypatch
):
    """This happens before any process starts, with one sentence."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        RuntimeError, match=f"needs the Python package {package}.*pip install {package}$"
    ):
        describe(f"{file}.launch.py")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({}, ["ur5e", 0.5, 3.0, True]),
        ({"torque_scale": "0.8", "start_enabled": "false"}, ["ur5e", 0.8, 3.0, False]),
        ({"robot_description_file": "panda", "torque_scale": "[1,1,1,1,1,1,1,0]"},
         ["panda", [1.0] * 7 + [0.0], 3.0, True]),
    ],
    ids=["file alone", "arguments", "list"],
)  # fmt: skip
def test_the_node_runs_with_the_merged_parameters(arguments, expected, describe, context, tmp_path):
    """rclpy merges them, whether the file names the node or all nodes."""
    from rcl_interfaces.srv import GetParameters
    from rclpy.parameter import parameter_value_to_python

    user = str(user_file(tmp_path))
    _, [(_, _, line)] = describe("warpdyn.launch.py", params_file=user, **arguments)
    with NodeProcess(arguments=line[1:]) as node:
        node.wait_for("ready: ")
        peer = Peer(context)
        names = ["robot_description_file", "torque_scale", "ramp_time", "start_enabled"]
        answer = peer.call("get_parameters", GetParameters, names=names)
        values = [parameter_value_to_python(v) for v in answer.values]
        assert [list(v) if hasattr(v, "typecode") else v for v in values] == expected
        peer.close()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_executables_are_installed_by_the_package(file, describe):
    _, nodes = describe(file.name)
    setup = (ROOT / "setup.py").read_text()
    for executable, _, _ in nodes:
        assert f"{executable} =" in setup


def test_there_are_seven_launch_files():
    assert [f.name.split(".")[0] for f in FILES] == [
        "batch",
        "demo",
        "gravity_compensation",
        "teleoperation",
        "view",
        "walk",
        "warpdyn",
    ]


def test_gravity_compensation_sends_to_the_controller(describe, context):
    """The node of the launch file is run, and commands arrive at the controller's topic."""
    _, nodes = describe(
        "gravity_compensation.launch.py",
        robot_description_file="panda",
        controller="arm_effort",
        ramp_time="0.05",
    )
    [(executable, parameters, line)] = nodes
    assert executable == "warpdyn_node" and parameters["mode"] == "gravity"
    patient = ["-p", f"state_timeout:={GENEROUS}"]
    with NodeProcess(arguments=[*line[1:], *patient]) as node:
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


def test_warpdyn_launch_accepts_a_namespace_and_a_state_topic(describe, context):
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


def test_the_demo_launch_works_without_rviz2(describe, monkeypatch):
    """If rviz2 is installed it gets our configuration. Otherwise two nodes start and no third."""
    genuine = get_package_prefix
    monkeypatch.setattr(
        "ament_index_python.packages.get_package_prefix",
        lambda name: "/opt" if name == "rviz2" else genuine(name),
    )
    _, nodes = describe("demo.launch.py", rviz="true")
    assert [n[0] for n in nodes] == ["warpdyn_state_source", "warpdyn_node", "rviz2"]
    picture = Path(nodes[2][2][1])
    assert picture == ROOT / "rviz" / "warpdyn.rviz" and picture.is_file()
    _, nodes = describe("demo.launch.py", rviz="false")
    assert len(nodes) == 2
    monkeypatch.setattr("ament_index_python.packages.get_package_prefix", genuine)
    _, nodes = describe("demo.launch.py", rviz="true")
    assert len(nodes) == 2, "the stand-in's index has no rviz2"


def test_the_batch_launch_starts_the_state_source(describe):
    _, nodes = describe("batch.launch.py", source="true", robots="16")
    assert nodes[1][1] == {"robot": "panda", "robots": 16, "rate": 100.0}
    assert "~/batch/state:=warpdyn/batch/state" in nodes[1][2]
    _, nodes = describe("batch.launch.py", source="true", robot_description_file="ur5e")
    assert nodes[0][1]["robot_description_file"] == nodes[1][1]["robot"] == "ur5e"


def test_the_rviz_file_is_yaml_and_shows_our_topics():
    config = yaml.safe_load((ROOT / "rviz" / "warpdyn.rviz").read_text())
    displays = {d["Name"]: d for d in config["Visualization Manager"]["Displays"]}
    assert displays["Link poses"]["Topic"]["Value"] == "/warpdyn/link_poses"
    assert displays["Robot"]["Description Topic"]["Value"] == "/robot_description"


@pytest.mark.parametrize(
    "arguments, model, dof",
    [({"robot_description_file": "double_pendulum"}, "double_pendulum", 2), ({}, "panda", 8)],
    ids=["a robot by argument", "the source's own"],
)
def test_the_batch_launch_runs(arguments, model, dof, describe, context):
    """Node and source run with few robots, and torques of 16 robots arrive. Without a description
    the node uses the one that the source publishes."""
    _, nodes = describe("batch.launch.py", source="true", robots="16", **arguments)
    node_line, source_line = nodes[0][2], nodes[1][2]
    with (
        NodeProcess(arguments=node_line[1:]) as node,
        NodeProcess(arguments=source_line[1:], module="ros2_node.demo.state_source"),
    ):
        node.wait_for(f"ready: {model}")
        peer = Peer(context)
        got: list[Float64MultiArray] = []
        peer.listen(Float64MultiArray, "warpdyn/batch/torques", got.append)
        peer.wait(lambda: got, "batch torques")
        assert [d.size for d in got[0].layout.dim] == [16, dof]
        peer.close()


def test_the_teleoperation_launch_starts_both_arms_and_the_forwarder(describe):
    """Each arm's plant and node are in its namespace. Only the leader gets feedback."""
    _, nodes = describe("teleoperation.launch.py", feedback="15.0", hand="false")
    executables = [executable for executable, _, _ in nodes]
    assert executables == ["warpdyn_plant", "warpdyn_node"] * 2 + ["warpdyn_teleoperation"]
    for k, arm in ((0, "leader"), (2, "follower")):
        assert f"__ns:=/{arm}" in nodes[k][2] and f"__ns:=/{arm}" in nodes[k + 1][2]
        assert "~/commands:=warpdyn/commands" in nodes[k][2]
    assert nodes[1][1]["law"] == "teaching" and nodes[1][1]["law_inputs.coupling"] == 15.0
    assert nodes[3][1]["law"] == "joint_impedance" and "law_inputs.coupling" not in nodes[3][1]
    for values in (nodes[1][1], nodes[3][1]):
        Settings.of(values)
    assert len(describe("teleoperation.launch.py")[1]) == 6
