"""Values of a kernel behave as NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from states import error

import warpdyn as wd
from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.user_kernels import values as _values
from warpdyn.user_kernels import values as chosen

EXPRESSIONS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, M: x + 1,
    lambda x, M: 2 - x,
    lambda x, M: x * x[1] / x[2],
    lambda x, M: M @ x[:3],
    lambda x, M: x[:3] @ M,
    lambda x, M: M @ M.T,
    lambda x, M: M[0] @ x[3:],
    lambda x, M: (x[:3] > 0) @ M + M @ (x[3:] > 0),
    lambda x, M: (M[:, None] * M[None]).sum(0),
    lambda x, M: M.T[1, ::-1],
    lambda x, M: -x[-1],
    lambda x, M: np.outer(x, x[:2]),
    lambda x, M: np.cross(M[0], x[:3]),
    lambda x, M: np.cross(M, x[:3]),
    lambda x, M: np.einsum("ij,jk->ik", M, M),
    lambda x, M: np.dot(x, x) + np.vdot(x, x) + np.inner(x, x),
    lambda x, M: np.stack([x[0], 0.0, x[2]]),
    lambda x, M: np.concatenate([x, [1.0, 2.0], M[2]]),
    lambda x, M: np.hstack([x[0], x]),
    lambda x, M: np.vstack([M, x[:3]]),
    lambda x, M: np.sum(M) + np.sum(M, axis=1) + M.sum(axis=0, keepdims=True)[0],
    lambda x, M: np.mean(M, axis=(0, 1)) + M.mean(0),
    lambda x, M: np.max(M, axis=1) - np.min(M),
    lambda x, M: np.prod(x) + np.trace(M),
    lambda x, M: np.linalg.norm(x) + np.linalg.norm(M, axis=1),
    lambda x, M: np.linalg.norm(M),
    lambda x, M: np.clip(x, -0.3, x[1] ** 2),
    lambda x, M: np.where(x > 0.1, x, -2 * x),
    lambda x, M: np.where((x > 0.1) & (x < 0.5) | ~(x >= -0.2), 1.0, np.zeros(6)),
    lambda x, M: np.where(np.any(M > 0, axis=0), x[:3], np.all(M < 0.9)),
    lambda x, M: (x == x[2]) * 1.0 + (x != x[2]) * 3.0,
    lambda x, M: np.sum(x > 0) + 0.5,
    lambda x, M: np.maximum(x, 0.2) - np.minimum(x, M[0, 0]),
    lambda x, M: abs(x) + np.sign(x) + np.floor(3 * x) + np.ceil(3 * x),
    lambda x, M: x**2 + x**3 + np.abs(x) ** 0.5 + (2 + x) ** -1 + (2 + x) ** 1.7,
    lambda x, M: 2.0**x,
    lambda x, M: np.sin(x) * np.cos(x) - np.tan(x),
    lambda x, M: np.exp(x) + np.log(2 + x) + np.sqrt(2 + x) + np.tanh(3 * x),
    lambda x, M: np.sinh(x) + np.cosh(x) + np.log2(2 + x) + np.log10(2 + x) + np.exp2(x),
    lambda x, M: np.arctan2(x, x[1]) + np.arctan(x) + np.arcsin(x) + np.arccos(x),
    lambda x, M: np.hypot(x, 2) + np.deg2rad(x) + np.degrees(x) + np.square(x),
    lambda x, M: (x // 0.3) + (x % 0.3) + np.rint(3 * x),
    lambda x, M: np.isfinite(x) * 1.0 + np.isnan(x) + np.isinf(x),
    lambda x, M: np.diag(M) + np.diag(x[:3])[0] + np.tril(M)[1] + np.triu(M)[1],
    lambda x, M: np.reshape(M, (9,)) + M.ravel() + M.reshape(9) + M.reshape((3, 3)).flatten(),
    lambda x, M: np.moveaxis(M[None], 0, 2)[..., 0].transpose() + np.swapaxes(M, 0, 1),
    lambda x, M: np.cumsum(x) + np.roll(x, 1) + np.flip(x) + np.append(x[:5], 1.0),
    lambda x, M: np.split(x, 2)[1] + x.take([0, 2, 4]) + np.tile(x[:1], 3) + np.repeat(x[0], 3),
    lambda x, M: np.zeros_like(x) + np.ones_like(x) * 2 + np.full_like(x, 0.5),
    lambda x, M: np.kron(x[:2], M[0]) + np.broadcast_to(x[0], (6,)),
    lambda x, M: sum(x) + len(x) + M.ndim + M.size + M.shape[0] + np.diff(x)[0],
    lambda x, M: np.array([1.0, 2.0, 3.0]) @ M + np.eye(3)[0] * x[0] + np.float32(2) * x[:3],
    lambda x, M: np.logical_and(x > 0, x < 0.5) + np.logical_xor(x > 0, x < 0.5) * 2.0,
    lambda x, M: np.array([x[0], x[1]]) + x[2:4],
    lambda x, M: wd.kernels.solve_symmetric(M @ M.T + np.eye(3), x[:3]),
    lambda x, M: wd.kernels.solve_symmetric(M @ M.T + np.eye(3), M),
)
"""Of a vector of six and a matrix of three by three."""


def data(count: int = 11) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    return draw.uniform(-1, 1, (count, 6)), draw.uniform(-1, 1, (count, 3, 3))


def evaluate_by_numpy(x: np.ndarray, M: np.ndarray) -> np.ndarray:
    """All expressions by NumPy, one after the other."""
    rows = []
    for a, B in zip(x, M, strict=True):
        rows.append(
            np.concatenate([np.ravel(np.asarray(each(a, B), float)) for each in EXPRESSIONS])
        )
    return np.array(rows)


@wd.kernel
def everything(robot: Any, x: (6,), M: (3, 3)) -> Any:  # type: ignore[valid-type]
    """All expressions as one kernel."""
    return np.concatenate([np.ravel(each(x, M)) for each in EXPRESSIONS])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_expressions_equal_numpys(dtype: Any) -> None:
    """The kernel, the oracle, and NumPy on each environment's arrays agree."""
    model = wd.load_robot("cartpole")
    x, M = (a.astype(dtype).astype(float) for a in data())
    numpy = evaluate_by_numpy(x, M)
    assert error(wd.oracle(everything, model, x, M), numpy, np.ones(1)) < 1e-12
    got = everything(model, x.astype(dtype), M.astype(dtype))
    assert got.dtype == dtype
    assert error(got.astype(float), numpy, np.ones(1)) < (1e-12 if dtype == np.float64 else 2e-5)


