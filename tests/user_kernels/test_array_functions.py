"""The functions of whole arrays that a kernel has; their numbers are checked in test_values."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import Symbol
from warpdyn.user_kernels.array_functions import ADDING, MOVING, solve_symmetric
from warpdyn.user_kernels.values import ARRAY_FUNCTIONS, METHODS, of


@pytest.mark.parametrize("function", [*MOVING, *ADDING], ids=lambda f: f.__name__)
def test_a_function_that_moves_entries_takes_values(function: object) -> None:
    assert function in ARRAY_FUNCTIONS


def test_methods_are_those_functions() -> None:
    x = of(np.arange(6.0).reshape(2, 3))
    plain = np.arange(6.0).reshape(2, 3)
    for name in METHODS:
        if not hasattr(plain, name):  # a ufunc's, which NumPy's loops over single values ask for
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


def test_solve_symmetric_of_plain_arrays() -> None:
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -1.0])
    assert np.allclose(solve_symmetric(A, b), np.linalg.solve(A, b))
    with pytest.raises(TypeError, match=r"A must be \(n, n\)"):
        solve_symmetric(of(np.ones((2, 3))), b)


def test_clip_of_one_number() -> None:
    """Of a symbol too, which NumPy's own functions do not take."""
    graph = Graph()
    x = of(Symbol(graph, graph.node("input", "x", 0)))
    clipped = x.clip(0.0, 1.0)
    assert clipped.shape == () and len(graph.nodes) == 3
