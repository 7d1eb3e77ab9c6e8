"""Compilation of kernels: one at its first launch, or many in advance on all cores."""

from __future__ import annotations

import ctypes
import errno
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from typing import Any, Protocol
from weakref import ref

import warp as wp

from ...codegen.source import Source
from ..config import calls_before_compiling, config
from ..run_once import lock_of
from ..threads import get_num_threads
from . import background, kernel_objects
from .announcements import announcement
from .compiler_process import CompilerEndedError
from .interpreted_program import InterpretedCommand, InterpretedProgram
from .kernel import BLOCK, Command, KernelCommand, compile_kernel
from .kernel_cache import has_compiled, kernel_cache_directory
from .precompiled_header import has_header, shared_header

ENOUGH_INTERPRETED = 0.02
"""Time of interpreted calls [s] after which a kernel is compiled in the background, however few they
are."""


class Writer(Protocol):
    """Writes the source of a kernel when it is compiled."""

    def write(self) -> Source:
        """The source."""
        ...

    def model(self) -> object:
        """The model from which the source is written; held until the compilation ends."""
        ...

    def use(self, model: Any) -> None:
        """Write the source from an equal model instead."""
        ...


class Kernel:
    """A program for one dtype and device, with idle launches for reuse.

    Warp compiles it, or finds it compiled, at the first launch. A program that can be interpreted is
    interpreted until it is compiled.
    """

    def __init__(
        self, source: Source, device: wp.Device, label: str, *, writer: Writer | None = None
    ):
        """source: the program in C++, or its description, if `writer` writes it; `label`: its name in
        messages, "aba_derivatives for humanoid"."""
        self.source, self.device, self.label = source, device, label
        self.on_cuda = bool(device.is_cuda)
        self.interpreted: InterpretedProgram | None = None
        self.idle: list[Command] = []
        self.loaded = False
        self.counts_calls = False
        """True while its calls are counted, until it is compiled in the background."""
        self.writer = writer
        self._calls, self._seconds = 0, 0.0
        self._is_enqueued = False
        """True once its compile in the background was asked for."""
        self._compiled: list[wp.Kernel] = []
        self._linked: list[Command] = []
        """Launches that keep the extra translation units loaded in Warp."""

    def interpret(self, program: InterpretedProgram) -> None:
        """Interpret the program until it is compiled."""
        self.interpreted, self.counts_calls = program, True

    def _kernels(self) -> list[wp.Kernel]:
        """Warp's kernel, and its extra translation units (codegen/translation_units.py)."""
        if not self._compiled:
            with lock_of(self):
                if self.writer is not None:
                    self.source, self.writer = self.writer.write(), None
                if not self._compiled:
                    sources = (self.source, *self.source.unit_sources)
                    self._compiled = [compile_kernel(each) for each in sources]
        return self._compiled

    @property
    def warp_kernel(self) -> wp.Kernel:
        """The kernel as Warp knows it, without its extra translation units."""
        return self._kernels()[0]

    @property
    def is_compiled(self) -> bool:
        """True if Warp finds all of its modules in its cache."""
        return not any(module.missing for module in self.modules)

    @property
    def modules(self) -> list[_Module]:
        """The modules that Warp compiles, each separately."""
        kernels = self._kernels()
        texts = (self.source.code, *self.source.translation_units)
        return [
            _Module(compiled, self, len(text))
            for compiled, text in zip(kernels, texts, strict=True)
        ]

    def command(self) -> Command:
        """An idle launch, or a new one."""
        try:
            return self.idle.pop()
        except IndexError:
            return self.new_command()

    def new_command(self) -> Command:
        """A new launch for one caller only; the first one compiles, if the program is not
        interpreted."""
        program = self.interpreted
        if self.loaded or program is None or config.compile == "wait":
            return self._loaded_command()
        return InterpretedCommand(program, self._loaded_command)

    def _loaded_command(self) -> Command:
        """A launch of the compiled kernel."""
        if not self.loaded:
            load(self)
        return self._command(self._compiled[0])

    def count_call(self, seconds: float = 0.0) -> None:
        """Count an interpreted call that took this long. After some of them the kernel is compiled
        in the background."""
        self._calls += 1
        self._seconds += seconds
        if self._calls >= calls_before_compiling() or self._seconds >= ENOUGH_INTERPRETED:
            self.compile_soon()

    def compile_soon(self) -> None:
        """Compile in the background, if enabled and not yet begun."""
        waits = self.counts_calls or (self.on_cuda and not self.loaded)
        if waits and not self._is_enqueued and config.compile == "background":
            self.counts_calls, self._is_enqueued = False, True
            model = None if self.writer is None else self.writer.model()
            enqueued = ref(self)
            background.enqueue(partial(_compile_now, enqueued, model), partial(_drop, enqueued))

    def link(self) -> None:
        """Pass the addresses of the extra translation units to the loaded kernel, and later
        launches of the interpreted program to the kernel."""
        first, *companions = self._kernels()
        if not self._linked and companions:
            places = (ctypes.c_int64 * len(companions))()
            address = ctypes.addressof(places)
            calls = [self._command(each) for each in companions]
            for k, call in enumerate(calls):
                call.set([address + k * ctypes.sizeof(ctypes.c_int64), *call.arguments[1:]])
                call.run_at_once()
            ours = self._command(first)
            ours.set([address, -1, *ours.arguments[2:]])
            ours.run_at_once()
            self._linked = calls
        if self.interpreted is not None and not self.loaded:
            self.interpreted.switch_to(self._command(first))
            self.idle = []  # launches of the interpreter, which a caller may still use
        self.loaded = True
        self.counts_calls = False

    def _command(self, compiled: wp.Kernel) -> Command:
        length, warps = self.source.layout.length, self.source.warps
        return KernelCommand(compiled, self.device, length, self._linked, warps)


