"""The CUDA source computes the right numbers: it is plain C++, which the host runs one thread at a
time. This replaces a GPU, so the device itself is not tested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cuda_on_host import needs_compiler, run, write_in_one_warp
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.algebra.scalar import floor, look, repeat
from warpdyn.codegen import cuda as chosen
from warpdyn.codegen.cuda import CudaThread
from warpdyn.execution.request.call import all_arrays, input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import record

pytestmark = needs_compiler

B = 5
"""Environments."""

ROUNDING = {np.float32: 1e-5, np.float64: 1e-12}
"""Relative to the largest entry. These are the project's bounds."""


def test_all_angles_that_are_far_are_reduced_in_one_loop() -> None:
    """It counts them, and compares each with the bound of its precision."""
    program = record(lambda x: [x[0]], {"x": (1,)})
    for single in (False, True):
        lines = "\n".join(CudaThread(program, single).near_angles({"t1": "one", "t2": "two"}))
        assert "T far[] = {one, two};" in lines and "int quarters[2] = {};" in lines
        assert "for (int k = 0; k < 2; ++k)" in lines
        assert f"if ({chosen.FAR[single].format('far[k]')}) {{" in lines
        assert "two = far[1]; two_quarters = quarters[1];" in lines


@pytest.mark.parametrize(
    ("name", "dtype"), [("panda", np.float64), ("quadruped_floating", np.float32)]
)
@pytest.mark.parametrize("algorithm", ["fk", "jacobian", "rnea", "crba", "aba"])
def test_the_source_equals_the_oracle(
    name: str, algorithm: str, dtype: type, tmp_path: Path
) -> None:
    """Inputs are rows of larger arrays, the result is a transposed array. Threads beyond the batch
    write nothing. The arm is computed in float64, the quadruped in float32."""
    model = by_name(name).model
    s = states(model, B)
    given = {"q": s.q, "v": s.v, "a": s.a, "tau": 10.0 * s.a}
    names = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau")}.get(algorithm, ("q",))
    options = {"frame": model.link_names[-1]} if algorithm == "jacobian" else {}
    wide = {
        k: np.concatenate([given[k], np.full((B, 3), np.nan)], axis=1).astype(dtype) for k in names
    }
    arrays = {k: x[:, :-3] for k, x in wide.items()}
    function = getattr(wd, algorithm)
    call = function.describe(model, *arrays.values(), **options)
    single = dtype is np.float32
    source = write_in_one_warp(
        record_call(call, {k: x.shape[1:] for k, x in arrays.items()}, single), algorithm, single
    )
    memory = np.full((*source.results["out"], B + 4), np.nan, dtype)
    out = np.moveaxis(memory[..., :B], -1, 0)
    run(source, arrays, out, folder=tmp_path)
    expected = wd.oracle(function, model, *(x.astype(float) for x in arrays.values()), **options)
    if algorithm == "aba":  # by what M a + h lacks of tau
        a = out.astype(float)
        lacks = (
            wd.oracle(wd.rnea, model, arrays["q"].astype(float), arrays["v"].astype(float), a)
            - arrays["tau"]
        )
        M = np.abs(wd.oracle(wd.crba, model, arrays["q"].astype(float)))
        size = np.einsum("bij,bj->bi", M, np.abs(a)).max() + np.abs(arrays["tau"]).max()
        assert np.abs(lacks).max() <= ROUNDING[dtype] * size
    else:
        assert error(out, expected) <= ROUNDING[dtype]
    assert np.isnan(memory[..., B:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_by_value_give_the_same_bits_as_arrays(dtype: type, tmp_path: Path) -> None:
    """The numbers are gravity and masses."""
    model = by_name("panda").model
    s, single = states(model, B), dtype is np.float32
    params = model.params(mass={"panda_hand": 0.7, "panda_link5": 1.5})
    call = wd.rnea.describe(model, s.q, s.v, s.a, gravity=[0.0, -1.0, -2.5], params=params)
    program = record_call(call, input_shapes(call), single)
    by_value = ("gravity", "params:mass")
    found = []
    for numbers in ((), by_value):
        out = np.full((B, model.nv), np.nan, dtype)
        arrays = {name: np.asarray(x, dtype) for name, x in all_arrays(call).items()}
        if not numbers:  # one row for each environment
            arrays |= {name: np.tile(arrays[name], (B, 1)) for name in by_value}
        written, folder = replace(program, numbers=numbers), tmp_path / str(len(numbers))
        folder.mkdir()
        run(write_in_one_warp(written, "rnea", single), arrays, out, folder=folder)
        found.append(out)
    assert np.array_equal(*found)
    expected = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=[0.0, -1.0, -2.5], params=params)
    assert error(found[0], expected) <= ROUNDING[dtype]


def test_forces_common_gravity_and_kept_constants_are_right(tmp_path: Path) -> None:
    """One gravity for all has stride zero, and a force has a link name. Constants are not written
    if they are kept."""
    model = by_name("panda").model
    s, link = states(model, B), "panda_hand"
    force = np.random.default_rng(0).normal(size=(B, 6))
    call = wd.rnea.describe(model, s.q, s.v, s.a, gravity=np.ones((B, 3)), f_ext={link: force})
    inputs = {
        "q": (model.nq,),
        "v": (model.nv,),
        "a": (model.nv,),
        "gravity": (3,),
        f"f_ext:{link}": (6,),
    }
    source = write_in_one_warp(record_call(call, inputs, False), "rnea", False)
    gravity = np.broadcast_to(np.array([1.0, -2.0, -9.0]), (B, 3))
    out = np.full((B, model.nv), np.nan)
    run(
        source,
        {"q": s.q, "v": s.v, "a": s.a, "gravity": gravity, f"f_ext:{link}": force},
        out,
        folder=tmp_path,
    )
    expected = wd.oracle(
        wd.rnea, model, s.q, s.v, s.a, gravity=(1.0, -2.0, -9.0), f_ext={link: force}
    )
    assert error(out, expected) <= ROUNDING[np.float64]

    call = wd.fk.describe(model, s.q)
    source = write_in_one_warp(record_call(call, {"q": (model.nq,)}, False), "fk", False)
    poses = np.full((B, *source.results["out"]), np.nan)
    run(source, {"q": s.q}, poses, folder=tmp_path, keep_constants=True)
    assert (poses[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all()  # rows are written whole
    side_by_side = np.moveaxis(np.full((*source.results["out"], B), np.nan), -1, 0)
    run(source, {"q": s.q}, side_by_side, folder=tmp_path, keep_constants=True)
    assert np.isnan(side_by_side[..., 3, :]).all()
    is_written = ~np.isnan(side_by_side)
    assert is_written.any() and np.array_equal(side_by_side[is_written], poses[is_written])
    assert np.isfinite(poses[:, 1:-1, :3, 3]).any()


@needs_compiler
@pytest.mark.parametrize("single", [True, False])
def test_tables_are_looked_up_in_loops(single: bool, tmp_path: Path) -> None:
    """Numbers and cells are read with any strides, outside the edges, and with NaN as index."""

    def text(x, t):
        def step(s):
            i, j = floor(s[0]), floor(x[1])
            corners = [look(t, a, b) for a in (i, i + 1.0) for b in (j, j + 1.0)]
            return [s[0] + 0.7, s[1] * 0.5 + corners[0] + 2.0 * corners[1] - corners[3]]

        return [look(t, x[0], x[1]), *repeat(step, [x[0], 0.0], 3)]

    program = record(text, {"x": (2,), "t": (4, 5)}, tables=("t",))
    rng, dtype = np.random.default_rng(0), np.float32 if single else np.float64
    x = rng.uniform(-3, 8, (9, 2)).astype(dtype)
    x[0, 0], x[1, 1] = np.nan, np.inf
    table = np.asfortranarray(rng.normal(size=(4, 5)).astype(dtype))
    out = np.full((9, 3), np.nan, dtype)
    run(write_in_one_warp(program, "looked_up", single), {"x": x, "t": table}, out, folder=tmp_path)
    wanted = [program.on_numbers({"x": row, "t": table.tolist()})["out"] for row in x[2:].tolist()]
    assert error(out[2:], np.array(wanted)) < (1e-6 if single else 1e-15)
    assert out[0, 0] == table[0, min(max(int(x[0, 1]), 0), 4)]
    assert out[1, 0] == table[min(max(int(x[1, 0]), 0), 3), 4]


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.STATIC_BYTES == 48_128
