"""A task for a panda arm that grasps a cube, lifts it and holds it at a goal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functions.simulation.contact_pairs import ContactPairs
from ...model.scene.solids import Box
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode
from ..terms import heading_quaternion, near
from ..variation import SIM_TO_REAL_ARM, Vary
from .panda_hand import FINGERS, JOINTS, OPEN, PandaHand, arm_with_pads

CUBE = "cube"
SIDE, MASS = 0.04, 0.1
"""Side [m] and mass [kg] of the cube."""

REACHED = 0.02
"""Distance below which the cube counts as at its goal [m]."""

FIRM = 5.0
"""Force of each finger in a firm grip [N]."""

SEEN = ("joints", "speeds", "lag", "hand", "cube", "turn", "motion", "goal", "last_action")
"""Terms of the policy's observation."""


class PandaLift(PandaHand):
    """The hand grasps a cube that lies on the table, lifts it and holds it at a random goal.

    An action has five numbers: shares of the hand's `speeds` forward, to the left, up and about the
    vertical, and of the fingers' `grip_speed`, positive to open. The cube's place, heading, mass and
    friction are drawn for each episode. In training the critic also observes the mass, the
    friction, and the forces of the fingers on the cube.
    """

    seconds, actions = 4.0, 5
    speeds = (0.4, 0.4, 0.4, 2.0)
    """Speeds of the hand for an action of 1 [m/s, rad/s]."""
    grip_speed = 0.15
    """Speed of the fingers for an action of 1 [m/s]."""
    ready = (0.0, 0.0, 0.0, -2.3, 0.0, 2.3, np.pi / 4)
    room = ((0.3, -0.3, 0.015), (0.7, 0.3, 0.5))
    scales = {"reach": 1.0, "grip": 1.0, "lift": 2.0, "carry": 4.0, "there": 4.0, "jerk": -0.02}
    vary = {"mass": Vary(0.5, 2.0, how="scale", of=CUBE), "pair_friction": Vary(0.6, 1.2)}
    numbers = {
        "cube_range": np.array([[0.4, -0.2, -np.pi / 4], [0.6, 0.2, np.pi / 4]]),
        "goal_range": np.array([[0.4, -0.2, 0.1], [0.6, 0.2, 0.35]]),
    }
    sensed = SEEN[:-1]
    groups = {"policy": SEEN, "critic": (*SEEN, "grip", "numbers")}
    recipe = Recipe(
        envs=1024,
        steps=16,
        epochs=3,
        discount=0.97,
        entropy=0.005,
        deviation=0.8,
        layers=(128, 64),
        vary=SIM_TO_REAL_ARM,
        minutes=4.0,
    )

    def __init__(self) -> None:
        place = (0.5, 0.0, SIDE / 2)
        cube = Box(SIDE, SIDE, SIDE)
        self.model = arm_with_pads().with_object(
            CUBE, cube, mass=MASS, pose=place, color=(0.9, 0.4, 0.1)
        )
        pairs = ContactPairs(self.model).only(("panda_*finger", CUBE))
        self.pairs = pairs.with_ground(CUBE)
        lower, upper = self.model.position_lower[:JOINTS], self.model.position_upper[:JOINTS]
        self.middle = (lower + upper) / 2

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        joints = self._beginning(s, OPEN)
        x, y, heading = uniform(s.random.at(40), 3, s.cube_range[0], s.cube_range[1])
        cube = np.concatenate([np.stack([x, y, SIDE / 2]), heading_quaternion(heading)])
        return {
            "q": s.configuration(joints, {CUBE: cube}),
            "v": np.zeros(self.model.nv),
            "wanted": joints,
            "goal": uniform(s.random.at(41), 3, s.goal_range[0], s.goal_range[1]),
        }

    def _motion(self, s: Episode) -> tuple[Any, Any]:
        return s.action[:4] * np.array(self.speeds), s.action[4] * self.grip_speed

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        cube = s.body(CUBE)
        away, turn = self._object_in_hand(robot, s, CUBE)
        return {
            "joints": s.q[:JOINTS] - self.middle,
            "speeds": 0.2 * s.v[:JOINTS],
            "lag": 10.0 * (s.wanted - s.q[:JOINTS]),
            "hand": self._hand(robot, s)[:3, 3],
            "cube": 5.0 * away,
            "turn": turn,
            "motion": cube.rotation @ cube.velocity[:3],
            "goal": 5.0 * (s.goal - cube.position),
            "last_action": s.last_action,
            "grip": 0.1 * self._grip(s),
            "numbers": np.stack([10.0 * s.mass[0], s.pair_friction]),
        }

    def _grip(self, s: Episode) -> Any:
        """Forces of both fingers on the cube (2,) [N]."""
        forces = [s.force_between(finger, CUBE) for finger in FINGERS]
        return np.stack([np.sqrt(np.sum(force**2)) for force in forces])

    def _to_goal(self, s: Any) -> Any:
        """Distance of the cube from its goal [m]."""
        return np.sqrt(np.sum((s.goal - s.body(CUBE).position) ** 2))

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        away, _ = self._object_in_hand(robot, s, CUBE)
        distance = self._to_goal(s)
        lifted = np.clip((s.body(CUBE).position[2] - SIDE / 2) / 0.03, 0.0, 1.0)
        return {
            "reach": 1.0 - np.tanh(np.sqrt(np.sum(away**2)) / 0.1),
            "grip": np.minimum(np.min(self._grip(s)) / FIRM, 1.0),
            "lift": lifted,
            "carry": lifted * (1.0 - np.tanh(distance / 0.2)),
            "there": lifted * near(distance, 0.03),
            "jerk": np.sum((s.action - s.last_action) ** 2),
        }

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Distance of the cube from its goal and its height [m], and 1 if it is at its goal."""
        distance = self._to_goal(s)
        reached = np.where(distance < REACHED, 1.0, 0.0)
        return {"distance": distance, "height": s.body(CUBE).position[2], "reached": reached}
