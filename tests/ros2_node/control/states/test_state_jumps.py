"""Measurements that jump or have bad stamps: values that are dropped, and states that are too
old."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, wheel_text

import warpdyn as wd
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.joint_states import JointStates
from ros2_node.control.states.position_steps import JUMP_MARGIN, JUMP_TIME
from ros2_node.control.states.state import State


def reader(model=MODEL, **values):
    """A reader whose rows hold no numbers yet."""
    state = State.of_robots(model, 1).row(0)
    state.q[:] = state.v[:] = np.nan
    return JointStates(model, Settings.of(values), state, Counter())


def enough(states, k, q=0.0, v=0.0, dt=0.001):
    """Read one message of a stream at 1 kHz."""
    stamp = 1_000_000_000 + int(k * dt * 1e9)
    return states.read(NAMES, array("d", np.full(8, q)), array("d", np.full(8, v)), stamp, k * dt)


def test_one_glitch_of_a_velocity_is_dropped_and_counted():
    """It is beyond twice the velocity limit of its joint. The previous state is used in that
    cycle."""
    states = reader(mode="computed_torque")
    assert enough(states, 0, v=0.1) is None
    glitch = array("d", [0.1] * 3 + [9000.0] + [0.1] * 4)
    answer = states.read(NAMES, array("d", [0.0] * 8), glitch, 0, 0.001)
    assert answer == "velocity_out_of_range" and states.counts[answer] == 1
    assert (states.v == 0.1).all() and states.age(0.001) == 0.001
    assert enough(states, 2, v=0.2) is None and (states.v == 0.2).all()
    fast = MODEL.velocity_limit
    assert states.read(NAMES, array("d", [0.0] * 8), array("d", 1.9 * fast), 0, 0.003) is None
    assert states.read(NAMES, array("d", [0.0] * 8), array("d", 2.1 * fast), 0, 0.004) is not None


def test_a_joint_without_velocity_limit_is_bounded_as_well():
    states = reader(wd.load_urdf(wheel_text()), mode="computed_torque")
    assert states.read(["spin"], array("d", [0.0]), array("d", [90.0]), 0, 0.0) is None
    assert states.read(["spin"], array("d", [0.0]), array("d", [9000.0]), 0, 0.0) is not None


@pytest.mark.parametrize("mode", ["gravity", "computed_torque"])
def test_one_glitch_of_a_position_is_dropped_and_counted(mode):
    """Every mode drops it while the node sends commands. Otherwise it is used and counted."""
    states = reader(mode=mode)
    states.strict = True
    assert enough(states, 0) is None and enough(states, 1) is None
    assert enough(states, 2, q=1.5) == "position_jump_dropped"
    assert states.counts == {"position_jump_dropped": 1}
    assert not states.q.any() and enough(states, 3, q=0.001) is None
    assert states.age(0.003) == 0.0
    states.strict = False
    assert enough(states, 4, q=1.5) is None and (states.q == 1.5).all()
    assert states.counts["position_jump"] == 1 and states.counts["position_jump_dropped"] == 1


def test_lasting_position_jumps_let_the_state_expire():
    """The watchdog then stops the robot. A jump of the clock is no jump of the joints."""
    states = reader(state_timeout=0.1)
    states.strict = True
    enough(states, 0)
    for k in range(1, 200):
        assert enough(states, k, q=1.5) == "position_jump_dropped"
    assert states.age(0.199) == 0.199
    states.forget()
    assert enough(states, 200, q=1.5) is None and states.age(0.2) == 0.0


def test_a_frozen_driver_is_noticed_despite_a_nan_in_the_message():
    """The NaN is in an entry that is not read. It equals nothing, so the message would look new."""
    states = reader()
    names = [*NAMES, "tool"]
    for k in range(5):
        position = array("d", [0.0] * 8 + [float("nan")])
        assert states.read(names, position, (), 7, 0.02 * k) is None
    assert states.age(0.08) == 0.08 and states.counts["repeated_message"] == 4


def test_a_change_of_parameters_keeps_the_velocities():
    """A change to mode gravity, which uses none, clears them."""
    states = reader(mode="computed_torque")
    enough(states, 0, v=0.1)
    states.change(Settings.of({"mode": "computed_torque", "kp": 3.0}))
    assert (states.v == 0.1).all()
    states.change(Settings.of())
    assert not states.v.any()


@pytest.mark.parametrize("passed", [0.01, 0.2])
def test_a_jump_exceeds_twice_the_velocity_limit(passed):
    """The time is that since the last message plus JUMP_TIME, and JUMP_MARGIN is added. The test
    covers both sides of the bound."""
    limit = float(MODEL.velocity_limit[2])
    bound = 2.0 * limit * (passed + JUMP_TIME) + JUMP_MARGIN
    for share, reason in ((0.99, None), (1.01, "position_jump_dropped")):
        states = reader()
        states.read(NAMES, array("d", [0.0] * N), (), 0, 0.0)
        states.strict = True
        q = np.zeros(N)
        q[2] = share * bound
        assert states.read(NAMES, array("d", q), (), 0, passed) == reason


ZERO = array("d", [0.0] * N)


def test_stamps_are_compared_with_the_nodes_clock():
    """They may be a second ahead and half a second behind. Without a stamp or a clock there is no
    comparison."""
    second = 10**9
    for ahead, future in ((second, 0), (second + 1, 1)):
        states = reader()
        states.read(NAMES, ZERO, (), 5 * second + ahead, 0.0, ros_now=5 * second)
        assert states.counts["stamp_future"] == future and states.lag == 0.0
    for behind, old in ((500_000_000, 0), (500_000_001, 1)):
        states = reader(max_state_age=0.5)
        states.read(NAMES, ZERO, (), 5 * second - behind, 2.0, ros_now=5 * second)
        assert states.counts["stamp_old"] == old and states.lag == pytest.approx(0.5)
        assert states.late_for(2.5) == (0.5 if old else -np.inf)
        assert bool(states.lateness()) == bool(old)
    assert states.lateness() == (
        "the stamps of joint_states are 0.5 s older than this node's clock, more than max_state_age "
        "0.5 s: the driver lags, or the clocks differ (synchronise them, or set use_sim_time where "
        "the stamps are a simulation's)"
    )
    for stamp, now in ((0, 5 * second), (1, 0)):
        states = reader(max_state_age=0.5)
        states.read(NAMES, ZERO, (), stamp, 0.0, ros_now=now)
        assert states.lag == 0.0 and not states.counts
    any_age = reader(max_state_age=0.0)
    any_age.read(NAMES, ZERO, (), 1, 0.0, ros_now=50 * second)
    assert any_age.lag > 49.0 and not any_age.lateness() and not any_age.counts


def test_lateness_counts_from_the_first_old_stamp():
    second = 10**9
    states = reader(max_state_age=0.5)
    for now, behind in ((1.0, 2), (1.25, 3), (1.5, 0), (1.75, 2), (2.0, 2)):
        stamp = int((100 + now - behind) * second)
        states.read(NAMES, ZERO, (), stamp, now, ros_now=int((100 + now) * second))
    assert states.late_for(2.25) == 0.5 and states.counts["stamp_old"] == 4
    states.forget()
    assert states.lag == 0.0 and states.late_for(2.25) == -np.inf


def test_backward_stamps_and_repeated_messages_are_counted():
    """The same stamp with other positions comes from a slow clock and is not counted."""
    states = reader()
    for stamp, place in ((5, 0.0), (5, 0.01), (5, 0.01), (4, 0.02), (0, 0.03)):
        states.read(NAMES, array("d", [place] * N), (), stamp, 0.01 * stamp)
    assert {k: n for k, n in states.counts.items() if n} == {
        "repeated_message": 1,
        "stamp_backwards": 1,
    }


def test_a_stamp_of_one_nanosecond_is_valid():
    """It can be repeated, and others can go back to it. Only zero means that there is no stamp."""
    states = reader()
    for stamp in (1, 1, 5, 1, 0, 0):
        states.read(NAMES, ZERO, (), stamp, 0.01)
    assert states.counts["repeated_message"] == 1 and states.counts["stamp_backwards"] == 1
