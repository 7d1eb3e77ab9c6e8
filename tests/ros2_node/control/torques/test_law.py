"""A user's kernel as the law: its inputs, its limits, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fleets import (
    MODEL,
    NAMES,
    Q,
    fault_of,
    feed,
    launch,
    panda_fleet,
    panda_settings,
    wheel_text,
)
from law_files import law_file, law_fleet  # noqa: F401  a fixture

import warpdyn as wd
from ros2_node.control.fleet import Fleet, check_robot
from ros2_node.control.settings.law_settings import LAWS
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.torques.device_launch import DeviceLaunch
from ros2_node.control.torques.law import inputs_of, kernel_of_law

RNEA = wd.rnea


def impedance_fleet(file: Path, robots: int = 1, **values) -> Fleet:
    values = {"law_inputs__target": [0.4, 0.1, 0.5], **values}
    options = ["frame=panda_hand", "stiffness=300"]
    return law_fleet(file, "impedance", robots, law_options=options, **values)


def wanted_impedance(q, v, target, model=MODEL):
    J = wd.jacobian(model, q, frame="panda_hand", reference="local_world_aligned")[:3]
    error = np.array(target) - wd.fk(model, q, frame="panda_hand")[:3, 3]
    return wd.gravity_torques(model, q) + J.T @ (300.0 * error - 40.0 * (J @ v))


def test_the_law_computes_the_torques_of_all_robots(file):
    """One launch uses its options, its inputs from parameters, and the load."""
    load = {"payload__link": "panda_hand", "payload__mass": 2.0, "payload__com": [0.0, 0.0, 0.1]}
    fleet = impedance_fleet(file, 3, **load)
    v = np.linspace(-0.1, 0.1, MODEL.nv)
    for k, robot in enumerate(fleet.robots):
        feed(robot, 0.0, Q * (k + 1) / 3, v)
    fleet.compute()
    loaded_model = MODEL.with_payload("panda_hand", 2.0, (0, 0, 0.1))
    for k, robot in enumerate(fleet.robots):
        wanted = wanted_impedance(Q * (k + 1) / 3, v, [0.4, 0.1, 0.5], loaded_model)
        np.testing.assert_allclose(robot.state.torque, wanted, atol=1e-9)


def test_a_law_needs_velocities(file):
    """A state without them is rejected, as in the modes that use some."""
    robot = impedance_fleet(file).robots[0]
    assert not feed(robot, 0.0) and robot.counts["missing_velocity"] == 1


def test_references_reach_the_law_and_other_joints_are_held(file):
    """The wanted motion is that of ~/reference. Before a reference, and at ~/enable, it is the
    present position."""
    fleet = law_fleet(file, "tracking", law_inputs__kp=50.0, state_timeout=1.0)
    robot, v = fleet.robots[0], np.full(MODEL.nv, 0.1)
    way = np.array([0.05] * 7 + [0.015])
    feed(robot, 0.0, Q, v)
    fleet.compute()
    wanted = RNEA(MODEL, Q, v, -20.0 * v)
    np.testing.assert_allclose(robot.state.torque, wanted, atol=1e-9)
    assert robot.enable(0.0, 0.0)[0]
    assert robot.refer(NAMES, (Q + way, 0.5 * v, 2.0 * v), 0.0) is None
    feed(robot, 0.01, Q, v)
    fleet.compute()
    wanted = RNEA(MODEL, Q, v, 2.0 * v + 50.0 * way - 20.0 * 0.5 * v)
    np.testing.assert_allclose(robot.state.torque, wanted, atol=1e-9)
    feed(robot, 0.9, Q, v)  # the reference is old: it rests at its position
    fleet.compute()
    wanted = RNEA(MODEL, Q, v, 50.0 * way - 20.0 * v)
    np.testing.assert_allclose(robot.state.torque, wanted, atol=1e-9)


def test_max_tracking_error_applies_only_to_laws_that_track(file):
    """A law tracks if it reads q_desired."""
    for name, options in (("tracking", []), ("impedance", ["frame=panda_hand"])):
        inputs = {} if name == "tracking" else {"law_inputs__target": [0.4, 0.0, 0.5]}
        fleet = law_fleet(file, name, law_options=options, state_timeout=9.0, **inputs)
        robot = fleet.robots[0]
        feed(robot, 0.0, Q, 0 * Q)
        assert robot.enable(0.0, 0.0)[0]
        far = Q.copy()
        far[0] += 0.6
        assert feed(robot, 0.9, far, 0 * Q)
        launch(fleet, robot, 0.9)
        assert ("more than max_tracking_error" in fault_of(robot)) is (name == "tracking")
        jumped = robot.refer(NAMES[:1], ([Q[0] + 2.0], [], []), 0.9) == "reference_too_far"
        assert jumped is False, "a robot that has stopped takes any reference"


def test_a_law_gets_wrench_gravity_and_shared_inputs(file):
    """The node passes its own values by name. One array may serve all robots."""
    bias = [0.5] * MODEL.nv
    fleet = law_fleet(file, "pushed", 2, law_inputs__bias=bias, gravity=[0.0, 0.0, -1.62])
    for robot in fleet.robots:
        feed(robot, 0.0, Q, 0 * Q)
    fleet.robots[1].wrench.read("panda_hand", (1.0, 2.0, 3.0), (0.0, 0.1, 0.2), 0.0)
    fleet.compute()
    f_ext = np.zeros((MODEL.nlinks, 6))
    f_ext[MODEL.link_index("panda_hand")] = [1.0, 2.0, 3.0, 0.0, 0.1, 0.2]
    for robot, push in zip(fleet.robots, (0 * f_ext, f_ext), strict=True):
        wanted = RNEA(MODEL, Q, 0 * Q, 0 * Q, f_ext=push, gravity=(0.0, 0.0, -1.62)) + 0.5
        np.testing.assert_allclose(robot.state.torque, wanted, atol=1e-9)


def test_commands_of_a_law_are_limited_and_ramped(file):
    """They are treated as the built-in torques."""
    fleet = impedance_fleet(file, effort_limit_scale=0.05)
    robot = fleet.robots[0]
    feed(robot, 0.0, Q, 0 * Q)
    robot.enable(0.0, -10.0)
    showable, command = launch(fleet, robot, 0.0)
    limit = 0.05 * MODEL.effort_limit
    wanted = wanted_impedance(Q, 0 * Q, [0.4, 0.1, 0.5])
    assert showable and (np.abs(wanted) > limit).any()
    np.testing.assert_allclose(command, np.clip(wanted, -limit, limit), atol=1e-9)
    ramped = panda_fleet(
        law=f"{file}:impedance",
        law_options=["frame=panda_hand", "stiffness=300"],
        law_inputs__target=[0.4, 0.1, 0.5],
        ramp_time=1.0,
    )
    robot = ramped.robots[0]
    feed(robot, 0.0, Q, 0 * Q)
    robot.enable(0.0, 0.0)
    feed(robot, 0.05, Q, 0 * Q)
    limit = MODEL.effort_limit
    np.testing.assert_allclose(
        launch(ramped, robot, 0.05)[1], np.clip(0.05 * wanted, -limit, limit), atol=1e-9
    )


def test_an_input_changes_without_a_step(file):
    """Commands change from the old target's torques to the new one's within the ramp time."""
    values = {"law_options": ["frame=panda_hand", "stiffness=100"], "ramp_time": 1.0}
    fleet = panda_fleet(law=f"{file}:impedance", law_inputs__target=[0.4, 0.0, 0.5], **values)
    robot = fleet.robots[0]

    def command_at(t):
        feed(robot, t, Q, 0 * Q)
        return launch(fleet, robot, t)[1].copy()

    feed(robot, 0.0, Q, 0 * Q)
    robot.enable(0.0, -10.0)
    before = command_at(0.0)
    fleet.change(fleet.settings.with_changes({"law_inputs.target": [0.4, 0.1, 0.6]}))
    first, half, last = command_at(0.001), command_at(0.501), command_at(1.1)
    assert np.abs(last - before).max() > 1.0
    np.testing.assert_allclose(first, before, atol=1e-9)
    np.testing.assert_allclose(half, (before + last) / 2, atol=1e-9)
    with pytest.raises(ValueError, match=r"law_inputs.target must be 3 numbers.*got 2"):
        fleet.change(fleet.settings.with_changes({"law_inputs.target": [0.4, 0.1]}))
    np.testing.assert_allclose(command_at(1.2), last, atol=1e-9)


def test_inputs_are_the_arguments_that_the_node_does_not_provide(file):
    """A law is loaded once, so that every robot has the same kernel."""
    assert inputs_of(kernel_of_law(f"{file}:impedance")) == ["target"]
    assert inputs_of(kernel_of_law(f"{file}:tracking")) == ["kp"]
    assert kernel_of_law(f"{file}:tracking") is kernel_of_law(f"{file}:tracking")


def test_a_misspelt_law_is_refused_with_the_names() -> None:
    with pytest.raises(
        ValueError, match=r"law must be one of .*joint_impedance.*'joint_impedence'"
    ):
        kernel_of_law("joint_impedence")


def test_a_law_gives_the_same_torques_on_a_device(file):
    """Arrays are copied as for the built-in torques, with options, shared inputs and changed
    inputs."""
    fleet = law_fleet(file, "pushed", 2, law_inputs__bias=[0.5] * MODEL.nv)
    law, state = fleet.dynamics.law, fleet.dynamics.state
    out = np.full_like(state.torque, np.nan)
    launch_there = DeviceLaunch(
        law.kernel, MODEL, "cpu", law.inputs, out, tuple(law.inputs), None, law.options
    )
    for bias in (0.5, 2.0):
        fleet.change(fleet.settings.with_changes({"law_inputs.bias": [bias] * MODEL.nv}))
        fleet.compute()
        launch_there()
        np.testing.assert_allclose(out, state.torque, atol=1e-9)
    impedance = impedance_fleet(file).dynamics
    out = np.full_like(impedance.state.torque, np.nan)
    inputs, options = impedance.law.inputs, impedance.law.options
    DeviceLaunch(impedance.law.kernel, MODEL, "cpu", inputs, out, ("q",), None, options)()
    np.testing.assert_allclose(out, impedance.state.torque, atol=1e-9)


def test_one_number_applies_to_all_joints_and_n_to_the_diagonal(file):
    """This holds for arrays ("nv",) and for square matrices. A matrix may also be given row by
    row."""
    fleet = law_fleet(file, "shaped", law_inputs__k=2.0, law_inputs__K=[3.0, 4.0])
    feed(fleet.robots[0], 0.0, Q, 0 * Q)

    def torque():
        fleet.compute()
        return fleet.robots[0].state.torque.copy()

    np.testing.assert_allclose(torque(), 14.0)
    fleet.change(fleet.settings.with_changes({"law_inputs.K": [3.0, 1.0, 0.0, 4.0]}))
    np.testing.assert_allclose(torque(), 34.0)
    with pytest.raises(ValueError, match=r"law_inputs.K must be 4 numbers, .*; got 3"):
        fleet.change(fleet.settings.with_changes({"law_inputs.K": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match=r"law .*:shaped: k must push"):
        fleet.change(fleet.settings.with_changes({"law_inputs.k": [1.0] * 7 + [-1.0]}))
    np.testing.assert_allclose(torque(), 34.0)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("joint_impedance", {"law_inputs__stiffness": -1.0}, "stiffness must be at least 0"),
        ("joint_impedance", {}, "needs .*inputs.stiffness: 8 numbers, or one for all joints"),
        (
            "cartesian_impedance",
            {"law_options": ["frame=panda_hand"]},
            "needs .*inputs.stiffness: 36 numbers, or 6 for its diagonal",
        ),
        ("teaching", {"law_inputs__max_speed": -1.0}, "max_speed must be at least 0"),
        (
            "joint_impedance",
            {"law_inputs__stiffness": 1e9},
            r"stiffness must be at most 100000, got 1e\+09: is its unit right\?",
        ),
        (
            "cartesian_impedance",
            {"law_options": ["frame=panda_hand"], "law_inputs__stiffness": [1e9] * 6},
            r"stiffness must be at most 100000, got 1e\+09",
        ),
        ("teaching", {"law_inputs__coupling": 1e9}, r"coupling must be at most 100000"),
    ],
)
def test_the_laws_of_the_node_are_ordinary_kernels(name, values, said):
    """They are found by their short names and by their modules. Inputs that would drive the arm are
    refused."""
    assert kernel_of_law(name).text is kernel_of_law(LAWS[name]).text
    with pytest.raises(ValueError, match=f"law {name}.*{said}"):
        check_robot(MODEL, panda_settings(law=name, **values))


@pytest.mark.parametrize("name", LAWS)
def test_every_input_of_the_nodes_laws_has_a_maximum(name):
    """It is at least the default."""
    kernel = kernel_of_law(name)
    largest = kernel.text.__globals__[f"largest_{name}"]
    assert set(largest) == set(inputs_of(kernel))
    for input_name, most in largest.items():
        default = kernel.signature.arrays[input_name].default
        assert default is None or np.abs(default[0]).max() <= most


def test_continuous_joints_take_the_shorter_way(tmp_path):
    """A wheel at 3 rad with the target -3 rad continues and does not turn back."""
    description = wheel_text()
    (tmp_path / "wheels.py").write_text(
        "import warpdyn as wd\n@wd.kernel\ndef spring(robot, q, q_desired):\n    return q_desired - q\n"
    )
    settings = Settings.of(
        {
            "robot_description": description,
            "law": f"{tmp_path}/wheels.py:spring",
            "velocity_source": "zero",
        }
    )
    fleet = Fleet(settings, "", [Counter()])
    robot = fleet.robots[0]
    robot.refer(["spin"], ([-3.0], [], []), 0.0)
    robot.read(["spin"], [3.0], [], 1, 0.0)
    fleet.compute()
    np.testing.assert_allclose(robot.state.torque, 2 * np.pi - 6.0, atol=1e-9)


EVERYTHING = """import warpdyn as wd

