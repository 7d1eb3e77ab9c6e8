"""Work of a training run that a GPU repeats from a CUDA graph.

An iteration of PPO starts thousands of small kernels. On a GPU the host needs longer to start them than
the GPU to run them. A graph starts all of them at once (CUDA C++ Programming Guide, CUDA graphs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch

Result = TypeVar("Result")


class GraphReplay(Generic[Result]):
    """A function without arguments, whose first call runs it, whose second call captures it in a CUDA
    graph, and whose further calls replay the graph.

    The function reads and writes the same tensors in each call, and does not wait for the GPU. All
    calls return the result of the capture, whose tensors are written again. On the CPU each call runs
    the function.
    """

    def __init__(self, function: Callable[[], Result], device: torch.device | str):
        self._function = function
        self._captures = torch.device(device).type == "cuda"
        self.forget()

    def forget(self) -> None:
        """Capture again, because the function has new tensors."""
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stream: torch.cuda.Stream | None = None

    def __call__(self) -> Result:
        if not self._captures:
            return self._function()
        if self._graph is not None:
            self._graph.replay()
            return self._result
        if self._stream is None:
            self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            return self._run_aside(self._stream)
        return self._capture(self._stream)

    def _run_aside(self, stream: torch.cuda.Stream) -> Result:
        """Run the function on the stream of the capture. Objects that it makes for later calls,
        such as the state of an optimiser, then exist before the capture."""
        current = torch.cuda.current_stream()
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            result = self._function()
        current.wait_stream(stream)
        return result

    def _capture(self, stream: torch.cuda.Stream) -> Result:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            self._result = self._function()
        self._graph = graph
        graph.replay()
        return self._result
