"""The targets that programs are written for, and the functions that write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..recording.phases import phases
from ..recording.program import Program
from . import cpu, cpu_loop, cuda_warps, scalar_kernel
from .cuda_warps import CudaSource
from .source import Source

Code = Callable[[Program, bool], str | list[str] | CudaSource]
"""The function that writes a program. If it returns several sources, all but the first are further
translation units."""


@dataclass(frozen=True)
class Backend:
    """A way to write programs."""

    code: Code
    """The function that writes a program's C++, in float32 if the second argument is true."""
    device: str | None = None
    """Kind of device whose kernels are written by this backend unless a call asks for another one;
    None if there is no such device."""


FOR_FEW = {
    "cuda_few_220": cuda_warps.SM_90_BYTES,
    "cuda_few_96": cuda_warps.SM_86_BYTES,
    "cuda_few": 0,
}
"""Targets for small batches on a GPU, and the shared memory for which a launch may ask: that of sm_90,
that of sm_86 (CUDA C++ Programming Guide, technical specifications), and none."""

TARGETS: dict[str, Backend] = {}
"""Backends by the name that `write` and the command line use."""


def register(target: str, code: Code, device: str | None = None) -> None:
    """Add a backend under a new name."""
    if target in TARGETS:
        raise ValueError(f"target {target!r} is registered already")
    if device is not None and device in {backend.device for backend in TARGETS.values()}:
        raise ValueError(
            f"kernels of device {device!r} are already written by {target_of(device)!r}"
        )
    TARGETS[target] = Backend(code, device)


def target_of(device: str) -> str:
    """The target whose backend writes kernels for this kind of device, "cpu" or "cuda"."""
    return next(name for name, backend in TARGETS.items() if backend.device == device)


def _lanes(program: Program, single: bool) -> str | list[str]:
    """The CPU form of a program; a different one if environments take different numbers of
    steps."""
    apart = phases(program)
    return cpu_loop.source(program, apart, single) if apart else cpu.source(program, single)


register("cpu", _lanes, device="cpu")
register("cuda", cuda_warps.source, device="cuda")
register("cuda_few_220", cuda_warps.source_with_220_kb)
register("cuda_few_96", cuda_warps.source_with_96_kb)
register("cuda_few", cuda_warps.source_for_few)
register("scalar", scalar_kernel.source)


def write(program: Program, name: str, single: bool, target: str) -> Source:
    """The program as C++ for one of TARGETS."""
    described = describe(program, name, single, target)
    texts = TARGETS[target].code(program, single)
    if isinstance(texts, CudaSource):
        return replace(described, **texts._asdict())
    code, *units = [texts] if isinstance(texts, str) else texts
    return replace(described, code=code, translation_units=tuple(units))


def describe(program: Program, name: str, single: bool, target: str) -> Source:
    """The facts about a program for one of TARGETS, without its C++."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    read = sum(s.operation == "input" for s in program.statements)
    written = sum(o.node is not None for o in program.outputs)
    number = 4 if single else 8
    return Source(
        name=name,
        code="",
        inputs=dict(program.inputs),
        results=dict(program.results),
        operations=program.operations,
        bytes=(read + written) * number,
        constant_bytes=(len(program.outputs) - written) * number,
        target=target,
        tables=program.tables,
        over=dict(program.over),
        numbers=program.numbers,
        loops=phases(program) is not None,
    )
