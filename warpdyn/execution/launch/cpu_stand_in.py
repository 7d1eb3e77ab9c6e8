"""Calls on a GPU that the CPU computes while their kernel is compiled (`wd.config.compile_device`).

NVRTC takes up to minutes for a large program. Until the kernel is there, each call copies its inputs to
the CPU, where an interpreter runs the program, and its results back. Each of these copies waits for the
GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..config import config
from ..request.call import Call, gathered
from .job import Job

NUMBERS = (np.ndarray, np.generic, float, int, list, tuple, type(None))
"""What does not lie on a GPU."""


def is_needed(job: Job) -> bool:
    """True if the kernel of a launch is not compiled, and the CPU may compute until it is.

    A capture records launches, and sums of tables need the kernel's own results: both wait.
    """
    kernel = job.kernel
    return (
        kernel.device.is_cuda
        and not kernel.loaded
        and config.compile_device == "cpu"
        and config.compile == "background"
        and not job.sums
        and not kernel.device.is_capturing
    )


def compute_on_cpu(call: Call, job: Job, compute: Callable[[Call], Job]) -> None:
    """Compute the results of a launch on the CPU with `compute`; the kernel is compiled meanwhile."""
    job.kernel.compile_soon()
    library = job.library

    def on_host(x: Any) -> Any:
        return x if isinstance(x, NUMBERS) else library.to_host(x)

    whole = gathered(call)
    host = replace(whole, arrays={name: on_host(x) for name, x in whole.arrays.items()}, out=None)
    for result, values in zip(job.results, compute(host).results, strict=True):
        library.write(result, np.asarray(values))
