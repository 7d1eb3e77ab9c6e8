"""Inputs of a law by topic: their bounds, refusals and rates."""

from __future__ import annotations

import numpy as np
import pytest
from driven_arm import HAND, READY
from fleets import N, feed, launch, panda_fleet, panda_settings

from ros2_node.control.torques.law_input_targets import inputs_by_topic

STIFFNESS = np.array([600.0, 600.0, 400.0, 400.0, 100.0, 80.0, 40.0, 500.0])
REST = [0.0] * N


@pytest.fixture(scope="module")
def fleet():
    return panda_fleet(
        robots=2,
        law="joint_impedance",
        law_inputs__stiffness=STIFFNESS.tolist(),
        ramp_time=0.0,
        state_timeout=1.0,
    )


@pytest.fixture
def targets(fleet):
    robot = fleet.robots[1]
    robot.counts.clear()
    robot.references.law_inputs.restore()
    return robot.references.law_inputs


def row(fleet, name, robot=1):
    return fleet.dynamics.law.inputs[name][robot]


def test_an_input_moves_to_its_target_at_its_rate(fleet, targets):
    """It moves from 600 to 1200, the largest value, in half of law_input_time, and only for this
    robot. The time before a target, in which no input moves and `follow` is not called, does not
    count."""
    before = row(fleet, "stiffness", 0).copy()
    assert targets.read("stiffness", 2.0 * STIFFNESS) is None
    targets.follow(7.0)
    np.testing.assert_array_equal(row(fleet, "stiffness"), STIFFNESS)
    steps = []
    for k in range(1, 12):
        targets.follow(7.0 + 0.01 * k)
        steps.append(row(fleet, "stiffness").copy())
    np.testing.assert_allclose(steps[4], 1.5 * STIFFNESS)
    np.testing.assert_allclose(steps[-1], 2.0 * STIFFNESS)
    assert not targets.active
    np.testing.assert_array_equal(row(fleet, "stiffness", 0), before)
    targets.restore()
    np.testing.assert_array_equal(row(fleet, "stiffness"), STIFFNESS)


def test_inputs_with_a_range_of_zero_stay_zero(fleet, targets):
    """A joint whose parameter is 0 has the range 0. The others move at their rate."""
    settings = fleet.settings
    free = np.where(np.arange(N) == 3, 0.0, STIFFNESS)
    fleet.change(settings.with_changes({"law_inputs.stiffness": free.tolist()}))
    assert targets.read("stiffness", 2.0 * free) is None
    with np.errstate(all="raise"):
        for k in range(6):
            targets.follow(40.0 + 0.01 * k)
    np.testing.assert_allclose(row(fleet, "stiffness"), 1.5 * free)
    fleet.change(settings)


def test_one_number_sets_all_joints_or_a_ratio(fleet, targets):
    targets.change(panda_settings(law_input_time=0.0))
    assert (
        targets.read("stiffness", [50.0]) is None and targets.read("damping_ratio", [1.0]) is None
    )
    targets.follow(1.0)
    assert (row(fleet, "stiffness") == 50.0).all() and row(fleet, "damping_ratio") == 1.0
    targets.change(panda_settings())


@pytest.mark.parametrize(
    "name, numbers, said",
    [
        ("stiffness", 2.1 * STIFFNESS, "exceeds"),
        ("stiffness", [1.0, 2.0], "must be 8 numbers"),
        ("stiffness", [], "must be 8 numbers"),
        ("stiffness", [-1.0] * N, "must be at least 0"),
        ("stiffness", [np.nan] * N, "not finite"),
        ("damping", [0.1], "exceeds 0, law_input_range"),
        ("damping_ratio", [1.5], "exceeds 1.4"),
    ],
)
def test_invalid_targets_are_refused(fleet, targets, name, numbers, said):
    before = row(fleet, name).copy()
    assert said in targets.read(name, numbers) and name in targets.refusal
    targets.follow(5.0)
    np.testing.assert_array_equal(row(fleet, name), before)
    assert targets._counts == {"law_input_refused": 1}


