"""Kernels of Warp itself on the emulated device and on the CPU. Prints JSON: a name -> the largest
difference."""

from __future__ import annotations

import json
import sys

import numpy as np
import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def elementary(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.abs(x[i]) + 0.01
    y[i] = (
        wp.sin(x[i]) + wp.cos(1000.0 * x[i]) + wp.tan(0.1 * x[i]) + wp.exp(0.1 * x[i]) + wp.log(a)
    )
    y[i] += (
        wp.pow(a, 0.3) + wp.atan2(x[i], 2.0) + wp.sqrt(a) + wp.tanh(x[i]) + wp.acos(wp.sin(x[i]))
    )


@wp.kernel
def elementary_double(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    a = wp.abs(x[i]) + wp.float64(0.01)
    y[i] = wp.sin(wp.float64(1e6) * x[i]) + wp.exp(x[i]) / wp.sqrt(a) + wp.log(a)
    y[i] += wp.pow(a, wp.float64(0.3)) + wp.atan2(x[i], a) + wp.tanh(x[i])


@wp.kernel
def integers(x: wp.array(dtype=wp.int64), y: wp.array(dtype=wp.int64)):
    i = wp.tid()
    y[i] = x[i] // wp.int64(7) + (x[i] % wp.int64(1000)) * wp.int64(3) + (x[i] >> wp.int64(3))
    for k in range(i % 10):
        y[i] = y[i] * wp.int64(31) + wp.int64(k)


@wp.kernel
def random_numbers(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(7, i)
    y[i] = wp.randf(state) + wp.randn(state) + float(wp.randi(state, 0, 100))


@wp.kernel
def sums(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    wp.atomic_add(y, 0, x[wp.tid()])
    wp.atomic_max(y, 1, x[wp.tid()])


@wp.kernel(module="unique")
def tiles(x: wp.array(dtype=float, ndim=2), y: wp.array(dtype=float, ndim=2)):
    i = wp.tid()
    rows = wp.tile_load(x, shape=(32, 8), offset=(32 * i, 0), storage="shared")
    wp.tile_store(y, wp.tile_map(wp.sin, rows), offset=(32 * i, 0))
    columns = wp.tile_transpose(rows)
    products = wp.tile_map(wp.mul, rows, wp.tile_transpose(columns))
    wp.tile_atomic_add(y, products, offset=(32 * i, 0))
    wp.tile_atomic_add(y, wp.tile_broadcast(wp.tile_sum(rows), shape=(32, 8)), offset=(32 * i, 0))


def difference(kernel: wp.Kernel, x: np.ndarray, y: np.ndarray, dim: int, **options: int) -> float:
    """Difference between both devices, relative to the largest number."""
    made = []
    for device in ("cuda:0", "cpu"):
        given, result = wp.array(x, device=device), wp.array(y, device=device)
        launch = wp.launch_tiled if options else wp.launch
        launch(
            kernel, dim=[dim] if options else dim, inputs=[given, result], device=device, **options
        )
        made.append(result.numpy().astype(float))
    return float(np.abs(made[0] - made[1]).max() / np.abs(made[1]).max())


def main() -> None:
    wp.config.quiet = True
    random = np.random.default_rng(0)
    x = random.uniform(-10, 10, 1000)
    found = {
        "elementary": difference(
            elementary, x.astype(np.float32), np.zeros(1000, np.float32), 1000
        ),
        "elementary_double": difference(elementary_double, x, np.zeros(1000), 1000),
        "integers": difference(
            integers, random.integers(-(2**62), 2**62, 1000), np.zeros(1000, np.int64), 1000
        ),
        "random_numbers": difference(
            random_numbers, np.zeros(1, np.float32), np.zeros(1000, np.float32), 1000
        ),
        "sums": difference(sums, np.abs(x).astype(np.float32), np.zeros(2, np.float32), 1000),
        "tiles": difference(
            tiles,
            random.uniform(-1, 1, (96, 8)).astype(np.float32),
            np.zeros((96, 8), np.float32),
            3,
            block_dim=64,
        ),
    }
    device = wp.get_device("cuda:0")
    json.dump({"differences": found, "name": device.name, "arch": device.arch}, sys.stdout)


if __name__ == "__main__":
    main()
