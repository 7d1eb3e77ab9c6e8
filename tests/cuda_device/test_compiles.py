"""Number of compilations of a kernel by NVRTC."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_device.emulated_processes import run_emulated

CALL = """
import warp as wp, warpdyn as wd
from warpdyn.execution.launch.launch import prepare
model = wd.load_robot("{robot}")
q = wp.zeros((4, model.nq), dtype=wp.float32, device="cuda:0")
kernel = prepare(wd.crba.describe(model, q)).kernel
before = kernel.is_compiled
wd.crba(model, q)
print(before, kernel.is_compiled)
"""


@pytest.mark.parametrize("robot", ["cartpole", "quadruped"])
def test_a_kernel_is_compiled_once(
    robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel runs in one warp or in several.

    Warp compiles a kernel for each requested block size, so loading and launching must request the
    same one. The next process finds it in the cache.
    """
    monkeypatch.setenv("WARP_CACHE_PATH", str(tmp_path))
    for expected in ("False True", "True True"):
        done = run_emulated("-c", CALL.replace("{robot}", robot))
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.splitlines()[-1] == expected
        assert len(list(tmp_path.rglob("wp_warpdyn_crba*.ptx"))) == 1
