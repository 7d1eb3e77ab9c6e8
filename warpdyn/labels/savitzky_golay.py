"""Velocities and accelerations of logged positions, from derivatives of polynomials fitted to a
window of rows by their time stamps.

Savitzky and Golay, Smoothing and Differentiation of Data by Simplified Least Squares Procedures
(1964). There are three extensions. At both ends of an episode, the polynomial of the first or last
window is differentiated at the row. Uneven time stamps are used as they are. A configuration that
is not a vector (a free base, a ball joint) is replaced by its difference from the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..logs.records import are_ticks

BLOCK = 4096
"""Number of rows at a time, so that the sums stay in the cache."""

EVEN = 0.01
"""Largest relative deviation of an episode's steps from their mean for which they count as even (or
two units in the stamps' last place). Even steps avoid a division by noise in the stamps."""

Difference = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function for the tangent from the first rows to the second, (B, nv)."""


class Filter(NamedTuple):
    """Window and degree of the polynomials."""

    window: int = 15
    """Number of rows; odd."""
    degree: int = 3

    @classmethod
    def of(cls, text: str) -> Filter:
        """Filter from `savgol:15`, or with a degree `savgol:15:4`."""
        kind, *numbers = text.split(":")
        if kind != "savgol" or len(numbers) not in (1, 2) or not all(n.isdigit() for n in numbers):
            raise ValueError(f"filter must be savgol:WINDOW or savgol:WINDOW:DEGREE, got {text!r}")
        found = cls(*map(int, numbers))
        if found.degree < 2 or found.window <= found.degree or found.window % 2 == 0:
            raise ValueError(
                "filter needs an odd window of more rows than the degree, which is 2 or more; "
                f"got {text!r}"
            )
        return found

    def __str__(self) -> str:
        return f"savgol:{self.window}:{self.degree}"


USUAL_FILTER = Filter()


class Episodes(NamedTuple):
    """Ranges of rows that a window does not leave, from the first row on."""

    starts: np.ndarray
    """First rows, (E,)."""
    ends: np.ndarray
    """Rows after the last ones, (E,)."""
    dt: np.ndarray
    """Seconds of a step, (E,); NaN if the stamps are not even."""

    def short(self, rows: int) -> np.ndarray:
        """Mask of episodes with fewer rows, (E,)."""
        return self.ends - self.starts < rows


def derivatives(
    x: np.ndarray,
    t: np.ndarray,
    first: int,
    wanted: slice,
    episodes: Episodes,
    filter: Filter,
    difference: Difference | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of rows by time, (B, nv), [1/s, 1/s²] of the unit of x.

    x: (R, n) rows of a log from its row `first` on, t: (R,) [s]. wanted: a slice of the R rows; one
    window before and after them must be included, within their episodes. difference: None for rows
    that are vectors. Rows of episodes of fewer than three rows are NaN.
    """
    rows = np.arange(wanted.start, wanted.stop)
    which = np.searchsorted(episodes.starts, rows + first, "right") - 1
    start, end = episodes.starts[which] - first, episodes.ends[which] - first
    dt, h = episodes.dt[which], filter.window // 2
    short = end - start < filter.window
    # Most rows have a whole, even window and share one set of weights. Ends of episodes, uneven
    # stamps and short episodes are replaced below.
    whole = (rows - h >= start) & (rows + h < end) & ~np.isnan(dt)
    results = _central(x, rows, filter, difference)
    for order, result in enumerate(results, 1):
        result /= (dt.astype(result.dtype) ** order)[:, None]
    ends = ~whole & ~short & ~np.isnan(dt)
    uneven = ~short & np.isnan(dt)
    begin = np.clip(rows - h, start, end - filter.window)
    if ends.any():
        i, s = rows[ends], begin[ends]
        places = np.arange(filter.window)
        known = weights((places - places[:, None]).astype(float), filter.degree)
        fitted = _fit_windows(x, i, s, (known[0][i - s], known[1][i - s]), difference)
        for result, value, order in zip(results, fitted, (1, 2), strict=True):
            result[ends] = value / dt[ends, None] ** order
    for k in range(0, int(uneven.sum()), BLOCK):
        some = np.flatnonzero(uneven)[k : k + BLOCK]
        offsets = t[begin[some, None] + np.arange(filter.window)] - t[rows[some], None]
        both = weights(offsets, filter.degree)
        results[0][some], results[1][some] = _fit_windows(
            x, rows[some], begin[some], both, difference
        )
    for n in np.unique((end - start)[short]):
        some = np.flatnonzero(short & (end - start == n))
        if n < 3:
            results[0][some] = results[1][some] = np.nan
            continue
        steps = np.arange(n) - (rows[some] - start[some])[:, None]
        stamps = t[start[some, None] + np.arange(n)] - t[rows[some], None]
        offsets = np.where(np.isnan(dt[some, None]), stamps, steps * dt[some, None])
        both = weights(offsets, min(filter.degree, int(n) - 1))
        results[0][some], results[1][some] = _fit_windows(
            x, rows[some], start[some], both, difference
        )
    return results


