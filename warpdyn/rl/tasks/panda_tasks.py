"""Tasks for a panda arm whose hand reaches a target, with or without spheres to avoid on the
way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functions.simulation.drives import PD
from ...robots import load_robot
from ...user_kernels.loops import repeat
from ...user_kernels.random_numbers import Key, uniform
from ..recipe import Recipe
from ..task import Episode, Task
from ..terms import near
from ..variation import SIM_TO_REAL_ARM
from .keep_out import LinkCapsule, capsule_ends, capsules, clearance, height

HAND = "panda_hand_tcp"
LINKS = (
    *(f"panda_link{k}" for k in range(2, 8)),
    "panda_hand",
    "panda_leftfinger",
    "panda_rightfinger",
)
"""Links that must not touch anything."""

REACHED = 0.02
"""Distance at which a target is reached [m]."""


class PandaReach(Task):
    """The hand's tool point goes to a random target above the table, starting near "ready".

    An action is a share of each joint's largest speed, at which the target of its drive moves. The
    torques of the drives are added to those that carry the arm's weight, as in Franka's controller.
    Targets are hand positions at random joint angles, so all of them can be reached. A target is
    the first of `tries` draws with the arm above the table and the hand outside the column over the
    base. An arm that touches the table ends the episode.
    """

    dt, substeps, seconds = 0.005, 8, 3.0
    drives = PD(2000.0, 80.0)
    actions, largest_action = 7, 1.0
    scales = {
        "distance": 1.0,
        "near": 1.0,
        "there": 2.0,
        "speed": -0.02,
        "jerk": -0.05,
        "margin": -1.0,
        "touch": -75.0,
    }
    recipe = Recipe(
        learner="shac",
        envs=128,
        steps=16,
        epochs=4,
        discount=0.96,
        trace=0.9,
        deviation=0.3,
        layers=(128, 64),
        activation="elu",
        vary=SIM_TO_REAL_ARM,
        minutes=2.0,
    )
    sensed: tuple[str, ...] = ("joints", "lag", "speeds", "error", "direction", "pull")
    tries, margin = 6, 0.05

    def __init__(self) -> None:
        whole = load_robot("panda")
        joints = [f"panda_joint{k}" for k in range(1, 8)]
        self.model = whole.reduce(joints, at={"panda_finger_joint1": 0.04})
        self.home = whole.configurations["home"][:7]
        self.parts: tuple[LinkCapsule, ...] = capsules(self.model, LINKS)
        self.radii = np.array([part.radius for part in self.parts])
        lower, upper = self.model.position_lower, self.model.position_upper
        self.middle, self.half = (lower + upper) / 2, (upper - lower) / 2
        self.pace = 0.8 * self.model.velocity_limit * self.step_seconds
        """Step of the drives' targets for an action of 1 [rad]."""

    def _draw_target(self, robot: Any, key: Key) -> Any:
        """Joints of a target, uniform within nine tenths of their range; "ready" if every try
        failed."""

        def attempt(state: Any) -> Any:
            q, found, k = state
            there = key._replace(count=key.count * self.tries + k)
            tried = self.middle + 0.9 * self.half * uniform(there, 7, -1.0, 1.0)
            first, last = capsule_ends(robot, tried, self.parts)
            hand = robot.fk(tried, frame=HAND)[:3, 3]
            fine = (np.min(height(first, last, self.radii)) > 0.03) & (hand[2] > 0.03)
            fine = fine & (hand[0] ** 2 + hand[1] ** 2 > 0.25**2)
            return (
                np.where(found > 0.5, q, np.where(fine, tried, q)),
                np.where(fine, 1.0, found),
                k + 1.0,
            )

        q, _, _ = repeat(self.tries, attempt, (np.array(self.home), 0.0, 0.0))
        return q

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        q = self.home + uniform(s.random, 7, -0.2, 0.2)
        goal = self._draw_target(robot, s.random.at(40))
        return {"q": q, "v": np.zeros(7), "wanted": q, "target": robot.fk(goal, frame=HAND)[:3, 3]}

    def _next(self, s: Any) -> Any:
        """Targets of the drives after an action."""
        room = self.half - 0.02
        return np.clip(s.wanted + self.pace * s.action, self.middle - room, self.middle + room)

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"targets": self._next(s), "tau": robot.gravity_torques(s.q)}

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"wanted": self._next(s)}

    def _error(self, robot: Any, s: Any) -> Any:
        """Vector from the hand to the target [m]."""
        return s.target - robot.fk(s.q, frame=HAND)[:3, 3]

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        error = self._error(robot, s)
        direction = error / (np.sqrt(np.sum(error**2)) + 0.05)
        J = robot.jacobian(s.q, frame=HAND, reference="local_world_aligned")[:3]
        return {
            "joints": (s.q - self.middle) / self.half,
            "lag": s.wanted - s.q,
            "speeds": 0.2 * s.v,
            "target": s.target,
            "error": error,
            "direction": direction,
            "pull": J.T @ direction,
        }

    def _gaps(self, robot: Any, s: Episode) -> Any:
        """Distance of each part of the arm from the obstacles that it must not touch [m]."""
        return height(*capsule_ends(robot, s.q, self.parts), self.radii)

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        distance = np.sqrt(np.sum(self._error(robot, s) ** 2))
        return {
            "distance": 1.0 - np.tanh(distance / 0.4),
            "near": near(distance, 0.1),
            "there": near(distance, REACHED),
            "speed": np.sum(s.v**2),
            "jerk": np.sum((s.action - s.last_action) ** 2),
            "margin": np.maximum(1.0 - np.min(self._gaps(robot, s)) / self.margin, 0.0) ** 2,
            "touch": np.where(self.is_terminal(robot, s), 1.0, 0.0),
        }

    def is_terminal(self, robot: Any, s: Episode) -> Any:
        return np.min(self._gaps(robot, s)) < 0.0

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """The distance between hand and target [m], and 1 if the target is reached."""
        distance = np.sqrt(np.sum(self._error(robot, s) ** 2))
        return {"distance": distance, "reached": np.where(distance < REACHED, 1.0, 0.0)}


