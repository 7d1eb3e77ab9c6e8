"""Joints near their position limits: repulsion, clipping and messages."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import (
    MODEL,
    NAMES,
    N,
    Q,
    feed,
    launch,
    panda_fleet,
    panda_settings,
    wheel_text,
)

import warpdyn as wd
from ros2_node.control.report import OK, WARN, Reporter
from ros2_node.control.safety.joint_limits import (
    BRAKING_TIME,
    LARGEST_SHARE,
    JointLimits,
    lightest_inertia,
    repels,
)
from ros2_node.control.settings.node_settings import Settings

TRACKING = {"mode": "computed_torque"}

LIMIT = MODEL.effort_limit

UPPER = MODEL.position_upper

MARGIN = np.minimum(0.1, LARGEST_SHARE * (UPPER - MODEL.position_lower))

ZERO = np.zeros(N)


def limits(model=MODEL, joints=NAMES, effort=None, **values):
    """The limits of a robot after cycles at 1 kHz."""
    each = JointLimits(model, joints)
    effort = model.effort_limit if effort is None else effort
    each.change(Settings.of({**TRACKING, **values}), np.where(effort > 0.0, effort, np.inf))
    middle = np.where(np.isfinite(each._range), each._middle, 0.0)
    for k in range(2000):
        each.add(np.zeros(model.nv), middle, np.zeros(model.nv), 0.001 * k)
    return each


def repulsion(each, q, v=ZERO):
    return each.add(np.zeros(len(v)), q, v, each._added + 0.001)


def test_the_repulsion_at_the_limit_is_a_share_of_the_effort_limit():
    """This holds at 1 kHz for the panda's arm; its finger is so light that the spring is softer.
    The repulsion is zero at the beginning of the margin and in the middle of the range."""
    arm = slice(7)
    for share in (0.5, 0.2):
        each = limits(joint_limit_effort=share)
        for side, end in ((1.0, UPPER), (-1.0, MODEL.position_lower)):
            at_limit = -side * share * LIMIT
            np.testing.assert_allclose(repulsion(each, end)[arm], at_limit[arm], rtol=1e-9)
            assert 0.0 < -side * repulsion(each, end)[7] < share * LIMIT[7]
            edge = end - side * MARGIN
            assert np.abs(repulsion(each, edge)).max() < 1e-9
            half = repulsion(each, end - side * 0.5 * MARGIN)
            np.testing.assert_allclose(half[arm], 0.5 * at_limit[arm], rtol=1e-9)
    torque = np.ones(N)
    assert each.add(torque, Q, ZERO, 9.0) is torque


def test_the_repulsion_beyond_the_limit_is_at_most_the_effort_limit():
    far = repulsion(limits(), UPPER + 10.0)
    np.testing.assert_allclose(far, -LIMIT)


def test_the_damper_acts_only_towards_the_limit_and_grows_with_depth():
    each, v = limits(joint_limit_effort=0.1), np.full(N, 0.5)
    still, at = repulsion(each, UPPER - 0.5 * MARGIN), UPPER - 0.5 * MARGIN
    np.testing.assert_allclose(repulsion(each, at, -v), still, rtol=1e-6)
    damped = repulsion(each, at, v) - still
    wanted = -0.5 * BRAKING_TIME * 0.1 * LIMIT / MARGIN * v
    heavy = lightest_inertia(MODEL) * 0.4 / 0.001 > BRAKING_TIME * 0.1 * LIMIT / MARGIN
    assert heavy[[0, 1, 3]].all()
    np.testing.assert_allclose(damped[heavy], wanted[heavy], rtol=1e-6)
    assert (damped <= 0.0).all() and (damped >= wanted - 1e-9).all()


def test_light_joints_have_softer_springs_at_low_state_rates():
    """A UR5e's last joint at 200 Hz has a spring no stiffer than its inertia can follow."""
    model = wd.load_robot("ur5e")
    inertia = lightest_inertia(model)
    fast, slow = limits(model, model.joint_names), limits(model, model.joint_names)
    for k in range(2000):
        slow.add(np.zeros(6), np.zeros(6), np.zeros(6), 2.0 + 0.005 * k)
    quick, lazy = (
        each.add(np.zeros(6), model.position_upper, np.zeros(6), each._added)
        for each in (fast, slow)
    )
    assert (np.abs(quick) >= np.abs(lazy)).all()
    np.testing.assert_allclose(-lazy[5], (0.3 / 0.005) ** 2 * inertia[5] * 0.1, rtol=0.05)
    np.testing.assert_allclose(-quick[:5], 0.5 * model.effort_limit[:5], rtol=1e-9)


