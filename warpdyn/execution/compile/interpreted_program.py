"""Programs that run before they are compiled.

A launch of such a program looks like that of a kernel: a C function, bounds and arguments. Once the
kernel is compiled, the same launch runs it: `InterpretedProgram.switch_to` writes the kernel's address
into the program, and the interpreter passes every later launch on. Launches therefore stay valid,
and none is made again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import warp as wp

from ...codegen.arguments import input_identifier, result_identifier
from ...codegen.bytecode.bytecode import Bytecode, BytecodeArray
from ...codegen.bytecode.instructions import MOST_BOUNDS
from ...codegen.headers import lane_count
from ...codegen.source import Source
from .bytecode_checks import check
from .kernel import Command, refuse_surplus

_Function = Callable[[int, int], None]

LAUNCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
"""The C function of a launch, of (bounds, arguments)."""


class Interpreter:
    """The loaded interpreter for one precision."""

    def __init__(self, address: int):
        self.address = address
        self.function: _Function = LAUNCH(address)


class InterpretedProgram:
    """A program in memory, as the interpreter reads it (struct Bytecode in interpreter.h)."""

    def __init__(self, bytecode: Bytecode, source: Source, interpreter: Interpreter, single: bool):
        """ValueError: the bytecode reads or writes outside of its slots."""
        check(bytecode, source)
        self.interpreter, self.layout = interpreter, source.layout
        self._held: list[Any] = []
        dtype = np.float32 if single else np.float64
        over = {r: self.layout.position(input_identifier(x)) for r, x in source.over.items()}
        records = [self._record(x, input_identifier, -1, single) for x in bytecode.inputs]
        records += [
            self._record(x, result_identifier, over.get(x.name, -1), single)
            for x in bytecode.results
        ]
        tables = [self.layout.position(input_identifier(name)) for name in source.tables]
        arrays = (*bytecode.inputs, *bytecode.results)
        with np.errstate(over="ignore"):
            constants = self._address_of(bytecode.constants, dtype)
        self._words = np.array(
            [
                *[0] * 3,  # no compiled kernel yet (`switch_to`)
                self._address_of(bytecode.code, np.int32),
                constants,
                bytecode.slots,
                bytecode.counters,
                len(bytecode.inputs),
                len(bytecode.results),
                len(bytecode.preload) // 2,
                len(tables),
                sum(len(x.slots) for x in arrays),
                self._address_of(bytecode.preload, np.int32),
                self._address_of([word for record in records for word in record], np.int64),
                self._address_of(tables, np.int32),
            ],
            np.int64,
        )
        self.bounds = [self._words.ctypes.data]

    def _record(
        self, x: BytecodeArray, identifier: Callable[[str], str], over: int, single: bool
    ) -> list[int]:
        """An array in the form of the header."""
        shapes = self.layout.inputs if identifier is input_identifier else self.layout.results
        still = self._address_of(_still(x.constant, lane_count(single) // 2), np.int8)
        slots = self._address_of(x.slots, np.int32)
        shape = (*shapes[x.name], 1, 1, 1)[:3]
        return [self.layout.position(identifier(x.name)), len(x.slots), *shape, slots, still, over]

    def _address_of(self, values: Iterable[Any], dtype: Any) -> int:
        """The address of an array that lives as long as the program."""
        array = np.asarray(values, dtype)
        if not array.size:
            array = np.zeros(1, dtype)
        self._held.append(array)
        address: int = array.ctypes.data
        return address

    @property
    def is_compiled(self) -> bool:
        """True if launches run a compiled kernel."""
        return bool(self._words[2])

    def before_next_launch(self, action: Callable[[], object]) -> None:
        """Run a function once, before the next launch, whether Python or C makes it."""
        bounds = self._address_of(self.bounds, np.int64)

        def act_and_launch(_: int, arguments: int) -> None:
            if self._words[0] == address:
                self._words[0] = 0
                action()
            self.interpreter.function(bounds, arguments)

        in_place_of_kernel = LAUNCH(act_and_launch)
        self._held.append(in_place_of_kernel)
        address = ctypes.cast(in_place_of_kernel, ctypes.c_void_p).value or 0
        self._words[0] = address

    def switch_to(self, command: Command) -> None:
        """Run the compiled kernel of this launch from now on. If this version of Warp does not
        reveal its address, existing launches stay interpreted."""
        bounds = command.bounds
        if command.address is None or len(bounds) > MOST_BOUNDS:
            return
        self._held.append(command)
        self._words[1] = self._address_of(bounds, np.int64)
        self._words[2] = len(bounds)
        self._words[0] = command.address  # last: from here on the interpreter reads the bounds


def _still(constant: Sequence[bool], run: int) -> list[int]:
    """A flag for each run of entries that is set if all of them are constants, and a further flag
    for each, because the reader looks ahead."""
    flags = [all(constant[k : k + run]) for k in range(0, len(constant), run)]
    return [*map(int, flags), 0, 0, 0, 0]


class InterpretedCommand(Command):
    """A launch of an interpreted program, and of its kernel once that is compiled.

    `recorded`: makes a launch of the compiled kernel, which Warp can record.
    """

    def __init__(self, program: InterpretedProgram, recorded: Callable[[], Command]):
        self.program, self._recorded = program, recorded
        self.arguments = (ctypes.c_int64 * program.layout.length)()
        self.address: int | None = program.interpreter.address
        self.bounds = program.bounds
        self._bounds = (ctypes.c_int64 * len(program.bounds))(*program.bounds)
        self.entry = self.run = self._entry()

    def _entry(self) -> Callable[..., Any]:
        runtime: Any = wp._src.context.runtime  # type: ignore[attr-defined]
        function = self.program.interpreter.function
        bounds, arguments = ctypes.addressof(self._bounds), ctypes.addressof(self.arguments)

        def run(result: Any = None, *surplus: Any) -> Any:
            if surplus:
                refuse_surplus(surplus)
            if runtime._apic_capture is None:
                function(bounds, arguments)
            else:
                command = self._recorded()
                command.set(list(self.arguments))
                command.run()
            return result

        return run

    def run_at_once(self) -> None:
        bounds, arguments = ctypes.addressof(self._bounds), ctypes.addressof(self.arguments)
        self.program.interpreter.function(bounds, arguments)
