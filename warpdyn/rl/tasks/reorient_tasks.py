"""A task for a hand that turns a cube to random orientations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.quaternions import (
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
)
from ...functions.simulation.contact_pairs import ContactPairs
from ...model.scene.solids import Box
from ...user_kernels.random_numbers import uniform
from ...user_kernels.values import objects, of
from ..recipe import Recipe
from ..task import Episode, Task
from ..terms import action_rate
from ..variation import DomainRandomization, Noise, Vary
from .allegro_hand import CURLED, DRIVES, FINGERS, JOINTS, allegro_hand

CUBE = "cube"
SIDE, MASS = 0.065, 0.08
"""Side [m] and mass [kg] of the cube."""

HEIGHT, SLOPE = 0.5, 0.2
"""Height of the palm [m], and the angle by which the fingers point down [rad]."""

ON_THE_PALM = (0.05, 0.0, -0.012)
"""Place of the cube at the beginning, in the palm's axes [m]."""

FOURTH_MOMENTS = ("xxxx", "yyyy", "xxyy", "xxxy", "xxxz", "xyyy", "yyyz", "xxyz", "xyyz")
"""Those of a cube's axes from which all others follow."""

LOOSEST = 0.4
"""Tolerance at the beginning of training [rad]."""

SEEN = ("joints", "speeds", "lag", "cube", "shape", "motion", "left", "tips", "last_action")
"""Terms of the policy's observation."""

SIM_TO_REAL_HAND = DomainRandomization(
    vary={
        "kp": Vary(0.85, 1.15, how="scale"),
        "kd": Vary(0.8, 1.2, how="scale"),
        "strength": Vary(0.9, 1.0, how="scale"),
        "coulomb": Vary(0.0, 0.02, how="add"),
        "latency": Vary(0.0, 0.01),
        "observation_latency": Vary(0.0, 0.03),
        "encoder_bias": Vary(-0.01, 0.01, how="add"),
    },
    noise={
        "joints": Noise(0.01),
        "speeds": Noise(0.05),
        "cube": Noise(0.04),  # 2 mm, times the 20 of this term and the 10 of "tips"
        "tips": Noise(0.02),
        "shape": Noise(0.05),
        "motion": Noise(0.05),
        "left": Noise(0.03),
    },
)
"""Randomisation for a hand with small drives and a cube that a camera sees to 2 mm and 2°."""


