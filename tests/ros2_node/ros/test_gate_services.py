"""The services that open the gate, without DDS. tests/ros/test_handing_on.py covers them over
DDS."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from rclpy.task import Future
from recording_node import RecordingNode
from std_srvs.srv import SetBool, Trigger

from ros2_node.control.commands.controller_joints import Verdict
from ros2_node.control.safety.gate import Gate, GateEvent
from ros2_node.control.safety.status import Status
from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.gate_services import GateServices
from ros2_node.ros.topics import RobotNames


class Robot:
    output = SimpleNamespace(joints=("a",))

    def __init__(self, starting):
        self.gate = Gate()
        if starting:
            self.start()

    def status(self, now):
        return Status.READY

    def start(self):
        self.gate.send(GateEvent.START)

    def withdraw(self):
        self.gate.send(GateEvent.WITHDRAW)


class Supervisor:
    """A supervisor that enables each robot on request, unless it is `stale`."""

    def __init__(self, **values):
        self.settings = Settings.of(values)
        self.robots = [Robot(self.settings.start_enabled) for _ in range(2)]
        self.clock = SimpleNamespace(now=0.0)
        self.asked, self.stale = [], False

    def enable(self, robots, on, now, steady):
        self.asked.append((list(robots), on))
        for i in robots:
            if not (self.stale and on):
                self.robots[i].gate.send(GateEvent.ENABLE if on else GateEvent.DISABLE)
        return (False, "stale") if self.stale else (True, "enabled" if on else "disabled")

    def reset(self, robots):
        return True, f"reset {robots}"

    def reload(self):
        return True, "read"


class Controllers:
    verdicts = (Verdict(), Verdict())

    def ask(self, robot, joints, steady):
        future = Future()
        future.set_result(self.verdicts[robot])
        return future

    def watch(self, steady):
        pass


@pytest.fixture
def make(monkeypatch):
    monkeypatch.setattr("ros2_node.ros.gate_services.Controllers", lambda *arguments: Controllers())

    def make_services(**values):
        node, served = RecordingNode(), {}
        wiring = SimpleNamespace(
            serve=lambda kind, name, function, robots: served.update({name: (function, robots)}),
            forget_mismatches=lambda: None,
        )
        names = [RobotNames("l/", "l/warpdyn/"), RobotNames("r/", "r/warpdyn/")]
        topics = [SimpleNamespace(unheard=""), SimpleNamespace(unheard="nobody on r")]
        supervisor = Supervisor(**values)
        gate = GateServices(node, wiring, supervisor, names, topics, lambda steady: steady)
        return SimpleNamespace(gate=gate, served=served, supervisor=supervisor, log=node.log)

    return make_services


def test_each_robot_and_the_node_have_services(make):
    made = make()
    assert set(made.served) == {
        f"{who}{what}"
        for who, whats in (("l/warpdyn/", ("enable", "reset")), ("r/warpdyn/", ("enable", "reset")),
                           ("~/", ("enable", "reset", "reload")))
        for what in whats
    }  # fmt: skip
    function, robots = made.served["~/enable"]
    assert function(robots, SetBool.Request(data=True)) == (True, "enabled; nobody on r")
    assert made.supervisor.asked == [([0, 1], True)]
    function, robots = made.served["r/warpdyn/reset"]
    assert function(robots, Trigger.Request()) == (True, "reset [1]")


@pytest.mark.parametrize(
    "verdicts, good, text, asked",
    [
        ((Verdict(), Verdict()), True, "enabled; nobody on r", True),
        ((Verdict(remark="?"), Verdict()), True, "enabled; nobody on r; ?", True),
        ((Verdict(), Verdict(refusal="other order")), False, "other order", False),
    ],
)
def test_controllers_are_queried_before_enabling(verdicts, good, text, asked, make):
    """One that refuses keeps all requested robots disabled."""
    made = make(command_controller="c")
    made.gate._controllers.verdicts = verdicts
    function, robots = made.served["~/enable"]
    assert asyncio.run(function(robots, SetBool.Request(data=True))) == (good, text)
    assert bool(made.supervisor.asked) == asked
    made.gate._controllers.verdicts = (Verdict(refusal="x"),) * 2
    assert asyncio.run(function(robots, SetBool.Request(data=False)))[0], "to close needs nobody"


def test_start_enabled_queries_the_controller_and_retries_while_stale(make):
    made = make(command_controller="c", start_enabled=True)
    made.gate._controllers.verdicts = (Verdict(), Verdict(refusal="other order"))
    made.supervisor.stale = True
    for _ in range(4):
        made.gate.watch(0.0)
    assert made.supervisor.asked == [([0], True)] * 2
    assert made.log.lines == ["not started: other order"]
    made.supervisor.stale = False
    for _ in range(4):
        made.gate.watch(0.0)
    assert len(made.supervisor.asked) == 3 and made.log.lines[-1] == "started: enabled"
    for robot in made.supervisor.robots:
        robot.gate.send(GateEvent.DISABLE)
        robot.gate.send(GateEvent.STOPPED)
    made.gate.start()
    for _ in range(2):
        made.gate.watch(0.0)
    assert len(made.supervisor.asked) == 4


def test_publishers_are_counted_before_enabling(make):
    made, looks = make(), []
    made.gate._look = lambda: looks.append(len(made.supervisor.asked))
    function, robots = made.served["~/enable"]
    function(robots, SetBool.Request(data=True))
    function(robots, SetBool.Request(data=False))
    assert looks == [0]


def test_a_robot_disabled_during_the_query_does_not_start(make):
    """Neither start_enabled nor a waiting ~/enable starts it. The last request counts, for each
    robot."""
    made = make(command_controller="c", start_enabled=True)
    made.gate.watch(0.0)
    close, robots = made.served["l/warpdyn/enable"]
    assert asyncio.run(close(robots, SetBool.Request(data=False))) == (True, "disabled")
    for _ in range(3):
        made.gate.watch(0.0)
    assert made.supervisor.asked == [([0], False), ([1], True)]

    opens = made.gate.enable_in_order([0, 1], SetBool.Request(data=True))
    held = Future()
    made.gate._controllers.ask = lambda robot, joints, steady: held
    assert opens.send(None) is None, "it waits for the controller"
    assert made.gate.enable([1], SetBool.Request(data=False))[0]
    held.set_result(Verdict())
    assert run_coroutine(opens) == (
        False,
        "~/enable was called with false while the controller was asked",
    )
    assert made.supervisor.asked[2:] == [([1], False)]


def test_another_model_during_the_query_refuses_enabling(make):
    """Its joints are not those that were compared."""
    made = make(command_controller="c")
    held = Future()
    made.gate._controllers.ask = lambda robot, joints, steady: held
    opens = made.gate.enable_in_order([0], SetBool.Request(data=True))
    opens.send(None)
    made.supervisor.robots = [Robot(False), Robot(False)]
    held.set_result(Verdict())
    assert run_coroutine(opens) == (
        False,
        "another model came while the controller was asked: try again",
    )


def run_coroutine(coroutine):
    """The return value of a coroutine whose futures are done."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value
