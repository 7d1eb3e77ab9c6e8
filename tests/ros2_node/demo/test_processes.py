"""Child processes of the demos, and their arguments."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import rclpy
from std_srvs.srv import SetBool, Trigger

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
for _ in range(600):
    time.sleep(0.1)  # a signal between the line above and a sleep acts after that sleep
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module and run it as a child process."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))

    def write(text):
        (tmp_path / "acting.py").write_text(text)
        return Child("acting", ["one", "two"], tmp_path / "log")

    return write


def test_ros_reads_parameters_and_remappings_correctly():
    """Booleans are spelled as in YAML, and lists have its quotes."""
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


def test_a_child_can_be_awaited_and_ended_by_a_signal(module):
    child = module(SLEEPER)
    assert child.wait_for("ready:") > 0.0 and child.check()
    assert child.end() < 10.0 and child.process.returncode == 7
    assert child.end() < 1.0, "the second time there is nothing to end"


def test_the_end_of_a_child_is_reported_with_its_last_line(module):
    """The report says which process ended, how, and its last line. A waiting caller gets it at
    once."""
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


def test_a_killed_or_silent_child_is_reported(module, monkeypatch):
    """The report names the signal, or has no last line. A child that never prints the expected text
    is reported after a time."""
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
def test_the_demo_reports_in_one_line_why_it_stopped(error, monkeypatch, capsys):
    """There is no traceback, and the exit status is 2."""
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
def test_dds_is_limited_to_this_machine(monkeypatch, profile, path):
    """The environment holds for this process and its children, and its path includes the package. A
    profile that is already set is kept."""
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


class Clock:
    """A clock that advances while a caller waits."""

    def __init__(self):
        self.now = 5.0

    def monotonic(self):
        return self.now

    def spin_once(self, timeout_sec):
        assert 0.0 < timeout_sec <= 0.1
        self.now += timeout_sec


@pytest.fixture
def calling(monkeypatch):
    """A client whose services return `answers` one after the other."""
    clock, answers, calls = Clock(), [], []
    monkeypatch.setattr(processes, "time", clock)

    def create_client(kind, service):
        def call_async(request):
            calls.append((kind, service, request))
            return SimpleNamespace(done=lambda: True, result=lambda: answers.pop(0))

        return SimpleNamespace(service_is_ready=lambda: bool(answers), call_async=call_async)

    client = Client.__new__(Client)
    client.children, client.executor = (), clock
    client.node = SimpleNamespace(create_client=create_client, destroy_client=lambda client: None)
    return client, clock, answers, calls


def test_a_client_waits_for_a_value_or_reports_what_did_not_happen(calling):
    client, clock, _, _ = calling
    assert client.until(lambda: clock.now > 5.5 and "there", "it") == "there"
    assert 5.5 < clock.now < 5.53
    with pytest.raises(ProcessError, match=r"^it did not happen within 2 s$"):
        client.until(lambda: 0, "it", 2.0)
    assert 7.5 < clock.now < 7.56
    client.rest(0.25)
    assert clock.now == pytest.approx(7.5 + 0.25, abs=0.06)


def test_a_client_calls_a_service_with_or_without_a_value(calling):
    client, _, answers, calls = calling
    for on, kind in ((None, Trigger), (True, SetBool), (False, SetBool)):
        answers.append(SimpleNamespace(success=True))
        assert client.call("~/it", on).success
        got, service, request = calls.pop()
        assert got is kind and service == "~/it"
        assert on is None or request.data is on


def test_a_client_calls_until_the_answer_is_good(calling):
    """It pauses between two calls. After PATIENCE the error has the last message."""
    client, clock, answers, calls = calling
    bad = SimpleNamespace(success=False, message="no state yet")
    answers += [bad, bad, SimpleNamespace(success=True)]
    client.switch_on("~/enable")
    assert len(calls) == 3 and clock.now >= 5.1 and not answers
    answers += [bad] * 5000
    with pytest.raises(ProcessError, match=r"^~/enable: no state yet$"):
        client.switch_on("~/enable")
    assert processes.PATIENCE < clock.now - 5.1 < processes.PATIENCE + 1.0


def test_a_child_that_does_not_end_is_killed(module):
    """It is first given time to end."""
    child = module(SLEEPER.replace("sys.exit(7)", "None"))
    child.wait_for("ready:")
    wait = child.process.wait

    def impatient(timeout=None):
        if timeout is not None:
            raise subprocess.TimeoutExpired("acting", timeout)
        return wait()

    child.process.wait = impatient
    assert child.end() < 10.0 and child.process.returncode == -signal.SIGKILL
