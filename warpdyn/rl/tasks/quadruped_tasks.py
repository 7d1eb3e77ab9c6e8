"""A quadruped that follows commanded velocities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...functions.simulation.ground import STANDARD_WEIGHT
from ...model import Model
from ...robots import load_robot
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode, Task
from ..terms import every, gravity_in_base, heading_quaternion, near, rotation
from ..terms.joint_terms import middle_range
from ..terms.reward_shapes import whole_steps
from ..variation import SIM_TO_REAL, Vary
from .onboard import ONBOARD_HISTORY, ONBOARD_SENSED, onboard_groups
from .quadruped import Quadruped, QuadrupedForm

BUNDLED = Quadruped(
    feet="*_foot",
    stance=(0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5),
    kp=25.0,
    kd=0.5,
    box=(0.376, 0.094, 0.114),
)
"""Feet, stance and gains of the quadruped that comes with warpdyn."""

LEAST_HEIGHT = 0.06
"""Height of a trunk corner at which an episode ends, as a share of the standing height."""


class QuadrupedTask(Task):
    """A task of the bundled quadruped or of a user's own."""

    def take_form(self, model: Model | None, body: Quadruped | None) -> QuadrupedForm:
        """Set the attributes that all of these tasks share: body, recipe, model, stance, height,
        drives, scale of torques and number of actions. Returns the form of the robot.

        model, body: None for the bundled robot.
        """
        if model is None:
            model, body = load_robot("quadruped"), body or BUNDLED
        self.body = body or Quadruped()
        self.recipe = with_payload(self.recipe, model)
        form = self.body.standing(model)
        self.model, self.stance, self.height = form.model, form.stance, form.height
        self.drives, self.moment = form.drives, form.moment
        self.actions = len(self.stance)
        return form