def weights(offsets: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of values at these offsets for the first two derivatives of their polynomial at
    offset 0: offsets (M, w) [s], both (M, w)."""
    low, high = offsets.min(axis=1), offsets.max(axis=1)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    # In (-1, 1) around the window's middle the normal equations are accurate: 1e-13 for degree 4.
    s = (offsets - middle[:, None]) / half[:, None]
    P = np.ones((*s.shape, degree + 1))
    for power in range(degree):
        np.multiply(P[:, :, power], s, out=P[:, :, power + 1])
    z, k = -(middle / half)[:, None], np.arange(degree + 1)
    at_zero = np.zeros((len(offsets), degree + 1, 2))
    at_zero[:, 1:, 0] = k[1:] * z ** k[:-1] / half[:, None]
    at_zero[:, 2:, 1] = k[2:] * k[1:-1] * z ** k[:-2] / half[:, None] ** 2
    found = P @ np.linalg.solve(P.transpose(0, 2, 1) @ P, at_zero)
    return found[:, :, 0], found[:, :, 1]


def _central(
    x: np.ndarray, rows: np.ndarray, filter: Filter, difference: Difference | None
) -> tuple[np.ndarray, np.ndarray]:
    """Both derivatives at the middle of even windows, for steps of one second; zero for rows whose
    window leaves the array."""
    h, n = filter.window // 2, len(x)
    first, second = weights(np.arange(-h, h + 1, dtype=float)[None], filter.degree)
    low, high = max(rows[0], h), min(rows[-1] + 1, n - h)
    nv = x.shape[1] if difference is None else difference(x[:1], x[:1]).shape[1]
    V, A = np.zeros((len(rows), nv), x.dtype), np.zeros((len(rows), nv), x.dtype)
    for begin in range(low, high, BLOCK):
        i = slice(begin, min(begin + BLOCK, high))
        v, a = V[i.start - rows[0] : i.stop - rows[0]], A[i.start - rows[0] : i.stop - rows[0]]
        for k in range(1, h + 1):
            after, before = x[i.start + k : i.stop + k], x[i.start - k : i.stop - k]
            # The middle is subtracted before weighting, so that float32 keeps its digits.
            if difference is None:
                after, before = after - x[i], before - x[i]
            else:
                after, before = difference(x[i], after), difference(x[i], before)
            v += x.dtype.type(first[0, h + k]) * (after - before)
            a += x.dtype.type(second[0, h + k]) * (after + before)
    return V, A


def _fit_windows(
    x: np.ndarray,
    i: np.ndarray,
    begin: np.ndarray,
    both: tuple[np.ndarray, np.ndarray],
    difference: Difference | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of a window's differences from row i, with both sets of weights, (M, nv) in float64."""
    here = x[i].astype(np.float64)
    first: Any = 0.0
    second: Any = 0.0
    for k in range(both[0].shape[1]):
        there = x[begin + k].astype(np.float64)
        d = there - here if difference is None else difference(here, there)
        first = first + both[0][:, k, None] * d
        second = second + both[1][:, k, None] * d
    return first, second


class EpisodeFinder:
    """Episodes of a log, from its columns of time and of the episode, part by part."""

    def __init__(self, names: Mapping[str, str]):
        self._names = names
        """Columns for messages: time, and the episode if there is one."""
        self._rows = 0
        self._last: tuple[float, float] | None = None
        self._starts: list[int] = []
        self._stamps: list[list[float]] = []
        """For each episode: the first stamp, the last, the shortest step and the longest."""
        self._spacing = self._latest = 0.0
        self._steps: list[float] = []
        """Median steps of the parts [s]."""

    def add(self, t: np.ndarray, episode: np.ndarray | None, unit: float = 1.0) -> None:
        """Add the next rows: time in a unit [s], and the episode's number."""
        latest = np.abs(t).max()
        self._spacing = max(self._spacing, float(np.spacing(latest)) * unit)
        t = t.astype(np.float64) * unit
        self._latest = max(self._latest, float(latest) * unit)
        if len(t) > 1:
            self._steps.append(float(np.median(np.diff(t))))
        number = np.zeros(len(t)) if episode is None else episode
        changes = np.flatnonzero(np.diff(number)) + 1
        goes_on = self._last is not None and number[0] == self._last[1]
        bounds = [0, *changes.tolist(), len(t)]
        for k, (begin, end) in enumerate(pairwise(bounds)):
            some = t[begin:end]
            if k == 0 and goes_on and self._last is not None:
                some = np.concatenate([[self._last[0]], some])
            else:
                self._starts.append(self._rows + begin)
                self._stamps.append([float(some[0]), float(some[0]), np.inf, -np.inf])
            steps, known = np.diff(some), self._stamps[-1]
            known[1] = float(some[-1])
            if len(steps):
                known[2] = min(known[2], float(steps.min()))
                known[3] = max(known[3], float(steps.max()))
        self._last = float(t[-1]), float(number[-1])
        self._rows += len(t)

    def all_episodes(self) -> Episodes:
        """All episodes; ValueError if time does not increase within one, is not in seconds, or is
        too coarse for the length of a step."""
        self._refuse_ticks()
        starts = np.array(self._starts, dtype=np.int64)
        ends = np.append(starts[1:], self._rows)
        begin, end, shortest, longest = np.array(self._stamps, dtype=float).reshape(-1, 4).T
        dt = (end - begin) / np.maximum(ends - starts - 1, 1)
        allowed = EVEN * dt + 2.0 * self._spacing
        even = (longest - dt <= allowed) & (dt - shortest <= allowed) & (dt > 0.0)
        back = ~even & (shortest <= 0.0)
        if back.any():
            k = int(np.argmax(back))
            remedy = (
                "cut the file there"
                if "episode" in self._names
                else "if it has several recordings, name the column that counts them: "
                "--columns episode=NAME"
            )
            raise ValueError(
                f"column {self._names['time']} does not increase between rows {starts[k]} "
                f"and {ends[k]}; {remedy}"
            )
        coarse = even & (self._spacing > EVEN * (end - begin))
        if coarse.any():
            k = int(np.argmax(coarse))
            raise ValueError(
                f"column {self._names['time']} is too coarse: its numbers near {self._latest:.9g} s are "
                f"{self._spacing:.2g} s apart, and rows {starts[k]} to {ends[k] - 1} last "
                f"{end[k] - begin[k]:.2g} s; write it in float64, or as seconds since the start"
            )
        return Episodes(starts, ends, np.where(even, dt, np.nan))

    def _refuse_ticks(self) -> None:
        step, name = float(np.median(self._steps)) if self._steps else 0.0, self._names["time"]
        if are_ticks(step, self._latest):
            raise ValueError(
                f"column {name} is read in seconds, and its rows are {step:g} s apart (median), the "
                f"last at {self._latest:.9g} s; name its unit, such as --columns time={name}:ns"
            )
