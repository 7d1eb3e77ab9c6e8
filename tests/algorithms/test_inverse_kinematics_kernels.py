"""Kernels of inverse kinematics give the algorithm's numbers, on the CPU and as CUDA source."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import warp as wp
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host
from reachable_targets import SOLVED, check, reachable

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.compile.kernel import compile_kernel
from warpdyn.execution.request.evaluate import record_call
from warpdyn.functions.inverse_kinematics import Solution, inverse_kinematics


def test_the_kernel_takes_the_steps_of_the_oracle() -> None:
    """Few steps are compared, because rounding errors grow."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 6, [hand], seed=2)
    found, wanted = (
        inverse_kinematics(model, T, restarts=2),
        wd.oracle(inverse_kinematics, model, T, restarts=2),
    )
    assert isinstance(wanted, Solution)
    alike = wanted.iterations == found.iterations
    assert alike.sum() >= 4 and np.abs(found.q - wanted.q)[alike].max() < 1e-6
    assert (found.success == wanted.success)[alike].all()


def test_an_environment_does_not_depend_on_the_others(dtype: np.dtype) -> None:
    """Results are equal in all bits, in any order and any batch.

    NaN fails at once and only in its own environment.
    """
    model, hand = wd.load_robot("panda"), "panda_hand"
    T = reachable(model, 100, [hand], dtype)[hand]
    whole = inverse_kinematics(model, {hand: T})
    order = np.random.default_rng(1).permutation(100)
    moved = inverse_kinematics(model, {hand: T[order]})
    assert all(a[order].tobytes() == b.tobytes() for a, b in zip(whole, moved, strict=True))
    one = inverse_kinematics(model, {hand: T[7]})
    assert one.q.shape == (model.nq,) and all(
        a[7].tobytes() == b.tobytes() for a, b in zip(whole, one, strict=True)
    )
    T[3, 0, 3] = np.nan
    spoilt = inverse_kinematics(model, {hand: T})
    rest = np.arange(100) != 3
    assert all(a[rest].tobytes() == b[rest].tobytes() for a, b in zip(whole, spoilt, strict=True))
    assert (
        not spoilt.success[3] and np.isnan(spoilt.position_error[3]) and spoilt.iterations[3] == 1
    )


@needs_compiler
def test_the_cuda_source_gives_the_same_solutions_on_the_host(tmp_path: Path) -> None:
    """Each thread solves one environment."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    B, T = 40, reachable(wd.load_robot("ur5e"), 40, ["tool0"])[hand]
    call = inverse_kinematics.describe(model, {hand: T})
    seed = np.array(call.arrays["seed"])
    source = write(
        record_call(call, {f"target:{hand}": (4, 4), "seed": (6,)}, False), "ik", False, "cuda"
    )
    results = [np.full((B, *shape), np.nan) for shape in source.results.values()]
    inputs = {f"target:{hand}": T, "seed": np.broadcast_to(seed, (B, 6))}
    run_on_host(source, inputs, *results, folder=tmp_path)
    found = Solution._from_results(*results)
    check(model, found, {hand: T}, 1e-12)
    assert found.success.mean() >= SOLVED
    same = inverse_kinematics(model, {hand: T})
    assert (np.abs(found.q - same.q).max(axis=1) < 1e-6).mean() > 0.9


def test_the_kernel_compiles_to_ptx(tmp_path: Path) -> None:
    """The state stays in registers or spills. It is not indexed in local memory."""
    model = wd.load_robot("ur5e")
    call = inverse_kinematics.describe(model, {"tool0": np.eye(4, dtype=np.float32)[None]})
    kernel = compile_kernel(
        write(record_call(call, {"target:tool0": (4, 4), "seed": (6,)}, True), "ik", True, "cuda")
    )
    wp.compile_aot_module(kernel.module, arch=90, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    local = sum(int(size) for size in re.findall(r"__local_depot\d+\[(\d+)\]", ptx.read_text()))
    # Only angles beyond the polynomials of the sines use local memory: an angle and its quarter turns for each
    # of six joints, and what the library needs for a sine of a huge double.
    assert "warpdyn_ik" in ptx.read_text() and local <= 6 * (4 + 4) + 72
