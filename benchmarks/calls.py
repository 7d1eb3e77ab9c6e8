"""Time of a whole call from Python, compared with the kernel and other libraries, for several batch sizes.

`python -m benchmarks` starts with this page; `python -m benchmarks --only-calls` measures nothing else.
One core, float32, in turns: a plain call on NumPy arrays in rows; a call with `out=`; a bound call; a
bound call on [n, B] memory of warpdyn; Torch and JAX; Pinocchio's call; and a copy of the result's
bytes between existing arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.arrays.layout import data_caches

from .interleave import CORES, Turn, take_turns
from .records import Run, line, short, table
from .robots import is_installed, robot
from .workload import Work, states_of

CASES = (
    ("panda", "rnea"),
    ("panda", "crba"),
    ("panda", "fk"),
    ("talos_reduced", "rnea"),
    ("talos_reduced", "crba"),
    ("talos_reduced", "fk"),
    ("talos_reduced", "mass_matrix_inverse"),
)
OF_LIBRARIES = (("panda", "rnea"), ("talos_reduced", "crba"))
"""Cases that are also measured with Torch and JAX."""

BATCHES = (1, 64, 1024, 4096, 16384, 65536)
ROUNDS = 5
REPEATED = 20
"""Calls between two clock readings if the batch is at most `SMALL`."""

SMALL = 256
"""Batch size whose arrays fit into the L1 and L2 caches, so that only arithmetic takes time."""

WAYS = {
    "plain": "plain call",
    "out": "`out=`",
    "bound": "bound",
    "own": "bound, own memory",
    "copy": "copy of the result's bytes",
    "torch": "Torch",
    "torch backward": "Torch, forward and backward",
    "torch floor": "the same by an `autograd.Function` around two bound kernels",
    "torch kernels": "those two kernels",
    "jax": "JAX",
    "jax jit": "JAX `jit`",
    "pinocchio": "Pinocchio's call",
}

TIMES_COPY, TIMES_BOUND, ROWS_BY_COLUMNS, THREADS, TIMES_PINOCCHIO = 1.2, 4.0, 1.3, 1.7, 60.0
"""Targets, as ratios: a plain call to a copy of its bytes or its arithmetic; a plain call to a bound call
for one robot; rows to [n, B] memory if a result has at most 256 bytes; one thread to two, for calls of
0.1 ms and more; Pinocchio's call to a plain call of panda's rnea for 1,024 robots."""


def measure(rounds: int = ROUNDS, batches: Sequence[int] = BATCHES) -> Iterator[dict[str, Any]]:
    """Yield a record for each case and batch size, with ns per robot for each kind of call."""
    for name, algorithm in CASES if is_installed() else (("panda", "rnea"),):
        work = Work(robot(name), algorithm, states_of(robot(name), SMALL))
        wd.runtime.set_num_threads(1)
        near = _turn(work.bind(), SMALL)
        for batch in batches:
            turns = {"arithmetic": near, **_turns(name, algorithm, batch)}
            take_turns([*turns.values()], rounds)
            ns = {way: turn.figures["ns"] for way, turn in turns.items()}
            near.samples.clear()
            size = sum(int(x[0].nbytes) for x in work.outs)
            yield {"robot": name, "algorithm": algorithm, "batch": batch, "result": size, "ns": ns}
    wd.runtime.set_num_threads(None)


def _turns(name: str, algorithm: str, batch: int) -> dict[str, Turn]:
    """Turns of one case at one batch size, by kind of call."""
    few = states_of(robot(name), min(batch, 2048))
    states = {key: np.resize(x, (batch, *x.shape[1:])) for key, x in few.items()}
    rows, columns = (Work(robot(name), algorithm, states, layout=x) for x in ("rows", "columns"))
    options = {key: x for key, x in rows.options.items() if key != "out"}
    sources = [np.ones_like(x) for x in rows.outs]
    targets = [np.zeros_like(x) for x in rows.outs]

    def copy() -> None:
        for source, target in zip(sources, targets, strict=True):
            np.copyto(target, source)

    wd.runtime.set_num_threads(1)
    runs: dict[str, Callable[[], Any]] = {
        "plain": lambda: rows.function(*rows.arguments, **options),
        "out": rows.call,
        "bound": rows.bind(),
        "own": columns.bind(),
        "copy": copy,
    }
    if (name, algorithm) in OF_LIBRARIES:
        runs |= _of_torch(rows, options) | _of_jax(rows, options)
    turns = {way: _turn(run, batch) for way, run in runs.items()}
    call = _pinocchio(name, algorithm, few)
    if call is not None:
        turns["pinocchio"] = _turn(call, 1)
    if len(CORES) > 1:
        turns["one thread"] = Turn(runs["own"], batch, CORES[-1:])
        wd.runtime.set_num_threads(2)
        turns["two threads"] = Turn(columns.bind(), batch, CORES)
        wd.runtime.set_num_threads(1)
    return turns


def _turn(run: Callable[[], Any], batch: int) -> Turn:
    """Turn of a call on one core, in CPU time."""

    def repeat() -> None:
        for _ in range(REPEATED):
            run()

    one_by_one = batch > SMALL
    calls = (run, batch) if one_by_one else (repeat, REPEATED * batch)
    return Turn(*calls, CORES[-1:], clock=time.process_time)


def _of_torch(work: Work, options: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Calls on Torch tensors, with and without gradients."""
    if not find_spec("torch"):
        return {}
    import torch

    torch.set_num_threads(1)
    model, *arrays = work.arguments
    plain = [torch.from_numpy(x.copy()) for x in arrays]
    asking = [x.clone().requires_grad_() for x in plain]

    def backward() -> None:
        result = work.function(model, *asking, **options)
        torch.autograd.grad(result, asking, torch.ones_like(result))

    forward = wd.bind(work.function, model, *plain, **options)
    ones = torch.ones_like(forward())
    both = wd.bind(wd.vjp, work.function, model, *plain, cotangents=ones, **options)

    def kernels() -> None:
        forward()
        both()

    class BareFunction(torch.autograd.Function):
        """The two kernels and memory for their results, without checks of the inputs."""

        @staticmethod
        def forward(ctx: Any, *arrays: Any) -> Any:
            ctx.save_for_backward(*arrays)
            forward()
            return torch.empty_like(ones)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            both()
            return tuple(map(torch.empty_like, ctx.saved_tensors))

    def bare_function() -> None:
        torch.autograd.grad(BareFunction.apply(*asking), asking, torch.ones_like(ones))

    return {
        "torch": lambda: work.function(model, *plain, **options),
        "torch backward": backward,
        "torch floor": bare_function,
        "torch kernels": kernels,
    }


