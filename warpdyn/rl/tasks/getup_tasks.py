"""A quadruped that gets up from any fall."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from ...algebra.quaternions import uniform_quaternion
from ...algebra.rotations import axes_about
from ...algebra.spatial import Placement, Vector
from ...algorithms.simulation.contact_shapes import ContactPair, ContactShape
from ...functions.simulation.contact_pairs import PairContact
from ...functions.simulation.contact_points import ContactPoint, ContactPoints
from ...functions.simulation.ground import STANDARD_WEIGHT
from ...model import Model
from ...model.joints import FIXED
from ...model.poses_and_limits import Pose, vector3
from ...user_kernels.random_numbers import uniform
from ...user_kernels.values import objects, of
from ..recipe import Recipe
from ..task import Episode
from ..terms import action_rate, gravity_in_base, joint_limits, near, uprightness
from ..terms.joint_terms import FAR
from ..variation import SIM_TO_REAL, Vary
from .onboard import ONBOARD_SENSED, onboard_groups
from .quadruped import Quadruped
from .quadruped_tasks import QuadrupedTask

THICKNESS = 0.06
"""Radius of the capsules of thighs and calves, as a share of the standing height."""

UPRIGHT, AT_HEIGHT, AT_REST = 0.95, 0.2, 0.5
"""A robot stands if the cosine of its tilt is above the first number, the height of its base differs
from the standing height by less than this share of it, and its base moves slower than this times the
root of height and gravity."""


class QuadrupedGetup(QuadrupedTask):
    """A quadruped that stands up from any pose in which it lies, with an IMU and encoders alone.

    An episode begins above the ground with a random orientation and random joints. Trunk and legs
    touch the ground. Legs touch each other, and calves touch the trunk. The stance is the target of
    an action of zero, so that a robot that lies on its belly stands up without the policy. Rewards
    as in MuJoCo Playground's getup task (Zakka et al., arXiv 2502.08844), after Lee et al., Robust
    recovery controller for a quadrupedal robot (arXiv 1901.07517).
    """

    dt, substeps, seconds = 0.005, 4, 5.0
    scales = {
        "upright": 1.0,
        "height": 1.0,
        "posture": 1.0,
        "still": 1.0,
        "torque": -0.1,
        "acceleration": -2.5e-7,
        "jerk": -0.01,
        "limits": -0.5,
    }
    sensed = ONBOARD_SENSED
    groups = onboard_groups(
        "turning", "gravity", "joints", "speeds", "last_action", hidden=("velocity", "height")
    )
    vary = {"friction": Vary(0.4, 1.0)}
    pair_contact = PairContact(friction=0.6)
    recipe = Recipe(
        envs=1024, epochs=3, batches=6, deviation=1.0, entropy=0.005, vary=SIM_TO_REAL, minutes=10.0
    )
    reach = 0.6
    """Distance of a target from the stance for an action of 1 [rad]."""
    drop = 0.05
    """Largest height from which the robot falls at the beginning [m]."""

    def __init__(self, model: Model | None = None, body: Quadruped | None = None):
        form = self.take_form(model, body)
        self.points = ContactPoints(self.model)
        half, centre = vector3(form.half), vector3(form.centre)
        trunk = ContactShape(self.model.root, "box", half, centre)
        radius = THICKNESS * self.height
        legs = [leg_capsules(self.model, point, radius) for point in form.points]
        self.pairs = leg_pairs(trunk, legs)
        lower, upper = self.model.position_lower[7:], self.model.position_upper[7:]
        self.lower, self.upper = np.clip(lower, -FAR, FAR), np.clip(upper, -FAR, FAR)
        self.slow = AT_REST * float(np.sqrt(self.height * STANDARD_WEIGHT))

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        draw = uniform(s.random, 4)
        turn = of(np.array(uniform_quaternion(*objects(draw)[:3])))
        share = uniform(s.random.at(40), self.actions)
        low = np.maximum(self.lower, self.stance - np.pi)
        high = np.minimum(self.upper, self.stance + np.pi)
        joints = low + (high - low) * share
        at_origin: Any = np.concatenate([np.zeros(3), turn, joints])
        lowest = np.min(robot.point_heights(at_origin, points=self.points))
        height = self.drop * draw[3] - lowest
        return {
            "q": np.concatenate([np.zeros(2), np.stack([height]), turn, joints]),
            "v": np.concatenate([uniform(s.random.at(41), 6, -0.5, 0.5), np.zeros(self.actions)]),
        }

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        targets = self.stance + self.reach * s.action
        return {"targets": np.clip(targets, self.lower, self.upper)}

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {
            "velocity": s.v[:3],
            "height": s.q[2] / self.height,
            "turning": 0.25 * s.v[3:6],
            "gravity": gravity_in_base(s.q),
            "joints": s.q[7:] - self.stance,
            "speeds": 0.05 * s.v[6:],
            "last_action": s.last_action,
        }

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        upright = uprightness(s.q)
        is_up = np.where(upright > 0.9, 1.0, 0.0)
        high = np.clip(s.q[2] / self.height, 0.0, 1.0)
        joints, before = s.v[6:], s.last_v[6:]
        return {
            "upright": (0.5 + 0.5 * upright) ** 2,
            "height": (0.5 + 0.5 * upright) * (0.5 * high + 0.5 * near(1.0 - high, 0.3)),
            "posture": is_up * np.exp(-0.5 * np.sum((s.q[7:] - self.stance) ** 2)),
            "still": self._stands(s) * near(np.sqrt(np.sum(joints**2)), 2.0),
            "torque": np.sum((s.torques / self.moment) ** 2),
            "acceleration": np.sum((joints - before) ** 2) / self.step_seconds**2,
            "jerk": action_rate(s.action, s.last_action),
            "limits": joint_limits(
                s.q[7:], self.model.position_lower[7:], self.model.position_upper[7:]
            ),
        }

    def _stands(self, s: Episode) -> Any:
        """1 for a robot that stands, else 0."""
        off = np.abs(s.q[2] - self.height) < AT_HEIGHT * self.height
        slow = np.sum(s.v[:3] ** 2) < self.slow**2
        return np.where((uprightness(s.q) > UPRIGHT) & off & slow, 1.0, 0.0)

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """1 if the robot stands, the cosine of its tilt, and the height of its base [m]."""
        return {"stands": self._stands(s), "upright": uprightness(s.q), "height": s.q[2]}


def leg_capsules(model: Model, foot: ContactPoint, radius: float) -> list[ContactShape]:
    """Capsules of a leg: from the knee to the foot, and from the hip to the knee.

    foot: its contact point, on a link of its own or on the calf. radius [m].
    """
    by_child = {joint.child: joint for joint in model.joints}
    calf, end = foot.link, Vector(*foot.centre)
    while by_child[calf].kind is FIXED:
        joint = by_child[calf]
        calf, end = joint.parent, joint.pose.placement.point_to_parent(end)
    knee = by_child[calf]
    thigh = _capsule(knee.parent, Vector(*knee.pose.position), radius)
    return [_capsule(calf, end, radius), thigh]


def _capsule(link: str, end: Vector, radius: float) -> ContactShape:
    """A capsule from the origin of a link to a place in its frame."""
    length = math.hypot(*end)
    pose = Pose.of(Placement(axes_about(end * (1.0 / length)), end * 0.5))
    size = (radius, max(length / 2 - radius, 0.0))
    return ContactShape(link, "capsule", size, pose.position, pose.rotation)


def leg_pairs(trunk: ContactShape, legs: list[list[ContactShape]]) -> list[ContactPair]:
    """Shapes of different legs, and the trunk and each calf."""
    between = [ContactPair(a, b) for one, two in combinations(legs, 2) for a in one for b in two]
    return [*(ContactPair(trunk, leg[0]) for leg in legs), *between]
