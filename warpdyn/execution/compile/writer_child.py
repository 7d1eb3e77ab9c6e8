"""The process that writes a program as C++, for `launch/source_writer`.

It imports `warpdyn.recording` and `warpdyn.codegen` only, which need neither Warp nor NumPy, and starts
in a tenth of a second. It reads a pickled program and writes the source as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import types
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


def import_without_face() -> None:
    """Let modules of the package be imported without running `warpdyn/__init__.py`, which imports
    all of them."""
    face = types.ModuleType(PACKAGE.name)
    face.__path__ = [str(PACKAGE)]
    sys.modules[PACKAGE.name] = face


def main() -> None:
    os.nice(int(sys.argv[1]))
    gc.disable()
    import_without_face()
    program, name, single, target = pickle.loads(sys.stdin.buffer.read())
    source = import_module("warpdyn.codegen.targets").write(program, name, single, target)
    sys.stdout.buffer.write(json.dumps(asdict(source)).encode())


if __name__ == "__main__":
    main()
