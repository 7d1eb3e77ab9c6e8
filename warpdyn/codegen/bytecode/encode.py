"""Bytecode of a recorded program: instructions, and a slot for each value.

A value has a slot from its statement to the last one that reads it. Values that are results keep their
slots. A value that only the next instruction reads stays in registers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from math import prod

from ...recording.graph import COLUMN, KEPT, SHARED, Repetition
from ...recording.order import CELL, CORNER, Statement, operands
from ...recording.phases import CARRIED, STATE, Phases, phases
from ...recording.program import Output, Program
from ...recording.table import LOOK
from .bytecode import INTEGER, Bytecode, BytecodeArray
from .instructions import COMMUTATIVE, FUSED, NUMBER, UNARY, WORDS

NOWHERE = 0
"""The slot of values that no instruction reads from a slot."""

Place = Callable[[str, int], int]
"""The slot of an entry of an array."""


def encode(program: Program) -> Bytecode:
    """The bytecode of a program."""
    encoder = _Encoder(program)
    apart = phases(program)
    if apart is None:
        encoder.whole()
    else:
        encoder.in_phases(apart)
    return encoder.finished()


class _Region:
    """Neighbouring slots of a routine: its inputs, its results and the states that it keeps."""

    def __init__(self, shared: int, column: int, out: int):
        self.shared, self.column, self.out = shared, column, out
        self.calls: list[int] = []
        """Where the code has calls of the routine."""


class _Encoder:
    """The bytecode of a program as it grows."""

    def __init__(self, program: Program):
        self.program = program
        self.code: list[int] = []
        self.constants: list[float] = []
        self.numbers: dict[str, int] = {}
        self.preload: dict[int, int] = {}
        self.slots = 1
        self.counters = 0
        self.free: list[int] = []
        self.tables = {name: k for k, name in enumerate(program.tables)}
        self.inputs = {
            name: [-1] * prod(shape)
            for name, shape in program.inputs.items()
            if name not in self.tables
        }
        self.results: dict[str, list[int]] = {}

    # Slots, constants, instructions

    def new_slots(self, number: int) -> int:
        """The first of some neighbouring slots that stay in use."""
        first = self.slots
        self.slots += number
        return first

    def constant(self, value: float) -> int:
        """The number of a constant."""
        key = repr(float(value))
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.constants)
            self.constants.append(float(value))
        return number

    def constant_slot(self, value: float) -> int:
        """A slot that holds a constant from the start."""
        number = self.constant(value)
        if number not in self.preload:
            self.preload[number] = self.new_slots(1)
        return self.preload[number]

    def add(self, name: str, d: int = 0, a: int = 0, b: int = 0, c: int = 0) -> None:
        self.code += (NUMBER[name], d, a, b, c)

    @property
    def here(self) -> int:
        """Number of the next instruction."""
        return len(self.code) // WORDS

    # Programs

    def whole(self) -> None:
        """A program of statements and routines."""
        self._load_inputs(self.program.statements)
        body = _Body(self, self.program, self._input, None, free=self._inputs_of(self.program))
        body.encode()
        self.add("end")
        body.encode_routines()
        self._set_results(self.program, body)

    def in_phases(self, apart: Phases) -> None:
        """A program with a loop that ends for each environment on its own."""
        # The phases are programs of their own, in which other products are fused than in the whole.
        self._load_inputs([*apart.before.statements, *apart.after.statements])
        size = apart.state_size
        carried = self.new_slots(max(apart.carried_size, 1))
        then = self.new_slots(size + 1)
        column = self.new_slots(size)
        region = _Region(carried, column, self.new_slots(size))

        def handed(name: str, k: int) -> int:
            if name == CARRIED:
                return carried + k
            return region.out + k if name == STATE else self._input(name, k)

        places = {CARRIED: carried, STATE: column}
        before = _Body(self, apart.before, self._input, lambda a, k: places[a] + k)
        before.encode()
        repetition = apart.step.repetition
        assert repetition is not None
        step = self.loop(apart.step, repetition, region, then, None)
        after = _Body(self, apart.after, handed, None)
        after.encode()
        self.add("end")
        for body in (before, step, after):
            body.encode_routines()
        self._set_results(apart.after, after)

    def loop(
        self,
        routine: Program,
        repetition: Repetition,
        region: _Region,
        then: int,
        kept: tuple[int, int] | None,
    ) -> _Body:
        """A loop on the states in a region. `then`: slots of a step's results; `kept`: slots of the
        states that the loop reads, and the entries of each."""
        size, results = prod(routine.inputs[COLUMN]), prod(routine.results["out"])
        self.add("copy", region.out, region.column, size)
        counter = self.counters
        self.counters += 1
        going = self.new_slots(1) if repetition.ends else NOWHERE
        if repetition.ends:
            self.add("all_go", going)
        self.add("begin", counter)
        first, leaving = self.here, []
        if repetition.kept:
            self.add("keep", region.out + results, region.out, size, counter)
            self.add("behind", 0, repetition.times)
        if repetition.end_unread:
            leaving.append(self.here * WORDS + 2)
            self.add("skip_last", counter, 0, repetition.times)
        arrays = {SHARED: region.shared, COLUMN: region.out}
        if kept is not None:
            arrays[KEPT] = self.new_slots(kept[1])
            self.add("kept", arrays[KEPT], kept[0], kept[1], counter)
            self.add("behind", 0, repetition.times)
        body = _Body(self, routine, lambda a, k: arrays[a] + k, lambda _, k: then + k)
        body.encode()
        if repetition.ends:
            self.add("copy_going", region.out, then, size, going)
            leaving.append(self.here * WORDS + 3)
            self.add("end_some", going, then + size, 0)
        else:
            self.add("copy", region.out, then, size)
        self.add("again", counter, first, repetition.times)
        for place in leaving:
            self.code[place] = self.here
        return body

    def finished(self) -> Bytecode:
        """The bytecode."""
        outputs = self.program.outputs_of
        self.add("end")  # no instruction before it is the last one
        return Bytecode(
            code=array(INTEGER, self.code),
            constants=self.constants,
            slots=self.slots,
            counters=self.counters,
            inputs=[BytecodeArray(name, slots, []) for name, slots in self.inputs.items()],
            results=[
                BytecodeArray(name, slots, [o.node is None for o in outputs[name]])
                for name, slots in self.results.items()
            ],
            preload=[x for number, slot in self.preload.items() for x in (slot, number)],
        )

    def _input(self, name: str, k: int) -> int:
        return self.inputs[name][k]

    def _load_inputs(self, statements: Sequence[Statement]) -> None:
        """Give slots to the inputs that statements read."""
        for s in statements:
            if s.operation == "input" and s.arguments[0] in self.inputs:
                name, k = s.arguments
                if self.inputs[name][k] < 0:
                    self.inputs[name][k] = self.new_slots(1)

    def _inputs_of(self, program: Program) -> set[int]:
        return {s.target for s in program.statements if s.operation == "input"}

    def _set_results(self, program: Program, body: _Body) -> None:
        for name, outputs in program.outputs_of.items():
            self.results[name] = [body.slot_of(o) for o in outputs]


class _Body:
    """The statements of a program, of a routine or of a phase.

    `load`: slots of inputs. `place`: slots for the outputs; None: each output leaves from the slot of
    its value. `free`: inputs whose slots may be used again.
    """

    def __init__(
        self,
        encoder: _Encoder,
        program: Program,
        load: Place,
        place: Place | None,
        free: set[int] = frozenset(),  # type: ignore[assignment]
    ):
        self.encoder, self.program, self.load, self.place = encoder, program, load, place
        self.free_inputs = free
        self.slot: dict[int, int] = {}
        self.negative: dict[int, int] = {}
        """Slots of the negatives of values, for outputs."""
        self.regions: dict[str, _Region] = {}
        self.kept: dict[str, tuple[int, int]] = {}

    def slot_of(self, output: Output) -> int:
        """The slot from which an output leaves."""
        if output.node is None:
            return self.encoder.constant_slot(output.constant)
        return (self.negative if output.negative else self.slot)[output.node]

    def encode(self) -> None:
        """Write the statements."""
        self._add_regions()
        encoder, slot = self.encoder, self.slot
        code, free, constant = encoder.code, encoder.free, encoder.constant
        statements, stores = self.program.statements, self.program.stores
        last: dict[int, int] = {}
        for n, s in enumerate(statements):
            for x in operands(s):
                last[x] = n
        # Values in slots of regions, and those of outputs, keep their slots.
        held: set[int] = set()
        held.update(stores)
        in_registers = -1
        """The node whose value the previous instruction left in registers."""
        for n, s in enumerate(statements):
            target, operation, arguments = s
            if operation == "input":
                slot[target] = self.load(*arguments)
                if target not in self.free_inputs:
                    held.add(target)
                if target in stores:
                    self._store(target, False)
                    in_registers = -1
                continue
            if operation in _SPECIAL:
                self._special(s, n, last, held, in_registers)
                in_registers = -1
                if target in stores and operation not in ("frame", "call", CELL):
                    self._store(target, False)
                continue
            if operation in ("sin", "cos"):
                self._sincos(s, n, last, held)
                in_registers = -1
                if target in stores:
                    self._store(target, False)
                continue
            # Kinds and numbers of the operands.
            kinds = ""
            numbers = []
            fused = False
            for x in arguments:
                if not isinstance(x, int):
                    kinds += "k"
                    numbers.append(constant(x))
                elif x == in_registers and not fused and arguments.count(x) == 1:
                    kinds += "a"
                    numbers.append(0)
                    fused = True
                else:
                    kinds += "s"
                    numbers.append(slot[x])
            if operation in COMMUTATIVE or operation in FUSED:
                pair = kinds[:2]
                if pair == "sa" or pair == "ks" or pair == "ka":
                    numbers[0], numbers[1] = numbers[1], numbers[0]
                    kinds = pair[1] + pair[0] + kinds[2:]
            number = NUMBER.get(f"{operation}_{kinds}")
            if number is None:
                # No instruction for these kinds: slots, of constants too.
                fused = False
                numbers = [
                    slot[x] if isinstance(x, int) else encoder.constant_slot(x) for x in arguments
                ]
                name = operation if operation in _OF_SLOTS else f"{operation}_{'s' * len(numbers)}"
                number = NUMBER[name]
            if fused and last[in_registers] == n and in_registers not in held:
                code[-WORDS + 1] = NOWHERE
            for x in arguments:
                if isinstance(x, int) and last[x] == n and x not in held and x in slot:
                    free.append(slot.pop(x))
            if target in stores:
                d = self._first_place(target)
            elif free:
                d = free.pop()
            else:
                d = encoder.slots
                encoder.slots += 1
            slot[target] = d
            code.append(number)
            code.append(d)
            code += numbers[:3]
            if len(numbers) < 3:
                code += _ZEROS[len(numbers)]
            elif len(numbers) == 4:
                encoder.add("behind", 0, numbers[3])
            in_registers = target if number not in _OF_LANES else -1
            if target in stores:
                if self._store(target, True):
                    in_registers = -1
            elif target not in last:
                free.append(slot.pop(target))
        # The code of the next body does not find values of this one in registers or slots.
        for x, d in slot.items():
            if x not in held and x not in self.free_inputs:
                free.append(d)
        if self.place is not None:
            for k, output in enumerate(self.program.outputs):
                if output.node is None:
                    encoder.add(
                        "constant", self.place(*self.program.places[k]), constant(output.constant)
                    )

    # Outputs

    def _first_place(self, target: int) -> int:
        """The slot in which a value that is an output is computed."""
        outputs = self.program.outputs
        if self.place is not None:
            for k in self.program.stores[target]:
                if not outputs[k].negative:
                    return self.place(*self.program.places[k])
        return self.encoder.new_slots(1)

    def _store(self, target: int, computed: bool) -> bool:
        """Copy a value to further outputs, and its negative; True if another value is then in
        registers. `computed`: the value is in registers and in its first place."""
        encoder, program = self.encoder, self.program
        at = self.slot[target]
        changed = False
        negative = [k for k in program.stores[target] if program.outputs[k].negative]
        if self.place is None:
            if negative:
                self.negative[target] = encoder.new_slots(1)
                encoder.add("neg_s", self.negative[target], at)
                changed = True
            return changed
        for k in program.stores[target]:
            to = self.place(*program.places[k])
            if k not in negative and to != at:
                encoder.add("move_s", to, at)
        for k in negative:
            encoder.add("neg_s", self.place(*program.places[k]), at)
            changed = True
        return changed

    # Statements with instructions of their own

    def _sincos(self, s: Statement, n: int, last: Mapping[int, int], held: set[int]) -> None:
        """Sine and cosine, computed together by the first of the two."""
        encoder = self.encoder
        (angle,) = s.arguments
        if angle not in self._turns:
            sine = encoder.new_slots(2)
            self._turns[angle] = sine
            encoder.add("sincos", sine, self.slot[angle], sine + 1)
        self.slot[s.target] = self._turns[angle] + (s.operation == "cos")
        held.add(s.target)
        if last.get(angle) == n and angle not in held and angle in self.slot:
            encoder.free.append(self.slot.pop(angle))

    def _special(
        self, s: Statement, n: int, last: Mapping[int, int], held: set[int], in_registers: int
    ) -> None:
        """Calls of routines, and look-ups of cells."""
        encoder, slot = self.encoder, self.slot
        held.add(s.target)
        if s.operation == "of":
            name, _, k = s.arguments
            at = self.regions[name].out + int(k)
            if self._calls_left[name]:
                # A later call of the routine overwrites its results.
                slot[s.target] = encoder.new_slots(1)
                encoder.add("move_s", slot[s.target], at)
            else:
                slot[s.target] = at
            return
        if s.operation == CORNER:
            cell, k = s.arguments
            slot[s.target] = slot[cell] + int(k)
            return
        if s.operation == CELL:
            table, row, column = s.arguments
            slot[s.target] = encoder.new_slots(4)
            places = (self._slot_of(x) for x in (row, column))
            encoder.add("cell", slot[s.target], *places, encoder.tables[table])
        elif s.operation == LOOK:
            table, row, column = s.arguments
            slot[s.target] = encoder.new_slots(1)
            places = (self._slot_of(x) for x in (row, column))
            encoder.add("look", slot[s.target], *places, encoder.tables[table])
        else:
            name = s.arguments[0]
            region = self.regions[name]
            called = s.operation == "call"
            values = s.arguments[2:] if called else s.arguments[1:]
            to = region.column if called else region.shared
            for k, x in enumerate(values):
                if isinstance(x, int):
                    encoder.add("move_s", to + k, slot[x])
                else:
                    encoder.add("constant", to + k, encoder.constant(x))
            if called:
                region.calls.append(encoder.here * WORDS + 1)
                encoder.add("call")
                self._calls_left[name] -= 1
        for x in operands(s):
            if last.get(x) == n and x not in held and x in slot:
                encoder.free.append(slot.pop(x))

    def _slot_of(self, x: int | float) -> int:
        return self.slot[x] if isinstance(x, int) else self.encoder.constant_slot(x)

    # Routines

    def _add_regions(self) -> None:
        """Slots of the routines."""
        encoder = self.encoder
        self._turns: dict[int, int] = {}
        self._calls_left: dict[str, int] = {}
        for s in self.program.statements:
            if s.operation == "call":
                name = s.arguments[0]
                self._calls_left[name] = self._calls_left.get(name, 0) + 1
        for name, routine in self.program.routines.items():
            how = routine.repetition
            size, results = prod(routine.inputs[COLUMN]), prod(routine.results["out"])
            states = size * how.times if how and how.kept else 0
            self.regions[name] = _Region(
                encoder.new_slots(prod(routine.inputs[SHARED])),
                encoder.new_slots(size),
                encoder.new_slots(results + states),
            )
            if states:
                self.kept[name] = (self.regions[name].out + results, size)

    def encode_routines(self) -> None:
        """Write the routines, behind the code that calls them."""
        encoder = self.encoder
        for name, routine in self.program.routines.items():
            region, how = self.regions[name], routine.repetition
            for place in region.calls:
                encoder.code[place] = encoder.here
            # The caller's values are alive while the routine runs.
            outside, encoder.free = encoder.free, []
            if how is None:
                arrays = {SHARED: region.shared, COLUMN: region.column}
                out = region.out
                body = _Body(
                    encoder,
                    routine,
                    lambda a, k, arrays=arrays: arrays[a] + k,
                    lambda _, k, out=out: out + k,
                )
                body.encode()
            else:
                then = encoder.new_slots(prod(routine.results["out"]))
                read = self.kept[how.reads] if how.reads else None
                body = encoder.loop(routine, how, region, then, read)
            encoder.add("back")
            body.encode_routines()
            encoder.free = outside


_ZEROS = ((0, 0, 0), (0, 0), (0,))
_SPECIAL = {"frame", "call", "of", CELL, CORNER, LOOK}
_OF_SLOTS = {"min", "max", "select", "select_equal", "exp", "log", "atan2", "uniform"}
_OF_LANES = {NUMBER[x] for x in ("exp", "log", "atan2", "uniform")}
