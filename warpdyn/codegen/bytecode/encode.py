"""Bytecode of a recorded program: its statements, its routines and its loops."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ...recording.array_operations import COUNTER
from ...recording.graph import COLUMN, FIXED, FROM, KEPT, ROW, SHARED, Repetition, Sweep
from ...recording.order import Statement
from ...recording.phases import CARRIED, STATE, Phases, phases
from ...recording.program import Program
from ..array_statements import begin_of_copies, count_copied_entries, count_kept_entries
from .assembler import NOWHERE, Assembler
from .bytecode import INTEGER, Bytecode, BytecodeArray
from .instructions import WORDS
from .statements import Place, RoutineSlots, Statements


def encode(program: Program) -> Bytecode:
    """The bytecode of a program."""
    to = Assembler(program.tables)
    inputs = {
        name: [-1] * prod(shape)
        for name, shape in program.inputs.items()
        if name not in program.tables
    }
    apart = phases(program)
    last = _whole(to, program, inputs) if apart is None else _in_phases(to, apart, inputs)
    results = [  # before the slots are counted, because constant entries take new slots
        BytecodeArray(name, [last.slot_of(o) for o in outputs], [o.node is None for o in outputs])
        for name, outputs in last.program.outputs_of.items()
    ]
    for _ in range(2):  # no earlier instruction is one of the last two (bytecode_checks.py)
        to.add("end")
    return Bytecode(
        code=array(INTEGER, to.code),
        constants=to.constants,
        slots=to.slots,
        counters=to.counters,
        depth=to.depth,
        inputs=[BytecodeArray(name, slots, []) for name, slots in inputs.items()],
        results=results,
        preload=[x for number, slot in to.preload.items() for x in (slot, number)],
    )


def _whole(to: Assembler, program: Program, inputs: dict[str, list[int]]) -> Statements:
    """A program of statements and routines; returns its body."""
    _load_inputs(to, program.statements, inputs)
    free = {s.target for s in program.statements if s.operation == "input"}
    body = Statements(to, program, lambda name, k: inputs[name][k], None, free)
    body.encode()
    to.add("end")
    _routines(to, body)
    return body


def _in_phases(to: Assembler, apart: Phases, inputs: dict[str, list[int]]) -> Statements:
    """A program with a loop that ends for each environment on its own; returns the body of the last
    phase.

    The phases are separate programs, in which different products are fused than in the whole
    program.
    """
    _load_inputs(to, [*apart.before.statements, *apart.after.statements], inputs)
    size = apart.state_size
    region = RoutineSlots(
        shared=to.new_slots(max(apart.carried_size, 1)),
        column=to.new_slots(size),
        out=to.new_slots(size),
    )
    given = {CARRIED: region.shared, STATE: region.column}
    handed_on = {CARRIED: region.shared, STATE: region.out}

    def load(name: str, k: int) -> int:
        return handed_on[name] + k if name in handed_on else inputs[name][k]

    before = Statements(to, apart.before, load, lambda name, k: given[name] + k)
    before.encode()
    assert apart.step.repetition is not None
    step = _loop(to, apart.step, apart.step.repetition, region, None)
    after = Statements(to, apart.after, load, None)
    after.encode()
    to.add("end")
    for body in (before, step, after):
        _routines(to, body)
    return after


def _load_inputs(
    to: Assembler, statements: Sequence[Statement], inputs: dict[str, list[int]]
) -> None:
    """Give slots to the inputs that statements read."""
    for s in statements:
        if s.operation == "input" and s.arguments[0] in inputs:
            name, k = s.arguments
            if inputs[name][k] < 0:
                inputs[name][k] = to.new_slots(1)


def _routines(to: Assembler, body: Statements, depth: int = 1) -> None:
    """The routines that a body calls, behind the code that calls them. `depth`: how many routines are
    nested in each other here."""
    if body.program.routines:
        to.depth = max(to.depth, depth)
    for name, routine in body.program.routines.items():
        region, repetition = body.regions[name], routine.repetition
        for place in region.calls:
            to.code[place] = to.here
        # The values of the caller are alive while the routine runs.
        outside, to.free = to.free, []
        if routine.sweep:
            inside = _sweep(to, routine, routine.sweep, region, body.regions)
        elif repetition is None:
            arrays = {SHARED: region.shared, COLUMN: region.column}
            inside = Statements(to, routine, _at(arrays), _at({"out": region.out}))
            inside.encode()
        else:
            read = body.kept[repetition.reads] if repetition.reads else None
            inside = _loop(to, routine, repetition, region, read)
        to.add("back")
        _routines(to, inside, depth + 1)
        to.free = outside


def _sweep(
    to: Assembler,
    routine: Program,
    sweep: Sweep,
    region: RoutineSlots,
    regions: Mapping[str, RoutineSlots],
) -> Statements:
    """A sweep along its rows, step after step; returns the statements of the last one."""
    size = sweep.state
    values = prod(routine.results["out"]) - size
    rows = region.shared + prod(routine.inputs[SHARED]) - sweep.row * len(sweep.fixed)
    state, then = to.new_slots(size), to.new_slots(size)
    out = region.out
    for n, path in enumerate(sweep.paths):
        to.add("copy", state, region.column + size * n, size)
        for row in path:
            arrays = {SHARED: region.shared, COLUMN: state, ROW: rows + sweep.row * row}
            for m, source in enumerate(sweep.sources):
                steps = source.values * source.steps[row]
                arrays[f"{FROM}{m}"] = regions[source.routine].out + steps
            fixed = sweep.fixed[row]

            def load(name: str, k: int, arrays: Any = arrays, fixed: Any = fixed) -> int:
                return to.constant_slot(fixed[k]) if name == FIXED else arrays[name] + k

            def place(_: str, k: int, out: int = out) -> int:
                return then + k if k < size else out + k - size

            inside = Statements(to, routine, load, place)
            inside.encode()
            to.add("copy", state, then, size)
            out += values
        to.add("copy", region.out + values * sweep.steps + size * n, state, size)
    return inside


def _loop(
    to: Assembler,
    routine: Program,
    repetition: Repetition,
    region: RoutineSlots,
    read: tuple[int, int] | None,
) -> Statements:
    """A loop on the states in a region; returns the body of its step. `read`: the first slot of the
    states that its steps read, and the entries of each."""
    size, results = prod(routine.inputs[COLUMN]), prod(routine.results["out"])
    then = to.new_slots(results)
    to.add("copy", region.out, region.column, size)
    counter = to.new_counter()
    # Copies are made, and kept states written, before the step changes anything.
    if count_copied_entries(routine):
        _copy_arrays(to, routine, region, region.out + begin_of_copies(routine), written=False)
    going = to.new_slots(1) if repetition.ends else NOWHERE
    if repetition.ends:
        to.add("all_go", going)
    to.add("begin", counter)
    first, leaving = to.here, []
    if repetition.kept:
        block = count_kept_entries(routine)
        kept = region.out if block == size else _block(to, routine, region)
        to.add("keep", region.out + results, kept, block, counter)
        to.add("behind", 0, repetition.times)
    if repetition.end_unread:
        leaving.append(to.here * WORDS + 2)
        to.add("skip_last", counter, 0, repetition.times)
    if repetition.needed is not None:
        leaving.append(to.here * WORDS + 2)
        to.add("skip_idle", counter, 0, region.shared + repetition.needed)
    if repetition.last is not None:
        leaving.append(to.here * WORDS + 2)
        to.add("skip_idle", counter, 0, region.out + repetition.last)
    arrays = {SHARED: region.shared, COLUMN: region.out}
    if read is not None:
        arrays[KEPT] = to.new_slots(read[1])
        to.add("kept", arrays[KEPT], *read, counter)
        to.add("behind", 0, repetition.times)
    if repetition.counts:
        arrays[COUNTER] = to.new_slots(1)
        to.add("counter", arrays[COUNTER], 0, 0, counter)
    body = Statements(
        to,
        routine,
        _at(arrays),
        _at({"out": then}),
        arrays=region.arrays,
        kept=arrays.get(KEPT, NOWHERE),
    )
    body.encode()
    if repetition.ends:
        to.add("copy_going", region.out, then, size, going)
        leaving.append(to.here * WORDS + 3)
        to.add("end_some", going, then + size, 0)
    else:
        to.add("copy", region.out, then, size)
    to.add("again", counter, first, repetition.times)
    for place in leaving:
        to.code[place] = to.here
    return body


def _block(to: Assembler, routine: Program, region: RoutineSlots) -> int:
    """The first slot of a block with the state of a loop and the arrays that it writes."""
    size = prod(routine.inputs[COLUMN])
    block = to.new_slots(count_kept_entries(routine))
    to.add("copy", block, region.out, size)
    _copy_arrays(to, routine, region, block + size, written=True)
    return block


def _copy_arrays(
    to: Assembler, routine: Program, region: RoutineSlots, first: int, written: bool
) -> None:
    """Copy the arrays of a loop, or only those that it writes, to slots from `first` on."""
    for each, slot in zip(routine.arrays, region.arrays, strict=True):
        if each.is_written or not written:
            to.add("copy", first, slot, each.size)
            first += each.size


def _at(arrays: dict[str, int]) -> Place:
    """Slots of the entries of arrays, each in neighbouring slots from its first one."""
    return lambda name, k: arrays[name] + k
