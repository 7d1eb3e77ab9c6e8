"""Safety parameters while they are locked: narrower values are accepted, wider ones are refused."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from fleets import feed, panda_settings

from ros2_node.control.fleet import Event
from ros2_node.control.safety.safety_lock import SAFETY, check_lock
from ros2_node.control.settings.node_settings import BY_NAME, Settings
from ros2_node.control.supervisor import Supervisor

WIDER: list[tuple[str, Any, Any]] = [
    ("robot_description", "", "<robot/>"),
    ("robot_description_file", "panda", "ur5e"),
    ("torque_scale", 1.0, 1.5),
    ("torque_scale", (0.5, 0.5), (0.2, 0.6)),
    ("torque_scale", (0.5, 0.5), (0.2, 0.2, 0.2)),
    ("effort_limit_scale", 0.5, 0.6),
    ("effort_limits", 10.0, 1e6),
    ("effort_limits", 10.0, 0.0),
    ("effort_limits", (10.0, 20.0), (10.0, 0.0)),
    ("unlimited_effort", False, True),
    ("max_torque_rate", 100.0, 0.0),
    ("max_torque_rate", 100.0, 200.0),
    ("max_torque_rate", -1.0, 0.0),
    ("max_torque_rate", -1.0, 100.0),
    ("max_torque_rate", 100.0, -1.0),
    ("max_torque_rate", (100.0, -1.0), (100.0, 0.0)),
    ("max_torque_rate", (100.0, -1.0), (50.0, -1.0, -1.0)),
    ("max_torque_rate", (100.0, 80.0), 90.0),
    ("max_tracking_error", 0.5, 0.0),
    ("max_pose_error", (0.2, 0.5), (0.2, 0.0)),
    ("ramp_time", 1.0, 0.5),
    ("stale_action", "ramp_down", "hold"),
    ("state_timeout", 0.1, 60.0),
    ("max_state_age", 0.5, 0.0),
    ("position_limit_margin", 0.1, 1.0),
    ("max_reference_acceleration", 50.0, 0.0),
    ("trajectory.path_tolerance", 0.1, 0.0),
    ("law_input_time", 0.2, 0.1),
    ("twist_timeout", 0.2, 0.3),
    ("twist_max_speed", (0.2, 0.5), (0.2, 0.6)),
    ("twist_max_acceleration", (1.0, 4.0), (2.0, 3.0)),
    ("pose_violation", "reject", "clip"),
    ("reference_violation", "reject", "clip"),
    ("joint_limit_repulsion", "by_law", "never"),
    ("joint_limit_margin", 0.1, 0.05),
    ("joint_limit_margin", (0.1, 0.1), (0.1, 0.0)),
    ("joint_limit_effort", 0.5, 0.0),
    ("reference_timeout", 0.5, 0.0),
    ("missing_joint_policy", "reject", "hold"),
    ("friction.travel", 1.0, 0.0),
    ("friction.travel", 1.0, 2.0),
    ("allow_several_publishers", False, True),
    ("collision_threshold", 10.0, 0.0),
    ("collision_threshold", 10.0, 20.0),
    ("collision_speed_factor", 0.0, 1.0),
    ("collision_reaction", "stop", "gravity"),
]

NARROWER: list[tuple[str, Any, Any]] = [
    ("ramp_time", 1.0, 2.0),
    ("torque_scale", 1.0, (0.5, 1.0)),
    ("effort_limit_scale", 1.0, 0.1),
    ("effort_limits", 0.0, 5.0),
    ("unlimited_effort", True, False),
    ("max_torque_rate", 0.0, 100.0),
    ("max_torque_rate", 0.0, -1.0),
    ("max_torque_rate", (100.0, -1.0), (50.0, -1.0)),
    ("max_torque_rate", (0.0, 100.0), (-1.0, 100.0)),
    ("max_torque_rate", 100.0, (50.0, 100.0)),
    ("max_torque_rate", (100.0, 80.0), 50.0),
    ("max_tracking_error", 0.0, 0.5),
    ("max_pose_error", (0.0, 0.5), (0.2, 0.5)),
    ("state_timeout", 1.0, 0.1),
    ("max_state_age", 0.0, 0.5),
    ("position_limit_margin", 1.0, 0.1),
    ("max_reference_acceleration", 100.0, 50.0),
    ("trajectory.path_tolerance", 0.0, 0.1),
    ("law_input_time", 0.1, 0.2),
    ("twist_max_speed", (0.2, 0.5), (0.1, 0.5)),
    ("joint_limit_margin", 0.05, 0.1),
    ("joint_limit_effort", 0.0, 0.5),
    ("reference_timeout", 0.0, 0.5),
    ("friction.travel", 0.0, 1.0),
    ("allow_several_publishers", True, False),
    ("collision_threshold", 0.0, 10.0),
    ("collision_speed_factor", 1.0, 0.0),
]


def refusal_of_change(lock: str, enabled: bool, name: str, before: Any, after: Any) -> str:
    """The refusal of a change, or "" if it is accepted."""
    # Collision thresholds need a source of efforts.
    source = "message" if name.startswith("collision") else "none"
    first = Settings.of({"lock": lock, "effort_source": source, name: before})
    try:
        check_lock(first, first.with_changes({name: after}), enabled)
    except ValueError as error:
        return str(error)
    return ""


def test_all_safety_parameters_are_tested() -> None:
    """Each safety parameter is one of the node's, and has a wider value here."""
    assert set(SAFETY) == {name for name, _, _ in WIDER}
    assert set(SAFETY) <= set(BY_NAME) and not any(BY_NAME[name].fixed for name in SAFETY)
    assert BY_NAME["lock"].fixed, "or whoever may set parameters unlocks them first"
    assert Settings.of().lock == "enabled"


