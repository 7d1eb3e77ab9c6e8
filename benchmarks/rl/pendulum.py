"""An inverted pendulum on a cart: a small task for tests of learners."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl


class Pendulum(rl.Task):
    """The pole must stay upright and the cart on its rail for at most 5 s. The reward is 1 per second."""

    dt, substeps, seconds = 0.005, 4, 5.0
    actions, largest_action = 1, 1.0
    scales = {"upright": 1.0, "effort": -0.02}  # noqa: RUF012
    recipe = rl.Recipe(envs=64, steps=32, layers=(32, 32), minutes=0.25)

    def __init__(self) -> None:
        self.model = wd.load_robot("cartpole")

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"q": wd.random.uniform(s.random, 2, -0.05, 0.05), "v": np.zeros(2)}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.stack([10.0 * s.action[0], 0.0])}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([s.q, s.v])

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"upright": np.cos(s.q[1]), "effort": s.action[0] ** 2}

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return (np.abs(s.q[1]) > 0.3) | (np.abs(s.q[0]) > 1.0)
