"""Random references and requests of a moving arm: a controller and the node send the same
commands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from compiled_controllers import CompiledControllers
from compiled_gate import MeasuredStates

import warpdyn as wd
from ros2_node.control.robot import Robot
from ros2_node.control.safety.gate import Phase
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.torques.fleet_dynamics import FleetDynamics
from ros2_node.ros2_control.controller_laws import built_in_laws

MODEL = wd.load_robot("ur5e")
N, NAMES, PHASES = MODEL.nv, list(MODEL.joint_names), list(Phase)
FRAME = "tool0"
LAWS = built_in_laws(FRAME)
CYCLES = 150
SAME = 1e-9
"""Largest difference of a command [N m]."""


@pytest.fixture(scope="module")
def compiled_controllers(tmp_path_factory: pytest.TempPathFactory) -> CompiledControllers:
    return CompiledControllers(tmp_path_factory.mktemp("cycles"), MODEL, [*LAWS.values()])


def node_robot(law: str, values: dict) -> Robot:
    """The node's robot under a law, with states that a test sets."""
    parameters = dict(values)
    if law == "computed_torque":
        parameters["mode"] = law
    elif law != "gravity_compensation":
        inputs = LAWS[law].example(MODEL).items()
        parameters |= {"law": law, **{f"law_inputs.{n}": tuple(x) for n, x in inputs}}
    if LAWS[law].frame:
        parameters["law_options"] = (f"frame={FRAME}",)
    if not LAWS[law].repels:
        parameters["joint_limit_repulsion"] = "never"
    settings = Settings.of(parameters)
    robot = Robot(FleetDynamics(MODEL, settings, 1), 0, settings, Counter())
    robot.states = MeasuredStates()  # type: ignore[assignment]
    return robot


class RandomCycles:
    """An arm whose joints swing, also beyond their limits, and both sides of a comparison."""

    def __init__(self, law: str, compiled: CompiledControllers, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        ramp_time, rate = random.choice([0.0, 0.05, 0.3]), random.choice([-1.0, 0.0, 500.0])
        far = random.choice([0.0, 0.2, 1.0])
        values = {"ramp_time": ramp_time, "max_torque_rate": rate, "max_tracking_error": far}
        values |= {"max_pose_error": (far, 2.0 * far)}
        hold = bool(random.integers(2))
        self.robot = node_robot(law, values | {"stale_action": "hold" if hold else "ramp_down"})
        self.controller = compiled.controller(
            law, ramp_time=ramp_time, rate=rate, far=far, far_pose=(far, 2.0 * far), hold=hold
        )
        self.has_pose = LAWS[law].frame
        self.middle, self.phase = random.uniform(-1.2, 1.2, N), random.uniform(0.0, 6.0, N)
        self.size = random.choice([0.0, 0.3, 2.0])
        self.now = 1.0

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        angle = 3.0 * self.now + self.phase
        return self.middle + self.size * np.sin(angle), 3.0 * self.size * np.cos(angle)

    def begin(self) -> None:
        """Enable both."""
        q, v = self._measure()
        assert self.robot.enable(self.now, self.now)[0]
        assert self.controller.activate(q, v, np.zeros(N), self.now)

    def cycle(self) -> None:
        """Requests, references and a command of both, which must agree."""
        self.now += self.random.choice([0.0, 0.002, 0.004, 0.03], p=[0.2, 0.4, 0.2, 0.2])
        robot, now, (q, v) = self.robot, self.now, self._measure()
        self._request()
        self._refer(q)
        robot.prepare(now)
        robot.dynamics.compute()
        if robot.command(now, now)[1] is None:
            robot.stop_step(now)
        phase = PHASES[self.controller.update(q, v, now)]
        assert phase == robot.gate.phase
        np.testing.assert_allclose(
            self.controller.command, robot.output.command, rtol=0.0, atol=SAME
        )

    def _measure(self) -> tuple[np.ndarray, np.ndarray]:
        q, v = self.state()
        self.robot.state.q[:], self.robot.states.arrived = q, self.now
        self.robot.state.v[:] = v if self.robot._needs_velocity else 0.0
        return q, v

    def _request(self) -> None:
        """The controller answers requests in its next cycle; one to stop counts most."""
        asked = [n for n, p in (("disable", 0.03), ("enable", 0.1)) if self.random.random() < p]
        for name in asked:
            self.controller.request(name)
        if "disable" in asked:
            self.robot.disable(self.now)
        elif asked:
            self.robot.enable(self.now, self.now)

    def _refer(self, q: np.ndarray) -> None:
        """A reference, sometimes one that is too fast, or a pose."""
        kind, wanted = self.random.random(), q + self.random.uniform(-0.3, 0.3, N)
        if kind < 0.4:
            size = self.random.choice([1.0, 5.0], p=[0.9, 0.1])
            v, a = (size * self.random.uniform(-x, x, N) for x in (1.0, 9.0))
            self.robot.refer(NAMES, (wanted, v, a), self.now)
            self.controller.refer(wanted, v, a)
        elif kind < 0.5 and self.has_pose:
            pose = wd.fk(MODEL, wanted[None], frame=FRAME, form="pose")[0]
            self.robot.refer_pose(MODEL.root, pose[:3], pose[3:])
            self.controller.refer_pose(pose)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", LAWS)
def test_controller_and_node_send_the_same_commands(
    law: str, seed: int, compiled_controllers: CompiledControllers
) -> None:
    """Ramps, rates, limits, stops, and references that end or are left far behind, on both sides."""
    cycles = RandomCycles(law, compiled_controllers, seed)
    cycles.begin()
    for _ in range(CYCLES):
        cycles.cycle()