def test_nan_behaves_as_in_numpy() -> None:
    """maximum and minimum propagate it, comparisons with it are false, and isfinite is false."""
    model = wd.load_robot("cartpole")

    def text(x: Any, y: Any) -> Any:
        parts = [np.maximum(x, y), np.minimum(x, y), np.maximum(x, 0.0), np.minimum(0.0, x)]
        flags = [x < y, x <= y, x > y, x >= y, x == y, x != y, np.isnan(x), np.isinf(x)]
        flags += [np.isfinite(x), ~(x < y) & (y <= y)]
        return np.concatenate(parts + [f * 1.0 for f in flags])

    odd = np.array([1.0, -1.0, np.nan, np.inf, -np.inf, 0.0])
    x, y = (a.ravel() for a in np.meshgrid(odd, odd))

    @wd.kernel
    def compare(robot: Any, x: (36,), y: (36,)) -> Any:  # type: ignore[valid-type]
        return text(x, y)

    assert np.array_equal(compare(model, x[None], y[None])[0], text(x, y), equal_nan=True)
    assert np.array_equal(wd.oracle(compare, model, x, y), text(x, y), equal_nan=True)


def test_a_kernel_can_use_nan_and_inf_as_constants() -> None:
    """Kernels print them into their source."""
    model, x = wd.load_robot("cartpole"), np.array([[-2.0, 0.5, 3.0]])

    @wd.kernel
    def mark(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return np.where(x < 0.0, np.nan, np.where(x > 1.0, -np.inf, x)), np.where(x > 1, np.nan, x)

    wanted = [[[np.nan, 0.5, -np.inf]], [[-2.0, 0.5, np.nan]]]
    for dtype in (np.float32, np.float64):
        assert np.array_equal(mark(model, x.astype(dtype)), wanted, equal_nan=True)
    assert np.array_equal(wd.oracle(mark, model, x), wanted, equal_nan=True)


def test_writing_into_values_works_as_in_numpy() -> None:
    """Slices are views, and sums in place are in place."""
    model = wd.load_robot("cartpole")

    def text(x: Any) -> Any:
        y = x.copy()
        y[1:3] += 2 * x[0]
        y[-1] = 7.0
        z = np.zeros_like(x)
        z[::2] = y[::2]
        part = z[:4]
        part[1] = x[1]
        z *= 2
        return np.concatenate([y, z])

    @wd.kernel
    def write_entries(robot: Any, x: (6,)) -> Any:  # type: ignore[valid-type]
        return text(x)

    x = data()[0]
    assert np.array_equal(write_entries(model, x), np.array([text(row) for row in x]))


IN_PLACE: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, M: _with(np.zeros_like(x), 0, x[1]),
    lambda x, M: _with(x * 1.0, 0, x[1] + x[2]),
    lambda x, M: _with(M.copy(), (0, 0), x[1]) @ x[:3],
    lambda x, M: np.sin(_with(M.copy(), (1, -1), x[1] > 0)),
    lambda x, M: np.concatenate([[x[0]], x]),
    lambda x, M: np.concatenate([[x[0], 1.0], [x[2]], M[0]]),
    lambda x, M: np.stack([x[0], 1.0, True, x[1] > 0]) * 2,
    lambda x, M: np.sin(np.array([x[0], x[1]])) + np.array([x[0], 1.0]),
    lambda x, M: np.array([x[:3], M[0]]) * 2,
    lambda x, M: np.where(_with(x > 0, 0, x[1]), x, 1.0),
    lambda x, M: x - _add(x.flatten(), 1.0),
    lambda x, M: x[:1] - _add(x[:1].sum(axis=0, keepdims=True), 1.0),
    lambda x, M: _add(np.array(x), 1.0) - x,
    lambda x, M: np.add.reduce(x) + np.add.reduce(M) + np.multiply.reduce(M, axis=1),
    lambda x, M: x + np.add.reduce(x[:0]) + np.multiply.reduce(x[:0]) + np.sum(M[:0], axis=0)[0],
    lambda x, M: np.where(np.all(x[:0] > 0), x, 0.0) + np.where(np.any(x[:0] > 0), 0.0, x),
    lambda x, M: np.subtract.outer(x, x[:2]) + np.maximum.outer(x, M[0, :2]),
    lambda x, M: np.subtract.outer(M, x[:2]) + M.sum(),
    lambda x, M: np.where(_with(x, 2, 0.0).astype(bool), x[1], 2.0) + x.astype(float),
    lambda x, M: x * _Six() + x.astype(np.float64),
    lambda x, M: np.diff(x, prepend=0.5, append=2.0) + np.diff(M, axis=0, n=2)[0, 0],
    lambda x, M: np.linalg.norm(M, ord="fro") + np.linalg.norm(x, 2) + x[0],
    lambda x, M: np.linalg.norm(M, 2, axis=1) * np.linalg.norm(M, axis=0, keepdims=True)[0],
    lambda x, M: np.clip(x, None, 0.1) - np.clip(x, -0.2, None) + x.clip(min=-0.1, max=x[0]),
    lambda x, M: (
        np.full_like(M, x[0]) + np.ones_like(x, shape=(3, 3)) + np.full_like(x, 2.0, shape=3)
    ),
    lambda x, M: np.mean(M, axis=1, keepdims=True) - np.sum(M, axis=-1, keepdims=True) + M,
    lambda x, M: np.sum((M > 0)[:2], dtype=int) + np.sum(M, dtype=float) + x,
    lambda x, M: M[0].tolist()[1] + x[2:3].item() + M.flatten()[:3] * len(M),
    lambda x, M: M.transpose(1, 0) @ M.reshape(9)[3:6] + np.transpose(M)[0],
    lambda x, M: M[None] @ x[:3] + (x[:3] @ M[None])[0],
)


