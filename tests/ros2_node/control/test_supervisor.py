"""Requests, parameters and the clock for all robots of a node."""

from __future__ import annotations

import time

import pytest
from fleets import NAMES, fault_of, feed, panda_settings, wheel_text
from supervisors import ready, wait_for_build

from ros2_node.control.fleet import Event
from ros2_node.control.safety.gate import GateEvent
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.supervisor import Supervisor


@pytest.fixture(scope="module")
def pair():
    return ready(panda_settings(namespaces=["left", "right"], ramp_time=0.0))


@pytest.fixture
def two(pair):
    """Two robots, disabled, without faults, with fresh states at time 0."""
    for robot in pair.robots:
        robot.disable(0.0)
        while robot.stop_step(1e9) is not None:
            pass
        robot.reset()
        robot.counts.clear()
        robot.states.forget()
        feed(robot, 0.0)
    pair.change({"torque_scale": 1.0})
    return pair


def test_each_namespace_has_a_robot_and_one_exists_without_any(two):
    assert two.names == ["left", "right"] and len(two.robots) == 2
    alone = Supervisor(Settings.of())
    assert alone.names == [""] and alone.robots == () and len(alone.counts) == 1


def test_requests_reach_only_the_named_robots(two):
    """The answer for several robots names those that refused."""
    assert two.enable([1], True, 0.0, 0.0) == (True, "enabled")
    assert [r.is_enabled for r in two.robots] == [False, True]
    two.robots[0].fail("broken", 0.0)
    good, text = two.enable([0, 1], True, 0.0, 0.0)
    assert (
        not good and text.startswith("left: a fault is latched") and text.endswith("; live: right")
    )
    assert two.reset([0, 1])[0] and not fault_of(two.robots[0])
    assert two.enable([0, 1], False, 0.0, 0.0) == (True, "2 robots: already disabled; live: none")


def test_a_robot_with_other_publishers_on_its_topics_is_not_enabled(two):
    """start_enabled does not enable it either. The other robot is enabled, and one that is already
    enabled continues."""
    two.set_other_publishers(0, "/joint_states has 2 publishers")
    good, text = two.enable([0, 1], True, 0.0, 0.0)
    assert not good and text == "left: /joint_states has 2 publishers; live: right"
    two.robots[0].gate.send(GateEvent.START)
    two.fleet.compute()
    two.robots[0].command(0.0, 0.0)
    assert not two.robots[0].is_enabled
    two.set_other_publishers(1, "/joint_states has 2 publishers")
    assert two.robots[1].is_enabled
    said = "/joint_states has 2 publishers; the robot is still enabled"
    assert two.enable([1], True, 0.0, 0.0) == (False, said) and two.robots[1].is_enabled
    two.set_other_publishers(0, "")
    two.set_other_publishers(1, "")
    assert two.enable([0], True, 0.0, 0.0)[0]


def test_requests_without_a_model_report_its_absence():
    """Closing a gate that does not exist succeeds."""
    supervisor = Supervisor(Settings.of())
    assert supervisor.enable([0], True, 0.0, 0.0) == (False, "there is no model yet")
    assert supervisor.enable([0], False, 0.0, 0.0)[0] and supervisor.reset([0])[0]
    assert supervisor.reload() == (False, "there is no robot_description to read again")


def test_a_fault_stops_every_robot(two):
    two.enable([0, 1], True, 0.0, 0.0)
    two.fail("a callback broke", 0.0)
    assert all(fault_of(r) == "a callback broke" and r.output.stopping for r in two.robots)


def test_the_watchdog_sends_the_stop_sequences_of_stale_robots_only(two):
    two.enable([0, 1], True, 0.0, 0.0)
    for k in range(1, 21):
        feed(two.robots[1], 0.05 * k)
    sent = list(two.watch(1.0, 1.0))
    assert [i for i, _ in sent] == [0] and sent[0][1].shape == (len(NAMES),)
    assert two.counts[0]["state_lost"] == 1 and not two.counts[1]["state_lost"]


def test_a_clock_jump_resets_the_states_of_all_robots(two):
    """It is counted for each robot, and no state gets older."""
    two.advance(10.0, 100.0)
    now = two.clock.now
    assert two.advance(10.01, 3.0) == pytest.approx(now + 0.01)
    assert [c["clock_jump"] for c in two.counts] == [1, 1]


def test_bad_parameters_change_nothing(two):
    """The value may be refused, or may not fit the robot."""
    before = two.settings
    for bad in ({"torque_scale": 9.0}, {"torque_scale": [1.0]}, {"device": "cpu"}):
        with pytest.raises(ValueError):
            two.change(bad)
    with pytest.raises(ValueError, match="'nose' is not a link of panda, which has panda_link0"):
        two.change({"payload.link": "nose"})
    payload = {"payload.link": "panda_hand", "payload.mass": 500.0}
    with pytest.raises(ValueError, match=r"^left: "):
        two.change(payload)
    with pytest.raises(ValueError, match="principal moments"):
        two.change({**payload, "payload.inertia": [1.0, 0.0, 0.0, 5.0, 0.0, 1.0]})
    assert two.settings is before
    two.change({"torque_scale": 0.5})
    assert two.settings.torque_scale == 0.5


