"""Actuators: they turn controls into forces along a joint, or along a weighted sum of joints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

Affine = tuple[float, float, float]
"""A constant, a factor of the length and a factor of its rate."""

NO_BOUNDS = (-math.inf, math.inf)


@dataclass(frozen=True)
class Actuator:
    """A force along a length: gain times control, plus bias, both affine in the length and its
    rate.

    The length is the sum of joint positions, each times its `arms` [m/rad, or without unit], and a
    `constant` [m]; the force pushes each of these joints by its arm. `gain` and `bias` hold a
    constant and the factors of length and rate. The control is clamped to `controls`, the force to
    `forces` [N, N·m]. A position servo of gain kp has gain (kp, 0, 0) and bias (0, -kp, -kv).
    """

    name: str
    arms: tuple[tuple[str, float], ...]
    gain: Affine = (1.0, 0.0, 0.0)
    bias: Affine = (0.0, 0.0, 0.0)
    controls: tuple[float, float] = NO_BOUNDS
    forces: tuple[float, float] = NO_BOUNDS
    constant: float = 0.0

    def with_renamed_joints(self, names: Mapping[str, str]) -> Actuator:
        """This actuator on renamed joints: {old name: new name}."""
        return replace(self, arms=tuple((names.get(joint, joint), arm) for joint, arm in self.arms))

    def with_held_joints(self, still: Mapping[str, float]) -> Actuator:
        """This actuator with these joints held at these positions."""
        moving = tuple((joint, arm) for joint, arm in self.arms if joint not in still)
        there = sum(arm * still[joint] for joint, arm in self.arms if joint in still)
        return replace(self, arms=moving, constant=self.constant + there)
