"""Controllers of the laws, compared with the node under the same law: the torques are equal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from compiled_controllers import CompiledControllers, example_inputs
from compiled_gate import MeasuredStates
from fleets import chain_text

import warpdyn as wd
from benchmarks.controller_updates import fused_multiply_add
from ros2_node.control.robot import Robot
from ros2_node.control.robot_description import load_model
from ros2_node.control.safety.gate import Phase
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.torques.fleet_dynamics import FleetDynamics
from ros2_node.laws.cartesian_impedance import largest_cartesian_impedance
from ros2_node.laws.joint_impedance import largest_joint_impedance
from ros2_node.ros2_control.controller_laws import (
    ControllerLaw,
    built_in_laws,
    check_law,
    users_law,
)

MODEL = wd.load_robot("ur5e")
N, NAMES = MODEL.nv, list(MODEL.joint_names)
FRAME = "tool0"
LAWS = built_in_laws(FRAME)
PHASES = list(Phase)
SAME = 1e-12
"""Largest difference of a torque [N m]."""


@wd.kernel
def users_spring(
    robot, q, v, q_desired, stiffness: Annotated[np.ndarray, ("nv",)] = 20.0, *, rest=1.0
):
    """A spring to the reference, plus gravity torques."""
    return robot.gravity_torques(q) + stiffness * (q_desired - q) - rest * v


@wd.kernel
def users_posture(robot, q, v, q_posture):
    """A spring to the posture."""
    return 10.0 * (q_posture - q)


@pytest.fixture(scope="module")
def compiled_controllers(tmp_path_factory: pytest.TempPathFactory) -> CompiledControllers:
    laws = [*LAWS.values(), users_law(users_spring, {"rest": 2.0})]
    folder = tmp_path_factory.mktemp("laws")
    return CompiledControllers(folder, MODEL, laws, options=["-O2", *fused_multiply_add()])


def node_with(law: ControllerLaw, **values: object) -> Robot:
    """The node's robot with a law, and parameters under which its torques are the commands."""
    parameters: dict[str, object] = {
        "ramp_time": 0.0,
        "max_torque_rate": 0.0,
        "max_tracking_error": 0.0,
        "max_pose_error": (0.0, 0.0),
        "max_reference_acceleration": 0.0,
        "joint_limit_repulsion": "never",
    }
    if law.name == "computed_torque":
        parameters["mode"] = law.name
    elif law.name in ("joint_impedance", "cartesian_impedance"):
        parameters["law"] = law.name
        for name, numbers in law.example(MODEL).items():
            parameters[f"law_inputs.{name}"] = tuple(numbers)
    elif law.name == "users_spring":
        parameters |= {"law": f"{__file__}:users_spring", "law_options": ("rest=2.0",)}
    if law.frame:
        parameters["law_options"] = (f"frame={FRAME}",)
    settings = Settings.of(parameters | values)
    robot = Robot(FleetDynamics(MODEL, settings, 1), 0, settings, Counter())
    robot.states = MeasuredStates()  # type: ignore[assignment]
    return robot


def differences(law: ControllerLaw, compiled: CompiledControllers, states: int) -> np.ndarray:
    """The largest torque difference between controller and node at each of some random states,
    where neither ramps nor limits act (states,)."""
    random, robot = np.random.default_rng(3), node_with(law)
    robot.output.limit[:] = 1e9
    controller = compiled.controller(
        law.name, ramp_time=0.0, rate=0.0, effort=1e9, far=0.0, far_pose=(0.0, 0.0), repels=False
    )
    found = np.zeros(states)
    for k in range(states):
        now = 0.001 * k
        q, v = random.uniform(-3.0, 3.0, N), random.uniform(-3.0, 3.0, N)
        robot.state.q[:], robot.states.arrived = q, now
        robot.state.v[:] = v if robot.dynamics.law or law.name == "computed_torque" else 0.0
        if k == 0:
            assert robot.enable(now, now)[0] and controller.activate(q, v, np.zeros(N), now)
        wanted = q + random.uniform(-0.4, 0.4, N)
        speed, acceleration = random.uniform(-3.0, 3.0, N), random.uniform(-9.0, 9.0, N)
        robot.refer(NAMES, (wanted, speed, acceleration), now)
        controller.refer(wanted, speed, acceleration)
        if law.frame:
            pose = wd.fk(MODEL, wanted[None], frame=FRAME, form="pose")[0]
            assert robot.refer_pose(MODEL.root, pose[:3], pose[3:]) is None
            controller.refer_pose(pose)
        robot.prepare(now)
        robot.dynamics.compute()
        shown, command = robot.command(now, now)
        assert shown and command is not None
        controller.update(q, v, now)
        found[k] = np.abs(controller.command - command).max()
    return found


