"""Robots that share a model: checked before they are built, then computed, changed and blended
together."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, Q, feed, launch, panda_fleet, panda_settings, wheel_text

import warpdyn as wd
from ros2_node.control.fleet import Fleet, check_robot
from ros2_node.control.settings.node_settings import PARAMETERS, Settings

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


def test_robots_of_a_fleet_do_not_affect_each_other():
    """Each torque depends only on the robot's own state, and enabling one robot enables no
    other."""
    three = panda_fleet(3)
    for k, robot in enumerate(three.robots):
        feed(robot, 0.0, Q * (k + 1) / 3)
    three.compute()
    for k, robot in enumerate(three.robots):
        q = Q * (k + 1) / 3
        np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)
    three.robots[1].enable(0.0, 0.0)
    assert [r.is_enabled for r in three.robots] == [False, True, False] and not three.idle


def test_mode_and_lists_are_checked_against_the_robot(shared_fleet, robot):
    """A list of the wrong length, or a new mode while enabled, is refused and changes nothing."""
    with pytest.raises(ValueError, match="8 command joints"):
        shared_fleet.change(panda_settings(torque_scale=[1.0, 1.0]))
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    with pytest.raises(ValueError, match="while enabled"):
        shared_fleet.change(panda_settings(mode="computed_torque"))


def test_mode_gravity_discards_reference_accelerations():
    """The torques contain none of the reference that the robot followed before."""
    fleet = panda_fleet(mode="computed_torque", reference_timeout=0.0)
    (robot,), still = fleet.robots, 0 * Q
    feed(robot, 0.0, v=still)
    assert (
        robot.enable(0.0, 0.0)[0] and robot.refer(list(NAMES), (Q, still, still + 0.5), 0.0) is None
    )
    feed(robot, 0.01, v=still)
    launch(fleet, robot, 0.01)
    assert robot.state.a.all()
    robot.disable(0.02)
    while robot.stop_step(1e9) is not None:
        pass
    fleet.change(fleet.settings.with_changes({"mode": "gravity"}))
    fleet.compute()
    np.testing.assert_allclose(robot.state.torque, wd.gravity_torques(MODEL, Q), atol=1e-12)


def test_a_new_payload_blends_in_without_a_step():
    """Commands move linearly from the old model's torques to the new one's."""
    old = panda_fleet(ramp_time=1.0)
    robot = old.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, -10.0)
    light = launch(old, robot, 0.0)[1].copy()
    settings = panda_settings(
        ramp_time=1.0, payload__link="panda_hand", payload__mass=2.0, payload__com=[0, 0, 0.1]
    )
    new = Fleet(settings, "", [Counter()], model=old.dynamics.model)
    assert old.can_blend_to(new)
    old.blend_to(new)
    heavy = wd.rnea(MODEL.with_payload("panda_hand", 2.0, (0, 0, 0.1)), Q, 0 * Q, 0 * Q)
    for t, share in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 1.0)):
        feed(robot, t)
        np.testing.assert_allclose(
            launch(old, robot, t)[1], light + share * (heavy - light), atol=1e-9
        )


def test_gravity_may_change_while_running(shared_fleet, robot):
    """The change applies to rows and to the batch, and no kernel is rebuilt."""
    moon = panda_settings(gravity=[0.0, 0.0, -1.62])
    feed(robot, 0.0)
    shared_fleet.change(moon)
    launch(shared_fleet, robot, 0.0)
    expected = wd.rnea(MODEL, Q, 0 * Q, 0 * Q, gravity=(0.0, 0.0, -1.62))
    np.testing.assert_allclose(robot.state.torque, expected, atol=1e-9)
    np.testing.assert_allclose(
        shared_fleet.batch.compute(np.stack([Q, 0 * Q])[None])[0], expected, atol=1e-9
    )


def test_parts_are_checked_with_the_model_and_then_warmed():
    """A refusal by a part ends the build before anything is compiled. Otherwise all kernels run
    once with the real arrays."""
    calls = []

    class Nothing:
        def check(self, model):
            calls.append(("check", model.name))
            if len(calls) > 2:
                raise ValueError("no such link")

        def warm(self, dynamics):
            calls.append(("warm", dynamics.state.q.shape))

    built = Fleet(panda_settings(), "", [Counter(), Counter()], Nothing())
    assert calls == [("check", "panda"), ("warm", (2, MODEL.nq))] and len(built.robots) == 2
    with pytest.raises(ValueError, match="no such link"):
        Fleet(panda_settings(), "", [Counter()], Nothing())
    assert calls[2:] == [("check", "panda")]


def test_only_the_same_model_can_blend():
    """Another model, even of the same text, needs a stop first."""
    panda = panda_fleet()
    same = Fleet(panda_settings(), "", [Counter()], model=panda.dynamics.model)
    assert panda.can_blend_to(same) and not panda.can_blend_to(panda_fleet())


def command_at(fleet, robot, t):
    feed(robot, t)
    return launch(fleet, robot, t)[1].copy()


@pytest.mark.parametrize(
    "change",
    [
        {"gravity": [0.0, 0.0, 9.81]},
        {"payload.mass": 20.0},
        {"payload.inertia": [5.0, 0.0, 0.0, 5.0, 0.0, 5.0], "payload.mass": 5.0},
        {"torque_scale": 0.3},
        {"effort_limit_scale": 0.05},
        {"kp": 1e4},
    ],
)
def test_no_parameter_makes_a_step_in_the_commands(change):
    """A change of tens of N·m takes the ramp time instead of one cycle."""
    start = {"mode": "computed_torque", "payload.link": "panda_hand", "velocity_source": "zero"}
    settings = panda_settings(**{k.replace(".", "__"): x for k, x in start.items()})
    fleet = Fleet(settings, "", [Counter()])
    robot = fleet.robots[0]
    feed(robot, 0.0, Q - 0.05)
    robot.enable(0.0, -10.0)
    before = command_at(fleet, robot, 0.0)
    fleet.change(settings.with_changes(change))
    first = command_at(fleet, robot, 1e-3)
    np.testing.assert_allclose(first, before, atol=0.2)
    commands = [command_at(fleet, robot, 1e-3 * k) for k in range(2, 1100)]
    assert np.abs(commands[-1] - before).max() > 3.0, "the change is there in the end"
    steps = np.abs(np.diff([first, *commands], axis=0)).max()
    assert steps <= 1.1e-3 * np.abs(commands[-1] - first).max() + 1e-9


def test_effort_limits_cannot_be_removed_while_enabled():
    """The limits with which ~/enable was called remain."""
    values = {"robot_description": wheel_text("revolute"), "effort_limits": 5.0}
    fleet = Fleet(Settings.of(values), "", [Counter()])
    robot = fleet.robots[0]
    robot.read(["spin"], [0.0], [], 0, 0.0)
    assert robot.enable(0.0, 0.0)[0]
    with pytest.raises(ValueError, match="while enabled, spin cannot do without effort limits"):
        fleet.change(Settings.of({**values, "effort_limits": 0.0}))
    assert fleet.robots[0].output.limit == 5.0


def test_stop_reaches_every_enabled_robot():
    """The fleet is idle only after all stop sequences have ended."""
    two = panda_fleet(2, ramp_time=0.0)
    for robot in two.robots:
        feed(robot, 0.0)
        robot.enable(0.0, 0.0)
    two.stop(0.0)
    assert not any(r.is_enabled for r in two.robots) and not two.idle
    for robot in two.robots:
        while robot.stop_step(1.0) is not None:
            pass
    assert two.idle


def fail_to_bind(*arguments):
    """Replace the function that binds and compiles a kernel, and fail."""
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
def test_valid_settings_are_accepted_without_binding_a_kernel(values, monkeypatch):
    monkeypatch.setattr("warpdyn.execution.batched._bind", fail_to_bind)
    check_robot(MODEL, panda_settings(**values))


@pytest.mark.parametrize(("values", "said"), [x[1:] for x in BAD], ids=[x[0] for x in BAD])
def test_a_bad_setting_of_each_part_is_found(values, said):
    """The text is the same as that of the build."""
    settings = panda_settings(**values)
    with pytest.MonkeyPatch.context() as change, pytest.raises(ValueError, match=said) as found:
        change.setattr("warpdyn.execution.batched._bind", fail_to_bind)
        check_robot(MODEL, settings)
    with pytest.raises(ValueError) as built:
        Fleet(settings, "", [Counter()])
    assert str(found.value) == str(built.value)


@pytest.mark.parametrize("parameter", [p for p in PARAMETERS if p.per_joint], ids=lambda p: p.name)
def test_a_list_of_the_wrong_length_is_refused_in_every_parameter(parameter):
    """The test covers every parameter that takes a number for each joint."""
    number = max(parameter.low or 0.0, 0.0)
    settings = panda_settings(**FELT, **{parameter.name: [number] * 3})
    with pytest.raises(ValueError, match=f"{parameter.name} has 3 numbers"):
        check_robot(MODEL, settings)


def test_settings_of_another_robot_are_refused_before_the_build():
    """The refusals name the parameters: lists of friction and thresholds, and the link of the
    wrench."""
    for values, said in (
        ({"friction__coulomb": [1.0] * 8}, "friction.coulomb has 8 numbers"),
        ({**FELT, "collision_threshold": [1.0] * 8}, "collision_threshold has 8 numbers"),
        ({**FELT, "external_wrench_link": "panda_hand"}, "external_wrench_link 'panda_hand'"),
    ):
        check_robot(MODEL, panda_settings(**values))
        with pytest.raises(ValueError, match=said):
            check_robot(wd.load_urdf(wheel_text()), panda_settings(**values))
