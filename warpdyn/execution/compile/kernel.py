"""A program's Warp kernel, and launches of it."""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import warp as wp

from ...codegen.source import Source
from ..config import VERBOSE

CAPTURE = "_apic_capture"
"""The attribute of Warp's runtime for a recording of launches in progress, or None."""


BLOCK = 32
"""Environments of a CUDA block: one for each lane of a warp (`codegen/cuda_rows`), so that small
batches reach all multiprocessors."""


def quieten() -> None:
    """Keep Warp's banner and its line for each module off stdout, where a program prints its
    results.

    This changes nothing if the environment variable WARPDYN_VERBOSE is set to a value other than 0,
    or if `wp.config.log_level` was set before. It can be set again at any time.
    """
    if os.environ.get(VERBOSE, "0") in ("", "0") and wp.config.log_level == wp.LOG_INFO:
        wp.config.log_level = wp.LOG_WARNING


def compile_kernel(source: Source) -> wp.Kernel:
    """The Warp kernel of a source; Warp compiles it, or finds it compiled, at its first launch."""
    name = "warpdyn_" + re.sub(r"\W", "_", source.name)
    Args = wp.types.vector(length=source.layout.length, dtype=wp.int64)
    memory = ""
    if source.shared_bytes:  # the tile makes each launch ask for it; the program finds it by itself
        memory = (
            f"    wp.tile_empty(shape={source.shared_bytes // 4}, dtype=float, storage='shared')\n"
        )
    stub = (
        "@wp.func_native(snippet=SOURCE)\n"
        "def program(args: Args, tid: int): ...\n"
        "@wp.kernel(module='unique', enable_backward=False)\n"
        f"def {name}(args: Args):\n"
        f"{memory}    program(args, wp.tid())\n"
    )
    # Warp reads a function's source through `inspect`, which asks `linecache`.
    file = f"<{name} {hashlib.sha256(source.code.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(stub), None, stub.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"wp": wp, "Args": Args, "SOURCE": source.code}
    exec(compile(stub, file, "exec"), scope)
    return scope[name]


class Command:
    """A prepared launch whose arguments are written in place."""

    arguments: ctypes.Array[ctypes.c_int64]
    entry: Callable[..., Any] | None
    """The launch as a function that returns its argument, without functions of Warp; None if this
    version of Warp does not allow that."""
    run: Callable[..., None]
    """The launch."""
    address: int | None
    """The C function that the launch calls, of (bounds, arguments); None if this version of Warp
    keeps it elsewhere."""
    bounds: list[int]
    """First argument of the C function, in words of 64 bits."""

    def set(self, arguments: Sequence[int]) -> None:
        """Write all arguments."""
        self.arguments[:] = list(arguments)

    def set_threads(self, count: int) -> None:
        """Set the number of environments of a CUDA launch."""

    def run_at_once(self) -> None:
        """Run the launch even while Warp records launches, without adding it to the recording."""


class KernelCommand(Command):
    """A launch of a compiled kernel.

    `held`: objects that must stay loaded as long as the launch, in addition to the kernel. `warps`:
    number of warps of a CUDA block.
    """

    def __init__(
        self,
        kernel: wp.Kernel,
        device: wp.Device,
        length: int,
        held: Sequence[Command] = (),
        warps: int = 1,
    ):
        self._held, self._warps = held, warps
        Args = wp.types.vector(length=length, dtype=wp.int64)
        self._launch = wp.launch(
            kernel, dim=1, inputs=[Args()], device=device, record_cmd=True, block_dim=BLOCK * warps
        )
        packed = self._launch.params[1]
        self.arguments = (ctypes.c_int64 * length).from_address(ctypes.addressof(packed))
        self._packed = packed
        self._threads = 1
        self._on_cuda = device.is_cuda
        self.entry = _entry(self._launch)
        self.run = self.entry or self._launch.launch

    def run_at_once(self) -> None:
        forward = _forward(self._launch)
        if forward is None:
            self._launch.launch()
        else:
            forward(*map(ctypes.byref, self._launch.params))

    @property
    def address(self) -> int | None:  # type: ignore[override]
        if _forward(self._launch) is None:
            return None
        return ctypes.cast(self._launch.hooks.forward, ctypes.c_void_p).value

    @property
    def bounds(self) -> list[int]:  # type: ignore[override]
        return _words(self._launch.params[0])

    def set_threads(self, count: int) -> None:
        # Whole blocks are launched, because lanes without an environment help to copy.
        threads = -(-count // BLOCK) * BLOCK * self._warps
        if self._on_cuda and threads != self._threads:
            self._launch.set_dim(threads)
            self._threads = threads


def bounds_of_one() -> list[int]:
    """First argument of the C function of a CPU kernel, which is launched for one index, in words of
    64 bits."""
    return _words(wp._src.types.launch_bounds_t(1))  # type: ignore[attr-defined]


def _words(bounds: Any) -> list[int]:
    size = ctypes.sizeof(bounds)
    words = (ctypes.c_int64 * -(-size // 8))()
    ctypes.memmove(words, ctypes.addressof(bounds), size)
    return list(words)


def refuse_surplus(surplus: tuple[Any, ...]) -> NoReturn:
    """Raise for the arguments of a bound call, which takes none."""
    raise TypeError(
        f"a bound call takes no arguments, got {len(surplus)}: it reads the arrays that it was bound "
        "to. Change these in place (q[:] = ...), or call the function itself"
    )


def _entry(launch: wp.Launch) -> Callable[..., Any] | None:
    """A CPU kernel without Warp's wrapper functions, which take 3 us; None if this version of Warp
    keeps it elsewhere.

    While Warp records launches (a capture on the CPU), Warp's own launch is used.
    """
    runtime: Any = getattr(wp._src.context, "runtime", None)
    forward = _forward(launch)
    if forward is None or not hasattr(runtime, CAPTURE):
        return None
    bounds, packed = (ctypes.byref(x) for x in launch.params)

    def run(result: Any = None, *surplus: Any) -> Any:
        if surplus:
            refuse_surplus(surplus)
        if runtime._apic_capture is None:
            forward(bounds, packed)
        else:
            launch.launch()
        return result

    return run


def records_launches() -> bool:
    """True if Warp records CPU launches, or if this is not known."""
    runtime: Any = getattr(wp._src.context, "runtime", None)
    return getattr(runtime, CAPTURE, True) is not None


def _forward(launch: wp.Launch) -> Callable[..., None] | None:
    """The C function of a CPU kernel, of (bounds, arguments); None if this version of Warp keeps it
    elsewhere."""
    forward = getattr(launch.hooks, "forward", None)
    if not launch.device.is_cpu or launch.block_dim != 1 or not callable(forward):
        return None
    return forward
