"""The source of a kernel, written when the kernel is compiled.

A program that is interpreted may be compiled much later, or never. Until then its `SourceWriter` holds
neither the model nor the arrays of the call, so both are freed as soon as the user no longer holds
them.

In the background a separate process writes the C++, so that the calls of this process run meanwhile.
A long program takes a second of Python, during which other threads of this process would wait for the
interpreter lock again and again.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import ref

from ...codegen.source import Source
from ...codegen.targets import write
from ...model.structure import Structure
from ...recording.program import Program
from ..compile import background, writer_child
from ..compile.announcements import announced_late
from ..compile.cache import CacheEntry, source_of_json
from ..compile.compiler_process import IN_CHILD, no_interpreter
from ..request.call import Call, with_all_inputs
from ..request.evaluate import nothing_collected, record_call


class SourceWriter:
    """Records the program of a call and writes its source.

    `inputs`: shapes of the inputs; `numbers`: inputs that are passed by value; `entry`: where the source
    is cached; None: nowhere.
    """

    def __init__(
        self,
        call: Call,
        inputs: Mapping[str, tuple[int, ...]],
        single: bool,
        target: str,
        numbers: tuple[str, ...],
        entry: CacheEntry | None,
    ):
        self.name, self.label = f"{call.name}_{call.model.name}", call.label
        self.inputs, self.single, self.target = dict(inputs), single, target
        self.numbers, self.entry = numbers, entry
        self._model = ref(call.model)
        # A user's kernel holds its model, so its program is kept instead of its call.
        self._call = None if entry is None else without_arrays(call)
        self._recorded: list[Program] = []

    def use(self, model: Structure) -> None:
        """Use an equal model, which may outlive the first one."""
        self._model = ref(model)

    def model(self) -> Structure | None:
        """The model, from which a later source is written; None if it has been freed."""
        return self._model()

    def record(self, call: Call | None = None, then: str = "") -> Program:
        """The program from which the next source is written. `call`: the call, if it still exists.
        `then` continues the message of a long recording."""
        if not self._recorded:
            with announced_late(f"recording {self.label}{then}"):
                program = record_call(call or self._whole(), self.inputs, self.single)
            numbers = self.numbers
            self._recorded.append(replace(program, numbers=numbers) if numbers else program)
        return self._recorded[0]

    def _whole(self) -> Call:
        model = self._model()
        if model is None or self._call is None:
            raise ReferenceError(f"{self.label}: its model is gone")
        return replace(self._call, model=model)

    def forget(self) -> None:
        """Drop the program, if a later source can record it again."""
        if self._call is not None:
            self._recorded.clear()

    def write(self, call: Call | None = None) -> Source:
        """The source, which is also cached. In the background a separate process writes it."""
        program = self.record(call, ", which will then be compiled, once")
        self._recorded.clear()
        if background.in_background():
            content = write_in_child(
                program, self.name, self.single, self.target, background.NICENESS
            )
            if content is not None:
                if self.entry is not None:
                    self.entry.keep_json(content)
                return source_of_json(content)
        with nothing_collected():
            made = write(program, self.name, self.single, self.target)
        if self.entry is not None:
            self.entry.keep_source(made)
        return made


def without_arrays(call: Call) -> Any:
    """The call without its model, arrays and results. A recording needs only the names of the arrays."""
    whole = with_all_inputs(call)
    params = call.params and replace(call.params, model=None, arrays={}, gravity=None)  # type: ignore[arg-type]
    return replace(
        whole,
        model=None,  # type: ignore[arg-type]
        arrays=dict.fromkeys(whole.arrays, ...),
        out=None,
        forces=call.forces and (None, None),
        params=params,
    )


def write_in_child(
    program: Program, name: str, single: bool, target: str, niceness: int
) -> bytes | None:
    """The source of a program as JSON; None if it cannot be written this way."""
    if os.environ.get(IN_CHILD) == "0" or no_interpreter():
        return None
    try:
        bare = replace(program)  # without cached results
        content = pickle.dumps((bare, name, single, target), pickle.HIGHEST_PROTOCOL)
        command = [sys.executable, "-I", "-S", writer_child.__file__, str(niceness)]
        return background.run_process(command, content)
    except (OSError, subprocess.SubprocessError, pickle.PicklingError):
        if background.is_ending():
            raise
        return None