@pytest.mark.parametrize(
    "bad, said",
    [
        ({"robot_description": "nonsense"}, "nonsense"),
        ({"robot_description": "<robot name='x'/>"}, "x"),
        ({"robot_description_file": "/no/such/file.urdf"}, "/no/such/file.urdf"),
        ({"robot_description_file": "/dev/zero"}, "a pipe, a socket or a device"),
        ({"robot_description_file": "/"}, "is a directory"),
        ({"robot_description": wheel_text()}, "payload.link 'panda_hand' is not a link of wheel"),
    ],
)
def test_a_bad_description_is_refused_and_the_good_one_remains(bad, said):
    """It may also contradict other parameters. Payloads set afterwards are applied."""
    supervisor = ready(panda_settings(command_joints=["panda_joint2"], payload__link="panda_hand"))
    before = supervisor.settings
    with pytest.raises(ValueError, match=said) as error:
        supervisor.change(bad)
    assert "the one before stays" in str(error.value)
    assert supervisor.settings is before and supervisor.models._thread is None
    mass = supervisor.fleet.dynamics.total_mass
    supervisor.change({"payload.mass": 1.0})
    assert supervisor.fleet.dynamics.total_mass == pytest.approx(mass + 1.0)


def test_a_description_whose_build_fails_leaves_the_good_one(monkeypatch):
    """Reading it does not show the error, for example a compiler that fails."""
    supervisor = ready(panda_settings())
    mass = supervisor.fleet.dynamics.total_mass

    def fail_to_build(*arguments):
        raise RuntimeError("no compiler")

    with monkeypatch.context() as patch:
        patch.setattr("ros2_node.control.fleet.FlatBatch", fail_to_build)
        supervisor.change({"robot_description": wheel_text()})
        assert wait_for_build(supervisor) is Event.REFUSED
    assert supervisor.models.refusal == "RuntimeError: no compiler"
    assert supervisor.settings.robot_description == ""
    assert supervisor.settings.robot_description_file == "panda"
    supervisor.change({"payload.link": "panda_hand", "payload.mass": 1.0})
    assert wait_for_build(supervisor) is Event.PAYLOAD
    assert supervisor.fleet.dynamics.total_mass == pytest.approx(mass + 1.0)


def test_a_failure_of_one_robot_stops_only_this_robot(two, monkeypatch):
    """It may occur in the watchdog, or in a callback that names its robot."""
    two.enable([0, 1], True, 0.0, 0.0)

    def fail_to_watch(now, steady):
        raise RuntimeError("left broke")

    with monkeypatch.context() as patch:
        patch.setattr(two.robots[0], "watch", fail_to_watch)
        assert list(two.watch(0.01, 0.01)) == []
    assert fault_of(two.robots[0]) == "watchdog: RuntimeError: left broke"
    assert two.robots[1].is_enabled and not fault_of(two.robots[1])
    two.reset([0])
    two.fail("a callback broke", 0.0, 1)
    assert [fault_of(r) for r in two.robots] == ["", "a callback broke"]


def test_a_refused_model_is_counted_and_ends_a_node_without_another():
    """The node ends if the parameters describe the model. A topic may send a better one."""
    for values, ends in (({"robot_description": "nonsense"}, True), ({}, False)):
        supervisor = Supervisor(Settings.of(values))
        supervisor.models.offer("nonsense", supervisor.settings)
        supervisor.models.request(supervisor.settings)
        while (event := supervisor.step(0.0)) is Event.NOTHING:
            time.sleep(0.002)
        assert event is Event.REFUSED and supervisor.counts[0]["description_refused"] == 1
        assert supervisor.lacks_its_model is ends
    wheel = ready(Settings.of({"robot_description": wheel_text()}))
    assert not wheel.lacks_its_model


def test_a_withheld_node_enables_no_robot_and_can_disable_all(two):
    """A managed node is withheld while it is not active."""
    two.enable([0], True, 0.0, 0.0)
    two.withheld = "the node is inactive"
    assert two.enable([0, 1], True, 0.0, 0.0) == (False, "the node is inactive")
    assert two.enable([0, 1], False, 0.0, 0.0)[0] and not two.robots[0].is_enabled
    two.withheld = ""
    two.robots[1].disable(0.0)
    assert two.enable([1], True, 0.0, 0.0)[0]


def test_no_robot_is_enabled_while_a_new_model_waits(two, monkeypatch):
    """Running robots may be disabled meanwhile."""
    monkeypatch.setattr(type(two.models), "changing", True)
    answer = two.enable([0], True, 0.0, 0.0)
    assert answer == (False, "a new model is being taken; try again")
    assert two.enable([0], False, 0.0, 0.0) == (True, "already disabled")


def test_reload_reads_the_model_again():
    supervisor = ready(panda_settings())
    before = supervisor.fleet
    text = "the model is being read again; the log and /diagnostics say how it went"
    supervisor.set_other_publishers(0, "/joint_states has 2 publishers")
    assert supervisor.reload() == (True, text) and supervisor.models.building
    while supervisor.step(0.0) is Event.NOTHING:
        time.sleep(0.002)
    assert supervisor.fleet is not before
    assert supervisor.robots[0].other_publishers == "/joint_states has 2 publishers"


def test_a_node_without_a_model_says_why_and_can_be_disabled():
    supervisor = Supervisor(Settings.of())
    assert not supervisor.lacks_its_model
    assert supervisor.enable([0], True, 0.0, 0.0) == (False, "there is no model yet")
    supervisor.models.refusal = "no links"
    assert supervisor.enable([0], False, 0.0, 0.0) == (True, "there is no model yet: no links")
    assert supervisor.reset([0]) == (True, "there is no model yet")
    assert Supervisor(panda_settings()).lacks_its_model
    assert Supervisor(Settings.of({"robot_description": "<robot/>"})).lacks_its_model