class CommandedQuadruped(QuadrupedTask):
    """A quadruped that follows commanded forward, sideways and turning speeds.

    The wanted velocity is drawn within `command_range` [m/s, m/s, rad/s] every `command_seconds`.
    After the first one, the command follows it by at most `command_rate` [m/s², m/s², rad/s²].
    Rewards compare speeds and times with those usual for a robot of its height.
    """

    dt, substeps, seconds = 0.005, 4, 20.0
    scales = {
        "forward": 1.5,
        "turn": 0.75,
        "bounce": -2.0,
        "roll": -0.05,
        "torque": -0.45,
        "acceleration": -2.5e-7,
        "jerk": -0.015,
        "tilt": -2.5,
        "limits": -1.0,
    }
    commanded = "command"
    sensed: tuple[str, ...] = ("velocity", "turning", "gravity", "joints", "speeds")
    numbers = {
        "command_range": np.array([1.0, 1.0, 1.0]),
        "command_rate": np.array([2.0, 2.0, 4.0]),
    }
    vary = {"friction": Vary(0.4, 1.0)}
    command_seconds = 10.0
    """Time from one wanted velocity to the next [s]."""

    def __init__(self, model: Model | None = None, body: Quadruped | None = None):
        form = self.take_form(model, body)
        self.points, self.centre, self.box = form.points, form.centre, form.half
        self.pace = pace = form.pace
        rate = self.numbers["command_rate"] * np.array([1.0, 1.0, 1.0 / pace**2])
        self.numbers = {**self.numbers, "command_rate": rate}
        if "command_range" in self.numbers:
            most = self.body.commands(self.numbers["command_range"], pace)
            self.numbers = {**self.numbers, "command_range": most}
        self.feet, self.reach = form.feet, form.reach
        lower, upper = self.model.position_lower[7:], self.model.position_upper[7:]
        self.soft_lower, self.soft_upper = middle_range(lower, upper)

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        n = self.actions
        place = uniform(s.random, 3, [-0.5, -0.5, -np.pi], [0.5, 0.5, np.pi])
        joints = self.stance * uniform(s.random.at(40), n, 0.8, 1.2)
        speed = uniform(s.random.at(41), 6, -0.3, 0.3)
        level: Any = np.concatenate([place[:2], [0.0], heading_quaternion(place[2]), joints])
        height = -np.min(robot.point_heights(level, points=self.points))
        wanted = self._command(s)
        return {
            "q": np.concatenate(
                [place[:2], np.stack([height]), heading_quaternion(place[2]), joints]
            ),
            "v": np.concatenate([speed, np.zeros(n)]),
            "wanted": wanted,
            "command": wanted,
        }

    def _command(self, s: Any) -> Any:
        draw = uniform(s.random.at(42), 4, [-1.0, -1.0, -1.0, 0.0], [1.0, 1.0, 1.0, 1.0])
        wanted = draw[:3] * s.command_range
        still = draw[3] < 0.05
        slow = wanted[0] ** 2 + wanted[1] ** 2 < 0.01
        keep = np.stack([np.where(slow, 0.0, 1.0), np.where(slow, 0.0, 1.0), 1.0])
        return np.where(still, 0.0, wanted * keep)

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"targets": self.stance + self.body.action * s.action}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        now = every(s.age, whole_steps(self.command_seconds, self.step_seconds))
        wanted = np.where(now, self._command(s), s.wanted)
        most = s.command_rate * self.step_seconds
        return {
            "wanted": wanted,
            "command": s.command + np.minimum(np.maximum(wanted - s.command, -most), most),
        }

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {
            "velocity": s.v[:3],
            "turning": s.v[3:6],
            "gravity": gravity_in_base(s.q),
            "command": s.command,
            "joints": s.q[7:] - self.stance,
            "speeds": 0.05 * s.v[6:],
            "last_action": s.last_action,
        }

    def measure(self, robot: Any, s: Any) -> dict[str, Any]:
        off, behind = s.command[:2] - s.v[:2], s.wanted[:2] - s.v[:2]
        return {
            "speed_error": np.sqrt(np.sum(off**2)),
            "turning_error": np.abs(s.command[2] - s.v[5]),
            "speed_behind": np.sqrt(np.sum(behind**2)),
            "turning_behind": np.abs(s.wanted[2] - s.v[5]),
        }

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        v, q, pace = s.v, s.q[7:], self.pace
        beyond = np.maximum(q - self.soft_upper, 0.0) + np.maximum(self.soft_lower - q, 0.0)
        return {
            "forward": near(s.command[:2] - v[:2], 0.5 * pace),
            "turn": near(s.command[2] - v[5], 0.5 / pace),
            "bounce": v[2] ** 2 / pace**2,
            "roll": (v[3] ** 2 + v[4] ** 2) * pace**2,
            "torque": np.sum((s.torques / self.moment) ** 2),
            "acceleration": np.sum((v[6:] - s.last_v[6:]) ** 2)
            * (pace**2 / self.step_seconds) ** 2,
            "jerk": np.sum((s.action - s.last_action) ** 2),
            "tilt": np.sum(gravity_in_base(s.q)[:2] ** 2),
            "limits": np.sum(beyond),
        }

    def is_terminal(self, robot: Any, s: Episode) -> Any:
        up = rotation(s.q)[2]
        lowest = s.q[2] + np.sum(up * self.centre) - np.sum(np.abs(up) * self.box)
        return (up[2] < 0.5) | (lowest < LEAST_HEIGHT * self.height)


def with_payload(recipe: Recipe, model: Model) -> Recipe:
    """The recipe with a base whose mass and centre of mass vary as with a payload of up to 0.8 of
    its mass; other links keep theirs."""
    if recipe.vary is None:
        return recipe
    base = model.links[0].name
    mass = Vary(0.85, 1.8, how="scale", of=base)
    com = Vary(-0.02, 0.02, how="add", of=base)
    return replace(recipe, vary=recipe.vary.with_changes(mass=mass, com=com))


