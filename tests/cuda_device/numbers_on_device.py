"""Public functions on the emulated device, next to the same calls on the CPU.

    numbers_on_device.py ROBOT [FUNCTION ...]

Without functions these are all public functions; the robot `servos` has actuators, and the others have none.
The last line is JSON. The record of a function has the number of calls compared, the largest errors in both
dtypes, and the calls whose error is beyond its bound. A function that is not for the robot has its reason instead.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import warp as wp
from cuda_device.ptx_kernels import library
from devices import ROUNDING, DeviceArray
from mjcf_texts import ARM

import warpdyn as wd
from benchmarks.every_function import Work, takes_robot
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.model.names import ModelError

B = 37
"""A warp, and five threads of another."""

DEVICE = "cuda:0"

SERVOS = ARM.replace(
    "</worldbody>",
    """</worldbody>
    <actuator>
      <position joint="shoulder" kp="5" kv="0.7" ctrlrange="-0.2 0.4"/>
      <velocity joint="pitch" kv="2" forcerange="-3 3"/>
      <motor joint="yaw" gear="7"/>
    </actuator>""",
)

TWICE = 4.0
"""Errors on the device by errors on the CPU, at most. Both round the same formulas differently."""

Arrays = Sequence[np.ndarray]


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def in_memory(array: np.ndarray, layout: str) -> np.ndarray:
    """The same values in rows, or with environments contiguous."""
    if layout == "rows":
        return np.ascontiguousarray(array)
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)


def difference(found: Arrays, expected: Arrays) -> float:
    """Largest difference of all results, each relative to the largest value of its result."""
    return max(map(_difference, found, expected))


def _difference(found: np.ndarray, expected: np.ndarray) -> float:
    nan = np.isnan(expected)
    if found.shape != expected.shape or not np.array_equal(np.isnan(found), nan):
        return float("inf")
    size = np.abs(expected[~nan]).max(initial=0.0)
    return float(np.abs(found - expected)[~nan].max(initial=0.0) / (size or 1.0))


class Comparison:
    """A function of a robot on random states."""

    def __init__(self, name: str, model: wd.Model):
        work = Work.of(name, model, B)
        self.function, self.options = FUNCTIONS[name], work.options
        self.model = (work.model,) if takes_robot(name) else ()
        self.states = [np.asarray(x, float) for x in work.arrays]

    def call(self, arrays: Sequence[Any], **more: Any) -> tuple[Any, ...]:
        return as_tuple(self.function(*self.model, *arrays, **self.options, **more))

    def errors(self) -> Iterator[tuple[str, float, float]]:
        """(dtype, layout and form of the call, error, bound) of each call."""
        single = [x.astype(np.float32) for x in self.states]
        right = self.call([x.astype(float) for x in single])
        # The effect of rounding these states, in units of the dtype's precision.
        rounding = difference([x.astype(float) for x in self.call(single)], right)
        for dtype in (np.float32, np.float64):
            arrays = single if dtype == np.float32 else self.states
            expected = right if dtype == np.float32 else self.call(self.states)
            ratio = float(np.finfo(dtype).eps / np.finfo(np.float32).eps)
            bound = max(ROUNDING[np.dtype(dtype).name], TWICE * rounding * ratio)
            for layout in ("rows", "columns"):
                for way, found in self.results(arrays, expected, layout):
                    error = difference([x.astype(float) for x in found], expected)
                    yield f"{np.dtype(dtype).name} {layout} {way}", error, bound

    def results(
        self, arrays: Arrays, shapes: Arrays, layout: str
    ) -> Iterator[tuple[str, list[np.ndarray]]]:
        """Results of a call, of the third of equal calls on late streams, and of the replay of a
        capture."""
        placed = [DeviceArray(in_memory(x, layout), DEVICE) for x in arrays]
        given = [place.array for place in placed]
        yield "at once", [x.numpy() for x in self.call(given)]
        library().emulated_cuda_run_late(1)
        try:
            results = [self.call(given) for _ in range(3)]
            yield "late", [x.numpy() for x in results[-1]]
            empty = [
                DeviceArray(in_memory(np.full(x.shape, np.nan, arrays[0].dtype), layout), DEVICE)
                for x in shapes
            ]
            outs = tuple(place.array for place in empty)
            with wp.ScopedCapture(device=DEVICE) as capture:
                self.call(given, out=outs if len(outs) > 1 else outs[0])
            assert all(np.isnan(place.back()).all() for place in empty), "the capture has run"
            wp.capture_launch(capture.graph)
            yield "captured", [place.back() for place in empty]
        finally:
            library().emulated_cuda_run_late(0)


def compare(name: str, model: wd.Model) -> dict[str, Any]:
    """The record of a function."""
    try:
        comparison = Comparison(name, model)
        comparison.call(comparison.states)
    except (ModelError, ValueError) as error:
        return {"left out": str(error)}
    record: dict[str, Any] = {"compared": 0, "float32": 0.0, "float64": 0.0, "wrong": []}
    for key, error, bound in comparison.errors():
        dtype = key.partition(" ")[0]
        record["compared"] += 1
        record[dtype] = max(record[dtype], error)
        if not error <= bound:
            record["wrong"].append(f"{key}: {error:.1e}, bound {bound:.1e}")
    return record


def main(robot: str, *names: str) -> None:
    wp.config.quiet = True
    wd.config.compile_messages = False
    model, found = wd.load(SERVOS) if robot == "servos" else wd.load_robot(robot), {}
    for name in names or sorted(FUNCTIONS):
        if robot != "panda" and not takes_robot(name):
            continue
        begun = time.process_time()
        found[name] = compare(name, model)
        found[name]["seconds"] = round(
            time.process_time() - begun, 2
        )  # most of the messages are NVRTC's
        print(name, found[name], file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
