"""Torques that overcome joint friction, in addition to those of the law."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from warpdyn.model import Model

from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.finite_difference import short_way
from ..states.name_maps import single_joints
from ..states.state import State

RESTING = 0.5
"""A joint rests below this share of `friction.speed`."""
REST_TIME = 0.3
"""Length of a rest after which the whole travel is available again [s]."""
FADING = 0.2
"""The compensation fades in this last share of `friction.travel`."""
FARTHEST = 1e12
"""Replaces an unlimited travel [rad, m]."""


class FrictionCompensation:
    """scale (coulomb v / √(v² + speed²) + viscous v), by joint, added to the torques of some robots.

    Their power is at most scale times the power that friction of these numbers dissipates, and less
    near rest, where the sign of Coulomb friction is smoothed. The rest of the friction still damps,
    if the numbers are not larger than the joints' friction. If they are larger, a joint drives
    itself. Under a law that holds no position, the compensation of a joint therefore ends after a
    travel of `friction.travel`, forwards and backwards, and returns while the joint rests.
    """

    def __init__(
        self, model: Model, settings: Settings, state: State, law_holds: bool = False
    ) -> None:
        """law_holds: true if a law brings the joints back to a position."""
        self._state, self._law_holds = state, law_holds
        able = single_joints(model)
        # Names that the model lacks are refused by those who read the joints' states.
        joints = [j for j in settings.command_joints or settings.joints or able if j in able]
        self._columns = np.array(model.v_indices(joints), dtype=int)
        self._places = np.array([model.coordinates[j].q.start for j in joints], dtype=int)
        self._continuous = np.array([model.joint(j).kind.name == "continuous" for j in joints])
        self._before = state.q[:, self._places].copy()
        self._way = np.zeros_like(self._before)
        """Travel of each joint since it rested, by robot (R, joints) [rad, m]."""
        self.clock: Callable[[], float] = time.monotonic
        """The clock that measures a rest [s]."""
        self._at = self.clock()
        self._described = np.array([friction_of(model, joint) for joint in joints]).reshape(-1, 2).T
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Use these numbers from the next launch on; ValueError if a list does not fit."""
        n = len(self._columns)
        scale = per_joint("friction.scale", settings.friction_scale, n)
        given = (
            per_joint("friction.coulomb", settings.friction_coulomb, n),
            per_joint("friction.viscous", settings.friction_viscous, n),
        )
        self._coulomb, self._viscous = (
            np.where(x > 0.0, x, described)
            for x, described in zip(given, self._described, strict=True)
        )
        self._scale, self._speed = scale, settings.friction_speed
        travel = per_joint("friction.travel", settings.friction_travel, n)
        self._travel = np.where(travel > 0.0, travel, FARTHEST)
        self.bounded = not (self._law_holds or settings.mode == "computed_torque")
        """True if the compensation ends after `friction.travel`."""
        self.active = bool(scale.any())
        self.is_known = self.active or any(bool(x.any()) for x in given)
        """True if parameters say that the joints have friction."""

    def add(self) -> None:
        """Add the compensation at the present velocities to the computed torques."""
        v = self._state.v[:, self._columns]
        added = self._scale * self._friction(v)
        self._state.torque[:, self._columns] += added * self._share(v) if self.bounded else added

    def _share(self, v: np.ndarray) -> np.ndarray:
        """Share of the compensation (R, joints) after the distance so far: all of it in the first
        part of `friction.travel`, none beyond."""
        q, now = self._state.q[:, self._places], self.clock()
        step = np.abs(short_way(q - self._before, self._continuous))
        back = self._travel * min(max(now - self._at, 0.0), REST_TIME) / REST_TIME
        self._before, self._at = q, now
        rests = np.abs(v) < RESTING * self._speed
        self._way = np.maximum(np.where(rests, self._way - back, self._way + step), 0.0)
        left = (self._travel - self._way) / (FADING * self._travel)
        return np.asarray(np.clip(left, 0.0, 1.0))

    def friction_torques(self, v: np.ndarray) -> np.ndarray:
        """The whole friction (nv,) at velocities v (nv,), in the direction of the motion."""
        taken = np.zeros(len(v))
        taken[self._columns] = self._friction(v[self._columns])
        return taken

    def _friction(self, v: np.ndarray) -> np.ndarray:
        smooth = v / np.sqrt(v * v + self._speed**2)
        return np.asarray(self._coulomb * smooth + self._viscous * v)


def friction_of(model: Model, joint: str) -> tuple[float, float]:
    """Coulomb [N·m, N] and viscous [N·m·s/rad, N·s/m] friction of a joint and its mimic joints in the description."""
    coulomb = viscous = 0.0
    for each in model.joints:
        if each.name == joint:
            multiplier = 1.0
        elif each.mimic is not None and each.mimic.joint == joint:
            multiplier = each.mimic.multiplier
        else:
            continue
        coulomb += abs(multiplier) * each.friction
        viscous += multiplier**2 * each.damping
    return coulomb, viscous
