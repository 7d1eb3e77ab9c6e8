"""Workloads of the commands: one algorithm on arrays of random states, to run, time and compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import views
from ..arrays.libraries import library_for, library_of
from ..execution.batched import bind
from ..functions.dynamics import aba, crba, rnea
from ..functions.kinematics import fk, jacobian
from ..model import Model
from ..model.coordinate_ranges import coordinate_ranges, orientation_columns

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "fk": ("q",),
    "jacobian": ("q",),
    "crba": ("q",),
    "rnea": ("q", "v", "a"),
    "aba": ("q", "v", "tau"),
}
"""The five algorithms, in the order of tables, and the states that each reads."""

FUNCTIONS: Mapping[str, Any] = {f.__name__: f for f in (fk, jacobian, crba, rnea, aba)}
"""Their public functions."""

LARGEST_ANGLE = 10.0
"""Largest random position [rad, m]. float32 loses digits of large angles, and some limits are
1e16."""


def position_bounds(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(nq,) lower and upper bounds to draw from: the limits, or -pi to pi without limits."""
    bounds = np.array([[-np.pi] * model.nq, [np.pi] * model.nq])
    for each in coordinate_ranges(model):
        if each.has_limits and each.lower <= each.upper:
            limits = np.array([each.lower, each.upper])
            bounds[:, each.column] = np.clip(limits, -LARGEST_ANGLE, LARGEST_ANGLE)
    return bounds[0], bounds[1]


def random_states(model: Model, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """States within limits, float64: q (count, nq); v, a and tau (count, nv).

    Quaternions have length one.
    """
    draw = np.random.default_rng(seed)
    q = draw.uniform(*position_bounds(model), (count, model.nq))
    for place, turn in orientation_columns(model):
        q[:, place] = draw.uniform(-1, 1, (count, place.stop - place.start))
        # Four normal numbers have no preferred direction, so rotations are uniform.
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


def furthest_link(model: Model, among: Collection[str] | None = None) -> str:
    """The link behind the most moving joints, optionally among some links; the last one of a serial
    arm."""
    depth = {model.root: 0}
    for joint in model.joints:
        depth[joint.child] = depth[joint.parent] + (joint.kind.nv > 0)
    return max(
        (name for name in depth if among is None or name in among), key=lambda name: depth[name]
    )


def options_of(algorithm: str, frame: str) -> dict[str, Any]:
    """Keywords of an algorithm: the Jacobian needs one frame, `fk` returns all links."""
    return {"frame": frame} if algorithm == "jacobian" else {}


@dataclass(frozen=True)
class Memory:
    """Memory of arrays: NumPy's on the CPU, Warp's on a GPU.

    With layout "columns" the same coordinate of all robots is adjacent in memory; with "rows",
    robots follow each other.
    """

    dtype: str = "float32"
    layout: str = "columns"
    device: str = "cpu"

    def empty(self, count: int, shape: Sequence[int]) -> Any:
        """A new (count, *shape) array."""
        single, columns = self.dtype == "float32", self.layout == "columns"
        return views.empty(library_for(self.device), self.device, single, count, shape, columns)

    def array_of(self, values: np.ndarray) -> Any:
        """A new array with these values."""
        array = self.empty(len(values), values.shape[1:])
        library_of(array).write(array, values)
        return array


def on_host(array: Any) -> np.ndarray:
    """The values of an array of either library."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.numpy())


@dataclass(frozen=True)
class Workload:
    """An algorithm, its arrays on a device, and the array for its results (a tuple for several
    results)."""

    model: Model
    algorithm: str
    inputs: tuple[Any, ...]
    out: Any
    options: Mapping[str, Any]
    own: Callable[..., Any] | None = None
    """The user's kernel, if `algorithm` is its label."""
    shared: tuple[bool, ...] = ()
    """True for each input of a user's kernel that is one array for all robots."""

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
        """The algorithm on all the states, as arrays with that dtype and layout."""
        memory = Memory(dtype, layout, device)
        shapes: dict[str, tuple[int, ...]] = {
            "fk": (model.nlinks, 4, 4),
            "jacobian": (6, model.nv),
            "crba": (model.nv, model.nv),
        }
        return cls(
            model=model,
            algorithm=algorithm,
            inputs=tuple(memory.array_of(states[name]) for name in ARGUMENTS[algorithm]),
            out=memory.empty(len(states["q"]), shapes.get(algorithm, (model.nv,))),
            options=options_of(algorithm, frame),
        )

    @property
    def function(self) -> Callable[..., Any]:
        """The algorithm's public function, or the user's kernel."""
        return FUNCTIONS[self.algorithm] if self.own is None else self.own

    def call(self) -> Any:
        """The public function, as users call it."""
        return self.function(self.model, *self.inputs, out=self.out, **self.options)

    def bind(self) -> Callable[[], Any]:
        """The same call, prepared once."""
        return bind(
            self.function, self.model, *self.inputs, out=self.out, constants="once", **self.options
        )

    def states(self, sample: int) -> list[np.ndarray]:
        """The first inputs as the kernel reads them, in float64."""
        shared = self.shared or (False,) * len(self.inputs)
        return [
            on_host(x)[() if for_all else slice(sample)].astype(float)
            for x, for_all in zip(self.inputs, shared, strict=True)
        ]

    def results(self, sample: int) -> np.ndarray:
        """The first results, in float64."""
        return on_host(self.out)[:sample].astype(float)

    def all_results(self, sample: int) -> list[np.ndarray]:
        """The first entries of each result, in float64."""
        arrays = self.out if isinstance(self.out, tuple) else (self.out,)
        return [on_host(x)[:sample].astype(float) for x in arrays]
