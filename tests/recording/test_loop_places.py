"""The position of a loop among loops is after all values that it reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from warpdyn.algebra.scalar import repeat
from warpdyn.recording.program import record


def inner_from_outside(x: list) -> list:
    """The inner loop starts from outer values, and reads values of the loop between."""

    def outer(state: list) -> list:
        (y,) = state
        (z,) = repeat(lambda s: [0.5 * s[0] + y], [x[0]], 3)
        return [0.5 * z]

    return repeat(outer, [x[1]], 4)


def inner_from_numbers(x: list) -> list:
    """It starts from numbers. The first of them becomes an outer symbol."""

    def outer(state: list) -> list:
        (y,) = state
        z, w = repeat(lambda s: [0.5 * s[0] + x[0], s[1] + y], [1.0, 2.0], 3)
        return [0.5 * z + 0.1 * w]

    return repeat(outer, [x[1]], 4)


def inner_until_reads(x: list) -> list:
    """Only the end of the inner loop depends on the loop between."""

    def outer(state: list) -> list:
        (y,) = state
        (z,) = repeat(lambda s: [0.5 * s[0] + x[0]], [x[1]], 3, until=lambda s: y - s[0])
        return [0.5 * z + 0.1 * y]

    return repeat(outer, [x[1]], 4)


def third_reads_second(x: list) -> list:
    """Three nested loops: the innermost starts from the outermost and reads the second."""

    def outer(state: list) -> list:
        def middle(s: list) -> list:
            (z,) = repeat(lambda r: [0.5 * r[0] + s[0] * x[1]], [x[0]], 2)
            return [0.25 * z + state[0]]

        return repeat(middle, [x[1]], 3)

    return repeat(outer, [x[1]], 4)


def count_until(x: list) -> list:
    """A state of numbers whose end depends on an input only."""
    return repeat(lambda s: [s[0] + 1.0], [0.0], 40, until=lambda s: s[0] - x[1])


@pytest.mark.parametrize(
    "text",
    [
        inner_from_outside,
        inner_from_numbers,
        inner_until_reads,
        third_reads_second,
        count_until,
    ],
)
def test_a_loop_follows_all_values_that_it_reads(text: Callable[[list], list]) -> None:
    program = record(text, {"x": (2,)})
    for x in ([0.7, 2.4], [-0.3, 5.5]):
        assert program.on_numbers({"x": x})["out"] == pytest.approx(text(x), rel=1e-14)
