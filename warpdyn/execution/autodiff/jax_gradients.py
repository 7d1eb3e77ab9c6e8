"""Calls inside `jax.jit`, `jax.vmap`, `jax.grad` and `jax.jvp`: one JAX primitive.

Its tangent is the recorded "jvp" call, and the transpose of the tangent is the recorded "vjp" call.
Both are calls themselves, so JAX can take derivatives of derivatives. On the CPU, XLA calls the
compiled kernel directly on its own buffers (`foreign_call`). On a GPU, in debug mode, and if
results are summed, the primitive is a foreign call of Warp, which runs Python code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
import warp as wp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ...arrays.jax_arrays import is_elsewhere
from ...arrays.protocol import wrong_dtype
from ...model.structure import Structure
from ..compile.compiling import collecting
from ..config import config
from ..launch.batch_shape import all_in_rows, with_leading
from ..launch.job import Job
from ..repeat.planned_call import MISS, LaunchPlan
from ..request.call import (
    Call,
    derive,
    gather,
    summed_tables,
    tables_of,
    with_all_inputs,
    without_seeds,
)
from ..request.evaluate import result_shapes
from ..request.inputs import Input
from .foreign_call import ForeignCall, handler


@dataclass(frozen=True)
class LaunchFunctions:
    """Two functions that launch a kernel: `compute` runs a call; `prepare` makes its launch, which
    XLA runs."""

    compute: Callable[[Call], Any]
    prepare: Callable[[Call], Job]


def run(call: Call, launch: LaunchFunctions) -> Any:
    """Run a call, as a JAX operation if JAX traces it or arrays are on a GPU or on several devices."""
    inputs, arrays = gather(call)
    if not any(_is_traced(x) or is_elsewhere(x) for x in arrays.values()):
        return launch.compute(call)
    if call.out is not None:
        raise TypeError("JAX arrays cannot be written in place; leave out out= and use the result")
    first_name, first = next(iter(arrays.items()))
    for name, x in arrays.items():
        if not hasattr(x, "dtype") or (inputs[name].plain and isinstance(x, np.ndarray)):
            continue  # plain numbers take the dtype of the arrays
        label = inputs[name].label
        if x.dtype not in (jnp.float32, jnp.float64):
            raise wrong_dtype(label, x.dtype, "{}.astype(jnp.float32)")
        if x.dtype != first.dtype:
            raise TypeError(
                f"all arrays of a call must be of one dtype: {first_name} is {first.dtype}, {label} "
                f"is {x.dtype}; convert {label} to {first.dtype}"
            )
    arrays = {name: jnp.asarray(x, first.dtype) for name, x in arrays.items()}
    # Shapes are checked here, where the traceback still shows the caller's line.
    rows, lead = all_in_rows(replace(with_all_inputs(call), arrays=arrays))
    if not lead:
        tables, all_arrays = tables_of(rows), rows.arrays.items()
        one = {n: x if n in tables else jnp.asarray(x)[None] for n, x in all_arrays}
        rows = replace(rows, arrays=one)
    results = _bind(rows, launch)
    results = with_leading(results, lead) if lead else [x[0] for x in results]
    return tuple(results) if len(results) > 1 else results[0]


def _is_traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


@dataclass(frozen=True)
class _Template:
    """A call without its arrays, as a parameter of the primitive; equal if the programs are equal."""

    call: Call = field(compare=False)
    launch: LaunchFunctions = field(compare=False)
    key: tuple

    @classmethod
    def of(cls, call: Call, launch: LaunchFunctions) -> _Template:
        """The template of a call that has all its inputs among its arrays."""
        params = call.params and replace(call.params, arrays={}, gravity=None)
        forces = call.forces and (None, None)
        bare = replace(call, arrays={}, forces=forces, out=None, params=params)
        return cls(bare, launch, (id(call.model), call.key, *_records(call)))

    def call_with(self, arrays: Sequence[Any]) -> Call:
        """The call with these arrays."""
        return replace(self.call, arrays=dict(zip(self.names, arrays, strict=True)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(x.name for x in _records(self.call))

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of one environment's slices of the inputs."""
        return [x.shape for x in _records(self.call)]


def _records(call: Call) -> tuple[Input, ...]:
    return tuple(gather(call)[0].values())


recorded = Primitive("warpdyn")
recorded.multiple_results = True


def _bind(call: Call, launch: LaunchFunctions) -> list[Any]:
    return recorded.bind(*call.arrays.values(), template=_Template.of(call, launch))


@recorded.def_abstract_eval
def _abstract(*operands: Any, template: _Template) -> list[Any]:
    rows = max(
        x.shape[0]
        for x, shape in zip(operands, template.shapes, strict=True)
        if len(x.shape) > len(shape)
    )
    call = template.call_with(operands)
    shapes, sums = result_shapes(call), summed_tables(call)
    return [
        jax.core.ShapedArray(shape if name in sums else (rows, *shape), operands[0].dtype)
        for name, shape in shapes.items()
    ]


