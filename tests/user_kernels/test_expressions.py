"""What print shows of values."""

from __future__ import annotations

import numpy as np

from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.user_kernels.conditions import less
from warpdyn.user_kernels.expressions import DEEPEST, scalar_shown, shown


def test_scalars() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    assert scalar_shown(2.5) == "2.5" and scalar_shown(True) == "True"
    assert scalar_shown(x) == "q[0]" and scalar_shown(-x) == "-q[0]"
    assert scalar_shown(x + y) == "(q[0] + q[1])" and scalar_shown(x * y) == "q[0]*q[1]"
    assert scalar_shown(less(x, y)) == "q[0] < q[1]"
    assert scalar_shown(x.maximum(x, y)) == "maximum(q[0], q[1])"


def test_deep_and_wide_ones_are_cut() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    deep = x
    for _ in range(DEEPEST + 3):
        deep = (deep * y).sin()
    assert "..." in scalar_shown(deep) and len(scalar_shown(deep)) < 200
    rows = np.array([[x, 1.0], [y, 0.0]], dtype=object)
    assert shown(rows) == "[[q[0], 1], [q[1], 0]]"
    assert shown(np.array([x] * 13, dtype=object)) == "<values of shape (13,)>"
