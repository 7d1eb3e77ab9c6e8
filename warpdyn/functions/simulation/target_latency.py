"""Latency of the targets of a simulation's drives, in steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from .varied_numbers import Shaped, is_number


def latencies(
    latency: Any, longest: int | None, envs: int, substeps: int
) -> tuple[np.ndarray, int]:
    """Latencies in steps (envs,), and the number of earlier launches that they need.

    latency: whole steps, a number or (envs,), on the host. longest: the largest value that they may
    take; None: the largest of these values.
    """
    steps = np.asarray(latency, dtype=float)
    if steps.shape not in ((), (envs,)):
        raise ValueError(f"latency must be a number or ({envs},), got {steps.shape}")
    if not (np.isfinite(steps).all() and (steps >= 0).all() and (steps == np.floor(steps)).all()):
        raise ValueError(f"latency must be whole steps of 0 or more, got {latency}")
    most = float(steps.max())
    if longest is not None and not (is_number(longest) and longest >= max(most, 1)):
        raise ValueError(
            f"longest_latency must be at least 1 and at least the latency, {most:g}; got {longest!r}"
        )
    reach = most if longest is None else longest
    if reach < 1:
        raise ValueError(
            "latency is 0 everywhere: give the largest value that it may take, longest_latency="
        )
    return np.broadcast_to(steps, (envs,)), math.ceil(reach / substeps)


def late_targets(
    latency: Array | None, earlier: Array | None, targets: Array | None, joints: int
) -> Shaped:
    """The arrays of late targets with their shapes, by name; empty if targets are not late."""
    if latency is None and earlier is None:
        return {}
    if latency is None or earlier is None or targets is None:
        raise ValueError(
            "late targets need latency= (B, 1), earlier_targets= (B, n, joints) and targets=: give all three"
        )
    launches = int(earlier.shape[-2]) if len(earlier.shape) > 1 else 0
    if launches < 1:
        raise ValueError(
            f"earlier_targets must be (B, n, joints) with n of at least 1, got {tuple(earlier.shape)}"
        )
    return {"latency": (latency, (1,)), "earlier_targets": (earlier, (launches, joints))}
