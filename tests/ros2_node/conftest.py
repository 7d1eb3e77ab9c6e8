"""Contexts of rclpy, apart from other tests. Where rclpy is not installed these tests fail:
nothing is skipped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from harness import loopback_environment

LOGS = tempfile.TemporaryDirectory(prefix="warpdyn_ros2_node_")
os.environ.update(loopback_environment(1 + os.getpid() % 100, LOGS.name))


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    context.try_shutdown()
