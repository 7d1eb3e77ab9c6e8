"""Functions of whole arrays that a kernel has. Their values are checked in test_values."""

from __future__ import annotations

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
