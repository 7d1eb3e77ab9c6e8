"""NumPy's functions of single entries on numbers and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
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


@pytest.mark.parametrize("name", ["arcsin", "arctan", "exp", "sin", "sinh", "tan", "tanh"])
def test_functions_of_small_numbers_keep_all_digits(name: str) -> None:
    ufunc, form = getattr(np, name), of_entries(name)
    for x in (1e-12, -1e-8, 1e-4, -0.03, 0.9, 0.999999, -1.0):
        recorded = evaluate_recorded(lambda s: [1.0 * number(form(*s))], [x])[0]
        assert [float(form(x)), recorded] == pytest.approx([ufunc(x)] * 2, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("size", [1e-36, 1e-20, 1.0, 1e20, 1e38])
def test_hypot_stays_in_the_range_of_single_precision(size: float) -> None:
    @wd.kernel
    def lengths(robot: Any, x: (2,)) -> Any:  # type: ignore[valid-type]
        return np.stack([np.hypot(x[0], x[1])])

    x = np.array([[0.3, 0.4], [-0.6, 0.0]], np.float32) * np.float32(size)
    model = wd.load_robot("cartpole")
    assert lengths(model, x)[:, 0] == pytest.approx(np.hypot(x[:, 0], x[:, 1]), rel=3e-7, abs=0.0)
    slopes = wd.vjp(lengths, model, x, cotangents=np.ones((2, 1), np.float32))
    assert slopes == pytest.approx(np.array([[0.6, 0.8], [-1.0, 0.0]]), rel=1e-6)


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
