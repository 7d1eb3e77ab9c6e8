"""Programs written for the CPU in this process, compiled and run: they give the results of the
program on numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from cuda_on_host import needs_compiler, write_in_one_warp
from cuda_on_host import run as run_on_host
from every_statement import PROGRAMS, SHAPES, everything

from warpdyn.algebra import row_arrays, scalar
from warpdyn.codegen import cpu, cpu_routines
from warpdyn.codegen.emit import BARRIER_AFTER
from warpdyn.codegen.targets import write
from warpdyn.execution.compile.kernel import KernelCommand, compile_kernel
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.program import Program, record

COUNT = 19
"""Number of environments: more than a vector of lanes, and not a multiple of it."""


def run(program: Program, name: str, dtype: Any, target: str, x: Any, t: Any) -> np.ndarray:
    """The results (B, n) for inputs (B, 4) and a table, from a kernel of the CPU."""
    source = write(program, name, dtype == np.float32, target)
    out = np.full((len(x), *source.results["out"]), np.nan, dtype)
    arguments = [0, len(x), 0, 0]
    for each in source.inputs:
        array = t if each == "t" else x
        strides = [s // array.itemsize for s in array.strides]
        table = [array.ctypes.data, *array.shape, *strides]
        plain = [array.ctypes.data, *strides, *[0] * (4 - len(strides))]
        arguments += table if each in source.tables else plain
    arguments += [out.ctypes.data, *(s // out.itemsize for s in out.strides), 0, 0]
    device, length = wp.get_device("cpu"), source.layout.length
    units = [KernelCommand(compile_kernel(u), device, length) for u in source.unit_sources]
    assert not units
    command = KernelCommand(compile_kernel(source), device, length)
    for first in range(len(x)) if target == "scalar" else (0,):
        arguments[0], arguments[1] = first, 1 if target == "scalar" else len(x)
        command.set(arguments)
        command.run()
    return out


def inputs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    return draw.uniform(0.05, 0.7, (COUNT, 4)).astype(dtype), draw.normal(size=(3, 5)).astype(dtype)


def on_numbers(program: Program, x: np.ndarray, t: np.ndarray) -> list[list[float]]:
    return [program.on_numbers({"x": row, "t": t.tolist()})["out"] for row in x.tolist()]


@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cuda_thread_computes_its_program(name: str, tmp_path: Path) -> None:
    """It is built by the host's compiler."""
    program = record(PROGRAMS[name], SHAPES, tables=("t",))
    x, t = inputs(np.float64)
    out = np.full((COUNT, len(program.outputs)), np.nan)
    source = write_in_one_warp(program, f"{name}_cuda", False)
    run_on_host(source, {"x": x, "t": t}, out, folder=tmp_path)
    np.testing.assert_allclose(out, on_numbers(program, x, t), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", ["cpu", "scalar"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kernel_computes_its_program(name: str, target: str, dtype: Any) -> None:
    """Arrays are in rows and in columns, and the last vector is not full."""
    program = record(PROGRAMS[name], SHAPES, tables=("t",))
    x, t = inputs(dtype)
    x += 0.2 * (name == "ending")  # not so near to the end of its loop
    wanted = on_numbers(program, x, t)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        found = run(program, f"{name}_{target}", dtype, target, layout(x), layout(t))
        close = (
            {"rtol": 2e-4, "atol": 2e-5} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-12}
        )
        np.testing.assert_allclose(found, wanted, **close)


def test_a_long_program_is_divided_into_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of a sweep are stored in groups."""
    program = record(everything, SHAPES, tables=("t",))
    text = write(program, "everything", False, "cpu").full_source
    assert text.count("static const short rows[] = {0, 1, 2, 2};") == 1
    assert "part1(" in text and "tables" in text
    rows = 40

    def wide(x: list) -> list:
        values, _ = scalar.sweep(
            lambda s, row: ([s[0] + row[0]], [s[0]]),
            [[x[0]]],
            [[*range(rows)]],
            [[scalar.sin(x[k % 4] * (k + 1.0))] for k in range(rows)],
        )
        return [values[0][-1][0]]

    monkeypatch.setattr(cpu, "PART", 10_000)
    text = write(record(wide, {"x": (4,)}), "wide", False, "cpu").code
    assert text.count(cpu_routines.BARRIER) == rows // BARRIER_AFTER == 1


@pytest.mark.parametrize("arrays", [True, False])
def test_programs_that_exceed_the_stack_are_refused(
    arrays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to change about stored states of a gradient, or rows."""
    monkeypatch.setattr(cpu, "LARGEST_WORKSPACE", 1 << 20)
    steps = 1 << 15

    def long_loop(x: list) -> list:
        return pullback(x, scalar.repeat(lambda s: [scalar.sin(s[0])], [x[0]], steps), [1.0])

    def with_rows(x: list) -> list:
        rows = row_arrays.RowArray([[x[0]] for _ in range(3)])

        def step(k: Any, s: list, each: list) -> list:
            each[0][k] = [scalar.sin(each[0][k][0])]
            return s

        row_arrays.loop(steps, step, [x[1]], [rows])
        return pullback(x, [rows[0][0]], [1.0])

    program = record(with_rows if arrays else long_loop, {"x": (2,)})
    said = (
        r"arrays of loops, .* take \d+ MiB of a thread's stack, .*take 1: use fewer rows or steps$"
        if arrays
        else r"keeps the state of each step of a loop, 2 MiB of a thread's stack, .* take 1: make a loop"
    )
    with pytest.raises(ValueError, match=said):
        write(program, "kept", False, "cpu")
