"""Child processes, and the arguments they get."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import rclpy

from ros2_node.demo import processes
from ros2_node.demo.processes import (
    Child,
    Client,
    ProcessError,
    on_this_machine,
    ros_arguments,
)
from warpdyn import ModelError

SLEEPER = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda number, frame: sys.exit(7))
print("ready: asleep", flush=True)
time.sleep(60)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that children can run."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))

    def write(text):
        (tmp_path / "acting.py").write_text(text)
        return Child("acting", ["one", "two"], tmp_path / "log")

    return write


def test_parameters_and_remappings_are_read_by_ros_as_they_were_meant():
    """Booleans in YAML's spelling, lists with its quotes."""
    values = {"a": 1.5, "b": True, "c": ["x", "y"], "d": [0.0, 1.0], "e.f": "panda"}
    arguments = ros_arguments(values, {"~/commands": "to/commands"})
    assert arguments == [
        "--ros-args",
        *("-p", "a:=1.5", "-p", "b:=true", "-p", 'c:=["x", "y"]', "-p", "d:=[0.0, 1.0]"),
        *("-p", "e.f:=panda", "-r", "~/commands:=to/commands"),
    ]
    context = rclpy.Context()
    rclpy.init(args=arguments, context=context, domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = rclpy.create_node(
        "read", context=context, automatically_declare_parameters_from_overrides=True
    )
    read = {name: node.get_parameter(name).value for name in values}
    assert {k: list(x) if isinstance(values[k], list) else x for k, x in read.items()} == values
    node.destroy_node()
    context.try_shutdown()


def test_a_child_is_waited_for_and_ended_by_a_signal(module):
    child = module(SLEEPER)
    assert child.wait_for("ready:") > 0.0 and child.check()
    assert child.end() < 10.0 and child.process.returncode == 7
    assert child.end() < 1.0, "the second time there is nothing to end"


def test_a_child_that_ends_by_itself_is_one_line_with_its_last_words(module):
    """Which process, how it ended, and the last line that it wrote; whoever waits hears it at once."""
    child = module("import sys; print(sys.argv[1:]); raise SystemExit('no robot\\n')")
    child.process.wait()
    said = r"^acting ended by itself \(exit status 1\); its last words: no robot$"
    with pytest.raises(ProcessError, match=said):
        child.check()
    with pytest.raises(ProcessError, match=said):
        child.wait_for("ready:")
    assert "['one', 'two']" in child.log.read_text()
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    client = Client("waiting", [child])
    try:
        with pytest.raises(ProcessError, match=said):
            client.call("nobody/there")
        with pytest.raises(ProcessError, match=said):
            client.rest(30.0)
    finally:
        client.close()
        rclpy.try_shutdown()
        child.end(signal.SIGTERM)


def test_a_child_that_is_killed_or_silent_is_named(module, monkeypatch):
    """By the signal; without a word it has none; one that never says what is waited for is told by its time."""
    child = module(SLEEPER)
    child.wait_for("ready:")
    monkeypatch.setattr(processes, "PATIENCE", 0.0)
    with pytest.raises(ProcessError, match=r"^acting did not say 'done' within 0 s; .* asleep$"):
        child.wait_for("done")
    child.process.kill()
    child.process.wait()
    with pytest.raises(ProcessError, match=r"acting ended by itself \(signal 9\)"):
        child.check()
    child.end()
    silent = module("raise SystemExit(3)")
    silent.process.wait()
    with pytest.raises(ProcessError, match=r"\(exit status 3\); its last words: none$"):
        silent.check()
    silent.end()


@pytest.mark.parametrize(
    "error", [ProcessError("ros2_node.node ended by itself"), ModelError("nope.urdf: not there")]
)
def test_the_demo_says_in_one_line_why_it_stopped(error, monkeypatch, capsys):
    """Without a traceback, and by its exit status."""
    from examples.demo import live_arm as demo

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(demo, "closed_loop", fail)
    monkeypatch.setattr(demo, "on_this_machine", lambda domain: None)
    monkeypatch.setattr("sys.argv", ["demo"])
    assert demo.main() == 2
    assert capsys.readouterr().err == f"the demo stopped: {error}\n"


@pytest.mark.parametrize("profile", [None, "mine.xml"])
@pytest.mark.parametrize("path", [None, "/there"])
def test_dds_is_kept_on_this_machine(monkeypatch, profile, path):
    """For this process and its children, which find the package too; another profile is kept."""
    given = {"FASTDDS_DEFAULT_PROFILES_FILE": profile, "PYTHONPATH": path}
    own = Path(processes.__file__).with_name("loopback.xml")
    before = {k: v for k, v in os.environ.items() if k not in given}
    environment = {**before, **{k: v for k, v in given.items() if v is not None}}
    monkeypatch.setattr(processes.os, "environ", environment)
    on_this_machine(42)
    root = str(Path(processes.__file__).parents[2])
    assert own.is_file() and environment == {
        **before,
        "ROS_DOMAIN_ID": "42",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "FASTDDS_DEFAULT_PROFILES_FILE": profile or str(own),
        "PYTHONPATH": os.pathsep.join([root, *([path] if path else [])]),
    }
