"""The C source of a Python module, and its type stub."""

from __future__ import annotations

from warpdyn.codegen.exported_header import ExportedFunction
from warpdyn.codegen.python_wrapper import python_stub, python_wrapper
from warpdyn.recording.program import record

EACH = ExportedFunction(
    "twice", record(lambda x: [2.0 * x[0]], {"x": (1,)}), {"x": "x"}, {"out": "y"}, []
)


def test_every_function_is_a_method() -> None:
    """It is for one robot and for rows of robots, in the number type of the header."""
    text = python_wrapper("arm", [EACH], single=True)
    assert '#include "arm.h"' in text and 'strcmp(into->format, "f")' in text
    assert '{"twice", ' in text and '{"twice_batch", ' in text and "PyInit_arm" in text
    assert "float32" in text and "$" not in text


def test_the_type_stub_is_valid_python() -> None:
    """It is a module of functions that take buffers."""
    text = python_stub("arm", [EACH])
    compile(text, "arm.pyi", "exec")
    assert "def twice(x: Buffer, y: Buffer, /) -> None: ..." in text
