"""Timings, rates, levels and lines of the diagnostics."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from fleets import LINK, MODEL, NAMES, feed, panda_fleet, panda_settings, wheel_text

from ros2_node.control.fleet import Fleet
from ros2_node.control.report import (
    ERROR,
    OK,
    WARN,
    Rates,
    Reporter,
    _conditions,
    _robot_lines,
    ready_message,
    remarks,
)
from ros2_node.control.safety.gate import EXPLAINED, OPEN, Phase
from ros2_node.control.settings.node_settings import Settings


def test_rates_are_events_per_second_since_the_last_report():
    rates = Rates()
    rates.totals["commands"] += 10
    rates.look(1.0)
    rates.totals["commands"] += 10
    assert rates.look(3.0) == {"commands": 5.0}
    assert rates.look(3.0) == {"commands": 0.0}, "no time has passed"


@pytest.fixture
def reporter(robot):
    return Reporter(robot.counts)


def test_the_level_follows_the_robots_phase(reporter, robot):
    """Waiting and stopping give a warning, loss and fault an error, ready and enabled OK."""
    assert reporter.level(None, 0.0, 0.0, 1.0) == (WARN, "waiting for a model")
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (WARN, "waiting for joint_states")
    feed(robot, 1.0)
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (OK, "ready, disabled")
    robot.enable(1.0, 1.0)
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (OK, "enabled")
    robot.watch(5.0, 5.0)
    assert reporter.level(robot, 5.0, 5.0, 1.0)[0] == ERROR
    robot.reset()
    robot.fail("broken", 5.0)
    assert reporter.level(robot, 5.0, 5.0, 1.0) == (ERROR, "fault: broken")


@pytest.mark.parametrize(
    "phase, level, message",
    [
        (Phase.OFF, OK, "ready, disabled"),
        (Phase.STARTING, OK, "ready, disabled"),
        (Phase.ENABLED, OK, "enabled"),
        (Phase.FLOATING, WARN, "floating: why"),
        (Phase.STOPPING, WARN, "stopping"),
        (Phase.STOPPING_LOST, ERROR, "stopping"),
        (Phase.STOPPING_FAULT, ERROR, "fault: why"),
        (Phase.LOST, ERROR, "state lost: why"),
        (Phase.LOST_STARTING, ERROR, "state lost: why"),
        (Phase.FAULT, ERROR, "fault: why"),
    ],
)
def test_each_phase_of_the_gate_has_its_level_and_message(phase, level, message, reporter, robot):
    """The robot has fresh states. `enabled` is true while computed commands are sent."""
    feed(robot, 1.0)
    robot.gate.phase, robot.gate.reason = phase, "why" if phase in EXPLAINED else ""
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (level, message)
    lines = reporter.values(robot, panda_settings(), 1.0, 1.0, "")
    assert lines["state"] == message.partition(":")[0]
    assert lines["enabled"] == ("true" if phase in OPEN else "false")
    robot.gate.phase, robot.gate.reason = Phase.OFF, ""


def test_recent_counts_warn_for_one_period(reporter, robot):
    """Unknown joints on the topic do not."""
    feed(robot, 0.0)
    robot.counts["missing_joint"] += 3
    robot.counts["unknown_joint"] += 3
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (WARN, "ready, disabled; missing_joint (3)")
    assert reporter.level(robot, 0.0, 1.0, 1.0)[0] == WARN
    assert reporter.level(robot, 0.0, 1.1, 1.0) == (OK, "ready, disabled")


def test_a_remark_warns_until_it_is_removed(reporter, robot):
    feed(robot, 0.0)
    reporter.remarks["model refused"] = "no links"
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (
        WARN,
        "ready, disabled; model refused: no links",
    )
    assert reporter.values(robot, panda_settings(), 0.0, 0.0, "")["model refused"] == "no links"
    del reporter.remarks["model refused"]
    assert reporter.level(robot, 0.0, 0.0, 1.0)[0] == OK


def test_the_lines_have_state_counts_and_rates(reporter, robot):
    """Only reasons with a count have a line. Without a robot there are fewer lines."""
    feed(robot, 0.0)
    robot.counts.update({"wrong_length": 2, "position_jump": 1})
    lines = reporter.values(robot, panda_settings(), 0.25, 1.0, "quick")
    assert lines["state age"] == "0.250 s" and lines["model"] == "panda"
    assert lines["enabled"] == "false" and lines["compute time"] == "quick"
    assert lines["rejected.wrong_length"] == "2" and lines["noticed.position_jump"] == "1"
    assert "rejected.missing_joint" not in lines and lines["last fault"] == "none"
    nobody = Reporter(Counter()).values(None, panda_settings(), 0.0, 1.0, "none yet")
    assert nobody["state"] == "waiting for a model" and "state age" not in nobody


@pytest.mark.parametrize(
    ("names", "mode"),
    [
        ({}, "gravity"),
        ({"law": "joint_impedance"}, "joint_impedance"),
        ({"policy": "p.onnx"}, "p.onnx"),
    ],
)
def test_the_mode_line_names_the_policy_or_the_law_or_the_mode(names, mode):
    lines = Reporter(Counter()).values(None, panda_settings(**names), 0.0, 1.0, "")
    assert lines["mode"] == mode


def test_the_ready_message_includes_the_load():
    """It has the model, total mass, robots, mode, device and command joints."""
    settings = panda_settings(payload__link="panda_hand", payload__mass=2.0)
    fleet = panda_fleet(2, payload__link="panda_hand", payload__mass=2.0)
    text = ready_message(fleet.robots, settings)
    assert text.startswith(
        f"ready: panda, {MODEL.total_mass + 2.0:.6g} kg, 2 robot(s), mode gravity"
    )
    assert text.endswith(f"on cpu, commands for {', '.join(NAMES)}") and not remarks(
        fleet.robots[0]
    )
    lines = Reporter(Counter()).values(fleet.robots[0], settings, 0.0, 1.0, "")
    assert lines["payload"] == "2 kg on panda_hand"


def two_links(masses, mimic="", **values):
    """Remarks on an arm of two joints whose links have these masses, which may be None."""
    links = "".join(
        LINK.format(name).replace('mass value="1"', f'mass value="{mass}"')
        if mass is not None
        else f'<link name="{name}"/>'
        for name, mass in zip("abc", (1.0, *masses), strict=True)
    )
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<limit lower="-1" upper="1" effort="5" velocity="1"/>{more}</joint>'
        for k, (parent, child, more) in enumerate((("a", "b", ""), ("b", "c", mimic)))
    )
    text = f'<robot name="two">{links}{joints}</robot>'
    return remarks(
        Fleet(Settings.of({"robot_description": text, **values}), "", [Counter()]).robots[0]
    )


def test_joints_that_move_no_mass_give_a_remark():
    """A joint moves the links that it carries, those of its mimic joints, and the payload."""
    (text,) = two_links((None, None))
    assert text == (
        "the description has no mass beyond j0, j1: the gravity torques of these joints are zero. "
        "Give their links an <inertial>"
    )
    (text,) = two_links((1.0, None))
    assert "no mass beyond j1:" in text
    assert not two_links((None, 1.0)) and not two_links((1.0, None), '<mimic joint="j0"/>')
    assert not two_links((1.0, None), **{"payload.link": "c", "payload.mass": 1.0})


def test_joints_without_effort_limits_give_a_remark():
    wheel = Fleet(Settings.of({"robot_description": wheel_text()}), "", [Counter()])
    (text,) = remarks(wheel.robots[0])
    assert text.startswith("no effort limit for spin: ~/enable needs effort_limits")


PLAIN = {
    "state age": "0.250 s",
    "command joints": "a b",
    "payload": "none",
    "trajectory": "none",
    "joint_limit": "none",
    "commands clamped": "3",
    "commands rate limited": "4",
}
"""The lines of a robot that refuses nothing and has nothing extra."""


def stub(**changed):
    """A stand-in for a robot with the attributes that `_robot_lines` and `_conditions` read."""
    references = SimpleNamespace(twist=None, body=None, law_inputs=None)
    values = {
        "age": lambda now: now - 1.0,
        "dynamics": SimpleNamespace(payload=SimpleNamespace(mass=0.0, link="")),
        "effort_watch": None,
        "setpoint": SimpleNamespace(refusal="", clipped=""),
        "trajectory": SimpleNamespace(status="none", refusal=""),
        "limits": SimpleNamespace(limit_message=lambda q: ""),
        "state": SimpleNamespace(q=np.zeros(2)),
        "pose": None,
        "references": references,
        "output": SimpleNamespace(
            joints=["a", "b"], clamped=3, rate_limited=4, saturated_joints=lambda steady: ""
        ),
        "is_enabled": False,
    }
    return SimpleNamespace(**{**values, **changed})


def with_refusal(**fields):
    return SimpleNamespace(**{"refusal": "", **fields})


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({}, {}),
        ({"age": lambda now: np.inf}, {"state age": "no state yet"}),
        (
            {"dynamics": SimpleNamespace(payload=SimpleNamespace(mass=1.25, link="hand"))},
            {"payload": "1.25 kg on hand"},
        ),
        ({"effort_watch": SimpleNamespace(report=lambda: {"felt": "x"})}, {"felt": "x"}),
        ({"setpoint": with_refusal(clipped="")}, {}),
        ({"setpoint": with_refusal(clipped="far")}, {"last reference clipped": "far"}),
        (
            {"setpoint": with_refusal(refusal="no", clipped="")},
            {"last reference refused": "no"},
        ),
        (
            {"trajectory": with_refusal(status="done", refusal="no")},
            {"trajectory": "done", "last trajectory refused": "no"},
        ),
        ({"limits": SimpleNamespace(limit_message=lambda q: "a at 2")}, {"joint_limit": "a at 2"}),
        ({"pose": with_refusal()}, {}),
        ({"pose": with_refusal(refusal="no")}, {"last pose refused": "no"}),
    ],
)
def test_each_condition_of_a_robot_has_its_line(changed, lines):
    """The last refusal has a line, if there was one."""
    assert _robot_lines(stub(**changed), 1.25) == {**PLAIN, **lines}


def test_twists_sensors_and_law_inputs_have_lines():
    """Only robots that have them get the lines of what slows a twist and of the contact wrench."""
    told = {"twist slowed by": "nothing", "contact wrench": "1 0 0 0 0 -0.123"}
    for refusal in ("", "no"):
        references = SimpleNamespace(
            twist=with_refusal(slowed_by="", refusal=refusal),
            body=SimpleNamespace(
                sensor=with_refusal(contact=[1.0, 0, 0, 0, 0, -0.1234], refusal=refusal)
            ),
            law_inputs=with_refusal(refusal=refusal),
        )
        names = ("last twist refused", "last ft_wrench refused", "last law input refused")
        more = dict.fromkeys(names, refusal) if refusal else {}
        assert _robot_lines(stub(references=references), 1.25) == {**PLAIN, **told, **more}
    references.twist.slowed_by = "joint a"
    assert _robot_lines(stub(references=references), 1.25)["twist slowed by"] == "joint a"


def test_most_conditions_are_reported_only_while_enabled():
    """Joints without collision detection are reported while the robot is disabled, too."""
    parts = {
        "effort_watch": SimpleNamespace(unguarded_message="unguarded"),
        "limits": SimpleNamespace(limit_message=lambda q: "a at 2"),
        "output": SimpleNamespace(saturated_joints=lambda steady: f"a for {steady:g} s"),
    }
    assert _conditions(stub(**parts), 2.0) == ["unguarded"]
    found = _conditions(stub(**parts, is_enabled=True), 2.0)
    assert found == ["unguarded", "at the effort limit: a for 2 s", "joint_limit: a at 2"]
    assert (
        _conditions(stub(effort_watch=SimpleNamespace(unguarded_message=""), is_enabled=True), 2.0)
        == []
    )


def test_joints_of_several_coordinates_give_a_remark():
    """No JointState can carry a floating joint, so the torques belong to its neutral pose."""
    text = (
        wheel_text("revolute")
        .replace('effort="0"', 'effort="9"')
        .replace(
            "</robot>",
            f'{LINK.format("world")}<joint name="base" type="floating"><parent link="world"/>'
            '<child link="a"/></joint></robot>',
        )
    )
    robot = Fleet(Settings.of({"robot_description": text}), "", [Counter()]).robots[0]
    (remark,) = remarks(robot)
    assert remark.startswith("joint_states cannot carry base, which")
