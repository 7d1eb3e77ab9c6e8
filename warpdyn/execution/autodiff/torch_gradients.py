"""Calls inside Torch: `backward`, forward mode, the transforms of `torch.func`, `torch.compile`.

A call is one Torch operation. Its adjoint is the recorded "vjp" call, its tangent the recorded
"jvp" call, and a mapped dimension is one more dimension of environments. All three are operations
themselves, so Torch can take derivatives of derivatives. When Torch traces, the launch is an
operator of Torch's dispatcher, with a rule for the shapes of its results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from ...arrays.torch_arrays import LIBRARY as TORCH
from ...arrays.torch_arrays import followers, tracing, transforms
from ...model import Model
from ...model.params import Params
from ..launch.batch_shape import all_in_rows, with_leading
from ..launch.job import Job
from ..request.call import Call, arguments_in_order, derive, gather, result_names, tables_of
from ..request.evaluate import record_call
from .torch_hooks import run_without_compiler

Launch = Callable[[Call], Job]
"""Function that checks and launches a call."""

Tensor = torch.Tensor

INSTEAD = "leave it out, or call under torch.no_grad()"


def run(call: Call, launch: Launch) -> Any:
    """Run a call, as a Torch operation if a tensor is differentiated, mapped or traced."""
    inputs, arrays = gather(call)
    # Nearly all calls have only plain tensors, so this case is checked first.
    unusual = [x for x in arrays.values() if type(x) is not Tensor or x.requires_grad]
    if not ((unusual and (_need_grad(unusual) or _without_memory(unusual))) or not TORCH.at_rest()):
        results = launch(call).user_result()
        if call.out is not None:
            outs = call.out if isinstance(call.out, (tuple, list)) else (call.out,)
            TORCH.mark_written(outs)
        return results
    if call.out is not None:
        where = "torch.func" if transforms() else "a gradient"
        raise TypeError(f"out= cannot take part in {where}; {INSTEAD}")
    order = arguments_in_order(call)
    rows, lead = all_in_rows(replace(call, arrays=arrays, inputs=inputs, order=order))
    results = _run_in_graph(rows, launch)
    if len(lead) < 2:
        return results
    several = isinstance(results, tuple)
    shaped = with_leading(results if several else [results], lead)
    return tuple(shaped) if several else shaped[0]


def _need_grad(arrays: Iterable[Any]) -> bool:
    """True if one of the arrays requires a gradient."""
    return torch.is_grad_enabled() and any(
        isinstance(x, Tensor) and x.requires_grad for x in arrays
    )


def _without_memory(arrays: Iterable[Any]) -> bool:
    """True if one of the arrays is a stand-in for a tensor, such as a tracer's."""
    return any(
        isinstance(x, Tensor) and type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__
        for x in arrays
    )