WIDTHS: dict[str, Callable[[float], float]] = {
    "torque_scale": lambda x: x,
    "effort_limits": lambda x: x or math.inf,
    "max_torque_rate": lambda x: x or math.inf,
    "ramp_time": lambda x: -x,
}
"""A number that grows as a value permits more, for one parameter of each order."""


@pytest.mark.parametrize("name", WIDTHS)
def test_a_value_is_accepted_if_it_is_narrower_or_equal(name: str) -> None:
    """The rule holds for single numbers and in a list. A derived rate only counts as narrower than
    no rate."""
    width, taken = WIDTHS[name], SAFETY[name]
    for before, after in product((0.0, 0.01, 0.5, 1.0, 1.5, 100.0), repeat=2):
        narrows = width(after) <= width(before)
        assert taken(before, after) == narrows, (before, after)
        assert taken((before, 1.0), (after, 1.0)) == narrows, (before, after)
        if name == "max_torque_rate":
            assert taken(before, -1.0) == (before == 0.0) and not taken(-1.0, after)
            assert taken(-1.0, -1.0)


@pytest.mark.parametrize(("name", "before", "after"), WIDER)
def test_a_wider_value_is_refused_while_locked(name: str, before: Any, after: Any) -> None:
    """The default lock holds while a robot is enabled.

    "always" holds at all times and "never" at no time.
    """
    refused = refusal_of_change("enabled", True, name, before, after)
    assert refused.startswith(f"{name} cannot be widened while a robot is enabled: disable first")
    assert refusal_of_change("enabled", False, name, before, after) == ""
    assert "restart the node" in refusal_of_change("always", False, name, before, after)
    assert refusal_of_change("never", True, name, before, after) == ""


@pytest.mark.parametrize(("name", "before", "after"), NARROWER)
def test_a_narrower_value_is_accepted(name: str, before: Any, after: Any) -> None:
    assert refusal_of_change("enabled", True, name, before, after) == ""
    assert refusal_of_change("always", True, name, before, after) == ""


def test_other_parameters_are_not_locked() -> None:
    """Gains, mode, gravity and payload are changed in normal use."""
    for name, after in (("kp", 200.0), ("gravity", (0.0, 0.0, 9.81)), ("mode", "computed_torque")):
        assert refusal_of_change("always", True, name, getattr(Settings.of(), name), after) == ""


def test_an_enabled_robot_keeps_its_limits() -> None:
    """A refused change has no effect, even where part of it would be narrower."""
    settings = panda_settings(ramp_time=0.0, effort_limits=50.0)
    supervisor = Supervisor(settings)
    assert supervisor.models.request(settings)
    while supervisor.step(0.0) is Event.NOTHING:
        time.sleep(0.002)
    (robot,) = supervisor.robots
    feed(robot, 0.0)
    assert supervisor.enable([0], True, 0.0, 0.0)[0]
    before = supervisor.settings
    with pytest.raises(ValueError, match="effort_limits cannot be widened while a robot"):
        supervisor.change({"torque_scale": 0.5, "effort_limits": 1e6})
    assert supervisor.settings is before
    supervisor.change({"effort_limits": 20.0})
    supervisor.enable([0], False, 0.0, 0.0)
    supervisor.change({"effort_limits": 30.0})
    assert supervisor.settings.effort_limits == 30.0
