"""C code of a Python module for exported functions: buffers in, buffers out, by the stable ABI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .escapes import string_literal
from .exported_header import ExportedFunction

_BEGINNING = """#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include "$name.h"

/* Whether the last dimensions of a buffer are those of one robot's array, or its numbers in a row.
   Dimensions of 1 do not count, and flat buffers have one dimension. */
static int ends_in(const Py_buffer *held, const Py_ssize_t *own, int dimensions, Py_ssize_t size) {
  int i = held->ndim, large = 0, last = -1;
  for (int k = 0; k < i; ++k) {
    if (held->shape[k] == 1) continue;
    ++large;
    last = k;
  }
  if (large < 2 || held->shape[last] == size) return 1;
  while (dimensions--) {
    if (own[dimensions] == 1) continue;
    do {
      if (i-- == 0) return 0;
    } while (held->shape[i] == 1);
    if (held->shape[i] != own[dimensions]) return 0;
  }
  return 1;
}

/* Whether an argument is a masked array: its entries that count as missing would be read. The last type without a
   mask is kept, so that a call with such arrays asks nothing. */
static int is_masked(PyObject *from) {
  static PyTypeObject *plain = NULL;
  PyTypeObject *type = Py_TYPE(from);
  if (type == plain) return 0;
  if (PyObject_HasAttrString((PyObject *)type, "filled")) return 1;
  Py_INCREF((PyObject *)type);
  Py_XDECREF((PyObject *)plain);
  plain = type;
  return 0;
}

/* An argument's memory: one robot's array with these dimensions, or rows of it. Returns the number of
   rows, 0 if the array has no numbers, -1 for an error. */
static Py_ssize_t numbers_of(
    PyObject *from, Py_buffer *into, int written, const char *name, const Py_ssize_t *own,
    int dimensions, int rows) {
  const int wanted = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
  Py_ssize_t size = 1;
  for (int k = 0; k < dimensions; ++k) size *= own[k];
  if (is_masked(from)) {
    PyErr_Format(PyExc_TypeError,
      "%s is a masked array; pass %s.filled(value), or %s.data for the numbers as they are", name, name, name);
    return -1;
  }
  if (PyObject_GetBuffer(from, into, wanted)) return -1;
  const Py_ssize_t count = into->len / (Py_ssize_t)sizeof(${name}_number);
  if (!into->format || strcmp(into->format, "$format")) {
    PyErr_Format(PyExc_TypeError, "%s must hold $dtype numbers", name);
  } else if (size == 0 ? count != 0 : rows && count % size != 0) {
    PyErr_Format(PyExc_ValueError, "%s must hold rows of %zd numbers, got %zd numbers", name, size, count);
  } else if (!rows && count != size) {
    PyErr_Format(PyExc_ValueError, "%s must hold %zd numbers, got %zd", name, size, count);
  } else if (size != 0 && !ends_in(into, own, dimensions, size)) {
    PyObject *shape = PyObject_GetAttrString(from, "shape");
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError,
      "%s must have one robot's %zd numbers in its last dimensions%s, got the shape %S", name, size,
      dimensions > 1 ? ", in their order" : "", shape ? shape : Py_None);
    Py_XDECREF(shape);
  } else {
    return size ? count / size : 0;
  }
  PyBuffer_Release(into);
  return -1;
}

/* The dimensions in front of those of one robot, without those of 1; returns their number, 0 for a flat array. */
static int leading(const Py_buffer *held, Py_ssize_t rows, Py_ssize_t *into) {
  Py_ssize_t reached = 1;
  int count = 0;
  for (int k = 0; k < held->ndim && reached < rows; ++k) {
    if (held->shape[k] == 1) continue;
    into[count++] = held->shape[k];
    reached *= held->shape[k];
  }
  return reached == rows ? count : 0;
}

