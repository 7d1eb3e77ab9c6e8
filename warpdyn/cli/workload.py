"""One algorithm on arrays of random states: what the commands run, time and compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import warp as wp

import warpdyn

from ..arrays import views
from ..execution.launch import bind
from ..execution.oracle import oracle
from ..functions.dynamics import crba, rnea
from ..model import Model
from ..model.coordinate_ranges import coordinate_ranges, orientation_columns

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "fk": ("q",),
    "jacobian": ("q",),
    "crba": ("q",),
    "rnea": ("q", "v", "a"),
    "aba": ("q", "v", "tau"),
}
"""The five algorithms, in the order of tables, and the states that each takes."""

LARGEST_ANGLE = 10.0
"""Limits beyond this [rad, m] are not drawn from: float32 loses digits of large angles, and some files write 1e16."""


def position_bounds(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(nq,) lower and upper bounds to draw positions from: the limits, or -pi to pi where there are none."""
    bounds = np.array([[-np.pi] * model.nq, [np.pi] * model.nq])
    for each in coordinate_ranges(model):
        if each.bounded and each.lower <= each.upper:
            limits = np.array([each.lower, each.upper])
            bounds[:, each.column] = np.clip(limits, -LARGEST_ANGLE, LARGEST_ANGLE)
    return bounds[0], bounds[1]


