"""Tasks for a humanoid: standing under pushes, and walking as commanded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...algorithms.simulation.contact_rows import ContactPoint
from ...functions.simulation.contact_points import ContactPoints
from ...functions.simulation.drives import PD
from ...robots import load_robot
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode, Task
from ..terms import every, gravity_in_base, heading_quaternion, near, rotation, world_to_base
from ..variation import SIM_TO_REAL, Push, Vary
from .onboard import ONBOARD_HISTORY, ONBOARD_SENSED, onboard_groups

LEGS = 12
"""Number of joints that a policy moves, the first ones: hips, knees, ankles, left and right."""

SOLES = (
    ContactPoint("left_ankle_roll_link", (0.035, 0.0, -0.03), 0.005),
    ContactPoint("right_ankle_roll_link", (0.035, 0.0, -0.03), 0.005),
)
"""The middles of the soles, for the places and sliding speeds of the feet. The contact points are
`points`."""

STEP = np.array([-1.0, 0.0, 0.0, 2.0, -1.0, 0.0])
"""Directions in which a leg's joints bend so that its foot rises straight up: hip, knee and ankle
pitch."""

SIDEWAYS = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
"""The hip's roll, which moves the pelvis over the standing foot."""


HUMANOID_TO_REAL = SIM_TO_REAL.with_changes(
    friction=Vary(0.3, 1.25),
    stiffness=Vary(0.1, 2.0, "log_uniform", "scale"),
    dissipation=Vary(0.01, 0.04),
    mass=Vary(0.85, 1.15, how="scale"),
    latency=Vary(0.0, 0.02),
    observation_latency=Vary(0.0, 0.02),
)._replace(push=Push(0.75, 3.0))
"""Domain randomisation with less latency and weaker pushes than for quadrupeds, because a humanoid
has two feet, and with soft ground: its soles lie flat, so that it sways as they sink in."""


