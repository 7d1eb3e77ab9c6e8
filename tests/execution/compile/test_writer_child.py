"""The process that writes programs: what it imports."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from warpdyn.algebra import scalar
from warpdyn.codegen.targets import write
from warpdyn.execution.compile import writer_child
from warpdyn.recording.program import record

IMPORTS = """
import runpy, sys
child = runpy.run_path(sys.argv[1])
child["import_without_face"]()
import warpdyn.codegen.targets
print(sorted({"warp", "numpy", "warpdyn.model"} & set(sys.modules)))
"""


def test_the_process_imports_neither_warp_nor_numpy() -> None:
    """The process has no site-packages, because it is started with -S."""
    command = [sys.executable, "-I", "-S", "-c", IMPORTS, writer_child.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_process_writes_the_same_source_as_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its own niceness and no garbage collection."""
    program = record(lambda x: [x[0] * x[1], scalar.sin(x[1])], {"x": (2,)})
    asked: list[Any] = []
    monkeypatch.setattr(writer_child, "import_without_face", lambda: asked.append("imports"))
    monkeypatch.setattr(writer_child.os, "nice", asked.append)
    monkeypatch.setattr(writer_child.gc, "disable", lambda: asked.append("gc"))
    content = pickle.dumps((program, "some", True, "cpu"))
    written = io.BytesIO()
    monkeypatch.setattr(writer_child.sys, "argv", ["child", "7"])
    monkeypatch.setattr(writer_child.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    monkeypatch.setattr(writer_child.sys, "stdout", SimpleNamespace(buffer=written))
    writer_child.main()
    ours = json.loads(json.dumps(asdict(write(program, "some", True, "cpu"))))
    assert json.loads(written.getvalue()) == ours and asked == [7, "gc", "imports"]


def test_inner_modules_can_be_imported_without_the_public_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing that `warpdyn/__init__.py` imports is loaded."""
    monkeypatch.setitem(sys.modules, "warpdyn", sys.modules["warpdyn"])
    monkeypatch.setattr(sys, "path", ["first"])
    writer_child.import_without_face()
    face = sys.modules["warpdyn"]
    assert face.__path__ == [str(writer_child.PACKAGE)] and not hasattr(face, "rnea")
