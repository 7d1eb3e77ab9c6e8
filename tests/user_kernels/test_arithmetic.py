"""Arithmetic of entries equals NumPy's: for NaN, infinities, ties, and powers of negative numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.recording.program import record
from warpdyn.user_kernels import arithmetic as chosen
from warpdyn.user_kernels.arithmetic import ZERO, StructuralZero, add, divide, multiply, on_numbers
from warpdyn.user_kernels.elementary import of_entries

ODD = (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, -4.0, math.nan, math.inf, -math.inf)


def evaluate_recorded(name: str, *numbers: float) -> float:
    """NumPy's function of this name, recorded on symbols and run on numbers."""
    form = of_entries(name)
    program = record(lambda s: [form(*s)], {"s": (len(numbers),)})
    return float(program.on_numbers({"s": list(numbers)})["out"][0])


@pytest.mark.parametrize("name", ["sign", "rint", "reciprocal", "floor", "ceil"])
def test_functions_of_one_number_equal_numpys(name: str) -> None:
    """Halves are rounded to even, and the sign of NaN is NaN."""
    for x in ODD:
        wanted = on_numbers(name, x)
        assert np.array_equal(evaluate_recorded(name, x), wanted, equal_nan=True), x


@pytest.mark.parametrize(
    "name",
    [
        "power",
        "remainder",
        "floor_divide",
        "fmax",
        "fmin",
        "subtract",
        "multiply",
        "divide",
        "hypot",
    ],
)
def test_functions_of_two_numbers_equal_numpys(name: str) -> None:
    """The test covers all pairs, also with a constant in either place.

    The sign of a power of -0 is not compared.
    """
    form = of_entries(name)
    for x in ODD:
        for y in ODD:
            wanted = on_numbers(name, x, y)
            known = record(lambda s, y=y: [form(s[0], y)], {"s": (1,)})
            first = record(lambda s, x=x: [form(x, s[0])], {"s": (1,)})
            found = [
                program.on_numbers({"s": [z]})["out"][0] for program, z in ((known, x), (first, y))
            ]
            for got in (evaluate_recorded(name, x, y), *found):
                same = np.isclose(got, wanted, rtol=1e-13, atol=0, equal_nan=True)
                # x**0.5 is a root: NaN for -inf. So it is in NumPy's operator, but not in np.power.
                root = name == "power" and y == 0.5 and x == -math.inf
                assert same or root, (x, y, got, wanted)


