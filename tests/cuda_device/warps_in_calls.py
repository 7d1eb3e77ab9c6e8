"""Calls of a kernel in several warps, on the emulated device. Prints JSON: form of the call ->
whether all bits are those of a plain call, and the error of that call against the CPU's float64."""

from __future__ import annotations

import json

import numpy as np
import warp as wp

import warpdyn as wd

BATCHES = (1, 33, 100)


def place(array: np.ndarray) -> wp.array:
    return wp.array(array, device="cuda:0")


def uses(model: wd.Model, count: int) -> dict[str, bool | float]:
    """The forms of the call: plain, `out=`, bound, captured, slices of wider arrays, and one row
    for all."""
    draw = np.random.default_rng(count)
    q = np.asarray(wd.random_configuration(model, count)).astype(np.float32)
    v, a = (draw.normal(size=(count, model.nv)).astype(np.float32) for _ in range(2))
    arrays = [place(x) for x in (q, v, a)]
    expected = wd.rnea(model, *(x.astype(float) for x in (q, v, a)))
    plain = wd.rnea(model, *arrays).numpy()
    found: dict[str, bool | float] = {
        f"error {count}": float(np.abs(plain - expected).max() / np.abs(expected).max())
    }

    def new() -> wp.array:
        return place(np.full(plain.shape, np.nan, np.float32))

    out = new()
    wd.rnea(model, *arrays, out=out)
    found[f"out {count}"] = np.array_equal(out.numpy(), plain)
    out = new()
    bound = wd.bind(wd.rnea, model, *arrays, out=out)
    bound()
    bound()
    found[f"bound {count}"] = np.array_equal(out.numpy(), plain)
    out = new()
    with wp.ScopedCapture(device="cuda:0") as capture:
        wd.rnea(model, *arrays, out=out)
    wp.capture_launch(capture.graph)
    found[f"captured {count}"] = np.array_equal(out.numpy(), plain)
    wide = [place(np.concatenate([x, np.full_like(x, np.nan)], axis=1)) for x in (q, v, a)]
    slices = [x[:, : x.shape[1] // 2] for x in wide]
    found[f"slices {count}"] = np.array_equal(wd.rnea(model, *slices).numpy(), plain)
    own = [place(np.repeat(x[:1], count, axis=0)) for x in (v, a)]
    for_all = [place(x[0]) for x in (v, a)]
    found[f"one row {count}"] = np.array_equal(
        wd.rnea(model, arrays[0], *for_all).numpy(), wd.rnea(model, arrays[0], *own).numpy()
    )
    return found


def main() -> None:
    wp.config.log_level = wp.LOG_ERROR
    wd.config.compile_messages = False
    model = wd.load_robot("quadruped")
    print(json.dumps({k: x for count in BATCHES for k, x in uses(model, count).items()}))


if __name__ == "__main__":
    main()
