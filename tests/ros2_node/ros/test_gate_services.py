"""The services that open the gate, without DDS; over it in tests/ros/test_handing_on.py."""

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
    """Enables what it is asked, unless `stale`."""

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

    def made(**values):
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

    return made


def test_services_of_each_robot_and_of_all(make):
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
def test_controllers_are_asked_before_anything_is_enabled(verdicts, good, text, asked, make):
    """One that refuses keeps all that were asked for closed."""
    made = make(command_controller="c")
    made.gate._controllers.verdicts = verdicts
    function, robots = made.served["~/enable"]
    assert asyncio.run(function(robots, SetBool.Request(data=True))) == (good, text)
    assert bool(made.supervisor.asked) == asked
    made.gate._controllers.verdicts = (Verdict(refusal="x"),) * 2
    assert asyncio.run(function(robots, SetBool.Request(data=False)))[0], "to close needs nobody"


def test_a_start_by_itself_asks_and_tries_again_while_a_state_is_stale(make):
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


def test_publishers_are_counted_before_anything_is_enabled(make):
    made, looks = make(), []
    made.gate._look = lambda: looks.append(len(made.supervisor.asked))
    function, robots = made.served["~/enable"]
    function(robots, SetBool.Request(data=True))
    function(robots, SetBool.Request(data=False))
    assert looks == [0]


def test_who_is_closed_while_its_controller_is_asked_does_not_start(make):
    """Neither by itself nor by an ~/enable that waits: what was said last counts, robot by robot."""
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
    assert ended(opens) == (False, "~/enable was called with false while the controller was asked")
    assert made.supervisor.asked[2:] == [([1], False)]


def test_another_model_while_the_controller_is_asked(make):
    """Its joints are not those that were compared."""
    made = make(command_controller="c")
    held = Future()
    made.gate._controllers.ask = lambda robot, joints, steady: held
    opens = made.gate.enable_in_order([0], SetBool.Request(data=True))
    opens.send(None)
    made.supervisor.robots = [Robot(False), Robot(False)]
    held.set_result(Verdict())
    assert ended(opens) == (False, "another model came while the controller was asked: try again")


def ended(coroutine):
    """What a coroutine returns whose futures are done."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value
