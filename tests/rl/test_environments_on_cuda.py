"""CUDA source of a task's kernels compiles for sm_90 without a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import warp as wp

rl = pytest.importorskip("warpdyn.rl")
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import describe_call
from warpdyn.execution.compile.kernel import compile_kernel
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.rl.environment_step import EnvironmentStep

QUADRUPED = EnvironmentStep(rl.make("quadruped_velocity"), seed=0)


def source_of(text: EnvironmentStep, kernel: str) -> Source:
    """CUDA source of one of a task's kernels, in float32."""
    shapes = text.carried if kernel == "step" else {"ticks": ()}
    more = {"action": (text.task.actions,)} if kernel == "step" else {}
    arrays = [np.zeros((2, *shape), np.float32) for shape in {**shapes, **more}.values()]
    shared = [x.astype(np.float32) for x in text.shared_arrays.values()]
    call = describe_call(getattr(text, kernel), (text.task.model, *arrays, *shared), {})
    return write(record_call(call, input_shapes(call), True), f"environment_{kernel}", True, "cuda")


@pytest.mark.parametrize("kernel", ["start", "step"])
def test_a_quadrupeds_environment_compiles_for_sm_90(kernel: str, tmp_path: Path) -> None:
    module = compile_kernel(source_of(QUADRUPED, kernel)).module
    wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=True)
    (ptx,) = tmp_path.glob("*.ptx")
    code = ptx.read_text()
    assert ".target sm_90" in code and f"warpdyn_environment_{kernel}" in code
