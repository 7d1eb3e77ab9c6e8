"""A block that notes its calls and compiles their kernels at its end, with everything else that
they need."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from fresh_caches import environment_with_header, run

import warpdyn as wd
from warpdyn.execution.fast_paths import compile_c_functions
from warpdyn.execution.launch.launch import prepare

Z = np.zeros((1, 2))
numbers = itertools.count(1)

PLAIN_CALLS = """
import numpy as np
import warp as wp
import warpdyn as wd
model = wd.load_robot("cartpole")
z = np.zeros((1, 2))
with wd.kernels.compiling():
    wd.crba(model, z)
from warpdyn.execution.compile import kernel_objects
built, build = [], kernel_objects.compile_object
kernel_objects.compile_object = lambda request: (built.append(request), build(request))
found = [wd.crba(model, z) for _ in range(12)]
print(len(built), len(wd.crba._calls._calls_in_c.plans), all((x == found[0]).all() for x in found))
"""
"""Builds after a block, calls by the C function, whether all results are equal."""


@pytest.fixture
def model() -> wd.Model:
    """A model whose kernels are not loaded: Warp loads kernels of the same source once in a
    process."""
    return wd.load_robot("cartpole").with_armature(0.5 + next(numbers) / 1024)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of Warp. The C functions are loaded."""
    compile_c_functions([prepare(wd.crba.describe(wd.load_robot("cartpole"), Z)).kernel])
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


def compiled_in(folder: Path) -> list[str]:
    return sorted(path.parent.name.rsplit("_", 2)[0] for path in folder.glob("*/*.o"))


def test_nothing_is_left_to_compile_after_a_block(tmp_path: Path) -> None:
    """The C function that small calls use from their third time on is compiled, too."""
    assert run(PLAIN_CALLS, environment_with_header(tmp_path))[0] == "0 1 True\n"


def test_a_block_notes_calls_and_compiles_them_at_its_end(
    model: wd.Model, empty_cache: Path
) -> None:
    """Results in it are zeros, arrays of the caller do not change, and each kernel is compiled
    once."""
    out = np.full((1, 2, 2), 7.0)
    with wd.kernels.compiling():
        tau = wd.rnea(model, Z + 1, Z, Z)
        assert wd.crba(model, Z, out=out) is out and (out == 7).all()
        wd.rnea(model, *np.ones((3, 3, 2)))
        assert compiled_in(empty_cache) == []
    assert (tau == 0).all()
    assert compiled_in(empty_cache) == [
        "wp_warpdyn_crba_cartpole",
        "wp_warpdyn_rnea_cartpole",
    ]
    assert np.allclose(wd.crba(model, Z), wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)
    assert len(compiled_in(empty_cache)) == 2


def test_a_block_that_fails_compiles_nothing(model: wd.Model, empty_cache: Path) -> None:
    """Calls after it compute again."""
    with pytest.raises(RuntimeError, match="mine"), wd.kernels.compiling():
        wd.crba(model, Z)
        raise RuntimeError("mine")
    assert compiled_in(empty_cache) == []
    assert wd.crba(model, Z)[0, 0, 0] > 0


def test_a_bound_call_in_a_block_is_compiled_at_once(model: wd.Model, empty_cache: Path) -> None:
    """It outlives the block, so it is compiled and launched there."""
    with wd.kernels.compiling():
        run_it = wd.bind(wd.crba, model, Z)
        assert compiled_in(empty_cache) == ["wp_warpdyn_crba_cartpole"]
    assert np.allclose(run_it(), wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)


def test_a_block_compiles_kernels_of_a_backward_pass(model: wd.Model, empty_cache: Path) -> None:
    """The block runs one training step of Torch."""
    torch = pytest.importorskip("torch")

    def step() -> torch.Tensor:
        q = torch.ones((2, 2), dtype=torch.float64, requires_grad=True)
        v = torch.ones((2, 2), dtype=torch.float64)
        wd.aba(model, q, v, v).square().sum().backward()
        return q.grad

    with wd.kernels.compiling():
        step()
    kept = compiled_in(empty_cache)
    assert len(kept) == 2
    assert step().abs().sum() > 0 and compiled_in(empty_cache) == kept