class HandReorient(Task):
    """The fingers turn a cube in the hand to a goal orientation, and then to the next one.

    An action has a number for each joint: the share of the `stride` by which the target of its drive
    moves. A goal is reached when the angle between it and the cube is below `tolerance`. The next
    goal is the cube's orientation, turned about a random axis by an angle within `goal_angle`. The
    episode ends when the cube falls. Goals are counted as in MuJoCo Playground's LeapCubeReorient
    (Zakka et al., arXiv 2502.08844).

    During training each environment has its own tolerance, of at most `loosest`. It shrinks after
    episodes with many goals and grows after episodes with few (`promotion`).
    """

    dt, substeps, seconds = 0.005, 10, 50.0
    drives = DRIVES
    actions, largest_action = JOINTS, 1.0
    stride = 0.3
    """Largest change of a joint's target in a step [rad]."""
    tolerance = loosest = 0.1
    """Largest angle between a cube at its goal and the goal [rad]."""
    promotion = (1.0, 4.0)
    """If an episode has at most as many goals as the first number, the environment's tolerance
    grows by a tenth in training. If it has at least as many as the second, it shrinks by a fifth."""
    scales = {
        "turned": 5.0,
        "rotation": 0.5,
        "reached": 100.0,
        "place": -0.3,
        "fall": -20.0,
        "posture": -0.003,
        "torque": -0.01,
        "jerk": -0.001,
    }
    vary = {"mass": Vary(0.6, 1.6, how="scale", of=CUBE), "pair_friction": Vary(0.6, 1.2)}
    numbers = {"goal_angle": np.array([0.6, 3.1])}
    keep = {"within": LOOSEST}
    commanded = "goal"
    sensed = SEEN[:-1]
    groups = {"policy": SEEN, "critic": (*SEEN, "numbers")}
    recipe = Recipe(
        envs=1024,
        steps=16,
        epochs=2,
        batches=8,
        discount=0.99,
        entropy=0.001,
        deviation=0.5,
        layers=(128, 128, 64),
        vary=SIM_TO_REAL_HAND,
        practice={"seconds": 20.0, "loosest": LOOSEST},
        minutes=60.0,
    )

    def __init__(self) -> None:
        hand = allegro_hand(HEIGHT, SLOPE)
        ends = [f"{finger}_end" for finger in FINGERS]
        between = [(a, b) for k, a in enumerate(ends) for b in ends[:k]]
        mount = next(joint.pose for joint in hand.joints if joint.child == "palm")
        self.palm = np.array(mount.rotation)
        self.flat = np.array(rotation_quaternion(mount.placement.R))
        self.centre = self.palm @ np.array(ON_THE_PALM) + np.array(mount.position)
        self.model = hand.with_object(
            CUBE,
            Box(SIDE, SIDE, SIDE),
            mass=MASS,
            pose=[*self.centre, *self.flat],
            color=(0.9, 0.4, 0.1),
        )
        self.pairs = ContactPairs(self.model).only(CUBE, *between)
        self.lower = self.model.position_lower[:JOINTS]
        self.upper = self.model.position_upper[:JOINTS]
        self.home = np.array(CURLED)

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        near = self.home + uniform(s.random, JOINTS, -0.1, 0.1)
        joints = np.clip(near, self.lower, self.upper)
        place = self.centre + uniform(s.random.at(40), 3, -0.003, 0.003)
        # About the palm's normal. All faces of a cube look the same, so any of them may be at the
        # bottom.
        heading = uniform(s.random.at(41), (), -0.15, 0.15)
        turn = _product(self.flat, np.stack([np.sin(heading), 0.0, 0.0, np.cos(heading)]))
        goal = self._next_goal(s, turn)
        return {
            "q": s.configuration(joints, {CUBE: np.concatenate([place, turn])}),
            "v": np.zeros(self.model.nv),
            "wanted": joints,
            "goal": goal,
            "error": _angle(_rotation_to(goal, turn)),
            "turned": 0.0,
            "reached": 0.0,
            "count": 0.0,
        }

    def _next_goal(self, s: Any, turn: Any) -> Any:
        """An orientation that differs from another one by a random turn (4,)."""
        height, around = uniform(s.random.at(42), 2, -1.0, 1.0)
        level = np.sqrt(np.maximum(1.0 - height**2, 0.0))
        axis = np.stack([level * np.cos(np.pi * around), level * np.sin(np.pi * around), height])
        angle = uniform(s.random.at(43), (), s.goal_angle[0], s.goal_angle[1])
        return _product(of(np.array(quaternion_exp(objects(angle * axis)))), turn)

    def _next(self, s: Any) -> Any:
        """Targets of the drives after an action (16,)."""
        return np.clip(s.wanted + self.stride * s.action, self.lower, self.upper)

    def _tolerance(self, s: Any) -> Any:
        """The tolerance of this environment [rad]."""
        return np.clip(s.within, self.tolerance, self.loosest)

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"targets": self._next(s)}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        turn = s.q[JOINTS + 3 :]
        error = _angle(_rotation_to(s.goal, turn))
        reached = error < self._tolerance(s)
        goal = np.where(reached, self._next_goal(s, turn), s.goal)
        one = np.where(reached, 1.0, 0.0)
        return {
            "wanted": self._next(s),
            "goal": goal,
            "error": _angle(_rotation_to(goal, turn)),
            "turned": s.error - error,
            "reached": one,
            "count": s.count + one,
        }

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        cube, R = s.body(CUBE), self.palm.T
        axes = R @ cube.rotation
        tips = [robot.fk(s.q, frame=f"{finger}_tip")[:3, 3] for finger in FINGERS]
        left = quaternion_log(objects(_rotation_to(s.goal, s.q[JOINTS + 3 :])))
        return {
            "joints": s.q[:JOINTS] - self.home,
            "speeds": 0.1 * s.v[:JOINTS],
            "lag": 5.0 * (s.wanted - s.q[:JOINTS]),
            "cube": 20.0 * (R @ (cube.position - self.centre)),
            "shape": fourth_moments(axes),
            "motion": np.concatenate(
                [5.0 * (axes @ cube.velocity[:3]), 0.3 * (axes @ cube.velocity[3:])]
            ),
            "left": R @ np.stack([*left]),
            "tips": 10.0 * np.concatenate([R @ (tip - cube.position) for tip in tips]),
            "last_action": s.last_action,
            "numbers": np.stack([10.0 * s.mass[0], s.pair_friction, self._tolerance(s)]),
        }

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {
            "turned": np.clip(s.turned, -0.5, 0.5) / self.step_seconds,
            "rotation": 1.0 - s.error / np.pi,
            "reached": s.reached,
            "place": np.sum((s.body(CUBE).position - self.centre) ** 2) / 0.05**2,
            "fall": np.where(self.is_terminal(robot, s), 1.0, 0.0),
            "posture": np.sum((s.q[:JOINTS] - self.home) ** 2),
            "torque": np.sum(s.torques[:JOINTS] ** 2),
            "jerk": action_rate(s.action, s.last_action),
        }

    def is_terminal(self, robot: Any, s: Episode) -> Any:
        """True if the cube is off the hand."""
        away = s.body(CUBE).position - self.centre
        return (away[2] < -0.06) | (np.sum(away**2) > 0.12**2)

    def promote(self, robot: Any, s: Any) -> dict[str, Any]:
        few, many = self.promotion
        factor = np.where(s.count < few + 0.5, 1.1, np.where(s.count > many - 0.5, 0.8, 1.0))
        return {"within": np.clip(factor * self._tolerance(s), self.tolerance, LOOSEST)}

    def measure(self, robot: Any, s: Any) -> dict[str, Any]:
        """Number of goals reached in the episode, and the angle to the present one [rad]."""
        return {"count": s.count, "error": s.error}


def _product(a: Any, b: Any) -> Any:
    return of(np.array(quaternion_product(objects(a), objects(b))))


def _rotation_to(goal: Any, turn: Any) -> Any:
    """The rotation, in the world's axes, from an orientation to a goal (4,)."""
    return _product(goal, of(np.array(quaternion_inverse(objects(turn)))))


def _angle(quaternion: Any) -> Any:
    """The angle of a rotation, at most half a turn [rad]."""
    sine = np.sqrt(np.sum(quaternion[:3] ** 2))
    return 2.0 * np.arctan2(sine, np.abs(quaternion[3]))


def fourth_moments(axes: Any) -> Any:
    """Sums over a cube's three axes, the columns, of products of four of their coordinates (9,).

    They describe the cube's orientation without distinguishing its faces: they are equal for all 24
    orientations in which it looks the same.
    """
    moments = []
    for name in FOURTH_MOMENTS:
        product = 1.0
        for letter in name:
            product = product * axes["xyz".index(letter)]
        moments.append(np.sum(product))
    return np.stack(moments)
