"""Fixed tendons: lengths that are sums of joint positions, with the forces and the armature along
them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .ground_contact import LimitSoftness
from .poses_and_limits import UNLIMITED, Effects, Limits


@dataclass(frozen=True)
class Tendon:
    """A length that is a sum of joint positions, each times a coefficient [m/rad, or without unit],
    and a `constant` [m].

    `armature` [kg] moves with the length and is part of the mass matrix. `spring` [N/m] pulls the
    length back into the range `slack` [m], `damping` [N·s/m] and `friction` [N] resist its motion,
    `limits` bound it, and `soft_limit` is how they give way: data of the description. `effects` are the
    spring and the damping that act in the dynamics.
    """

    name: str
    coefficients: tuple[tuple[str, float], ...]
    armature: float = 0.0
    spring: float = 0.0
    slack: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.0
    limits: Limits = UNLIMITED
    constant: float = 0.0
    effects: Effects = Effects()  # noqa: RUF009  (it is frozen)
    soft_limit: LimitSoftness | None = None

    def with_renamed_joints(self, names: Mapping[str, str]) -> Tendon:
        """This tendon over renamed joints: {old name: new name}."""
        coefficients = tuple((names.get(joint, joint), c) for joint, c in self.coefficients)
        return replace(self, coefficients=coefficients)

    def with_held_joints(self, still: Mapping[str, float]) -> Tendon:
        """This tendon with these joints held at these positions."""
        moving = tuple((joint, c) for joint, c in self.coefficients if joint not in still)
        there = sum(c * still[joint] for joint, c in self.coefficients if joint in still)
        return replace(self, coefficients=moving, constant=self.constant + there)

    def with_effects(self, **effects: float) -> Tendon:
        """This tendon with these effects, by name."""
        return replace(self, effects=replace(self.effects, **effects))
