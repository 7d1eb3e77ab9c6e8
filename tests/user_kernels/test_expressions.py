"""The text that print shows for values."""

from __future__ import annotations

import numpy as np

from warpdyn.algebra import scalar
from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.user_kernels import expressions as chosen
from warpdyn.user_kernels.conditions import less, less_equal, negate
from warpdyn.user_kernels.expressions import DEEPEST, show_expressions, show_scalar


def test_print_shows_scalars_as_expressions() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    assert show_scalar(2.5) == "2.5" and show_scalar(True) == "True"
    assert show_scalar(x) == "q[0]" and show_scalar(-x) == "-q[0]"
    assert show_scalar(x + y) == "(q[0] + q[1])" and show_scalar(x * y) == "q[0]*q[1]"
    assert show_scalar(less(x, y)) == "q[0] < q[1]"
    assert show_scalar(x.maximum(x, y)) == "maximum(q[0], q[1])"


def test_every_operation_is_shown_in_numpys_notation() -> None:
    """Numbers are shown with few digits."""
    x, y = input_symbols(Graph(), "q", 2)
    shown = {
        "(q[0] + q[1])": x + y,
        "(q[0] - q[1])": x - y,
        "1/q[0]": 1.0 / x,
        "minimum(q[0], q[1])": scalar.minimum(x, y),
        "maximum(q[0], 0.5)": scalar.maximum(x, 0.5),
        "where(q[0] < q[1], q[1], 2)": scalar.select_less(x, y, y, 2.0),
        "where(q[0] <= q[1], q[1], 2)": scalar.select_less_equal(x, y, y, 2.0),
        "-sin(q[0])": -scalar.sin(x),
        "atan2(q[0], q[1])": scalar.atan2(x, y),
        "q[0] <= q[1]": less_equal(x, y),
        "not(q[0] < q[1])": negate(less(x, y)),
    }
    for text, value in shown.items():
        assert show_scalar(value) == text
    assert show_scalar(0.123456789) == "0.123457" and show_scalar(False) == "False"


def test_expressions_are_shown_up_to_a_depth_and_a_width() -> None:
    """Four operations and twelve entries. The result of a loop is named as such."""
    x, _ = input_symbols(Graph(), "q", 2)
    deep = x
    for _ in range(DEEPEST - 1):
        deep = scalar.sin(deep)
    assert show_scalar(deep) == "sin(sin(sin(q[0])))"
    assert show_scalar(scalar.sin(scalar.sin(deep))) == "sin(sin(sin(sin(...))))"
    wide = np.array([x] * 12, dtype=object)
    assert show_expressions(wide) == f"[{', '.join(['q[0]'] * 12)}]"
    (again,) = scalar.repeat(lambda s: [2.0 * s[0]], [x], 3)
    assert show_scalar(again) == "result of a loop"


def test_deeper_and_wider_expressions_are_shortened() -> None:
    x, y = input_symbols(Graph(), "q", 2)
    deep = x
    for _ in range(DEEPEST + 3):
        deep = (deep * y).sin()
    assert "..." in show_scalar(deep) and len(show_scalar(deep)) < 200
    rows = np.array([[x, 1.0], [y, 0.0]], dtype=object)
    assert show_expressions(rows) == "[[q[0], 1], [q[1], 0]]"
    assert show_expressions(np.array([x] * 13, dtype=object)) == "<values of shape (13,)>"


def test_chosen_constants_have_their_documented_values() -> None:
    """They come from measurements or external limits. Another value needs another reason."""
    assert chosen.DEEPEST == 4
    assert chosen.WIDEST == 12
