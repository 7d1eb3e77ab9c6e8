"""Tests of the emulated device; those that use Warp or warpdyn start processes with the emulated Warp."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cuda_device.emulated_warp import COMPILER
from cuda_device.ptx_kernels import library

NEEDS_NO_COMPILER = "test_emulated_warp.py"


@pytest.fixture(autouse=True)
def compiler(request: pytest.FixtureRequest) -> None:
    if Path(request.path).name != NEEDS_NO_COMPILER and shutil.which(COMPILER) is None:
        pytest.skip(f"{COMPILER} is not installed")


@pytest.fixture(autouse=True)
def device_without_error(compiler: None) -> Iterator[None]:
    """Clear an error that a test has caused."""
    yield
    if library.cache_info().currsize:
        library().emulated_cuda_forget_error()
