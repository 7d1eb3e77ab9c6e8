"""What a user gets: calls of NumPy, Torch and JAX in every form, on rows, float32, one core.

All forms of a robot, an algorithm and a batch run in turns, with a copy of as many bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import warpdyn as wd

from .algorithms import ALGORITHMS
from .cases import LARGEST
from .interleave import CORES, Turn, take_turns
from .records import Run, short, table
from .robots import robot as robot_of
from .workload import Work, states_of

WORK = (("panda", "rnea"), ("panda", "fk"), ("talos_reduced", "crba"), ("talos_reduced", "fk"))
"""Little and much memory for one robot."""

BATCHES = (1, 1024, 4096, 16384, 65536)

Forms = Mapping[str, Callable[[], Any]]


def records(robots: Sequence[str], batches: Sequence[int], rounds: int) -> Iterator[dict[str, Any]]:
    """A line for each form of each call, of those of WORK whose robot is asked for."""
    for robot, algorithm in WORK:
        for batch in batches if robot in robots else ():
            yield from measure(robot, algorithm, batch, rounds)


def measure(name: str, algorithm: str, batch: int, rounds: int) -> Iterator[dict[str, Any]]:
    """The lines of one robot, algorithm and batch; none where the results are too large."""
    robot = robot_of(name)
    states = states_of(robot, batch)
    model, function = robot.model, ALGORITHMS[algorithm].function
    arrays = [states[x].astype(np.float32) for x in ALGORITHMS[algorithm].arrays]
    one = function(model, *(x[:1] for x in arrays))
    if one.nbytes * batch > LARGEST:
        return
    wd.set_num_threads(1)
    try:
        forms: dict[str, Callable[[], Any]] = {}
        for more in (_numpy, _torch, _jax):
            forms |= more(function, model, arrays)
        own = Work(robot, algorithm, states)
        forms["NumPy, bound, own memory"] = own.bind()
        forms["copy"] = _copy(sum(x.nbytes for x in arrays) + one.nbytes * batch)
        turns = {form: Turn(run, batch, CORES[-1:]) for form, run in forms.items()}
        take_turns([*turns.values()], rounds)
    finally:
        wd.set_num_threads(None)
    for form, turn in turns.items():
        yield {
            "kind": "call",
            "robot": name,
            "algorithm": algorithm,
            "batch": batch,
            "form": form,
            **turn.figures,
        }


def _numpy(function: Callable[..., Any], model: wd.Model, arrays: Sequence[np.ndarray]) -> Forms:
    out = function(model, *arrays)
    return {
        "NumPy, plain": lambda: function(model, *arrays),
        "NumPy, out=": lambda: function(model, *arrays, out=out),
        "NumPy, bound": wd.bind(function, model, *arrays, out=out.copy()),
    }


def _torch(function: Callable[..., Any], model: wd.Model, arrays: Sequence[np.ndarray]) -> Forms:
    try:
        import torch
    except ImportError:
        return {}
    given = [torch.tensor(x) for x in arrays]
    inputs = [x.clone().requires_grad_() for x in given]
    weights = torch.ones_like(function(model, *given))

    def forward_and_backward() -> Any:
        return torch.autograd.grad(function(model, *inputs), inputs, weights)

    return {
        "Torch, plain": lambda: function(model, *given),
        "Torch, forward and backward": forward_and_backward,
    }


def _jax(function: Callable[..., Any], model: wd.Model, arrays: Sequence[np.ndarray]) -> Forms:
    try:
        import jax
    except ImportError:
        return {}
    given = [jax.numpy.asarray(x) for x in arrays]
    compiled = jax.jit(lambda *x: function(model, *x))
    gradient = jax.jit(
        jax.grad(lambda *x: function(model, *x).sum(), argnums=tuple(range(len(given))))
    )
    return {
        "JAX, plain": lambda: function(model, *given).block_until_ready(),
        "JAX, jit": lambda: compiled(*given).block_until_ready(),
        "JAX, gradient in jit": lambda: jax.block_until_ready(gradient(*given)),
    }


def _copy(size: int) -> Callable[[], Any]:
    """As many bytes, half of them read and half written, between arrays that exist."""
    source = np.ones(max(1, size // 8), np.float32)
    target = np.zeros_like(source)
    return lambda: np.copyto(target, source)


def lines(run: Run) -> Iterator[str]:
    """The report's first table: ns for one robot by form and batch."""
    for robot, algorithm in dict.fromkeys((r["robot"], r["algorithm"]) for r in run.calls):
        found = [r for r in run.calls if (r["robot"], r["algorithm"]) == (robot, algorithm)]
        batches = sorted({r["batch"] for r in found})
        ns = {(r["form"], r["batch"]): r["ns"] for r in found}
        rows = [
            f"| {form} | "
            + " | ".join(short(ns[form, b]) if (form, b) in ns else "" for b in batches)
            + " |"
            for form in dict.fromkeys(form for form, _ in ns)
        ]
        head = "| | " + " | ".join(f"B = {b:,}" for b in batches) + " |"
        said = "ns for one robot: rows, float32, one core, but for own memory, which is `[n, B]`."
        yield from table(head, rows, f"What a user gets: {robot} {algorithm}", said)
