"""What print shows of values."""

from __future__ import annotations

import numpy as np

from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.user_kernels.conditions import less
from warpdyn.user_kernels.expressions import DEEPEST, show_expressions, show_scalar


def test_scalars() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    assert show_scalar(2.5) == "2.5" and show_scalar(True) == "True"
    assert show_scalar(x) == "q[0]" and show_scalar(-x) == "-q[0]"
    assert show_scalar(x + y) == "(q[0] + q[1])" and show_scalar(x * y) == "q[0]*q[1]"
    assert show_scalar(less(x, y)) == "q[0] < q[1]"
    assert show_scalar(x.maximum(x, y)) == "maximum(q[0], q[1])"


def test_deep_and_wide_ones_are_cut() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    deep = x
    for _ in range(DEEPEST + 3):
        deep = (deep * y).sin()
    assert "..." in show_scalar(deep) and len(show_scalar(deep)) < 200
    rows = np.array([[x, 1.0], [y, 0.0]], dtype=object)
    assert show_expressions(rows) == "[[q[0], 1], [q[1], 0]]"
    assert show_expressions(np.array([x] * 13, dtype=object)) == "<values of shape (13,)>"
