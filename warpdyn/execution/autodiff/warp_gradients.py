"""Calls under a `warp.Tape`: the recorded adjoint as an entry of the tape.

Warp has no public way to ask which tape is recording: `with warp.Tape() as tape` sets
`warp._src.context.runtime.tape`, and launches read it there. A call needs this tape, because Warp
itself launches the user's loss, and both gradients must be on the same tape. The name is read in
one place, by `getattr`: a version of Warp without it records nothing instead of failing, and
tests/execution/autodiff/test_warp_gradients.py reports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp
from warp._src import context

from ...arrays.stacking import shape_of
from ..launch.batch_shape import leading_shape
from ..request.call import Call, derive, gather, result_names


def run(call: Call, compute: Callable[[Call], Any]) -> Any:
    """Run a call, and add it to the recording tape if an array requires a gradient."""
    tape = getattr(context.runtime, "tape", None)
    inputs, gathered = gather(call)
    arrays: dict[str, Any] = {**gathered}
    wrt = [name for name, x in arrays.items() if isinstance(x, wp.array) and x.requires_grad]
    if tape is None or not wrt:
        return compute(call)
    outs = call.out if isinstance(call.out, (tuple, list)) else (call.out,)
    # The adjoint reads the inputs later, so results must not overwrite them.
    places = {x.ptr: name for name, x in arrays.items() if isinstance(x, wp.array)}
    over = [places[out.ptr] for out in outs if isinstance(out, wp.array) and out.ptr in places]
    if over:
        raise ValueError(
            f"out is {over[0]}, which the gradient still has to read; pass another array while a "
            "tape records"
        )
    lead, _ = leading_shape(call, inputs, {name: shape_of(x) for name, x in arrays.items()})
    outcome = compute(call)
    results = dict(
        zip(result_names(call), outcome if isinstance(outcome, tuple) else (outcome,), strict=True)
    )
    for result in results.values():
        result.requires_grad = True

    def backward() -> None:
        seeds = {name: result.grad for name, result in results.items()}
        solution = None if call.derivatives else next(iter(results.values()))
        bars = [
            wp.empty(
                (*(() if inputs[name].table else lead), *inputs[name].shape),
                dtype=arrays[name].dtype,
                device=arrays[name].device,
            )
            for name in wrt
        ]
        compute(derive(call, "vjp", wrt, seeds, solution, tuple(bars)))
        for name, bar in zip(wrt, bars, strict=True):
            _add(bar, arrays[name].grad)

    tape.record_func(backward, [*(arrays[name] for name in wrt), *results.values()])
    return outcome


def _add(bar: wp.array, total: wp.array) -> None:
    """Add to the tape's sum so far; for a slice that serves all environments, the sum over them."""
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
