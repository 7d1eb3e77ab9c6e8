"""A call captured as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp


class Graph:
    """A captured call; calling the graph replays it.

    A CUDA graph holds addresses alone. So this keeps the call, whose arrays the graph reads and writes.
    """

    def __init__(self, call: Callable[[], Any], device: str, times: int = 1):
        """Capture so many calls, after one call that compiles."""
        self.call, self.device, self.times = call, device, times
        with wp.ScopedDevice(device):
            call()
            with wp.ScopedCapture() as capture:
                for _ in range(times):
                    call()
        self.graph = capture.graph

    def __call__(self) -> None:
        with wp.ScopedDevice(self.device):
            wp.capture_launch(self.graph)
