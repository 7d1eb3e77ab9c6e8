"""Cost of user kernels compared with the calls that they replace: `python -m benchmarks.own_kernels [FILE]`.

The kernels are those of examples/kernels. Everything runs on one core. Functions that are compared run
in turns, after a check of their results. The tables go to standard output and to FILE.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
import warp as wp

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

from .__main__ import describe_run
from .interleave import CORES, Turn, take_turns
from .own_kernel_peers import Peer, peers
from .robots import robot
from .startup import run as run_apart

EXAMPLES = Path(__file__).parents[1] / "examples/kernels"
BATCH, FRAME = 4096, "panda_hand_tcp"

COLD = """
import contextlib, io, json, runpy, time
import warp as wp
wp.config.log_level = wp.LOG_ERROR
import numpy as np
import warpdyn as wd
model = wd.load_robot("panda")
with contextlib.redirect_stdout(io.StringIO()):
    impedance = runpy.run_path("examples/kernels/impedance.py")["impedance"]
q = np.zeros((1, model.nq), np.float32)
wall, cpu = time.perf_counter(), time.process_time()
impedance(model, q, q, q[:, :3], frame="panda_hand_tcp")
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""


def example(name: str) -> Mapping[str, Any]:
    """Names that an example defines. The example runs."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def columns(x: np.ndarray) -> np.ndarray:
    """float32 array in which a coordinate of all robots is contiguous."""
    return np.asfortranarray(x.astype(np.float32))


def ratio(first: Turn, second: Turn) -> float:
    """Median over the rounds of the first time divided by the second. Slow functions have few rounds."""
    return median(a / b for a, b in zip(first.samples, second.samples, strict=False))


def turns(runs: Sequence[tuple[Callable[[], Any], int]], rounds: int = 21) -> list[Turn]:
    """Turns of the functions after all rounds."""
    made = [Turn(run, count, CORES[-1:]) for run, count in runs]
    take_turns(made, rounds)
    return made


def line(*cells: object) -> str:
    """Row of a table."""
    return "| " + " | ".join(f"{x:.3g}" if isinstance(x, float) else str(x) for x in cells) + " |"


def check(name: str, got: np.ndarray, wanted: np.ndarray, near: float) -> None:
    """Exit if results differ by more than `near`, relative to the largest."""
    difference = np.abs(np.asarray(got, float) - wanted).max() / np.abs(wanted).max()
    if not difference < near:
        raise SystemExit(
            f"{name} has other results than expected: the difference is {difference:.1e}"
        )


@wd.kernel
def own_rnea(robot: wd.kernels.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Any:
    """Inverse dynamics, as the built-in function."""
    return robot.rnea(q, v, a)


@wd.kernel
def own_aba(robot: wd.kernels.Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Any:
    """Forward dynamics, as the built-in function."""
    return robot.aba(q, v, tau)


@wd.kernel
def many_operations(robot: wd.kernels.Robot, q: np.ndarray, v: np.ndarray) -> Any:
    """Arithmetic of about 10,000 operations for 7 joints."""
    A = np.outer(q, v) + np.eye(robot.nq)
    for _ in range(13):
        A = 0.1 * A @ A + np.sin(A)
    return A @ v


def states() -> dict[str, np.ndarray]:
    """Random states of a panda."""
    draw, n = np.random.default_rng(0), robot("panda").model.nv
    found = {name: draw.uniform(-1, 1, (BATCH, n)) for name in ("q", "v", "a")}
    return {**found, "target": draw.uniform(0.2, 0.5, (BATCH, 3))}


def built_in_rows(given: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Lines of a table: kernels of one function, compared with that function."""
    yield from ("## The text of a built-in function", "", "Bound calls, `[n, B]` memory.", "")
    yield "| function | the same program, letter by letter | own [ns] | built-in [ns] | own / built-in |"
    yield "|---|---|---|---|---|"
    model, arrays = robot("panda").model, [columns(given[n]) for n in ("q", "v", "a")]
    for own, built_in in ((own_rnea, wd.rnea), (own_aba, wd.aba)):
        texts = []
        for function in (own, built_in):
            call = describe_call(function, (model, *arrays), {})
            program = record_call(call, input_shapes(call), True)
            texts.append(write(program, "same", True, "cpu").code)
        outs = [np.empty_like(arrays[0]) for _ in range(2)]
        runs = [
            wd.bind(f, model, *arrays, out=out)
            for f, out in zip((own, built_in), outs, strict=True)
        ]
        check(own.__name__, outs[0], outs[1].astype(float), 1e-7)
        a, b = turns([(run, BATCH) for run in runs])
        yield line(
            built_in.__name__, texts[0] == texts[1], a.figures["ns"], b.figures["ns"], ratio(a, b)
        )