def random_states(model: Model, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """`count` states within limits, float64: q (count, nq); v, a and tau (count, nv). Quaternions have length one."""
    draw = np.random.default_rng(seed)
    q = draw.uniform(*position_bounds(model), (count, model.nq))
    for place, turn in orientation_columns(model):
        q[:, place] = draw.uniform(-1, 1, (count, place.stop - place.start))
        quaternion = draw.normal(size=(count, 4))
        q[:, turn] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    speed = np.minimum(np.where(model.velocity_limit > 0, model.velocity_limit, 1.0), 3.0)
    effort = np.minimum(np.where(model.effort_limit > 0, model.effort_limit, 1.0), 50.0)
    return {
        "q": q,
        "v": draw.uniform(-speed, speed, (count, model.nv)),
        "a": draw.uniform(-5, 5, (count, model.nv)),
        "tau": draw.uniform(-effort, effort, (count, model.nv)),
    }


def furthest_link(model: Model) -> str:
    """The link behind the most moving joints; the last one of a serial arm."""
    depth = {model.root: 0}
    for joint in model.joints:
        depth[joint.child] = depth[joint.parent] + (joint.kind.nv > 0)
    return max(depth, key=lambda name: depth[name])


def options_of(algorithm: str, frame: str) -> dict[str, Any]:
    """Keywords of an algorithm: the Jacobian is that of one frame, `fk` gives all links."""
    return {"frame": frame} if algorithm == "jacobian" else {}


@dataclass(frozen=True)
class Workload:
    """An algorithm, its arrays on a device, and the array for its result.

    `layout`: "columns" has the same entry of all robots side by side in memory, "rows" one robot after the other.
    """

    model: Model
    algorithm: str
    inputs: tuple[Any, ...]
    out: Any
    options: Mapping[str, Any]
    device: str

    @classmethod
    def of(
        cls,
        model: Model,
        algorithm: str,
        states: Mapping[str, np.ndarray],
        *,
        frame: str,
        dtype: str = "float32",
        layout: str = "columns",
        device: str = "cpu",
    ) -> Workload:
        kind = "warp" if wp.get_device(device).is_cuda else "numpy"
        columns, options = layout == "columns", options_of(algorithm, frame)
        count, single = len(states["q"]), dtype == "float32"

        def place(values: np.ndarray) -> Any:
            array = views.empty(kind, device, single, count, values.shape[1:], columns)
            if kind == "numpy":
                array[...] = values
            else:
                wp.copy(array, wp.array(values.astype(dtype), device=device))
            return array

        shape = {
            "fk": (model.nlinks, 4, 4),
            "jacobian": (6, model.nv),
            "crba": (model.nv, model.nv),
        }.get(algorithm)
        out = views.empty(kind, device, single, count, shape or (model.nv,), columns)
        return cls(
            model,
            algorithm,
            tuple(place(states[x]) for x in ARGUMENTS[algorithm]),
            out,
            options,
            device,
        )

    @property
    def function(self) -> Callable[..., Any]:
        return getattr(warpdyn, self.algorithm)

    @property
    def count(self) -> int:
        return self.out.shape[0]

    def call(self) -> Any:
        """The public function, as users call it."""
        return self.function(self.model, *self.inputs, out=self.out, **self.options)

    def bind(self) -> Callable[[], Any]:
        return bind(self.function, self.model, *self.inputs, out=self.out, **self.options)

    def given(self, sample: int) -> list[np.ndarray]:
        """The first inputs, as the kernel reads them, in float64."""
        return [self._first(x, sample) for x in self.inputs]

    def results(self, sample: int) -> np.ndarray:
        """The first results, in float64."""
        return self._first(self.out, sample)

    def _first(self, array: Any, sample: int) -> np.ndarray:
        return np.asarray((array.numpy() if self.device != "cpu" else array)[:sample], dtype=float)

    def worst_error(self, sample: int = 16) -> float:
        """Of the first `sample` results, against the float64 oracle on the same inputs."""
        rows, found = self.given(sample), self.results(sample)
        if self.algorithm == "aba":
            q, v, tau = rows
            M, h = oracle(crba, self.model, q), oracle(rnea, self.model, q, v, np.zeros_like(v))
            return residual(M, h, found, tau)
        return relative_error(found, oracle(self.function, self.model, *rows, **self.options))


def seconds_in_turns(
    runs: Sequence[Callable[[], Any]], device: str, *, enough: float = 0.25, repeats: int = 9
) -> list[float]:
    """Median seconds of one call of each, over `repeats` loops that take about `enough` seconds together.

    They take turns, so that all see the same noise.
    """
    wait = wp.get_device(device).is_cuda
    loops = [_loops(run, enough / repeats, wait) for run in runs]
    rounds = [
        [_loop(run, n, wait) / n for run, n in zip(runs, loops, strict=True)]
        for _ in range(repeats)
    ]
    return [median(samples) for samples in zip(*rounds, strict=True)]


def _loops(run: Callable[[], Any], seconds: float, wait: bool) -> int:
    """How many calls take so many seconds, or half of them."""
    loops = 1
    while (taken := _loop(run, loops, wait)) < seconds / 2:
        loops = max(loops + 1, min(loops * 10, round(loops * seconds / max(taken, 1e-7))))
    return loops


def _loop(run: Callable[[], Any], loops: int, wait: bool) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        run()
    if wait:
        wp.synchronize()
    return time.perf_counter() - start


def relative_error(found: np.ndarray, wanted: np.ndarray) -> float:
    """Worst over the rows: largest difference by the row's largest value. NaN is infinitely wrong."""
    found, wanted = found.reshape(len(found), -1), wanted.reshape(len(wanted), -1)
    if not wanted.size:
        return 0.0
    size = np.maximum(np.abs(wanted).max(axis=1), 1e-12)
    worst = np.max(np.abs(found - wanted).max(axis=1) / size)
    return float("inf") if np.isnan(worst) else float(worst)


def residual(M: np.ndarray, h: np.ndarray, a: np.ndarray, tau: np.ndarray) -> float:
    """Worst over the rows of |M a + h - tau|, relative to the row's largest |M| |a| + |h| + |tau|.

    It is what is wrong with accelerations `a` apart from what an ill-conditioned M makes of the last digit of `tau`.
    """
    if not a.size:
        return 0.0
    difference = np.abs(np.einsum("eij,ej->ei", M, a) + h - tau).max(axis=1)
    size = (np.einsum("eij,ej->ei", np.abs(M), np.abs(a)) + np.abs(h) + np.abs(tau)).max(axis=1)
    worst = np.max(difference / np.maximum(size, 1e-12))
    return float("inf") if np.isnan(worst) else float(worst)
