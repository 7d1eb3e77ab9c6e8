"""Programs written as C++ in a separate process, so that the calls of this process run meanwhile.

Writing a long program takes a second of Python, during which other threads of this process would wait
for the interpreter lock again and again.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace

from ...recording.program import Program
from . import writer_child
from .compiler_process import IN_CHILD, no_interpreter


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
        done = subprocess.run(command, input=content, capture_output=True, cwd="/", check=True)
    except (OSError, subprocess.SubprocessError, pickle.PicklingError):
        return None
    return done.stdout