@pytest.mark.parametrize("name", [*LAWS, "users_spring"])
def test_controller_and_node_compute_the_same_torques(
    name: str, compiled_controllers: CompiledControllers
):
    assert differences(compiled_controllers.laws[name], compiled_controllers, 60).max() <= SAME


def test_a_posture_wraps_with_its_continuous_joint(tmp_path: Path):
    """Where the encoder of a continuous joint wraps, the posture of a controller wraps with it."""
    text = chain_text(2)
    model = load_model(Settings.of({"robot_description": text}), text)
    law = users_law(users_posture, {})
    controller = CompiledControllers(tmp_path, model, [law], options=["-O1"]).controller(
        law.name, ramp_time=0.0, rate=0.0, effort=1e9, far=0.0, repels=False
    )
    rest = np.zeros(2)
    for k in range(40):
        q = np.array([np.pi - 0.02 + 1e-3 * k, 0.0])
        told = (q + np.pi) % (2.0 * np.pi) - np.pi
        if not k:
            assert controller.activate(told, rest, rest, 1.0)
        controller.update(told, rest, 1.0 + 0.01 * k)
        np.testing.assert_allclose(controller.command, [-1e-2 * k, 0.0], atol=1e-9)


def test_measured_efforts_beyond_the_limits_are_not_commanded(
    compiled_controllers: CompiledControllers,
):
    """The first commands are the effort limits if the sensor fails.

    `start_effort` is `measured`.
    """
    controller, q, rest = (
        compiled_controllers.controller("gravity_compensation"),
        np.full(N, 0.5),
        np.zeros(N),
    )
    assert controller.activate(q, rest, 1e5 * (-1.0) ** np.arange(N), 1.0)
    for k in range(120):
        assert controller.update(q, rest, 1.0 + 0.01 * k) == list(Phase).index(Phase.ENABLED)
        assert (np.abs(controller.command) <= MODEL.effort_limit).all()
    np.testing.assert_allclose(controller.command, wd.gravity_torques(MODEL, q), atol=SAME)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LAWS, "users_spring"])
def test_controller_and_node_agree_at_many_states(
    name: str, compiled_controllers: CompiledControllers, capsys
):
    """Each law has 10,000 random states."""
    largest = differences(compiled_controllers.laws[name], compiled_controllers, 10_000).max()
    with capsys.disabled():
        print(f"{name}: at most {largest:.2g} N m")
    assert largest <= SAME


@pytest.mark.parametrize("later", [["enable"], ["reset"], ["reset", "enable"]])
def test_a_request_to_stop_is_not_replaced_by_later_requests_of_the_same_cycle(
    later: list[str], compiled_controllers: CompiledControllers
):
    """The node begins the stop sequence, and refuses ~/enable until it has ended."""
    law = compiled_controllers.controller("gravity_compensation")
    q, rest = np.full(N, 0.3), np.zeros(N)
    assert law.activate(q, rest, rest, 0.0)
    assert law.update(q, rest, 0.01) == PHASES.index(Phase.ENABLED)
    for name in ["disable", *later]:
        law.request(name)
    assert law.update(q, rest, 0.02) == PHASES.index(Phase.STOPPING)


def test_a_request_to_enable_does_not_wait_for_a_valid_state(
    compiled_controllers: CompiledControllers,
):
    """A robot must not be enabled long after the request."""
    law = compiled_controllers.controller("gravity_compensation")
    q, rest = np.full(N, 0.3), np.zeros(N)
    assert law.activate(q, rest, rest, 0.0)
    law.request("disable")
    for k in range(1, 50):
        phase = law.update(q, rest, 0.01 * k)
    assert phase == PHASES.index(Phase.OFF)
    law.request("enable")
    law.update(np.full(N, np.nan), rest, 0.5)
    assert law.update(q, rest, 0.51) == PHASES.index(Phase.OFF)
    law.request("enable")
    assert law.update(q, rest, 0.52) == PHASES.index(Phase.ENABLED)