@wd.kernel
def everything(robot, q, v, q_desired, v_desired, a_desired, q_posture, pose_desired: (7,),
               pose_compliant: (7,), twist_compliant: (6,), acceleration_compliant: (6,), contact_wrench: (6,),
               f_ext: ("nlinks", 6), gravity: (3,), virtual_mass: (6,), virtual_damping: (6,),
               virtual_stiffness: (6,), *, frame):
    a = a_desired + v_desired - v
    a = a + pose_desired[6] + pose_compliant[6] + twist_compliant[5] + contact_wrench[5]
    a = a + acceleration_compliant[5]
    a = a + virtual_mass[5] + virtual_damping[5] + virtual_stiffness[5] + q_desired - q_posture
    return robot.rnea(q, v, a, f_ext=f_ext, gravity=gravity)


@wd.kernel
def waiting(robot, q, contact_wrench: (6,), twist_compliant: (6,), virtual_mass: (6,)):
    return q + contact_wrench[0] + twist_compliant[0] + virtual_mass[0]
"""


def test_a_law_may_read_all_values_of_the_node(tmp_path):
    """Each array has its shape. Values of an admittance need the inputs of its virtual body."""
    file = tmp_path / "all_laws.py"
    file.write_text(EVERYTHING)
    body = {f"law_inputs__virtual_{x}": [1.0] * 6 for x in ("mass", "damping", "stiffness")}
    settings = panda_settings(
        law=f"{file}:everything", law_options=["frame=panda_hand"], ft_link="panda_hand", **body
    )
    check_robot(MODEL, settings)
    with pytest.raises(ValueError) as error:
        check_robot(
            MODEL, panda_settings(law=f"{file}:waiting", law_inputs__virtual_mass=[1.0] * 6)
        )
    assert str(error.value) == (
        f"law {file}:waiting reads contact_wrench, twist_compliant: it needs the arguments pose_desired, "
        "virtual_damping, virtual_mass, virtual_stiffness too"
    )
