"""CUDA source of a user's kernel with a loop, conditions, random numbers and state in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host
from states import error, states

import warpdyn as wd
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import describe_call
from warpdyn.execution.compile.kernel import compile_kernel
from warpdyn.execution.request.call import Call, gather, input_shapes
from warpdyn.execution.request.evaluate import record_call

MODEL, COUNT = wd.load_robot("ur5e"), 21


@wd.kernel
def episode(robot: Any, q: Any, v: Any, age: (), *, longest: float = 0.5) -> Any:  # type: ignore[valid-type]
    """A step that ends early at high speed and begins elsewhere at a high age, between walls."""

    def step(state: Any) -> Any:
        q, v, _ = state
        v = v + 0.01 * robot.aba(q, v, robot.gravity_torques(q))
        v = np.where((q < -2.0) & (v < 0) | (q > 2.0) & (v > 0), 0.0, v)
        return q + 0.01 * v, v, np.abs(v[0]) > 0.2

    q, v, fast = wd.kernels.repeat(5, step, (q, v, False), until=lambda state: state[2])
    done = fast | (age > longest)
    drawn = wd.random.normal(wd.random.key(3, robot.env, np.rint(100 * age)), robot.nq)
    q, v = np.where(done, drawn, q), np.where(done, 0.0, v)
    return {"q": q, "v": v, "age": np.where(done, 0.0, age + 0.05), "done": done}


def episode_arguments() -> tuple[np.ndarray, ...]:
    s = states(MODEL, COUNT)
    return s.q, 0.4 * s.v, np.linspace(0, 1, COUNT)


def text(single: bool) -> tuple[Source, Call[Any]]:
    dtype = np.float32 if single else np.float64
    call = describe_call(episode, (MODEL, *(x.astype(dtype) for x in episode_arguments())), {})
    return write(record_call(call, input_shapes(call), single), "episode", single, "cuda"), call


@pytest.mark.parametrize("single", [True, False])
def test_the_kernel_compiles_for_sm_90(single: bool, tmp_path: Path) -> None:
    kernel = compile_kernel(text(single)[0])
    wp.compile_aot_module(kernel.module, arch=90, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    code = ptx.read_text()
    assert ".target sm_90" in code and "warpdyn_episode" in code


@needs_compiler
@pytest.mark.parametrize("single", [True, False])
def test_the_cuda_source_run_on_the_host_equals_the_oracle(single: bool, tmp_path: Path) -> None:
    """The source runs thread by thread, in place.

    The oracle and the CPU's kernel give the same numbers.
    """
    source, call = text(single)
    arrays = {n: np.array(x, order="C") for n, x in gather(call)[1].items()}
    done = np.full(COUNT, np.nan, arrays["q"].dtype)
    wanted = wd.oracle(episode, MODEL, *episode_arguments())
    by_cpu = episode(MODEL, *(arrays[n].copy() for n in ("q", "v", "age")))
    run_on_host(source, arrays, *(arrays[n] for n in ("q", "v", "age")), done, folder=tmp_path)
    assert 0 < wanted.done.sum() < COUNT and wanted.done[np.linspace(0, 1, COUNT) < 0.4].any()
    assert np.array_equal(done, wanted.done) and np.array_equal(by_cpu.done, wanted.done)
    near = 2e-4 if single else 1e-11
    for got, cpu, name in ((arrays[n], getattr(by_cpu, n), n) for n in ("q", "v", "age")):
        assert error(got.astype(float), getattr(wanted, name)) < near
        assert error(cpu.astype(float), getattr(wanted, name)) < near
