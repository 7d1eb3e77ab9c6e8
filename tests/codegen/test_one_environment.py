"""The plain form of one robot, which a CUDA thread extends: both give the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cuda_on_host import needs_compiler, run
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen.one_environment import OneEnvironment
from warpdyn.codegen.targets import describe
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call


@needs_compiler
@pytest.mark.parametrize("function", ["fk", "rnea", "aba"])
def test_it_is_the_oracle(function: str, tmp_path: Path) -> None:
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


def test_constants_are_left_alone_on_request() -> None:
    """Those of a result that no input overwrites are written once."""
    model = by_name("panda").model
    call = wd.fk.describe(model, states(model, 2).q)
    code = OneEnvironment(record_call(call, input_shapes(call), True), True).source()
    assert "if (!args[2]) {" in code
