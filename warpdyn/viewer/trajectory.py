"""A motion of a robot over time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..functions.manifold import interpolate
from ..logs.records import are_ticks
from ..model import Model
from ..model.coordinate_ranges import continue_angles
from ..model.structure import start_of
from .stage import ViewerError

RATE = 50.0
"""Rows per second if there are no times."""


class Trajectory:
    """Configurations of one robot, or of several, at times.

    q: (T, B, nq).  times: (T,) [s], increasing.  still: joints without data, which stay at `home`,
    or at neutral without `home`.  has_times: False if the times are those of `RATE`.
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        times: np.ndarray,
        still: tuple[str, ...] = (),
        has_times: bool = True,
    ):
        self.model, self.q, self.times, self.still = model, q, times, still
        self.has_times = has_times

    @classmethod
    def of(cls, model: Model, q: Any, times: Any = None) -> Trajectory:
        """A motion from (T, nq), (T, B, nq), or positions by joint {"joint": (T,)}; the other
        joints stay at `home`, or at neutral without `home`."""
        rows = _by_joint(model, q) if isinstance(q, Mapping) else np.asarray(q, dtype=float)
        rows = rows[:, None] if rows.ndim == 2 else rows
        if rows.ndim != 3 or rows.shape[2] != model.nq or not len(rows):
            raise ViewerError(
                f"a trajectory of {model.name} is (T, {model.nq}) or (T, B, {model.nq}), got {np.shape(q)}"
            )
        at = np.arange(len(rows)) / RATE if times is None else np.asarray(times, dtype=float)
        if at.shape != (len(rows),):
            raise ViewerError(f"times must be ({len(rows)},), one for each row, got {at.shape}")
        wrong = np.flatnonzero(~np.isfinite(rows).all((1, 2)) | ~np.isfinite(at))
        if len(wrong):
            raise ViewerError(
                f"the trajectory is not finite in {len(wrong)} of {len(rows)} rows, first in row {wrong[0]}"
            )
        back = np.flatnonzero(np.diff(at) < 0)
        if len(back):
            raise ViewerError(
                f"times must increase; row {back[0] + 1} has {at[back[0] + 1]:g} s after {at[back[0]]:g} s"
            )
        if times is not None:
            _refuse_ticks(at)
        named = q if isinstance(q, Mapping) else model.joint_names
        still = tuple(n for n in model.joint_names if n not in named)
        return cls(model, rows, at, still, times is not None)

    @property
    def seconds(self) -> float:
        """Duration [s]."""
        return float(self.times[-1] - self.times[0])

    def at(self, time: float) -> np.ndarray:
        """Configurations (B, nq) at a time [s], interpolated between two rows along the shortest
        way."""
        k = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        if k == len(self.times) - 1 or self.times[k + 1] <= self.times[k] or time <= self.times[k]:
            return self.q[k]
        share = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        along = np.full(self.q.shape[1], share)
        here, there = self._continuous_angles[k : k + 2]
        return np.asarray(interpolate(self.model, here, there, along))

    @cached_property
    def _continuous_angles(self) -> np.ndarray:
        """The configurations (T, B, nq) with unwrapped angles. Whether an angle is wrapped depends on
        its whole motion: a wheel that turns by 5 rad from row to row is not."""
        robots = [continue_angles(self.model, q) for q in self.q.swapaxes(0, 1)]
        return np.stack(robots, axis=1)


def _refuse_ticks(times: np.ndarray) -> None:
    """Raise for times in microseconds or nanoseconds, or in milliseconds since 1970."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    if are_ticks(step, abs(times).max()):
        raise ViewerError(
            f"times are in seconds, and rows from {times[0]:.9g} s are {step:g} s apart (median); "
            "convert nanoseconds: times = stamps * 1e-9"
        )


def _by_joint(model: Model, positions: Mapping[str, Any]) -> np.ndarray:
    """Configurations (T, nq) from positions by joint."""
    if not positions:
        raise ViewerError(f"the trajectory names no joint of {model.name}")
    unknown = [n for n in positions if n not in model.coordinates]
    if unknown:
        raise ViewerError(
            f"the trajectory names {', '.join(unknown[:3])}, which {model.name} does not have; it has "
            f"{', '.join(model.joint_names[:8])}"
        )
    columns = {n: np.asarray(x, dtype=float) for n, x in positions.items()}
    count = len(next(iter(columns.values())))
    rows = np.tile(np.asarray(start_of(model)), (count, 1))
    for name, x in columns.items():
        at = model.coordinates[name].q
        width = at.stop - at.start
        if x.reshape(len(x), -1).shape != (count, width):
            raise ViewerError(
                f'positions of "{name}" must be ({count},{"" if width == 1 else f" {width}"}), got {x.shape}'
            )
        rows[:, at] = x.reshape(count, width)
    return rows
