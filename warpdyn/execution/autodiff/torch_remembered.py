"""Repeated calls that Torch differentiates: one launch forward, and one backward.

The launches of a call and of its adjoint, which `torch_gradients` finds step by step, are found
once and remembered. Small calls then use C functions (`torch_native`). Passes that these do not
support use `adjoint`. A backward pass that is differentiated itself, for higher derivatives or by a
transform, uses the operations of `torch_gradients`.

In this module the number of statements matters as much as their speed. An `autograd.Function` of
three tensors that does nothing, forward and backward, takes 75 us by itself and 96 around two bound
kernels, after which processors with AVX-512 run all other code slower for a while. This module
takes 135, and `torch_gradients` 600 (one core of an Intel Xeon at 2.5 GHz, Torch 2.13). On an AMD
EPYC, in alternating measurements: 46 us around the kernels, 68 with this module, 46 with the C
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from ...arrays import Array
from ...arrays.torch_arrays import LIBRARY as TORCH
from ...model.params import Params
from ...model.structure import Structure
from ..launch.job import Job
from ..repeat.call_key import Key
from ..repeat.planned_call import MISS, DifferentiatedPlan, LaunchPlan, plan_launch
from ..request.call import Call, derive, result_names, with_all_inputs
from .torch_gradients import run, sum_shared
from .torch_hooks import apply_directly

Tensor = torch.Tensor

MOST = 16
"""Number of backward passes that a call remembers, by the kinds of arrays that they read."""


def differentiated_call(
    call: Call,
    computed: Callable[[Call], Job],
    arrays: Sequence[Array],
    names: Sequence[str],
    forget: Callable[[object], Any],
) -> DifferentiatedCall | None:
    """The remembered call for calls like this one, with tensors that require gradients; arguments
    and None as in `plan_launch`.

    computed: function that checks and launches a call.
    """
    tensors = [x for x in arrays if isinstance(x, Tensor) and TORCH.readable(x)]
    if len(tensors) < len(arrays):
        return None
    with torch.no_grad():
        forward = plan_launch(call, computed(call), arrays, names, forget)
    if not isinstance(forward, LaunchPlan):
        return None
    return DifferentiatedCall(call, computed, forward, tensors)


class DifferentiatedCall(DifferentiatedPlan):
    """A remembered call with tensors that require gradients, for other tensors of the same
    kinds."""

    def __init__(
        self,
        call: Call,
        computed: Callable[[Call], Job],
        forward: LaunchPlan,
        tensors: Sequence[Tensor],
    ):
        self.forward, self._computed = forward, computed
        self.solves = call.solves is not None and not call.derivatives
        whole, names = with_all_inputs(call), forward.read
        # The model and the tensors are left out, because this object must not keep them alive.
        numbers = {n: None if n in names else x for n, x in whole.arrays.items()}
        forces = call.forces and (None, None)
        self._bare = replace(whole, arrays=numbers, forces=forces, params=None, refuse=None)
        self._bare.model = None  # type: ignore[assignment]
        self._varying = None if call.params is None else call.params.names
        asked = {n for n, x in zip(names, tensors, strict=True) if x.requires_grad}
        self._wrt = [n for n in numbers if n in asked]
        """Inputs with gradients, in the order of the program."""
        self._order = [self._wrt.index(n) if n in asked else None for n in names]
        """Index of the backward pass's result that is the cotangent of each tensor."""
        inputs, rows = whole.inputs or {}, len(forward.lead)
        self._unsummed = all(
            x.ndim == rows + len(inputs[n].shape)
            for n, x in zip(names, tensors, strict=True)
            if n in asked
        )
        """True if no tensor that needs a gradient serves several environments."""
        self._direct = self._unsummed and self._order == [*range(len(names))]
        """True if the results are the cotangents of all tensors, one by one."""
        self._adjoints: dict[Key, LaunchPlan] = {}

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """The results for tensors of the same kinds; `MISS` if they cannot be used."""
        forward = self.forward
        model, where = forward.models[0](), forward.addresses(tensors)
        if where is MISS:
            return MISS
        return forward.user_result(_apply((self, model, where), *tensors))

    def adjoint(
        self, model: Structure, tensors: Sequence[Tensor], cotangents: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        """Cotangents of the tensors; None for tensors without a gradient.

        tensors: those of the call, and its solution if it solves a system.
        """
        # The kinds of the saved tensors count too, because the user's hooks may change their
        # layout.
        kinds = (*map(_sort, tensors), *map(_sort, cotangents))
        bars, known = MISS, self._adjoints.get(kinds)
        if known is not None and not torch.is_grad_enabled():
            arrays = (*tensors, *cotangents)
            where = known.addresses(arrays)
            if where is not MISS:
                bars = known.launch(where, arrays)
        if bars is MISS:
            bars = self._checked_backward(model, kinds, tensors, cotangents)
        if self._direct:
            return bars  # type: ignore[no-any-return]
        pairs = zip(self._order, tensors, strict=False)
        # Summed if one slice serves all environments.
        return [None if k is None else sum_shared(bars[k], x) for k, x in pairs]

    def _checked_backward(
        self, model: Structure, kinds: Key, tensors: Sequence[Tensor], cotangents: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """The results of a backward pass, computed by `torch_gradients`. The pass is remembered."""
        names = self.forward.read
        arrays = {**self._bare.arrays, **dict(zip(names, tensors, strict=False))}
        params = None if self._varying is None else Params(model, {}, self._varying)
        call = replace(self._bare, model=model, arrays=arrays, params=params)
        seeds = dict(zip(result_names(call), cotangents, strict=True))
        call = derive(call, "vjp", self._wrt, seeds, tensors[-1] if self.solves else None)
        if torch.is_grad_enabled() or not TORCH.at_rest():
            bars = run(call, self._computed)
        else:
            job = self._computed(call)
            bars = job.user_result()
            if all(kinds):
                names = [*names, *[*call.arrays][len(arrays) :]]
                known = plan_launch(call, job, [*tensors, *cotangents], names, lambda _: None)
                if len(self._adjoints) >= MOST:
                    self._adjoints.clear()
                if isinstance(known, LaunchPlan):
                    self._adjoints[kinds] = known
                    if self.on_adjoint is not None and self._unsummed:
                        self.on_adjoint(known, tensors, cotangents, self._order)
        return bars if len(self._wrt) > 1 else (bars,)


class _RepeatedCallNode(torch.autograd.Function):
    """A repeated call as a node of Torch's graph."""

    @staticmethod
    def forward(
        ctx: Any, known_at: tuple[DifferentiatedCall, Structure, list[int]], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        known, ctx.model, where = known_at
        results: Any = tuple(known.forward.launch(where, tensors))
        ctx.known = known
        ctx.save_for_backward(*tensors, *(results if known.solves else ()))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        return None, *ctx.known.adjoint(ctx.model, ctx.saved_tensors, cotangents)


_sort = TORCH.sort

_apply = apply_directly(_RepeatedCallNode)