class _Six:
    """An array of another library, which converts itself."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.arange(6.0)


def _with(array: Any, key: Any, value: Any) -> Any:
    """The array with a value written at a key, and added there once more."""
    array[key] = value
    if array.dtype != bool if isinstance(array, np.ndarray) else not _values.truths(array.entries):
        array[key] += value
    return array


def _add(array: Any, value: Any) -> Any:
    array += value
    return array


@pytest.mark.parametrize("text", IN_PLACE)
def test_single_entries_are_written_and_joined_as_in_numpy(text: Any) -> None:
    """Copies in NumPy are copies here."""

    @wd.kernel
    def write_entry(robot: Any, x: (6,), M: (3, 3)) -> Any:  # type: ignore[valid-type]
        return text(x, M)

    x, M = data(2)
    got = write_entry(wd.load_robot("cartpole"), x, M)
    assert np.allclose(got, [text(*each) for each in zip(x, M, strict=True)], rtol=1e-13)


def _written_through_a_view(x: Any) -> Any:
    """NumPy's second name shows the values written through the first."""
    view = x[1:]
    same = np.asarray(x)
    view[0] = 7.0
    return np.concatenate([same, view])


REFUSED: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: x if x[0] > 0 else -x, r"a Python `if`, `while`.*np.where\(condition, a, b\)"),
    (lambda x: max(x[0], x[1]), r"`max` or `min` looked at a value.*np.maximum"),
    (lambda x: (x[0] > 0 and x[1] > 0) * 1.0, "join conditions by & | ~"),
    (lambda x: __import__("math").sin(x[0]), r"math.sin\(x\) is np.sin\(x\)"),
    (lambda x: float(x[0]), "cannot become a Python number"),
    (lambda x: int(x[0]), "cannot become a Python number"),
    (lambda x: [x[k] for k in range(x[0])], "must be known when the kernel is recorded"),
    (lambda x: x[x[0]], r"an index must be known.*np.where"),
    (lambda x: x[x > 0], r"an index must be known.*np.where"),
    (
        lambda x: np.linalg.svd(x[None]),
        r"np.linalg.svd has no form in a kernel; there are .*einsum",
    ),
    (lambda x: np.std(x), r"np.std has no form in a kernel; there are (?!.*(argmax|sort|solve))"),
    (lambda x: np.argmax(x), "np.argmax has no form in a kernel; use np.where on comparisons"),
    (lambda x: np.linalg.solve(x[None], x), "use wd.kernels.solve_symmetric"),
    (lambda x: np.sort(x), "np.sort has no form in a kernel; use np.minimum"),
    (lambda x: np.arcsinh(x), "np.arcsinh has no form in a kernel; there are .*tanh"),
    (lambda x: np.where(x > 0), "three arguments"),
    (lambda x: x @ np.ones(3), r"product of shapes \(6,\) and \(3,\)"),
    (lambda x: x * np.ones((100, 100, 6)), "60000 numbers.*pass it as an argument"),
    (lambda x: np.zeros(6).__setitem__(0, x[0]), "np.zeros_like"),
    (lambda x: np.add(np.zeros(6), x, out=np.zeros(6)), "begin with np.zeros_like"),
    (lambda x: np.add.accumulate(x), r"np.add.accumulate .*no form in a kernel.*np.cumsum"),
    (lambda x: _add(np.asarray(x), 1.0), "np.asarray of values cannot be written"),
    (lambda x: (np.asarray(x), _add(x, 1.0)), "shared with what np.asarray.*x.copy()"),
    (lambda x: _written_through_a_view(x.copy()), "shared with what np.asarray.*x.copy()"),
    (lambda x: np.sin(np.array([x[0], 1.0])), r"make arrays of values by np.stack\(\[x, 1.0\]\)"),
    (lambda x: np.clip(np.concatenate([[x[0]], [1.0]]), -1, 1), r"a Python `if`.*np.stack"),
    (lambda x: x.entries[0] if x.entries[0] > 0 else x, "a Python `if`"),
    (lambda x: _add(x > 0, 1.0), "do not fit into conditions in place"),
    (lambda x: x + "a", "values, numbers and NumPy's arrays, got str"),
    (lambda x: x.nonsense, "a value has no 'nonsense'"),
    (lambda x: x[: len(x[0])], "a single value has no length"),
    (lambda x: [*x[0]], "a single value cannot be taken apart"),
    (lambda x: np.linalg.norm(x, 1), r"norm has ord=None and, of vectors, 2 in a kernel, got 1"),
    (lambda x: np.linalg.norm(x.reshape(2, 3), 2), "of vectors, 2 in a kernel, got 2"),
    (lambda x: np.clip(x, 0, 1, out=x), "np.clip has no out= in a kernel"),
    (lambda x: np.mean(x, where=x > 0), "np.mean has no where= in a kernel"),
    (lambda x: np.concatenate([x, x], casting="unsafe"), "np.concatenate has no casting= in"),
    (lambda x: np.clip(x, 0, 1, dtype=np.float32), "np.clip has no dtype float32 in a kernel"),
    (lambda x: np.sum(x, initial=1.0), "np.add.reduce has no initial in a kernel"),
    (
        lambda x: np.sum(x, initial=1.0, where=x > 0),
        "np.add.reduce has no initial, where in a kernel",
    ),
    (lambda x: np.sum(x, dtype=int), "np.add.reduce has no dtype int64"),
    (lambda x: np.maximum.reduce(x, dtype="f4"), "np.maximum.reduce has no dtype float32"),
    (lambda x: np.max(x[:0]), "np.maximum of no entries is not defined"),
    (lambda x: np.add(x, [x[0], x[:2]]), "not of one shape; its rows must be of equal length"),
    (lambda x: np.add.reduceat(x, [0, 1]), r"np.add.reduceat has no form in a kernel$"),
    (lambda x: np.add(x, x, where=[True] * 6), "np.add.__call__ with where has no form in a"),
)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_operations_without_a_recorded_form_are_refused_with_the_remedy(
    text: Any, message: str
) -> None:
    """The message begins with the user's line."""

    @wd.kernel
    def call_text(robot: Any, x: (6,)) -> Any:  # type: ignore[valid-type]
        return text(x)

    with pytest.raises((TypeError, AttributeError), match=message) as caught:
        call_text(wd.load_robot("cartpole"), np.zeros((2, 6)))
    if isinstance(caught.value, wd.kernels.RecordingError):
        assert str(caught.value).startswith("test_values.py:")


