"""A quadruped that follows commanded velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functions.contact_points import ContactPoints
from ..functions.drives import PD
from ..kernels.random_numbers import uniform
from ..model import Model
from ..robots import load_robot
from .recipe import Recipe
from .task import Episode, Task
from .terms import every, gravity_in_base, near, rotation, turned
from .variation import Vary

STANCE = (0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5)


class QuadrupedVelocity(Task):
    """A quadruped that goes where it is told: forward, sideways and turning speed."""

    dt, substeps, seconds = 0.005, 4, 20.0
    drives = PD(25.0, 0.5)
    scales = {
        "forward": 1.5,
        "turn": 0.75,
        "bounce": -2.0,
        "roll": -0.05,
        "torque": -2e-4,
        "acceleration": -2.5e-7,
        "jerk": -0.015,
        "air": 1.5,
        "tilt": -2.5,
        "limits": -1.0,
    }
    recipe = Recipe()
    numbers = {"command_range": np.array([1.0, 1.0, 1.0])}
    commanded = "command"
    vary = {"friction": Vary(0.4, 1.0)}

    def __init__(
        self,
        model: Model | None = None,
        feet: str = "*_foot",
        stance: Sequence[float] = STANCE,
        height: float = 0.32,
        box: Sequence[float] = (0.188, 0.047, 0.057),
    ):
        model = load_robot("quadruped") if model is None else model
        self.model = model.with_armature(0.01).with_friction(viscous=0.1)
        self.model = self.model.with_limit_springs(stiffness=200.0, damping=1.0)
        self.points = ContactPoints(model).only(feet)
        self.stance, self.height, self.box = np.array(stance), height, np.array(box)
        self.actions = len(self.stance)
        lower, upper = self.model.position_lower[7:], self.model.position_upper[7:]
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        self.soft_lower, self.soft_upper = middle - 0.9 * half, middle + 0.9 * half

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        n = self.actions
        place = uniform(s.random, 3, [-0.5, -0.5, -np.pi], [0.5, 0.5, np.pi])
        joints = self.stance * uniform(s.random.at(40), n, 0.8, 1.2)
        speed = uniform(s.random.at(41), 6, -0.3, 0.3)
        return {
            "q": np.concatenate([place[:2], [self.height], turned(place[2]), joints]),
            "v": np.concatenate([speed, np.zeros(n)]),
            "command": self._command(s),
            "air": np.zeros(len(self.points)),
            "touched": np.zeros(len(self.points)),
            "landing": 0.0,
        }

    def _command(self, s: Episode) -> Any:
        draw = uniform(s.random.at(42), 4, [-1.0, -1.0, -1.0, 0.0], [1.0, 1.0, 1.0, 1.0])
        wanted = draw[:3] * s.command_range
        still = draw[3] < 0.05
        slow = wanted[0] ** 2 + wanted[1] ** 2 < 0.01
        keep = np.stack([np.where(slow, 0.0, 1.0), np.where(slow, 0.0, 1.0), 1.0])
        return np.where(still, 0.0, wanted * keep)

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"targets": self.stance + 0.25 * s.action}

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        touch = np.where(s.forces[:, 2] > 1.0, 1.0, 0.0)
        touching = np.maximum(touch, s.touched)
        air = s.air + self.step_seconds
        landed = np.where(air > 1.5 * self.step_seconds, touching, 0.0)
        return {
            "touched": touch,
            "air": air * (1.0 - touching),
            "landing": np.sum(np.minimum(air - 0.25, 0.25) * landed),
            "command": np.where(every(s.age, 500), self._command(s), s.command),
        }

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {
            "velocity": s.v[:6],
            "gravity": gravity_in_base(s.q),
            "command": s.command,
            "joints": s.q[7:] - self.stance,
            "speeds": 0.05 * s.v[6:],
            "last_action": s.last_action,
        }

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        off = s.command[:2] - s.v[:2]
        return {
            "speed_error": np.sqrt(np.sum(off**2)),
            "turning_error": np.abs(s.command[2] - s.v[5]),
        }

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        v, q = s.v, s.q[7:]
        gains: Any = self.drives
        torque = gains.kp * (self.stance + 0.25 * s.action - q) - gains.kd * v[6:]
        beyond = np.maximum(q - self.soft_upper, 0.0) + np.maximum(self.soft_lower - q, 0.0)
        moving = np.where(np.sum(s.command**2) > 0.01, 1.0, 0.0)
        return {
            "forward": near(s.command[:2] - v[:2], 0.5),
            "turn": near(s.command[2] - v[5], 0.5),
            "bounce": v[2] ** 2,
            "roll": v[3] ** 2 + v[4] ** 2,
            "torque": np.sum(torque**2),
            "acceleration": np.sum((v[6:] - s.last_v[6:]) ** 2) / self.step_seconds**2,
            "jerk": np.sum((s.action - s.last_action) ** 2),
            "air": s.landing * moving,
            "tilt": np.sum(gravity_in_base(s.q)[:2] ** 2),
            "limits": np.sum(beyond),
        }

    def ended(self, robot: Any, s: Episode) -> Any:
        up = rotation(s.q)[2]
        lowest = s.q[2] - np.sum(np.abs(up) * self.box)
        return (up[2] < 0.5) | (lowest < 0.02)
