"""Models and parameters that do not fit each other are refused before anything is compiled."""

from __future__ import annotations

from collections import Counter

import pytest
from fleets import MODEL, panda_settings, wheel_text

import warpdyn as wd
from ros2_node.control.fleet import Fleet
from ros2_node.control.robot_check import check_robot
from ros2_node.control.settings.node_settings import PARAMETERS

FELT = {"effort_source": "message"}
BAD = [
    ("JointStates", {"joints": ["nose"]}, "'nose'"),
    ("command_joints", {"command_joints": ["nose"]}, "'nose', which is not among the joints read"),
    ("TorqueOutput", {"torque_scale": [1.0]}, "torque_scale has 1 numbers"),
    ("JointLimits", {"joint_limit_margin": [0.1]}, "joint_limit_margin has 1 numbers"),
    ("Setpoint", {"kp": [1.0]}, "kp has 1 numbers"),
    ("FrictionCompensation", {"friction__coulomb": [1.0]}, "friction.coulomb has 1 numbers"),
    ("Payload", {"payload__link": "nose", "payload__mass": 1.0}, "payload.link 'nose'"),
    ("Law", {"law": "nothing.py:law"}, "law: "),
    ("PolicyLaw", {"policy": "nothing.onnx"}, "policy: nothing.onnx"),
    (
        "PoseReference",
        {"law": "cartesian_impedance", "law_options": ["frame=nose"]},
        "panda has no such link",
    ),
    (
        "ExternalTorques",
        {**FELT, "external_wrench_link": "nose"},
        "external_wrench_link 'nose' is not a link",
    ),
    (
        "CollisionGuard",
        {**FELT, "collision_threshold": [1.0]},
        "collision_threshold has 1 numbers",
    ),
]
"""Part of a robot, settings that it cannot use, and a text of the refusal."""


def bound(*arguments):
    """In the place of what binds and compiles a kernel."""
    raise AssertionError("a kernel was bound")


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"mode": "computed_torque"},
        {"law": "joint_impedance", "law_inputs__stiffness": 10.0, "law_inputs__damping": 1.0},
        {
            "law": "cartesian_impedance",
            "law_options": ["frame=panda_hand"],
            "law_inputs__stiffness": [10.0] * 6,
        },
        {**FELT, "external_wrench_link": "panda_hand"},
        {"payload__link": "panda_hand", "payload__mass": 1.0},
    ],
)
def test_settings_that_fit_pass_and_no_kernel_is_bound(values, monkeypatch):
    monkeypatch.setattr("warpdyn.execution.batched._bind", bound)
    check_robot(MODEL, panda_settings(**values))


@pytest.mark.parametrize(("values", "said"), [x[1:] for x in BAD], ids=[x[0] for x in BAD])
def test_a_bad_setting_of_each_part_is_found(values, said):
    """With the text of the build."""
    settings = panda_settings(**values)
    with pytest.MonkeyPatch.context() as change, pytest.raises(ValueError, match=said) as found:
        change.setattr("warpdyn.execution.batched._bind", bound)
        check_robot(MODEL, settings)
    with pytest.raises(ValueError) as built:
        Fleet(settings, "", [Counter()])
    assert str(found.value) == str(built.value)


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.per_joint], ids=lambda p: p.name)
def test_a_list_of_the_wrong_length_is_found_whatever_parameter_has_it(parameter):
    """Every parameter that takes a number for each joint."""
    number = max(parameter.low or 0.0, 0.0)
    settings = panda_settings(**FELT, **{parameter.name: [number] * 3})
    with pytest.raises(ValueError, match=f"{parameter.name} has 3 numbers"):
        check_robot(MODEL, settings)


def test_what_does_not_fit_another_robot_is_refused_before_it_is_built():
    """Lists of friction and thresholds, and the link of the wrench, with the parameter's name."""
    for values, said in (
        ({"friction__coulomb": [1.0] * 8}, "friction.coulomb has 8 numbers"),
        ({**FELT, "collision_threshold": [1.0] * 8}, "collision_threshold has 8 numbers"),
        ({**FELT, "external_wrench_link": "panda_hand"}, "external_wrench_link 'panda_hand'"),
    ):
        check_robot(MODEL, panda_settings(**values))
        with pytest.raises(ValueError, match=said):
            check_robot(wd.load_urdf(wheel_text()), panda_settings(**values))
