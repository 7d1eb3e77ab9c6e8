"""Comparison of a model's gravity torques with those of the robot, measured at rest in several poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...model import Model
from ...model.model import check_model
from ...model.params import Params
from ..dynamics import effect_torques, gravity_torques
from ..regressors import joint_torque_regressor
from .payload_identification import check_torques, measured_columns

FELT = 3.0
"""Number of standard deviations from which an error counts."""
VARIED = 0.1
"""A joint's gravity torque must vary by this share of its largest value, to tell a scale from an
offset."""
LEAST_TORQUE = 0.02
"""Smaller errors cause no drift [N, N·m]."""
EXPLAINED = 0.8
"""A load explains the errors if it removes this share of their sum of squares."""


@dataclass(frozen=True)
class JointGravity:
    """One joint's torque at rest compared with its model: measured = (1 + scale) model + offset."""

    name: str
    scale: float
    scale_deviation: float
    """Infinite if the poses cannot tell the scale from the offset."""
    offset: float
    """[N, N·m]"""
    offset_deviation: float
    error: float
    """Root mean square of measured - model [N, N·m]."""

    def __str__(self) -> str:
        parts = []
        if abs(self.scale) > FELT * self.scale_deviation:
            way = "low" if self.scale > 0.0 else "high"
            spread = 100.0 * self.scale_deviation
            parts.append(f"model {100.0 * abs(self.scale):.1f} % {way} (± {spread:.1f})")
        if abs(self.offset) > max(FELT * self.offset_deviation, LEAST_TORQUE):
            parts.append(f"offset {self.offset:+.3g} ± {self.offset_deviation:.1g} N·m")
        if not parts:
            small = self.error < LEAST_TORQUE
            parts.append(
                "agrees" if small else f"differs by {self.error:.2g} N·m without a pattern"
            )
        return f"{self.name}: {', '.join(parts)}"


@dataclass(frozen=True, eq=False)
class GravityDiagnosis:
    """Result of comparing torques at rest with a model; `str` makes a readable summary of it."""

    joints: tuple[JointGravity, ...]
    poses: int
    link: str = ""
    """The link whose load was fitted; empty if none was."""
    mass: float = 0.0
    """Load in addition to the model's that explains the errors best [kg]; negative if the model is
    too heavy."""
    mass_deviation: float = np.inf
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of the load in the link's frame [m]; zeros if the load is too small to tell."""
    explained: float = 0.0
    """Share of the errors' sum of squares that this load removes."""

    @property
    def load(self) -> str:
        """One line about the load, or an empty string."""
        if (
            not self.link
            or self.explained < EXPLAINED
            or abs(self.mass) < FELT * self.mass_deviation
        ):
            return ""
        kind = "a payload of" if self.mass > 0.0 else "the model carries too much:"
        x, y, z = self.com
        return (
            f"{kind} {abs(self.mass):.3g} ± {self.mass_deviation:.1g} kg at {self.link}, centre of mass "
            f"({x:.3g}, {y:.3g}, {z:.3g}) m, would explain {100 * self.explained:.0f} % of it"
        )

    def __str__(self) -> str:
        lines = [f"{self.poses} poses at rest", *(f"  {joint}" for joint in self.joints)]
        return "\n".join([*lines, *([f"  {self.load}"] if self.load else [])])


def diagnose_gravity(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    link: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Sequence[float] | None = None,
    params: Params | None = None,
) -> GravityDiagnosis:
    """Errors of the model's gravity torques by joint, and the load on `link` that would explain
    them.

    q: (N, nq), poses at rest.  tau: (N, nv), torques that hold the robot there [N, N·m]; N at least
    3, with different poses.  joints: the measured joints; None: all joints with one coordinate.
    For each joint, least squares fits measured = (1 + scale) model + offset. Springs and compensated
    weight that the model has (`effect_torques`) are subtracted from the measured torques first. A
    joint whose model torque hardly varies over the poses gets an offset only. The load is fitted with the first four
    columns of the link's regressor. Friction that holds a joint at rest is part of the errors, so
    approach each pose from both sides.
    """
    check_model(model)
    q, tau = (np.asarray(x, dtype=float) for x in (q, tau))
    if len(q) < 3:
        raise ValueError(f"at least 3 poses at rest are needed, got {len(q)}")
    check_torques(model, tau, len(q))
    if not (np.isfinite(q).all() and np.isfinite(tau).all()):
        raise ValueError("poses and torques must be finite")
    names = [j.name for j in model.moving_joints if j.kind.nv == 1] if joints is None else joints
    columns = measured_columns(model, names)
    if len(columns) > len(names):
        raise ValueError(
            f"joints must have one coordinate each, got {list(names)} with {len(columns)}"
        )
    own = np.asarray(gravity_torques(model, q, gravity=gravity, params=params))[:, columns]
    effects = effect_torques(model, q, None, gravity=gravity, params=params)
    rest = tau[:, columns] - own - np.asarray(effects)[:, columns]
    found = tuple(_of_joint(*each) for each in zip(names, own.T, rest.T, strict=True))
    if not link:
        return GravityDiagnosis(found, len(q))
    # The payload: least squares for mass and first moments of the link, which explain what is left.
    columns_of_link = joint_torque_regressor(
        model, q, None, None, links=[link], gravity=gravity, params=params
    )
    Y = np.asarray(columns_of_link)
    A = Y[:, columns, :4].reshape(-1, 4)
    x, _, rank, _ = np.linalg.lstsq(A, rest.ravel(), rcond=1e-9)
    left = rest.ravel() - A @ x
    total = float(rest.ravel() @ rest.ravel())
    explained = 1.0 - float(left @ left) / total if total > 0.0 else 0.0
    variance = float(left @ left) / max(rest.size - 4, 1)
    normal = np.linalg.pinv(A.T @ A, rcond=1e-12)
    deviation = float(np.sqrt(variance * normal[0, 0])) if rank == 4 else np.inf
    mass = float(x[0])
    x, y, z = (x[1:] / mass if abs(mass) > FELT * deviation else np.zeros(3)).tolist()
    return GravityDiagnosis(found, len(q), link, mass, deviation, (x, y, z), explained)


def _of_joint(name: str, own: np.ndarray, rest: np.ndarray) -> JointGravity:
    """One joint's fit, from its gravity torques by the model and the measured torques minus these,
    (N,) each."""
    varies = float(np.ptp(own)) > max(VARIED * float(np.abs(own).max()), LEAST_TORQUE)
    A = np.stack([own, np.ones_like(own)][0 if varies else 1 :], axis=1)
    x = np.linalg.lstsq(A, rest, rcond=None)[0]
    left = rest - A @ x
    variance = float(left @ left) / max(len(rest) - A.shape[1], 1)
    deviations = np.sqrt(variance * np.linalg.inv(A.T @ A).diagonal())
    scale, spread = (float(x[0]), float(deviations[0])) if varies else (0.0, np.inf)
    return JointGravity(
        name, scale, spread, float(x[-1]), float(deviations[-1]), float(np.sqrt((rest**2).mean()))
    )
