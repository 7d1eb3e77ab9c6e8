"""Calls inside `jax.jit`, `jax.vmap`, `jax.grad` and `jax.jvp`: one JAX primitive.

Its tangent is the recorded "jvp" call, the transpose of that the recorded "vjp" call, and both are calls again, so that
JAX takes derivatives of derivatives as it likes. Compiled, it is a foreign call of Warp's that works on XLA's own
buffers, on the CPU and on CUDA streams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import warp as wp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .call import Call, all_arrays, derived, input_shape, seed, serves_all
from .evaluate import result_shapes

Compute = Callable[[Call], Any]


def run(call: Call, compute: Compute) -> Any:
    """The call's results; an operation of JAX's where it traces, or where the arrays lie on a GPU."""
    given = all_arrays(call)
    if not any(_traced(x) or _on_gpu(x) for x in given.values()):
        return compute(call)
    if call.out is not None:
        raise TypeError("JAX arrays cannot be written in place; leave out= away and use the result")
    first_name, first = next(iter(given.items()))
    arrays = {name: jnp.asarray(x, first.dtype) for name, x in given.items()}
    _check(call, first_name, arrays)
    single = first.ndim == len(input_shape(call, first_name))
    if single:
        arrays = {name: x[None] for name, x in arrays.items()}
    results = _bind(replace(call, arrays=arrays), compute)
    results = [x[0] for x in results] if single else results
    return tuple(results) if len(results) > 1 else results[0]


def _traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


def _on_gpu(x: Any) -> bool:
    return isinstance(x, jax.Array) and not _traced(x) and x.devices().pop().platform != "cpu"


def _check(call: Call, first_name: str, arrays: dict[str, Any]) -> None:
    """Dtype and widths, while JAX still knows the caller's line."""
    first = arrays[first_name]
    if first.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{first_name} must be float32 or float64, got {first.dtype}; convert it")
    batch = first.shape[:1] if first.ndim > len(input_shape(call, first_name)) else ()
    for name, x in arrays.items():
        own = input_shape(call, name)
        shapes = {(*batch, *own), own} if serves_all(call, name) else {(*batch, *own)}
        if x.shape not in shapes:
            need = " or ".join(map(str, sorted(shapes, key=len)))
            raise ValueError(
                f"{name} must be {need}, got {x.shape}, in a call of {call.name} for {call.model.name}"
            )


