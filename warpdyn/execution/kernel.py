"""A program's Warp kernel, and what is kept on disk so that a second process neither records nor compiles."""

from __future__ import annotations

import ctypes
import hashlib
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import warp as wp

from ..codegen import cpu, cpu_loop, cuda
from ..codegen.arguments import Layout
from ..recording.program import Program

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
        name,
        source,
        program.arguments,
        dict(program.results),
        operations,
        size,
        target,
        program.loop is not None,
    )


def cached(key: str, texts: Iterable[Callable[..., Any]], make: Callable[[], Text]) -> Text:
    """What is kept under `key` and the present source of these texts, or a new one, which is then kept."""
    version = source_version(
        frozenset({*RECORDING, *(module for text in texts for module in modules_of(text))})
    )
    digest = hashlib.sha256(f"{FORMAT} {version} {key}".encode()).hexdigest()
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
    return (
        Path(root)
        if root
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpdyn"
    )


RECORDING = ("warpdyn.execution.call", "warpdyn.execution.kernel")
"""Modules that record a text and write it as C++."""


def modules_of(text: Callable[..., Any]) -> set[str]:
    """The modules that a text, and what is wrapped in it, come from."""
    inside: list[Any] = [cell.cell_contents for cell in getattr(text, "__closure__", None) or ()]
    if isinstance(text, partial):
        inside.append(text.func)
    modules = {module for each in inside if callable(each) for module in modules_of(each)}
    return modules if isinstance(text, partial) else {text.__module__, *modules}


@cache
def source_version(modules: frozenset[str]) -> str:
    """A hash of the files that decide what is recorded and written: these modules, and all that they import."""
    digest = hashlib.sha256(
        sys.implementation.cache_tag.encode() if sys.implementation.cache_tag else b""
    )
    for name, path in sorted(source_files(modules).items()):
        digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()


def source_files(modules: Iterable[str]) -> dict[str, Path]:
    """Files of the given modules and of all of this package that they import, directly or not, by module name.

    Read from the import statements, those inside functions too; `warpdyn` itself only hands names on and is left out.
    """
    found: dict[str, Path] = {}
    waiting = [(name, getattr(sys.modules.get(name), "__file__", None)) for name in modules]
    while waiting:
        name, file = waiting.pop()
        if file is not None and name not in found:
            found[name] = Path(file)
            waiting += [(each, _file_of(each)) for each in _imports(name, found[name])]
    return found


@cache
def _imports(name: str, path: Path) -> list[str]:
    """What a module imports by `from`: packages, modules, or names in them."""
    parts = name.split(".")
    package = parts if path.name == "__init__.py" else parts[:-1]
    imported = []
    for dots, start, names in _FROM.findall(path.read_text()):
        above = package[: len(package) - len(dots) + 1] if dots else []
        module = ".".join([*above, *start.split(".")]).rstrip(".")
        imported += [
            module,
            *(
                f"{module}.{each.split()[0]}"
                for each in names.strip("()").split(",")
                if each.split()
            ),
        ]
    return imported


_FROM = re.compile(
    r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)", re.MULTILINE
)


def _file_of(module: str) -> Path | None:
    """The file of a module of this package."""
    top, *rest = module.split(".")
    if top != "warpdyn" or not rest:
        return None
    path = PACKAGE.joinpath(*rest)
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None
    )


PACKAGE = Path(__file__).parents[1]


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
