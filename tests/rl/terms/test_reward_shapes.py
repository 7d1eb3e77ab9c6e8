"""Shapes of rewards at points where their values are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
import warpdyn as wd
from warpdyn.rl.terms import beyond, every, near, sum_of_squares, within, wrap_angle
from warpdyn.user_kernels.own_kernel import OwnKernel


def test_near_is_one_at_zero_error() -> None:
    assert near(np.zeros(2), 0.5) == 1.0
    for error in (np.array([0.3, 0.4]), [0.3, 0.4], 0.5):
        assert near(error, 0.5) == pytest.approx(np.exp(-1.0))


@pytest.mark.parametrize("width", [0.0, -0.5, np.nan, np.float32(0.0)])
def test_near_refuses_a_width_that_is_not_positive(width: float) -> None:
    """A width of zero gave NaN without an error, and 0 with one."""
    with pytest.raises(ValueError, match="near: width must be positive, got"):
        near(np.zeros(2), width)


def test_every_is_true_at_multiples_but_not_at_zero() -> None:
    ages = np.arange(0.0, 1001.0)
    found = np.array([bool(every(a, 250)) for a in ages.astype(np.float32)])
    assert list(np.flatnonzero(found)) == [250, 500, 750, 1000]


def test_every_needs_a_whole_number_of_steps() -> None:
    """Other numbers were rounded without a word, and less than 1 became 1."""
    assert every(150.0, 3.0 / 0.02) and not every(149.0, 3.0 / 0.02)
    for steps in (2.5, 0.4, 0, -3, np.inf, np.nan):
        with pytest.raises(ValueError, match="every: steps must be a whole number of at least 1"):
            every(10.0, steps)


def test_within_is_one_between_its_bounds_and_a_tenth_at_the_margin() -> None:
    assert [within(x, -1.0, 2.0, 0.5) for x in (-1.0, 0.3, 2.0)] == [1.0, 1.0, 1.0]
    assert within(2.5, -1.0, 2.0, 0.5) == pytest.approx(0.1)
    assert within(-1.5, -1.0, 2.0, 0.5) == pytest.approx(0.1)
    assert within(4.0, -1.0, 2.0, 0.5) < 1e-8


def test_within_has_hard_bounds_without_a_margin() -> None:
    """Like `tolerance` of the Control Suite. Between the bounds it was NaN, also in kernels."""
    x = np.array([-1.5, -1.0, 0.0, 2.0, 2.0 + 1e-9])
    assert within(x, -1.0, 2.0, 0.0).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]

    def bounds(robot: Any, fields: dict[str, Any]) -> Any:
        return within(fields["x"], -1.0, 2.0, 0)

    kernel = OwnKernel.of_shapes("bounded", {"x": (5,)}, bounds)
    found = wd.oracle(kernel, wd.load_robot("cartpole"), x[None])
    assert np.ravel(found).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "numbers", [(1.0, -1.0, 0.5), (-1.0, 1.0, -0.5), (-1.0, 1.0, np.nan), (np.nan, 1.0, 0.5)]
)
def test_within_refuses_bounds_out_of_order_and_negative_margins(
    numbers: tuple[float, ...],
) -> None:
    """Exchanged bounds gave small numbers everywhere, and a margin counted without its sign."""
    with pytest.raises(ValueError, match=r"within: (lower|margin) must be"):
        within(np.zeros(2), *numbers)


def test_beyond_is_the_distance_outside() -> None:
    found = beyond(np.array([-2.0, 0.0, 1.5]), np.array([-1.0] * 3), np.array([1.0] * 3))
    assert found.tolist() == [1.0, 0.0, 0.5]


def test_squares_are_summed_and_angles_wrapped() -> None:
    assert sum_of_squares(np.array([3.0, 4.0])) == 25.0 and sum_of_squares(2.0) == 4.0
    for angle in (-7.0, -3.0, 0.0, 3.0, 9.5):
        found = wrap_angle(angle)
        assert -np.pi <= found < np.pi and np.exp(1j * found) == pytest.approx(np.exp(1j * angle))