@dataclass(eq=False)
class Operation:
    """A call whose tensors are passed each time: `names` lists these inputs. Other inputs, plain
    numbers that serve all environments, are taken from the call."""

    call: Call
    launch: Launch
    names: tuple[str, ...]

    def call_with(self, tensors: Iterable[Tensor]) -> Call:
        """The call with these tensors."""
        arrays = {**self.call.arrays, **dict(zip(self.names, tensors, strict=True))}
        return replace(self.call, arrays=arrays)

    def carried_out(self, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The results of a launch or, for a tracer, of the operator that represents it."""
        unusual = [x for x in tensors if type(x) is not Tensor]
        if followers() or tracing() or _without_memory(unusual):
            return launch_by_operator(self, tensors)
        results = self.launch(self.call_with(tensors)).user_result()
        return results if isinstance(results, tuple) else (results,)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of one environment's slices of the tensors."""
        inputs = gather(self.call)[0]
        return [inputs[name].shape for name in self.names]

    def batch_shape(self, tensors: Sequence[Tensor]) -> torch.Size:
        """The dimensions of environments, from the tensor that has the most."""
        return max(
            (x.shape[: x.ndim - len(s)] for x, s in zip(tensors, self.shapes, strict=True)), key=len
        )


def _run_in_graph(call: Call, launch: Launch) -> Any:
    """A call with all its inputs among its arrays, as an operation."""
    names, tensors = [], []
    for name, x in call.arrays.items():
        if isinstance(x, Tensor):
            names.append(name)
            tensors.append(x)
    results = _apply(Operation(call, launch, tuple(names)), *tensors)
    return results if len(results) > 1 else results[0]


def _apply(operation: Operation, *tensors: Tensor) -> tuple[Tensor, ...]:
    results: tuple[Tensor, ...] = (_FuncCallNode if transforms() else _CallNode).apply(
        operation, *tensors
    )
    return results


class _CallNode(torch.autograd.Function):
    """A call as a node of Torch's graph; the results of its passes are nodes too."""

    @staticmethod
    def forward(ctx: Any, operation: Operation, *tensors: Tensor) -> tuple[Tensor, ...]:
        results = operation.carried_out(tensors)
        _keep(ctx, operation, tensors, results)
        return results

    @staticmethod
    def _call(ctx: Any) -> tuple[Call, Tensor | None, list[Tensor]]:
        """The call of a pass, its solution if it solves a system, and its tensors."""
        *tensors, solution = ctx.saved_tensors if ctx.solves else (*ctx.saved_tensors, None)
        return ctx.operation.call_with(tensors), solution, tensors

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        names = ctx.operation.names
        call, solution, tensors = _CallNode._call(ctx)
        wrt = [n for n, needed in zip(names, ctx.needs_input_grad[1:], strict=True) if needed]
        if not wrt or all(w is None for w in cotangents):
            return (None,) * (1 + len(names))
        # Missing gradients become zeros, so that one program serves for any choice of results.
        like = next(w for w in cotangents if w is not None)
        given = [
            like.new_zeros(shape) if w is None else w
            for w, shape in zip(cotangents, ctx.shapes, strict=True)
        ]
        seeds = dict(zip(result_names(call), given, strict=True))
        bars = _run_in_graph(derive(call, "vjp", wrt, seeds, solution), ctx.operation.launch)
        named = dict(zip(wrt, bars if len(wrt) > 1 else (bars,), strict=True))
        return None, *(sum_shared(named.get(n), x) for n, x in zip(names, tensors, strict=True))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor | None) -> Any:
        names, shapes = ctx.operation.names, ctx.operation.shapes
        call, solution, tensors = _CallNode._call(ctx)
        rows = ctx.operation.batch_shape(tensors)
        # An array that serves all environments has the same tangent for each.
        tables = tables_of(call)
        moving = {
            n: t if n in tables else t.expand(*rows, *shape)
            for n, t, shape in zip(names, tangents, shapes, strict=True)
            if t is not None
        }
        if not moving:
            return (None,) * len(result_names(call))
        moved = _run_in_graph(
            derive(call, "jvp", tuple(moving), moving, solution), ctx.operation.launch
        )
        return moved if isinstance(moved, tuple) else (moved,)


def _keep(
    ctx: Any, operation: Operation, tensors: Sequence[Tensor], results: Sequence[Tensor]
) -> None:
    """Keep the arrays that the passes read."""
    ctx.operation, call = operation, operation.call
    ctx.solves = call.solves is not None and not call.derivatives
    ctx.shapes = [x.shape for x in results]
    kept = (*tensors, *(results if ctx.solves else ()))
    ctx.save_for_backward(*kept)
    if forward_ad._current_level >= 0:
        ctx.save_for_forward(*kept)
    ctx.set_materialize_grads(False)


