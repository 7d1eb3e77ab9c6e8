"""Kernels compiled: one where it is first launched, or many ahead on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import warp as wp

from ..codegen.source import Source
from .announcements import announced
from .call import Call
from .kernel import Command
from .kernel_cache import has_compiled, kernel_cache_directory
from .precompiled_header import has_header, shared_header
from .threads import get_num_threads


@dataclass(eq=False)
class Kernel:
    """A program for one dtype and device, with launches that wait to be used again; Warp compiles
    it, or finds it compiled, when it is first launched."""

    source: Source
    device: wp.Device
    compiled: wp.Kernel
    label: str
    """What it is, in messages: "aba_derivatives for humanoid"."""
    idle: list[Command] = field(default_factory=list)
    loaded: bool = False

    def command(self) -> Command:
        """A launch that waits, or another one."""
        try:
            return self.idle.pop()
        except IndexError:
            return self.new_command()

    def new_command(self) -> Command:
        """A launch that nobody else has; the first one compiles."""
        if not self.loaded:
            load(self)
        return Command(self.compiled, self.device, self.source.layout.length)


def label_of(call: Call) -> str:
    """What a call computes, for messages: "vjp of rnea for panda"."""
    kinds = "".join(f"{each.kind} of " for each in reversed(call.derivatives))
    return f"{kinds}{call.name} for {call.model.name}"


def load(kernel: Kernel) -> None:
    """Have Warp load the kernel; a line on stderr where it must be compiled and that takes long."""
    if has_compiled(kernel.compiled, kernel.device):
        _load_compiled(kernel)
        return
    with announced(f"compiling {kernel.label}, once", expected_seconds([kernel])):
        _compile(kernel)


Done = Callable[[Kernel, float], None]


def load_all(kernels: Sequence[Kernel], done: Done = lambda kernel, seconds: None) -> int:
    """Load kernels on all cores; returns how many had to be compiled.

    In threads, for the compiler leaves the interpreter lock: of two that compiled 8 kernels of panda,
    both were running or ready to in 97% of 2,061 samples. (Programs are recorded before, one after
    the other.) The longest first, so that no core is left with it at the end. `done` hears of each
    kernel and its seconds, on the calling thread.
    """
    missing = [x for x in kernels if not has_compiled(x.compiled, x.device)]
    for kernel in kernels:
        if kernel not in missing:
            done(kernel, _load_compiled(kernel))
    if not missing:
        return 0
    missing.sort(key=lambda kernel: -len(kernel.source.code))
    number = min(get_num_threads(), len(missing))
    text = (
        f"compiling {missing[0].label}, once"
        if len(missing) == 1
        else f"compiling {len(missing)} kernels on {number} cores, once"
    )
    expected = expected_seconds(missing)
    with (
        announced(text, expected and expected / number),
        ThreadPoolExecutor(number, "warpdyn compile") as pool,
    ):
        tasks = {pool.submit(_compile, kernel): kernel for kernel in missing}
        for task in as_completed(tasks):
            done(tasks[task], task.result())
    return len(missing)


def _load_compiled(kernel: Kernel) -> float:
    """Load a kernel, which Warp compiles if it is not in its cache; returns seconds."""
    start = time.perf_counter()
    wp.force_load(kernel.device, [kernel.compiled.module])
    kernel.loaded = True
    return time.perf_counter() - start


def _compile(kernel: Kernel) -> float:
    try:
        with shared_header() if kernel.device.is_cpu else nullcontext():
            return _load_compiled(kernel)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the kernel of {kernel.label} could not be written to {kernel_cache_directory()}: "
            f"{error.strerror}; make room there, or set WARP_CACHE_PATH to another folder",
        ) from error


SECONDS, SECONDS_PER_CHARACTER, SECONDS_FOR_HEADERS = 0.35, 7e-6, 2.7
"""Rough CPU seconds that a compile takes.

By the length of the program's text: operations say less, for those of a loop or a routine count at
each pass, and are compiled once. Fitted to 42 programs of cartpole, panda, quadruped and humanoid (0.3
to 28 s; medians of 3 runs, Intel Xeon at 2.5 GHz, Warp 1.19): 41 of them take between 0.6 and 1.4
times as long as it says, and one (the Jacobian of a quadruped's foot, 2.3 s) four times. A line
through their operations is off by factors up to 3.9.
"""


def expected_seconds(kernels: Sequence[Kernel]) -> float | None:
    """CPU seconds to compile kernels; None where there is one for a GPU, which we have not timed."""
    if not all(kernel.device.is_cpu for kernel in kernels):
        return None
    seconds = sum(SECONDS + SECONDS_PER_CHARACTER * len(x.source.code) for x in kernels)
    return seconds + (0.0 if has_header() else SECONDS_FOR_HEADERS)


_noted: list[Kernel] | None = None
"""Kernels of the calls in a `compiling` block, for all threads of the process; None outside."""


@contextmanager
def noting() -> Iterator[list[Kernel]]:
    """A block whose calls compute nothing: their kernels go to the list."""
    global _noted
    before, _noted = _noted, []
    try:
        yield _noted
    finally:
        _noted = before


def collecting() -> bool:
    """Whether a block is waiting for kernels, in which calls compute nothing."""
    return _noted is not None


def noted(kernel: Kernel) -> bool:
    """Whether a block is waiting for kernels, which then has this one."""
    if _noted is None:
        return False
    _noted.append(kernel)
    return True
