"""Random programs with loops that read and write arrays, for tests of the recorder and of each target."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from warpdyn.algebra.row_arrays import RowArray, loop, step_if_needed
from warpdyn.algebra.scalar import Scalar, cos, select_less, sin

SHAPES = {"x": (4,), "z": (3,)}
"""Inputs of the programs: numbers, and whole numbers from -1 to 5 that serve as indices."""

ENDS_EARLY = 12
"""The seed of a program whose loops end before their last steps."""

FILLS_FIRST = 13
"""The seed of a program with an array that has no values until a loop has written it."""

LEAVES_OUT = 14
"""The seed of a program that leaves steps out where no environment needs them."""

SEEDS = range(LEAVES_OUT + 1)


def random_program(seed: int) -> Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]:
    """A program of one to three arrays in nested loops. Each run makes the same decisions."""
    if seed == ENDS_EARLY:
        return ends_early
    if seed == FILLS_FIRST:
        return fills_first
    if seed == LEAVES_OUT:
        return leaves_out

    def program(x: Sequence[Scalar], z: Sequence[Scalar]) -> list[Scalar]:
        draw = random.Random(seed)
        arrays = []
        for _ in range(draw.randint(1, 3)):
            width = draw.randint(1, 3)
            arrays.append(
                RowArray(
                    [
                        [draw.choice([0.0, 0.5, x[draw.randrange(4)]]) for _ in range(width)]
                        for _ in range(draw.choice([1, 2, 3, 4, 5, 20]))
                    ]
                )
            )
        state: list[Scalar] = [x[0], 0.25]
        for _ in range(draw.randint(1, 2)):
            plan = draw.random()
            state = _loop(plan, 0, state, arrays, x, z, [])
        entries = [y for a in arrays for row in a for y in row]
        return [*state, *(entries[k % len(entries)] for k in range(6))]

    return program


def ends_early(x: Sequence[Scalar], z: Sequence[Scalar]) -> list[Scalar]:
    """A program of loops that end after the number of steps that an environment needs, from none to
    all. One loop changes an array, and one is inside another loop."""
    table = RowArray([[0.5], [0.25], [-0.5], [1.0]], constant=True)
    a = RowArray([[x[0], x[1]], [x[2], 0.0], [0.0, x[3]]])

    def step(needed: Scalar) -> Any:
        def run(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
            row = a[k]
            after = [sin(state[0]) + row[0] * table[3.0 - k][0], state[1] + 1.0]
            changed = [cos(row[1] + state[0]), row[0] * 0.5]
            a[k] = [select_less(k, needed, new, old) for new, old in zip(changed, row, strict=True)]
            return [select_less(k, needed, new, old) for new, old in zip(after, state, strict=True)]

        return run

    first = loop(3, step(z[0]), [x[0], 0.0], [a, table], needed=z[0])

    def outer(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
        return loop(4, step(z[1] - k), state, [a, table], needed=z[1] - k)

    last = loop(2, outer, first, [a, table])
    return [last[0] + first[1], last[1], *(y for row in a for y in row)]


def fills_first(x: Sequence[Scalar], z: Sequence[Scalar]) -> list[Scalar]:
    """A program that fills rows without values in a loop, as many as an environment needs, and
    reads the same rows in the next loop. A larger array gets its values outside of loops."""
    a = RowArray.without_values(4, 2)
    b = RowArray([[x[k % 4] * float(k), x[(k + 1) % 4]] for k in range(20)])

    def fill(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
        a[k] = [sin(state[0] + k), b[k + z[1]][0] * x[1]]
        return [select_less(k, z[0], state[0] * 0.5, state[0])]

    def add(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
        first, second = a[k]
        before, last = b[k]
        b[k] = [select_less(k, z[0], first, before), last]
        return [select_less(k, z[0], state[0] + first * second, state[0])]

    filled = loop(4, fill, [x[0]], [a, b], needed=z[0])
    total = loop(4, add, [x[2]], [a, b], needed=z[0])
    return [total[0], filled[0], *(b[k][0] for k in (0, 2, 7)), *(b[k][1] for k in (1, 4, 19))]


def leaves_out(x: Sequence[Scalar], z: Sequence[Scalar], *, always: bool = False) -> list[Scalar]:
    """A program that packs those rows of an array that an environment needs, in a loop and outside
    of one, and reads no others. `always`: compute each step; the result has the same bits."""
    a = RowArray([[x[k % 4] * float(k), x[(k + 1) % 4]] for k in range(5)])
    packed = RowArray([[0.0, 0.0] for _ in range(6)])

    def visit(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
        (count,) = state
        needed = select_less(a[k + z[1]][0], 0.1, 1.0, 0.0)

        def put(_: list[Scalar], __: Any) -> list[Scalar]:
            packed[count] = [sin(a[k][0]) * x[1], cos(a[k][1] + k)]
            return []

        step_if_needed(1.0 if always else needed, put, [], [a, packed])
        return [count + needed]

    (count,) = loop(5, visit, [0.0], [a, packed])

    def row(k: Scalar) -> list[Scalar]:
        return [select_less(k, count, y, 0.5) for y in packed[k]]  # no NaN enters a derivative

    def change(state: list[Scalar], _: Any) -> list[Scalar]:
        packed[0.0] = [x[0] * y for y in row(0.0)]
        return [select_less(0.0, count, sin(state[0]) + packed[0.0][1], state[0])]

    (changed,) = step_if_needed(1.0 if always else count, change, [x[2]], [packed])

    def add(k: Scalar, state: list[Scalar], _: Any) -> list[Scalar]:
        first, second = row(k)
        a[k] = [select_less(k, count, first, y) for y in a[k]]
        return [select_less(k, count, state[0] + first * second, state[0])]

    (total,) = loop(5, add, [x[3]], [a, packed])
    return [total, changed, count, *(a[k][k % 2] for k in range(5))]


def _loop(
    plan: float,
    depth: int,
    state: list[Scalar],
    arrays: Sequence[RowArray],
    x: Any,
    z: Any,
    around: Any,
) -> list[Scalar]:
    """A loop with random statements. `plan`: the seed of its decisions, so that each run of a step makes
    the same ones."""
    times = random.Random(plan).randint(1, 4)

    def step(k: Scalar, state: list[Scalar], _: Sequence[RowArray]) -> list[Scalar]:
        draw = random.Random(plan + 1.0)
        counters = [*around, k]
        a, b = state

        def index() -> Scalar:
            kind, c = draw.randrange(6), draw.choice(counters)
            if kind == 0:
                return c + draw.choice([-1.0, 0.0, 1.0])
            if kind == 1:
                return 3.0 - c
            if kind == 2:
                return z[draw.randrange(3)] + c
            if kind == 3:
                return z[draw.randrange(3)]
            if kind == 4:
                return float(draw.randint(-1, 5))
            return select_less(x[1], 0.1, c, z[0])

        for _ in range(draw.randint(1, 5)):
            array = draw.choice(arrays)
            what = draw.randrange(4)
            if what == 0 and depth < 2:
                a, b = _loop(draw.random(), depth + 1, [a, b], arrays, x, z, counters)
            elif what == 1:
                row = array[index()]
                a = 0.5 * a + sin(row[-1] + b) * x[2]
                b = cos(a) - row[0]
            elif what == 2:
                place = index()
                row = array[place]
                row[draw.randrange(len(row))] = sin(a) + 0.1 * k
                array[place] = row
            else:
                row = [draw.choice([a, -b, 0.75, array[index()][0]]) for _ in range(array.width)]
                array[index()] = row
        return [a, b]

    return loop(times, step, state, arrays)
