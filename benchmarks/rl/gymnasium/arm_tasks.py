"""Gymnasium's arms: Reacher-v5 and Pusher-v5."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl

from .gymnasium_task import SOFT_PAIR, GymnasiumTask, sum_of_squares, with_margin

REACH = 0.2
"""Radius of the disc of targets of the reacher [m]."""

NEAREST = 0.17
"""Least distance of the pusher's object from its goal at first [m]."""

TABLE = -0.325
"""Height of the pusher's table [m]."""


MARGIN = 0.004
"""Distance at which the pusher's hand begins to touch its object: the sum of both margins [m]."""


FLAT_SIDES = 2.0
"""Factor of the softness of the pusher's contacts. In warpdyn the object is a prism, and a finger touches
its flat side twice, where MuJoCo has one contact. Each then has half of the force."""


def distance(vector: Any) -> Any:
    """Length of a vector."""
    return np.sqrt(sum_of_squares(vector))


class GymnasiumReacher(GymnasiumTask):
    """Reacher-v5: the tip of two links goes to a target in their plane."""

    environment, file, length = "Reacher-v5", "reacher.xml", 50
    dt, substeps, actions, largest_action, learned_share = 0.01, 2, 2, 1.0, 1.0
    weights = {"distance": -1.0, "effort": -1.0}  # noqa: RUF012
    recipe = rl.Recipe(envs=512, steps=50, layers=(64, 64), entropy=0.0, minutes=2.0)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        angles = self.first[:2] + wd.random.uniform(s.random, 2, -0.1, 0.1)
        share, turn = wd.random.uniform(s.random.at(40), 2, 0.0, 1.0)
        target = (
            REACH * np.sqrt(share) * np.stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)])
        )
        speeds = wd.random.uniform(s.random.at(41), 2, -0.005, 0.005)
        return {"q": np.concatenate([angles, target]), "v": np.concatenate([speeds, np.zeros(2)])}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        angles = s.q[:2]
        return {
            "cosines": np.cos(angles),
            "sines": np.sin(angles),
            "target": s.q[2:],
            "speeds": s.v[:2],
            "way": self._way(robot, s)[:2],
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"distance": distance(self._way(robot, s)), "effort": sum_of_squares(s.action)}

    def _way(self, robot: Any, s: rl.Episode) -> Any:
        """Vector from the target to the tip (3,) [m]."""
        tip, target = (robot.fk(s.q, frame=name)[:3, 3] for name in ("fingertip", "target"))
        return tip - target


class GymnasiumPusher(GymnasiumTask):
    """Pusher-v5: an arm with seven joints pushes a cylinder to a goal. There is no gravity."""

    environment, file, length = "Pusher-v5", "pusher_v5.xml", 100
    dt, substeps, actions, largest_action, integrator = 0.01, 5, 7, 2.0, "mujoco_euler"
    gravity = (0.0, 0.0, 0.0)
    weights = {"near": -0.5, "distance": -1.0, "effort": -0.1}  # noqa: RUF012
    recipe = rl.Recipe(envs=512, steps=50, layers=(128, 128), entropy=0.0, minutes=8.0)

    def __init__(self) -> None:
        super().__init__()
        hand, self.object = "r_wrist_roll_link", "object"
        pairs = wd.ContactPairs(self.model).only((hand, self.object))
        self.pairs = with_margin(pairs, MARGIN)
        softness = SOFT_PAIR.softness._replace(normal=FLAT_SIDES)
        self.pair_contact = SOFT_PAIR._replace(softness=softness)
        self.points = wd.ContactPoints(self.model).only(hand)
        self.terrain = wd.Plane((0.0, 0.0), TABLE)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        place: Any = wd.random.uniform(s.random, 2, np.array([-0.3, -0.2]), np.array([0.0, 0.2]))
        for k in range(40, 46):  # other draws, until the object is far enough from its goal
            other = wd.random.uniform(
                s.random.at(k), 2, np.array([-0.3, -0.2]), np.array([0.0, 0.2])
            )
            place = np.where(distance(place) > NEAREST, place, other)
        speeds = wd.random.uniform(s.random.at(46), 7, -0.005, 0.005)
        return {
            "q": np.concatenate([self.first[:7], place, np.zeros(2)]),
            "v": np.concatenate([speeds, np.zeros(4)]),
        }

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        tips, cylinder, goal = self._places(robot, s)
        return {"q": s.q[:7], "v": s.v[:7], "tips": tips, "object": cylinder, "goal": goal}

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        tips, cylinder, goal = self._places(robot, s)
        return {
            "near": distance(cylinder - tips),
            "distance": distance(cylinder - goal),
            "effort": sum_of_squares(s.action),
        }

    def _places(self, robot: Any, s: rl.Episode) -> list[Any]:
        """Positions of hand, object and goal (3,) [m], delayed by one step of `dt`.

        MuJoCo's Euler step moves bodies before joints.
        """
        q = s.q - np.where(s.age < 0.5, 0.0, self.dt) * s.v
        return [robot.fk(q, frame=name)[:3, 3] for name in ("tips_arm", self.object, "goal")]
