"""What a call costs as users type it, by array library: `python -m benchmarks.library_calls`.

Panda, rnea, float32, rows, one core. All ways take turns in one process, and of a turn counts the
median of its calls, so that other processes matter little. `results/library_calls.json` gets the
figures, docs/fast.md their table (`python -m benchmarks.fast_page`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from statistics import median
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
import torch
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.hardware import processor
from warpdyn.execution.launch import carry_out

from .fast_page import LIBRARY_CALLS, libraries
from .interleave import CORES

BATCHES = (1, 256, 4096, 65536)
ROUNDS, TURN = 41, 0.008
"""Turns of each way, and seconds of one."""

FIRST, NUMPY, OUT, BOUND = "NumPy, first calls", "NumPy", "NumPy, `out=`", "NumPy, bound"
TORCH, BOTH = "Torch", "Torch, forward and backward"
BOUND_BOTH, AROUND = "bound, both passes", "Torch around these"
NOTHING = "Torch around nothing"

Ways = dict[str, Callable[[], Any]]


def ways(model: wd.Model, batch: int) -> Ways:
    """What is measured, by name, on the same states; each gives its results."""
    draw = np.random.default_rng(5)
    q, v, a, bar, out, *bars = (
        draw.uniform(-1.0, 1.0, (batch, model.nv)).astype(np.float32) for _ in range(8)
    )
    forward = wd.bind(wd.rnea, model, q, v, a, out=out)
    backward = wd.bind(wd.vjp, wd.rnea, model, q, v, a, cotangents=bar, out=tuple(bars))
    return {
        FIRST: lambda: carry_out(wd.rnea.describe(model, q, v, a)),  # type: ignore[attr-defined]
        NUMPY: lambda: wd.rnea(model, q, v, a),
        OUT: lambda: wd.rnea(model, q, v, a, out=out),
        BOUND: forward,
        BOUND_BOTH: lambda: (forward(), *backward()),
        **torch_ways(model, forward, backward, *map(torch.from_numpy, (q, v, a, bar))),
    }


def torch_ways(
    model: wd.Model, forward: Callable[[], Any], backward: Callable[[], Any], *given: torch.Tensor
) -> Ways:
    """Torch's: plainly, with gradients, and what Torch takes for a node: around the bound kernels, and around
    nothing."""
    *states, bar = given
    leaves = [x.clone().requires_grad_() for x in states]

    def through(function: Callable[..., torch.Tensor]) -> list[torch.Tensor | None]:
        for x in leaves:
            x.grad = None
        result = function(*leaves)
        result.backward(bar)
        return [result, *(x.grad for x in leaves)]

    around, nothing = _node(forward, backward), _node(lambda: None, lambda: None)
    return {
        TORCH: lambda: wd.rnea(model, *states),
        BOTH: lambda: through(lambda *x: wd.rnea(model, *x)),
        AROUND: lambda: through(around.apply),
        NOTHING: lambda: through(nothing.apply),
    }


def _node(forward: Callable[[], Any], backward: Callable[[], Any]) -> type[torch.autograd.Function]:
    """A node of Torch's graph that runs these and makes arrays for results."""

    class Node(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> torch.Tensor:
            forward()
            ctx.save_for_backward(*tensors)
            return torch.empty_like(tensors[0])

        @staticmethod
        def backward(ctx: Any, *_: torch.Tensor) -> Any:
            backward()
            return tuple(torch.empty_like(x) for x in ctx.saved_tensors)

    return Node


def measured(batch: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds of each way for a batch."""
    runs = ways(wd.load_robot("panda"), batch)
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        for _ in range(4):  # so that what is remembered is known
            run()
    for _ in range(rounds):
        for name, run in runs.items():
            samples[name].append(one_call(run))
    return {name: 1e6 * median(seconds) for name, seconds in samples.items()}


def one_call(run: Callable[[], Any]) -> float:
    """Median seconds of the calls of one turn."""
    clock, seconds = time.perf_counter, []
    run()  # with caches as the last way left them
    end = clock() + TURN
    while True:
        start = clock()
        run()
        now = clock()
        seconds.append(now - start)
        if now > end:
            return median(seconds)


def main() -> int:
    wp.config.log_level = wp.LOG_ERROR
    os.sched_setaffinity(0, CORES[-1:])
    wd.set_num_threads(1)
    torch.set_num_threads(1)
    about = {
        "hardware": processor(),
        "date": str(date.today()),
        "load": round(os.getloadavg()[0], 1),
        "torch": torch.__version__.partition("+")[0],
    }
    us = {batch: measured(batch) for batch in tqdm(BATCHES, file=sys.stderr)}
    results = {**about, "us": {b: {k: round(x, 2) for k, x in t.items()} for b, t in us.items()}}
    LIBRARY_CALLS.write_text(json.dumps(results, indent=1) + "\n")
    print(libraries(json.loads(LIBRARY_CALLS.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
