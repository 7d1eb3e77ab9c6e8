"""Calls on a GPU that the CPU computes while their kernel is compiled (`wd.config.compile_device`).

NVRTC takes up to minutes for a large program. Until the kernel is compiled, each call copies its
inputs to the CPU, where an interpreter runs the program, and copies its results back. Each of these
copies waits for the GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..request.call import Call, with_all_inputs
from .job import Job

NUMBERS = (np.ndarray, np.generic, float, int, list, tuple, type(None))
"""Types of values that are not on a GPU."""


def compute_on_cpu(call: Call, job: Job, compute: Callable[[Call], Job]) -> None:
    """Compute the results of a launch on the CPU with `compute`; the kernel is compiled meanwhile."""
    job.kernel.compile_soon()
    library = job.library

    def on_host(x: Any) -> Any:
        return x if isinstance(x, NUMBERS) else library.to_host(x)

    whole = with_all_inputs(call)
    host = replace(whole, arrays={name: on_host(x) for name, x in whole.arrays.items()}, out=None)
    for result, values in zip(job.results, compute(host).results, strict=True):
        library.write(result, np.asarray(values))
