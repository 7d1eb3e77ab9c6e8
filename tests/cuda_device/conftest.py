"""Tests of the emulated device; those that use Warp or warpdyn start processes with the emulated Warp."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cuda_device.ptx_kernels import library


@pytest.fixture(autouse=True)
def device_without_error() -> Iterator[None]:
    """An error that a test causes ends with the test."""
    yield
    library().emulated_cuda_forget_error()
