"""Dispatch of a call to its array library: one that differentiates by itself, or warpdyn's
launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..arrays import Library
from ..arrays.libraries import NUMPY, library_of, titles
from ..arrays.numpy_arrays import check_unmasked
from ..arrays.protocol import dtype_name
from .launch.launch import compute, launch_call, prepare
from .repeat.planned_call import LaunchPlan, PlannedCall
from .request.argument_checks import dtype_of_lists
from .request.call import Call, gather, with_all_inputs
from .request.inputs import Input

R = TypeVar("R")


class Differentiation(NamedTuple):
    """Functions by which a differentiating library runs calls."""

    run: Callable[..., Any]
    """(call, compute) -> the results, as an operation of the library."""
    plan_launch: Callable[[LaunchPlan], PlannedCall | None] | None = None
    """The plan of a repeated call; None if each call is checked."""
    plan_gradients: Callable[..., Any] | None = None
    """(call, compute, arrays) -> the plan of a differentiated call."""


def _torch() -> Differentiation:
    from .autodiff import torch_gradients, torch_operator  # noqa: F401  (graphs call the operator)

    def differentiated_call(*call: Any, **options: Any) -> Any:
        from .autodiff import torch_remembered  # only for calls that are repeated

        return torch_remembered.differentiated_call(*call, **options)

    return Differentiation(
        lambda call, _: torch_gradients.run(call, launch_call), plan_gradients=differentiated_call
    )


def _jax() -> Differentiation:
    from .autodiff import jax_gradients

    launch = jax_gradients.LaunchFunctions(compute, prepare)
    return Differentiation(
        lambda call, _: jax_gradients.run(call, launch), jax_gradients.plan_launch
    )


def _warp() -> Differentiation:
    from .autodiff import warp_gradients

    return Differentiation(warp_gradients.run)


_DIFFERENTIATIONS = {"torch": _torch, "jax": _jax, "warp": _warp}
"""Functions that import a library's differentiation, by `Library.edge`. Nothing is imported before
an array of the library arrives."""


@cache
def differentiation(edge: str) -> Differentiation:
    """The differentiation of the library with this `Library.edge`."""
    return _DIFFERENTIATIONS[edge]()


def carry_out(call: Call[R]) -> R:
    """Run a call; if its arrays ask for gradients, as an operation that their library can
    differentiate."""
    call = in_one_library(call)
    library = library_of(next(iter(call.arrays.values())))
    if library.edge is None:
        return call.user_result(compute(call))
    return call.user_result(differentiation(library.edge).run(call, compute))


def plan_of(known: LaunchPlan) -> PlannedCall | None:
    """The plan of a repeated call; None if it has to be checked each time."""
    library = known.library
    if library.in_place:
        return known
    plan_launch = differentiation(library.edge).plan_launch if library.edge else None
    return plan_launch(known) if plan_launch else None


def plan_gradients(
    library: Library, call: Call, compute: Callable[..., Any], arrays: Any
) -> Callable[..., Any]:
    """A function that plans the repetition of a call whose arrays ask for gradients."""
    assert library.edge is not None
    planned = differentiation(library.edge).plan_gradients
    assert planned is not None
    return partial(planned, call, compute, arrays)


def in_one_library(call: Call) -> Call:
    """The call with its lists, and its NumPy arrays of numbers, converted to the library and device
    of the other arrays.

    Arrays must have the same dtype. Lists take that of the first array, and so do plain numbers and
    lists that serve all environments.
    """
    inputs, arrays = gather(call)
    # Nearly always all arrays have one type, and this test is quick.
    if len(set(map(type, arrays.values()))) < 2:
        return call
    moved = _arrays_of_lists(inputs, arrays)
    arrays = {**arrays, **moved}
    others = [x for x in arrays.values() if library_of(x).takes_numpy]
    if others:
        moved |= _in_library_of(others[0], inputs, arrays)
    whole = with_all_inputs(call)
    return replace(whole, arrays={**whole.arrays, **moved}) if moved else call


def _arrays_of_lists(inputs: Mapping[str, Input], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Lists among a call's arrays, by name, as NumPy arrays with the dtype of the first array.

    Lists that serve all environments are left to the launch, which can pass them by value.
    """
    of_rows = {name: x for name, x in arrays.items() if not inputs[name].plain}
    dtype = dtype_of_lists(of_rows.values())
    return {n: np.asarray(x, dtype) for n, x in of_rows.items() if isinstance(x, (list, tuple))}


def _in_library_of(
    like: Any, inputs: Mapping[str, Input], arrays: Mapping[str, Any]
) -> dict[str, Any]:
    """NumPy arrays of numbers among a call's arrays, by name, in the library and on the device of
    another array."""
    library = library_of(like)
    by_value = library.on_cuda(like)
    moved = {}
    for name, x in arrays.items():
        if by_value and inputs[name].plain and isinstance(x, np.ndarray) and x.ndim < 2:
            continue  # the launch passes these numbers by value
        if isinstance(x, np.ndarray) and library_of(x) is NUMPY and x.dtype.kind == "f":
            if not (inputs[name].plain and x.ndim == 1):
                _check_dtype(inputs[name].label, x, like, library)
            moved[name] = library.convert_like(check_unmasked(name, x), like.dtype, like)
    return moved


def _check_dtype(name: str, x: np.ndarray, like: Any, library: Library) -> None:
    """Raise for numbers whose precision differs from that of the result."""
    wanted = dtype_name(like.dtype)
    if x.dtype.name != wanted and wanted in ("float32", "float64"):
        raise TypeError(
            f"all arrays of a call must be of one dtype: {name} is NumPy's {x.dtype}, next to "
            f"{titles[library.name]}'s {wanted}; convert it (.astype(np.{wanted}))"
        )