class QuadrupedVelocity(CommandedQuadruped):
    """A quadruped that follows its command at a trot; the command starts at zero and grows.

    While the robot is commanded to move, a clock lifts the feet of diagonal legs in turn and moves
    them in the direction of the command. The policy observes the clock and adds its actions (Iscen
    et al., Policies Modulating Trajectory Generators, arXiv 1910.02812). Robots fall at the
    beginning of episodes and when the command changes, so the training uses short episodes.
    """

    scales = {**CommandedQuadruped.scales, "tilt": -8.0, "sunk": -5.0, "steps": 0.5, "fall": -250.0}
    recipe = Recipe(
        envs=1024,
        epochs=2,
        batches=6,
        deviation=0.5,
        entropy=0.005,
        layers=(128, 64, 64),
        vary=SIM_TO_REAL,
        practice={"seconds": 6.0, "command_seconds": 3.0},
        minutes=8.0,
    )
    stride = 2.1
    """Time of a left and a right step, as a multiple of √(standing height / g)."""
    rise = 0.2
    """Height to which the clock lifts feet, as a share of the standing height."""

    def __init__(self, model: Model | None = None, body: Quadruped | None = None):
        super().__init__(model, body)
        self.period = self.stride * float(np.sqrt(self.height / STANDARD_WEIGHT))
        from_middle = self.feet[:, :2] - self.feet[:, :2].mean(0)
        self.diagonal = np.sign(np.prod(from_middle, axis=1))

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        begun = super().begin(robot, s)
        return {**begun, "command": np.zeros(3), "phase": uniform(s.random.at(44), ())}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        phase = s.phase + self.step_seconds / self.period
        return {**super().update(robot, s), "phase": phase - np.floor(phase)}

    def _clock(self, s: Any) -> tuple[Any, Any]:
        """Sine and cosine of the phase; zeros if the robot is commanded to stand."""
        moving = np.where(np.sum(s.command**2) > 1e-6, 1.0, 0.0)
        angle = 2 * np.pi * s.phase
        return moving * np.sin(angle), moving * np.cos(angle)

    def _swing(self, s: Episode) -> Any:
        """Share by which the clock lifts each foot, 0 to 1 (feet,)."""
        return np.maximum(self.diagonal * self._clock(s)[0], 0.0)

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        ahead, aside, turn = (s.command[k] for k in range(3))
        swing, along = self._swing(s), -0.25 * self.period * self._clock(s)[1]
        targets = super().control(robot, s)["targets"]
        for k, (x, y, _) in enumerate(self.feet):
            away = along * self.diagonal[k]
            moved = [away * (ahead - turn * y), away * (aside + turn * x)]
            lifted = self.rise * self.height * swing[k]
            targets = targets + self.reach[k] @ np.stack([*moved, lifted])
        return {"targets": targets}

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {**super().observe(robot, s), "clock": np.stack(self._clock(s))}

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        touching = np.where(s.forces[:, 2] > 1.0, 1.0, 0.0)
        in_air = np.where(self._swing(s) > 0.2, 1.0, 0.0)
        off = np.sum(np.abs(touching + in_air - 1.0)) / len(self.points)
        sunk = (1.0 - s.q[2] / self.height) ** 2
        fall = np.where(self.is_terminal(robot, s), 1.0, 0.0)
        return {**super().reward(robot, s), "sunk": sunk, "steps": 1.0 - off, "fall": fall}


class QuadrupedVelocityOnboard(QuadrupedVelocity):
    """A quadruped that follows its command with an IMU and encoders alone.

    The policy does not observe the velocity of the base, which no sensor measures, but the last five
    observations. The critic of its training observes the true state.
    """

    recipe = replace(QuadrupedVelocity.recipe, layers=(128, 128, 64))
    history = ONBOARD_HISTORY
    groups = onboard_groups(
        "turning", "gravity", "command", "joints", "speeds", "last_action", "clock"
    )
    sensed = ONBOARD_SENSED
