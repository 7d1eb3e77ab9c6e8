"""Motions through waypoints, joined by lines or by cubic or quintic polynomials."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

SAMPLES, FINE = 17, 257
"""Number of samples of each piece, including its ends, and of pieces that may leave their
bounds."""

BETWEEN = np.array([0.075, 0.029, 0.011])[:, None, None]
"""Largest distance by which a piece leaves the range of its samples, as a share of this range: of polynomials of
degrees 5, 4 and 3 for positions, velocities and accelerations (found by linear programming)."""

ALL = slice(None)


class Waypoint(NamedTuple):
    """The time since the start of a motion [s], and the positions, velocities and accelerations of k joints then.
    Velocities and accelerations may be empty."""

    time: float
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()


class WaypointArrays(NamedTuple):
    """n waypoints of k joints as arrays. Velocities and accelerations are zero where a waypoint has none."""

    times: np.ndarray
    """(n,)"""
    positions: np.ndarray
    """(n, k), like velocities and accelerations"""
    velocities: np.ndarray
    accelerations: np.ndarray
    has_velocities: np.ndarray
    """(n,), True where a waypoint has velocities"""
    has_accelerations: np.ndarray
    """(n,), True where a waypoint has velocities and accelerations"""

    @classmethod
    def of(cls, waypoints: Sequence[Waypoint]) -> WaypointArrays:
        """waypoints: at least one; each with k positions, and with k or no velocities and accelerations."""
        n, k = len(waypoints), len(waypoints[0].positions)
        has_v = np.fromiter((len(w.velocities) == k for w in waypoints), bool, n)
        has_a = np.fromiter((len(w.accelerations) == k for w in waypoints), bool, n)
        v, a = np.zeros((n, k)), np.zeros((n, k))
        v[has_v] = _rows((w.velocities for w in waypoints), k)
        a[has_a] = _rows((w.accelerations for w in waypoints), k)
        times = np.fromiter((w.time for w in waypoints), float, n)
        return cls(times, _rows((w.positions for w in waypoints), k), v, a, has_v, has_v & has_a)

    def rows(self, chosen: slice | np.ndarray) -> WaypointArrays:
        """Some of the waypoints."""
        return WaypointArrays(*(each[chosen] for each in self))

    def nearest_turns(self, place: np.ndarray, time: float, turns: np.ndarray) -> WaypointArrays:
        """These waypoints, with the angles of endless joints (turns, (k,)) shifted to within half a
        turn of a position (k,) at a time."""
        at = np.array([np.interp(time, self.times, column) for column in self.positions.T])
        shift = 2.0 * np.pi * np.round((place - at) / (2.0 * np.pi))
        return self._replace(positions=self.positions + np.where(turns, shift, 0.0))

    def after(self, first: WaypointArrays, factor: float = 1.0) -> WaypointArrays:
        """These waypoints after another first one, with the times since the first one multiplied by
        `factor`."""
        begin = first.times[-1]
        slower = self._replace(
            times=begin + factor * (self.times - begin),
            velocities=self.velocities / factor,
            accelerations=self.accelerations / factor**2,
        )
        return WaypointArrays(*map(np.concatenate, zip(first, slower, strict=True)))


def _rows(parts: Iterable[Sequence[float]], k: int) -> np.ndarray:
    """The numbers of all parts in rows (n, k)."""
    return np.fromiter(chain.from_iterable(parts), float).reshape(-1, k)


class WaypointSpline:
    """Piecewise polynomials in time through waypoints, for k joints.

    Between two waypoints that both have velocities and accelerations the polynomial is quintic. If both have
    velocities it is cubic, and otherwise it is a line. This is the rule of the joint_trajectory_controller of
    ros2_controllers. Siciliano et al., Robotics (2009), 4.2.1.
    """

    def __init__(self, points: WaypointArrays) -> None:
        """points: at least two, with increasing times."""
        times = points.times
        self.begin, self.end = float(times[0]), float(times[-1])
        self._times: list[float] = times[:-1].tolist()
        self._h = np.diff(times)
        self._c = _coefficients(self._h, *points[1:])
        self.last = points.positions[-1]
        """Positions (k,) at the end."""
        self._powers = np.zeros((3, 6))

    def at(self, time: float, out: np.ndarray) -> None:
        """Write positions, velocities and accelerations (3, k) at a time; outside the motion, those at its ends."""
        time = min(max(time, self.begin), self.end)
        piece = max(bisect_right(self._times, time) - 1, 0)
        t = time - self._times[piece]
        t2 = t * t
        t3, t4 = t2 * t, t2 * t2
        self._powers[0] = 1.0, t, t2, t3, t4, t4 * t
        self._powers[1] = 0.0, 1.0, 2.0 * t, 3.0 * t2, 4.0 * t3, 5.0 * t4
        self._powers[2] = 0.0, 0.0, 2.0, 6.0 * t, 12.0 * t2, 20.0 * t3
        np.dot(self._powers, self._c[piece], out=out)

    def points_after(self, time: float) -> int:
        """Number of the waypoints after a time."""
        return len(self._times) - bisect_right(self._times, time) + (time < self.end)

    def extremes(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest positions, velocities and accelerations (3, k) of the motion. Pieces
        with samples near their bounds (3, k) are sampled more finely."""
        samples = self.samples()
        least, most = samples.min(axis=1), samples.max(axis=1)
        beyond = BETWEEN * (most - least)
        lowest, highest = least.min(axis=-1), most.max(axis=-1)
        above = most + beyond > np.maximum(high, highest)[..., None]
        below = least - beyond < np.minimum(low, lowest)[..., None]
        near = np.flatnonzero((above | below).any(axis=(0, 1)))
        if len(near):
            closer = self.samples(FINE, near)
            lowest = np.minimum(lowest, closer.min(axis=(1, 3)))
            highest = np.maximum(highest, closer.max(axis=(1, 3)))
        return lowest, highest

    def samples(self, count: int = SAMPLES, pieces: slice | np.ndarray = ALL) -> np.ndarray:
        """Positions, velocities and accelerations (3, count, k, pieces) in pieces, by default in all."""
        t = np.linspace(0.0, 1.0, count)[:, None]
        powers = np.arange(6)
        bases = np.zeros((3, count, 6))
        """The powers of the time in shares of a piece, and their derivatives."""
        bases[0] = t**powers
        bases[1, :, 1:] = powers[1:] * bases[0, :, :-1]
        bases[2, :, 2:] = powers[2:] * bases[1, :, 1:-1]
        h = self._h[pieces]
        c = self._c[pieces].transpose(1, 2, 0) * h ** powers[:, None, None]
        # One product of matrices: the work of a long trajectory delays the commands.
        samples = np.tensordot(bases, c, axes=1)
        samples[1] /= h
        samples[2] /= h * h
        return samples


