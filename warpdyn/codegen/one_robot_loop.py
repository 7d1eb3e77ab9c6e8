"""Loops of a program that computes a single robot: in a CUDA thread, or in exported code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from math import prod

from ..recording.array_operations import COUNTER, KEPT_ROWS
from ..recording.graph import COLUMN, FIXED, FROM, KEPT, ROW, SHARED, Repetition, Sweep
from ..recording.program import Program
from .array_statements import (
    begin_of_copies,
    copy_arrays,
    count_copied_entries,
    count_kept_entries,
    keep_arrays,
)
from .emit import Region


def count_written_entries(routine: Program) -> int:
    """Number of entries that a routine writes, including the states that a loop keeps."""
    results = prod(routine.results["out"])
    if routine.sweep:
        values = results - routine.sweep.state
        return routine.sweep.steps * values + len(routine.sweep.paths) * routine.sweep.state
    if routine.repetition:
        results = begin_of_copies(routine) + count_copied_entries(routine)
    return results


def count_column_entries(routine: Program) -> int:
    """Number of entries that a call of a routine reads, in addition to those that calls share."""
    return prod(routine.inputs[COLUMN]) * (len(routine.sweep.paths) if routine.sweep else 1)


def source_parameters(routine: Program, T: str) -> str:
    """Further parameters of a sweep: the results of the sweeps that it reads."""
    sources = routine.sweep.sources if routine.sweep else ()
    return "".join(f", const {T}* source{m}" for m in range(len(sources)))


def source_arguments(routine: Program, regions: Mapping[str, Region]) -> str:
    """The arguments for `source_parameters`."""
    sources = routine.sweep.sources if routine.sweep else ()
    return "".join(f", {regions[source.routine].out}" for source in sources)


def write_sweep(
    routine: Program,
    sweep: Sweep,
    T: str,
    number: str,
    literal: Callable[[float], str],
    body: Callable[[Mapping[str, str], str], Iterator[str]],
) -> Iterator[str]:
    """The steps of a sweep along all of its paths.

    `T`: the type of a value; `number`: that of a constant, which `literal` writes; `body`: a step's
    statements, from the names of the input arrays there and the place of the results.
    """
    size, values = sweep.state, prod(routine.results["out"]) - sweep.state
    rows = ", ".join(str(k) for path in sweep.paths for k in path)
    ends = ", ".join(map(str, accumulate(map(len, sweep.paths))))
    constants = ", ".join(literal(x) for row in sweep.fixed for x in row)
    first = prod(routine.inputs[SHARED]) - sweep.row * len(sweep.fixed)
    yield f"static const short rows[] = {{{rows}}};"
    yield f"static const int ends[] = {{{ends}}};"
    for m, source in enumerate(sweep.sources):
        yield f"static const short steps{m}[] = {{{', '.join(map(str, source.steps))}}};"
    if constants:
        yield f"static const {number} constants_of_rows[] = {{{constants}}};"
    yield f"{T} state[{max(size, 1)}], then[{size + values}];"
    yield f"for (int path = 0, step = 0; path < {len(sweep.paths)}; ++path) {{"
    yield from (f"state[{k}] = column[{size} * path + {k}];" for k in range(size))
    yield "for (; step < ends[path]; ++step) {"
    yield f"const {T}* const row = shared + {first} + {sweep.row} * rows[step];"
    if constants:
        fixed = len(sweep.fixed[0])
        yield f"const {number}* const fixed = constants_of_rows + {fixed} * rows[step];"
    arrays = {COLUMN: "state", ROW: "row", FIXED: "fixed"}
    for m, source in enumerate(sweep.sources):
        arrays[f"{FROM}{m}"] = f"from{m}"
        place = f"source{m} + {source.values} * steps{m}[rows[step]]"
        yield f"const {T}* const from{m} = {place};"
    yield from body(arrays, "then")
    yield from (f"out[{values} * step + {k}] = then[{size + k}];" for k in range(values))
    yield from (f"state[{k}] = then[{k}];" for k in range(size))
    yield "}"
    end = values * sweep.steps
    yield from (f"out[{end} + {size} * path + {k}] = state[{k}];" for k in range(size))
    yield "}"


def write_loop(
    routine: Program,
    repetition: Repetition,
    T: str,
    stride: int,
    body: Callable[[Mapping[str, str], str], Iterator[str]],
    counter: str = "",
    beyond: str = "",
) -> Iterator[str]:
    """The steps of a loop. All indices are constants except those of kept states, so that its two
    arrays stay in registers.

    `stride`: entries of each kept state that it reads; `body`: a step's statements, from the names
    of the input arrays there and the place of the results; `counter`: the number of the step as a
    value, if that is not a number; `beyond`: a function of a value and a step that returns whether
    the value is beyond the step, if values are not numbers.
    """

    def goes_on(x: str) -> str:
        return f"{beyond}({x}, step)" if beyond else f"{x} > ({T})step"

    size = prod(routine.inputs[COLUMN])
    results = prod(routine.results["out"])
    if results:  # C++ has no array of length 0, which a loop without a state would need
        yield f"{T} then[{results}];"
    yield from (f"out[{k}] = column[{k}];" for k in range(size))
    yield from copy_arrays(routine, "out")
    yield f"for (int step = 0; step < {repetition.times}; ++step) {{"
    if repetition.needed is not None:
        # Written so that NaN means no steps.
        yield f"if (!({goes_on(f'shared[{repetition.needed}]')})) break;"
    if repetition.last is not None:
        yield f"if (!({goes_on(f'out[{repetition.last}]')})) break;"
    if repetition.kept:
        block = count_kept_entries(routine)
        yield from (f"out[{results + k} + {block} * step] = out[{k}];" for k in range(size))
        yield from keep_arrays(routine, f"out + {results} + {block} * step")
    if repetition.end_unread:
        yield f"if (step == {repetition.times - 1}) break;"
    inputs = {COLUMN: "out"}
    if any(s.operation == "input" and s.arguments[0] == COUNTER for s in routine.statements):
        yield f"const {T} {COUNTER}[1] = {{{counter or f'({T})step'}}};"
    if repetition.reads:
        if not repetition.counts or _reads_kept(routine):
            yield f"const {T}* const before = kept + {stride} * ({repetition.times - 1} - step);"
        inputs[KEPT] = "before"
    yield from body(inputs, "then")
    yield from (f"out[{k}] = then[{k}];" for k in range(size))
    if repetition.ends:
        yield f"if (then[{size}] > 0) break;"
    yield "}"


def _reads_kept(routine: Program) -> bool:
    """True if a step reads values that another loop has kept."""
    return any(
        s.operation == KEPT_ROWS or (s.operation == "input" and s.arguments[0] == KEPT)
        for s in routine.statements
    )
