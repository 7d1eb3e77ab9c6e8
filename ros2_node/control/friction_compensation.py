"""Torques that overcome the friction of the joints, beside those of the law."""

from __future__ import annotations

import numpy as np

from warpdyn import Model

from .joint_states import single_joints
from .settings import Settings
from .state import State
from .torque_output import per_joint


class FrictionCompensation:
    """scale (coulomb v / √(v² + speed²) + viscous v), by joint, added to the torques of some robots.

    Their power, never more than scale times what friction of these numbers takes away, is below it at
    rest, where the sign of Coulomb friction is smoothed; so what is left of the friction still damps,
    as long as the numbers are not larger than the joints' own.
    """

    def __init__(self, model: Model, settings: Settings, state: State) -> None:
        self._state = state
        able = single_joints(model)
        # Names that the model lacks are refused by those who read the joints' states.
        joints = [j for j in settings.command_joints or settings.joints or able if j in able]
        self._columns = np.array(model.v_indices(joints), dtype=int)
        self._described = np.array([friction_of(model, joint) for joint in joints]).reshape(-1, 2).T
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Use these numbers from the next launch on; ValueError where a list does not fit."""
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
        self.active = bool(scale.any())
        self.told = self.active or any(bool(x.any()) for x in given)
        """Whether parameters say that the joints have friction."""

    def add(self) -> None:
        """Add it to the torques that were computed at the present velocities."""
        v = self._state.v[:, self._columns]
        self._state.torque[:, self._columns] += self._scale * self._friction(v)

    def resisting(self, v: np.ndarray) -> np.ndarray:
        """(nv,), all of the friction at velocities v (nv,), in the direction of the motion."""
        taken = np.zeros(len(v))
        taken[self._columns] = self._friction(v[self._columns])
        return taken

    def _friction(self, v: np.ndarray) -> np.ndarray:
        smooth = v / np.sqrt(v * v + self._speed**2)
        return np.asarray(self._coulomb * smooth + self._viscous * v)


def friction_of(model: Model, joint: str) -> tuple[float, float]:
    """Coulomb [N·m, N] and viscous [N·m·s/rad, N·s/m] friction that the description gives a joint, with
    those that follow it."""
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
