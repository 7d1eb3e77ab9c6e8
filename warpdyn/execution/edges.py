"""Calls carried out in a way that the library of their arrays can differentiate."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from ..arrays.libraries import library_of
from .launch.launch import compute
from .mixed_libraries import in_one_library
from .repeat.remembered import KnownCall, PlannedCall
from .request.call import Call

R = TypeVar("R")


def carry_out(call: Call[R]) -> R:
    """Run a call; where its arrays ask for gradients, in a way that their library can
    differentiate."""
    call = in_one_library(call)
    library = library_of(next(iter(call.arrays.values())))
    results = compute(call) if library.edge is None else _edge(library.edge).run(call, compute)
    return call.handed_out(results)


def plan_of(known: KnownCall) -> PlannedCall | None:
    """How a call is carried out that was made before; None where it has to be checked each time."""
    library = known.library
    if library.in_place:
        return known
    plan: PlannedCall | None = _edge(library.edge).known_call(known) if library.edge else None
    return plan


@cache
def _edge(library: str) -> Any:
    """The module that runs calls as operations of a library that differentiates by itself."""
    return import_module(f".autodiff.{library}_gradients", __package__)