def test_the_inertia_is_close_to_the_smallest_of_the_joint():
    """No random position has a much smaller one."""
    least, rng = lightest_inertia(MODEL), np.random.default_rng(5)
    for _ in range(20):
        q = rng.uniform(MODEL.position_lower, UPPER)
        alone = 1.0 / np.diag(np.linalg.inv(np.asarray(wd.crba(MODEL, q))))
        assert (alone > 0.4 * least).all()


def test_joints_without_limits_or_effort_have_no_repulsion():
    for kind, effort, lower, has in (
        ("continuous", "9", "-1", False),
        ("revolute", "9", "-1", True),
        ("revolute", "0", "-1", False),
        ("revolute", "9", "1", False),
    ):
        text = wheel_text(kind).replace('effort="0"', f'effort="{effort}"')
        model = wd.load_urdf(text.replace('lower="-1"', f'lower="{lower}"'))
        each = limits(model, ["spin"])
        pushed = each.add(np.zeros(1), np.array([1.0]), np.zeros(1), 9.0)[0]
        assert (pushed == pytest.approx(-4.5)) if has else pushed == 0.0


@pytest.mark.parametrize(
    "values, on",
    [
        ({"mode": "gravity"}, False),
        ({"mode": "inverse_dynamics"}, False),
        ({"mode": "computed_torque"}, True),
        ({"law": "teaching"}, True),
        ({"law": "joint_impedance"}, True),
        ({"law": "cartesian_impedance"}, True),
        ({"law": "my_package.my_module:law"}, False),
        ({"policy": "quadruped_velocity"}, False),
        ({"mode": "gravity", "joint_limit_repulsion": "always"}, True),
        ({"mode": "computed_torque", "joint_limit_repulsion": "never"}, False),
        ({"mode": "computed_torque", "joint_limit_effort": 0.0}, False),
    ],
)
def test_the_parameter_selects_the_modes_with_repulsion(values, on):
    assert repels(Settings.of(values)) is on


def test_a_margin_may_be_zero_or_a_list():
    assert not limits(joint_limit_margin=0.0).active
    each = limits(joint_limit_margin=[0.0, 0.05, *[0.1] * 6])
    pushed = repulsion(each, UPPER - 0.04)
    assert pushed[0] == 0.0 and pushed[1] == pytest.approx(-0.5 * 87.0 * 0.2)
    with pytest.raises(ValueError, match="joint_limit_margin has 2 numbers"):
        limits(joint_limit_margin=[0.1, 0.1])


def test_gravity_mode_reports_a_joint_beyond_its_limit_without_repulsion():
    fleet = panda_fleet(ramp_time=0.0)
    robot, q = fleet.robots[0], Q.copy()
    reporter = Reporter(robot.counts)
    q[3] = UPPER[3] + 0.005
    for beyond, level in ((0.005, OK), (0.05, WARN)):
        q[3] = UPPER[3] + beyond
        feed(robot, beyond, q)
        robot.enable(beyond, beyond)
        command = launch(fleet, robot, beyond)[1]
        np.testing.assert_allclose(command[:7], wd.rnea(MODEL, q, 0 * q, 0 * q)[:7], atol=1e-9)
        assert reporter.level(robot, beyond, beyond, 1.0)[0] == level
    assert (
        "joint_limit: panda_joint4 is 0.05 beyond its upper limit -0.0698"
        in reporter.level(robot, 0.05, 0.05, 1.0)[1]
    )
    assert "panda_joint4" in reporter.values(robot, panda_settings(), 0.05, 0.05, "")["joint_limit"]


WHEEL = wd.load_urdf(wheel_text("revolute").replace('effort="0"', 'effort="9"'))
"""One joint of inertia 1 from -1 to 1 rad, of at most 9 N·m."""


