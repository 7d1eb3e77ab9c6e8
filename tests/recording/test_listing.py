"""Programs as readable lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import floor, maximum, minimum, repeat, select_less, sin, sqrt
from warpdyn.recording.program import record


def test_operations_are_listed_as_in_python() -> None:
    program = record(
        lambda x: [x[0] * x[1] + 2.0, -x[0], select_less(x[0], 1.0, x[1], 3.0), 4.0], {"x": (2,)}
    )
    lines = program.listing("text").splitlines()
    assert lines[0].startswith("text(x[2]) -> out[4]")
    assert any(line.endswith("+ 2.0") for line in lines)
    assert any(" if " in line and "< 1.0 else 3.0" in line for line in lines)
    assert any(line.startswith("out[1] = -t") for line in lines) and "out[3] = 4.0" in lines


def test_a_loop_is_listed_with_its_number_of_steps() -> None:
    program = record(lambda x: repeat(lambda s: [s[0] * x[1] + 0.5], [x[0]], 10), {"x": (2,)})
    assert "10 times" in program.listing() and program.listing().count("->") == 2


def rows_that_are_needed(x: list, z: list) -> list:
    a = RowArray([[x[0]], [2.0]])

    def step(k: Any, state: list, _: Any) -> list:
        a[k] = [a[k][0] * state[0]]
        return [state[0] + 0.5]

    (y,) = loop(2, step, [x[1]], [a], needed=z[0])
    return [y, a[1][0], -x[0], 4.0]


def steps_of_ten(x: list) -> list:
    def step(s: list) -> list:
        larger = maximum(s[1], s[0])
        return [sqrt(s[0]) * x[1] + 0.5, select_less(s[1], x[0], larger, -s[1])]

    return repeat(step, list(x), 10)


def halve(x: list) -> list:
    return repeat(lambda s: [s[0] * 0.5], [x[0]], 9, until=lambda s: s[0] - x[1])


def several(x: list) -> list:
    return [x[0] - x[1], x[0] / x[1], minimum(x[0], x[1]), floor(x[0]), sin(x[0] + 1.0)]


LISTINGS = {
    rows_that_are_needed: """\
rows_that_are_needed(x[2], z[1]) -> out[4]    # 9 operations
t0 = x[0]
out[2] = -t0
t3 = rows array0, 1, t0, 2.0
t2 = z[0]
t4 = frame routine0, t2
t5 = lend routine0, t4, t3
t1 = x[1]
t6 = call routine0, t5, t1
t8 = of routine0, t6, 0
out[0] = t8
t7 = left routine0, t6, 0
t9 = read t7, 0, 1.0
out[1] = t9
out[3] = 4.0

routine0 at most 2 times(shared[1], column[1]) -> out[1]    # 4 operations
t1 = given 0
t0 = counter[0]
t3 = read t1, 0, t0
t2 = column[0]
t4 = t2 * t3
t5 = write t1, t0, t4
t6 = t2 + 0.5
out[0] = t6""",
    steps_of_ten: """\
steps_of_ten(x[2]) -> out[2]    # 50 operations
t1 = x[1]
t0 = x[0]
t2 = frame routine0, t1, t0
t3 = call routine0, t2, t0, t1
t4 = of routine0, t3, 0
out[0] = t4
t5 = of routine0, t3, 1
out[1] = t5

routine0 10 times(shared[2], column[2]) -> out[2]    # 5 operations
t1 = column[1]
t0 = column[0]
t2 = t0 if t1 < t0 else t1
t3 = sqrt(t0)
t4 = shared[0]
t6 = t3 * t4 + 0.5
out[0] = t6
t8 = -t1
t7 = shared[1]
t9 = t2 if t1 < t7 else t8
out[1] = t9""",
    halve: """\
halve(x[2]) -> out[1]    # 18 operations
t1 = x[1]
t2 = frame routine0, t1
t0 = x[0]
t3 = call routine0, t2, t0
t4 = of routine0, t3, 0
out[0] = t4

routine0 at most 9 times(shared[1], column[1]) -> out[2]    # 2 operations
t0 = column[0]
t1 = 0.5 * t0
out[0] = t1
t2 = shared[0]
t3 = t1 - t2
out[1] = t3""",
    several: """\
several(x[2]) -> out[5]    # 6 operations
t0 = x[0]
t1 = x[1]
t2 = t0 - t1
out[0] = t2
t3 = 1 / t1
t4 = t0 * t3
out[1] = t4
t5 = t1 if t1 < t0 else t0
out[2] = t5
t6 = floor(t0)
out[3] = t6
t7 = t0 + 1.0
t8 = sin(t7)
out[4] = t8""",
}


@pytest.mark.parametrize("text", LISTINGS, ids=lambda text: text.__name__)
def test_listings_are_complete(text: Callable[..., Any]) -> None:
    """Inputs and results with their sizes, statements, stores when their value is known, then
    loops.
    """
    sizes = {"x": (2,), "z": (1,)} if text is rows_that_are_needed else {"x": (2,)}
    assert record(text, sizes).listing(text.__name__) == LISTINGS[text]


def test_the_default_name_of_a_program_is_program() -> None:
    assert record(halve, {"x": (2,)}).listing() == LISTINGS[halve].replace("halve", "program")
