"""NumPy draws on the CPU what Warp's kernels draw on other devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpdyn.arrays import random_laws
from warpdyn.arrays.random_laws import LAWS, draw_inertias, draw_numbers, draw_placements
from warpdyn.arrays.views import view

ROWS = [[float(k), 1.0, 0.3, float(k % 2)] for k in range(len(LAWS))]
OWNER, OWNERS, ENVS = [1, 3, 4], 5, 200
SOME = np.random.default_rng(0)

CASES: dict[str, tuple[Any, int, tuple[Any, ...]]] = {
    "numbers": (draw_numbers, 3, ()),
    "inertias": (draw_inertias, 6, ([2.0, 0.0, 0.5], ROWS, 9)),
    "placements": (draw_placements, 7, (ROWS, 9)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_the_cpu_draws_the_numbers_of_the_kernels(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a kernel, so that a first call waits for no compiler."""
    kernel, width, more = CASES[name]
    nominal = SOME.uniform(0.1, 1.0, (len(OWNER), width))
    outs = [np.full((ENVS, len(OWNER), width), np.nan, dtype) for _ in range(2)]
    arguments = (nominal, ROWS, OWNER, OWNERS, -7, more)
    random_laws._vary_with_kernel(kernel, view("out", outs[0]), *arguments)
    monkeypatch.setattr(random_laws.wp, "launch", None)
    random_laws.vary(kernel, view("out", outs[1]), *arguments, None)
    tolerance = 1e-14 if dtype == np.float64 else 2.0**-23
    np.testing.assert_allclose(outs[1], outs[0], rtol=tolerance, atol=tolerance)