def test_odd_powers_keep_the_sign_of_zero() -> None:
    """Their slopes are 1 for the first power, and 0 for the third."""

    @wd.kernel
    def power(robot: Any, x: (1,), p: (1,)) -> Any:  # type: ignore[valid-type]
        return x**p

    model, p = wd.load_robot("cartpole"), np.array([[-3.0], [-2.0], [1.0], [3.0], [4.0], [0.5]])
    for zero in (0.0, -0.0):
        x = np.full_like(p, zero)
        with np.errstate(all="ignore"):
            wanted = x**p
        found = power(model, x, p)
        assert np.array_equal(found, wanted)
        assert np.array_equal(np.signbit(found[:-1]), np.signbit(wanted[:-1])), "a root has none"
        slopes = wd.jvp(power, model, x, p, tangents={"x": np.ones_like(x)})
        assert np.array_equal(slopes[2:5], [[1.0], [0.0], [0.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_compiled_power_of_minus_one_half_equals_numpys(dtype: type) -> None:
    """Infinite at both zeros, 0 at both infinities."""

    @wd.kernel
    def half(robot: Any, x: (1,)) -> Any:  # type: ignore[valid-type]
        return x**-0.5

    x = np.array([[0.0], [-0.0], [np.inf], [-np.inf], [np.nan], [-1.0], [4.0]], dtype)
    with np.errstate(all="ignore"):
        wanted = x**-0.5
    assert np.array_equal(half(wd.load_robot("cartpole"), x), wanted, equal_nan=True)


def test_differences_and_products_with_zero_propagate_nan() -> None:
    """x - x, 2 x - x, 0 x and x / x are not folded."""

    @wd.kernel
    def cancelling_terms(robot: Any, x: (4,)) -> Any:  # type: ignore[valid-type]
        return np.stack(
            [
                x - x,
                2 * x - x,
                0 * x,
                x / (x - x),
                x / 0,
                np.eye(4) @ x,
                np.dot(x, np.zeros(4)) + 0 * x,
            ]
        )

    x = np.array([1.5, math.nan, math.inf, 0.0])
    with np.errstate(all="ignore"):
        wanted = cancelling_terms.text(None, x)
        got = cancelling_terms(wd.load_robot("cartpole"), x[None])[0]
    assert np.array_equal(got, wanted, equal_nan=True)


def test_a_remainder_is_below_its_divisor() -> None:
    """0.5 % 0.1 is 0.0999... because 0.1 is a little more than a tenth.

    The quotient belongs to this remainder.
    """

    @wd.kernel
    def remainders(robot: Any, x: (6,), *, by: float) -> Any:  # type: ignore[valid-type]
        return np.stack([x % by, x // by])

    x = np.array([0.5, 0.3, -0.3, 1.0, 0.7, 49.0])
    for by in (0.1, -0.1, 49.0):
        got = remainders(wd.load_robot("cartpole"), x[None], by=by)[0]
        assert np.array_equal(got, [x % by, x // by])


def test_zero_quotients_and_remainders_have_numpys_sign() -> None:
    """Without it, the angle of a remainder by `np.arctan2` was 0 where NumPy has pi."""

    @wd.kernel
    def parts(robot: Any, x: (), y: ()) -> Any:  # type: ignore[valid-type]
        return np.stack([x // y, x % y, np.arctan2(0.0, x % y), x // -2, x % -2])

    numbers = np.array([-2.5, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 2.5])
    x, y = (z.ravel() for z in np.meshgrid(numbers, numbers[np.abs(numbers) > 0]))
    wanted = parts.text(None, x, y).T
    for found in (
        parts(wd.load_robot("cartpole"), x, y),
        np.array(
            [wd.oracle(parts, wd.load_robot("cartpole"), *row) for row in zip(x, y, strict=True)]
        ),
    ):
        assert np.array_equal(found, wanted)
        assert np.array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize(
    "name", ["sign", "rint", "floor_divide", "remainder", "power", "add", "subtract", "multiply"]
)
def test_functions_of_constants_equal_numpys(name: str) -> None:
    """Nothing is recorded, and the rounding is NumPy's."""
    form, count = of_entries(name), getattr(np, name).nin
    for x in ODD:
        for y in ODD if count == 2 else (0.0,):
            numbers = (x, y)[:count]
            found, wanted = form(*numbers), on_numbers(name, *numbers)
            assert isinstance(found, float) and np.array_equal(found, wanted, equal_nan=True)


def test_values_and_slopes_of_log10_log2_exp2_and_arcsin() -> None:
    """Values are compared with NumPy's."""
    for name, x in (("log2", 8.0), ("log10", 1000.0), ("exp2", 3.0), ("arcsin", 0.4)):
        assert evaluate_recorded(name, x) == pytest.approx(float(getattr(np, name)(x)), rel=1e-15)


def test_structural_zeros_need_no_operations() -> None:
    """An entry that is 0 in a Jacobian at every state costs no product."""
    program = record(lambda s: [add(multiply(ZERO, s[0]), s[1])], {"s": (2,)})
    assert program.operations == 0
    assert isinstance(multiply(ZERO, 2.0), StructuralZero) and math.isnan(divide(ZERO, 0.0))


BOOLEAN: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a + True,
    lambda a, b: np.maximum(a, b),
    lambda a, b: np.where(a, b, True),
    lambda a, b: ~np.where(a, b, a),
    lambda a, b: np.add.outer(a, b)[0],
    lambda a, b: np.zeros_like(a) | b,
)


@pytest.mark.parametrize("text", BOOLEAN)
def test_sums_of_conditions_are_conditions(text: Any) -> None:
    """True + True is True, as for NumPy's bool."""

    @wd.kernel
    def both(robot: Any, x: (4,), y: (4,)) -> Any:  # type: ignore[valid-type]
        return text(x > 0, y > 0)

    x, y = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    got = both(wd.load_robot("cartpole"), x[None], y[None])[0]
    assert got.dtype == bool and np.array_equal(got, text(x > 0, y > 0))


def test_sums_along_conditions_are_counts() -> None:
    """np.sum, np.add.reduce and np.cumsum of conditions are numbers, as in NumPy."""

    @wd.kernel
    def counts(robot: Any, x: (4,)) -> Any:  # type: ignore[valid-type]
        c = x > 0
        return np.concatenate([[np.sum(c), np.add.reduce(c), c.mean()], np.cumsum(c), c * 2 + c])

    x = np.array([1.0, 1.0, -1.0, 2.0])
    assert np.array_equal(counts(wd.load_robot("cartpole"), x[None])[0], counts.text(None, x))


REFUSED: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: ~np.where(x > 0, 1, 2), r"~ \(np.invert\) needs conditions.*-n - 1"),
    (lambda x: (x > 0) & 1, r"& \(np.bitwise_and\) needs conditions"),
    (lambda x: (x > 0) - (x < 1), "np.subtract of conditions alone"),
    (lambda x: (x > 0) @ (x < 1), "@ of conditions alone.*astype"),
    (lambda x: np.outer(x > 0, x < 1), "np.outer of conditions alone"),
    (lambda x: np.sum(x, dtype=np.float32), "no dtype float32.*leave the dtype out"),
    (lambda x: np.zeros_like(x, dtype=np.float32), "no dtype float32"),
    (lambda x: x.astype(np.float32), "astype has no dtype float32"),
    (lambda x: x.astype(np.uint8), "astype has no dtype uint8"),
    (lambda x: np.mean(x, dtype=np.float16), "no dtype float16"),
)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_operations_that_would_differ_from_numpys_are_refused(text: Any, message: str) -> None:
    """The message gives the user's line and the remedy."""

    @wd.kernel
    def call_text(robot: Any, x: (4,)) -> Any:  # type: ignore[valid-type]
        return text(x)

    with pytest.raises(
        wd.kernels.RecordingError, match=rf"^test_arithmetic.py:\d+: {message}|{message}"
    ):
        call_text(wd.load_robot("cartpole"), np.zeros((1, 4)))


def test_chosen_constants_have_their_documented_values() -> None:
    """They come from measurements or external limits. Another value needs another reason."""
    assert chosen.LARGEST_PRODUCT == 1024
