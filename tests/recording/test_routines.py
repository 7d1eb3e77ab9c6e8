"""Functions recorded once and called for many columns equal inlined ones, on the CPU and for CUDA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.algebra.scalar import each
from warpdyn.codegen.targets import write
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording import recorder
from warpdyn.recording.graph import COLUMN
from warpdyn.recording.program import record


@pytest.fixture
def roll_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every function of columns becomes a routine."""
    monkeypatch.setattr(recorder, "ROLL_FROM", -1)
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["panda", "quadruped_floating"])
def test_kernels_with_routines_equal_the_oracle(
    name: str, dtype: type, roll_everything: None
) -> None:
    """The test has every layout and a batch that does not fill the last vector."""
    model = by_name(name).model
    s = states(model, 19).rounded(np.dtype(dtype))
    bound = {np.float32: 1e-4, np.float64: 1e-10}[dtype]
    wanted = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau)
    rows = [x.astype(dtype) for x in (s.q, s.v, s.tau)]
    columns = [np.ascontiguousarray(x.T).T for x in rows]
    call = wd.aba_derivatives.describe(model, *rows)
    assert record_call(
        call, {n: x.shape[1:] for n, x in call.arrays.items()}, dtype is np.float32
    ).routines
    fresh = model.with_base_velocity("local")  # a model of its own, without kernels yet
    for given in (rows, columns):
        for found, expected in zip(wd.aba_derivatives(fresh, *given), wanted, strict=True):
            assert error(found, expected) <= bound


@needs_compiler
def test_the_cuda_source_of_routines_equals_the_function(
    roll_everything: None, tmp_path: Path
) -> None:
    """Built by the host's compiler and run thread by thread."""

    def solve(shared, column):
        x = [column[0], column[1] - shared[0] * column[0]]
        return [x[0], x[1] * shared[1], 2.0]

    def text(q):
        return [
            y
            for column in each(solve, [q[0], q[1]], [[q[k], q[k + 1]] for k in range(5)])
            for y in column
        ]

    program = record(text, {"q": (6,)})
    assert len(program.routines) == 1
    q = np.random.default_rng(0).normal(size=(5, 6))
    out = np.full((5, 15), np.nan)
    run_on_host(write(program, "routine", False, "cuda"), {"q": q}, out, folder=tmp_path)
    assert error(out, np.array([text(row.tolist()) for row in q])) <= 1e-14


@needs_compiler
def test_columns_with_equal_zeros_share_a_routine(roll_everything: None, tmp_path: Path) -> None:
    """The routine for each limb omits its zeros."""
    factors = [0.5, -2.0, 3.0, 1.5, -1.0, 0.25]

    def scale(shared, column):
        return [s * x for s, x in zip(shared, column, strict=True)]

    def text(q):
        rows = [[q[0], q[1], q[2], 0.0, 0.0, 0.0], [q[1], q[2], q[3], 0.0, 0.0, 0.0]]
        rows += [[0.0, 0.0, 0.0, q[3], 2.0, q[5]], [0.0, 0.0, 0.0, q[1], 1.0, q[2]]]
        shared = [factor * q[4] for factor in factors]
        return [y for column in each(scale, shared, rows) for y in column]

    program = record(text, {"q": (6,)})
    moving = [sum(r.inputs[COLUMN]) for r in program.routines.values()]
    assert sorted(moving) == [3, 3]
    q = np.random.default_rng(0).normal(size=(5, 6))
    out = np.full((5, 24), np.nan)
    run_on_host(write(program, "limbs", False, "cuda"), {"q": q}, out, folder=tmp_path)
    assert error(out, np.array([text(row.tolist()) for row in q])) <= 1e-14


def test_short_and_differentiated_functions_are_inlined() -> None:
    """A function with a derivative, or with few operations, does not become a routine."""
    model = wd.load_robot("panda")
    q = np.zeros((1, model.nq))
    call = wd.aba_derivatives.describe(model, q, q, q)
    assert not record_call(call, {n: x.shape[1:] for n, x in call.arrays.items()}, True).routines
