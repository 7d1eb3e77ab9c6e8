"""Programs with each kind of statement, for the tests of generated code.

They have sweeps, nested loops, loops that end, row arrays, tables, random numbers, constants,
negatives, and enough parts for a workspace.
"""

from __future__ import annotations

from typing import Any

from warpdyn.algebra import row_arrays, scalar
from warpdyn.recording.differentiation import pullback

SHAPES = {"x": (4,), "t": (3, 5)}
"""Shapes of the inputs; t is a table."""


def sweep_paths(x: list) -> list:
    """Two paths over rows of two values and two constants each. One row is on both."""
    rows = [[x[k], x[k + 1] * x[0], 0.5 + k, 0.25 * k] for k in range(3)]

    def step(s: list, row: list) -> tuple[list, list]:
        state = [s[0] * row[0] + row[2], s[1] - row[1] * row[3]]
        return state, [s[0] - row[2] * s[1], 2.5, row[1] * row[0]]

    values, ends = scalar.sweep(step, [[x[0], x[3]], [x[1], 0.5]], [[0, 1, 2], [2]], rows)
    flat = [y for path in values for each in path for y in each]
    return [*flat, *(y for each in ends for y in each)]


def nested_loops(x: list) -> list:
    """A loop in a loop, a loop that ends in a step, and rows that are written until a condition
    ends the loop."""

    def outer(state: list) -> list:
        (y,) = scalar.repeat(lambda s: [s[0] * 0.5 + scalar.sin(state[1])], [state[0]], 3)
        (z,) = scalar.repeat(lambda s: [s[0] * 0.7], [y], 9, until=lambda s: 1.0 - 4.0 * s[0])
        return [z, state[1] * 0.5]

    first = scalar.repeat(outer, [x[0], x[1]], 4)
    rows = row_arrays.RowArray([[0.0], [x[2]], [x[3]]])

    def step(k: Any, s: list, arrays: list) -> list:
        (a,) = arrays
        goes = scalar.select_less(k, s[1], 1.0, 0.0)  # neighbours may take more steps
        a[k] = [a[k][0] + goes * s[0]]
        last = scalar.select_less(0.4, s[0], k, s[1])
        return [s[0] + 0.3 * goes, scalar.select_less(k, s[1], last, s[1])]

    (grown, _) = row_arrays.loop(3, step, [x[0], 3.0], [rows], last=1)
    return [*first, grown, rows[0][0], rows[2][0]]


def table_lookups(x: list, t: Any) -> list:
    i, j = scalar.floor(4.0 * x[0]), scalar.floor(4.0 * x[1])
    corners = [scalar.look(t, a, b) for a in (i, i + 1.0) for b in (j, j + 1.0)]
    return [scalar.look(t, 2.0, j), corners[0] + 2.0 * corners[1] - corners[2] * corners[3]]


def long(x: list) -> list:
    """More statements than a part has, with an angle that the last part reads."""
    y, turned = x[0], scalar.cos(x[3])
    for k in range(300):
        y = 0.99 * y + x[k % 4] * (0.01 * k)
    return [y, -y, y * turned, -turned]


def everything(x: list, t: Any) -> list:
    seeds = [scalar.floor(8.0 * scalar.absolute(x[k])) for k in range(3)]
    drawn = scalar.uniform(*seeds, 5.0)
    return [
        *sweep_paths(x),
        *nested_loops(x),
        *table_lookups(x, t),
        *long(x),
        drawn,
        3.5,
        0.0,
        -2.0,
        x[0],
        -x[0],
    ]


def gradient(x: list, t: Any) -> list:
    y = scalar.repeat(lambda s: [scalar.sin(s[0]) * x[1], s[1] + s[0]], [x[0], x[2]], 6)
    return [*pullback(x, y, [1.5, x[3]]), *y]


def early_end(x: list, t: Any) -> list:
    """One loop that ends on a condition, between statements before and after it: a program in
    phases."""
    first = scalar.cos(x[1]) + 1.5

    def step(s: list) -> list:
        y = 0.5 * (s[0] + first * x[0] / s[0])
        near = scalar.select_less(scalar.absolute(y * y - first * x[0]), 1e-3 * x[0], 1.0, 0.0)
        return [y, s[1] + scalar.sin(y), near]

    y, total, near = scalar.repeat(step, [1.0, x[2], 0.0], 30, until=lambda s: s[2])
    return [y * x[3], -y, total, near, 2.5, x[0]]


PROGRAMS = {"everything": everything, "gradient": gradient, "ending": early_end}


def limbs(x: list, t: Any) -> list:
    """Four chains on one base, without loops. Warps of a GPU may compute one each."""
    base = scalar.sin(x[0]) * x[1] + scalar.cos(x[0])
    ends, rates = [], []
    for k in range(4):
        y, z = base + float(k), x[k]
        for n in range(60):
            y = y * z + 0.25 * n
            z = scalar.minimum(z * base, y) - float(k + 1) / (1.0 + y * y)
        ends.append(y * base)
        rates += [z, -z, y]
    shared = ends[0] * ends[1] - ends[2] * ends[3]
    return [*(shared * e for e in ends), *rates, shared, 1.5, x[3], 0.0]


STRAIGHT = {"limbs": limbs}
"""Programs that a GPU's warps may share."""
