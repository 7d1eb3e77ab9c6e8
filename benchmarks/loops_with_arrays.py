"""Loops with arrays, rolled and unrolled: `python -m benchmarks.loops_with_arrays [FILE]`.

Contact slots: four sweeps of projected Gauss-Seidel over K slots. Each slot gathers and scatters the
velocities of two of eight bodies; the pairs differ between environments. Riccati: backward recursion
for the gains of a regulator with six states over K knots, then the states forward, and the gradient of
their sum.

float32, one core. The two forms run in turns, and CPU time is measured. Compile times are CPU seconds
of the process and its children, with empty caches. The table goes to standard output and to FILE.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.algebra import row_arrays, scalar
from warpdyn.algebra.row_arrays import RowArray
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call

from .interleave import CORES, Turn, take_turns

BATCH = 4096
BODIES, SWEEPS, STATES = 8, 4, 6
SLOTS, KNOTS = (4, 8, 16, 32, 64), (8, 32)
LONGEST = {"contact slots": 8, "Riccati": 32, "Riccati, gradient": 8}
"""Largest K for which the unrolled form is compiled. Its compile time grows with K."""

Loop = Callable[..., list[Any]]


def unrolled_loop(n: int, step: Any, state: Sequence[Any], arrays: Sequence[RowArray]) -> list[Any]:
    """Result of `loop` with each step recorded separately.

    An index that differs between environments selects among all rows.
    """
    after = list(state)
    for x in arrays:
        x.loops += 1
    for k in range(n):
        after = list(step(float(k), after, arrays))
    for x in arrays:
        x.loops -= 1
    return after


def contact_slots(loop: Loop, rows: list, pairs: list, velocities: list) -> list:
    """Velocities of the bodies after sweeps over the slots.

    A row has twelve entries of a Jacobian, the target velocity, and the inverse of the effective mass.
    """
    K = len(rows)
    slots, bodies = RowArray(rows), RowArray(pairs)
    v, impulses = RowArray(velocities), RowArray([[0.0]] * K)
    arrays = [slots, bodies, v, impulses]

    def slot(k: Any, _: list, arrays: Any) -> list:
        *J, wanted, inverse = slots[k]
        first, second = bodies[k]
        along = sum(j * x for j, x in zip(J, [*v[first], *v[second]], strict=True))
        before = impulses[k][0]
        after = scalar.maximum(0.0, before + (wanted - along) * inverse)
        impulses[k] = [after]
        for body, part in ((first, J[:6]), (second, J[6:])):
            v[body] = [x + (after - before) * j for x, j in zip(v[body], part, strict=True)]
        return []

    loop(SWEEPS, lambda n, _, arrays: loop(K, slot, [], arrays), [], arrays)
    return [x for row in v for x in row]


def riccati(loop: Loop, K: int, A: list, B: list, x: list) -> list:
    """States of a regulator with one input over K knots."""
    n = range(STATES)
    gains, states = RowArray([[0.0] * STATES] * K), RowArray([[0.0] * STATES] * K)

    def backward(k: Any, P: list, arrays: Any) -> list:
        PA = [[sum(P[STATES * i + m] * A[m][j] for m in n) for j in n] for i in n]
        PB = [sum(P[STATES * i + m] * B[m] for m in n) for i in n]
        S = 1.0 / (0.1 + sum(B[i] * PB[i] for i in n))
        gain = [S * sum(B[i] * PA[i][j] for i in n) for j in n]
        gains[(K - 1.0) - k] = gain
        APB = [sum(A[m][i] * PB[m] for m in n) for i in n]
        return [
            sum(A[m][i] * PA[m][j] for m in n) - APB[i] * gain[j] + (1.0 if i == j else 0.0)
            for i in n
            for j in n
        ]

    def forward(k: Any, x: list, arrays: Any) -> list:
        u = -sum(g * y for g, y in zip(gains[k], x, strict=True))
        states[k] = x
        return [sum(A[i][j] * x[j] for j in n) + B[i] * u for i in n]

    P = [1.0 if i == j else 0.0 for i in n for j in n]
    loop(K, backward, P, [gains])
    end = loop(K, forward, x, [gains, states])
    return [*end, *states[K // 2]]


def functions(rolled: bool, K: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Both algorithms as functions of a batch."""
    loop, form = (row_arrays.loop, "rolled") if rolled else (unrolled_loop, "in_a_row")

    def slots_text(tree: Any, rows: list, pairs: list, v: list) -> list:
        return contact_slots(loop, rows, pairs, v)

    def riccati_text(tree: Any, A: list, B: list, x: list) -> list:
        return riccati(loop, K, A, B, x)

    @batched
    def sweeps(model: wd.Model, rows: Any, pairs: Any, v: Any, *, out: Any = None) -> Any:
        shapes = {"rows": (K, 14), "pairs": (K, 2), "v": (BODIES, 6)}
        arrays = {"rows": rows, "pairs": pairs, "v": v}
        return Call(f"slots_{form}{K}", model, (slots_text,), arrays, out=out, shapes=shapes)

    @batched
    def regulator(model: wd.Model, A: Any, B: Any, x: Any, *, out: Any = None) -> Any:
        shapes = {"A": (STATES, STATES), "B": (STATES,), "x": (STATES,)}
        arrays = {"A": A, "B": B, "x": x}
        return Call(f"riccati_{form}{K}", model, (riccati_text,), arrays, out=out, shapes=shapes)

    return sweeps, regulator