def test_only_the_inputs_own_parameter_ends_its_target(fleet, targets):
    """The parameter is used at once, and ~/enable restores it. Another gain keeps the target."""
    settings = fleet.settings
    targets.read("stiffness", 0.5 * STIFFNESS)
    for k in range(40):
        targets.follow(10.0 + 0.01 * k)
    fleet.change(settings.with_changes({"kp": 50.0}))
    np.testing.assert_allclose(row(fleet, "stiffness"), 0.5 * STIFFNESS)
    fleet.change(settings.with_changes({"law_inputs.stiffness": 300.0}))
    targets.follow(11.0)
    assert (row(fleet, "stiffness") == 300.0).all()
    fleet.change(settings)
    targets.read("stiffness", 0.5 * STIFFNESS)
    targets.follow(12.0)
    robot = fleet.robots[1]
    feed(robot, 12.0, READY, REST)
    assert robot.enable(12.0, 12.0)[0]
    np.testing.assert_array_equal(row(fleet, "stiffness"), STIFFNESS)
    robot.disable(12.0)


def test_a_matrix_remains_semidefinite_on_its_way():
    """Six numbers set the diagonal, 36 the whole matrix. A coupling that is too large is
    refused."""
    fleet = panda_fleet(
        law="cartesian_impedance",
        law_options=[f"frame={HAND}"],
        law_inputs__stiffness=[500.0] * 3 + [30.0] * 3,
        ramp_time=0.0,
        state_timeout=1.0,
    )
    robot = fleet.robots[0]
    feed(robot, 0.0, READY, REST)
    robot.enable(0.0, 0.0)
    weak = np.diag([100.0, 10.0, 500.0, 1.0, 2.0, 3.0])
    weak[0, 1] = weak[1, 0] = -30.0
    assert robot.refer_law_input("stiffness", weak.ravel()) is None
    for k in range(1, 60):
        feed(robot, 0.005 * k, READY, REST)
        K = fleet.dynamics.law.inputs["stiffness"][0]
        assert np.linalg.eigvalsh(K)[0] >= -1e-9
        assert launch(fleet, robot, 0.005 * k)[1] is not None
    np.testing.assert_allclose(K, weak, atol=1e-12)
    weak[0, 1] = weak[1, 0] = 40.0
    assert "must not push" in robot.refer_law_input("stiffness", weak.ravel())


def test_only_some_inputs_and_laws_have_topics():
    names = ["stiffness", "target", "damping_ratio"]
    assert inputs_by_topic(panda_settings(law="joint_impedance"), names) == [
        "stiffness",
        "damping_ratio",
    ]
    assert inputs_by_topic(panda_settings(law="my_laws.py:spring"), names) == []
    off = panda_settings(law="joint_impedance", law_input_range=0.0)
    assert inputs_by_topic(off, names) == []


def test_a_pause_counts_as_a_twentieth_of_a_second(fleet, targets):
    """A clock that runs back counts as no time. A value that is nearly reached is set exactly."""
    settings = fleet.settings
    targets.change(settings.with_changes({"law_input_time": 0.5}))
    assert targets.read("stiffness", 2.0 * STIFFNESS) is None
    targets.follow(20.0)
    for now, share in ((21.0, 0.1), (20.5, 0.1), (20.55, 0.2), (29.0, 0.3)):
        targets.follow(now)
        np.testing.assert_allclose(row(fleet, "stiffness"), STIFFNESS * (1.0 + 2.0 * share))
        assert targets.active
    for k in range(4):
        targets.follow(30.0 + k)
    np.testing.assert_array_equal(row(fleet, "stiffness"), 2.0 * STIFFNESS)
    assert not targets.active
    targets.change(settings)


def test_the_largest_value_is_accepted(fleet, targets):
    """It may be exceeded by a part in 1e9. The text of a refusal has both numbers."""
    for share, good in ((2.0 * (1 + 9e-10), True), (2.0 * (1 + 1.2e-9), False)):
        assert (targets.read("stiffness", share * STIFFNESS) is None) == good
    wanted = STIFFNESS.copy()
    wanted[4] = 300.0
    assert targets.read("stiffness", wanted) == (
        "stiffness: 300 exceeds 200, law_input_range times the parameter law_inputs.stiffness"
    )
    targets.restore()
