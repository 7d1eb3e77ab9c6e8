"""Sums, largest entries, means and norms of a kernel's values, with NumPy's axes and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpdyn.user_kernels.reductions import REDUCED, REDUCTIONS, STARTS, product, reduce_axes
from warpdyn.user_kernels.refusals import RecordingError
from warpdyn.user_kernels.values import ARRAY_FUNCTIONS, WHOLE_ARRAYS, Values, of

VECTOR = np.array([2.25, -1.5, 0.75])
MATRIX = np.array([[0.5, -2.0, 1.0], [0.25, 3.0, -0.75], [1.5, 0.0, -1.0]])


def entries(x: Any) -> np.ndarray:
    """A result of values or of NumPy, as numbers or truth values."""
    made = np.asarray(x.entries.tolist() if isinstance(x, Values) else x)
    return made if made.dtype == bool else made.astype(float)


LIKE_NUMPY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, M: np.sum(M, axis=0, keepdims=1),
    lambda x, M: np.sum(M, 0, None, None, True),
    lambda x, M: M.sum(1, float, None, True),
    lambda x, M: np.mean(M, axis=0, keepdims=1),
    lambda x, M: M.mean(0, None, None, True),
    lambda x, M: np.max(M, 1, None, True),
    lambda x, M: M.min(0, None, True),
    lambda x, M: np.sum(M, axis=(-1, 0)),
    lambda x, M: np.sum(M, axis=()),
    lambda x, M: np.mean(x[3:]),
    lambda x, M: np.mean(M[:, 3:], axis=1),
    lambda x, M: np.mean(x > 0),
    lambda x, M: np.all(x[:1]),
    lambda x, M: np.any(x[2]),
    lambda x, M: np.any(M[:, :1], axis=1),
    lambda x, M: np.logical_and.reduce(x[:1]),
    lambda x, M: np.logical_xor.reduce(M),
    lambda x, M: np.any(M, axis=()),
    lambda x, M: np.subtract.reduce(M, axis=1),
    lambda x, M: np.bitwise_xor.reduce(M > 0),
    lambda x, M: np.linalg.norm(M, "fro"),
    lambda x, M: np.linalg.norm(M, 2, axis=1),
    lambda x, M: np.linalg.norm(M, None, (0,), True),
    lambda x, M: np.linalg.norm(x[0]),
    lambda x, M: np.linalg.norm(np.stack([M, M])),
    lambda x, M: np.sum(np.stack([M.T, M.T]), axis=0).ravel(order="K"),
)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("body", LIKE_NUMPY)
def test_axes_and_options_are_numpys(body: Callable[[Any, Any], Any]) -> None:
    """`keepdims=1` keeps dimensions, `np.all` of one number is a condition, and the mean of nothing
    is NaN."""
    got, wanted = entries(body(of(VECTOR), of(MATRIX))), entries(body(VECTOR, MATRIX))
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert np.allclose(got, wanted, rtol=1e-14, atol=0, equal_nan=True)


REFUSED: tuple[tuple[Callable[[Any, Any], Any], str], ...] = (
    (lambda x, M: np.sum(M, axis=2), "axis 2 is out of bounds"),
    (lambda x, M: np.max(M, axis=-3), "axis -3 is out of bounds"),
    (lambda x, M: M.sum(axis=(0, 0)), "duplicate value in 'axis'"),
    (lambda x, M: np.sum(M, axis=1.0), "axis 1.0"),
    (lambda x, M: np.sum(M, axis=[0]), r"axis \[0\]"),
    (lambda x, M: np.sum(x, 0, int), "no dtype int64"),
    (lambda x, M: x.sum(0, np.float32), "no dtype float32"),
    (lambda x, M: np.mean(x, 0, np.float32), "no dtype float32"),
    (lambda x, M: np.sum(M, 0, None, np.zeros(3)), "no out"),
    (lambda x, M: np.max(x, initial=3.0), "no initial"),
    (lambda x, M: np.max(x[3:]), "of no entries"),
    (lambda x, M: np.subtract.reduce(M, axis=None), "not reorderable"),
    (lambda x, M: np.hypot.reduce(x), "np.hypot.reduce has no form"),
    (lambda x, M: np.linalg.norm(M, 2), "ord=None"),
    (lambda x, M: np.linalg.norm(M, 2, axis=(0, 1)), "ord=None"),
    (lambda x, M: np.linalg.norm(x, "fro"), "ord=None"),
    (lambda x, M: np.linalg.norm(np.stack([M, M]), 2), "ord=None"),
    (lambda x, M: np.linalg.norm(np.stack([M, M]), axis=(0, 1, 2)), "one axis or two"),
    (lambda x, M: np.linalg.norm(M, axis=5), "axis 5 is out of bounds"),
    (lambda x, M: np.linalg.norm(x, axis=()), "one axis or two"),
    (lambda x, M: np.linalg.norm(x[0], axis=0), "a single number has no axis 0"),
    (lambda x, M: np.mean(x[0], axis=-1), "a single number has no axis -1"),
    (lambda x, M: x[0].mean(axis=0), "a single number has no axis 0"),
)


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_other_axes_and_options_are_refused(body: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises(RecordingError, match=rf"test_reductions.py:\d+: .*{message}"):
        body(of(VECTOR), of(MATRIX))


def test_tables_of_reductions_are_complete() -> None:
    assert ARRAY_FUNCTIONS.items() >= REDUCTIONS.items()
    assert {"matmul": product, "reduce": reduce_axes} == WHOLE_ARRAYS
    assert STARTS == {"add": 0.0, "multiply": 1.0, "logical_and": True, "logical_or": False}
    assert {*STARTS} < REDUCED