/* Whether all arrays with several dimensions of rows have the same ones; else an error. */
static int rows_agree(
    const Py_buffer *held, PyObject *const *args, const char *const *names, int count, Py_ssize_t rows) {
  Py_ssize_t first[PyBUF_MAX_NDIM], here[PyBUF_MAX_NDIM];
  int n = 0, of = 0;
  for (int k = 0; k < count; ++k) {
    const int m = held[k].ndim < 3 ? 0 : leading(&held[k], rows, n ? here : first);
    if (m < 2) continue;
    if (!n) {
      n = m;
      of = k;
    } else if (m != n || memcmp(first, here, (size_t)n * sizeof *first)) {
      PyObject *one = PyObject_GetAttrString(args[of], "shape"), *other = PyObject_GetAttrString(args[k], "shape");
      PyErr_Clear();
      PyErr_Format(PyExc_ValueError, "%s must have its rows in the same dimensions as %s, %S, got the shape %S",
        names[k], names[of], one ? one : Py_None, other ? other : Py_None);
      Py_XDECREF(one);
      Py_XDECREF(other);
      return 0;
    }
  }
  return 1;
}

/* Whether the processor has what the module was compiled for; else an error, because a function would end Python. */
static int runs_here(void) {
  const char *missing = NULL;
#if defined(__GNUC__) && defined(__x86_64__)
  __builtin_cpu_init();
$features#endif
  if (missing) PyErr_Format(PyExc_ImportError,
    "$name was compiled for a processor with %s, which this one lacks; export the module again on this computer",
    missing);
  return !missing;
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


FEATURES = [
    "sse4.2",
    "popcnt",
    "bmi",
    "bmi2",
    "fma",
    "avx",
    "avx2",
    "avx512f",
    "avx512dq",
    "avx512bw",
    "avx512vl",
]
"""Instructions of x86 that -march=native may use, by gcc's names."""


def python_wrapper(name: str, functions: Sequence[ExportedFunction], single: bool) -> str:
    """The C file of the module, which includes the header `name`.h."""
    # Each check is compiled only if the compiler may use the instructions.
    features = "".join(
        f"#ifdef __{x.upper().replace('.', '_')}__\n"
        f'  if (!__builtin_cpu_supports("{x}")) missing = "{x}";\n#endif\n'
        for x in FEATURES
    )
    text = _BEGINNING.replace("$features", features)
    text = text.replace("${name}", name).replace("$name", name)
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
        f"PyMODINIT_FUNC PyInit_{name}(void) {{",
        "  return runs_here() ? PyModule_Create(&module) : NULL;",
        "}",
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
    # The first array with numbers has the number of rows.
    first = next((x for x in arrays if each.holds_numbers(x)), arrays[0])
    for k, (array, shape) in enumerate(each.shapes.items()):
        written = int(k >= len(each.inputs))
        own = f"(const Py_ssize_t[]){{{', '.join(map(str, shape)) or '1'}}}, {len(shape)}"
        yield "  {"
        yield (
            f"    const Py_ssize_t here = numbers_of(args[{k}], &held[{k}], {written}, "
            f'"{array}", {own}, {int(rows)});'
        )
        yield "    if (here < 0) goto end;"
        yield "    ++taken;"
        if array == first:
            yield "    robots = here;"
        elif each.holds_numbers(array):
            text = string_literal(f"{array} must have as many rows as {first}, %zd, got %zd")
            yield "    if (here != robots) {"
            yield f"      PyErr_Format(PyExc_ValueError, {text}, robots, here);"
            yield "      goto end;"
            yield "    }"
        yield "  }"
    names = ", ".join(f'"{array}"' for array in arrays)
    yield f"  static const char *const names[] = {{{names}}};"
    if rows:
        yield f"  if (!rows_agree(held, args, names, {n}, robots)) goto end;"
    yield f"  if (!lie_apart(held, names, {len(each.inputs)}, {n})) goto end;"
    passed = ", ".join(f"held[{k}].buf" for k in range(n))
    count = "(size_t)robots, " if rows else ""
    yield f"  {name}_{called}({count}{passed});"
    yield "  Py_INCREF(Py_None);"
    yield "  result = Py_None;"
    yield "end:"
    yield "  while (taken) PyBuffer_Release(&held[--taken]);"
    yield "  return result;"
    yield "}"