@recorded.def_impl
def _eager(*operands: Any, template: _Template) -> list[Any]:
    if any(is_elsewhere(x) for x in operands):
        return _jit(template)(*operands)
    program = None if config.debug or collecting() else _program(template, operands)
    if program is not None:
        return program(*operands)
    arrays = [jnp.asarray(x) for x in operands]  # JAX's literals among them
    results = template.launch.compute(template.call_with(arrays))
    return list(results) if isinstance(results, tuple) else [results]


@cache
def _jit(template: _Template) -> Callable[..., list[Any]]:
    return jax.jit(lambda *operands: recorded.bind(*operands, template=template))


# On the CPU, XLA calls the kernel.

TARGET = "warpdyn_kernel"
"""The handler's name in XLA."""

Program = Callable[..., list[Any]]

_programs: WeakKeyDictionary[Structure, dict[tuple, Program | None]] = WeakKeyDictionary()
"""Launches, each compiled by XLA. They hold no reference to their model."""


@cache
def _register_handler() -> bool:
    """True if XLA accepts the handler; another version of XLA rejects it."""
    made = handler()
    if made is None:
        return False
    try:
        jax.ffi.register_ffi_target(TARGET, made, platform="cpu")
    except Exception:  # XLA's errors have no common type
        return False
    return True


def _foreign_call(template: _Template, operands: Sequence[Any]) -> ForeignCall | None:
    """The launch on arrays of these shapes and dtype, by rows; None if Python has to be called."""
    if config.debug or not _register_handler():
        return None
    dtype = np.dtype(operands[0].dtype)
    # The layout is computed on placeholder memory, which is neither read nor written.
    call = template.call_with([np.empty(x.shape, dtype) for x in operands])
    if summed_tables(call):
        return None
    results = _abstract(*operands, template=template)
    job = template.launch.prepare(
        replace(call, out=tuple(np.empty(x.shape, dtype) for x in results))
    )
    return ForeignCall(job, job.places)


def _program(template: _Template, operands: Sequence[Any]) -> Program | None:
    """The launch on arrays like these; None if Python has to be called."""
    programs = _programs.setdefault(template.call.model, {})
    key = (template.key, operands[0].dtype, *(x.shape for x in operands))
    if key not in programs:
        foreign = _foreign_call(template, operands)
        results = _abstract(*operands, template=template)
        programs[key] = None if foreign is None else _launched_by_xla(foreign, results)
    return programs[key]


class KnownByXla:
    """A remembered call for other JAX arrays of the same shapes and dtype."""

    counts_calls = False  # XLA launches the kernel, which is compiled soon

    def __init__(self, known: LaunchPlan):
        self.known, job = known, known.job
        shapes = [(*known.lead, *shape) for shape in job.kernel.source.results.values()]
        kinds = [
            jax.ShapeDtypeStruct(x, jnp.float32 if job.single else jnp.float64) for x in shapes
        ]
        self.program = _launched_by_xla(ForeignCall(job, known.places), kinds)

    def run(self, arrays: Sequence[Any]) -> Any:
        """The results; `MISS` if a model no longer exists."""
        for model in self.known.models:
            if model() is None:
                return MISS
        results: Any = self.program(*arrays)
        if self.known.named is not None:
            return self.known.named(*results)
        return tuple(results) if len(results) > 1 else results[0]


def plan_launch(known: LaunchPlan) -> KnownByXla | None:
    """A remembered call that XLA launches, for calls like this one."""
    return KnownByXla(known) if _register_handler() else None


def _launched_by_xla(foreign: ForeignCall, results: Sequence[Any]) -> Program:
    """A function of JAX arrays that makes a launch, with results of these shapes and dtypes."""
    plan = np.array(foreign.plan, np.int64)
    kinds = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in results]

    def program(*operands: Any, _alive: ForeignCall = foreign) -> Any:
        return jax.ffi.ffi_call(TARGET, kinds)(*operands, plan=plan)

    return jax.jit(program)


def _lower(context: Any, *operands: Any, template: _Template) -> Any:
    """The launch as part of a program that XLA compiles for the CPU."""
    foreign = _foreign_call(template, context.avals_in)
    if foreign is None:
        return _by_python(context, *operands, template=template)
    context.module_context.add_keepalive(foreign)
    lowering = jax.ffi.ffi_lowering(TARGET)
    return lowering(context, *operands, plan=np.array(foreign.plan, np.int64))


# Elsewhere, Warp's foreign function calls Python.