@dataclass(frozen=True)
class _Template:
    """A call without its arrays, as a parameter of the primitive: equal where the programs are."""

    call: Call = field(compare=False)
    compute: Compute = field(compare=False)
    key: tuple

    @classmethod
    def of(cls, call: Call, compute: Compute) -> _Template:
        params = call.params and replace(call.params, arrays={}, gravity=None)
        bare = replace(call, arrays={}, gravity=None, f_ext=None, out=None, params=params)
        shapes = tuple((name, input_shape(call, name)) for name in call.arrays)
        return cls(bare, compute, (id(call.model), call.key, shapes))

    def filled(self, arrays: Sequence[Any]) -> Call:
        return replace(self.call, arrays=dict(zip(self.names, arrays, strict=True)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.key[2])

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of one robot's part of each input."""
        return [shape for _, shape in self.key[2]]


recorded = Primitive("warpdyn")
recorded.multiple_results = True


def _bind(call: Call, compute: Compute) -> list[Any]:
    return recorded.bind(*call.arrays.values(), template=_Template.of(call, compute))


@recorded.def_abstract_eval
def _abstract(*given: Any, template: _Template) -> list[Any]:
    rows = max(
        x.shape[0] for x, own in zip(given, template.shapes, strict=True) if len(x.shape) > len(own)
    )
    shapes = result_shapes(template.filled(given))
    return [jax.core.ShapedArray((rows, *shape), given[0].dtype) for shape in shapes.values()]


@recorded.def_impl
def _eager(*given: Any, template: _Template) -> list[Any]:
    if any(_on_gpu(x) for x in given):
        return _compiled(template)(*given)
    results = template.compute(
        template.filled([jnp.asarray(x) for x in given])
    )  # JAX's literals among them
    return list(results) if isinstance(results, tuple) else [results]


@cache
def _compiled(template: _Template) -> Callable[..., list[Any]]:
    return jax.jit(lambda *given: recorded.bind(*given, template=template))


def _foreign(*given: Any, template: _Template) -> list[Any]:
    """The call as Warp's foreign function."""
    results = _abstract(*given, template=template)
    call = _callable(
        template,
        tuple(x.ndim for x in given),
        tuple(len(x.shape) for x in results),
        str(given[0].dtype),
    )
    return call(*given, output_dims={f"r{k}": x.shape for k, x in enumerate(results)})


mlir.register_lowering(recorded, mlir.lower_fun(_foreign, multiple_results=True))
_numbers = count()


@cache
def _callable(
    template: _Template, inputs: tuple[int, ...], results: tuple[int, ...], dtype: str
) -> Any:
    """Warp's foreign function needs a Python function with an annotation for each array."""

    def work(*arrays: Any) -> None:
        given, outs = arrays[: len(inputs)], arrays[len(inputs) :]
        template.compute(replace(template.filled(given), out=outs))

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


def _batched(
    given: Sequence[Any], axes: Sequence[Any], *, template: _Template
) -> tuple[list[Any], list[int]]:
    """Another dimension of environments: (N, B, ..) is done as (N B, ..)."""
    N = next(x.shape[axis] for x, axis in zip(given, axes, strict=True) if axis is not None)
    own = template.shapes
    moved = [
        x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(given, axes, strict=True)
    ]
    ranks = [x.ndim - (axis is not None) for x, axis in zip(moved, axes, strict=True)]
    B = max(
        x.shape[int(a is not None)]
        for x, a, r, s in zip(moved, axes, ranks, own, strict=True)
        if r > len(s)
    )
    flat = []
    for x, axis, rank, shape in zip(moved, axes, ranks, own, strict=True):
        if axis is None and rank == len(shape):
            flat.append(x)  # serves all environments
            continue
        x = x if axis is not None else x[None]
        x = x if rank > len(shape) else x[:, None]
        flat.append(jnp.broadcast_to(x, (N, B, *shape)).reshape(N * B, *shape))
    results = recorded.bind(*flat, template=template)
    return [x.reshape(N, B, *x.shape[1:]) for x in results], [0] * len(results)


batching.primitive_batchers[recorded] = _batched


def _tangent(
    given: Sequence[Any], tangents: Sequence[Any], *, template: _Template
) -> tuple[list[Any], list[Any]]:
    call = template.filled(given)
    results = _bind(call, template.compute)
    rows = results[0].shape[:1]
    moving = {
        name: jnp.broadcast_to(
            t, (*rows, *own)
        )  # of what serves all environments, the same for each
        for name, t, own in zip(template.names, tangents, template.shapes, strict=True)
        if type(t) is not ad.Zero
    }
    solution = results[0] if call.solves and not call.derivatives else None
    return results, _bind(derived(call, "jvp", tuple(moving), moving, solution), template.compute)


ad.primitive_jvps[recorded] = _tangent


def _transposed(cotangents: Sequence[Any], *given: Any, template: _Template) -> list[Any]:
    """Of a "jvp" call, which is linear in its seeds: the "vjp" call of what it was derived from."""
    *before, last = template.call.derivatives
    base = replace(template.call, derivatives=tuple(before))
    seeds = {seed(base, name): name for name in last.wrt}
    known = {n: x for n, x in zip(template.names, given, strict=True) if n not in seeds}
    call = replace(base, arrays=known)
    shapes = result_shapes(call)
    bars = {name: ad.instantiate_zeros(c) for name, c in zip(shapes, cotangents, strict=True)}
    results = dict(
        zip(last.wrt, _bind(derived(call, "vjp", last.wrt, bars), template.compute), strict=True)
    )
    return [
        results[seeds[n]] if ad.is_undefined_primal(x) else None
        for n, x in zip(template.names, given, strict=True)
    ]


ad.primitive_transposes[recorded] = _transposed
