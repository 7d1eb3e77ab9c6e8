"""`python -m benchmarks.own_kernels`: only equal results are timed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import own_kernels
from benchmarks.own_kernel_peers import in_numpy
from benchmarks.robots import is_installed, robot

needs_robots = pytest.mark.skipif(not is_installed(), reason="example-robot-data is not installed")


@needs_robots
def test_a_kernel_that_calls_one_function_has_the_same_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its rows say that the programs are identical."""
    monkeypatch.setattr(own_kernels, "BATCH", 32)
    rows = list(own_kernels.built_in_rows(own_kernels.states()))
    assert sum("| True |" in row for row in rows) == 2 and not any("False" in row for row in rows)


@needs_robots
def test_the_numpy_controller_agrees_with_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_kernels, "BATCH", 5)
    given, panda = own_kernels.states(), robot("panda")
    impedance = own_kernels.example("impedance")["impedance"]
    arrays = [given[n] for n in ("q", "v", "target")]
    wanted = impedance(panda.model, *arrays, frame=own_kernels.FRAME)
    peer = in_numpy(panda, own_kernels.FRAME, given)
    own_kernels.check(peer.name, peer.answers(), wanted, 1e-12)


def test_a_kernel_with_other_results_is_not_timed() -> None:
    with pytest.raises(
        SystemExit, match=r"mine has other results than expected: the difference is 1\.0e-03"
    ):
        own_kernels.check("mine", np.array([1.0, 1.001]), np.array([1.0, 1.0]), 1e-5)
