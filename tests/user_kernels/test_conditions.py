"""Conditions have their truth tables, on numbers and on symbols."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from warpdyn.recording.program import record
from warpdyn.user_kernels import conditions
from warpdyn.user_kernels.conditions import (
    Condition,
    both,
    choose,
    differ,
    either,
    equal,
    finite,
    flag,
    less,
    less_equal,
    negate,
    truth,
)


def evaluate_recorded(
    text: Callable[[list[Any]], list[Any]], numbers: Sequence[float]
) -> list[float]:
    """A function recorded on symbols, then run on numbers."""
    program = record(lambda s: text(s), {"s": (len(numbers),)})
    return list(program.on_numbers({"s": list(numbers)})["out"])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(("x", "y"), itertools.product([-1.0, 0.0, 2.0, NAN, INF], repeat=2))
def test_comparisons_equal_pythons(x: float, y: float) -> None:
    """A recorded comparison chooses as Python's does, also for NaN."""

    def text(s: list[Any]) -> list[Any]:
        a, b = s
        comparisons = [less(a, b), less_equal(a, b), equal(a, b), finite(a)]
        return [flag(c) for c in comparisons] + [flag(negate(c)) for c in comparisons]

    wanted = [x < y, x <= y, x == y, abs(x) < INF]
    assert evaluate_recorded(text, [x, y]) == [*wanted, *(not w for w in wanted)]
    assert [less(x, y), less_equal(x, y), equal(x, y), finite(x)] == wanted


@pytest.mark.parametrize(("a", "b"), itertools.product([0.0, 1.0], repeat=2))
def test_conditions_are_joined_by_and_or_and_xor(a: float, b: float) -> None:
    """The test joins two recorded conditions, or a recorded one and a constant."""

    def join_conditions(x: Any, y: Any) -> list[Any]:
        return [flag(join(x, y)) for join in (both, either, differ)]

    def text(s: list[Any]) -> list[Any]:
        x, y = less(0.5, s[0]), less(0.5, s[1])
        assert isinstance(x, Condition)
        return join_conditions(x, y) + join_conditions(x, b > 0.5) + join_conditions(a > 0.5, y)

    wanted = [float(a and b), float(a or b), float(a != b)]
    assert evaluate_recorded(text, [a, b]) == wanted * 3
    assert join_conditions(a > 0.5, b > 0.5) == wanted


def test_a_known_condition_needs_no_operation() -> None:
    """The other condition, or a constant, is the result."""

    def text(s: list[Any]) -> list[Any]:
        x = less(0.5, s[0])
        assert both(x, True) is x and both(True, x) is x
        assert either(x, False) is x and either(False, x) is x
        assert both(x, False) is False and either(True, x) is True
        return [flag(x)]

    assert evaluate_recorded(text, [1.0]) == [1.0]


def test_a_value_is_true_if_it_is_not_zero() -> None:
    assert evaluate_recorded(lambda s: [flag(truth(x)) for x in s], [0.0, 2.0, -1.0]) == [
        0.0,
        1.0,
        1.0,
    ]
    assert truth(0.0) is False and truth(True) is True
    assert choose(True, 1.0, 2.0) == 1.0 and conditions.choose(False, 1.0, 2.0) == 2.0
