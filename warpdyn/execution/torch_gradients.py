"""Calls inside `torch.autograd`: gradients, and gradients of gradients, by the recorded adjoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from .call import Call, derived, gather, result_names
from .leading import all_in_rows, with_leading


def run(call: Call, compute: Callable[[Call], Any]) -> Any:
    """Carry out a call, as part of Torch's graph where an array requires a gradient."""
    _, arrays = gather(call)
    tensors = [x for x in arrays.values() if isinstance(x, torch.Tensor) and x.requires_grad]
    if not tensors or not torch.is_grad_enabled():
        results = compute(call)
        if call.out is not None:
            _changed(call.out if isinstance(call.out, (tuple, list)) else (call.out,))
        return results
    if call.out is not None:
        raise TypeError(
            "out= cannot take part in a gradient; leave it away, or call under torch.no_grad()"
        )
    rows, lead = all_in_rows(call)
    results = _applied(rows, compute)
    if len(lead) < 2:
        return results
    if isinstance(results, tuple):
        return tuple(with_leading(results, lead))
    return with_leading([results], lead)[0]


def _changed(outs: Sequence[torch.Tensor]) -> None:
    """Tell Torch that tensors have other values, so that a backward pass that reads the old ones raises."""
    for out in outs:
        if not out.is_inference():
            torch.autograd.graph.increment_version(out)


def _applied(call: Call, compute: Callable[[Call], Any]) -> Any:
    results = _Recorded.apply(call, compute, tuple(call.arrays), *call.arrays.values())
    return results if len(result_names(call)) > 1 else results[0]


class _Recorded(torch.autograd.Function):
    """A call as a node of Torch's graph; its backward pass is one too."""

    @staticmethod
    def forward(
        ctx: Any, call: Call, compute: Callable[[Call], Any], names: tuple[str, ...], *arrays: Any
    ) -> Any:
        results = compute(replace(call, arrays=dict(zip(names, arrays, strict=True))))
        results = results if isinstance(results, tuple) else (results,)
        tensors = [x if isinstance(x, torch.Tensor) else torch.empty(0) for x in arrays]
        solution = results[:1] if call.solves and not call.derivatives else ()
        ctx.save_for_backward(*tensors, *solution)
        ctx.call, ctx.compute, ctx.names = call, compute, names
        ctx.plain = {
            n: x for n, x in zip(names, arrays, strict=True) if not isinstance(x, torch.Tensor)
        }
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        count = len(ctx.names)
        arrays = {**dict(zip(ctx.names, ctx.saved_tensors[:count], strict=True)), **ctx.plain}
        solution = ctx.saved_tensors[count] if len(ctx.saved_tensors) > count else None
        wrt = [n for n, needed in zip(ctx.names, ctx.needs_input_grad[3:], strict=True) if needed]
        call = replace(ctx.call, arrays=arrays)
        seeds = dict(zip(result_names(call), cotangents, strict=True))
        bars = _applied(derived(call, "vjp", wrt, seeds, solution), ctx.compute)
        named = dict(zip(wrt, bars if len(wrt) > 1 else (bars,), strict=True))
        return None, None, None, *(_summed(named.get(n), arrays[n]) for n in ctx.names)


def _summed(bar: torch.Tensor | None, x: Any) -> torch.Tensor | None:
    """The cotangent of an input; where one slice serves all environments, the sum over them."""
    return bar.sum(0) if bar is not None and bar.ndim > x.ndim else bar