class HumanoidStand(Task):
    """A humanoid that keeps standing when it is pushed, with a step if necessary.

    The policy moves the twelve joints of the legs. Waist and arms are held at "home".
    """

    dt, substeps, seconds = 0.005, 4, 20.0
    drives = PD(200.0, 5.0)
    actions, largest_action = LEGS, 4.0
    scales = {
        "alive": 1.0,
        "still": 1.0,
        "straight": 0.25,
        "height": 0.5,
        "tilt": -2.0,
        "roll": -0.05,
        "posture": -0.5,
        "slip": -0.2,
        "apart": -5.0,
        "torque": -1e-5,
        "acceleration": -1e-7,
        "jerk": -0.01,
    }
    push: Push | None = Push(0.75, 3.0)
    vary = {"friction": Vary(0.5, 1.0)}
    sensed: tuple[str, ...] = ("velocity", "turning", "gravity", "joints", "speeds")
    recipe = Recipe(
        envs=1024,
        epochs=2,
        batches=6,
        deviation=0.5,
        entropy=0.003,
        vary=HUMANOID_TO_REAL,
        minutes=10.0,
    )

    def __init__(self) -> None:
        model = load_robot("humanoid")
        self.model = model.with_armature(0.01).with_friction(viscous=0.1)
        self.points = ContactPoints(model).only("*_ankle_roll_link")
        home = model.configurations["home"]
        self.height, self.home = float(home[2]), np.array(home[7:])

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        place = uniform(s.random, 3, [-0.5, -0.5, -np.pi], [0.5, 0.5, np.pi])
        joints = self.home + uniform(s.random.at(40), len(self.home), -0.05, 0.05)
        speed = uniform(s.random.at(41), 6, -0.4, 0.4)
        return {
            "q": np.concatenate(
                [place[:2], [self.height + 0.01], heading_quaternion(place[2]), joints]
            ),
            "v": np.concatenate([speed, np.zeros(len(self.home))]),
        }

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"targets": self._targets(s)}

    def _targets(self, s: Episode) -> Any:
        return np.concatenate([self.home[:LEGS] + 0.25 * s.action, self.home[LEGS:]])

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {
            "velocity": s.v[:3],
            "turning": s.v[3:6],
            "gravity": gravity_in_base(s.q),
            "joints": s.q[7 : 7 + LEGS] - self.home[:LEGS],
            "speeds": 0.05 * s.v[6 : 6 + LEGS],
            "last_action": s.last_action,
        }

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"height": s.q[2], "speed": np.sqrt(np.sum(s.v[:2] ** 2))}

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        return self._common(robot, s) | {
            "still": near(s.v[:2], 0.3),
            "straight": near(s.v[5], 0.5),
            "posture": np.sum((s.q[7 : 7 + LEGS] - self.home[:LEGS]) ** 2),
        }

    def _common(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Rewards of standing and of walking."""
        legs, before = s.v[6 : 6 + LEGS], s.last_v[6 : 6 + LEGS]
        at = robot.point_positions(s.q, points=SOLES)
        speed = robot.point_velocities(s.q, s.v, points=SOLES)
        return {
            "alive": 1.0,
            "height": near(s.q[2] - self.height, 0.1),
            "tilt": np.sum(gravity_in_base(s.q)[:2] ** 2),
            "roll": s.v[3] ** 2 + s.v[4] ** 2,
            "slip": np.sum(self._feet_with_load(s) * np.sum(speed[:, :2] ** 2, axis=1)),
            "apart": np.maximum(0.18 - world_to_base(s.q, at[0] - at[1])[1], 0.0),
            "torque": np.sum(s.torques[:LEGS] ** 2),
            "acceleration": np.sum((legs - before) ** 2) / self.step_seconds**2,
            "jerk": np.sum((s.action - s.last_action) ** 2),
        }

    def _feet_with_load(self, s: Episode) -> Any:
        """1 for each foot that bears weight, left and right (2,)."""
        left, right = np.sum(s.forces[:4, 2]), np.sum(s.forces[4:, 2])
        return np.where(np.stack([left, right]) > 5.0, 1.0, 0.0)

    def is_terminal(self, robot: Any, s: Episode) -> Any:
        return (rotation(s.q)[2, 2] < 0.7) | (s.q[2] < 0.55)


class HumanoidVelocity(HumanoidStand):
    """A humanoid that walks at commanded forward, sideways and turning speeds.

    While it is commanded to move, a clock bends its legs in turn and sways its hips. The policy
    observes the clock and adds its actions (Iscen et al., Policies Modulating Trajectory
    Generators, arXiv 1910.02812).
    """

    scales = {
        "alive": 0.5,
        "forward": 2.0,
        "turn": 0.75,
        "steps": 0.5,
        "height": 0.25,
        "bounce": -0.5,
        "tilt": -2.0,
        "roll": -0.05,
        "hips": -1.0,
        "slip": -0.2,
        "apart": -5.0,
        "torque": -1e-5,
        "acceleration": -1e-7,
        "jerk": -0.01,
    }
    numbers = {"slowest": np.array([0.0, -0.2, -0.5]), "fastest": np.array([0.7, 0.2, 0.5])}
    commanded, command_lowest, command_range = "command", (0.0, -0.2, -0.5), (0.7, 0.2, 0.5)
    period, lift, sway = 0.8, 0.3, 0.14
    """Time of a left and a right step [s]; the angle by which hips bend in a step, and the angle by
    which they sway sideways [rad]."""
    push = None
    recipe = replace(HumanoidStand.recipe, minutes=20.0)

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        phase = uniform(s.random.at(43), 1, 0.0, 1.0)[0]
        return super().begin(robot, s) | {"command": self._command(s), "phase": phase}

    def _command(self, s: Any) -> Any:
        draw = uniform(s.random.at(42), 4, [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0])
        wanted = s.slowest + draw[:3] * (s.fastest - s.slowest)
        return np.where(draw[3] < 0.1, 0.0, wanted)

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        phase = s.phase + self.step_seconds / self.period
        return {
            "phase": phase - np.floor(phase),
            "command": np.where(every(s.age, 500), self._command(s), s.command),
        }

    def _swing(self, s: Any) -> Any:
        """Share by which the clock lifts each foot, 0 to 1, left and right (2,)."""
        wave = np.where(np.sum(s.command**2) > 1e-6, np.sin(2 * np.pi * s.phase), 0.0)
        return np.stack([np.maximum(wave, 0.0), np.maximum(-wave, 0.0)])

    def _targets(self, s: Episode) -> Any:
        swing = self._swing(s)
        aside = self.sway * (swing[0] - swing[1]) * SIDEWAYS
        lifted = np.concatenate([self.lift * x * STEP + aside for x in (swing[0], swing[1])])
        legs = self.home[:LEGS] + lifted + 0.25 * s.action
        return np.concatenate([legs, self.home[LEGS:]])

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        moving = np.where(np.sum(s.command**2) > 1e-6, 1.0, 0.0)
        clock = np.stack([np.sin(2 * np.pi * s.phase), np.cos(2 * np.pi * s.phase)])
        return super().observe(robot, s) | {"command": s.command, "clock": moving * clock}

    def measure(self, robot: Any, s: Any) -> dict[str, Any]:
        return {
            "height": s.q[2],
            "speed_error": np.sqrt(np.sum((s.command[:2] - s.v[:2]) ** 2)),
            "turning_error": np.abs(s.command[2] - s.v[5]),
        }

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        off = s.q[7 : 7 + LEGS] - self.home[:LEGS]
        in_air = np.where(self._swing(s) > 0.2, 1.0, 0.0)
        return self._common(robot, s) | {
            "forward": near(s.command[:2] - s.v[:2], 0.4),
            "turn": near(s.command[2] - s.v[5], 0.5),
            "steps": 1.0 - 0.5 * np.sum(np.abs(self._feet_with_load(s) + in_air - 1.0)),
            "bounce": s.v[2] ** 2,
            "hips": off[1] ** 2 + off[2] ** 2 + off[7] ** 2 + off[8] ** 2,
        }


class HumanoidStandOnboard(HumanoidStand):
    """A humanoid that keeps standing with an IMU and encoders alone. The critic of its training
    observes the velocity of the base too."""

    history = ONBOARD_HISTORY
    groups = onboard_groups("turning", "gravity", "joints", "speeds", "last_action")
    sensed = ONBOARD_SENSED


class HumanoidVelocityOnboard(HumanoidVelocity):
    """A humanoid that walks as commanded with an IMU and encoders alone. The critic of its training
    observes the velocity of the base too."""

    history = ONBOARD_HISTORY
    groups = onboard_groups(
        "turning", "gravity", "joints", "speeds", "last_action", "command", "clock"
    )
    sensed = ONBOARD_SENSED
