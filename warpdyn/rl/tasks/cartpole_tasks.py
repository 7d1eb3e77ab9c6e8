"""Cart and pole: swing the pole up and hold it there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robots import load_robot
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode, Task


class CartpoleSwingUp(Task):
    """The pole starts hanging. Pushes of at most 10 N on the cart must swing it up and keep it
    there.

    The reward is that of the DeepMind Control Suite (Tassa et al., arXiv 1801.00690), the product
    of four numbers in [0, 1]: for the pole's height, the cart's place, the push, and the pole's
    speed. The suite reports its mean over an episode of 10 s in thousandths (`measure`).
    """

    dt, substeps = 0.005, 8
    seconds = 10.0
    actions, largest_action = 1, 1.0
    scales = {"swing_up": 1.0}
    recipe = Recipe(
        envs=256, steps=32, discount=0.985, trace=0.98, entropy=0.02, layers=(64, 64), minutes=1.0
    )

    def __init__(self) -> None:
        self.model = load_robot("cartpole")

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        place = uniform(s.random, 2, -0.05, 0.05)
        return {"q": place + np.array([0.0, np.pi]), "v": np.zeros(2)}

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"tau": np.stack([10.0 * s.action[0], 0.0])}

    def observe(self, robot: Any, s: Episode) -> Any:
        return np.stack([s.q[0], np.cos(s.q[1]), np.sin(s.q[1]), s.v[0], s.v[1]])

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        def gaussian(x: Any, margin: float) -> Any:  # 0.1 at the margin
            return np.exp(np.log(0.1) * (x / margin) ** 2)

        upright = 0.5 * (1.0 + np.cos(s.q[1]))
        centred = 0.5 * (1.0 + gaussian(s.q[0], 2.0))
        gentle = 0.2 * (4.0 + np.maximum(1.0 - s.action[0] ** 2, 0.0))
        slow = 0.5 * (1.0 + gaussian(s.v[1], 5.0))
        return {"swing_up": upright * centred * gentle * slow}

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """The measure of the Control Suite, out of 1,000."""
        earned = self.reward(robot, s.with_fields(action=s.last_action))
        return {"control_suite": 1000.0 * earned["swing_up"]}
