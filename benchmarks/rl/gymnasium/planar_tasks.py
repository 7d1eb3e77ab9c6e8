"""Gymnasium's robots in a vertical plane: Hopper-v5, HalfCheetah-v5 and Walker2d-v5."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import warpdyn as wd
from warpdyn import rl

from .gymnasium_task import GymnasiumTask, number, sum_of_squares


class PlanarRunner(GymnasiumTask):
    """A robot that runs along x.

    noise: largest change of the first positions. fastest: bound of observed speeds.
    """

    noise_of_start: ClassVar[float] = 0.005
    fastest: ClassVar[float] = 10.0
    largest_action = 1.0
    weights = {"forward": 1.0, "alive": 1.0, "effort": -1e-3}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.points = wd.ContactPoints(self.model)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        size = self.noise_of_start
        q = self.first + wd.random.uniform(s.random, self.model.nq, -size, size)
        return {"q": q, "v": self._first_speeds(s), "x": q[0], "way": 0.0}

    def _first_speeds(self, s: rl.Episode) -> Any:
        size = self.noise_of_start
        return wd.random.uniform(s.random.at(40), self.model.nv, -size, size)

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"x": s.q[0], "way": s.q[0] - s.x}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return {"q": s.q[1:], "v": np.clip(s.v, -self.fastest, self.fastest)}

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        found = {"forward": s.way / self.step_seconds, "effort": sum_of_squares(s.action)}
        if "alive" in self.weights:
            found["alive"] = 1.0 - number(self.is_terminal(robot, s))
        return found


class GymnasiumHopper(PlanarRunner):
    """Hopper-v5: one leg."""

    environment, file = "Hopper-v5", "hopper.xml"
    dt, substeps, actions = 0.002, 4, 3
    recipe = rl.Recipe(envs=512, steps=32, layers=(128, 128), entropy=0.0, minutes=8.0)

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        state = np.concatenate([s.q[2:], s.v])
        bounded = (np.abs(state) < 100.0).all()
        return ~(bounded & (s.q[1] > 0.7) & (np.abs(s.q[2]) < 0.2))


class GymnasiumWalker2d(PlanarRunner):
    """Walker2d-v5: two legs."""

    environment, file = "Walker2d-v5", "walker2d_v5.xml"
    dt, substeps, actions = 0.002, 4, 6
    recipe = rl.Recipe(envs=512, steps=32, layers=(128, 128), entropy=0.0, minutes=8.0)

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        height, angle = s.q[1], s.q[2]
        return ~((height > 0.8) & (height < 2.0) & (np.abs(angle) < 1.0))


class GymnasiumHalfCheetah(PlanarRunner):
    """HalfCheetah-v5: two legs in a row. Its episodes do not end early."""

    environment, file = "HalfCheetah-v5", "half_cheetah.xml"
    dt, substeps, actions, integrator = 0.01, 5, 6, "mujoco_euler"
    noise_of_start, fastest = 0.1, np.inf
    weights = {"forward": 1.0, "effort": -0.1}  # noqa: RUF012
    recipe = rl.Recipe(envs=512, steps=32, layers=(128, 128), entropy=0.0, minutes=8.0)

    def _first_speeds(self, s: rl.Episode) -> Any:
        return wd.random.normal(s.random.at(40), self.model.nv, deviation=self.noise_of_start)
