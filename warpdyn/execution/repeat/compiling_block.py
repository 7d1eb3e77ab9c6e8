"""A block of a script that is gone through to know which kernels it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..compile.compiling import load_all, noting
from .native_call import compile_c_functions


@contextmanager
def compiling() -> Iterator[None]:
    """A block whose calls compute nothing: their kernels are compiled at its end, on all cores.

    What a script is about to use, gradients included:

        with wd.compiling():
            train_step(q, v)  # once, with arrays of the right kind; few rows will do

    Results in the block are zeros (arrays given as `out` stay as they are), so it must not go on
    until something has converged. A block that raises compiles nothing. It holds for all threads of
    the process. `wd.bind` in the block compiles and launches as it does elsewhere, for what it
    returns is there to be used later.
    """
    with noting() as noted:
        yield
    kernels = list(dict.fromkeys(noted))
    compile_c_functions(kernels)
    load_all(kernels)
