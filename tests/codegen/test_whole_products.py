"""Remainders in exported code are exact, as in kernels and in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_code import CompiledHeader

import warpdyn as wd
from warpdyn.algebra import scalar
from warpdyn.codegen.whole_products import has_whole_products, with_whole_products
from warpdyn.recording.program import record


@wd.kernel
def remainders(robot: Any, x: (), y: ()) -> Any:  # type: ignore[valid-type]
    """Remainders of a value, of a negative value and by a constant, and quotients."""
    return np.stack([x % y, -x % y, (2.0 - x) % 0.3, x // y, np.sin(x % y)])


def dividends(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Multiples of divisors, where a rounded product is off by a divisor, and other numbers."""
    random, digits = np.random.default_rng(0), np.finfo(dtype).nmant
    large = float(np.finfo(dtype).max)
    y = random.uniform(-3.0, 3.0, 900)
    whole = np.floor(2.0 ** random.uniform(0.0, digits - 1.0, 900))
    x = y * np.where(np.arange(900) < 600, whole, random.uniform(-2.0, 2.0, 900))
    x = np.concatenate([x, [1.0, 0.5, large, 7.0, np.inf, np.nan, 1.0, -0.3]])
    y = np.concatenate([y, [0.001, 0.001, large / 999.0, 0.0, 2.0, 1.0, np.inf, 1.0]])
    return x.astype(dtype), y.astype(dtype)


@pytest.mark.parametrize(
    ("language", "dtype", "option"),
    [("c++", "float64", "-O2"), ("c", "float32", "-O2"), ("c", "float64", "-ffp-contract=fast")],
)
def test_exported_remainders_equal_numpys(
    language: Any, dtype: Any, option: str, tmp_path: Path
) -> None:
    """Before, 1 // 0.001 was 1000 instead of 999, and 1 % 0.001 was 0 instead of 0.001."""
    x, y = dividends(getattr(np, dtype))
    text = wd.export(
        wd.load_robot("cartpole"), {"go": remainders}, dtype=dtype, language=language, libm=False
    )
    built = CompiledHeader(
        tmp_path,
        text,
        {"go": ("x", "y", "out")},
        namespace="cartpole",
        language=language,
        options=["-O2", option],
        single=dtype == "float32",
    )
    with np.errstate(all="ignore"):
        wanted = np.stack([x % y, -x % y, (2.0 - x) % 0.3, x // y], 1)
    rows = [x[:, None], y[:, None]]
    for run in (built.one_by_one, built.batch):
        found = run("go", rows, (5,))
        np.testing.assert_array_equal(found[:, [0, 1, 3]], wanted[:, [0, 1, 3]])
        # Sines of the header are NaN for large angles, and 2 - x loses the digits of x.
        third = np.isfinite(x) & (abs(x) < 1e6)
        np.testing.assert_array_equal(found[third, 2], wanted[third, 2])
        np.testing.assert_allclose(found[third, 4], np.sin(wanted[third, 0]), atol=1e-6)


def test_only_products_with_a_whole_number_are_exact() -> None:
    """Each of the three sums of a product has its operation. Other products stay as they are."""

    def sums(x: Any) -> Any:
        whole = scalar.floor(x[0])
        return [x[1] - x[2] * whole, x[2] - x[1] * x[0], x[0] + x[1] * scalar.floor(x[2])]

    program = record(sums, {"x": (3,)})
    names = [s.operation for s in with_whole_products(program.statements)]
    assert names.count("whole_fnma") == 1 and names.count("whole_fma") == 1
    assert names.count("fnma") == 1 and has_whole_products(program)
    assert not has_whole_products(record(lambda x: [x[0] - x[1] * x[2]], {"x": (3,)}))
