"""Writes in place change what they change in NumPy: arrays and their views, and never a scalar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpdyn.user_kernels.refusals import RecordingError
from warpdyn.user_kernels.values import of

VECTOR = np.array([2.25, -1.5, 0.75])
MATRIX = np.array([[0.5, -2.0, 1.0], [0.25, 3.0, -0.75], [1.5, 0.0, -1.0]])


def add_one(x: Any) -> None:
    x += 1.0


def double(x: Any) -> None:
    x *= 2.0


def set_first(x: Any) -> None:
    x[0] = 9.0


def set_all(x: Any) -> None:
    x[...] = 9.0


def running_sums(x: Any, M: Any) -> Any:
    """A total that changes does not change the totals of before."""
    sums, total = [], x[0]
    for k in range(1, 3):
        total += x[k]
        sums.append(total)
    return np.stack(sums)


def old_and_new(x: Any, M: Any) -> Any:
    old = new = x @ x
    new *= 2.0
    return np.stack([old, new])


def scalar_of_a_condition(x: Any, M: Any) -> Any:
    old = new = (x > 0)[1]
    new |= True
    return np.stack([old, new])


def a_loop_over_entries(x: Any, M: Any) -> Any:
    kept = []
    for entry in x:
        kept.append(entry)
        entry -= 1.0
    return np.stack([*kept, *x])


def an_item(x: Any, M: Any) -> Any:
    first = x[:1].item()
    x[0] += 1.0
    return np.stack([first, x[0], M.item(1, 2)])


@pytest.mark.parametrize(
    "body", [running_sums, old_and_new, scalar_of_a_condition, a_loop_over_entries, an_item]
)
def test_a_scalar_is_not_changed_in_place(body: Callable[[Any, Any], Any]) -> None:
    got, wanted = body(of(VECTOR), of(MATRIX)), body(VECTOR.copy(), MATRIX.copy())
    assert got.entries.tolist() == wanted.tolist()


@pytest.mark.parametrize("change", [add_one, double])
def test_the_argument_of_a_function_stays_if_it_is_a_scalar(change: Callable[[Any], None]) -> None:
    total = of(VECTOR).sum()
    change(total)
    assert total.entries[()] == VECTOR.sum()


VIEWS: tuple[tuple[Callable[[Any], Any], Callable[[Any], None]], ...] = (
    (lambda x: np.atleast_1d(x[0]), set_first),
    (lambda x: np.expand_dims(x.sum(), 0), set_first),
    (lambda x: np.ravel(x.max()), add_one),
    (lambda x: x[1].reshape(1), add_one),
    (lambda x: x[1][None], add_one),
    (lambda x: x[1, ...], add_one),
    (lambda x: x[:1].reshape(()), add_one),
    (lambda x: np.squeeze(x[:1]), set_all),
    (lambda x: x.T[::-1], set_first),
)
"""Arrays made from a scalar, which are copies, and views of an array."""


@pytest.mark.parametrize(("view", "change"), VIEWS)
def test_a_write_reaches_the_array_through_views_alone(
    view: Callable[[Any], Any], change: Callable[[Any], None]
) -> None:
    x, plain = of(VECTOR), VECTOR.copy()
    change(view(x))
    change(view(plain))
    assert x.entries.tolist() == plain.tolist()
    scalar = of(2.0)
    change(np.atleast_1d(scalar))
    change(scalar[None])
    assert scalar.entries[()] == 2.0


ARRAYS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, M: np.where(x[0] > 0, x[1], 2.0),
    lambda x, M: np.zeros_like(x[0]),
    lambda x, M: np.full_like(x[0], 3.0),
    lambda x, M: np.copy(x[0]),
    lambda x, M: x[:1].reshape(()).copy(),
    lambda x, M: np.tensordot(x, x, 1),
)
"""Arrays of shape ()."""


@pytest.mark.parametrize("make", ARRAYS)
def test_an_array_of_shape_nothing_is_changed_in_place(make: Callable[[Any, Any], Any]) -> None:
    found, plain = make(of(VECTOR), of(MATRIX)), make(VECTOR, MATRIX)
    for array in (found, plain):
        add_one(array)
    assert found.entries[()] == plain[()]


ORDERS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, M: M.T.copy(),
    lambda x, M: M.T.copy("K"),
    lambda x, M: np.copy(M.T),
    lambda x, M: np.zeros_like(M.T),
    lambda x, M: np.zeros_like(M.T, order="C"),
    lambda x, M: np.clip(M.T, -1, 1),
    lambda x, M: M.T.astype(int),
    lambda x, M: np.sum(np.stack([M.T, M.T]), axis=0),
    lambda x, M: np.where(M.T > 0, M.T, x),
)


@pytest.mark.parametrize("make", ORDERS)
def test_ravel_is_a_view_of_the_same_arrays(make: Callable[[Any, Any], Any]) -> None:
    """The order in memory decides whether `ravel` copies."""
    found, plain = make(of(VECTOR), of(MATRIX)), make(VECTOR, MATRIX)
    for array in (found, plain):
        array.ravel()[1] = 9
    assert found.entries.tolist() == plain.tolist()


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji", "ij->ij"])
def test_einsum_of_one_array_is_a_view(subscripts: str) -> None:
    found, plain = of(MATRIX), MATRIX.copy()
    for matrix in (found, plain):
        add_one(np.einsum(subscripts, matrix)[0])  # of the diagonal, an entry
        np.einsum(subscripts, matrix)[1:] *= 2.0
    assert found.entries.tolist() == plain.tolist()


REFUSED: tuple[tuple[Callable[[Any, Any], Any], str], ...] = (
    (lambda x, M: set_all(x[0]), "a single value cannot be written in place"),
    (lambda x, M: np.add(x[0], 1.0, out=x.sum()), "a single value cannot be written in place"),
    (lambda x, M: np.matmul(M, M, axes=[(1, 0), (0, 1), (0, 1)]), "matmul.__call__ with axes"),
    (lambda x, M: np.add.outer(x, x, dtype=np.float32), "add.outer with dtype"),
    (lambda x, M: x * np.complex128(2j), "complex"),
    (lambda x, M: x * np.array([1j, 1.0, 2.0]), "ndarray of complex128"),
    (lambda x, M: x + np.array([np.complex64(1), 2, 3], dtype=object), "complex"),
    (lambda x, M: x + np.array(["1.0", "2", "3"]), "ndarray of <U3"),
    (lambda x, M: x + np.ma.masked_less(VECTOR, 0), "MaskedArray of float64"),
    (lambda x, M: x + np.asmatrix(MATRIX), "matrix of float64"),
)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_changes_that_numpy_refuses_or_that_are_not_real_are_refused(
    body: Callable[[Any, Any], Any], message: str
) -> None:
    with pytest.raises(RecordingError, match=rf"test_values_in_place.py:\d+: .*{message}"):
        body(of(VECTOR), of(MATRIX))
