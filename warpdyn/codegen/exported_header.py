"""A C++17 or C99 header with programs of one robot, for one robot at a time and for many in
lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod

from ..recording.program import Program
from .array_statements import uses_arrays
from .escapes import escape_comment, string_literal
from .portable import function, most_steps_of_ending_loops, number, without_a_library
from .portable_style import Style
from .whole_products import has_whole_products


@dataclass(frozen=True)
class ExportedFunction:
    """A program with the names that it has in C."""

    name: str
    program: Program
    inputs: Mapping[str, str]
    results: Mapping[str, str]
    """C names of the program's arrays, in the order of parameters."""
    about: Sequence[str]
    """Lines of the function's comment."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays of one robot, by their C names, results last."""
        read = {c: self.program.inputs[name] for name, c in self.inputs.items()}
        return read | {c: self.program.results[name] for name, c in self.results.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """Number of entries of each array. C does not allow empty arrays, so empty ones get an
        unused entry."""
        return {c: max(prod(shape), 1) for c, shape in self.shapes.items()}

    @property
    def has_lanes(self) -> bool:
        """True if its batch is computed in lanes, which all need the same number of steps."""
        return not most_steps_of_ending_loops(self.program)

    def holds_numbers(self, array: str) -> bool:
        """True if an array, by its C name, has an entry."""
        return prod(self.shapes[array]) > 0


@dataclass(frozen=True)
class ExportedRobot:
    """The robot's part of a header: its comment and constants."""

    about: Sequence[str]
    """Lines of the header's first comment."""
    whole: Mapping[str, int] = field(default_factory=dict)
    """Constants: nq, nv."""
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[float]] = field(default_factory=dict)


def exported_header(
    robot: ExportedRobot, functions: Sequence[ExportedFunction], style: Style
) -> str:
    """The whole text of a header.

    Its digest is part of the names that a linker or a guard compares, because two headers may have
    the same robot and function with other numbers. In C++ a linker would keep one of two inline
    functions for both. In C the guard of the first header would exclude the second.
    """
    write = _cpp if style.language == "c++" else _c
    text = "\n".join(line.rstrip() for line in write(robot, functions, style)) + "\n"
    return text.replace(_DIGEST, sha256(text.encode()).hexdigest()[:16])


_DIGEST = "\0"
"""Place of a header's digest. Comments and strings have no such character."""


def _cpp(
    robot: ExportedRobot, functions: Sequence[ExportedFunction], style: Style
) -> Iterator[str]:
    yield from (f"// {escape_comment(line)}" for line in robot.about)
    yield "#pragma once"
    yield from (f"#include <{name}>" for name in (["cmath"] if style.libm else []))
    yield from ("#include <cstddef>", "#include <cstring>", "#include <limits>", "")
    yield from (*_compiler_options(style), f"namespace {style.prefix} {{")
    yield "// Tells apart headers of this namespace with other functions or numbers."
    yield f"inline namespace of_{_DIGEST} {{"
    yield from ("", style.helpers("number"), "")
    yield from (f"constexpr int {name} = {value};" for name, value in robot.whole.items())
    for name, texts in robot.names.items():
        yield f"constexpr const char *{name}[] = {{{_names(texts)}}};"
    for name, values in robot.tables.items():
        yield f"constexpr number {name}[] = {{{_limits(values, style)}}};"
    yield from (
        "",
        *_apart(),
        "namespace detail {",
        "",
        # The namespace `detail` hides helpers from users: only the functions after it are public.
        "using std::size_t;",
        *_helpers(style, functions),
        "template <typename V>",
        "inline V as(number x) noexcept {",
        "  if constexpr (sizeof(V) == sizeof(number)) return x;",
        "  else return all(x);",
        "}",
        "#else",
        "template <typename V>",
        "inline V as(number x) noexcept { return x; }",
        "#endif",
        "",
        "// The programs, for values that are numbers or lanes of numbers.",
    )
    for each in functions:
        yield from ("", function(each.program, each.name, each.inputs, each.results, style))
    yield from ("", "}  // namespace detail")
    for each in functions:
        yield ""
        yield from (f"/// {escape_comment(line)}" for line in each.about)
        yield f"inline void {each.name}({', '.join(_parameters(each, 'number'))}) noexcept {{"
        names = ", ".join([*each.inputs.values(), *each.results.values()])
        yield from (f"  detail::{each.name}<number>({names});", "}")
        yield f"/// The same for n robots, a row each: {', '.join(_rows(each))}."
        yield from _batch(each, style, "noexcept ")
    yield from ("", f"}}  // namespace of_{_DIGEST}", f"}}  // namespace {style.prefix}")


