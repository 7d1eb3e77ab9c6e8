"""Functions of whole arrays that a kernel has. Their values are checked in test_values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import Symbol
from warpdyn.user_kernels.array_functions import ADDING, MOVING, solve_symmetric
from warpdyn.user_kernels.values import ARRAY_FUNCTIONS, METHODS, of


@pytest.mark.parametrize("function", [*MOVING, *ADDING], ids=lambda f: f.__name__)
def test_a_function_that_moves_entries_is_an_array_function(function: object) -> None:
    assert function in ARRAY_FUNCTIONS


def test_methods_equal_numpys_methods() -> None:
    x = of(np.arange(6.0).reshape(2, 3))
    plain = np.arange(6.0).reshape(2, 3)
    for name in METHODS:
        if not hasattr(
            plain, name
        ):  # a method of ufuncs, which NumPy's loops over single values call
            assert getattr(np, name).nin == 1
            continue
        arguments = {"clip": (1, 3), "dot": (np.ones(3),), "swapaxes": (0, 1), "repeat": (2,)}
        given = {"reshape": (3, 2), "take": ([0, 1],), "item": ()}.get(
            name, arguments.get(name, ())
        )
        if name in ("item", "tolist", "squeeze"):
            continue
        got, wanted = getattr(x, name)(*given), getattr(plain, name)(*given)
        assert np.array_equal(np.array(got.entries, dtype=float), np.asarray(wanted, float)), name


def test_solve_symmetric_works_on_plain_arrays() -> None:
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0])
    assert np.allclose(solve_symmetric(A, b), np.linalg.solve(A, b))
    with pytest.raises(TypeError, match=r"A must be \(n, n\)"):
        solve_symmetric(of(np.ones((2, 3))), b)


def test_clip_works_on_one_symbol() -> None:
    """NumPy's own functions do not accept symbols."""
    graph = Graph()
    x = of(Symbol(graph, graph.node("input", "x", 0)))
    clipped = x.clip(0.0, 1.0)
    assert clipped.shape == () and len(graph.nodes) == 3


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize(("first", "second"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_cross_works_on_vectors_of_two_and_three_entries(first: int, second: int) -> None:
    """Signs are those of NumPy."""
    a, b = np.array([1.5, -2.0, 0.25])[:first], np.array([3.0, 0.5, -1.25])[:second]
    assert np.array_equal(np.cross(of(a), of(b)).entries.astype(float), np.cross(a, b))


def test_solve_symmetric_accepts_several_right_hand_sides() -> None:
    """Each column is solved. Sizes that differ are refused."""
    A = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 2.0]])
    b = np.array([[1.0, -2.0], [0.5, 3.0], [2.5, 0.125]])
    assert np.allclose(solve_symmetric(of(A), of(b)).entries.astype(float), np.linalg.solve(A, b))
    for left, right in ((A, b[:, 0]), (of(A), b[:, 0]), (A, of(b[:, 0]))):
        found = solve_symmetric(left, right)
        found = found if isinstance(found, np.ndarray) else found.entries.astype(float)
        assert np.allclose(found, np.linalg.solve(A, b[:, 0]))
    message = r"A must be \(n, n\) and b \(n,\) or \(n, k\), got \({}\) and \({}\)"
    for left, right, shapes in (
        (A, b[:2], ("3, 3", "2, 2")),
        (A[0], b, ("3,", "3, 2")),
        (A[:2], b, ("2, 3", "3, 2")),
    ):
        with pytest.raises(TypeError, match=message.format(*shapes)):
            solve_symmetric(of(left), right)


CLIPPED: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.clip(x, a_min=-1, a_max=1),
    lambda x: np.clip(x, -1, a_max=None),
    lambda x: np.clip(x, min=-1, max=1),
    lambda x: np.clip(x, max=0),
    lambda x: np.clip(x, -1, 1, None),
    lambda x: x.clip(-1, 1, None),
    lambda x: x.clip(max=0),
)


@pytest.mark.parametrize("clip", CLIPPED)
def test_clip_has_numpys_names_of_bounds(clip: Callable[[Any], Any]) -> None:
    x = np.array([-2.0, -0.5, 0.25, 3.0])
    assert clip(of(x)).entries.tolist() == clip(x).tolist()


@pytest.mark.parametrize("bounds", [{"a_min": -1}, {"a_min": -1, "max": 1}, {"a_max": 0, "min": 1}])
def test_clip_refuses_one_bound(bounds: dict[str, float]) -> None:
    with pytest.raises(TypeError, match=r"np\.clip needs two bounds"):
        np.clip(of(np.ones(3)), **bounds)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "move",
    [np.diag, np.diagflat, np.tril, np.triu, lambda c: np.insert(c, 0, 5)],
    ids=["diag", "diagflat", "tril", "triu", "insert"],
)
def test_conditions_stay_conditions_among_zeros(move: Callable[[Any], Any]) -> None:
    """NumPy's arrays of bool have no place for numbers: the sum of two is `or`."""
    x = np.array([[1.0, -2.0], [3.0, 4.0]])
    got, wanted = move(of(x) > 0), move(x > 0)
    assert (got + got).entries.tolist() == (wanted + wanted).tolist()
    assert all(type(entry) is bool for entry in got.entries.flat)


def test_arrays_like_another_have_numpys_options() -> None:
    """Also those that are passed by their place."""
    x = np.arange(3.0)
    for make in (np.zeros_like, np.ones_like):
        assert make(of(x), None, "K", True, (2,)).shape == make(x, shape=(2,)).shape
    assert np.full_like(of(x), 7.0, None, "K", True, (2, 1)).entries.tolist() == [[7.0], [7.0]]
    assert np.full_like(of(x), 2.7, dtype=int).entries.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("function", [np.floor, np.ceil])
def test_conditions_are_not_rounded(function: Callable[[Any], Any]) -> None:
    """NumPy 2.1 returns bool, earlier versions float16."""
    with pytest.raises(TypeError, match="NumPy's versions differ"):
        function(of(np.ones(3)) > 0)
