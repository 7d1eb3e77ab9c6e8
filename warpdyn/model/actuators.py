"""Actuators: what turns controls into joint forces, along joints or sums of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

Affine = tuple[float, float, float]
"""A constant, and factors of a length and of its rate."""

NO_BOUNDS = (-math.inf, math.inf)


@dataclass(frozen=True)
class Actuator:
    """A force along a length: gain times control, plus bias, both affine in the length and its rate.

    The length is the sum of joint positions, each times its `arms` [m/rad, or of no unit], and a
    `constant` [m]; the force pushes each of these joints by its arm. `gain` and `bias`: a constant,
    and factors of length and rate. The control is held within `controls`, the force within `forces`
    [N, N·m]. A position servo of gain kp has gain (kp, 0, 0) and bias (0, -kp, -kv).
    """

    name: str
    arms: tuple[tuple[str, float], ...]
    gain: Affine = (1.0, 0.0, 0.0)
    bias: Affine = (0.0, 0.0, 0.0)
    controls: tuple[float, float] = NO_BOUNDS
    forces: tuple[float, float] = NO_BOUNDS
    constant: float = 0.0

    def renamed(self, names: Mapping[str, str]) -> Actuator:
        """This actuator on joints of other names, {old: new}."""
        return replace(self, arms=tuple((names.get(joint, joint), arm) for joint, arm in self.arms))

    def held(self, still: Mapping[str, float]) -> Actuator:
        """This actuator where these joints are held at these positions."""
        moving = tuple((joint, arm) for joint, arm in self.arms if joint not in still)
        there = sum(arm * still[joint] for joint, arm in self.arms if joint in still)
        return replace(self, arms=moving, constant=self.constant + there)