@dataclass(eq=False)
class _Module:
    """A kernel, or one of its extra translation units."""

    compiled: wp.Kernel
    kernel: Kernel
    length: int
    """Length of its source in characters."""

    @property
    def missing(self) -> bool:
        block = BLOCK * self.kernel.source.warps
        return not has_compiled(self.compiled, self.kernel.device, block)

    def load(self) -> None:
        """Load the module in Warp. Kernels with the same source are one module of Warp, and two
        threads that load it at once would overwrite each other's work."""
        module = self.compiled.module
        with lock_of(module):
            if self.kernel.device.is_cpu:
                kernel_objects.load(module, self.kernel.device)
            else:
                block = BLOCK * self.kernel.source.warps
                wp.force_load(self.kernel.device, [module], block_dim=block)

    @property
    def seconds(self) -> float:
        """Estimated CPU seconds to compile it."""
        if self.kernel.device.is_cpu:
            return SECONDS + SECONDS_PER_CHARACTER * self.length
        entries = sum(map(prod, self.kernel.source.results.values()))
        return NVRTC + NVRTC_PER_CHARACTER * self.length + NVRTC_PER_ENTRY * entries


def _drop(reference: ref[Kernel]) -> None:
    """Let the next launch ask for the kernel again, in a process that was forked before the thread
    compiled it."""
    kernel = reference()
    if kernel is not None and not kernel.loaded:
        kernel._is_enqueued = False
        if kernel.interpreted is not None:
            kernel.counts_calls = True
            kernel.interpreted.before_next_launch(kernel.compile_soon)


def _compile_now(reference: ref[Kernel], model: object) -> None:
    """Compile and load a kernel on the background thread, unless it is no longer needed.

    `model`: what its source is written from, held until then.
    """
    kernel = reference()
    if kernel is None:
        return
    with lock_of(kernel):
        if kernel.loaded:
            return
        for module in kernel.modules:
            if background.is_ending():
                return
            if module.missing:
                _compile(module)
        if not background.is_ending():
            _load_compiled(kernel)


def load(kernel: Kernel) -> None:
    """Load the kernel in Warp; prints a line on stderr if it must be compiled and that takes
    long."""
    with lock_of(kernel):
        if not kernel.loaded:
            load_all([kernel])


Done = Callable[[Kernel, float], None]


def load_all(kernels: Sequence[Kernel], done: Done = lambda kernel, seconds: None) -> int:
    """Load kernels on all cores; returns how many had to be compiled.

    Threads suffice, because the compiler releases the GIL: when two threads compiled 8 kernels of
    panda, both were running or ready to run in 97% of 2,061 samples. (Programs are recorded before
    that, one after the other.) The longest kernels come first, so that no core ends with a long one
    while the others are idle. `done` is called on the calling thread with each kernel and its CPU
    seconds over all cores.
    """
    missing = {kernel: [x for x in kernel.modules if x.missing] for kernel in kernels}
    for kernel, modules in missing.items():
        if not modules:
            done(kernel, _load_compiled(kernel))
    waiting = sorted(chain(*missing.values()), key=lambda module: -module.length)
    if not waiting:
        return 0
    number = min(get_num_threads(), len(waiting))
    to_compile = [kernel for kernel, modules in missing.items() if modules]
    text = (
        f"compiling {to_compile[0].label}, once"
        if len(to_compile) == 1
        else f"compiling {len(to_compile)} kernels on {number} cores, once"
    )
    with announcement(text, expected_seconds(to_compile)), _pool(number) as run:
        tasks = {run(_compile, module): module.kernel for module in waiting}
        seconds = dict.fromkeys(to_compile, 0.0)
        for task in as_completed(tasks):
            kernel = tasks.pop(task)
            seconds[kernel] += task.result()
            if kernel not in tasks.values():
                done(kernel, seconds[kernel] + _load_compiled(kernel))
    return len(to_compile)


