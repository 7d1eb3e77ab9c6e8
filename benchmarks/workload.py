"""An algorithm of warpdyn on arrays of random states, with arrays for its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.cli.workload import Memory, furthest_link, on_host, random_states
from warpdyn.codegen.source import Source
from warpdyn.execution.batched import describe_call
from warpdyn.execution.launch.launch import kernel_source
from warpdyn.execution.request.call import Call
from warpdyn.execution.request.evaluate import result_shapes

from .algorithms import ALGORITHMS
from .robots import Robot


def states_of(robot: Robot, count: int) -> dict[str, np.ndarray]:
    """Random states within limits, exact in float32, so that every library reads the same numbers."""
    states = random_states(robot.model, count)
    return {name: values.astype(np.float32).astype(float) for name, values in states.items()}


def cotangents(shape: tuple[int, ...], count: int) -> np.ndarray:
    """Cotangents of a result with this shape. Those of the first states are always the same."""
    values = np.random.default_rng(7).uniform(-1, 1, (count, *shape))
    return values.astype(np.float32).astype(float)


class Work:
    """An algorithm with its arrays on a device and arrays for its results.

    `layout`: in "columns" an entry of all robots is contiguous, in "rows" the entries of one robot.
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
        self.count, model = len(states["q"]), robot.model
        memory = Memory(dtype, layout, device)
        inputs = [memory.array_of(states[name]) for name in self.algorithm.arrays]
        self.options: dict[str, Any] = (
            {"frame": furthest_link(model)} if self.algorithm.framed else {}
        )
        function = self.algorithm.function
        self.function: Callable[..., Any] = function
        self.arguments: tuple[Any, ...] = (model, *inputs)
        if self.algorithm.gradient:
            call = describe_call(function, (model, *inputs), self.options)
            if call.solves:
                self.options["solution"] = function(model, *inputs, **self.options)
            shape = next(iter(result_shapes(call).values()))
            self.options["cotangents"] = memory.array_of(cotangents(shape, self.count))
            self.function, self.arguments = wd.vjp, (function, model, *inputs)
        shapes = result_shapes(self.describe_call()).values()
        outs = tuple(memory.empty(self.count, shape) for shape in shapes)
        self.options["out"] = outs if len(outs) > 1 else outs[0]
        self.outs = outs

    def describe_call(self) -> Call:
        """The call, before it is recorded."""
        return describe_call(self.function, self.arguments, self.options)

    def call(self) -> Any:
        """The public function, in the form that users call."""
        return self.function(*self.arguments, **self.options)

    def bind(self) -> Callable[[], Any]:
        return wd.bind(self.function, *self.arguments, constants="once", **self.options)

    def source(self) -> Source:
        """Source of the kernel, with operations and bytes per environment."""
        return kernel_source(self.describe_call())

    def answers(self, sample: int) -> list[np.ndarray]:
        """First results, in float64."""
        return [on_host(x)[:sample].astype(float) for x in self.outs]
