"""Programs as functions of C and C++: loops and routines in them, and the library functions that
they need."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_code import CompiledHeader, compiler

import warpdyn as wd
from warpdyn.algebra import scalar
from warpdyn.codegen import portable as of_portable
from warpdyn.codegen.exported_header import ExportedFunction, ExportedRobot, exported_header
from warpdyn.codegen.portable import (
    most_steps_of_ending_loops,
    number,
    refusal_reason,
    without_a_library,
)
from warpdyn.codegen.portable_style import Style
from warpdyn.recording.program import Program, record


def oscillator(x, k):
    """Steps of an oscillator with a sine in its force: a loop that updates its state."""

    def step(state):
        position, speed = state
        speed = speed - 0.01 * k[0] * scalar.sin(position)
        return [position + 0.01 * speed, speed]

    return scalar.repeat(step, list(x), 50)


def push(x, k):
    """A loop that begins at a constant. The stored value is a lane's value, too."""

    def step(state):
        position, speed = state
        return [position + 0.01 * speed, speed + 0.01 * k[0]]

    return scalar.repeat(step, [x[0], 0.0], 30)


def selections(x, k):
    """Selects, minima, roots and arcs, some of them of constants."""
    larger = scalar.select_less(x[0], 0.5, 2.0, k[0])
    return [
        scalar.maximum(larger, x[1]),
        scalar.minimum(x[0], 0.25),
        scalar.sqrt(scalar.absolute(x[1])) * scalar.atan2(x[0], 1.5),
        scalar.floor(4.0 * x[0]),
        0.75,
    ]


def around_a_loop(x, k):
    """A loop between the parts of a long program, and a sine that only the last part reads."""
    turned, y = scalar.sin(x[1]), x[0]
    for _ in range(400):
        y = 0.99 * y + x[1] * k[0]
    z = scalar.repeat(lambda state: [0.5 * state[0] + y], [x[1]], 7)[0]
    for _ in range(400):
        z = 0.99 * z + x[0]
    return [turned * z, y]


def two_sweeps(x, k):
    """Two sweeps. The second reads numbers, symbols and values of the first."""
    values, _ = scalar.sweep(
        lambda s, row: ([s[0] * row[0] + row[1]], [s[0]]),
        [[x[0]]],
        [range(4)],
        [[0.1 * n + 0.5, x[1]] for n in range(4)],
    )
    rows = [[*value, 0.2 - 0.1 * n, k[0]] for n, (value,) in enumerate(zip(values[0], strict=True))]
    found, ends = scalar.sweep(
        lambda s, row: ([s[0] * row[1] + row[0], 1.0], [s[1] * row[2]]),
        [[x[1], 0.0], [x[0], x[1]]],
        [[3, 2, 1, 0], [1]],
        rows,
    )
    return [y for path in found for value in path for y in value] + [y for e in ends for y in e]


def header_of(program: Program, language: str, single: bool = False) -> str:
    style = Style(language, single, "some")
    each = ExportedFunction("go", program, {"x": "x", "k": "k"}, {"out": "out"}, ["go"])
    return exported_header(ExportedRobot(["some"]), [each], style)


def compile_header(
    program: Program, folder: Path, language: str, single: bool = False
) -> CompiledHeader:
    """The program as the function `go(x, k, out)` of a header."""
    text = header_of(program, language, single)
    functions = {"go": ("x", "k", "out")}
    return CompiledHeader(
        folder, text, functions, namespace="some", language=language, single=single
    )


@wd.kernel
def halvings(robot: Any, x: (), y: ()) -> Any:  # type: ignore[valid-type]
    """A loop that reads no value from outside, and one that ends early."""

    def halve(k, s, rows):
        rows[k] = s
        return 0.5 * s

    _, rows = wd.kernels.loop(40, halve, x, np.zeros(40))
    last, _ = wd.kernels.loop(40, halve, x, np.zeros(40), until=lambda s: s < y)
    return np.stack([rows[3], last])


