"""A block of a script that runs once to find the kernels that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .compile.compiling import load_all, noting
from .fast_paths import compile_c_functions


@contextmanager
def compiling() -> Iterator[None]:
    """A block whose calls compute nothing; their kernels are compiled at its end, on all cores.

    Example for the kernels of a training step, including gradients:

        with wd.kernels.compiling():
            train_step(q, v)  # once, with arrays of the right kind; a few rows suffice

    Results in the block are zeros (arrays passed as `out` do not change), so the block must not
    contain a loop that waits for convergence. A block that raises compiles nothing. It affects all
    threads of the process. `wd.bind` in the block compiles and launches as usual, because its
    result is used later.
    """
    with noting() as noted:
        yield
    kernels = list(dict.fromkeys(noted))
    compile_c_functions(kernels)
    load_all(kernels)
