"""A program written for a target, and what has to be known of it to call it."""

from __future__ import annotations

from dataclasses import dataclass

from ..recording.program import Program
from . import cpu, cpu_loop, cuda
from .arguments import Layout

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
