"""Contexts of rclpy that no other test uses. Without rclpy these tests fail; none is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from own_domain import ros_context, stay_on_this_machine

stay_on_this_machine()


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with ros_context() as context:
        yield context