def _c(robot: ExportedRobot, functions: Sequence[ExportedFunction], style: Style) -> Iterator[str]:
    guard = f"{style.prefix.upper()}_H_{_DIGEST}"
    real = style.type(False)
    yield from ("/*", *(f" * {escape_comment(line)}" for line in robot.about), " */")
    yield from (f"#ifndef {guard}", f"#define {guard}", "")
    yield from (f"#include <{name}>" for name in (["math.h"] if style.libm else []))
    yield from ("#include <stddef.h>", "#include <string.h>" if style.libm else _MEMCPY, "")
    yield from _compiler_options(style)
    yield style.helpers("number")
    constants = ", ".join(f"{style.prefix}_{n} = {x}" for n, x in robot.whole.items())
    yield from ([f"enum {{ {constants} }};"] if constants else [])
    for name, texts in robot.names.items():
        yield f"static const char *const {style.prefix}_{name}[] = {{{_names(texts)}}};"
    for name, values in robot.tables.items():
        yield f"static const {real} {style.prefix}_{name}[] = {{{_limits(values, style)}}};"
    # C has no templates, so each program is written twice: for numbers, and for lanes.
    yield from ("", *_apart(), *_helpers(style, functions), "#endif")
    for each in functions:
        name = f"{style.prefix}_{each.name}"
        yield from ("", "/*", *(f" * {escape_comment(line)}" for line in each.about), " */")
        yield function(each.program, name, each.inputs, each.results, style)
        yield ""
        if each.has_lanes:
            lanes = function(
                each.program, f"{name}_lanes", each.inputs, each.results, style, lanes=True
            )
            yield from ("#if defined(__GNUC__)", lanes, "#endif")
        yield f"/* The same for n robots, a row each: {', '.join(_rows(each))}. */"
        yield from _batch(each, style, "")
    yield from ("", "#endif")


_MEMCPY = """#if defined(__GNUC__)
#define memcpy __builtin_memcpy
#else
#include <string.h>
#endif"""
"""memcpy without a library: compilers replace it by register moves."""


def _helpers(style: Style, functions: Sequence[ExportedFunction]) -> Iterator[str]:
    """Functions of numbers, and of lanes if there are any; the preprocessor's condition is left
    open."""
    yield from map(style.helpers, ("select", "sine_cosine", "abs", "libm" if style.libm else "own"))
    remainders = any(has_whole_products(each.program) for each in functions)
    if remainders:
        yield style.helpers("rest")
    arrays = any(uses_arrays(each.program) for each in functions)
    if arrays:
        yield style.helpers("rows")
    yield from ("", "#if defined(__GNUC__)", *_width(), style.helpers("lanes"))
    yield "#if defined(__clang__) || __GNUC__ >= 12"
    yield from (style.helpers("shuffled"), "#else", style.helpers("not_shuffled"), "#endif")
    yield style.helpers("lanes_moved")
    if style.libm:
        yield style.helpers("lanes_libm")
    if remainders:
        yield style.helpers("lanes_rest")
    if arrays:
        yield style.helpers("rows_of_lanes")


def _apart() -> Iterator[str]:
    """A macro that keeps a function from being inlined, because compilers are slow with functions
    of thousands of lines."""
    yield from ("#ifndef WARPDYN_APART", "#if defined(__GNUC__)")
    yield "#define WARPDYN_APART __attribute__((noinline))"
    yield from ("#else", "#define WARPDYN_APART", "#endif", "#endif")


def _compiler_options(style: Style) -> Iterator[str]:
    """Errors for compiler options with which sines are wrong and tests for NaN are left out, and a
    macro that keeps the order of sums."""
    yield "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST) || \\"
    yield "  (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)"
    yield '#error "compile without -ffast-math, -Ofast and their parts: sines would be wrong"'
    yield "#endif"
    # The rounding of angles to quarter turns needs numbers without further digits.
    wide = "__FLT_EVAL_METHOD__ == 1 || " if style.single else ""
    yield f"#if defined(__FLT_EVAL_METHOD__) && ({wide}__FLT_EVAL_METHOD__ == 2 || \\"
    yield "  __FLT_EVAL_METHOD__ < 0)"
    yield '#error "compile with -msse2 -mfpmath=sse: with the digits of x87, sines would be wrong"'
    yield "#endif"
    # clang does not announce -fassociative-math, which rounding to quarter turns must do without.
    yield "#ifndef WARPDYN_IN_ORDER"
    yield "#if defined(__clang__) && __clang_major__ >= 12"
    yield '#define WARPDYN_IN_ORDER _Pragma("clang fp reassociate(off)")'
    yield from ("#else", "#define WARPDYN_IN_ORDER", "#endif", "#endif", "")


