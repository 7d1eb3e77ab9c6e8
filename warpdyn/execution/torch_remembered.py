"""Calls that Torch differentiates and that were made before: a launch forward, and one backward.

What `torch_gradients` finds step by step is found once: the launch of the call, and that of its
adjoint. A backward pass that is itself followed, for derivatives of derivatives or by a transform,
goes by the operations of `torch_gradients`.

An `autograd.Function` that computes nothing, forward and backward, takes 67 us, and 91 beside a
launch of one robot, after which processors with AVX-512 run all else slower for a while (one core of
an Intel Xeon at 2.5 GHz, Torch 2.13, of which `grad(2 * x, x)` takes 57). What is done here comes on
top: few statements are as good as fast ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, NamedTuple

import torch

from ..arrays import Array
from ..arrays.torch_arrays import LIBRARY as TORCH
from ..model import Model
from ..model.params import Params
from .call import Call, derived, gathered, result_names
from .job import Job
from .remembered import MISS, Key, KnownCall, known_call
from .torch_gradients import run, summed

Tensor = torch.Tensor

MOST = 16
"""Backward passes that a call remembers, by what is asked for and the kinds of the cotangents."""


def differentiated(
    call: Call,
    computed: Callable[[Call], Job],
    arrays: Sequence[Array],
    given: Mapping[str, Any],
    forget: Callable[[object], Any],
) -> DifferentiatedCall | None:
    """What is known of calls like this one, by tensors that require gradients; arguments and None
    as of `known_call`.

    computed: checks and launches a call.
    """
    with torch.no_grad():
        forward = known_call(call, computed(call), arrays, given, forget)
    return None if forward is None else DifferentiatedCall(call, computed, forward)


class _Adjoint(NamedTuple):
    """A backward pass that was made before."""

    launch: KnownCall
    order: tuple[int | None, ...]
    """Which result is the cotangent of each tensor."""
    direct: bool
    """Whether the results are the cotangents of all tensors, one by one."""


class DifferentiatedCall:
    """How a call by tensors that require gradients is carried out on others of the same kinds."""

    def __init__(self, call: Call, computed: Callable[[Call], Job], forward: KnownCall):
        self.forward, self._computed = forward, computed
        self._names, self._results = forward.read, result_names(call)
        self.solves = call.solves is not None and not call.derivatives
        # Without model and tensors, which are not to live as long as what is remembered of them.
        whole = gathered(call)
        numbers = {n: None if n in self._names else x for n, x in whole.arrays.items()}
        self._bare: Any = replace(whole, arrays=numbers, params=None, refuse=None)
        self._bare.model = None
        self._varying = call.params and call.params.names
        self.adjoints: dict[Key, _Adjoint] = {}

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """The results for tensors of the same kinds; `MISS` where something is out of order."""
        forward = self.forward
        model, where = forward.models[0](), forward.where(tensors)
        if where is MISS:
            return MISS
        return forward.handed_out(_apply((self, model, where), *tensors))

    def adjoint(
        self, model: Model, kinds: Key, tensors: Sequence[Tensor], cotangents: Sequence[Tensor]
    ) -> list[Tensor | None]:
        """Cotangents of the tensors as `torch_gradients` has them; how is known from now on.

        kinds: which of the node's arguments ask, and of which kinds the cotangents are. tensors:
        those of the call, and its solution if it solves a system.
        """
        names, asked = self._names, kinds[0][1:]
        numbers = dict(zip(names, tensors, strict=False))
        arrays = {**self._bare.arrays, **numbers}
        params = None if self._varying is None else Params(model, {}, self._varying)
        call = replace(self._bare, model=model, arrays=arrays, params=params)
        wrt = [n for n in arrays if n in numbers and asked[names.index(n)]]
        if not wrt:
            return [None] * len(names)
        seeds = dict(zip(self._results, cotangents, strict=True))
        call = derived(call, "vjp", wrt, seeds, tensors[-1] if self.solves else None)
        order = tuple(wrt.index(n) if n in wrt else None for n in names)
        if torch.is_grad_enabled() or not TORCH.at_rest():
            job, bars = None, run(call, lambda call: self._computed(call).handed_back())
        else:
            job = self._computed(call)
            bars = job.handed_back()
        bars = bars if len(wrt) > 1 else (bars,)
        found = _ordered(order, bars, tensors)
        if job is not None and all(kinds[1:]):
            more = [*call.arrays][len(arrays) :]
            given = dict(zip((*names, *more), (*tensors, *cotangents), strict=True))
            launch = known_call(call, job, [*given.values()], given, forget=lambda _: None)
            if launch is not None:
                if len(self.adjoints) >= MOST:
                    self.adjoints.clear()
                direct = len(found) == len(bars) and all(map(is_, found, bars))
                self.adjoints[kinds] = _Adjoint(launch, order, direct)
        return found


def _ordered(
    order: Sequence[int | None], bars: Sequence[Tensor], tensors: Sequence[Tensor]
) -> list[Tensor | None]:
    """The cotangent of each tensor; summed where one slice serves all environments."""
    pairs = zip(order, tensors, strict=False)
    return [None if k is None else summed(bars[k], x) for k, x in pairs]


class _Remembered(torch.autograd.Function):
    """A call that was made before as a node of Torch's graph."""

    @staticmethod
    def forward(
        ctx: Any, known_at: tuple[DifferentiatedCall, Model, list[int]], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        known, _, where = ctx.known_at = known_at
        results: Any = tuple(known.forward.launched(where, tensors))
        ctx.save_for_backward(*tensors, *(results[:1] if known.solves else ()))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        known, model, _ = ctx.known_at
        tensors, kinds = ctx.saved_tensors, (ctx.needs_input_grad, *map(_sort, cotangents))
        adjoint = known.adjoints.get(kinds)
        if adjoint is not None and not torch.is_grad_enabled():
            arrays = (*tensors, *cotangents)
            where = adjoint.launch.where(arrays)
            if where is not MISS:
                bars = adjoint.launch.launched(where, arrays)
                return None, *(bars if adjoint.direct else _ordered(adjoint.order, bars, tensors))
        return None, *known.adjoint(model, kinds, tensors, cotangents)


_sort = TORCH.sort

_apply: Any = super(torch.autograd.Function, _Remembered).apply
"""Without the look for transforms that are at work, of which there are none."""