@pytest.mark.parametrize("language", ["c++", "c"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_with_arrays_compile_without_warnings(
    language: Any, dtype: Any, tmp_path: Path
) -> None:
    """Before, gcc warned of an array without numbers, and of the number of a step as a float."""
    model = wd.load_robot("cartpole")
    text = wd.export(model, {"go": halvings}, dtype=dtype, language=language, bounded_loops=True)
    single = dtype == "float32"
    built = CompiledHeader(
        tmp_path,
        text,
        {"go": ("x", "y", "out")},
        namespace="cartpole",
        language=language,
        options=["-O0"],
        single=single,
    )
    rows = [np.full((5, 1), 8.0, dtype), np.full((5, 1), 0.3, dtype)]
    for run in (built.one_by_one, built.batch):
        np.testing.assert_array_equal(run("go", rows, (2,)), np.tile([1.0, 0.25], (5, 1)))


@pytest.mark.parametrize("single", [True, False])
def test_roots_without_a_library_are_within_a_unit(single: bool, tmp_path: Path) -> None:
    """Before, the root of the second largest double was -inf."""
    program = record(lambda x, k: [scalar.sqrt(x[0])], {"x": (1,), "k": (1,)})
    each = ExportedFunction("go", program, {"x": "x", "k": "k"}, {"out": "out"}, ["go"])
    text = exported_header(ExportedRobot(["some"]), [each], Style("c", single, "some", False))
    functions = {"go": ("x", "k", "out")}
    built = CompiledHeader(tmp_path, text, functions, namespace="some", language="c", single=single)
    info = np.finfo(np.float32 if single else np.float64)
    powers = np.arange(info.minexp, info.maxexp, 7)
    x = np.ldexp(np.random.default_rng(0).uniform(1.0, 2.0, powers.size), powers)
    largest = info.max - np.spacing(info.max / 2) * 2 * np.arange(10, dtype=info.dtype)
    x = np.array([*x, *largest, info.tiny, 1.0, 4.0], info.dtype)[:, None]
    for run in (built.one_by_one, built.batch):
        np.testing.assert_array_max_ulp(run("go", [x, x], (1,)), np.sqrt(x), 1)


@pytest.mark.parametrize("single", [True, False])
def test_roots_of_negative_numbers_have_defined_behaviour(single: bool, tmp_path: Path) -> None:
    """Before, the guess of the root was a signed overflow."""
    program = record(lambda x, k: [scalar.sqrt(x[0])], {"x": (1,), "k": (1,)})
    each = ExportedFunction("go", program, {"x": "x", "k": "k"}, {"out": "out"}, ["go"])
    text = exported_header(ExportedRobot(["some"]), [each], Style("c", single, "some", False))
    (tmp_path / "some.h").write_text(text)
    (tmp_path / "main.c").write_text(
        """#include "some.h"
int main(void) {
  some_number x[] = {-1, -1e30f, -0.0f, 0, __builtin_nanf(""), -__builtin_inff(), 4}, y = 0;
  for (int k = 0; k < 7; ++k) some_go(x + k, x, &y);
  return y != 2;
}
"""
    )
    sanitizer = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
    command = [compiler("c", 0), "-std=c99", "-O1", *sanitizer, "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.parametrize("language", ["c++", "c"])
def test_the_absolute_value_of_negative_zero_is_zero(language: str, tmp_path: Path) -> None:
    """Before, it was -0, so that its reciprocal was -inf and its angle pi."""
    program = record(
        lambda x, k: [1.0 / scalar.absolute(x[0]), scalar.atan2(k[0], scalar.absolute(x[1]))],
        {"x": (2,), "k": (1,)},
    )
    built = compile_header(program, tmp_path, language)
    rows = [np.full((9, 2), -0.0), np.zeros((9, 1))]
    for run in (built.one_by_one, built.batch):
        np.testing.assert_array_equal(run("go", rows, (2,)), np.tile([np.inf, 0.0], (9, 1)))


@pytest.mark.parametrize("language", ["c++", "c"])
@pytest.mark.parametrize("text", [oscillator, push, selections, around_a_loop, two_sweeps])
def test_an_exported_function_computes_its_program(text, language: str, tmp_path: Path) -> None:
    """The programs have loops, selects and functions, and run on single numbers and in lanes."""
    program = record(text, {"x": (2,), "k": (1,)})
    draw = np.random.default_rng(3)
    x, k = draw.uniform(-1, 1, (9, 2)), draw.uniform(0, 5, (9, 1))
    expected = [
        program.on_numbers({"x": list(a), "k": list(b)})["out"] for a, b in zip(x, k, strict=True)
    ]
    compiled = compile_header(program, tmp_path, language)
    for found in (compiled.one_by_one, compiled.batch):
        result = found("go", [x, k], (len(expected[0]),))
        np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("language", ["c++", "c"])
@pytest.mark.parametrize("text", [oscillator, around_a_loop])
def test_only_parts_of_a_long_function_are_not_inlined(text, language: str) -> None:
    """Each function has the attributes of its compiler. Functions in C are static."""
    lines = header_of(record(text, {"x": (2,), "k": (1,)}), language).splitlines()
    defined = [re.match(r"(.*)\bvoid (\w+)\(.*\{$", line) for line in lines]
    found = {each[2]: each[1].strip() for each in defined if each}
    parts = {name: words for name, words in found.items() if "_part" in name}
    apart, inline = {
        "c++": ("WARPDYN_APART", "inline"),
        "c": ("WARPDYN_APART static", "static inline"),
    }[language]
    assert set(parts.values()) == ({apart} if text is around_a_loop else set())
    assert {words for name, words in found.items() if name not in parts} == {inline}


@pytest.mark.parametrize("language", ["c++", "c"])
def test_empty_results_are_untouched_and_compile_without_warnings(
    language: str, tmp_path: Path
) -> None:
    """For example the errors of a robot's closed loops, if it has none."""
    compiled = compile_header(record(lambda x, k: [], {"x": (2,), "k": (1,)}), tmp_path, language)
    x, k, out = np.ones((3, 2)), np.ones((3, 1)), np.full((3, 1), 7.0)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (x, k, out)]
    compiled.library["x_go"](*pointers)
    compiled.library["x_go_batch"](ctypes.c_size_t(3), *pointers)
    assert (out == 7.0).all()


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 5e5), (np.float32, 3e3)])
def test_sines_are_accurate_over_their_range(dtype: type, most: float, tmp_path: Path) -> None:
    """Sine and cosine are within two units in the last place up to `most` [rad]. Those of NaN and
    infinity are NaN."""
    program = record(
        lambda x, k: [scalar.sin(x[0]), scalar.cos(x[0]), k[0]], {"x": (1,), "k": (1,)}
    )
    compiled = compile_header(program, tmp_path, "c++", single=dtype == np.float32)
    draw = np.random.default_rng(0)
    x = draw.uniform(-1, 1, 4000) * 10.0 ** draw.uniform(-8, np.log10(most), 4000)
    x = np.concatenate([x, np.arange(-40, 41) * np.pi / 4]).astype(dtype)[:, None]
    for found in (compiled.one_by_one, compiled.batch):
        out = found("go", [x, np.ones_like(x)], (3,))
        angle = x[:, 0].astype(float)
        for column, exact in ((0, np.sin(angle)), (1, np.cos(angle))):
            # Near a zero of the function its own spacing is smaller than that of the reduced angle.
            unit = np.spacing(np.maximum(np.abs(exact), 2.0**-4).astype(dtype))
            assert (np.abs(out[:, column] - exact) / unit).max() <= 2.0
        odd = np.array([[np.nan], [np.inf], [-np.inf]], dtype)
        assert np.isnan(found("go", [odd, np.ones_like(odd)], (3,))[:, :2]).all()


