"""Bounds of steps of positions, of one joint and of two."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_node.control.states.position_steps import PositionSteps

ONE = slice(1)


def of_one_joint(fastest=2.0):
    return PositionSteps(np.array([fastest]), np.array([False]))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_jump_bound_has_the_documented_value(sign):
    """It is twice the velocity limit times the passed time plus 50 ms, plus a tenth of a radian."""
    for step, jumped in ((0.339, False), (0.341, True)):
        assert of_one_joint().jumps(ONE, np.array([sign * step]), np.array([0.01])) == jumped


@pytest.mark.parametrize(
    ("speed", "dt", "stamped", "bound"),
    [
        (0.0, 0.01, True, 0.02),
        (1.0, 0.01, True, 0.022),
        (-1.0, 0.01, True, 0.022),
        (1.0, 0.02, True, 0.032),
        (0.0, 0.01, False, 0.02),
        (1.0, 0.01, False, 0.07),
    ],
)
def test_the_contradiction_bound_has_the_documented_value(speed, dt, stamped, bound):
    """It is 10 mrad, half the velocity limit times the time between the messages, and the speed
    times 2 ms of a stamp or 50 ms of an arrival."""
    start = 10**9
    for beyond, said in ((-1e-4, False), (1e-4, True)):
        for side in (-1.0, 1.0):
            steps, v = of_one_joint(), np.array([speed])
            steps.note(ONE, start if stamped else 0, 5.0)
            p = np.array([speed * dt + side * (bound + beyond)])
            stamp = start + round(1e9 * dt) if stamped else 0
            arguments = (ONE, (np.zeros(1), p), (v, v), stamp, 5.0 + dt, 0.1)
            assert steps.contradicts(*arguments) == said


def dropped_of_two_joints():
    steps, still = PositionSteps(np.full(2, 2.0), np.zeros(2, bool)), np.zeros(2)
    steps.note(slice(None), 0, 1.0)
    steps.drop(slice(None), still, still, 0, 1.01, 0.1)
    return steps, np.full(2, 0.5), still


def test_an_accepted_message_ends_the_prediction():
    """It follows one that was dropped. Steps of its joints are then measured from it, by the plain bound."""
    steps, q, still = dropped_of_two_joints()
    steps.note(ONE, 0, 1.02)
    for way, joint, said in ((0.0, 0, False), (0.03, 0, True), (0.0, 1, True)):
        of_joint = slice(joint, joint + 1)
        positions = q[of_joint], q[of_joint] + way
        assert steps.contradicts(of_joint, positions, (still[:1],) * 2, 0, 1.03, 0.1) == said


def test_a_new_start_ends_the_prediction_of_all_joints():
    """A message of the second joint that is dropped later does not restore the prediction of the first."""
    steps, q, still = dropped_of_two_joints()
    steps.forget()
    steps.note(slice(2), 0, 2.0)
    steps.drop(slice(1, 2), still[:1], still[:1], 0, 2.01, 0.1)
    assert not steps.contradicts(ONE, (q[:1], q[:1]), (still[:1],) * 2, 0, 2.01, 0.1)


def test_positions_as_old_as_the_timeout_are_still_checked():
    for passed, said in ((0.125, True), (0.1875, False)):
        steps = of_one_joint()
        steps.note(ONE, 0, 1.0)
        still = np.zeros(1), np.zeros(1)
        assert steps.contradicts(ONE, (still[0], np.ones(1)), still, 0, 1.0 + passed, 0.125) == said


@pytest.mark.parametrize(("stamp", "bound"), [(10_000_001, 0.032), (1, 0.022), (0, 0.08)])
def test_a_stamp_of_one_nanosecond_is_valid(stamp, bound):
    """This holds for the previous message and for this one. Only zero means that there is no stamp."""
    v = np.array([1.0])
    for beyond, said in ((-1e-4, False), (1e-4, True)):
        steps = of_one_joint()
        steps.note(ONE, 1, 5.0)
        p = np.array([bound + beyond])
        assert steps.contradicts(ONE, (np.zeros(1), p), (v, v), stamp, 5.01, 0.1) == said
