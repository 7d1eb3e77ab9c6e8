"""Host time of a call on GPU arrays, by kind of call [us].

    python -m benchmarks.gpu_calls [--envs 4096] [--no-torch]

The host starts many calls without waiting for the GPU. If the kernels are shorter than the calls, the
time is that of Python and the driver. Results go to benchmarks/results/gpu_calls.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import warp as wp

import warpdyn as wd
from warpdyn.cli.hardware import processor

from .__main__ import describe_run

RESULT = Path(__file__).parent / "results/gpu_calls.json"
ROUNDS, CALLS = 5, 400
"""Number of rounds, whose median counts, and number of calls in a round."""

Call = tuple[str, Callable[[], Any]]


def warp_calls(model: wd.Model, states: Sequence[np.ndarray], device: str) -> Iterator[Call]:
    """Yield calls on Warp arrays."""
    q, v, a = (wp.array(x, dtype=wp.float32, device=device) for x in states)
    result = wd.rnea(model, q, v, a)
    yield "rnea warp, new result", lambda: wd.rnea(model, q, v, a)
    yield "rnea warp, out=", lambda: wd.rnea(model, q, v, a, out=result)
    yield "rnea warp, bound", wd.bind(wd.rnea, model, q, v, a)
    yield "fk warp", lambda: wd.fk(model, q)
    yield "aba_derivatives warp", lambda: wd.aba_derivatives(model, q, v, a)
    shape = tuple(result.shape)
    yield "wp.empty", lambda: wp.empty(shape, dtype=wp.float32, device=device)
    simulation = wd.Simulation(
        wd.load_robot("quadruped"), len(states[0]), like=q, control=wd.PD(40.0, 1.0)
    )
    yield "Simulation.step warp", simulation.step


def torch_calls(model: wd.Model, states: Sequence[np.ndarray], device: str) -> Iterator[Call]:
    """Yield calls on Torch tensors, with and without gradients."""
    import torch  # noqa: PLC0415  an extra

    q, v, a = (torch.tensor(x, device=device) for x in states)
    result = wd.rnea(model, q, v, a)
    yield "rnea torch, new result", lambda: wd.rnea(model, q, v, a)
    yield "rnea torch, out=", lambda: wd.rnea(model, q, v, a, out=result)
    yield "rnea torch, bound", wd.bind(wd.rnea, model, q, v, a)
    tracked = q.clone().requires_grad_()
    yield "rnea torch, forward with grad", lambda: wd.rnea(model, tracked, v, a)

    def backward() -> None:
        tracked.grad = None
        wd.rnea(model, tracked, v, a).sum().backward()

    yield "rnea torch, forward and backward", backward
    yield "torch.add", lambda: q + v


def host_microseconds(call: Callable[[], Any], device: str) -> float:
    """Host time of one call [us]."""
    for _ in range(5):
        call()
    samples = []
    for _ in range(ROUNDS):
        wp.synchronize_device(device)
        begun = time.perf_counter()
        for _ in range(CALLS):
            call()
        samples.append((time.perf_counter() - begun) / CALLS)
    wp.synchronize_device(device)
    return round(1e6 * median(samples), 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args(arguments)
    wp.config.quiet, wd.config.compile, wd.config.compile_messages = True, "wait", False
    model, draw = wd.load_robot("panda"), np.random.default_rng(0)
    states = [draw.standard_normal((given.envs, model.nv)).astype(np.float32) for _ in range(3)]
    times = {}
    for kind in (warp_calls,) if given.no_torch else (warp_calls, torch_calls):
        for name, call in kind(model, states, given.device):
            times[name] = host_microseconds(call, given.device)
            print(f"{name:40} {times[name]:8.2f} us", flush=True)
    about = describe_run(given.device, ()) | {"processor": processor()}
    content = {"about": about, "envs": given.envs, "microseconds": times}
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
