"""NumPy's arrays beside those of a library that takes them, such as Torch tensors, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.libraries import NUMPY, library_of
from ..model.params import Params
from .call import Call, gather, gathered


def in_one_library(call: Call) -> Call:
    """The call with NumPy's arrays of numbers in the library, dtype and device of the others.

    Numbers are copied, so that a bound call, which reads its arrays again and again, does without.
    """
    # Nearly always all are of one type, and that is seen at once.
    if len(set(map(type, _parts(call)))) < 2:
        return call
    _, arrays = gather(call)
    others = [x for x in arrays.values() if library_of(x).takes_numpy]
    if not others:
        return call
    like = others[0]
    library = library_of(like)
    moved = {
        name: library.converted(x, like.dtype, like)
        for name, x in arrays.items()
        if isinstance(x, np.ndarray) and library_of(x) is NUMPY and x.dtype.kind == "f"
    }
    whole = gathered(call)
    return replace(whole, arrays={**whole.arrays, **moved}) if moved else call


def _parts(call: Call) -> Iterator[Any]:
    """All that may hold arrays."""
    yield from (x for x in call.arrays.values() if x is not None)
    for more in (call.gravity, call.f_ext):
        if more is not None:
            yield more
    if isinstance(call.params, Params):
        yield from call.params.arrays.values()