def impedance_rows(given: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Lines of a table: the impedance controller, its gradient, and its peers."""
    impedance, panda = example("impedance")["impedance"], robot("panda")
    model, names = panda.model, ("q", "v", "target")
    by_columns = [columns(given[n]) for n in names]
    rows = [given[n].astype(np.float32) for n in names]
    exact = {n: given[n].astype(np.float32).astype(float) for n in names}
    wanted = np.asarray(wd.oracle(impedance, model, *(exact[n] for n in names), frame=FRAME))
    out, tau = (np.empty_like(by_columns[0]) for _ in range(2))
    bound = wd.bind(impedance, model, *by_columns, frame=FRAME, out=out)
    rnea = wd.bind(wd.rnea, model, *by_columns[:2], columns(given["a"]), out=tau)
    check("impedance", out, wanted, 1e-5)
    check("impedance", impedance(model, *rows, frame=FRAME), wanted, 1e-5)

    others: list[Peer] = []
    missing = []
    for name, peer in peers(panda, FRAME, exact):
        if peer is None:
            missing.append(name)
        else:
            check(peer.name, peer.answers(), wanted, peer.near)
            others.append(peer)

    own = [
        ("`wd.rnea`, bound, `[n, B]`", rnea),
        ("the controller as one kernel, bound, `[n, B]`", bound),
        ("ordinary call, rows, new result", lambda: impedance(model, *rows, frame=FRAME)),
    ]
    gradients: list[tuple[str, Callable[[], Any]]] = []
    with contextlib.suppress(ImportError):
        gradients = list(_torch_rows(impedance, model, by_columns, wanted))
    gradients += [
        (f"{peer.name}, forward and backward", peer.gradient) for peer in others if peer.gradient
    ]
    labels = [*own, *((peer.name, peer.run) for peer in others), *gradients]
    timed = turns([(run, BATCH) for _, run in labels])
    yield from ("", "## Cartesian impedance control", "")
    yield "Torques of one panda, 7 joints. Results agree with the float64 oracle: float32 to 1e-5, float64 to 1e-9."
    yield from (
        "",
        "| how | ns for one robot | times `wd.rnea` | times the kernel |",
        "|---|---|---|---|",
    )
    for (label, _), turn in zip(labels, timed, strict=True):
        yield line(label, turn.figures["ns"], ratio(turn, timed[0]), ratio(turn, timed[1]))
    if len(gradients) > 1:
        first = 3 + len(others)
        times = ratio(timed[first + 1], timed[first])
        yield from (
            "",
            f"Torch: forward and backward take {times:.2f} times the call without gradients.",
        )
    if missing:
        yield from ("", f"Not installed: {', '.join(missing)}.")


def _torch_rows(
    impedance: Any, model: wd.Model, given: Sequence[np.ndarray], wanted: np.ndarray
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls of the kernel on Torch tensors, without gradients and with gradients of all three arrays."""
    import torch

    torch.set_num_threads(1)
    plain = [torch.from_numpy(x) for x in given]
    check("impedance in Torch", impedance(model, *plain, frame=FRAME).numpy(), wanted, 1e-5)
    yield "the kernel on Torch's tensors", lambda: impedance(model, *plain, frame=FRAME)
    inputs = [x.clone().requires_grad_() for x in plain]
    weights = torch.ones_like(plain[0])

    def gradient() -> Any:
        return torch.autograd.grad(impedance(model, *inputs, frame=FRAME), inputs, weights)

    arrays = [x.astype(float) for x in given]
    by_q = wd.vjp(
        impedance, model, *arrays, frame=FRAME, cotangents=np.ones_like(arrays[0]), wrt="q"
    )
    check("its gradient in Torch", gradient()[0].numpy(), np.asarray(by_q), 1e-4)
    yield "the kernel on Torch's tensors, forward and backward by q, v, target", gradient


def search_rows() -> Iterator[str]:
    """Lines of a table: the user's inverse kinematics compared with the built-in one."""
    found = example("least_squares_ik")
    model, reach, frame = found["model"], found["reach"], found["HAND"]
    start, targets = columns(found["start"]), found["targets"].astype(np.float32)
    runs: list[Callable[[], Any]] = [
        lambda: reach(model, start, targets, frame=frame),
        lambda: wd.inverse_kinematics(model, {frame: targets}, q0=start, restarts=0),
    ]
    own, built_in = (run() for run in runs)
    a, b = turns([(run, len(start)) for run in runs])
    yield from (
        "",
        "## Damped least-squares inverse kinematics by `wd.kernels.repeat` and `until`",
        "",
    )
    yield (
        f"{len(start):,} poses of the hand, from starts up to 0.3 rad away in each joint, to 1e-4 m and 1e-3 rad; "
        "ordinary calls, `restarts=0`."
    )
    yield from (
        "",
        "| who | there | steps, mean | us for one robot | own / built-in |",
        "|---|---|---|---|---|",
    )
    for name, turn, solved, steps in (
        ("the user's", a, own.success, own.steps),
        ("`wd.inverse_kinematics`", b, built_in.success, built_in.iterations),
    ):
        us = 1e-3 * turn.figures["ns"]
        yield line(name, f"{solved.mean():.2%}", f"{steps.mean():.2f}", us, ratio(turn, b))


EIGHT = (
    ("impedance", "impedance", "q v target", "HAND"),
    ("operational_space", "task_and_posture", "q v q_rest wanted", "HAND"),
    ("reaching", "observe", "q v target age episode", "HAND"),
    ("arm_step", "arm_step", "q v q_wanted gains", ""),
    ("lqr", "cost", "q v best P", ""),
    ("calibration", "residual", "q measured offsets", "TOOL"),
    ("momentum_observer", "observe", "q v tau integral external", ""),
)
"""File, kernel, its arrays, and the name of its frame. The eighth kernel has its own table."""


def eight_rows() -> Iterator[str]:
    """Lines of a table: each example kernel compared with `wd.rnea` of its robot."""
    yield from ("", "## The example kernels", "", "Bound calls, `[n, B]` memory.", "")
    yield "| kernel | robot | ns for one robot | times its `wd.rnea` |"
    yield "|---|---|---|---|"
    for file, name, words, frame in EIGHT:
        found = example(file)
        model, count = found["model"], len(found["q"])
        arrays = [
            columns(np.resize(x, (BATCH, *x.shape[1:])) if len(x) == count else x)
            for x in (found[word] for word in words.split())
        ]
        options = {"frame": found[frame]} if frame else {}
        q = arrays[0]
        v = columns(np.random.default_rng(0).uniform(-1, 1, (BATCH, model.nv)))
        runs: list[tuple[str, Callable[[], Any]]] = [
            (f"{file}: `{name}`", wd.bind(found[name], model, *arrays, **options)),
            ("", wd.bind(wd.rnea, model, q, v, v)),
        ]
        if file == "lqr":
            weights = np.ones(BATCH, np.float32)
            arrays[2] = columns(np.tile(found["best"], (BATCH, 1)))
            slope = wd.bind(
                wd.vjp, found[name], model, *arrays, cotangents=weights, wrt="gains", **options
            )
            runs.insert(1, ("lqr: gradient of `cost` by the gains", slope))
        *timed, rnea = turns([(run, BATCH) for _, run in runs])
        for (label, _), turn in zip(runs, timed, strict=False):
            yield line(label, model.name, turn.figures["ns"], ratio(turn, rnea))


def small_rows(given: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Lines of tables: calls for one robot, recording, and compilation."""
    impedance, model = example("impedance")["impedance"], robot("panda").model
    q, v, a, target = (given[n][:1] for n in ("q", "v", "a", "target"))
    runs = [
        lambda: wd.rnea(model, q, v, a),
        lambda: own_rnea(model, q, v, a),
        lambda: impedance(model, q, v, target, frame=FRAME),
    ]
    for run in runs:
        run()
    timed = turns([(run, 1) for run in runs])
    yield from (
        "",
        "## Ordinary calls of one robot",
        "",
        "| call | us | times `wd.rnea` |",
        "|---|---|---|",
    )
    names = ("`wd.rnea`", "a kernel that is `robot.rnea`", "the impedance controller")
    for name, turn in zip(names, timed, strict=True):
        yield line(name, 1e-3 * turn.figures["ns"], ratio(turn, timed[0]))

    yield from ("", "## Recording and compiling", "")
    yield "Seconds of the processor (`time.process_time`), medians of seven; compiling: a new process, an empty cache."
    yield from ("", "| what | operations | s |", "|---|---|---|")
    for kernel, arrays, options in (
        (impedance, (q, v, target), {"frame": FRAME}),
        (many_operations, (q, v), {}),
    ):
        seconds, described_in, count = _recording(kernel, model, arrays, options)
        yield line(f"recording `{kernel.__name__}`", f"{count:,}", seconds)
        yield line("finding what it returns, before that", "", described_in)
    with tempfile.TemporaryDirectory() as cache:
        wall, cpu = run_apart(COLD, cache)
    yield line(f"first call of `impedance`, cold; {wall:.1f} s by the clock", "", cpu)


def _recording(
    kernel: Any, model: wd.Model, arrays: Sequence[np.ndarray], options: Mapping[str, Any]
) -> tuple[float, float, int]:
    """Seconds to record, seconds to find the result shapes, and number of operations."""
    found = []
    for _ in range(7):
        fresh = wd.kernel(kernel.text)  # has no cached calls
        begin = time.process_time()
        call = describe_call(fresh, (model, *arrays), dict(options))
        middle = time.process_time()
        program = record_call(call, input_shapes(call), True)
        found.append((time.process_time() - middle, middle - begin, program.operations))
    return median(x[0] for x in found), median(x[1] for x in found), found[0][2]


def main() -> int:
    """Print the page and write it."""
    wp.config.log_level = wp.LOG_ERROR
    os.sched_setaffinity(0, CORES[-1:])  # what libraries start threads for
    wd.runtime.set_num_threads(1)
    about, given = describe_run("cpu", []), states()
    versions = ", ".join(f"{name} {x}" for name, x in about["versions"].items())
    text = [
        "# Users' own kernels",
        "",
        f"{about['hardware']}, {about['date']}, one core, float32 unless said, B = {BATCH:,}; {versions}.",
        f"Load {about['load']} at the start: where other work ran beside it, only the ratios count. They are",
        "medians of ratios within a round, in which all of a table ran in turn; what takes above 0.4 s ran in the",
        "first three rounds only, and its ratios are those of these.",
        "Repeat: `python -m benchmarks.own_kernels`.",
        "",
    ]
    for part in (
        built_in_rows(given),
        impedance_rows(given),
        eight_rows(),
        search_rows(),
        small_rows(given),
    ):
        for each in part:
            print(each, flush=True)
            text.append(each)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text("\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
