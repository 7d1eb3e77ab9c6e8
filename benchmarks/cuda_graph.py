"""A call captured as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp


class Graph:
    """A captured call. Calling the graph replays it.

    A CUDA graph holds addresses only, so this object keeps the call and with it the arrays.
    """

    def __init__(self, call: Callable[[], Any], device: str, times: int = 1):
        """Call once to compile, then capture `times` calls."""
        self.call, self.device, self.times = call, device, times
        with wp.ScopedDevice(device):
            call()
            with wp.ScopedCapture() as capture:
                for _ in range(times):
                    call()
        self.graph = capture.graph

    def __call__(self) -> None:
        """Replay the captured calls."""
        with wp.ScopedDevice(self.device):
            wp.capture_launch(self.graph)
