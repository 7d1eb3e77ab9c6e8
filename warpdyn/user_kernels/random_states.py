"""Generators of random numbers around the recording of a user's kernel: numbers that it draws from
them would be the same in every environment and call."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

import numpy as np

from ..recording.program import Program
from .refusals import RecordingError

REMEDY = (
    "draws random numbers from NumPy or Python. They would be drawn once, when the kernel is recorded, "
    "and then be constants of all environments and calls. Use wd.random.uniform(wd.random.key(seed, "
    "robot.env, episode), 3), or draw them outside and pass an array"
)


def random_states(function: Callable[..., Any], options: Mapping[str, Any]) -> list[bytes]:
    """States of the generators that a kernel's function can reach: the global ones of NumPy and
    Python, and those among its options and the variables that it takes from outside."""
    generators = [*options.values(), *_variables_from_outside(function)]
    states = [random.getstate(), np.random.get_state(legacy=False)]
    states += [x.getstate() for x in generators if isinstance(x, random.Random)]
    states += [
        x.get_state(legacy=False) for x in generators if isinstance(x, np.random.RandomState)
    ]
    states += [x.bit_generator.state for x in generators if isinstance(x, np.random.Generator)]
    return [pickle.dumps(each) for each in states]


def refuse_different_programs(kernel: str, first: Program, second: Program) -> None:
    """Raise if two recordings of a kernel differ. If they are equal, something else has moved a
    generator, such as another thread."""
    if _description(first) != _description(second):
        raise RecordingError(f"{kernel} {REMEDY}")


def _description(program: Program) -> str:
    """All that a program computes, with its constants."""
    routines = [(name, _description(each)) for name, each in program.routines.items()]
    return repr((program.statements, program.outputs, routines))


def _variables_from_outside(function: Callable[..., Any]) -> Iterator[Any]:
    """Values of the global variables and of the closure that a function refers to."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    outside = getattr(function, "__globals__", {})
    code = getattr(function, "__code__", None)
    for name in _names(code) if code is not None else ():
        if name in outside:
            yield outside[name]


def _names(code: CodeType) -> Iterator[str]:
    """Names of global variables and attributes in a function and in those inside it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)
