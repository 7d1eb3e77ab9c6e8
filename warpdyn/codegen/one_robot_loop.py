"""The loop of a program that computes a single robot: in a CUDA thread, or in exported code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from ..recording.graph import COLUMN, KEPT, Repetition
from ..recording.program import Program


def count_written_entries(routine: Program) -> int:
    """Number of entries that a routine writes, including the states that a loop keeps."""
    results = prod(routine.results["out"])
    if routine.repetition and routine.repetition.kept:
        results += routine.repetition.times * prod(routine.inputs[COLUMN])
    return results


def write_loop(
    routine: Program,
    repetition: Repetition,
    T: str,
    stride: int,
    body: Callable[[Mapping[str, str], str], Iterator[str]],
) -> Iterator[str]:
    """The steps of a loop. All indices are constants except those of kept states, so that its two
    arrays stay in registers.

    `stride`: entries of each kept state that it reads; `body`: a step's statements, from the names
    of the input arrays there and the place of the results.
    """
    size = prod(routine.inputs[COLUMN])
    results = prod(routine.results["out"])
    yield f"{T} then[{results}];"
    yield from (f"out[{k}] = column[{k}];" for k in range(size))
    yield f"for (int step = 0; step < {repetition.times}; ++step) {{"
    if repetition.kept:
        yield from (f"out[{results + k} + {size} * step] = out[{k}];" for k in range(size))
    if repetition.end_unread:
        yield f"if (step == {repetition.times - 1}) break;"
    inputs = {COLUMN: "out"}
    if repetition.reads:
        yield f"const {T}* const before = kept + {stride} * ({repetition.times - 1} - step);"
        inputs[KEPT] = "before"
    yield from body(inputs, "then")
    yield from (f"out[{k}] = then[{k}];" for k in range(size))
    if repetition.ends:
        yield f"if (then[{size}] > 0) break;"
    yield "}"
