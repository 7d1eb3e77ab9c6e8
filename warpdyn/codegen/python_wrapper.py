"""C code of a Python module for exported functions: buffers in, buffers out, by the stable ABI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .escapes import string_literal
from .exported_header import ExportedFunction

_BEGINNING = """#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include "$name.h"

/* An argument's memory, of `size` numbers, or rows of so many: how many rows, -1 for an error. */
static Py_ssize_t numbers_of(
    PyObject *from, Py_buffer *into, int written, const char *name, Py_ssize_t size, int rows) {
  const int wanted = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(from, into, wanted)) return -1;
  const Py_ssize_t count = into->len / (Py_ssize_t)sizeof(${name}_number);
  if (!into->format || strcmp(into->format, "$format")) {
    PyErr_Format(PyExc_TypeError, "%s must hold $dtype numbers", name);
  } else if (rows && count % size != 0) {
    PyErr_Format(PyExc_ValueError, "%s must hold rows of %zd numbers, got %zd numbers", name, size, count);
  } else if (!rows && count != size) {
    PyErr_Format(PyExc_ValueError, "%s must hold %zd numbers, got %zd", name, size, count);
  } else {
    return count / size;
  }
  PyBuffer_Release(into);
  return -1;
}

/* Whether each written buffer, from number `first` on, lies apart from all others; else an error. */
static int lie_apart(const Py_buffer *held, const char *const *names, int first, int count) {
  for (int k = first; k < count; ++k) {
    for (int i = 0; i < k; ++i) {
      const char *a = (const char *)held[k].buf, *b = (const char *)held[i].buf;
      if (a < b + held[i].len && b < a + held[k].len) {
        PyErr_Format(PyExc_ValueError,
          "%s overlaps %s: results are written while arrays are read; pass another array",
          names[k], names[i]);
        return 0;
      }
    }
  }
  return 1;
}
"""


def python_wrapper(name: str, functions: Sequence[ExportedFunction], single: bool) -> str:
    """The C file of the module, which includes the header `name`.h."""
    text = _BEGINNING.replace("${name}", name).replace("$name", name)
    text = text.replace("$format", "f" if single else "d")
    text = text.replace("$dtype", "float32" if single else "float64")
    lines = [text]
    for each in functions:
        for rows in (False, True):
            lines += _function(name, each, rows)
    lines.append("static PyMethodDef methods[] = {")
    for each in functions:
        for suffix in ("", "_batch"):
            called = f"{each.name}{suffix}"
            about = string_literal(f"{called}({', '.join(each.sizes)})")
            lines.append(
                f'  {{"{called}", (PyCFunction)(void (*)(void))call_{called}, METH_FASTCALL, {about}}},'
            )
    lines += [
        "  {NULL, NULL, 0, NULL}",
        "};",
        f'static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "{name}", NULL, 0, methods, '
        "NULL, NULL, NULL, NULL};",
        f"PyMODINIT_FUNC PyInit_{name}(void) {{ return PyModule_Create(&module); }}",
    ]
    return "\n".join(lines) + "\n"


def python_stub(name: str, functions: Sequence[ExportedFunction]) -> str:
    """The module's types, for editors and type checkers."""
    lines = [f'"""{name}, compiled: arrays without gaps, results last."""', ""]
    lines.append("from collections.abc import Buffer")
    for each in functions:
        for suffix in ("", "_batch"):
            arguments = ", ".join(f"{x}: Buffer" for x in each.sizes)
            lines += ["", f"def {each.name}{suffix}({arguments}, /) -> None: ..."]
    return "\n".join(lines) + "\n"


def _function(name: str, each: ExportedFunction, rows: bool) -> Iterator[str]:
    arrays, n = [*each.sizes], len(each.sizes)
    called = f"{each.name}{'_batch' if rows else ''}"
    yield (
        f"static PyObject *call_{called}(PyObject *self, PyObject *const *args, Py_ssize_t count) {{"
    )
    yield "  (void)self;"
    yield f"  Py_buffer held[{n}];"
    yield "  Py_ssize_t taken = 0, robots = 0;"
    yield "  PyObject *result = NULL;"
    yield f"  if (count != {n}) {{"
    wanted = string_literal(f"{called}({', '.join(arrays)}) takes {n} arrays, got %zd")
    yield f"    PyErr_Format(PyExc_TypeError, {wanted}, count);"
    yield "    return NULL;"
    yield "  }"
    # `taken` counts the buffers that are held, so that an error in the middle releases exactly
    # these.
    for k, (array, size) in enumerate(each.sizes.items()):
        written = int(k >= len(each.inputs))
        yield "  {"
        yield (
            f"    const Py_ssize_t here = numbers_of(args[{k}], &held[{k}], {written}, "
            f'"{array}", {size}, {int(rows)});'
        )
        yield "    if (here < 0) goto end;"
        yield "    ++taken;"
        if k == 0:
            yield "    robots = here;"
        else:
            text = string_literal(f"{array} must have as many rows as {arrays[0]}, %zd, got %zd")
            yield "    if (here != robots) {"
            yield f"      PyErr_Format(PyExc_ValueError, {text}, robots, here);"
            yield "      goto end;"
            yield "    }"
        yield "  }"
    names = ", ".join(f'"{array}"' for array in arrays)
    yield f"  static const char *const names[] = {{{names}}};"
    yield f"  if (!lie_apart(held, names, {len(each.inputs)}, {n})) goto end;"
    passed = ", ".join(f"held[{k}].buf" for k in range(n))
    first = "(size_t)robots, " if rows else ""
    yield f"  {name}_{called}({first}{passed});"
    yield "  Py_INCREF(Py_None);"
    yield "  result = Py_None;"
    yield "end:"
    yield "  while (taken) PyBuffer_Release(&held[--taken]);"
    yield "  return result;"
    yield "}"