def _width() -> Iterator[str]:
    """Macros that make lanes as wide as the processor's registers, and the check of another
    width."""
    yield "#ifndef WARPDYN_LANE_BYTES"
    for macro, width in (("__AVX512F__", 64), ("__AVX__", 32)):
        yield f"{'#if' if width == 64 else '#elif'} defined({macro})"
        yield f"#define WARPDYN_LANE_BYTES {width}"
    yield from ("#else", "#define WARPDYN_LANE_BYTES 16", "#endif", "#endif")
    yield "#if WARPDYN_LANE_BYTES < 16 || (WARPDYN_LANE_BYTES & (WARPDYN_LANE_BYTES - 1))"
    yield from ('#error "WARPDYN_LANE_BYTES must be a power of two, at least 16"', "#endif")


def _batch(each: ExportedFunction, style: Style, after: str) -> Iterator[str]:
    cpp = style.language == "c++"
    name = each.name if cpp else f"{style.prefix}_{each.name}"
    real, lanes = ("number", "detail::lanes") if cpp else (style.type(False), style.type(True))
    inside = "detail::" if cpp else f"{style.prefix}_lanes_"
    count = "detail::lane_count" if cpp else f"{style.prefix}_lane_count"
    size_t = "std::size_t" if cpp else "size_t"
    sizes = each.sizes
    rows = [f"const {real} *{x}" for x in each.inputs.values()]
    rows += [f"{real} *{x}" for x in each.results.values()]
    yield f"{style.inline} void {name}_batch({size_t} n, {', '.join(rows)}) {after}{{"
    yield from (f"  (void){x};" for x in sizes if not each.holds_numbers(x))
    moved = ", ".join(f"{x} + i * {sizes[x]}" for x in sizes)
    one_by_one = f"  for ({size_t} i = 0; i < n; ++i) {name}({moved});"
    if not each.has_lanes:
        yield from (one_by_one, "}")
        return
    yield "#if defined(__GNUC__)"
    yield f"  const {size_t} width = {count};"
    # The last block may be incomplete: `gather` and `scatter` move only the robots `here`.
    yield f"  for ({size_t} first = 0; first < n; first += width) {{"
    yield f"    const {size_t} here = n - first < width ? n - first : width;"
    yield "    " + lanes + " " + ", ".join(f"{x}_lanes[{sizes[x]}]" for x in sizes) + ";"
    for x in filter(each.holds_numbers, each.inputs.values()):
        yield f"    {inside}gather({x}_lanes, {x} + first * {sizes[x]}, {sizes[x]}, here);"
    arguments = ", ".join(f"{x}_lanes" for x in sizes)
    yield f"    {f'detail::{each.name}<detail::lanes>' if cpp else f'{name}_lanes'}({arguments});"
    for x in filter(each.holds_numbers, each.results.values()):
        yield f"    {inside}scatter({x}_lanes, {x} + first * {sizes[x]}, {sizes[x]}, here);"
    yield from ("  }", "#else", one_by_one, "#endif", "}")


def _parameters(each: ExportedFunction, real: str) -> list[str]:
    read = each.inputs.values()
    return [f"{'const ' if c in read else ''}{real} {c}[{n}]" for c, n in each.sizes.items()]


def _rows(each: ExportedFunction) -> list[str]:
    return [f"{c}[{' x '.join(['n', *map(str, shape)])}]" for c, shape in each.shapes.items()]


def _names(texts: Sequence[str]) -> str:
    """Entries of a table of names. C does not allow empty tables, so an empty one gets an unused
    entry."""
    return ", ".join(map(string_literal, texts)) or '""'


def _limits(values: Sequence[float], style: Style) -> str:
    """Entries of a table of numbers, likewise with an unused one if there are none."""
    return ", ".join(_limit(x, style) for x in values) or "0"


def _limit(x: float, style: Style) -> str:
    """A number of a table. In C++ infinity is written by its name."""
    if abs(style.nearest(x)) == float("inf") and style.language == "c++":
        return f"{'-' if x < 0 else ''}std::numeric_limits<number>::infinity()"
    return number(x, style)


def library_functions_of(functions: Sequence[ExportedFunction]) -> dict[str, set[str]]:
    """Functions of the C library that each function needs, in addition to sines and roots;
    functions that need none are left out."""
    needed = {each.name: without_a_library(each.program) for each in functions}
    return {name: names for name, names in needed.items() if names}