REORDERED = ["-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-fno-trapping-math"]
"""The parts of -funsafe-math-optimizations. With this option itself clang links code that lets small
numbers count as zero in the whole process."""


@pytest.mark.parametrize("language", ["c++", "c"])
def test_clang_keeps_the_order_of_rounding(language: str, tmp_path: Path) -> None:
    """Before, sines were wrong by 0.7 and remainders by a divisor. clang does not announce the options,
    so that a header cannot refuse them."""
    program = record(
        lambda x: [scalar.sin(x[0]), x[0] - 0.001 * scalar.floor(1000.0 * x[0])], {"x": (1,)}
    )
    each = ExportedFunction("go", program, {"x": "x"}, {"out": "out"}, ["go"])
    text = exported_header(ExportedRobot(["some"]), [each], Style(language, False, "some"))  # type: ignore[arg-type]
    built = CompiledHeader(
        tmp_path,
        text,
        {"go": ("x", "out")},
        namespace="some",
        language=language,
        which=1,
        options=["-O2", *REORDERED],
    )
    x = np.linspace(-20.0, 20.0, 41)[:, None]
    rest = [float(Fraction(v) - Fraction(0.001) * math.floor(1000.0 * v)) for v in x[:, 0]]
    for run in (built.one_by_one, built.batch):
        found = run("go", [x], (2,))
        np.testing.assert_allclose(found[:, 0], np.sin(x[:, 0]), atol=1e-14)
        np.testing.assert_array_equal(found[:, 1], rest)
    assert np.nextafter(0.0, 1.0) > 0.0, "small numbers count as zero in this process"


