"""Gymnasium's InvertedPendulum-v5 and InvertedDoublePendulum-v5."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl

from .gymnasium_task import GymnasiumTask, number

ALONG = (1e-5, 0.0, -9.81)
"""Gravity of the double pendulum's file, which is not exactly vertical [m/s²]."""


class GymnasiumInvertedPendulum(GymnasiumTask):
    """InvertedPendulum-v5: 1 for each step in which the pole is within 0.2 rad of upright."""

    environment, file = "InvertedPendulum-v5", "inverted_pendulum.xml"
    dt, substeps = 0.02, 2
    actions, largest_action = 1, 3.0
    weights = {"upright": 1.0}  # noqa: RUF012
    recipe = rl.Recipe(envs=256, steps=32, layers=(64, 64), entropy=0.0, minutes=1.0)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        draws = wd.random.uniform(s.random, 4, -0.01, 0.01)
        return {"q": self.first + draws[:2], "v": draws[2:]}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([s.q, s.v])

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"upright": 1.0 - number(self.is_terminal(robot, s))}

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return np.abs(s.q[1]) > 0.2


class GymnasiumInvertedDoublePendulum(GymnasiumTask):
    """InvertedDoublePendulum-v5: 10 for each step, less for a low tip and for fast hinges."""

    environment, file = "InvertedDoublePendulum-v5", "inverted_double_pendulum.xml"
    dt, substeps, gravity = 0.01, 5, ALONG
    actions, largest_action = 1, 1.0
    weights = {"alive": 10.0, "distance": -1.0, "speed": -1.0}  # noqa: RUF012
    learned_share = 0.02
    recipe = rl.Recipe(
        envs=512,
        steps=32,
        layers=(64, 64),
        entropy=0.0,
        deviation=0.3,
        precision="float32",
        minutes=3.0,
    )

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        moved = wd.random.uniform(s.random, 3, -0.1, 0.1)
        return {"q": self.first + moved, "v": wd.random.normal(s.random.at(40), 3, deviation=0.1)}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        angles, stop = s.q[1:], s.joint_impulses[:1] / self.dt
        return {
            "cart": s.q[:1],
            "sines": np.sin(angles),
            "cosines": np.cos(angles),
            "speeds": np.clip(s.v, -10.0, 10.0),
            "stop": np.clip(stop, -10.0, 10.0),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        x, z = self._tip(robot, s)
        return {
            "alive": 1.0 - number(self.is_terminal(robot, s)),
            "distance": 0.01 * x**2 + (z - 2.0) ** 2,
            "speed": 0.001 * s.v[1] ** 2 + 0.005 * s.v[2] ** 2,
        }

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return self._tip(robot, s)[1] <= 1.0

    def _tip(self, robot: Any, s: rl.Episode) -> tuple[Any, Any]:
        """Position of the tip along the rail and its height [m]."""
        at = robot.fk(s.q, frame="tip")[:3, 3]
        return at[0], at[2]
