"""Calls as an operator of Torch's dispatcher, for graphs that Torch traces and compiles.

When Torch traces, tensors have shapes but no numbers. Its graph then calls the operator. All programs
share one operator, which finds them by name. A call with tensors of the same kinds is checked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from ..compile.compiling import collecting
from ..config import config
from ..repeat.planned_call import MISS, LaunchPlan, plan_launch
from ..request.evaluate import result_shapes
from .torch_gradients import traced

Tensor = torch.Tensor

MOST = 512
"""Number of plans that are kept before all are cleared."""

Kinds = tuple[Any, ...]
"""A program's name, and the dtype, device, shape and strides of each tensor."""

_plans: dict[Kinds, LaunchPlan] = {}
"""Launches that need no second check."""

_operators = torch.library.Library("warpdyn", "DEF")
_operators.define("launch(str program, Tensor[] arrays) -> Tensor[]")


def _empty_results(program: str, arrays: Sequence[Tensor]) -> list[Tensor]:
    operation = traced[program]
    rows = operation.batch_shape(arrays)
    shapes = result_shapes(operation.call_with(arrays)).values()
    return [arrays[0].new_empty((*rows, *shape)) for shape in shapes]


def _launch(program: str, arrays: list[Tensor]) -> list[Tensor]:
    operation = traced[program]
    kinds = (program, *[(x.dtype, x.device, x.shape, x.stride()) for x in arrays])
    plan = _plans.get(kinds)
    plain = not (config.debug or collecting())
    if plan is not None and plain:
        addresses = plan.addresses(arrays)
        if addresses is not MISS:
            planned: list[Any] = plan.launch(addresses, arrays)
            return planned
    call = operation.call_with(arrays)
    job = operation.launch(call)
    results = job.user_result()
    results = list(results) if isinstance(results, tuple) else [results]
    rows = [x.contiguous() for x in results]  # as Torch expects them from `_empty_results`
    if plain and plan is None and all(x is y for x, y in zip(rows, results, strict=True)):
        plan = plan_launch(call, job, arrays, operation.names, partial(_forget, kinds))
        if plan is not None:
            if len(_plans) >= MOST:
                _plans.clear()
            _plans[kinds] = plan
    return rows


def _forget(kinds: Kinds, _: object) -> None:
    """Forget a plan, because its model has been freed."""
    _plans.pop(kinds, None)


_operators.impl("launch", _launch, "CompositeExplicitAutograd")
torch.library.register_fake("warpdyn::launch", _empty_results, lib=_operators)
