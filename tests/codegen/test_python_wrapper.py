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
    assert 'static PyMethodDef methods[] = {\n  {"twice", ' in text
    assert '{"twice_batch", ' in text and "PyInit_arm" in text
    assert "float32" in text and "$" not in text


def test_the_type_stub_is_valid_python() -> None:
    """It is a module of functions that take buffers."""
    text = python_stub("arm", [EACH])
    compile(text, "arm.pyi", "exec")
    assert "\nfrom collections.abc import Buffer\n" in text
    assert "def twice(x: Buffer, y: Buffer, /) -> None: ..." in text


def test_results_are_written_and_all_arrays_have_equal_numbers_of_rows() -> None:
    """The first array has the number of rows, with which those of the others are compared."""
    shapes = {"x": (1,), "y": (2,)}
    program = record(lambda x, y: [x[0] * y[1]], shapes)
    each = ExportedFunction("both", program, {"x": "x", "y": "y"}, {"out": "z"}, [])
    head, one, rows = python_wrapper("arm", [each], single=False).split("static PyObject *call_")
    assert 'strcmp(into->format, "d")' in head and "must hold float64 numbers" in head
    for text, is_rows in ((one, 0), (rows, 1)):
        taken = [line.strip() for line in text.splitlines() if "numbers_of(" in line]
        assert taken == [
            f"const Py_ssize_t here = numbers_of(args[{k}], &held[{k}], {written}, "
            f'"{name}", (const Py_ssize_t[]){{{size}}}, 1, {is_rows});'
            for k, (name, size, written) in enumerate((("x", 1, 0), ("y", 2, 0), ("z", 1, 1)))
        ]
        assert text.count("robots = here;") == 1 and text.count("if (here != robots)") == 2
        first, second, third = text.split("++taken;")[1:]
        assert "robots = here;" in first
        for later, name in ((second, "y"), (third, "z")):
            assert f'"{name} must have as many rows as x, %zd, got %zd"' in later
        assert "lie_apart(held, names, 2, 3)" in text and "Py_buffer held[3];" in text
        assert "if (count != 3) {" in text and "(x, y, z) takes 3 arrays, got %zd" in text
        assert 'static const char *const names[] = {"x", "y", "z"};' in text
    buffers = "held[0].buf, held[1].buf, held[2].buf"
    assert f"  arm_both({buffers});" in one
    assert f"  arm_both_batch((size_t)robots, {buffers});" in rows
