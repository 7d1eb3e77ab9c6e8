"""The plain source for one robot, which a CUDA thread extends: both give the same numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_on_host import needs_compiler, run
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.algebra import scalar
from warpdyn.algebra.scalar import uniform
from warpdyn.codegen import headers
from warpdyn.codegen.one_environment import OneEnvironment
from warpdyn.codegen.targets import describe
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording import recorder
from warpdyn.recording.program import Program, record


@needs_compiler
@pytest.mark.parametrize("function", ["fk", "rnea", "aba"])
def test_the_source_for_one_environment_equals_the_oracle(function: str, tmp_path: Path) -> None:
    """The inputs are contiguous rows, and then slices of wider arrays."""
    model = by_name("quadruped_floating").model
    s = states(model, 5)
    arrays = {"q": s.q} if function == "fk" else {"q": s.q, "v": s.v, "a": s.a}
    call = getattr(wd, function).describe(model, *arrays.values())
    program = record_call(call, input_shapes(call), False)
    names = dict(zip(program.inputs, arrays.values(), strict=True))
    source = replace(
        describe(program, function, False, "cuda"), code=OneEnvironment(program, False).source()
    )
    expected = wd.oracle(getattr(wd, function), model, *arrays.values())
    wide = {
        name: np.concatenate([x, np.nan * x], axis=1)[:, : x.shape[1]] for name, x in names.items()
    }
    for k, given in enumerate((names, wide)):
        out = np.full(expected.shape, np.nan)
        folder = tmp_path / str(k)
        folder.mkdir()
        run(source, given, out, folder=folder)
        assert error(out, expected) <= 1e-9


def test_constants_can_be_written_once() -> None:
    """This applies to results that no input overwrites."""
    model = by_name("panda").model
    call = wd.fk.describe(model, states(model, 2).q)
    code = OneEnvironment(record_call(call, input_shapes(call), True), True).source()
    assert "if (!args[2]) {" in code


def test_results_over_an_input_are_stored_last_with_their_constants() -> None:
    """They are stored at each launch, because the input changes them. Constants of other results
    are written once."""

    def two(x: list) -> tuple[list, list]:
        return [2.0 * x[0], 7.0], [8.0, x[1]]

    program = replace(record(two, {"x": (2,)}, ("over", "apart")), over={"over": "x"})
    lines = OneEnvironment(program, True).source().splitlines()
    read = lines.index("const float t1 = a_x[a_x_x];")
    ends = ["r_apart[r_apart_x] = t1;", "r_over[0] = t2;", "r_over[r_over_x] = 7.0f;"]
    assert lines[read + 1 :] == [*ends, "if (!args[2]) {", "r_apart[0] = 8.0f;", "}"]


def test_only_programs_with_random_numbers_contain_their_function() -> None:
    """The source of a sum does not contain it."""
    for text, drawn in (
        (lambda x: [uniform(x[0], x[1], 0.0, 1.0)], True),
        (lambda x: [x[0] + x[1]], False),
    ):
        source = OneEnvironment(record(text, {"x": (2,)}), True).source()
        assert (headers.piece("counters.h", "thread", True) in source) == drawn


@pytest.mark.parametrize("over", [False, True])
def test_only_arrays_that_share_memory_are_not_restricted(over: bool) -> None:
    """A dimension of one entry has no stride, and an array without entries is not declared."""

    def three(x: list, y: list, z: list) -> list:
        return [x[0][0] * y[0], x[1][0]]

    program = record(three, {"x": (2, 1), "y": (2,), "z": (0,)})
    program = replace(program, over={"out": "y"} if over else {})
    lines = OneEnvironment(program, False).source().splitlines()
    kinds = {
        name: next(x for x in lines if f" {name} = (" in x) for name in ("a_x", "a_y", "r_out")
    }
    for name, line in kinds.items():
        alone = name == "a_x" or not over
        const = "" if name == "r_out" else "const "
        assert line.startswith(
            f"{const}double* {'__restrict__ ' * alone}const {name} = ({const}double*)"
        )
    strides = {line.split()[2] for line in lines if line.startswith("const I64 a_")}
    assert strides == {"a_x_x", "a_y_x"} and not [line for line in lines if " a_z " in line]


def calls(function: Any, rows: int = 2) -> Program:
    """A program that calls a routine for each row, with a table of numbers."""

    def each(x: list, t: Any) -> list:
        step = partial(function, t)
        found = scalar.each(step, [x[0]], [[x[1 + k]] for k in range(rows)])
        return [y for column in found for y in column]

    return record(each, {"x": (1 + rows,), "t": (2, 3)}, tables=("t",))


def test_routines_write_their_own_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these: computed results are stored by their statements."""
    monkeypatch.setattr(recorder, "ROLL_FROM", 0)
    program = calls(lambda t, shared, column: [shared[0] * column[0], 7.0, scalar.sin(column[0])])
    lines = OneEnvironment(program, False).source().splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("auto routine0 = "))
    inside = lines[begin + 1 : lines.index("};", begin)]
    stored = sorted(line.partition(" =")[0] for line in inside if line.startswith("out["))
    assert stored == ["out[0]", "out[1]", "out[2]"] and inside[-1] == "out[1] = 7.0;"


@pytest.mark.parametrize("kind", ["none", "look", "cell", "inner"])
def test_routines_that_look_numbers_up_see_the_tables(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are declared outside of them. A routine in another one may look, too."""
    monkeypatch.setattr(recorder, "ROLL_FROM", 0)

    def look(t: Any, shared: list, column: list) -> list:
        i = scalar.floor(column[0])
        if kind == "none":
            return [shared[0] * i]
        found = scalar.look(t, i, 0.0)
        if kind != "cell":
            return [found + shared[0]]
        corners = [scalar.look(t, i + a, shared[0] + b) for a in (0.0, 1.0) for b in (0.0, 1.0)]
        return [sum(corners, 0.0)]

    def outer(t: Any, shared: list, column: list) -> list:
        inner = scalar.each(partial(look, t), shared, [[column[0]], [column[0] * shared[0]]])
        return [inner[0][0] - inner[1][0]]

    program = calls(outer if kind == "inner" else look)
    source = OneEnvironment(program, False).source()
    heads = [line for line in source.splitlines() if line.startswith("auto routine")]
    assert len(heads) == 1 + (kind == "inner")
    assert all(("= [&](" in head) is (kind != "none") for head in heads)
