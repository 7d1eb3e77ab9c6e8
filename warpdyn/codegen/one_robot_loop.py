"""The loop of a program where one robot is computed alone: in a thread of CUDA, in exported code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from ..recording.graph import COLUMN, KEPT, Repetition
from ..recording.program import Program


def entries_written(routine: Program) -> int:
    """Entries that a routine writes, the states that a loop keeps among them."""
    results = prod(routine.results["out"])
    if routine.repetition and routine.repetition.kept:
        results += routine.repetition.times * prod(routine.inputs[COLUMN])
    return results


def looped(
    routine: Program,
    repetition: Repetition,
    T: str,
    stride: int,
    body: Callable[[Mapping[str, str], str], Iterator[str]],
) -> Iterator[str]:
    """The steps of a loop. Indices are known but for those of kept states, so that its two arrays
    stay in registers.

    `stride`: entries of each kept state that it reads; `body`: a step's statements, by the names of
    arrays that inputs have there, and where its results go.
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