def inputs_of(case: str, K: int) -> list[np.ndarray]:
    """Input arrays of a batch."""
    draw = np.random.default_rng(K)
    if case == "contact slots":
        rows = draw.normal(size=(BATCH, K, 14))
        rows[..., 13] = 0.05
        pairs = draw.integers(0, BODIES, (BATCH, K, 2))
        arrays = [rows, pairs, draw.normal(size=(BATCH, BODIES, 6))]
    else:
        A = 0.8 * np.eye(STATES) + 0.05 * draw.normal(size=(BATCH, STATES, STATES))
        arrays = [A, 0.3 * draw.normal(size=(BATCH, STATES)), draw.normal(size=(BATCH, STATES))]
    return [x.astype(np.float32) for x in arrays]


def run_of(case: str, K: int, rolled: bool) -> Callable[[], Any]:
    """Call that runs a case."""
    model, arrays = wd.load_robot("cartpole"), inputs_of(case, K)
    sweeps, regulator = functions(rolled, K)
    if case == "contact slots":
        return lambda: sweeps(model, *arrays)
    if case == "Riccati":
        return lambda: regulator(model, *arrays)
    w = np.ones((BATCH, 2 * STATES), np.float32)
    return lambda: wd.vjp(regulator, model, *arrays, cotangents=w)


def cpu_seconds() -> float:
    """CPU time of this process and its descendants [s]."""
    ticks, parents = dict[int, int](), dict[int, int]()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(folder.name)] = int(fields[1])
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))

    def is_below(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return sum(n for process, n in ticks.items() if is_below(process)) / os.sysconf("SC_CLK_TCK")


def measure_row(case: str, K: int) -> Iterator[str]:
    """Cells of a row of the table."""
    compile_times, turns, results = [], [], []
    for rolled in (True, False) if LONGEST[case] >= K else (True,):
        run = run_of(case, K, rolled)
        before = cpu_seconds()
        results.append(run())
        compile_times.append(cpu_seconds() - before)
        turns.append(Turn(run, BATCH, CORES[:1], clock=time.process_time))
    for other in results[1:]:
        pairs = (
            zip(results[0], other, strict=True)
            if isinstance(other, tuple)
            else [(results[0], other)]
        )
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-3)
    take_turns(turns)
    yield case
    yield str(K)
    for numbers in ([1e9 * np.median(t.samples) / BATCH for t in turns], compile_times):
        shown = [f"{x:,.0f}" if numbers is not compile_times else f"{x:.1f}" for x in numbers]
        yield from (*shown, "-")[:2]


def main() -> None:
    """Print the table and write it."""
    folder = tempfile.mkdtemp()
    os.environ["WARPDYN_CACHE_DIR"] = folder
    wd.config.compile = "wait"
    lines = [
        "| case | K | rolled [ns] | in a row [ns] | rolled, to compile [s] | in a row, to compile [s] |",
        "|---|---|---|---|---|---|",
    ]
    cases = [("contact slots", K) for K in SLOTS]
    cases += [(case, K) for case in ("Riccati", "Riccati, gradient") for K in KNOTS]
    for case, K in cases:
        lines.append(f"| {' | '.join(measure_row(case, K))} |")
        print(lines[-1], flush=True)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