def test_inputs_of_a_law_have_shapes_and_forms():
    law = LAWS["cartesian_impedance"]
    assert law.class_name == "CartesianImpedance" and law.frame == FRAME
    assert law.inputs(MODEL)["stiffness"] == (6, 6) and law.form("stiffness") == "diagonal"
    assert law.form("posture_damping") == "one_for_all" and law.form("max_force") == "plain"
    assert law.default("stiffness", MODEL) is None
    np.testing.assert_array_equal(law.default("posture_damping", MODEL), np.ones(N))
    assert len(example_inputs(law, MODEL)) == 36 + 1 + 2 + 2 * N
    assert "cartesian_impedance" not in built_in_laws(None)


def test_laws_that_no_controller_can_run_are_refused():
    @wd.kernel
    def odd(robot, q, q_desired: (3,)):
        return q

    @wd.kernel
    def holds(robot, q, pose_desired: (7,), *, frame="tool0"):
        return q

    with pytest.raises(
        ValueError, match=r"q_desired comes from the controller with shape \('nq',\)"
    ):
        check_law(users_law(odd, {}), MODEL)
    with pytest.raises(ValueError, match="its option frame must be a link of ur5e, got None"):
        check_law(users_law(holds, {}), MODEL)
    with pytest.raises(ValueError, match="no law can be called guarded"):
        check_law(ControllerLaw("guarded", users_spring), MODEL)


def test_names_of_laws_and_arrays_must_be_valid_in_cpp():
    """They have only ASCII letters. The package has its own class named guarded."""

    @wd.kernel
    def guarded(robot, q):
        return q

    with pytest.raises(ValueError, match="no law can be called guarded, which the package itself"):
        check_law(users_law(guarded, {}), MODEL)

    @wd.kernel
    def spring(robot, q, größe: (6,)):
        return größe * q

    with pytest.raises(ValueError) as error:
        check_law(users_law(spring, {}), MODEL)
    assert str(error.value) == "law spring: the array 'größe' needs a name of ASCII letters"


def test_springs_of_an_example_are_the_effort_limits():
    """Joints without a limit get ten."""
    text = (
        '<robot name="r"><link name="a"/>'
        + "".join(
            f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            f'ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="revolute"><parent '
            f'link="{"a" if k == 0 else f"l{k - 1}"}"/><child link="l{k}"/><limit lower="-1" upper="1" '
            f'effort="{effort}" velocity="1"/></joint>'
            for k, effort in enumerate(("7.5", "0", "inf"))
        )
        + "</robot>"
    )
    found = built_in_laws(None)["joint_impedance"].example(wd.load_urdf(text))
    assert found == {"stiffness": [7.5, 10.0, 10.0]}


def test_bounds_agree_with_those_of_the_laws():
    """The bounds of a user's law are plus and minus `largest_<law>`."""
    laws = built_in_laws("tool0")
    assert built_in_laws(None).keys() == laws.keys() - {"cartesian_impedance"}
    assert laws["computed_torque"].bounds == {"kp": (0.0, 1e5), "kd": (0.0, 1e4)}
    for name, law in laws.items():
        assert law.repels == (name != "gravity_compensation")
        assert law.springs == (("stiffness",) if name == "cartesian_impedance" else ())
    largest = largest_cartesian_impedance
    bounds = laws["cartesian_impedance"].bounds
    assert bounds["stiffness"] == (-largest["stiffness"], largest["stiffness"])
    assert bounds["max_force"] == (1e-6, largest["max_force"])
    assert bounds["damping_ratio"] == (0.0, largest["damping_ratio"])
    example = laws["cartesian_impedance"].example(MODEL)
    assert example == {"stiffness": [500.0, 500.0, 500.0, 30.0, 30.0, 30.0]}
    for name, most in largest_joint_impedance.items():
        assert laws["joint_impedance"].bounds[name] == (0.0, most)
