"""warpdyn's side: an algorithm on arrays of random states, and the space for its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.arrays import views
from warpdyn.arrays.libraries import library_for
from warpdyn.cli.workload import furthest_link, random_states
from warpdyn.codegen.source import Text
from warpdyn.execution.call import Call
from warpdyn.execution.evaluate import result_shapes
from warpdyn.execution.launch import _prepare, described

from .algorithms import ALGORITHMS
from .robots import Robot

SEED = "seed of the cotangents"


def states_of(robot: Robot, count: int) -> dict[str, np.ndarray]:
    """Random states within limits, exact in float32, so that every library is given the same numbers."""
    states = random_states(robot.model, count)
    return {name: values.astype(np.float32).astype(float) for name, values in states.items()}


def cotangents(shape: tuple[int, ...], count: int) -> np.ndarray:
    """Of a result of this shape; the first states have the same ones however many there are."""
    values = np.random.default_rng(7).uniform(-1, 1, (count, *shape))
    return values.astype(np.float32).astype(float)


class Work:
    """An algorithm, its arrays on a device, and arrays for its results.

    `layout`: "columns" has the same entry of all robots side by side in memory, "rows" one robot after the other.
    """

    def __init__(
        self,
        robot: Robot,
        algorithm: str,
        states: Mapping[str, np.ndarray],
        dtype: str = "float32",
        layout: str = "columns",
        device: str = "cpu",
    ):
        self.algorithm, self.device = ALGORITHMS[algorithm], device
        self.count = len(states["q"])
        library = library_for(device)
        place = (library, device, dtype == "float32", self.count)
        model, columns = robot.model, layout == "columns"

        def filled(values: np.ndarray) -> Any:
            array = views.empty(*place, values.shape[1:], columns)
            library.write(array, values)
            return array

        given = [filled(states[name]) for name in self.algorithm.arrays]
        self.options: dict[str, Any] = (
            {"frame": furthest_link(model)} if self.algorithm.framed else {}
        )
        function = self.algorithm.function
        self.function: Callable[..., Any] = function
        self.arguments: tuple[Any, ...] = (model, *given)
        if self.algorithm.gradient:
            call = described(function, (model, *given), self.options)
            if call.solves:
                self.options["solution"] = function(model, *given, **self.options)
            shape = next(iter(result_shapes(call).values()))
            self.options["cotangents"] = filled(cotangents(shape, self.count))
            self.function, self.arguments = wd.vjp, (function, model, *given)
        shapes = result_shapes(self.described()).values()
        outs = tuple(views.empty(*place, shape, columns) for shape in shapes)
        self.options["out"] = outs if len(outs) > 1 else outs[0]
        self.outs = outs

    def described(self) -> Call:
        """The call, before it is recorded."""
        return described(self.function, self.arguments, self.options)

    def call(self) -> Any:
        """The public function, as users call it."""
        return self.function(*self.arguments, **self.options)

    def bind(self) -> Callable[[], Any]:
        return wd.bind(self.function, *self.arguments, **self.options)

    def text(self) -> Text:
        """The kernel's text, which knows operations and bytes of one environment."""
        return _prepare(self.described()).kernel.text

    def answers(self, sample: int) -> list[np.ndarray]:
        """The first results, in float64."""
        return [
            np.asarray(x.numpy() if self.device != "cpu" else x, dtype=float)[:sample]
            for x in self.outs
        ]