@contextmanager
def _pool(number: int) -> Iterator[Callable[..., Future[float]]]:
    """Function that runs another function on one of `number` threads, or immediately if `number` is
    1."""
    if number > 1:
        with ThreadPoolExecutor(number, "warpdyn compile") as pool:
            yield pool.submit
    else:

        def run(function: Callable[..., float], *args: Any) -> Future[float]:
            done = Future[float]()
            done.set_result(function(*args))
            return done

        yield run


def _load_compiled(kernel: Kernel) -> float:
    """Load a kernel, which Warp compiles if it is not in its cache; returns the time [s]."""
    start = time.perf_counter()
    for module in kernel.modules:
        module.load()
    kernel.link()
    return time.perf_counter() - start


def _compile(module: _Module) -> float:
    """Compile and load a module, without its extra translation units; returns the time [s]."""
    kernel, start = module.kernel, time.perf_counter()
    try:
        with shared_header() if kernel.device.is_cpu else nullcontext():
            module.load()
    except OSError as error:
        if isinstance(error, CompilerEndedError) and error.errno != errno.ENOSPC:
            raise CompilerEndedError(error.errno, _exit_message(kernel, error)) from error
        raise OSError(
            error.errno,
            f"the kernel of {kernel.label} could not be written to {kernel_cache_directory()}: "
            f"{error.strerror}; make room there, or set WARP_CACHE_PATH to another folder",
        ) from error
    return time.perf_counter() - start


def _exit_message(kernel: Kernel, error: OSError) -> str:
    """Error message for a compiler process that ended, with a remedy."""
    short = error.errno in (errno.ENOMEM, errno.EAGAIN)
    remedy = (
        "free memory, or compile one kernel at a time, wd.runtime.set_num_threads(1)"
        if short
        else "call again to compile once more"
    )
    return f"the kernel of {kernel.label} is not compiled: {error.strerror}; {remedy}"


SECONDS, SECONDS_PER_CHARACTER, SECONDS_FOR_HEADERS = 0.35, 7e-6, 2.7
"""Rough CPU seconds for a compilation.

The estimate uses the length of the source. The number of operations is a worse measure, because
those of a loop or a routine count at each pass but are compiled once. Fitted to 42 programs of
cartpole, panda, quadruped and humanoid (0.3 to 28 s; medians of 3 runs, Intel Xeon at 2.5 GHz, Warp
1.19): 41 of them take between 0.6 and 1.4 times the estimate, and one (the Jacobian of a
quadruped's foot, 2.3 s) four times. A linear fit to their operations is wrong by factors up to 3.9.
"""


NVRTC, NVRTC_PER_CHARACTER, NVRTC_PER_ENTRY = 0.25, 1.8e-5, 3.4e-3
"""Rough CPU seconds of NVRTC for machine code of sm_90, by the length of the source and the number of
entries of its results, each of which is stored at an address of its own.

Fitted to 40 programs of cartpole, panda, quadruped and humanoid (0.3 to 48 s of CPU time; one run
each, AMD EPYC under load, Warp 1.19). All take between 0.7 and 1.5 times the estimate.
"""


def expected_seconds(kernels: Sequence[Kernel]) -> float:
    """Estimated seconds to compile kernels on all cores."""
    seconds = [module.seconds for kernel in kernels for module in kernel.modules]
    number = min(get_num_threads(), len(seconds))
    # Clang reads Warp's headers, and each thread looks for its own copy.
    on_cpu = any(kernel.device.is_cpu for kernel in kernels)
    header = SECONDS_FOR_HEADERS if on_cpu and not has_header() else 0.0
    return header + max(*seconds, sum(seconds) / max(number, 1), 0.0)


_noted: list[Kernel] | None = None
"""Kernels of the calls in a `compiling` block, for all threads of the process; None outside."""


@contextmanager
def noting() -> Iterator[list[Kernel]]:
    """A block whose calls compute nothing, but add their kernels to the list."""
    global _noted
    before, _noted = _noted, []
    try:
        yield _noted
    finally:
        _noted = before


def collecting() -> bool:
    """True inside a block that collects kernels, in which calls compute nothing."""
    return _noted is not None


def collect_kernel(kernel: Kernel) -> bool:
    """True inside a block that collects kernels; the kernel is then added to its list."""
    if _noted is None:
        return False
    _noted.append(kernel)
    return True