def wheel(cycle, **values):
    """The limits of a wheel after many cycles of one length [s], at rest in the middle."""
    each = JointLimits(WHEEL, ["spin"])
    each.change(Settings.of({**TRACKING, **values}), np.array([9.0]))
    for k in range(3000):
        each.add(np.zeros(1), np.zeros(1), np.zeros(1), cycle * k)
    assert each._cycle == pytest.approx(min(cycle, 0.05), rel=1e-6)
    return each


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("cycle", "spring", "damper"),
    [(0.001, 45.0, 4.5), (0.05, 36.0, 4.5), (0.2, 36.0, 4.5), (0.04, 45.0, 4.5)],
)
def test_the_spring_and_the_damper_have_the_documented_constants(side, cycle, spring, damper):
    """The spring gives half of the effort limit over a tenth of a radian, and the damper that by a
    tenth of a second. The spring of a light joint is softer in long cycles. A cycle counts as at
    most a twentieth of a second."""
    each = wheel(cycle)
    torque = np.array([0.25])
    for depth, speed in ((0.05, 0.0), (0.05, 0.5), (0.1, 0.5), (0.15, 0.1), (0.05, -0.5)):
        q, v = np.array([side * (0.9 + depth)]), np.array([side * speed])
        found = each.add(torque, q, v, each._added + cycle)
        push = spring * depth + damper * min(depth / 0.1, 1.0) * max(speed, 0.0)
        assert found[0] == pytest.approx(0.25 - side * min(push, 9.0), rel=1e-4)
    assert torque[0] == 0.25, "a copy"
    free = each.add(torque, np.array([side * 0.9]), np.array([side]), each._added + cycle)
    assert free is torque
    stiff = each.add(torque, np.array([side * 2.0]), np.array([side * 9.0]), each._added + cycle)
    assert stiff[0] == 0.25 - side * 9.0


def test_the_damper_of_a_light_joint_is_softer_in_long_cycles():
    """Its constant is four tenths of the inertia over the cycle."""
    each = wheel(0.05, joint_limit_effort=1.0)
    still, moving = (
        each.add(np.zeros(1), np.array([1.0]), np.array([v]), each._added + 0.05)[0]
        for v in (0.0, 0.5)
    )
    assert still == pytest.approx(-3.6, rel=1e-4) and moving == pytest.approx(-3.6 - 4.0, rel=1e-4)


def test_the_first_cycle_counts_as_five_milliseconds():
    """Each next cycle changes the mean by a hundredth."""
    each = JointLimits(WHEEL, ["spin"])
    each.change(Settings.of(TRACKING), np.array([9.0]))
    at_rest = np.zeros(1), np.zeros(1), np.zeros(1)
    each.add(*at_rest, 5.0)
    assert each._cycle == pytest.approx(0.005 + 0.045 / 100)
    each.add(*at_rest, 5.01)
    assert each._cycle == pytest.approx(0.00545 + (0.01 - 0.00545) / 100)


@pytest.mark.parametrize(
    ("values", "q", "text"),
    [
        (TRACKING, 0.9, ""),
        (TRACKING, 0.9375, "spin is 0.0625 before its upper limit 1"),
        (TRACKING, -0.9375, "spin is 0.0625 before its lower limit -1"),
        (TRACKING, 1.0, "spin is 0 before its upper limit 1"),
        (TRACKING, -1.25, "spin is 0.25 beyond its lower limit -1"),
        ({}, 0.95, ""),
        ({}, 1.009, ""),
        ({}, 1.0109375, "spin is 0.0109 beyond its upper limit 1"),
        ({}, -1.25, "spin is 0.25 beyond its lower limit -1"),
    ],
)
def test_messages_of_joints_near_a_limit_have_the_documented_text(values, q, text):
    """Messages without repulsion name joints more than a tenth of the margin beyond the limit."""
    each = JointLimits(WHEEL, ["spin"])
    each.change(Settings.of(values), np.array([9.0]))
    assert each.limit_message(np.array([q])) == text


def test_the_lightest_inertia_of_a_wheel_is_exact_and_results_are_cached():
    """A wheel has the same inertia at every position."""
    assert lightest_inertia(WHEEL).tolist() == [pytest.approx(1.0)]
    assert lightest_inertia(MODEL) is lightest_inertia(MODEL)
