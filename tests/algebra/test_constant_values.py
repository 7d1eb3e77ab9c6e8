"""Values without derivatives: in tangents, in adjoints, and in the program."""

from __future__ import annotations

import pytest
from programs import evaluate

from warpdyn.algebra.constant_values import as_constants, with_slope_of
from warpdyn.algebra.scalar import Scalar, cos
from warpdyn.recording.differentiation import pullback, pushforward
from warpdyn.recording.graph import CONSTANT
from warpdyn.recording.program import record


def text(x: list[Scalar]) -> list[Scalar]:
    """x0² + (x0 x1), where the product is a constant, also as a result with a sign."""
    (product,) = as_constants([-(x[0] * x[1])])
    return [x[0] * x[0] - product, product, product * x[1]]


def test_numbers_are_returned_unchanged() -> None:
    """Nothing is recorded."""
    assert as_constants([1.0, -2.5]) == [1.0, -2.5]


def test_the_program_reads_the_original_values() -> None:
    """The values keep their signs, and the program has no further statement."""
    program = record(text, {"x": (2,)})
    assert evaluate(program, {"x": [3.0, 2.0]}) == pytest.approx([15.0, -6.0, -12.0])
    assert not program.uses(CONSTANT)
    plain = record(
        lambda x: [x[0] * x[0] + x[0] * x[1], -(x[0] * x[1]), -(x[0] * x[1]) * x[1]], {"x": (2,)}
    )
    assert program.operations == plain.operations


@pytest.mark.parametrize("forward", [True, False])
def test_the_derivative_of_a_constant_is_zero(forward: bool) -> None:
    """d(x0² + c)/dx0 = 2 x0, d(c)/dx = 0, d(c x1)/dx1 = c."""

    def derivative(x: list[Scalar]) -> list[Scalar]:
        if forward:
            return pushforward(x, [1.0, 10.0], text(x))
        return pullback(x, text(x), [1.0, 1.0, 100.0])

    found = evaluate(record(derivative, {"x": (2,)}), {"x": [3.0, 2.0]})
    assert found == pytest.approx([6.0, 0.0, -60.0] if forward else [6.0, -600.0])


def test_a_constant_of_a_constant_is_the_same_constant() -> None:
    """Other uses of the same value keep their derivatives."""

    def derivative(x: list[Scalar]) -> list[Scalar]:
        c = cos(x[0])
        (twice,) = as_constants(as_constants([c]))
        return pullback(x, [c * 2.0 + twice * x[0]], [1.0])

    (found,) = evaluate(record(derivative, {"x": (1,)}), {"x": [0.3]})
    assert found == pytest.approx(-2.0 * 0.29552020666133955 + 0.955336489125606)


@pytest.mark.parametrize("forward", [True, False])
def test_a_value_may_have_the_derivative_of_another_one(forward: bool) -> None:
    """The value is x0², the derivative that of -3 x1; its sign and factors count."""

    def text(x: list[Scalar]) -> list[Scalar]:
        return [-with_slope_of(-(x[1] * 3.0), x[0] * x[0]) * x[0]]

    def derivative(x: list[Scalar]) -> list[Scalar]:
        if forward:
            return pushforward(x, [1.0, 10.0], text(x))
        return pullback(x, text(x), [1.0])

    assert evaluate(record(text, {"x": (2,)}), {"x": [3.0, 2.0]}) == [-27.0]
    found = evaluate(record(derivative, {"x": (2,)}), {"x": [3.0, 2.0]})
    assert found == ([-9.0 + 90.0] if forward else [-9.0, 9.0])


def test_the_program_does_not_compute_the_value_that_only_gives_the_derivative() -> None:
    """Only the value is left."""
    program = record(lambda x: [with_slope_of(cos(x[0]), x[0] + 1.0)], {"x": (1,)})
    assert not program.uses("cos") and not program.uses(CONSTANT)


def test_numbers_may_take_part_in_a_value_with_another_derivative() -> None:
    """A number has no derivative, but may get one."""
    assert with_slope_of(2.0, 3.0) == 3.0

    def derivative(x: list[Scalar]) -> list[Scalar]:
        outputs = [with_slope_of(x[0] * 5.0, 3.0), with_slope_of(2.0, x[0] * x[0])]
        return [*outputs, *pullback(x, outputs, [1.0, 100.0])]

    assert evaluate(record(derivative, {"x": (1,)}), {"x": [7.0]}) == [3.0, 49.0, 5.0]
