"""Table of all functions: supported arrays, devices and gradients, from the library's own tables."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import warpdyn as wd
from warpdyn.arrays.libraries import REGISTRY
from warpdyn.codegen.targets import TARGETS
from warpdyn.execution.batched import Function
from warpdyn.execution.public_functions import FUNCTIONS, PublicFunction

DEVICES = {"cpu": "CPU", "cuda": "CUDA"}
"""How the table calls the devices of warpdyn's backends."""

YES, NO = "yes", "–"


@dataclass(frozen=True)
class Row:
    """Properties of a public array function."""

    name: str
    path: str
    """Its name after `wd.`, with the namespace."""
    libraries: tuple[str, ...]
    """Titles of the array libraries it takes."""
    gradient: bool
    """Whether it has derivatives, by `wd.vjp` and inside Torch, JAX and Warp."""
    params: bool
    """Whether numbers of the model may differ from one environment to the next."""
    devices: tuple[str, ...]
    """Devices that a kernel is written for."""


def rows() -> list[Row]:
    """A row for each public function that runs as a kernel."""
    devices = tuple(DEVICES[b.device] for b in TARGETS.values() if b.device is not None)
    return [
        Row(
            function.__name__,
            path,
            tuple(REGISTRY.values()),
            not repeats(function),
            "params" in inspect.signature(function).parameters,
            devices,
        )
        for path, function in sorted(kernels().items())
    ]


def kernels() -> dict[str, Function]:
    """Public functions that run as kernels, by name: `rnea`, `convert.twist`."""
    public: dict[str, Any] = {name: getattr(wd, name) for name in wd.__all__}
    for space in [name for name, thing in public.items() if isinstance(thing, ModuleType)]:
        names = getattr(public[space], "__all__", ())
        public |= {f"{space}.{name}": getattr(public[space], name) for name in names}
    functions = {name: f for name, f in public.items() if isinstance(f, Function)}
    return {name: f for name, f in functions.items() if FUNCTIONS.get(f.__name__) is f}


def repeats(function: PublicFunction) -> bool:
    """True if the call has `repeats=True`: an unknown number of steps, and no derivatives."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function.describe)))
    return any(
        keyword.arg == "repeats" and isinstance(keyword.value, ast.Constant) and keyword.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
    )


def page() -> str:
    """Markdown page with the table."""
    libraries, devices = list(REGISTRY.values()), list(DEVICES.values())
    head = ["function", *libraries, "gradient", "params", "float64", *devices]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows():
        cells = [
            f"{{func}}`wd.{row.path} <warpdyn.{row.path}>`",
            *(_mark(each in row.libraries) for each in libraries),
            _mark(row.gradient),
            _mark(row.params),
            _mark(True),
            *(_mark(each in row.devices) for each in devices),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return (
        "# What works with what\n\n"
        "This table lists every function that runs as a kernel. The site's build generates it from the library. "
        "All functions take float32 and float64 arrays. JAX arrays must be on the CPU. "
        "CUDA kernels are generated, and compiled in tests. The project's figures are from CPUs. "
        "A function without a gradient repeats its step until it has converged. "
        "A function without params uses no number of the model.\n\n" + "\n".join(lines) + "\n"
    )


def _mark(holds: bool) -> str:
    return YES if holds else NO
