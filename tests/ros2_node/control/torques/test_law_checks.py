"""Laws and inputs that are refused, before compilation or while the law runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import (
    MODEL,
    Q,
    chain_text,
    fault_of,
    feed,
    launch,
    loss_of,
    panda_settings,
)
from law_files import law_file, law_fleet  # noqa: F401  a fixture

import warpdyn as wd
from ros2_node.control.fleet import Fleet, check_robot
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.torques.law import check_largest


def test_a_nonfinite_torque_of_a_law_is_a_fault(file):
    """It is never sent. A stale state ends the commands too."""
    fleet = law_fleet(file, "rooted", law_inputs__gain=1.0, stale_action="zero")
    robot = fleet.robots[0]
    feed(robot, 0.0, Q, 0 * Q)
    robot.enable(0.0, 0.0)
    assert launch(fleet, robot, 0.0)[1] is not None
    fleet.change(fleet.settings.with_changes({"law_inputs.gain": -1.0}))
    feed(robot, 0.01, Q, 0 * Q)
    assert launch(fleet, robot, 0.01) == (False, None)
    assert fault_of(robot) == (
        f"the computed torque of {', '.join(MODEL.v_names[1:7])} is not finite: law {file}:rooted has no "
        "number for this state and these inputs"
    )
    fleet.change(fleet.settings.with_changes({"law_inputs.gain": 1.0}))
    while robot.watch(0.02, 0.02) is not None:
        pass
    robot.reset()
    feed(robot, 0.03, Q, 0 * Q)
    assert robot.enable(0.03, 0.03)[0]
    robot.watch(1.0, 1.0)
    assert not robot.is_enabled and loss_of(robot).startswith("no valid joint_states")


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("nothing", {}, r"law: .*my_laws.py has no kernel 'nothing'; it has impedance"),
        ("impedance", {}, r"needs law_options: frame=\.\.\."),
        ("impedance", {"law_options": ["frame"]}, r"law_options: options are NAME=VALUE"),
        ("impedance", {"law_options": ["fame=a"]}, r"law_options: impedance has no option 'fame'"),
        (
            "impedance",
            {"law_options": ["frame=panda_hand"]},
            r"needs the parameter law_inputs.target: 3 numbers",
        ),
        (
            "impedance",
            {"law_options": ["frame=nix"], "law_inputs__target": [0.0, 0.0, 0.0]},
            r"panda has no link named 'nix'",
        ),
        ("tracking", {"law_inputs__kd": 3.0}, r"has no input 'kd' .*; it has kp"),
        ("tracking", {"gravity": [0.0, 0.0, -1.62]}, r"no argument gravity: \(3,\)"),
        ("shaped", {"law_inputs__k": -1.0, "law_inputs__K": [1.0, 1.0]}, r"law .*: k must push"),
        ("placed", {"law_options": ["link=panda_hand"]}, r"it needs an option frame"),
        ("two", {}, r"must return one array of shape \(nv,\) = \(8,\), .*; got \(8,\), \(8,\)"),
        ("short", {}, r"must return one array of shape \(nv,\) = \(8,\), .*; got \(3,\)"),
        ("odd", {}, r"v comes from the node with shape \('nv',\), not \(3,\)"),
        ("deciding", {}, r"my_laws.py:\d+: a Python `if`"),
    ],
)
def test_an_invalid_law_is_refused_before_compilation(file, name, values, said):
    settings = panda_settings(law=f"{file}:{name}", **values)
    with pytest.raises(ValueError, match=said):
        check_robot(MODEL, settings)
    with pytest.raises(ValueError, match=said):
        Fleet(settings, "", [Counter()])


def test_a_law_refuses_flat_batches(file):
    fleet = law_fleet(file, "rooted", law_inputs__gain=1.0)
    with pytest.raises(ValueError, match="this node has a law"):
        fleet.batch.robots_in(16, ())


def test_a_users_law_accepts_finite_inputs_up_to_its_maximum(file):
    """`largest_NAME` next to the kernel sets a maximum."""
    check_robot(MODEL, panda_settings(law=f"{file}:rooted", law_inputs__gain=1e200))
    for bad in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match=r"law_inputs.gain must (be finite|lie)"):
            panda_settings(law=f"{file}:rooted", law_inputs__gain=bad)
    with pytest.raises(ValueError, match="bounded: gain must be at most 5, got 6"):
        check_robot(MODEL, panda_settings(law=f"{file}:bounded", law_inputs__gain=-6.0))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise KeyError('stiffnes')", "check_pulling raises KeyError: 'stiffnes'"),
        ("return inputs['gain'] < 3.0", "check_pulling must raise a ValueError .* it returned"),
        ("\n\nlargest_pulling = {'gian': 3.0}", "gian has a largest number .* which are gain"),
    ],
)
def test_a_check_with_an_error_refuses_and_does_not_stop_a_robot(line, said, tmp_path):
    """An exception of another kind would be a fault. A returned truth value would have no effect."""
    path = tmp_path / "my_laws.py"
    text = "import warpdyn as wd\n\n\n@wd.kernel\ndef pulling(robot, q, v, gain: () = 2.0):\n"
    text += f"    return gain * v\n\n\ndef check_pulling(inputs):\n    {line}\n"
    path.write_text(text.replace("(inputs):\n    \n", "(inputs):\n    pass\n"))
    with pytest.raises(ValueError, match=f"pulling: {said}"):
        check_robot(MODEL, panda_settings(law=f"{path}:pulling"))


def test_a_law_with_an_unknown_link_is_refused():
    settings = panda_settings(
        law="cartesian_impedance", law_options=["frame=nix"], law_inputs__stiffness=[1.0] * 6
    )
    with pytest.raises(ValueError, match=r"frame=nix: panda has no such link; it has panda_link0"):
        check_robot(MODEL, settings)


def test_the_refusal_lists_at_most_forty_links():
    settings = Settings.of(
        {
            "robot_description": chain_text(42),
            "law": "cartesian_impedance",
            "law_options": ["frame=nix"],
            "law_inputs.stiffness": [1.0] * 6,
        }
    )
    links = ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        check_robot(wd.load_urdf(chain_text(42)), settings)
    assert str(error.value) == (f"law_options frame=nix: chain has no such link; it has {links}")


def test_an_input_may_be_as_large_as_its_law_allows():
    """NaN exceeds every bound."""
    check_largest({"gain": np.array([5.0, -5.0])}, {"gain": 5.0})
    for x in (5.0625, -5.0625, np.nan):
        with pytest.raises(ValueError, match=f"gain must be at most 5, got {abs(x):g}"):
            check_largest({"gain": np.array([1.0, x])}, {"gain": 5.0})


def massless_chain():
    """URDF of a chain of two joints whose last link has no mass."""
    inertial = chain_text(1).partition("<inertial>")[2].partition("</inertial>")[0]
    text = chain_text(2)
    last = text.rindex(f"<inertial>{inertial}</inertial>")
    return text[:last] + text[last:].replace(f"<inertial>{inertial}</inertial>", "", 1)


IMPEDANCE = {"law": "joint_impedance", "law_inputs.stiffness": 5.0}
CARTESIAN = {
    "law": "cartesian_impedance",
    "law_options": ("frame=l2",),
    "law_inputs.stiffness": (5.0,) * 6,
}


@pytest.mark.parametrize("values", [{"law": "teaching"}, IMPEDANCE, CARTESIAN])
def test_a_refused_law_names_the_joints_that_move_no_mass(values):
    """Laws that divide by inertias have no torques. ~/enable must not come that far."""
    settings = Settings.of({"robot_description": massless_chain(), **values})
    with pytest.raises(ValueError, match=r"; the description has no mass beyond j1$"):
        Fleet(settings, "", [Counter()])


def test_a_load_that_is_put_down_may_leave_a_joint_without_mass():
    """The fault names the joint, and the law has torques while there is a load."""
    load = {"payload.link": "l2", "payload.mass": 1.0, "payload.inertia": (0.1, 0, 0, 0.1, 0, 0.1)}
    values = {"robot_description": massless_chain(), "unlimited_effort": True, **IMPEDANCE, **load}
    fleet = Fleet(Settings.of(values), "", [Counter()])
    (robot,) = fleet.robots
    q, rest = [0.1, 0.2], [0.0, 0.0]
    assert robot.read(["j0", "j1"], q, rest, 1, 0.0) and robot.enable(0.0, 0.0)[0]
    assert launch(fleet, robot, 0.0)[1] is not None
    inertia = (0.0,) * 6
    fleet.change(Settings.of({**values, "payload.mass": 0.0, "payload.inertia": inertia}))
    assert robot.read(["j0", "j1"], q, rest, 2, 0.01)
    assert launch(fleet, robot, 0.01) == (False, None)
    assert fault_of(robot).startswith("the computed torque of j0, j1 is not finite")
    assert fault_of(robot).endswith("; the description has no mass beyond j1")
