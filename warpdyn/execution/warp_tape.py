"""Calls under a `warp.Tape`: the recorded adjoint as an entry of the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp
from warp._src import context  # the tape that records has no public name

from .call import Call, all_arrays, derived, input_shape, result_names


def run(call: Call, compute: Callable[[Call], Any]) -> Any:
    """The call's results; on the tape that records at the moment, where an array requires a gradient."""
    tape = getattr(context.runtime, "tape", None)
    given = all_arrays(call)
    wrt = [name for name, x in given.items() if isinstance(x, wp.array) and x.requires_grad]
    if tape is None or not wrt:
        return compute(call)
    first_name, first = next(iter(given.items()))
    rows = first.shape[: len(first.shape) - len(input_shape(call, first_name))]
    outcome = compute(call)
    results = dict(
        zip(result_names(call), outcome if isinstance(outcome, tuple) else (outcome,), strict=True)
    )
    for result in results.values():
        result.requires_grad = True

    def backward() -> None:
        seeds = {name: result.grad for name, result in results.items()}
        solution = next(iter(results.values())) if call.solves and not call.derivatives else None
        bars = [
            wp.empty(
                (*rows, *input_shape(call, name)),
                dtype=given[name].dtype,
                device=given[name].device,
            )
            for name in wrt
        ]
        compute(derived(call, "vjp", wrt, seeds, solution, tuple(bars)))
        for name, bar in zip(wrt, bars, strict=True):
            _add(bar, given[name].grad)

    tape.record_func(backward, [*(given[name] for name in wrt), *results.values()])
    return outcome


def _add(bar: wp.array, total: wp.array) -> None:
    """Added to what the tape has gathered so far; over all environments where one array serves them."""
    if bar.shape == total.shape:
        wp.map(wp.add, total, bar, out=total)
    else:
        wp.launch(
            _add_rows, dim=bar.size, inputs=[bar.flatten(), total.flatten()], device=bar.device
        )


@wp.kernel
def _add_rows(bar: wp.array(dtype=Any), total: wp.array(dtype=Any)):  # type: ignore[valid-type]
    i = wp.tid()
    wp.atomic_add(total, i % total.shape[0], bar[i])
