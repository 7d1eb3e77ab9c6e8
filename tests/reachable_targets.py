"""Targets that a robot can reach, and the errors of inverse kinematics for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from states import states

import warpdyn as wd
from warpdyn.functions.inverse_kinematics import Solution

TOLERANCE = (1e-4, 1e-3)
"""Metres and radians: what counts as solved."""

SOLVED = 0.995
"""Of reachable targets, at least."""


def reachable(
    model: wd.Model, count: int, frames: list[str], dtype: Any = float, seed: int = 0
) -> dict[str, Any]:
    """Poses of frames at random configurations within the limits."""
    s = states(model, count, seed)
    q, draw = s.q, np.random.default_rng(seed)
    lower, upper = model.position_lower, model.position_upper
    limited = np.isfinite(lower) & np.isfinite(upper)
    q[:, limited] = draw.uniform(lower[limited], upper[limited], (count, int(limited.sum())))
    return {
        name: np.ascontiguousarray(wd.fk(model, q, frame=name).astype(dtype)) for name in frames
    }


def errors(
    model: wd.Model, q: np.ndarray, targets: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Largest distance and angle to the targets, in float64."""
    p, w = [], []
    for name, target in targets.items():
        T = wd.fk(model, q.astype(float), frame=name)
        p.append(np.linalg.norm(T[:, :3, 3] - target[:, :3, 3], axis=1))
        # |R - R'| is 2 sqrt(2) sin(angle / 2); exact near zero, where the trace is not
        gap = np.linalg.norm(T[:, :3, :3] - target[:, :3, :3], axis=(1, 2))
        w.append(2 * np.arcsin(np.minimum(gap / 8**0.5, 1.0)))
    return np.max(p, axis=0), np.max(w, axis=0)


def check(
    model: wd.Model, found: Solution, targets: dict[str, np.ndarray], rounding: float
) -> None:
    """Check that the errors are those of forward kinematics, that success follows from them, and
    that q is within limits."""
    p, w = errors(model, found.q, targets)
    assert (
        np.abs(p - found.position_error).max() < rounding
        and np.abs(w - found.orientation_error).max() < rounding
    )
    assert ((p < TOLERANCE[0] + rounding) & (w < TOLERANCE[1] + rounding))[found.success].all()
    assert ((p > TOLERANCE[0] - rounding) | (w > TOLERANCE[1] - rounding))[~found.success].all()
    assert (found.q > model.position_lower - 1e-6).all() and (
        found.q < model.position_upper + 1e-6
    ).all()
    assert np.abs(found.q - wd.normalize(model, found.q)).max(initial=0.0) < rounding
    assert found.iterations.dtype == np.int32 and (found.iterations > 0).all()
