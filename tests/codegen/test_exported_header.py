"""The parts of a header around exported programs: constants, tables, comments, functions for many
robots."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from exported_code import CompiledHeader

from warpdyn.algebra import scalar
from warpdyn.codegen.exported_header import (
    ExportedFunction,
    ExportedRobot,
    exported_header,
    library_functions_of,
)
from warpdyn.codegen.portable_style import Style
from warpdyn.recording.program import record

ROBOT = ExportedRobot(
    ["arm: of a test."],
    {"nq": 2},
    {"joint_names": ['a "quoted" joint', "b"]},
    {"lower": [-1.5, -float("inf")]},
)


def header(language: str, libm: bool = True) -> str:
    program = record(lambda x: [scalar.exp(x[0]), x[1]], {"x": (2,)})
    each = ExportedFunction("grow", program, {"x": "x"}, {"out": "y"}, ["grow: a test."])
    return exported_header(ROBOT, [each], Style(language, False, "arm", libm))


def test_a_header_in_cpp_has_constants_and_functions() -> None:
    """It has constants of the robot, and a function for one robot and for many, each with its
    comment."""
    text = header("c++")
    assert text.startswith("// arm: of a test.\n#pragma once\n")
    assert "constexpr int nq = 2;" in text
    assert r'joint_names[] = {"a \"quoted\" joint", "b"};' in text
    assert "lower[] = {-1.5, -std::numeric_limits<number>::infinity()};" in text
    assert "/// grow: a test.\ninline void grow(const number x[2], number y[2]) noexcept {" in text
    assert "/// The same for n robots, a row each: x[n x 2], y[n x 2]." in text
    assert "inline void grow_batch(std::size_t n, const number *x, number *y) noexcept {" in text


def test_all_names_of_a_header_in_c_begin_with_the_prefix() -> None:
    """All names begin with the robot's."""
    text = header("c")
    assert "#ifndef ARM_H" in text and "enum { arm_nq = 2 };" in text
    assert "static inline void arm_grow(" in text and "static inline void arm_grow_batch(" in text
    assert "static const arm_number arm_lower[] = {-1.5, -INFINITY};" in text


def test_library_functions_are_listed_by_exported_function() -> None:
    """The key is the name of the function."""
    program = record(lambda x: [scalar.exp(x[0])], {"x": (1,)})
    each = ExportedFunction("grow", program, {"x": "x"}, {"out": "y"}, [])
    assert library_functions_of([each]) == {"grow": {"exp"}}


@pytest.mark.parametrize(
    ("language", "single", "lane_bytes", "shuffles"),
    [
        *(("c++", single, n, True) for single in (True, False) for n in (16, 32, 64)),
        *(("c++", True, 32, False), ("c++", False, 32, False)),
        *(("c", True, 64, True), ("c", False, 32, False)),
    ],
)
def test_rows_of_any_length_are_moved_into_lanes_and_back(
    language: str, single: bool, lane_bytes: int, shuffles: bool, tmp_path: Path
) -> None:
    """Compilers without shuffles can do it, too. Nothing is written after the last robot. Both
    languages have the same moves."""
    sizes = (1, 2, 3, 4, 5, 6, 7, 9)
    functions, arrays = [], {}
    for n in sizes:
        program = record(lambda x: [x[-1], *x, x[0] * 2.0], {"x": (n,)})
        functions.append(ExportedFunction(f"f{n}", program, {"x": "x"}, {"out": "y"}, []))
        arrays[f"f{n}"] = ("x", "y")
    text = exported_header(ExportedRobot(["some"]), functions, Style(language, single, "some"))
    assert "__builtin_shufflevector" in text
    if not shuffles:
        text = text.replace("defined(__clang__) || __GNUC__ >= 12", "0")
    options = ["-O1", f"-DWARPDYN_LANE_BYTES={lane_bytes}", "-Wno-psabi"]
    compiled = CompiledHeader(
        tmp_path,
        text,
        arrays,
        namespace="some",
        language=language,
        options=options,
        single=single,
    )
    for n in sizes:
        for robots in (1, 3, 4, 8, 16, 21):
            x = np.arange(1.0, 1.0 + robots * n).reshape(robots, n)
            x = x.astype(np.float32 if single else np.float64)
            y = np.full((robots + 1, n + 2), -1.0, x.dtype)
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, y)]
            compiled.library[f"x_f{n}_batch"](ctypes.c_size_t(robots), *pointers)
            assert np.array_equal(y[:-1], np.hstack([x[:, -1:], x, 2.0 * x[:, :1]]))
            assert np.all(y[-1] == -1.0)
