"""A program's Warp kernel, and what is kept on disk so that a second process neither records nor compiles."""

from __future__ import annotations

import ctypes
import hashlib
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import warp as wp

from . import cpu, cpu_loop, cuda
from .layout import Layout
from .program import Program

FORMAT = 2
"""Changes when what is kept on disk changes its meaning."""


EXPECTED_STEPS = 32
"""Of a loop that may take more; to estimate how long a batch takes."""


@dataclass(frozen=True)
class Text:
    """A program written for one target, and what has to be known of it to call it."""

    name: str
    source: str
    inputs: dict[str, tuple[int, ...]]
    results: dict[str, tuple[int, ...]]
    """Arrays and their trailing shapes."""
    operations: int
    bytes: int
    """Read and written for one environment, constant outputs not counted."""
    target: str
    loops: bool = False
    """Environments take as many steps as each needs."""

    @property
    def layout(self) -> Layout:
        return Layout(self.inputs, self.results)


def write(program: Program, name: str, single: bool, target: str) -> Text:
    """The program as C++ for target "cpu" or "cuda"."""
    on_cpu = cpu_loop if program.loop else cpu
    source = (on_cpu if target == "cpu" else cuda).source(program, single)
    read = sum(s.operation == "input" for s in program.statements)
    written = sum(o.node is not None for o in program.outputs)
    size = (read + written) * (4 if single else 8)
    operations = program.operations
    if program.loop:
        operations += min(program.loop.steps, EXPECTED_STEPS) * program.loop.step.operations
    return Text(
        name, source, program.arguments, dict(program.results), operations, size, target, program.loop is not None
    )


def cached(key: str, make: Callable[[], Text]) -> Text:
    """The text kept under `key`, or a new one, which is then kept."""
    digest = hashlib.sha256(f"{FORMAT} {_own_version()} {key}".encode()).hexdigest()
    path = cache_directory() / f"{digest}.json"
    try:
        kept = json.loads(path.read_text())
        for arrays in ("inputs", "results"):
            kept[arrays] = {name: tuple(shape) for name, shape in kept[arrays].items()}
        return Text(**kept)
    except (OSError, ValueError, TypeError, KeyError):
        text = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(asdict(text)))
        partial.replace(path)
    except OSError:
        pass  # a read-only home costs time, nothing else
    return text


def cache_directory() -> Path:
    """Where recorded programs are kept: WARPDYN_CACHE_DIR, or the user's cache. Warp keeps compiled kernels in its
    own."""
    root = os.environ.get("WARPDYN_CACHE_DIR")
    return Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpdyn"


@cache
def _own_version() -> str:
    """A hash of the files that decide what a recorded program says."""
    package = Path(__file__).parent.parent
    files = sorted([*package.glob("*.py"), *package.glob("algorithms/*.py"), *package.glob("tracing/*.py")])
    digest = hashlib.sha256(sys.implementation.cache_tag.encode() if sys.implementation.cache_tag else b"")
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def compile_kernel(text: Text) -> wp.Kernel:
    """The Warp kernel of a text; Warp compiles it, or finds it compiled, when it is first launched."""
    name = "warpdyn_" + re.sub(r"\W", "_", text.name)
    Args = wp.types.vector(length=text.layout.length, dtype=wp.int64)
    stub = (
        "@wp.func_native(snippet=SOURCE)\n"
        "def program(args: Args, tid: int): ...\n"
        "@wp.kernel(module='unique', enable_backward=False)\n"
        f"def {name}(args: Args):\n"
        "    program(args, wp.tid())\n"
    )
    # Warp reads a function's source through `inspect`, which asks `linecache`.
    file = f"<{name} {hashlib.sha256(text.source.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(stub), None, stub.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"wp": wp, "Args": Args, "SOURCE": text.source}
    exec(compile(stub, file, "exec"), scope)
    return scope[name]


class Command:
    """A recorded launch whose arguments are written in place."""

    def __init__(self, kernel: wp.Kernel, device: wp.Device, length: int):
        Args = wp.types.vector(length=length, dtype=wp.int64)
        self._launch = wp.launch(kernel, dim=1, inputs=[Args()], device=device, record_cmd=True)
        packed = self._launch.params[1]
        self.arguments = (ctypes.c_int64 * length).from_address(ctypes.addressof(packed))
        self._packed = packed
        self._threads = 1
        self._on_cuda = device.is_cuda
        self.run: Callable[..., None] = self._launch.launch

    def set(self, arguments: Sequence[int]) -> None:
        self.arguments[:] = list(arguments)

    def set_threads(self, count: int) -> None:
        """How many environments a CUDA launch does, one a thread."""
        if self._on_cuda and count != self._threads:
            self._launch.set_dim(count)
            self._threads = count
