"""NumPy's functions of single entries on numbers and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from warpdyn.recording.program import record
from warpdyn.user_kernels.arithmetic import power
from warpdyn.user_kernels.elementary import NUMBERS, TRUTHS, number, of_entries
from warpdyn.user_kernels.refusals import RecordingError


def evaluate_recorded(
    text: Callable[[list[Any]], list[Any]], numbers: Sequence[float]
) -> list[float]:
    """A function recorded on symbols, then run on numbers."""
    program = record(lambda s: text(s), {"s": (len(numbers),)})
    return list(program.on_numbers({"s": list(numbers)})["out"])


SHARP = {"arcsin": 1e-8, "arccos": 1e-8}
"""At the ends of their ranges these have infinite slopes."""


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_elementary_functions_equal_numpys(name: str) -> None:
    """The inputs are within the domain, as numbers and recorded."""
    ufunc = getattr(np, name)
    xs = np.array([-0.9, -0.3, 0.0, 0.4, 1.0]) + (
        1.5 if name.startswith(("log", "sqrt", "rec", "pow", "float_p")) else 0.0
    )
    ys = np.array([0.7, -1.3, 2.0, 0.4, 3.0])
    form = of_entries(name)
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        given = [x, y][: ufunc.nin]
        wanted = float(ufunc(*given))
        got = form(*given), evaluate_recorded(lambda s: [1.0 * number(form(*s))], given)[0]
        assert np.allclose([float(g) for g in got], wanted, rtol=1e-12, atol=SHARP.get(name, 1e-12))


@pytest.mark.parametrize("p", [-3, -0.5, 0, 0.5, 1, 2, 5, 64, 1.5, 100])
def test_powers_equal_pythons(p: float) -> None:
    """A power is a product, a root, or exp and log."""
    assert np.isclose(evaluate_recorded(lambda s: [power(s[0], p)], [1.3])[0], 1.3**p)
    assert np.isclose(evaluate_recorded(lambda s: [power(1.3, s[0])], [p])[0], 1.3**p)
    assert power(1.3, p) == 1.3**p


def test_a_missing_function_is_refused_by_name() -> None:
    assert not set(NUMBERS) & set(TRUTHS)
    with pytest.raises(
        RecordingError, match=r"np\.gcd has no form in a kernel; there are absolute"
    ):
        of_entries("gcd")
