"""Cart and pole: swing the pole up and hold it there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robots import load_robot
from ..task import Episode, Task


class CartpoleSwingUp(Task):
    """The pole hangs; pushes of at most 10 N on the cart are to bring it up and keep it there.

    The reward is that of the DeepMind Control Suite (Tassa et al., arXiv 1801.00690): the product of
    four numbers of [0, 1], for the pole's height, the cart's place, the push and the pole's speed;
    an episode of 10 s in 1,000 steps is worth 1,000 at most.
    """

    dt, substeps = 0.005, 2
    seconds = 10.0
    actions, largest_action = 1, 1.0
    scales = {"swing_up": 1.0}

    def __init__(self) -> None:
        self.model = load_robot("cartpole")

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        from ...kernels.random_numbers import uniform

        near = uniform(s.random, 2, -0.05, 0.05)
        return {"q": near + np.array([0.0, np.pi]), "v": np.zeros(2)}

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"tau": np.stack([10.0 * s.action[0], 0.0])}

    def observe(self, robot: Any, s: Episode) -> Any:
        return np.stack([s.q[0], np.cos(s.q[1]), np.sin(s.q[1]), s.v[0], s.v[1]])

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        upright = 0.5 * (1.0 + np.cos(s.q[1]))
        return {"swing_up": upright}

    def ended(self, robot: Any, s: Episode) -> Any:
        return np.abs(s.q[0]) > 2.4