class PandaReachObstacles(PandaReach):
    """`PandaReach` with two spheres between the hand and its target that the arm must avoid.

    A sphere's centre is drawn around the line from hand to target. Its radius leaves a gap of
    `room` [m] to the arm in its first pose and in the pose of the target, so that both ends of the
    way are free. If no try gives a radius above `least`, the sphere is placed below the table. An
    arm that touches a sphere or the table ends the episode.
    """

    recipe = Recipe(
        envs=1024,
        steps=16,
        discount=0.96,
        trace=0.9,
        deviation=0.8,
        layers=(128, 64),
        vary=SIM_TO_REAL_ARM,
        minutes=6.0,
    )
    sensed = (*PandaReach.sensed, "gaps", "spheres")
    obstacles, room, least = 2, 0.05, 0.03

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        q = self.home + uniform(s.random, 7, -0.2, 0.2)
        goal = self._draw_target(robot, s.random.at(40))
        hand, target = (robot.fk(x, frame=HAND)[:3, 3] for x in (q, goal))
        ends = [capsule_ends(robot, x, self.parts) for x in (q, goal)]
        spheres = [
            self._sphere(s.random.at(41 + k), hand, target, ends) for k in range(self.obstacles)
        ]
        return {
            "q": q,
            "v": np.zeros(7),
            "wanted": q,
            "target": target,
            "spheres": np.stack(spheres),
        }

    def _sphere(self, key: Key, hand: Any, target: Any, ends: Sequence[tuple[Any, Any]]) -> Any:
        """Centre and radius (4,) of the sphere with the largest radius among the tries."""

        def attempt(state: Any) -> Any:
            sphere, k = state
            there = key._replace(count=key.count * self.tries + k)
            draw = uniform(there, 5, [0.3, -0.1, -0.1, -0.1, 0.05], [0.7, 0.1, 0.1, 0.1, 0.1])
            centre = hand + draw[0] * (target - hand) + draw[1:4]
            free = [
                np.min(clearance(first, last, self.radii, centre, self.room))
                for first, last in ends
            ]
            radius = np.minimum(draw[4], np.minimum(*free))
            better = np.concatenate([centre, np.stack([radius])])
            return np.where(radius > sphere[3], better, sphere), k + 1.0

        nowhere = np.array([0.0, 0.0, -1.0, self.least])
        return repeat(self.tries, attempt, (nowhere, 0.0))[0]

    def _gaps(self, robot: Any, s: Any) -> Any:
        first, last = capsule_ends(robot, s.q, self.parts)
        gaps = height(first, last, self.radii)
        for sphere in s.spheres:
            gaps = np.minimum(gaps, clearance(first, last, self.radii, sphere[:3], sphere[3]))
        return gaps

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        hand = robot.fk(s.q, frame=HAND)[:3, 3]
        return {
            **super().observe(robot, s),
            "gaps": np.minimum(self._gaps(robot, s), 0.2),
            "spheres": s.spheres - np.concatenate([hand, np.zeros(1)]),
        }
