"""Bytecode of statements: their instructions, and a slot for each value.

A value has a slot from its statement to the last one that reads it. Values that are results keep their
slots. A value that only the next instruction reads stays in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import prod
from typing import Any

from ...recording.array_operations import ARRAY_OPERATIONS, READS
from ...recording.graph import SHARED
from ...recording.order import CELL, CORNER, Statement
from ...recording.program import Output, Program
from ...recording.table import LOOK
from ..array_statements import count_kept_entries
from ..one_robot_loop import count_column_entries, count_written_entries
from .array_slots import ArraySlots
from .assembler import NOWHERE, Assembler
from .instructions import COMMUTATIVE, CORNERS, FUSED, NUMBER, WORDS

NOTHING = -1
"""No node."""

TURNED = ("sa", "ks", "ka")
"""Kinds of two operands that are swapped."""

ZEROS = ((0, 0, 0), (0, 0), (0,), (), ())
"""Operands that an instruction lacks, by the number that it has."""

OF_LANES = {NUMBER[x] for x in ("exp", "log", "atan2", "uniform")}
"""Instructions that leave no value in registers."""

Place = Callable[[str, int], int]
"""The slot of an entry of an array."""


class RoutineSlots:
    """Neighbouring slots of a routine: its inputs, its results and the states that it keeps."""

    def __init__(self, shared: int, column: int, out: int):
        self.shared, self.column, self.out = shared, column, out
        self.calls: list[int] = []
        """Positions of the calls of the routine in the code."""
        self.arrays: Sequence[int] = ()
        """The first slots of the arrays of a loop."""


class Statements:
    """The statements of a program, of a routine or of a phase.

    `load`: slots of inputs. `place`: slots for the outputs; None: each output is read from the slot
    of its value. `free_inputs`: inputs whose slots may be used again. `arrays`: first slots of the
    arrays of a loop; `kept`: the first slot of the values that another loop has kept before a step.
    """

    def __init__(
        self,
        to: Assembler,
        program: Program,
        load: Place,
        place: Place | None,
        free_inputs: Set[int] = frozenset(),
        arrays: Sequence[int] = (),
        kept: int = NOWHERE,
    ):
        self.to, self.program, self.load, self.place = to, program, load, place
        self.free_inputs, self.stores = free_inputs, program.stores
        self.slot: dict[int, int] = {}
        """Slots of the values that are alive."""
        self.negative: dict[int, int] = {}
        """Slots of the negatives of values, for outputs."""
        self.in_registers = NOTHING
        """The node whose value the last instruction has left in registers."""
        self.held = set(self.stores)
        """Nodes whose slots are not used again: outputs, and values in slots of regions."""
        self.last: dict[int, int] = {}
        """The last statement that reads each node."""
        for n, s in enumerate(program.statements):
            self.last.update(dict.fromkeys(program.reads[s.target], n))
        self.sines: dict[int, int] = {}
        """The slot of the sine of each angle; that of the cosine is the next one."""
        self.regions: dict[str, RoutineSlots] = {}
        self.kept: dict[str, tuple[int, int]] = {}
        """The first slot of the states that a loop keeps, and the entries of each."""
        self.calls_left: dict[str, int] = {}
        self.arrays = ArraySlots(to, program, self.regions, arrays, kept)

    def slot_of(self, output: Output) -> int:
        """The slot from which an output is read."""
        if output.node is None:
            return self.to.constant_slot(output.constant)
        return (self.negative if output.negative else self.slot)[output.node]

    def encode(self) -> None:
        """Write the statements."""
        self._add_regions()
        special = self._SPECIAL
        for n, statement in enumerate(self.program.statements):
            write = special.get(statement.operation)
            if write is None:
                self._arithmetic(statement, n)
                continue
            before = len(self.to.code)
            write(self, statement)
            self._end(self.program.reads[statement.target], n)
            if statement.target in self.stores and statement.target in self.slot:
                self._store(statement.target)
            if len(self.to.code) > before:
                self.in_registers = NOTHING
        self._end_body()

    def _end(self, nodes: Iterable[int], n: int) -> None:
        """Free the slots of values that statement n was the last to read."""
        last, held, slot, free = self.last, self.held, self.slot, self.to.free
        for x in nodes:
            if last[x] == n and x not in held and x in slot:
                free.append(slot.pop(x))

    def _end_body(self) -> None:
        """Write outputs that are constants."""
        to = self.to
        if self.place is None:
            return
        for place, output in zip(self.program.places, self.program.outputs, strict=True):
            if output.node is None:
                to.add("constant", self.place(*place), to.constant(output.constant))

    # Arithmetic

    def _arithmetic(self, statement: Statement, n: int) -> None:
        """The instruction of an operation on values and constants."""
        target, operation, arguments = statement
        to, slot, last, in_registers = self.to, self.slot, self.last, self.in_registers
        read_once = arguments.count(in_registers) == 1
        kinds, numbers, in_place = "", [], False
        for x in arguments:
            if x.__class__ is not int:
                kinds += "k"
                numbers.append(to.constant(x))
            elif read_once and x == in_registers:
                kinds += "a"
                numbers.append(0)
                in_place = True
            else:
                kinds += "s"
                numbers.append(slot[x])
        if kinds[:2] in TURNED and (operation in COMMUTATIVE or operation in FUSED):
            numbers[0], numbers[1] = numbers[1], numbers[0]
            kinds = kinds[1] + kinds[0] + kinds[2:]
        number = NUMBER.get(f"{operation}_{kinds}")
        if number is None:
            number, numbers, in_place = *self._on_slots(operation, arguments), False
        if in_place and last[in_registers] == n and in_registers not in self.held:
            to.code[-WORDS + 1] = NOWHERE  # the value need not be stored
        self._end(self.program.reads[target], n)
        d = self._slot_for(target) if target in self.stores or not to.free else to.free.pop()
        slot[target] = d
        to.code += (number, d, *numbers[:3], *ZEROS[len(numbers)])
        if len(numbers) == 4:
            to.add("behind", 0, numbers[3])
        self.in_registers = NOTHING if number in OF_LANES else target
        if target in self.stores:
            self._store(target)

    def _on_slots(self, operation: str, arguments: Sequence[Any]) -> tuple[int, list[int]]:
        """The instruction with slots for all operands, including constants."""
        slots = [self._slot_of(x) for x in arguments]
        name = operation if operation in NUMBER else f"{operation}_{'s' * len(slots)}"
        return NUMBER[name], slots

    def _slot_of(self, x: int | float) -> int:
        return self.slot[x] if isinstance(x, int) else self.to.constant_slot(x)

    def _slot_for(self, target: int) -> int:
        """The slot in which a value is computed; for an output, the first place that it goes to."""
        to, program = self.to, self.program
        if target not in self.stores:
            return to.free.pop() if to.free else to.new_slots(1)
        if self.place is not None:
            for k in self.stores[target]:
                if not program.outputs[k].negative:
                    return self.place(*program.places[k])
        return to.new_slots(1)

    def _store(self, target: int) -> None:
        """Copy the value of an output, or its negative, to its places."""
        to, program, at = self.to, self.program, self.slot[target]
        negative = [k for k in self.stores[target] if program.outputs[k].negative]
        if self.place is None:
            if negative:
                self.negative[target] = to.new_slots(1)
                to.add("neg_s", self.negative[target], at)
                self.in_registers = NOTHING
            return
        for k in self.stores[target]:
            slot = self.place(*program.places[k])
            if k not in negative and slot != at:
                to.add("move_s", slot, at)
        for k in negative:
            to.add("neg_s", self.place(*program.places[k]), at)
            self.in_registers = NOTHING

    # Other statements

    def _input(self, statement: Statement) -> None:
        """A value that is already in a slot."""
        self.slot[statement.target] = self.load(*statement.arguments)
        if statement.target not in self.free_inputs:
            self.held.add(statement.target)

    def _turn(self, statement: Statement) -> None:
        """Sine and cosine, computed together by the first of the two."""
        (angle,) = statement.arguments
        if angle not in self.sines:
            sine = self.sines[angle] = self.to.new_slots(2)
            self.to.add("sincos", sine, self.slot[angle], sine + 1)
        self._hold(statement, self.sines[angle] + (statement.operation == "cos"))

    def _look(self, statement: Statement) -> None:
        """A number of a table, or the corners of a cell."""
        table, *places = statement.arguments
        slot = self.to.new_slots(1 if statement.operation == LOOK else CORNERS)
        row, column = map(self._slot_of, places)
        self.to.add(statement.operation, slot, row, column, self.to.tables[table])
        self._hold(statement, slot)

    def _corner(self, statement: Statement) -> None:
        """A number of a cell."""
        cell, k = statement.arguments
        self._hold(statement, self.slot[cell] + int(k))

    def _array(self, statement: Statement) -> None:
        """An operation on arrays."""
        target = statement.target
        d = NOWHERE
        if statement.operation in READS:
            d = self.slot[target] = self._slot_for(target)
        self.arrays.encode(statement, d, self._slot_of)

    def _frame(self, statement: Statement) -> None:
        """The values that calls of a routine share."""
        name, *values = statement.arguments
        self._move_all(values, self.regions[name].shared)

    def _call(self, statement: Statement) -> None:
        """A call of a routine."""
        name, lent, *values = statement.arguments
        region = self.regions[name]
        region.arrays = self.arrays.of_call(lent)
        self._move_all(values, region.column)
        region.calls.append(self.to.here * WORDS + 1)
        self.to.add("call")
        self.calls_left[name] -= 1

    def _of(self, statement: Statement) -> None:
        """A result of a routine. A later call of the routine overwrites it."""
        name, _, k = statement.arguments
        slot = self.regions[name].out + int(k)
        if self.calls_left[name]:
            own = self.to.new_slots(1)
            self.to.add("move_s", own, slot)
            slot = own
        self._hold(statement, slot)

    def _hold(self, statement: Statement, slot: int) -> None:
        self.slot[statement.target] = slot
        self.held.add(statement.target)

    def _move_all(self, values: Sequence[Any], first: int) -> None:
        to = self.to
        for k, x in enumerate(values):
            if isinstance(x, int):
                to.add("move_s", first + k, self.slot[x])
            else:
                to.add("constant", first + k, to.constant(x))

    _SPECIAL: Mapping[str, Callable[[Statements, Statement], None]] = {
        "input": _input,
        "sin": _turn,
        "cos": _turn,
        LOOK: _look,
        CELL: _look,
        CORNER: _corner,
        "frame": _frame,
        "call": _call,
        "of": _of,
        **dict.fromkeys(ARRAY_OPERATIONS, _array),
    }
    """Methods that write the statements other than arithmetic."""

    # Routines

    def _add_regions(self) -> None:
        """Slots of the routines."""
        to = self.to
        called = (s.arguments[0] for s in self.program.statements if s.operation == "call")
        self.calls_left = Counter(called)
        for name, routine in self.program.routines.items():
            self.regions[name] = RoutineSlots(
                to.new_slots(prod(routine.inputs[SHARED])),
                to.new_slots(count_column_entries(routine)),
                to.new_slots(count_written_entries(routine)),
            )
            if routine.repetition and routine.repetition.kept:
                first = self.regions[name].out + prod(routine.results["out"])
                self.kept[name] = (first, count_kept_entries(routine))
