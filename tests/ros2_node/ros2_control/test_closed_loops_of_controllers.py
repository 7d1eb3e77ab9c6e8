"""Guarded laws and the node drive two equal MuJoCo arms with the same motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from compiled_controllers import CompiledControllers
from simulated_arms import PERIOD, Motion, SimulatedArm

import warpdyn as wd
from ros2_node.control.safety.gate import Phase
from ros2_node.demo.named_robot import urdf_text
from ros2_node.demo.plant import Arm
from ros2_node.ros2_control.controller_laws import built_in_laws

MODEL = wd.load_robot("ur5e")
NAMES, N = list(MODEL.joint_names), MODEL.nv
LAWS = built_in_laws("tool0")
POSE = dict(zip(NAMES, (0.3, -1.2, 1.4, -1.6, -1.5, 0.4), strict=True))
ENABLED = list(Phase).index(Phase.ENABLED)

SAME_MOTION = 1e-9
"""Largest difference of a position [rad]: rounding that the loops do not enlarge."""


@pytest.fixture(scope="module")
def compiled_controllers(tmp_path_factory: pytest.TempPathFactory) -> CompiledControllers:
    return CompiledControllers(tmp_path_factory.mktemp("loops"), MODEL, [*LAWS.values()])


def swing(t: float) -> Motion:
    """A reference that moves all joints around POSE."""
    size, rate = 0.25 * np.array([1.0, -0.6, 0.8, 0.5, -1.0, 1.2]), 1.5
    rise = np.array(list(POSE.values()))
    q = rise + size * (1.0 - np.cos(rate * t))
    return q, size * rate * np.sin(rate * t), size * rate**2 * np.cos(rate * t)


def push(t: float) -> np.ndarray:
    """A hand that pushes the arm now and then [N m]."""
    return 4.0 * np.sin(0.7 * t) ** 2 * np.array([1.0, 1.0, -0.5, 0.01, 0.005, 0.0])


def parameters_of(law: str) -> dict:
    """Parameters of the node for a law."""
    if law == "gravity_compensation":
        return {"mode": "gravity"}
    if law == "computed_torque":
        return {"mode": law}
    inputs = {f"law_inputs__{n}": tuple(x) for n, x in LAWS[law].example(MODEL).items()}
    options = {"law_options": ("frame=tool0",)} if LAWS[law].frame else {}
    return {"law": law, **inputs, **options}


def damping_for(law: str) -> float:
    """Damping of the arm's joints [N m s/rad]. Computed torque does not model it, and its error in
    a light joint would be large."""
    return 0.0 if law == "computed_torque" else 0.5


def controller_motion(
    law: str,
    compiled: CompiledControllers,
    seconds: float,
    reference: Callable[[float], Motion] | None,
    pushed: Callable[[float], np.ndarray] | None,
) -> np.ndarray:
    """Positions of the arm that the guarded law drives (cycles, nq)."""
    arm = Arm(urdf_text("ur5e"), POSE, damping_for(law), PERIOD)
    arm.model.jnt_limited[:] = 0
    columns = [arm.names.index(name) for name in NAMES]
    controller = compiled.controller(law, ramp_time=0.05)
    positions, torque, zero = [], np.zeros(N), np.zeros(N)
    for k in range(round(seconds / PERIOD)):
        t, q, v = k * PERIOD, arm.data.qpos[columns].copy(), arm.data.qvel[columns].copy()
        if k == 0:
            assert controller.activate(q, v, zero, 1.0)
        if reference is not None:
            controller.refer(*reference(t))
        assert controller.update(q, v, 1.0 + t) == ENABLED
        positions.append(q)
        torque[columns] = controller.command
        applied = torque.copy()
        if pushed is not None:
            applied[columns] += pushed(t)
        arm.step(applied)
    return np.array(positions)


def compare_motions(law: str, compiled: CompiledControllers, seconds: float) -> str:
    """Drive one arm by the node and one by the controller, and compare their motions."""
    tracks = law in ("computed_torque", "joint_impedance")
    reference = swing if tracks else None
    pushed = None if law == "gravity_compensation" else push  # only this law would float away
    node = SimulatedArm("ur5e", 1000.0, POSE, damping_for(law), **parameters_of(law))
    node.run(seconds, reference, pushed)
    assert node.robot.is_enabled
    theirs = np.array(node.positions)
    ours = controller_motion(law, compiled, seconds, reference, pushed)
    difference = np.abs(ours - theirs).max()
    cycles = len(ours)
    if tracks:  # the tracking error after the first tenth
        first, goal = cycles // 10, np.array([swing(k * PERIOD)[0] for k in range(cycles)])
    else:  # the drift, or the travel of a pushed arm, over the second half
        first, goal = cycles // 2, ours[cycles // 2]
    error = np.abs(np.array([ours, theirs]) - goal)[:, first:].max(axis=(1, 2))
    assert difference <= SAME_MOTION, difference
    return (
        f"{law}, {seconds:g} s: largest error or drift {error[0]:.6g} rad (controller), "
        f"{error[1]:.6g} rad (node), between the two arms {difference:.2g} rad"
    )


@pytest.mark.parametrize("law", ["computed_torque", "joint_impedance", "cartesian_impedance"])
def test_controller_and_node_move_an_arm_equally(
    law: str, compiled_controllers: CompiledControllers
):
    compare_motions(law, compiled_controllers, 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_controller_and_node_move_an_arm_equally_for_a_minute(
    law: str, compiled_controllers: CompiledControllers, capsys
):
    said = compare_motions(law, compiled_controllers, 60.0)
    with capsys.disabled():
        print(said)


def test_a_noisy_reference_at_a_limit_does_not_freeze_the_commands(
    compiled_controllers: CompiledControllers,
):
    """The reference leaves the limit in every second cycle of 10 ms. The arm swings, and the
    commands are those for a reference at the limit, but for one cycle in 50 ms."""
    commands, limit = [], MODEL.position_upper[0]
    for noise in (0.0, 1e-4):
        controller, sent = compiled_controllers.controller("computed_torque", ramp_time=0.05), []
        for k in range(200):
            t, q, v = 0.01 * k, np.array(list(POSE.values())), np.zeros(N)
            q[0], q[1] = limit - 0.3, q[1] + 0.2 * np.sin(3.0 * t)
            v[1] = 0.6 * np.cos(3.0 * t)
            if k == 0:
                assert controller.activate(q, v, np.zeros(N), 1.0)
            way = np.array([limit + noise * (-1) ** k, *list(POSE.values())[1:]])
            controller.refer(way, np.zeros(N), np.zeros(N))
            assert controller.update(q, v, 1.0 + t) == ENABLED
            sent.append(controller.command[1])
        commands.append(np.array(sent[20:]))
    assert np.abs(commands[1] - commands[0]).max() < 0.1 * np.ptp(commands[0])