def _foreign(*operands: Any, template: _Template) -> list[Any]:
    """The call as a foreign function of Warp."""
    results = _abstract(*operands, template=template)
    call = _callable(
        template,
        tuple(x.ndim for x in operands),
        tuple(len(x.shape) for x in results),
        str(operands[0].dtype),
    )
    return call(*operands, output_dims={f"r{k}": x.shape for k, x in enumerate(results)})


_by_python = mlir.lower_fun(_foreign, multiple_results=True)
mlir.register_lowering(recorded, _by_python)
mlir.register_lowering(recorded, _lower, platform="cpu")
_numbers = count()


@cache
def _callable(
    template: _Template, inputs: tuple[int, ...], results: tuple[int, ...], dtype: str
) -> Any:
    """Foreign function of Warp for a call. Warp needs a Python function with an annotation for each
    array."""

    def work(*arrays: Any) -> None:
        operands, outs = arrays[: len(inputs)], arrays[len(inputs) :]
        template.launch.compute(replace(template.call_with(operands), out=outs))

    names = [f"a{k}" for k in range(len(inputs))] + [f"r{k}" for k in range(len(results))]
    scope: dict[str, Any] = {"work": work}
    name = f"warpdyn_{template.call.name}_{next(_numbers)}"
    exec(f"def {name}({', '.join(names)}): work({', '.join(names)})", scope)
    function = scope[name]
    function.__module__ = __name__
    scalar = wp.float32 if dtype == "float32" else wp.float64
    function.__annotations__ = {
        n: wp.array(dtype=scalar, ndim=d) for n, d in zip(names, (*inputs, *results), strict=True)
    }
    return wp.jax_callable(
        function, num_outputs=len(results), graph_mode=wp.JaxCallableGraphMode.NONE
    )


def _batch(
    operands: Sequence[Any], axes: Sequence[Any], *, template: _Template
) -> tuple[list[Any], list[int]]:
    """One more dimension of environments: (N, B, ..) is computed as (N B, ..)."""
    N = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    shapes = template.shapes
    # The mapped dimension comes first, so that every array is ([N], [B], *shape).
    moved = [
        x if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    ]
    ranks = [x.ndim - (axis is not None) for x, axis in zip(moved, axes, strict=True)]
    # B comes from any array that has it. An array without it is a single slice for all
    # environments.
    B = max(
        x.shape[int(axis is not None)]
        for x, axis, rank, shape in zip(moved, axes, ranks, shapes, strict=True)
        if rank > len(shape)
    )
    flat = []
    for x, axis, rank, shape in zip(moved, axes, ranks, shapes, strict=True):
        if axis is None and rank == len(shape):
            # This array still serves all N B environments and need not be repeated.
            flat.append(x)
            continue
        # An array that serves the B environments of one of N, or one environment in all N, is
        # repeated, because a launch has only rows.
        x = x if axis is not None else x[None]
        x = x if rank > len(shape) else x[:, None]
        flat.append(jnp.broadcast_to(x, (N, B, *shape)).reshape(N * B, *shape))
    if summed_tables(template.call):
        raise TypeError("jax.vmap of a derivative by a table: give one dimension of environments")
    # The primitive is bound again, so nested vmaps and vmaps of derivatives also use this rule.
    results = recorded.bind(*flat, template=template)
    return [x.reshape(N, B, *x.shape[1:]) for x in results], [0] * len(results)


batching.primitive_batchers[recorded] = _batch


def _tangent(
    operands: Sequence[Any], tangents: Sequence[Any], *, template: _Template
) -> tuple[list[Any], list[Any]]:
    call = template.call_with(operands)
    results = _bind(call, template.launch)
    rows = results[0].shape[:1]
    tables = tables_of(call)
    moving = {
        name: t
        if name in tables
        else jnp.broadcast_to(
            t, (*rows, *shape)
        )  # for an array that serves all environments, the same tangent for each
        for name, t, shape in zip(template.names, tangents, template.shapes, strict=True)
        if type(t) is not ad.Zero
    }
    solution = None if call.derivatives else results[0]
    return results, _bind(derive(call, "jvp", tuple(moving), moving, solution), template.launch)


ad.primitive_jvps[recorded] = _tangent


def _transpose(cotangents: Sequence[Any], *operands: Any, template: _Template) -> list[Any]:
    """The "vjp" call for the call from which a "jvp" call was derived, which is linear in its
    seeds."""
    last = template.call.derivatives[-1]
    call = without_seeds(template.call_with(operands))
    bars = {
        name: ad.instantiate_zeros(c)
        for name, c in zip(result_shapes(call), cotangents, strict=True)
    }
    results = _bind(derive(call, "vjp", last.wrt, bars), template.launch)
    of_seeds = {x.name: result for x, result in zip(last.seeds, results, strict=True)}
    return [
        of_seeds[name] if ad.is_undefined_primal(x) else None
        for name, x in zip(template.names, operands, strict=True)
    ]


ad.primitive_transposes[recorded] = _transpose
