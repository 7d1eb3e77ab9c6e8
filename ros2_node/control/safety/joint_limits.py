"""Torques that keep joints away from their position limits, and a report of the joints near a limit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from warpdyn.execution.oracle import oracle
from warpdyn.functions.dynamics import crba
from warpdyn.model import Model

from ..settings.law_settings import LAWS
from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.finite_difference import index_of
from ..states.name_maps import single_joints
from .position_limits import position_limits

LARGEST_SHARE = 0.05
"""The margin before a limit is at most this share of the joint's range: 2 mm of a finger's 40."""
BRAKING_TIME = 0.1
"""The damper of a joint, divided by its spring [s]: for a joint that passes the margin in this
time, both are equal at the limit."""
SPRING_PER_CYCLE, DAMPER_PER_CYCLE = 0.3, 0.4
"""The largest spring, inertia (0.3 / T)², and damper, inertia 0.4 / T, that do not ring at the control cycle
T. Light joints get softer ones at low rates."""
CYCLE, LONGEST_CYCLE, CYCLES = 0.005, 0.05, 100
"""Cycle time before the first measurement, longest cycle that is counted [s], and number of cycles
in the average."""
SAMPLES = 16
"""Number of random positions at which the inertia of joints is computed."""
TOLERANCE = 0.1
"""Share of the margin; a joint that is beyond a limit by less is not reported where nothing repels."""


class JointLimits:
    """A spring and a damper in front of each position limit, for the command joints of one robot.

    Inside the margin m of a limit, at the depth d, the torque k d + c min(d / m, 1) ḋ pushes back;
    the damper acts only towards the limit. k = `joint_limit_effort` times the effort limit, divided
    by m: at the limit the spring has that share of the effort. c = k BRAKING_TIME. Below the effort
    limit the spring conserves energy, and the damper removes energy, so that the joint does not
    gain any.

    Both are smaller for a joint whose inertia 1 / (M⁻¹)_kk, others free, is so small that they
    would ring in cycles of the present length (SPRING_PER_CYCLE): at 500 Hz for the last two joints
    of a UR5e, at 200 Hz for most. The inertia is the description's; without the inertia of rotors
    it is too small, which is safe. Joints without position limits in the description, or without an
    effort limit, are not repelled.
    """

    def __init__(self, model: Model, joints: Sequence[str]) -> None:
        self._model, self._joints = model, tuple(joints)
        self._q_columns = index_of(model.q_indices(joints), model.nq)
        self._v_columns = index_of(model.v_indices(joints), model.nv)
        lower, upper = position_limits(model, joints)
        self._lower, self._upper = lower, upper
        has = np.isfinite(lower) & np.isfinite(upper)
        self._range = np.where(has, upper - lower, np.inf)
        self._cycle, self._added = CYCLE, -np.inf
        self._middle = 0.5 * (np.where(has, lower, 0.0) + np.where(has, upper, 0.0))

    def change(self, settings: Settings, effort_limit: np.ndarray) -> None:
        """Use new parameters; ValueError if a list does not fit the joints.

        effort_limit: of the command joints (n,), inf where there is none.
        """
        margin = per_joint("joint_limit_margin", settings.joint_limit_margin, len(self._joints))
        margin = np.minimum(margin, LARGEST_SHARE * self._range)
        has = np.isfinite(self._range) & (margin > 0.0)
        self._margin = np.where(has, margin, 1.0)
        self.active = repels(settings) and bool(has.any())
        self._free = np.where(np.isfinite(self._range), 0.5 * self._range, np.inf)
        self._slack = np.where(np.isfinite(self._range), TOLERANCE * margin, 0.0)
        if not self.active:
            return
        self._free = np.where(has, self._free - margin, self._free)
        self._per_free = 1.0 / self._free  # 0 where a joint is free everywhere
        able = has & np.isfinite(effort_limit)
        inertia = lightest_inertia(self._model)[self._v_columns]
        spring = np.where(able, settings.joint_limit_effort * effort_limit, 0.0) / self._margin
        self._spring, self._inertia = spring, inertia
        self._most = np.where(able, effort_limit, 0.0)

    def add(
        self, torque: np.ndarray, q: np.ndarray, v: np.ndarray, now: float | None = None
    ) -> np.ndarray:
        """Torques (nv,) with the repulsion at q (nq,) and v (nv,); the same array if there is none.

        Call it in each cycle; now: the steady clock [s]. None: a call that is not in the cycle.
        """
        if not self.active:
            return torque
        if now is not None:
            passed, self._added = min(now - self._added, LONGEST_CYCLE), now
            self._cycle += (passed - self._cycle) / CYCLES
        way = q[self._q_columns] - self._middle
        # The sum of the eighth powers, which is quick, nearly always shows that all are free.
        share = way * self._per_free
        share *= share
        share *= share
        if share @ share <= 1.0:
            return torque
        depth = np.abs(way) - self._free
        if not (depth > 0.0).any():
            return torque
        return self._repel(torque, way, np.maximum(depth, 0.0), v)

    def _repel(
        self, torque: np.ndarray, way: np.ndarray, depth: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        side = np.sign(way)
        approach = np.maximum(side * v[self._v_columns], 0.0)
        spring = np.minimum(self._spring, (SPRING_PER_CYCLE / self._cycle) ** 2 * self._inertia)
        most = DAMPER_PER_CYCLE / self._cycle * self._inertia
        damper = np.minimum(BRAKING_TIME * self._spring, most) * np.minimum(depth / self._margin, 1)
        push = np.minimum(spring * depth, self._most) + damper * approach
        push = np.minimum(push, self._most)
        moved = torque.copy()
        moved[self._v_columns] -= side * push
        return moved

    def limit_message(self, q: np.ndarray) -> str:
        """The joints that are beyond a limit, or within its margin and repelled; empty if none is."""
        at = q[self._q_columns]
        inside = 0.5 * self._range - np.abs(at - self._middle)
        near = np.abs(at - self._middle) > self._free + (0.0 if self.active else self._slack)
        parts = []
        for k in np.flatnonzero(near):
            high = at[k] > self._middle[k]
            limit = self._upper[k] if high else self._lower[k]
            where = "before" if inside[k] >= 0.0 else "beyond"
            end = "upper" if high else "lower"
            parts.append(
                f"{self._joints[k]} is {abs(inside[k]):.3g} {where} its {end} limit {limit:.4g}"
            )
        return "; ".join(parts)


def repels(settings: Settings) -> bool:
    """True if position limits repel joints: set by the parameter, or decided by the mode and the law."""
    if not settings.joint_limit_effort or settings.joint_limit_repulsion == "never":
        return False
    tracks = settings.mode == "computed_torque" or settings.law in LAWS
    return settings.joint_limit_repulsion == "always" or tracks


@lru_cache(maxsize=8)
def lightest_inertia(model: Model) -> np.ndarray:
    """The smallest inertia (nv,) of each velocity coordinate while the others are free, 1 /
    (M⁻¹)_kk [kg m², kg], at SAMPLES random positions within the limits. Nothing is compiled."""
    joints = single_joints(model)
    lower, upper = position_limits(model, joints)
    lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    q, columns = model.neutral.copy(), model.q_indices(joints)
    random, least = np.random.default_rng(0), np.full(model.nv, np.inf)
    for _ in range(SAMPLES):
        q[columns] = random.uniform(lower, upper)
        mobility = np.linalg.inv(np.asarray(oracle(crba, model, q=q)))
        least = np.minimum(least, 1.0 / np.diag(mobility))
    return least