def _coefficients(
    h: np.ndarray, p: np.ndarray, v: np.ndarray, a: np.ndarray, has_v: np.ndarray, has_a: np.ndarray
) -> np.ndarray:
    """Coefficients (pieces, 6, k) of the powers of the time since the start of each piece."""
    T = h[:, None]
    step = p[1:] - p[:-1]
    v0, v1, a0, a1 = v[:-1], v[1:], a[:-1], a[1:]
    c = np.zeros((len(h), 6, p.shape[1]))
    cubic = (has_v[:-1] & has_v[1:])[:, None]
    quintic = (has_a[:-1] & has_a[1:])[:, None]
    c[:, 0] = p[:-1]
    c[:, 1] = np.where(cubic, v0, step / T)
    c[:, 2] = np.where(cubic, (3.0 * step / T - 2.0 * v0 - v1) / T, 0.0)
    c[:, 3] = np.where(cubic, (-2.0 * step / T + v0 + v1) / T**2, 0.0)
    third = (20.0 * step - (8.0 * v1 + 12.0 * v0) * T - (3.0 * a0 - a1) * T**2) / (2.0 * T**3)
    fourth = (-30.0 * step + (14.0 * v1 + 16.0 * v0) * T + (3.0 * a0 - 2.0 * a1) * T**2) / (
        2.0 * T**4
    )
    fifth = (12.0 * step - 6.0 * (v1 + v0) * T + (a1 - a0) * T**2) / (2.0 * T**5)
    c[:, 2] = np.where(quintic, 0.5 * a0, c[:, 2])
    c[:, 3] = np.where(quintic, third, c[:, 3])
    c[:, 4] = np.where(quintic, fourth, 0.0)
    c[:, 5] = np.where(quintic, fifth, 0.0)
    return c
