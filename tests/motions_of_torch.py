"""States of a two-coordinate robot as tensors, and their comparison."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def motions(batch: int = 3, requires_grad: bool = False) -> list[torch.Tensor]:
    """q, v and a (or tau) of a robot with two coordinates."""
    draw = torch.Generator().manual_seed(4)
    return [
        torch.randn(batch, 2, generator=draw, dtype=torch.float64).requires_grad_(requires_grad)
        for _ in range(3)
    ]


def close(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.shape == y.shape and torch.allclose(x, y, rtol=1e-11, atol=1e-11)