def test_a_program_lists_the_library_functions_that_it_needs() -> None:
    """Arcs and exponentials are such functions. Roots and sines can be written without a
    library."""
    program = record(selections, {"x": (2,), "k": (1,)})
    assert without_a_library(program) == {"atan2"}
    assert without_a_library(record(oscillator, {"x": (2,), "k": (1,)})) == set()


def test_a_loop_that_ends_on_a_condition_is_refused() -> None:
    """Its time depends on its arguments."""

    def halve(x):
        return scalar.repeat(
            lambda state: [0.5 * state[0]], list(x), 100, until=lambda state: 1.0 - state[0]
        )

    program = record(halve, {"x": (1,)})
    assert "until it is done" in refusal_reason(program)
    assert not refusal_reason(program, bounded_loops=True)
    assert most_steps_of_ending_loops(program) == 100
    assert not refusal_reason(record(oscillator, {"x": (2,), "k": (1,)}))


def test_tables_and_random_numbers_cannot_be_exported() -> None:
    """A program may have them neither itself nor in the step of a loop. The reason can follow the
    word "because"."""

    def draw_uniform(x):
        return scalar.repeat(lambda s: [scalar.uniform(s[0], 1.0, 2.0, 3.0)], [x[0]], 3)

    def deep(x):
        return scalar.repeat(lambda s: draw_uniform(s), [x[0]], 3)

    for text in (lambda x: [scalar.uniform(x[0], 1.0, 2.0, 3.0)], draw_uniform, deep):
        assert refusal_reason(record(text, {"x": (1,)})) == "it draws random numbers"
    looked = record(
        lambda x, t: [scalar.look(t, x[0], x[0])], {"x": (1,), "t": (2, 3)}, tables=("t",)
    )
    assert refusal_reason(looked) == "it looks up the table t, which may have any size"
    plain = record(oscillator, {"x": (2,), "k": (1,)})
    assert refusal_reason(plain) == "" and most_steps_of_ending_loops(plain) == 0


@pytest.mark.parametrize("libm", [True, False])
def test_nan_and_infinity_are_written_for_each_library(libm: bool) -> None:
    """They have the names of the library, or are the compiler's builtins."""
    style = Style("c", False, "some", libm=libm)
    nan, inf = float("nan"), float("inf")
    assert number(nan, style) == ("NAN" if libm else '__builtin_nan("")')
    assert number(inf, style) == ("INFINITY" if libm else "__builtin_inf()")
    assert number(-inf, style) == ("-INFINITY" if libm else "-__builtin_inf()")
    assert number(-2.0, style) == "-2.0"


def test_library_functions_in_routines_are_listed() -> None:
    """Those in routines of routines are listed, too."""

    def text(x, k):
        inner = lambda s: scalar.repeat(lambda t: [scalar.exp(t[0])], list(s), 2)  # noqa: E731
        return [*scalar.repeat(inner, [x[0]], 3), scalar.log(k[0])]

    assert without_a_library(record(text, {"x": (1,), "k": (1,)})) == {"exp", "log"}


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert of_portable.PART == 400
