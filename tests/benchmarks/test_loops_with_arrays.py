"""`python -m benchmarks.loops_with_arrays`: both forms of an algorithm give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import loops_with_arrays


@pytest.mark.parametrize("case", loops_with_arrays.LONGEST)
def test_both_forms_give_the_same_results(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are interpreted, with a few environments."""
    monkeypatch.setattr(loops_with_arrays, "BATCH", 5)
    found, other = (loops_with_arrays.run_of(case, 4, rolled)() for rolled in (True, False))
    pairs = zip(found, other, strict=True) if isinstance(found, tuple) else [(found, other)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_cpu_time_increases() -> None:
    """It includes this process and its children."""
    before = loops_with_arrays.cpu_seconds()
    sum(k * k for k in range(2_000_000))
    assert loops_with_arrays.cpu_seconds() > before