class _FuncCallNode(_CallNode):
    """The same node in the form that torch.func needs, which takes 50 % longer."""

    @staticmethod
    def forward(  # type: ignore[override]
        operation: Operation, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        return operation.carried_out(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        operation, *tensors = inputs
        _keep(ctx, operation, tensors, output)

    @staticmethod
    def vmap(
        info: Any, in_dims: Sequence[int | None], operation: Operation, *tensors: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """The mapped dimension becomes one of environments: (N, B, ..) is computed as (N B, ..)."""
        inputs = list(gather(operation.call)[0].values())
        records = [x for x in inputs if x.name in operation.names]
        axes = in_dims[1:]
        moved = [
            x[None] if axis is None else x.movedim(axis, 0)
            for x, axis in zip(tensors, axes, strict=True)
        ]
        ranks = [x.ndim - len(r.shape) for x, r in zip(moved, records, strict=True)]
        rows = (info.batch_size, *moved[ranks.index(max(ranks))].shape[1 : max(ranks)])
        flat = []
        for x, axis, record, rank in zip(moved, axes, records, ranks, strict=True):
            if axis is None and rank == 1:
                flat.append(x[0])  # still serves all environments and is not repeated
                continue
            # An array that serves the rows of one of N, or one row in all N, is repeated.
            x = x[(slice(None), *[None] * (len(rows) - rank))]
            flat.append(x.expand(*rows, *record.shape).reshape(prod(rows), *record.shape))
        results = _apply(operation, *flat)
        return tuple(x.reshape(*rows, *x.shape[1:]) for x in results), (0,) * len(results)


def sum_shared(bar: Tensor | None, x: Tensor) -> Tensor | None:
    """The cotangent of an input; for a slice that serves all environments, the sum over them."""
    if bar is None or bar.ndim == x.ndim:
        return bar
    return bar.sum(tuple(range(bar.ndim - x.ndim)))


traced: dict[str, Operation] = {}
"""Traced operations, without their arrays, by their names in the graph."""


def launch_by_operator(operation: Operation, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The results, from the operator of `torch_operator`, which a traced graph then calls."""
    call = operation.call
    inputs, arrays = gather(operation.call_with(tensors))
    for name, x in arrays.items():
        if not isinstance(x, Tensor):
            if not (inputs[name].plain and getattr(x, "ndim", 1) == 1):
                raise TypeError(
                    f"all arrays of a call must be of one library: {inputs[name].label} is not a "
                    "Torch tensor; convert it"
                )
            like = tensors[0]
            arrays[name] = torch.as_tensor(x, dtype=like.dtype, device=like.device)
    shapes = {name: x.shape for name, x in inputs.items()}
    # Two kernels of a user may have the same name, so the program is part of the key.
    own = "" if call.identity is None else record_call(call, shapes, True).listing()
    content = repr((call.model.key, call.key, shapes, own))
    program = f"{call.name} of {call.model.name} {sha256(content.encode()).hexdigest()[:16]}"
    if program not in traced:
        params = call.params and replace(call.params, arrays={}, gravity=None)
        bare = replace(call, arrays={}, forces=call.forces and (None, None), params=params)
        traced[program] = Operation(bare, operation.launch, tuple(arrays))
    return tuple(torch.ops.warpdyn.launch(program, list(arrays.values())))


# Torch's compiler follows Python code. For a public function (`batched`) it calls `traceable_call`,
# which it treats as one step. Inside, calls are described and gathered as usual.

_kept: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Models and functions by the names that represent them in a compiled graph."""

_numbers = count()


def _name_of(x: Any) -> str:
    name = next((name for name, each in _kept.items() if each is x), None)
    if name is None:
        name = f"{type(x).__name__} {next(_numbers)}"
        _kept[name] = x
    return name


# The compiler of Torch 2.11 passes only constants to a function that it does not follow. `id` is a
# constant as long as the object is the same.


def _object_at(address: int) -> Any:
    return ctypes.cast(address, ctypes.py_object).value


def _name_at(address: int) -> str:
    return _name_of(_object_at(address))


def _whole(x: Any) -> tuple[list[Any], str]:
    return [], _name_at(id(x))


def _by_name(_: Any, name: str) -> Any:
    return _kept[name]


def _parts_of_params(params: Params) -> tuple[list[Any], tuple]:
    gravity = [] if params.gravity is None else [params.gravity]
    return [params.model, list(params.arrays.values()), gravity], tuple(params.names.items())


def _params_of(parts: Iterable[Any], names: tuple) -> Params:
    model, arrays, gravity = parts
    quantities = [quantity for quantity, _ in names]
    return Params(model, dict(zip(quantities, arrays, strict=True)), dict(names), *gravity)


def _result(function: Callable[..., Any], given: dict[Any, Any], absent: Sequence[Any]) -> Any:
    """The function's result; `given` are its arguments, positional ones by their index, except
    those in `absent`, which are None."""
    given = {**given, **dict.fromkeys(absent)}
    words = {name: x for name, x in given.items() if isinstance(name, str)}
    results = function(*(given[k] for k in range(len(given) - len(words))), **words)
    if hasattr(results, "_fields"):
        _record_types[function] = type(results)
    return results if isinstance(results, Tensor) else tuple(results)


_step = _result

_record_types: dict[Callable[..., Any], type] = {}
"""Types of results with named fields, by function. A node of Torch's compiler gives plain tuples."""


def _record_type(address: int) -> type | None:
    return _record_types.get(_object_at(address))


_prepared: set[type] = set()
"""Kinds of public functions that are registered with Torch's compiler."""


def prepare(function: type) -> bool:
    """Make `_step` one step for Torch's compiler, with models, Params and public functions among
    its arguments. The compiler calls this itself while it follows code, so that programs without it
    need not import it. A call that cannot be this step breaks the graph, and runs uncompiled."""
    global _step
    run_without_compiler(function.__call__)
    if _step is _result:
        pytree.register_pytree_node(Model, _whole, _by_name)
        pytree.register_pytree_node(Params, _parts_of_params, _params_of)
        _step = torch._dynamo.nonstrict_trace(_result)
    if function not in _prepared:
        _prepared.add(function)
        pytree.register_pytree_node(function, _whole, _by_name)
    return True


def traceable_call(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Substitute for a call of a public function, which Torch's compiler follows."""
    given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    if given.get("out") is not None:
        raise TypeError(f"out= cannot take part in torch.compile; {INSTEAD}")
    absent = [name for name, x in given.items() if x is None]
    results = _step(function, {name: x for name, x in given.items() if x is not None}, absent)
    record = _record_type(id(function))
    return results if record is None else tuple.__new__(record, results)


for each in (_name_at, _record_type, prepare):  # the compiler calls these but does not follow them
    each._dynamo_marked_constant = True  # type: ignore[union-attr]
