"""`warpdyn compile`: the kernels of a robot compiled ahead, into the cache."""

from __future__ import annotations

import argparse
import time

import warp as wp

from ..model.description import ModelError
from .command_line import known_device, named_frame, read_model, refuse_immobile, start_warp
from .workload import ARGUMENTS, Workload, furthest_link, random_states


def compile_kernels(args: argparse.Namespace) -> int:
    """Fill the cache, so that later processes start at once."""
    model = refuse_immobile(read_model(args))
    frame = named_frame(args, model) or furthest_link(model)
    start_warp()
    states, begin = random_states(model, 1), time.perf_counter()
    for device in args.device or ["cpu", *(["cuda:0"] if wp.is_cuda_available() else [])]:
        known_device(device)
        for dtype in args.dtype:
            for algorithm in args.algorithm or ARGUMENTS:
                start, place = time.perf_counter(), f"{algorithm:9} {dtype} {device:7}"
                options = {"frame": frame, "dtype": dtype, "device": device}
                try:
                    Workload.of(model, algorithm, states, **options).call()
                except ModelError as error:
                    print(f"{place} not defined: {error}")
                    continue
                print(f"{place} {time.perf_counter() - start:6.2f} s", flush=True)
    print(f"{model.name} is ready, after {time.perf_counter() - begin:.2f} s")
    return 0
