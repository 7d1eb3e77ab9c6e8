"""Arms that MuJoCo simulates and a fleet of the node drives, in one process without ROS."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from fleets import fault_of, loss_of

from ros2_node.control.fleet import Fleet
from ros2_node.control.settings.node_settings import Settings
from ros2_node.demo.named_robot import urdf_text
from ros2_node.demo.plant import Arm

Motion = tuple[np.ndarray, np.ndarray, np.ndarray]
PERIOD = 1e-3
"""Of the simulation [s]."""


class SimulatedArm:
    """A robot by name or URDF text, whose states reach the node `rate` times a second.

    The torque for a state acts until the next state. Joints have no end stops. damping [N·m·s/rad]
    is that of the joints.
    """

    def __init__(
        self,
        robot: str,
        rate: float = 200.0,
        pose: Mapping[str, float] | None = None,
        damping: float = 0.5,
        **values: Any,
    ) -> None:
        text = robot if robot.lstrip().startswith("<") else urdf_text(robot)
        self.period = 1.0 / rate
        self.arm = Arm(text, pose or {}, damping, min(PERIOD, self.period))
        self.arm.model.jnt_limited[:] = 0
        self.steps = round(self.period / self.arm.model.opt.timestep)
        named = {name.replace("__", "."): x for name, x in values.items()}
        settings = Settings.of({"robot_description": text, "ramp_time": 0.05, **named})
        self.fleet = Fleet(settings, "", [Counter()])
        self.robot = self.fleet.robots[0]
        self.names = list(self.robot.states.joints)
        self.columns = [self.arm.names.index(name) for name in self.names]
        self.now = 1.0
        self.torque = np.zeros(self.arm.model.nv)
        self.positions: list[np.ndarray] = []
        self.velocities: list[np.ndarray] = []
        self.commands: list[np.ndarray] = []
        self.times: list[float] = []

    @property
    def q(self) -> np.ndarray:
        """The true positions."""
        return self.arm.data.qpos[self.columns].copy()

    @property
    def v(self) -> np.ndarray:
        """The true velocities."""
        return self.arm.data.qvel[self.columns].copy()

    def run(
        self,
        seconds: float,
        reference: Callable[[float], Motion] | None = None,
        push: Callable[[float], np.ndarray] | None = None,
        sense: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
        comes: Callable[[int], bool] = lambda k: True,
    ) -> None:
        """Simulate; the robot is enabled from the first state on. reference, push [N·m]: functions
        of the time since the start. sense: the sensor readings for q and v. comes: whether a
        message arrives."""
        began, robot = self.now, self.robot
        for k in range(round(seconds / self.period)):
            t = self.now - began
            q, v = self.q, self.v
            told = sense(q, v) if sense else (q, v)
            if comes(k):
                self._state(told, t, reference)
            robot.watch(self.now, self.now)
            self.positions.append(q)
            self.velocities.append(v)
            for _ in range(self.steps):
                applied = self.torque.copy()
                if push is not None:
                    applied[self.columns] += push(t)
                self.arm.step(applied)
            self.now += self.period

    def _state(
        self,
        told: tuple[np.ndarray, np.ndarray],
        t: float,
        reference: Callable[[float], Motion] | None,
    ) -> None:
        robot, now = self.robot, self.now
        if reference is not None:
            robot.refer(self.names, tuple(part.tolist() for part in reference(t)), now)  # type: ignore[arg-type]
        good = robot.read(self.names, array("d", told[0]), array("d", told[1]), int(now * 1e9), now)
        if not good:
            return
        robot.note(0)
        if not (robot.is_enabled or fault_of(robot) or loss_of(robot)):
            robot.enable(now, now)
        self.fleet.compute()
        _, command = robot.command(now, now)
        if command is not None:
            self.torque[self.columns] = command
            self.commands.append(command.copy())
            self.times.append(now)
