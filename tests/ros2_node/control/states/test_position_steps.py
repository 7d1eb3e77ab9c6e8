"""Positions against velocities: a glitch is dropped, and a moving robot is not."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, feed, launch, loss_of, wheel_text
from hypothesis import given
from hypothesis import strategies as st
from simulated_arms import SimulatedArm

import warpdyn as wd
from ros2_node.control.fleet import Fleet
from ros2_node.control.safety.status import Status
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.joint_states import JointStates
from ros2_node.control.states.position_steps import JITTER, SLACK, PositionSteps
from ros2_node.control.states.state import State
from ros2_node.demo.plant import READY

FAST = MODEL.velocity_limit
UR5E = wd.load_robot("ur5e")
ELBOW = {"shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -0.8}
ELBOW["wrist_2_joint"] = 0.5
DROPPED = "position_against_velocity_dropped"


def reader(model=MODEL, **values):
    """The states of a robot that sends commands in a mode with velocities."""
    settings = Settings.of({"mode": "computed_torque", **values})
    states = JointStates(model, settings, State.of_robots(model, 1).row(0), Counter())
    states.strict = True
    return states


def tell(states, now, q, v, stamp=None, names=NAMES):
    """Let the states read a message. Without v it has no velocities."""
    stamp = int(1e9 * (10.0 + now)) if stamp is None else stamp
    velocity = array("d", () if v is None else np.full(len(names), v))
    return states.read(list(names), array("d", np.full(len(names), q)), velocity, stamp, now)


def test_a_position_glitch_with_stiff_gains_changes_no_command():
    """One position of a UR5e with kp 400 is 0.40 rad off at 200 Hz, which gave a step of 131 N·m
    without this check. The velocity limit would allow the step, but the message's own velocity
    contradicts it."""
    settings = {
        "robot_description_file": "ur5e",
        "mode": "computed_torque",
        "kp": 400.0,
        "kd": 40.0,
    }
    fleet = Fleet(Settings.of({**settings, "ramp_time": 0.0}), "", [Counter()])
    robot, q, commands = fleet.robots[0], np.array([0.3, -1.2, 1.4, -0.8, 0.5, 0.2]), []
    for k in range(40):
        now, seen = 0.005 * k, q.copy()
        seen[1] += 0.40 * (k == 20)
        stamp = int(1e9 * now) + 1
        good = robot.read(list(UR5E.joint_names), array("d", seen), array("d", 0 * q), stamp, now)
        assert good == (k != 20)
        if k == 5:
            robot.enable(now, now)
        _, command = launch(fleet, robot, now) if good else (True, None)
        if command is not None:
            commands.append(command.copy())
    assert robot.counts == {DROPPED: 1}
    assert np.abs(np.diff(commands, axis=0)).max() < 1e-9


@given(st.floats(0.001, 0.1), st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0]), st.integers(0, 6))
def test_the_bound_has_the_documented_value(dt, share, side, joint):
    """A message just inside the bound is accepted, one just outside is dropped."""
    speed = share * FAST[joint]
    bound = SLACK + 0.5 * FAST[joint] * dt + abs(speed) * JITTER
    for factor, reason in ((0.98, None), (1.02, DROPPED)):
        states, v = reader(), np.zeros(N)
        v[joint] = speed
        tell(states, 0.0, 0.0, v)
        q = np.zeros(N)
        q[joint] = speed * dt + side * factor * bound
        if np.abs(q[joint]) <= SLACK:
            return  # so small a step is always accepted
        assert tell(states, dt, q, v) == reason


def test_any_mean_of_two_velocities_is_accepted():
    """A joint that accelerates from -2 to 2 rad/s may have moved by anything between."""
    for share in (-1.0, 0.0, 1.0):
        states = reader()
        tell(states, 0.0, 0.0, -0.9 * FAST)
        assert tell(states, 0.05, share * 0.05 * 0.9 * FAST, 0.9 * FAST) is None


def test_a_step_beyond_all_means_of_two_velocities_is_dropped():
    """A joint that accelerates from rest moves by at most its last velocity times the time."""
    dt, joint = 0.05, 0
    speed = FAST[joint] / 3.0
    bound = SLACK + 0.5 * FAST[joint] * dt + speed * JITTER
    for factor, reason in ((0.98, None), (1.02, DROPPED)):
        states, q, v = reader(), np.zeros(N), np.zeros(N)
        tell(states, 0.0, 0.0, 0.0)
        v[joint], q[joint] = speed, speed * dt + factor * bound
        assert tell(states, dt, q, v) == reason


@pytest.mark.parametrize("offset", [0.05, 0.2, -0.3])
def test_a_lasting_offset_stops_the_robot(offset):
    """An encoder may be reset to zero. Its messages are dropped until the state is lost."""
    fleet = Fleet(
        Settings.of({"robot_description_file": "panda", "mode": "computed_torque"}), "", [Counter()]
    )
    robot, q = fleet.robots[0], np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
    feed(robot, 0.0, q, 0 * q)
    robot.enable(0.0, 0.0)
    moved = q.copy()
    moved[3] += offset
    for k in range(1, 40):
        now = 0.005 * k
        assert not robot.is_enabled or not feed(robot, now, moved, 0 * q)
        robot.watch(now, now)
    assert loss_of(robot) and DROPPED in robot.last_fault
    while robot.watch(9.0, 9.0) is not None:
        pass
    assert feed(robot, 9.1, moved, 0 * q) and robot.status(9.1) is Status.LOST
    robot.reset()
    feed(robot, 9.105, moved, 0 * q)
    assert robot.enable(9.105, 9.105)[0], "disabled, it is believed, and ~/enable begins there"


def test_a_moving_robot_continues_after_a_glitch():
    """The next right message is accepted, wherever the glitch was."""
    for size in (0.05, 0.3, -0.28):
        states, v = reader(), np.full(N, 0.9) * FAST
        for k in range(30):
            q = 0.005 * k * v
            q[2] += size * (k % 10 == 9)
            reason = tell(states, 0.005 * k, q, v)
            assert reason == (DROPPED if k % 10 == 9 else None)


@pytest.mark.parametrize("forgets", [False, True])
def test_a_first_message_contradicts_nothing(forgets):
    """Nor does the first one after a jump of the clock."""
    steps, still = PositionSteps(np.array([2.0]), np.array([False])), np.zeros(1)
    if forgets:
        steps.note(slice(0, 1), 0, 4.99)
        assert steps.contradicts(slice(0, 1), (still, still + 3.0), (still, still), 0, 5.0, 0.1)
        steps.forget()
    with np.errstate(invalid="raise"):
        assert not steps.contradicts(slice(0, 1), (still, still + 3.0), (still, still), 0, 5.0, 0.1)


def test_after_two_dropped_messages_the_velocity_predicts_the_place():
    """A joint moves at 1 rad/s. The third message is accepted only at the predicted place."""
    steps, joint = PositionSteps(np.array([3.0]), np.array([False])), slice(0, 1)
    q, v, dt, longest = np.array([0.5]), np.array([1.0]), 0.01, 0.5
    start = 10**9

    def is_refused(k: int, error: float) -> bool:
        place = q + k * dt * v + error
        stamp = start + round(1e9 * k * dt)
        return steps.contradicts(joint, (q, place), (v, v), stamp, k * dt, longest)

    steps.note(joint, start, 0.0)
    for k in (1, 2):
        assert is_refused(k, 0.3)
        steps.drop(joint, q, v, start + round(1e9 * k * dt), k * dt, longest)
    assert not is_refused(3, 0.0)
    assert all(is_refused(3, error) for error in (-0.3, 0.3, 0.5, 1.0))


def test_a_contradiction_is_only_counted_while_nothing_is_sent():
    states = reader()
    states.strict = False
    tell(states, 0.0, 0.0, 0.0)
    assert tell(states, 0.005, 0.1, 0.0) is None and (states.q == 0.1).all()
    assert states.counts["position_against_velocity"] == 1 and not states.counts["position_jump"]


@pytest.mark.parametrize(
    "values",
    [{"mode": "gravity"}, {"velocity_source": "zero"}],
)
def test_modes_without_velocities_do_not_check_them(values):
    """A driver may fill them with zeros while the robot moves."""
    states = reader(**values)
    for k in range(40):
        assert tell(states, 0.05 * k, 0.05 * k * 0.9 * FAST, 0.0) is None


def test_finite_differences_drop_a_glitch_before_the_velocity():
    states = reader(velocity_source="finite_difference")
    for k in range(20):
        reason = tell(states, 0.005 * k, 0.1 * (k == 10), None)
        assert reason == (DROPPED if k == 10 else None)
        assert not states.v.any()


def test_finite_differences_accept_a_robot_that_starts_and_reverses():
    """It moves from rest to the velocity limit within 50 ms and back, and the stamps have 0.5 ms of noise."""
    for rate in (100, 1000):
        states, rng, q, v = (
            reader(velocity_source="finite_difference"),
            np.random.default_rng(1),
            0.0,
            0.0,
        )
        for k in range(3 * rate):
            wanted = FAST * np.sign(np.sin(2 * np.pi * 2.0 * k / rate))
            v = v + np.clip(wanted - v, -20 * FAST / rate, 20 * FAST / rate)
            q = q + v / rate
            stamp = int(1e9 * (10.0 + k / rate + 5e-4 * rng.uniform(-1, 1)))
            assert tell(states, k / rate, q + 4e-4 * rng.standard_normal(N), None, stamp) is None


def test_a_continuous_joint_turns_past_pi():
    states = reader(wd.load_urdf(wheel_text()))
    for k in range(400):
        q = (0.02 * k + np.pi) % (2 * np.pi) - np.pi
        assert tell(states, 0.005 * k, q, 4.0, names=["spin"]) is None
    assert tell(states, 2.0, q + 0.5, 4.0, names=["spin"]) == DROPPED


def test_each_part_of_a_state_is_compared_with_its_own_last_message():
    """The arm sends at 500 Hz and the gripper at 20 Hz, and both move."""
    states, arm, hand = reader(), NAMES[:7], NAMES[7:]
    for k in range(500):
        now = 0.002 * k
        v = 0.9 * FAST
        if k % 25 == 0:
            assert tell(states, now, now * v[7:], v[7:], names=hand) in (None, "missing_joint")
        assert tell(states, now + 1e-4, now * v[:7], v[:7], names=arm) in (None, "missing_joint")
    assert DROPPED not in states.counts


def test_a_joint_that_was_held_for_long_is_not_checked():
    """Held positions older than state_timeout say nothing about the velocity."""
    states = reader(missing_joint_policy="hold")
    tell(states, 0.0, 0.0, 0.0)
    for k in range(1, 100):
        tell(states, 0.01 * k, 0.0, 0.0, names=NAMES[:7])
    assert tell(states, 1.0, np.array([0.0] * 7 + [0.03]), 0.0) is None


def test_the_first_positions_after_a_restart_are_accepted():
    """A clock jump restarts the robot, and its previous position does not count. Later steps are checked again."""
    states = reader()
    tell(states, 0.0, 0.0, 0.0)
    states.forget()
    assert tell(states, 0.005, 0.06, 0.0) is None
    assert tell(states, 0.010, 0.12, 0.0) == DROPPED


@pytest.mark.parametrize("clock", ["stamps", "none", "bursts", "seconds", "still"])
def test_no_driver_clock_rejects_a_robot_at_its_velocity_limit(clock):
    """Stamps may have jitter, be absent, come in bursts, have a resolution of a second, or never advance."""
    states, rng = reader(), np.random.default_rng(2)
    for k in range(2000):
        now, arrival = 0.005 * k, 0.005 * k
        stamp = int(1e9 * (10.0 + now + 1.5e-3 * rng.uniform(-1, 1)))
        if clock == "bursts":
            arrival = 0.04 * np.ceil(now / 0.04) + 1e-4 * (k % 8)
        stamp = {"none": 0, "seconds": (1 + int(now)) * 10**9, "still": 7}.get(clock, stamp)
        v = FAST * np.sin(2 * np.pi * 0.5 * now)
        q = FAST * (1 - np.cos(2 * np.pi * 0.5 * now)) / (2 * np.pi * 0.5)
        reason = tell(states, arrival, q, v, stamp)
        assert reason is None, now


@pytest.mark.parametrize("rate", [100.0, 500.0])
@pytest.mark.parametrize(
    "robot, pose, damping", [("panda", READY, 0.5), ("ur5e", ELBOW, 0.05), ("ur5e", ELBOW, 2.0)]
)
def test_fast_arms_are_not_rejected(robot, pose, damping, rate):
    """MuJoCo's arms track sines close to their velocity limits, with 12-bit encoders, noisy
    velocities and one message in five lost."""
    arm = SimulatedArm(
        robot,
        rate,
        pose,
        damping,
        mode="computed_torque",
        kp=400.0,
        kd=40.0,
        max_tracking_error=0.0,
    )
    rng, start = np.random.default_rng(3), arm.q
    limit = wd.load_robot(robot).velocity_limit
    amplitude = np.full(len(start), 0.25)
    amplitude[7:] = 0.0
    w = 0.6 * limit / 0.25
    grid = 2 * np.pi / 4096

    def reference(t):
        fade = min(t / 0.5, 1.0)
        phase = w * t
        return (
            start + fade * amplitude * np.sin(phase),
            fade * amplitude * w * np.cos(phase),
            0 * start,
        )

    def sense(q, v):
        fine = np.where(limit > 1.0, grid, 1e-5)
        return np.round(q / fine) * fine, v + 0.05 * rng.standard_normal(len(v))

    arm.run(3.0, reference, sense=sense, comes=lambda k: rng.random() > 0.2 or k < 3)
    assert arm.robot.is_enabled and np.abs(arm.velocities).max() > 0.5
    assert not arm.robot.counts[DROPPED], arm.robot.counts


@pytest.mark.parametrize("rate", [200.0, 1000.0])
def test_shaken_arms_are_not_rejected(rate):
    """Part of each effort limit acts in alternating directions 50 times a second, against a
    compliant law. A larger part would make the light wrists faster than twice their velocity limit,
    which no message may contain."""
    arm = SimulatedArm(
        "panda",
        rate,
        READY,
        law="joint_impedance",
        law_inputs__stiffness=20.0,
        law_inputs__damping=2.0,
        max_tracking_error=0.0,
    )
    share = np.array([0.2] * 4 + [0.15] * 3 + [0.0]) * arm.robot.output.limit
    arm.run(2.0, push=lambda t: share * np.sign(np.sin(2 * np.pi * 50.0 * t)))
    assert arm.robot.is_enabled and not arm.robot.counts[DROPPED], arm.robot.counts
    assert np.abs(np.diff(arm.velocities, axis=0)).max() * rate > 100.0, "it accelerates hard"


def test_a_missing_velocity_limit_counts_as_20_rad_per_s():
    model = wd.load_urdf(wheel_text("revolute"))
    for step, reason in ((2.49, None), (2.51, "position_jump_dropped")):
        states = reader(model, mode="gravity")
        states.read(["spin"], array("d", [0.0]), (), 0, 0.0)
        assert states.read(["spin"], array("d", [step]), (), 0, 0.01) == reason
