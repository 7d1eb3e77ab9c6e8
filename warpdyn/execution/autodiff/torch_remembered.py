"""Calls that Torch differentiates and that were made before: a launch forward, and one backward.

What `torch_gradients` finds step by step is found once: the launch of the call, and that of its
adjoint. Small ones then go by C functions (`torch_native`), what these do not know by `adjoint`. A
backward pass that is itself followed, for derivatives of derivatives or by a transform, goes by the
operations of `torch_gradients`.

Few statements matter here as much as fast ones. An `autograd.Function` of three tensors that does
nothing, forward and backward, takes 75 us by itself and 96 around two bound kernels, after which
processors that have AVX-512 run all else slower for a while; this takes 135, and the way of
`torch_gradients` 600 (one core of an Intel Xeon at 2.5 GHz, Torch 2.13). On an AMD EPYC, in turns: 46
around the kernels, 68 by this, 46 by the C functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from ...arrays import Array
from ...arrays.torch_arrays import LIBRARY as TORCH
from ...model import Model
from ...model.params import Params
from ..launch.job import Job
from ..repeat.c_functions import Words
from ..repeat.remembered import MISS, Key, KnownCall, known_call
from ..repeat.torch_native import Node, apply
from ..request.call import Call, derived, gathered, result_names
from .torch_gradients import run, summed

Tensor = torch.Tensor

MOST = 16
"""Backward passes that a call remembers, by the kinds of what they read."""


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
    tensors = [x for x in arrays if isinstance(x, Tensor) and TORCH.readable(x)]
    if len(tensors) < len(arrays):
        return None
    with torch.no_grad():
        forward = known_call(call, computed(call), arrays, given, forget)
    if not isinstance(forward, KnownCall):
        return None
    return DifferentiatedCall(call, computed, forward, tensors)


class DifferentiatedCall:
    """How a call by tensors that require gradients is carried out on others of the same kinds."""

    def __init__(
        self,
        call: Call,
        computed: Callable[[Call], Job],
        forward: KnownCall,
        tensors: Sequence[Tensor],
    ):
        self.forward, self._computed = forward, computed
        self.solves = call.solves is not None and not call.derivatives
        whole, names = gathered(call), forward.read
        # Without model and tensors, which are not to live as long as what is remembered of them.
        numbers = {n: None if n in names else x for n, x in whole.arrays.items()}
        self._bare = replace(
            whole, arrays=numbers, gravity=None, f_ext=None, params=None, refuse=None
        )
        self._bare.model = None  # type: ignore[assignment]
        self._varying = None if call.params is None else call.params.names
        asked = {n for n, x in zip(names, tensors, strict=True) if x.requires_grad}
        self._wrt = [n for n in numbers if n in asked]
        """Inputs by which there are gradients, in the order of the program."""
        self._order = [self._wrt.index(n) if n in asked else None for n in names]
        """Which result of a backward pass is the cotangent of each tensor."""
        inputs, rows = whole.inputs or {}, len(forward.lead)
        self._unsummed = all(
            x.ndim == rows + len(inputs[n].shape)
            for n, x in zip(names, tensors, strict=True)
            if n in asked
        )
        """Whether no tensor that asks for a gradient serves several environments."""
        self._direct = self._unsummed and self._order == [*range(len(names))]
        """Whether the results are the cotangents of all tensors one by one."""
        self._adjoints: dict[Key, KnownCall] = {}
        self._node: Node | None = None

    def native(self, launch: Words) -> tuple[Any, Words] | None:
        """The node of such a call by C functions, as of `DifferentiatedPlan`."""
        made = apply()
        if made is None:
            return None
        self._node = Node(self, launch, self.solves)
        return made, self._node.words

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """The results for tensors of the same kinds; `MISS` where something is out of order."""
        forward = self.forward
        model, where = forward.models[0](), forward.where(tensors)
        if where is MISS:
            return MISS
        return forward.handed_out(_apply((self, model, where), *tensors))

    def adjoint(
        self, model: Model, tensors: Sequence[Tensor], cotangents: Sequence[Tensor]
    ) -> Sequence[Tensor | None]:
        """Cotangents of the tensors; None of those that ask for none.

        tensors: those of the call, and its solution if it solves a system.
        """
        # Those that are kept too, as hooks of the user's may lay them out anew.
        kinds = (*map(_sort, tensors), *map(_sort, cotangents))
        bars, known = MISS, self._adjoints.get(kinds)
        if known is not None and not torch.is_grad_enabled():
            arrays = (*tensors, *cotangents)
            where = known.where(arrays)
            if where is not MISS:
                bars = known.launched(where, arrays)
        if bars is MISS:
            bars = self._checked(model, kinds, tensors, cotangents)
        if self._direct:
            return bars  # type: ignore[no-any-return]
        pairs = zip(self._order, tensors, strict=False)
        # Summed where one slice serves all environments.
        return [None if k is None else summed(bars[k], x) for k, x in pairs]

    def _checked(
        self, model: Model, kinds: Key, tensors: Sequence[Tensor], cotangents: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """The results of a backward pass, as `torch_gradients` has them; how is known from now on."""
        names = self.forward.read
        arrays = {**self._bare.arrays, **dict(zip(names, tensors, strict=False))}
        params = None if self._varying is None else Params(model, {}, self._varying)
        call = replace(self._bare, model=model, arrays=arrays, params=params)
        seeds = dict(zip(result_names(call), cotangents, strict=True))
        call = derived(call, "vjp", self._wrt, seeds, tensors[-1] if self.solves else None)
        if torch.is_grad_enabled() or not TORCH.at_rest():
            bars = run(call, lambda call: self._computed(call).handed_back())
        else:
            job = self._computed(call)
            bars = job.handed_back()
            if all(kinds):
                names = [*names, *[*call.arrays][len(arrays) :]]
                given = dict(zip(names, (*tensors, *cotangents), strict=True))
                known = known_call(call, job, [*given.values()], given, forget=lambda _: None)
                if len(self._adjoints) >= MOST:
                    self._adjoints.clear()
                if isinstance(known, KnownCall):
                    self._adjoints[kinds] = known
                    if self._node is not None and self._unsummed:
                        self._node.know(known, tensors, cotangents, self._order)
        return bars if len(self._wrt) > 1 else (bars,)


class _Remembered(torch.autograd.Function):
    """A call that was made before as a node of Torch's graph."""

    @staticmethod
    def forward(
        ctx: Any, known_at: tuple[DifferentiatedCall, Model, list[int]], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        known, ctx.model, where = known_at
        results: Any = tuple(known.forward.launched(where, tensors))
        ctx.known = known
        ctx.save_for_backward(*tensors, *(results[:1] if known.solves else ()))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        return None, *ctx.known.adjoint(ctx.model, ctx.saved_tensors, cotangents)


_sort = TORCH.sort

_apply: Any = super(torch.autograd.Function, _Remembered).apply
"""Without the look for transforms that are at work, of which there are none."""