def test_printing_shows_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph()
    symbols = input_symbols(graph, "q", 3)
    q = _values.of(np.array([*symbols], dtype=object))
    print(q[0] * np.sin(q[1]) - 2, q[:2] > 0.5, q)
    print(_values.of(np.array(symbols * 5, dtype=object)))
    shown = capsys.readouterr().out
    assert "q[0]*sin(q[1])" in shown.replace("sin(q[1])*q[0]", "q[0]*sin(q[1])")
    assert "0.5 < q[0]" in shown and "[q[0], q[1], q[2]]" in shown
    assert "<values of shape (15,)>" in shown


def test_chosen_constants_have_their_documented_values() -> None:
    """They come from measurements or external limits. Another value needs another reason."""
    assert chosen.LARGEST_CONSTANT == 4096


def test_arrays_of_objects_become_entries() -> None:
    """Single values, conditions and numbers of any type; of both kinds, all become numbers."""
    q = _values.of(np.array([*input_symbols(Graph(), "q", 2)], dtype=object))
    found = _values.objects(np.array([q[0], 2, np.float32(0.5), 3.0], dtype=object))
    assert found[0] is q.entries[0] and found[1:].tolist() == [2.0, 0.5, 3.0]
    assert all(type(x) is float for x in found[1:])
    truths = _values.objects(np.array([np.bool_(True), False], dtype=object))
    assert truths.tolist() == [True, False] and all(type(x) is bool for x in truths)
    mixed = _values.objects(np.array([np.bool_(True), 4], dtype=object))
    assert mixed.tolist() == [1.0, 4.0] and all(type(x) is float for x in mixed)
    uneven = np.empty(2, dtype=object)
    uneven[0], uneven[1] = q[0], q
    with pytest.raises(TypeError, match="a list of values is not of one shape"):
        _values.objects(uneven)
