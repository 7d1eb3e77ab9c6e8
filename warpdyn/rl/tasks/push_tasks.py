"""A task for a panda arm that pushes a box on the table to a goal."""

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
from .panda_hand import FINGERS, PandaHand, arm_with_pads

BOX = "box"
SIDES, MASS = (0.06, 0.06, 0.05), 0.2
"""Sides [m] and mass [kg] of the box."""

REACHED = 0.02
"""Distance at which the box is at its goal [m]."""

SEEN = ("joints", "speeds", "lag", "hand", "box", "turn", "motion", "goal", "last_action")
"""Terms of the policy's observation."""


class PandaPush(PandaHand):
    """The closed hand pushes a box on the table to a random goal around it.

    An action has two numbers: shares of the hand's `speed` forward and to the left. The hand stays
    at its height, and has to go around the box to push it back. The box's place, heading, mass and
    friction are drawn for each episode, and the goal in any direction, 10 to 20 cm away. In
    training the critic also observes the mass and the friction.
    """

    seconds, actions = 6.0, 2
    speed = 0.3
    """Speed of the hand for an action of 1 [m/s]."""
    ready = (0.0, 0.2483, 0.0, -2.836, 0.0, 3.0843, np.pi / 4)
    room = ((0.25, -0.35, 0.03), (0.75, 0.35, 0.03))
    spread = 0.02
    scales = {"reach": 0.5, "near": 2.0, "there": 4.0, "still": -0.5, "jerk": -0.02}
    vary = {"mass": Vary(0.5, 2.0, how="scale", of=BOX), "pair_friction": Vary(0.3, 0.8)}
    numbers = {
        "box_range": np.array([[0.45, -0.1, -np.pi / 4], [0.55, 0.1, np.pi / 4]]),
        "goal_range": np.array([[0.1, -np.pi], [0.2, np.pi]]),
    }
    sensed = SEEN[:-1]
    groups = {"policy": SEEN, "critic": (*SEEN, "push", "numbers")}
    recipe = Recipe(
        envs=1024,
        steps=16,
        epochs=3,
        discount=0.98,
        entropy=0.01,
        deviation=1.0,
        layers=(128, 64),
        vary=SIM_TO_REAL_ARM,
        minutes=8.0,
    )

    def __init__(self) -> None:
        place = (0.5, 0.0, SIDES[2] / 2)
        self.model = arm_with_pads().with_object(
            BOX, Box(*SIDES), mass=MASS, pose=place, color=(0.9, 0.4, 0.1)
        )
        self.pairs = ContactPairs(self.model).only(("panda_*finger", BOX)).with_ground(BOX)

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        joints = self._beginning(s, 0.0)
        x, y, heading = uniform(s.random.at(40), 3, s.box_range[0], s.box_range[1])
        box = np.concatenate([np.stack([x, y, SIDES[2] / 2]), heading_quaternion(heading)])
        length, angle = uniform(s.random.at(41), 2, s.goal_range[0], s.goal_range[1])
        goal = np.stack([x + length * np.cos(angle), y + length * np.sin(angle)])
        return {
            "q": s.configuration(joints, {BOX: box}),
            "v": np.zeros(self.model.nv),
            "wanted": joints,
            "goal": goal,
        }

    def _motion(self, s: Episode) -> tuple[Any, Any]:
        return np.concatenate([s.action * self.speed, np.zeros(2)]), 0.0

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        box = s.body(BOX)
        away, turn = self._object_in_hand(robot, s, BOX)
        return {
            "joints": s.q[:7] - np.array(self.ready),
            "speeds": 0.2 * s.v[:7],
            "lag": 10.0 * (s.wanted[:7] - s.q[:7]),
            "hand": self._hand(robot, s)[:3, 3],
            "box": 5.0 * away,
            "turn": turn,
            "motion": np.concatenate(
                [(box.rotation @ box.velocity[:3])[:2], 0.1 * box.velocity[5:]]
            ),
            "goal": 5.0 * (s.goal - box.position[:2]),
            "last_action": s.last_action,
            "push": 0.1 * (s.force_between(FINGERS[0], BOX) + s.force_between(FINGERS[1], BOX)),
            "numbers": np.stack([5.0 * s.mass[0], s.pair_friction]),
        }

    def _to_goal(self, s: Any) -> Any:
        """Distance of the box from its goal [m]."""
        return np.sqrt(np.sum((s.goal - s.body(BOX).position[:2]) ** 2))

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        away, _ = self._object_in_hand(robot, s, BOX)
        distance = self._to_goal(s)
        return {
            "reach": 1.0 - np.tanh(np.sqrt(np.sum(away[:2] ** 2)) / 0.1),
            "near": 1.0 - np.tanh(distance / 0.1),
            "there": near(distance, 0.02),
            "still": np.sum(s.body(BOX).velocity[:3] ** 2),
            "jerk": np.sum((s.action - s.last_action) ** 2),
        }

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Distance of the box from its goal [m], and 1 if it is there."""
        distance = self._to_goal(s)
        return {"distance": distance, "reached": np.where(distance < REACHED, 1.0, 0.0)}