def _of_jax(work: Work, options: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Calls on JAX arrays, with and without `jit`."""
    if not find_spec("jax"):
        return {}
    import jax

    model, *arrays = work.arguments
    own = [jax.numpy.asarray(x) for x in arrays]
    compiled = jax.jit(lambda *x: work.function(model, *x, **options))
    return {
        "jax": lambda: work.function(model, *own, **options).block_until_ready(),
        "jax jit": lambda: compiled(*own).block_until_ready(),
    }


def _pinocchio(
    name: str, algorithm: str, states: dict[str, np.ndarray]
) -> Callable[[], Any] | None:
    """Pinocchio's call from Python for one robot, in float64; None if Pinocchio is not installed."""
    if not find_spec("pinocchio"):
        return None
    import pinocchio as pin

    model = pin.buildModelFromXML(robot(name).bare)
    data = model.createData()
    q, v, a = (np.ascontiguousarray(states[key][0]) for key in ("q", "v", "a"))
    calls: dict[str, Callable[[], Any]] = {
        "rnea": lambda: pin.rnea(model, data, q, v, a),
        "crba": lambda: pin.crba(model, data, q),
        "fk": lambda: pin.framesForwardKinematics(model, data, q),
        "mass_matrix_inverse": lambda: pin.computeMinverse(model, data, q),
    }
    return calls[algorithm]


def page(run: Run) -> Iterator[str]:
    """First page of a report: the machine's caches, and a table for each case."""
    if not run.calls:
        return
    about = run.about
    sizes = (f"L{level} {size / 1024:,.0f} KiB" for level, size in about.get("caches", []))
    rates = about.get("limits", {}).get("copy", {}).items()
    copies = (f"{float(size) / 2**20:g} MiB {rate / 1e9:.0f}" for size, rate in rates)
    said = (
        "ns per robot: CPU time on one core, float32, medians of interleaved turns. "
        "Arrays are in rows; own memory is [n, B]. "
        f"Caches of the machine: {', '.join(sizes)}. "
        f"Copy rates in GB/s (bytes read and written), by size: {', '.join(copies)}. "
        f"Plain by copy: the time of a plain call divided by that of the copy or of the arithmetic (own memory, "
        f"{SMALL} robots), whichever is longer. Target: at most {TIMES_COPY} from B = 1,024 on if a result has more "
        f"than 1,024 bytes. Rows by own memory: at most {ROWS_BY_COLUMNS} at B = 16,384 if a result has at most 256 "
        f"bytes. Two threads: the speed-up on own memory in wall time, at least {THREADS} for calls of 0.1 ms and more."
    )
    yield f"## What a call costs\n\n{said}\n"
    for case in dict.fromkeys((r["robot"], r["algorithm"]) for r in run.calls):
        records = [r for r in run.calls if (r["robot"], r["algorithm"]) == case]
        ways = [way for way in WAYS if any(way in r["ns"] for r in records)]
        more = ("plain by copy", "rows by own memory", "two threads")
        header = line(["B", *(WAYS[way] for way in ways), *more])
        title = f"{' '.join(case)}, {records[0]['result']} bytes"
        yield from table(header, [_row(run, r, ways) for r in records], title)


def _row(run: Run, r: dict[str, Any], ways: Sequence[str]) -> str:
    """Row of a table; ratios with a target are recorded in the run."""
    ns, batch, robot_name = r["ns"], r["batch"], r["robot"]
    what = f"{r['algorithm']}, B = {batch:,}"
    cells = [f"{batch:,}", *(short(ns[way]) if way in ns else "" for way in ways)]
    if batch == 1:
        run.held(
            "plain call by bound, one robot", robot_name, what, ns["plain"] / ns["bound"],
            TIMES_BOUND, least=False, form=".1f",
        )  # fmt: skip
    if "pinocchio" in ns and (robot_name, r["algorithm"], batch) == ("panda", "rnea", 1024):
        figure = "Pinocchio's call by a plain call, 1,024 robots"
        run.held(figure, robot_name, what, ns["pinocchio"] / ns["plain"], TIMES_PINOCCHIO)
    by_copy = ns["plain"] / max(ns["copy"], ns["arithmetic"])
    asked = TIMES_COPY if batch >= 1024 and r["result"] > 1024 else None
    figure = "plain call by the result's bytes at copy speed"
    cells.append(run.held(figure, robot_name, what, by_copy, asked, least=False, form=".2f"))
    by_own, small = ns["bound"] / ns["own"], r["result"] <= 256 and batch == 16384
    asked = ROWS_BY_COLUMNS if small else None
    figure = "rows by own memory, bound"
    cells.append(run.held(figure, robot_name, what, by_own, asked, least=False, form=".2f"))
    if "two threads" in ns:
        gain, asked = ns["one thread"] / ns["two threads"], None
        if ns["one thread"] * batch >= 1e5:
            asked = THREADS
        cells.append(run.held("one thread by two", robot_name, what, gain, asked, form=".2f"))
    return line(cells)


def caches() -> list[tuple[int, int]]:
    """Levels and sizes [bytes] of the machine's caches."""
    return [(level, size) for level, size in data_caches()]
