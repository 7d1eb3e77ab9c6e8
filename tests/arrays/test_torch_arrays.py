"""Torch's tensors: gradients pass through every function that makes a tensor of tensors."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from warpdyn.arrays.layout import padded  # noqa: E402
from warpdyn.arrays.protocol import Part  # noqa: E402
from warpdyn.arrays.torch_arrays import LIBRARY  # noqa: E402


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def test_a_required_gradient_is_not_lost() -> None:
    """A tensor that requires one is refused where none is given; under no_grad it is read like
    any."""
    x = leaf(2, 3)
    with pytest.raises(NotImplementedError, match=r"q requires a gradient.*q\.detach\(\)"):
        LIBRARY.view("q", x)
    with torch.no_grad():
        assert LIBRARY.view("q", x).address == x.data_ptr()
    assert LIBRARY.view("q", x.detach()).strides == (3, 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.bool, torch.complex64])
def test_other_dtypes_are_refused(dtype: torch.dtype) -> None:
    """Says what is taken and what came."""
    with pytest.raises(TypeError, match=f"q must be float32 or float64, got {dtype}"):
        LIBRARY.view("q", torch.zeros(2, 3, dtype=dtype))


def test_gradients_pass_through_stacking() -> None:
    """The sum over all rows gives each value's gradient: one for its own entry of each
    environment."""
    one, many = leaf(3), leaf(5, 3)
    rows = LIBRARY.stacked([one, many, [1.0, 2.0, 3.0]], (3,), 5, torch.float64)
    assert rows.shape == (5, 3, 3) and tuple(rows.stride()) == (1, 3 * padded(5, False), 8)
    rows.sum().backward()
    assert torch.equal(one.grad, torch.full((3,), 5.0, dtype=torch.float64))
    assert torch.equal(many.grad, torch.ones(5, 3, dtype=torch.float64))
    assert LIBRARY.stacked([one, one], (3,), None, np.float32).dtype == torch.float32


def test_gradients_pass_through_joining() -> None:
    """Side by side, end to end with zeros behind, picked columns, a number for each row."""
    x, y = leaf(4, 2), leaf(4)
    joined = LIBRARY.joined([Part(x, 2, False), Part(y, 1, True), Part(1.0, 1, True)], x)
    assert joined.shape == (4, 4)
    wide = LIBRARY.end_to_end([x, joined], (4,))
    assert wide.shape == (8, 4) and not wide[:4, 2:].any()
    total = wide.sum() + LIBRARY.picked(x, [1, 1]).sum() + LIBRARY.as_column(y, x, (4,)).sum()
    total.backward()
    assert x.grad[:, 0].eq(2).all() and x.grad[:, 1].eq(4).all() and y.grad.eq(2).all()


def test_one_number_for_all_rows_keeps_its_gradient() -> None:
    """A tensor without dimensions is one number for every row."""
    t = leaf()
    LIBRARY.as_column(t, torch.zeros(6, 2, dtype=torch.float64), (6,)).sum().backward()
    assert t.grad == 6.0
