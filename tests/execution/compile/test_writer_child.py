"""The process that writes programs: what it imports."""

from __future__ import annotations

import subprocess
import sys

from warpdyn.execution.compile import writer_child

IMPORTS = """
import runpy, sys
child = runpy.run_path(sys.argv[1])
child["import_without_face"]()
import warpdyn.codegen.source
print(sorted({"warp", "numpy", "warpdyn.model"} & set(sys.modules)))
"""


def test_it_imports_neither_warp_nor_numpy() -> None:
    """Without site-packages, too, since it is started with -S."""
    command = [sys.executable, "-I", "-S", "-c", IMPORTS, writer_child.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
