"""The node in this process, from messages to results. tests/ros covers processes."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q, fault_of
from geometry_msgs.msg import WrenchStamped
from node_in_process import (  # noqa: F401  fixtures
    REST,
    answer,
    node_maker,
    panda_node,
    ready,
    sent_messages,
    state,
)
from rclpy.executors import ExternalShutdownException
from rclpy.parameter import Parameter as RosParameter
from rclpy.serialization import serialize_message
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from waiting import wait_until

import warpdyn as wd
from ros2_node import node as node_module
from ros2_node.node import WarpdynNode
from ros2_node.ros.process import run
from ros2_node.ros.topics import TorqueTopics

ROOT = Path(__file__).parents[2]

FRAME = ["frame=panda_hand"]
STIFFNESS = [200.0] * 3 + [20.0] * 3
MOST = (
    ({}, 42, 14),
    ({"mode": "inverse_dynamics"}, 46, 16),
    ({"mode": "computed_torque"}, 50, 17),
    ({"law": "joint_impedance", "law_inputs__stiffness": 50.0}, 50, 17),
    ({"law": "teaching"}, 50, 17),
    (
        {"law": "cartesian_impedance", "law_options": FRAME, "law_inputs__stiffness": STIFFNESS},
        57,
        19,
    ),
    (
        {
            "law": "admittance",
            "law_options": FRAME,
            "law_inputs__virtual_mass": [2.0] * 6,
            "law_inputs__virtual_damping": [20.0] * 6,
        },
        70,
        21,
    ),
)
"""Python calls of a state until it is noted, without those of timers, and files of ours that they
are in, by mode or law. The torques of a law with a pose or a sensor need more files than 15."""


def test_topics_and_services_of_one_robot_are_below_the_node(panda):
    """They agree with the table of the documentation."""

    def appear(list_of_them, *wanted):
        """Wait until the graph has them. It learns of a new node after a moment."""
        wait_until(
            lambda: {*wanted} <= {name for name, _ in list_of_them("warpdyn", "/")},
            f"{wanted}",
            10.0,
        )

    of_node = ("/warpdyn/commands", "/warpdyn/torques", "/warpdyn/link_poses")
    appear(panda.get_publisher_names_and_types_by_node, *of_node, "/diagnostics")
    inputs = ("/joint_states", "/robot_description", "/warpdyn/reference", "/warpdyn/batch/state")
    appear(panda.get_subscriber_names_and_types_by_node, *inputs, "/warpdyn/external_wrench")
    services = ("/warpdyn/enable", "/warpdyn/reset", "/warpdyn/reload")
    appear(panda.get_service_names_and_types_by_node, *services)


def test_a_state_gives_torques_and_commands_once_enabled(panda, sent):
    """The torques are g(q), with the stamp of the state. No command is sent before ~/enable."""
    panda._on_state(0, state(sec=5))
    ((torque, stamp),) = sent.torques
    np.testing.assert_allclose(torque, REST, atol=1e-9)
    assert stamp.sec == 5 and not sent.commands
    assert answer(panda, "enable", SetBool, data=True) == (True, "enabled")
    panda._on_state(0, state(sec=6))
    np.testing.assert_allclose(sent.commands, [REST], atol=1e-9)


@pytest.mark.parametrize(("values", "most_calls", "most_files"), MOST)
def test_a_state_costs_few_python_calls(values, most_calls, most_files, make, monkeypatch):
    """The count covers the steady state, from the bytes of a state to the published command. It is
    a count, not a time."""
    node = make(robot_description_file="panda", state_timeout=10.0, max_state_age=0.0, **values)
    (robot,) = ready(node)
    counts, files = [], []
    if robot.references.body is not None:
        monkeypatch.setattr(robot.references.body.sensor, "arrived", np.inf)

    def count(frame, event, argument):
        if event == "call":
            counts[-1] += 1
            files[-1].add(Path(frame.f_code.co_filename))

    message = state(sec=8)
    message.velocity = [0.0] * N
    node._on_state(0, message)
    assert answer(node, "enable", SetBool, data=True)[0]
    for k in range(20):
        message.header.stamp.sec = 9 + k
        data = serialize_message(message)
        counts.append(0)
        files.append(set())
        sys.setprofile(count)
        node._on_state_bytes(0, data)
        sys.setprofile(None)
    assert robot.is_enabled
    node.stop()
    parts = ROOT / "warpdyn", ROOT / "ros2_node"
    ours = min(sum(any(map(path.is_relative_to, parts)) for path in each) for each in files)
    print(f"a joint state costs {min(counts)} Python calls in {ours} files")
    assert min(counts) <= most_calls and ours <= most_files


def test_a_rejected_state_publishes_nothing(panda, sent):
    before = panda._counts[0]["wrong_length"]
    panda._on_state(0, state(Q[:3]))
    assert not sent.torques and panda._counts[0]["wrong_length"] == before + 1


def test_wrench_and_reference_reach_the_robot(panda, sent):
    """A trajectory of several points on ~/reference is counted and not used."""
    (robot,) = panda._models.fleet.robots
    message = WrenchStamped()
    message.header.frame_id, message.wrench.force.z = "panda_hand", 10.0
    panda._on_wrench(0, message)
    panda._on_state(0, state(sec=7))
    f_ext = {"panda_hand": np.array([0, 0, 10.0, 0, 0, 0])}
    expected = wd.rnea(MODEL, Q, 0 * Q, 0 * Q, f_ext=f_ext)
    np.testing.assert_allclose(sent.torques[-1][0], expected, atol=1e-9)
    robot.wrench.clear()
    point = JointTrajectoryPoint(positions=[0.25])
    panda._on_reference(0, JointTrajectory(joint_names=NAMES[:1], points=[point]))
    assert robot.setpoint.q[0] == 0.25
    panda._on_reference(0, JointTrajectory(joint_names=NAMES[:1], points=[point] * 2))
    assert panda._counts[0]["reference_wrong_length"] == 1


def test_an_exception_in_a_callback_is_a_latched_fault(panda, sent, monkeypatch):
    """It is latched until ~/reset, and the node continues."""
    (robot,) = panda._models.fleet.robots

    def fail(*arguments):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(robot, "read", fail)
    panda._guarding.callback(panda._on_state, 0)(state())
    assert fault_of(robot) == "_on_state: RuntimeError: out of memory"
    good, text = answer(panda, "enable", SetBool, data=True)
    assert not good and "out of memory" in text
    assert answer(panda, "reset", Trigger) == (True, f"cleared: {robot.last_fault}")


def test_the_watchdog_sends_the_stop_sequence(panda, sent):
    """Five or more commands of zeros are sent after ~/enable with false."""
    panda._on_state(0, state(sec=8))
    answer(panda, "enable", SetBool, data=True)
    panda._on_state(0, state(sec=9))
    answer(panda, "enable", SetBool, data=False)
    for _ in range(10):
        panda._watch()
    assert len(sent.commands) == 6 and not np.any(sent.commands[-5:])


def test_the_end_of_the_node_sends_a_stop_sequence(panda, sent):
    panda._on_state(0, state(sec=10))
    answer(panda, "enable", SetBool, data=True)
    panda.stop()
    assert panda._models.fleet.idle and not np.any(sent.commands[-5:]) and len(sent.commands) == 5


def test_two_threads_end_the_node_one_after_the_other(panda, monkeypatch):
    """One handles a signal in the loop. The other calls `rclpy.shutdown()`, which removes the
    publishers when it is done."""
    running, most = [], []

    def slow(*arguments):
        running.append(True)
        time.sleep(0.05)
        most.append(len(running))
        running.pop()

    monkeypatch.setattr("ros2_node.node.stop_robots", slow)
    threads = [threading.Thread(target=panda.stop) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1]


@pytest.mark.parametrize("error", [RuntimeError("broken"), ExternalShutdownException()])
def test_an_exception_from_the_loop_stops_the_robots(error, panda, sent, monkeypatch):
    """It then propagates."""
    panda._on_state(0, state(sec=30))
    answer(panda, "enable", SetBool, data=True)

    def spin(*arguments):
        raise error

    monkeypatch.setattr("ros2_node.ros.process.spin", spin)
    with pytest.raises(type(error)):
        run(panda, lambda: False)
    assert panda._models.fleet.idle and not np.any(sent.commands[-5:])


def test_frames_of_a_namespace_are_the_same_in_wrenches_and_poses(make):
    """A wrench may name the frames of a robot as its poses do."""
    node = make(robot_description_file="panda", namespaces=["left"], frame_prefix="cell/")
    (robot,) = ready(node)
    for frame in ("cell/left/panda_hand", "cell/panda_hand", "panda_hand"):
        message = WrenchStamped()
        message.header.frame_id, message.wrench.force.z = frame, 10.0
        node._on_wrench(0, message)
        row = robot.state.wrench[MODEL.link_index("panda_hand")]
        assert row[2] == 10.0, frame
        robot.wrench.clear()


def test_parameters_change_or_are_refused_with_a_reason(panda):
    """A refused value changes nothing."""
    (good,) = panda.set_parameters([RosParameter("torque_scale", value=0.5)])
    assert good.successful and panda.settings.torque_scale == 0.5
    (bad,) = panda.set_parameters([RosParameter("torque_scale", value=[1.0, 0.5])])
    assert not bad.successful and "8 command joints" in bad.reason
    assert panda.settings.torque_scale == 0.5
    panda.set_parameters([RosParameter("torque_scale", value=1.0)])


def test_a_qos_mismatch_is_counted_and_reported_until_reset(panda):
    before = panda._counts[0]["qos_mismatch"]
    events = panda._wiring.publisher_events("~/commands")
    kind = SimpleNamespace(name="QOS_POLICY_RELIABILITY")
    events.incompatible_qos(SimpleNamespace(last_policy_kind=kind))
    (reporter,) = panda._diagnostics.reporters
    expected = "a subscriber of ~/commands does not match this node's RELIABILITY"
    assert reporter.remarks["QoS mismatch"] == expected
    assert panda._counts[0]["qos_mismatch"] == before + 1
    panda._report()
    assert reporter.remarks["QoS mismatch"] == expected
    answer(panda, "reset", Trigger)
    panda._report()
    assert not reporter.remarks


def test_a_qos_mismatch_ends_with_its_cause(panda, monkeypatch):
    """It ends once the settled graph shows no endpoint that does not match."""
    kind = SimpleNamespace(name="QOS_POLICY_DURABILITY")
    panda._wiring.publisher_events("~/commands").incompatible_qos(
        SimpleNamespace(last_policy_kind=kind)
    )
    (reporter,) = panda._diagnostics.reporters
    assert "DURABILITY" in reporter.remarks["QoS mismatch"]
    now = time.monotonic()
    monkeypatch.setattr("ros2_node.node.time.monotonic", lambda: now + 60.0)
    panda._report()
    assert not reporter.remarks


def test_enable_without_a_subscriber_of_commands_says_so(panda, sent, monkeypatch):
    """The answer says so, and the diagnostics do as long as it lasts."""
    said = "nobody subscribes to ~/commands: no controller gets the torques"
    (reporter,) = panda._diagnostics.reporters
    panda._on_state(0, state(sec=20))
    monkeypatch.setattr(TorqueTopics, "unheard", said)
    assert answer(panda, "enable", SetBool, data=True) == (True, f"enabled; {said}")
    panda._report()
    assert reporter.remarks == {"no controller": said}
    monkeypatch.setattr(TorqueTopics, "unheard", "")
    panda._report()
    assert not reporter.remarks
    monkeypatch.setattr(TorqueTopics, "unheard", said)
    assert answer(panda, "enable", SetBool, data=False) == (True, "disabled")


def test_timers_follow_the_parameters(make):
    """They are the watchdog, the diagnostics, the count of publishers, and cycles and outputs if
    these have a rate."""
    for values, periods in (
        ({}, [0.01, 0.02, 1.0, 1.0]),
        ({"publish_frequency": 0.0}, [0.01, 1.0, 1.0]),
        ({"publish_frequency": 0.0, "rate": 200.0}, [0.005, 0.01, 1.0, 1.0]),
        ({"publish_frequency": 4.0, "diagnostics_period": 0.5}, [0.01, 0.25, 0.5, 0.5]),
        ({"publish_frequency": 0.0, "diagnostics_period": 5.0}, [0.01, 1.0, 5.0]),
    ):
        found = sorted(timer.timer_period_ns * 1e-9 for timer in make(**values).timers)
        assert found == pytest.approx(periods)


def test_the_watchdog_uses_a_simulated_clock_once_it_runs(panda, monkeypatch):
    """A clock that reads zero has not begun, unless it has run before."""
    told = []
    monkeypatch.setattr(panda._supervisor, "advance", lambda *times: told.append(times) or 7.0)
    clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=2_500_000_000))
    monkeypatch.setattr(panda, "_ros_clock", clock)
    for simulating, nanoseconds, simulated in (
        (False, 1, None),
        (True, 0, None),
        (True, 2_500_000_000, 2.5),
        (True, 0, 0.0),
        (False, 0, None),
    ):
        clock.now = lambda nanoseconds=nanoseconds: SimpleNamespace(nanoseconds=nanoseconds)
        monkeypatch.setattr(panda, "_simulating", simulating)
        assert panda._now(3.0) == 7.0 and told[-1] == (3.0, simulated)
    assert panda._present() == 7.0 and abs(told[-1][0] - time.monotonic()) < 5.0


def test_a_world_that_is_reset_to_time_zero_is_a_jump(panda, monkeypatch):
    """Time 0 means that no clock has arrived yet, but not once a clock has run. A robot that stands
    elsewhere after the reset must not be stopped for a jump of its positions."""
    clock = SimpleNamespace(nanoseconds=0)
    monkeypatch.setattr(panda, "_ros_clock", SimpleNamespace(now=lambda: clock))
    monkeypatch.setattr(panda, "_simulating", True)
    (robot,) = panda._supervisor.robots
    for k, seconds in enumerate((0.0, 0.0, 7.0, 7.01, 0.0, 0.01)):
        clock.nanoseconds = round(1e9 * seconds)
        panda._now(20.0 + 0.01 * k)
        assert robot.counts["clock_jump"] == (k > 3)


def test_efforts_are_sent_with_their_state(make, monkeypatch):
    """The robot reads efforts. Torques are sent first."""
    node = make(robot_description_file="panda", effort_source="message", state_timeout=10.0)
    (robot,) = ready(node)
    sent = []
    monkeypatch.setattr(node._efforts, "send", lambda *given: sent.append(given))
    message = state(sec=4)
    message.velocity, message.effort = [0.0] * N, [1.0] * N
    node._on_state(0, message)
    ((i, of, stamp),) = sent
    assert i == 0 and of is robot and stamp.sec == 4
    np.testing.assert_array_equal(robot.effort_watch.efforts.tau, 1.0)


def test_a_collision_stops_before_the_next_state(make, monkeypatch):
    """The command of a state is sent first. If the efforts of that state show a collision, the stop
    sequence follows at once."""
    node = make(
        robot_description_file="panda",
        effort_source="message",
        collision_threshold=3.0,
        ramp_time=0.0,
        max_state_age=0.0,
    )
    (robot,) = ready(node)
    sent = []
    monkeypatch.setattr(node._topics[0], "send_command", lambda c: sent.append(c.copy()))

    def feel(milliseconds, push=0.0):
        message = state(sec=1)
        message.header.stamp.nanosec = milliseconds * 1_000_000
        message.velocity, message.effort = [0.0] * N, (REST - push).tolist()
        sent.clear()
        node._on_state(0, message)

    for k in range(20):
        feel(k)
    assert answer(node, "enable", SetBool, data=True)[0]
    feel(20)
    np.testing.assert_allclose(sent, [REST], atol=1e-9)
    feel(21, push=200.0)
    np.testing.assert_allclose(sent, [REST, 0.0 * REST], atol=1e-9)
    assert "collision" in fault_of(robot)


def test_the_process_runs_the_node(monkeypatch):
    ran = []
    monkeypatch.setattr(node_module, "run_process", lambda *given: ran.append(given) or 7)
    assert node_module.main(["a"]) == 7 and ran == [(WarpdynNode, ["a"])]
