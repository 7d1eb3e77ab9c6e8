"""A panda arm whose policy moves its hand, which points down over a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...functions.simulation.drives import PD
from ...model import Model
from ...model.assembly import rebuild
from ...model.description import Geometry
from ...model.poses_and_limits import Pose
from ...robots import load_robot
from ...user_kernels.array_functions import solve_symmetric
from ...user_kernels.random_numbers import uniform
from ..task import Episode, Task

HAND = "panda_hand_tcp"
FINGERS = ("panda_leftfinger", "panda_rightfinger")
ARM, JOINTS = 7, 9
"""Joints of the arm, the first ones, and of the arm with both fingers."""

PAD = (0.02, 0.008, 0.02)
"""Lengths of the pad of a finger [m]."""

PAD_HEIGHT = 0.045
"""Distance of a pad's middle from the origin of its finger [m]."""

ROTORS = 0.1
"""Inertia of the drives' rotors at each joint of the arm [kg·m²] and finger [kg]."""

STIFFNESS = (4500, 4500, 3500, 3500, 2000, 2000, 2000, 600, 600)
DAMPING = (450, 450, 350, 350, 200, 200, 200, 30, 30)
EFFORT = (87, 87, 87, 87, 12, 12, 12, 30, 30)
"""Numbers of the drives of the arm and of the fingers."""

LEAST_SQUARES = 0.03
"""Damping of the least squares for the joints' speeds."""

WALLS, UPRIGHT, POSTURE = 5.0, 4.0, 1.0
"""Rates at which the hand slows down towards the walls of its room, turns back to point down, and the arm returns to
its first posture [1/s]."""

OPEN = 0.04
"""Largest distance of a finger from the middle of the hand [m]."""


def arm_with_pads() -> Model:
    """The panda with one box as the shape of each finger, its pad.

    Each finger has its own drive. In the robot's description the second finger follows the first.
    """
    robot = load_robot("panda")
    links = []
    for link in robot.links:
        if link.name in FINGERS:
            side = 1.0 if link.name == FINGERS[0] else -1.0
            at = Pose(position=(0.0, side * PAD[1] / 2, PAD_HEIGHT))
            link = replace(link, collisions=(Geometry("box", PAD, pose=at),))
        links.append(link)
    joints = [replace(joint, mimic=None) for joint in robot.joints]
    return rebuild(robot, links, joints).with_armature(ROTORS)


class PandaHand(Task):
    """Actions and drives of a hand over a table; objects and rewards are the task's.

    `_motion` gives the meaning of an action: the velocity of the hand and the speed of the fingers.
    The hand keeps pointing down and stays within its `room`. The joints' speeds follow from its
    velocity by damped least squares, and the targets of the drives move with these speeds. The arm
    carries its own weight.

    ready: joints of the arm at the beginning, with the hand pointing down [rad].
    room: corners of the box that the hand's tool point stays in [m].
    """

    dt, substeps = 0.004, 10
    drives = PD(STIFFNESS, DAMPING, effort=EFFORT)
    largest_action = 1.0
    ready: tuple[float, ...]
    room: tuple[tuple[float, float, float], tuple[float, float, float]]
    spread = 0.05
    """Largest distance of the joints from `ready` at the beginning [rad]."""
    squeeze = 0.01
    """How far the targets of the fingers may lie beyond the middle of the hand [m]."""

    def _motion(self, s: Episode) -> tuple[Any, Any]:
        """The hand's velocity (4,), forward, to the left, up, and about the vertical [m/s, rad/s],
        and the speed at which both fingers open [m/s]."""
        raise NotImplementedError

    def _beginning(self, s: Episode, opening: float) -> Any:
        """Positions of the arm's joints and of the fingers at the beginning (9,)."""
        arm = np.array(self.ready) + uniform(s.random, ARM, -self.spread, self.spread)
        return np.concatenate([arm, np.full(2, opening)])

    def _hand(self, robot: Any, s: Episode) -> Any:
        """The hand's pose in the world (4, 4)."""
        return robot.fk(s.q, frame=HAND)

    def _joint_speeds(self, robot: Any, s: Any, velocity: Any) -> Any:
        """Speeds of the arm's targets for a velocity of the hand [rad/s]."""
        q = np.concatenate([s.wanted, s.q[JOINTS:]])
        T = robot.fk(q, frame=HAND)
        low, high = np.array(self.room)
        linear = np.clip(velocity[:3], (low - T[:3, 3]) * WALLS, (high - T[:3, 3]) * WALLS)
        # The product of the hand's axis and the downward vertical turns the hand back.
        axis = T[:3, 2]
        angular = np.stack([-UPRIGHT * axis[1], UPRIGHT * axis[0], velocity[3]])
        J = robot.jacobian(q, frame=HAND, reference="local_world_aligned")[:, :ARM]
        rest = POSTURE * (np.array(self.ready) - s.wanted[:ARM])
        missing = np.concatenate([linear, angular]) - J @ rest
        damped = J @ J.T + LEAST_SQUARES**2 * np.eye(6)
        limit = 0.8 * self.model.velocity_limit[:ARM]
        return np.clip(rest + J.T @ solve_symmetric(damped, missing), -limit, limit)

    def _next(self, robot: Any, s: Any) -> Any:
        """Targets of the drives after an action (9,)."""
        velocity, opening = self._motion(s)
        arm = s.wanted[:ARM] + self.step_seconds * self._joint_speeds(robot, s, velocity)
        lower, upper = self.model.position_lower[:ARM], self.model.position_upper[:ARM]
        fingers = s.wanted[ARM:] + self.step_seconds * opening
        return np.concatenate(
            [np.clip(arm, lower + 0.02, upper - 0.02), np.clip(fingers, -self.squeeze, OPEN)]
        )

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        carried = robot.gravity_torques(s.q)[:JOINTS]
        tau = np.concatenate([carried, np.zeros(self.model.nv - JOINTS)])
        return {"targets": self._next(robot, s), "tau": tau}

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"wanted": self._next(robot, s)}

    def _object_in_hand(self, robot: Any, s: Episode, name: str) -> tuple[Any, Any]:
        """Position of an object relative to the hand, in the world's axes (3,) [m], and cosine and
        sine of four times its angle to the hand, which a quarter turn does not change (2,)."""
        T, body = self._hand(robot, s), s.body(name)
        R = T[:3, :3].T @ body.rotation
        cosine, sine = R[0, 0], -R[0, 1]
        for _ in range(2):
            cosine, sine = cosine**2 - sine**2, 2.0 * cosine * sine
        return body.position - T[:3, 3], np.stack([cosine, sine])
