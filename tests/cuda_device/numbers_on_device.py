"""Functions of warpdyn on the emulated device and on the CPU. Prints JSON: function, robot, dtype, layout -> error."""

from __future__ import annotations

import json

import numpy as np
import warp as wp
from devices import Placed

import warpdyn as wd

B = 37
ROBOTS = ("panda", "quadruped")
FUNCTIONS = {
    "rnea": ("q", "v", "a"),
    "aba": ("q", "v", "a"),
    "crba": ("q",),
    "fk": ("q",),
    "rnea_derivatives": ("q", "v", "a"),
}
LARGE = {("quadruped", "rnea_derivatives")}
"""Kernels that NVRTC compiles for many seconds: not here."""


def layouts(array: np.ndarray) -> dict[str, np.ndarray]:
    """Rows, and environments side by side."""
    return {"rows": array, "columns": np.moveaxis(np.moveaxis(array, 0, -1).copy(), -1, 0)}


def as_tuple(results: object) -> tuple:
    return results if isinstance(results, tuple) else (results,)


def errors(robot: str, name: str) -> dict[str, float]:
    """The second of two calls against the CPU's float64, relative to the largest number."""
    model, function = wd.load_robot(robot), getattr(wd, name)
    random = np.random.default_rng(0)
    state = {
        "q": wd.random_configuration(model, B),
        "v": random.normal(size=(B, model.nv)),
        "a": random.normal(size=(B, model.nv)),
    }
    found = {}
    for dtype in (np.float32, np.float64):
        arrays = [np.asarray(state[key], dtype) for key in FUNCTIONS[name]]
        expected = as_tuple(function(model, *(array.astype(float) for array in arrays)))
        for layout in ("rows", "columns"):
            placed = [Placed(layouts(array)[layout], "cuda:0") for array in arrays]
            for _ in range(2):
                results = as_tuple(function(model, *(place.array for place in placed)))
            found[f"{name} {robot} {np.dtype(dtype).name} {layout}"] = max(
                float(np.abs(result.numpy() - right).max() / np.abs(right).max())
                for result, right in zip(results, expected, strict=True)
            )
    return found


def main() -> None:
    wp.config.quiet = True
    wd.config.compile_messages = False
    found = {}
    for robot in ROBOTS:
        for name in FUNCTIONS:
            if (robot, name) not in LARGE:
                found |= errors(robot, name)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
