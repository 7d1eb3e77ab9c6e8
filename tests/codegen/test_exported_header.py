"""The parts of a header around exported programs: constants, tables, comments, functions for many
robots."""

from __future__ import annotations

import ctypes
import math
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported_code import CompiledHeader, compiler

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


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("language", ["c++", "c"])
def test_empty_tables_of_a_header_compile(language: str, which: int, tmp_path: Path) -> None:
    """A robot with a free base and no other joint has no joint names."""
    program = record(lambda x: [x[0], x[1]], {"x": (2,)})
    each = ExportedFunction("same", program, {"x": "x"}, {"out": "y"}, ["same: a test."])
    robot = ExportedRobot(["body"], {"nq": 7}, {"joint_names": []}, {"lower": []})
    text = exported_header(robot, [each], Style(language, False, "body", True))
    code = CompiledHeader(
        tmp_path, text, {"same": ["x", "y"]}, namespace="body", language=language, which=which
    )
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert (code.batch("same", [x], (2,)) == x).all()


def test_all_names_of_a_header_in_c_begin_with_the_prefix() -> None:
    """All names begin with the robot's."""
    text = header("c")
    assert "#ifndef ARM_H_" in text and "enum { arm_nq = 2 };" in text
    assert "static inline void arm_grow(" in text and "static inline void arm_grow_batch(" in text
    assert "static const arm_number arm_lower[] = {-1.5, -INFINITY};" in text


def test_headers_with_other_numbers_work_in_one_program(tmp_path: Path) -> None:
    """Before, the linker used the inline function of one header for both."""
    for value in (1.0, 2.0):
        program = record(lambda x, value=value: [value * x[0]], {"x": (1,)})
        each = ExportedFunction("scale", program, {"x": "x"}, {"out": "y"}, [])
        text = exported_header(ROBOT, [each], Style("c++", False, "arm"))
        (tmp_path / f"arm{value:.0f}.hpp").write_text(text)
        call = f"double f{value:.0f}(double x) {{ double y; arm::scale(&x, &y); return y; }}"
        (tmp_path / f"f{value:.0f}.cpp").write_text(f'#include "arm{value:.0f}.hpp"\n{call}\n')
    main = "double f1(double), f2(double); int main() { return f1(1) != 1 || f2(1) != 2; }"
    (tmp_path / "main.cpp").write_text(main)
    command = [
        compiler("c++", 0),
        "-std=c++17",
        "-O0",
        "f1.cpp",
        "f2.cpp",
        "main.cpp",
        "-o",
        "main",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_headers_in_c_with_other_numbers_are_not_left_out(tmp_path: Path) -> None:
    """Before, the guard of the first header excluded the second, whose functions computed with the
    numbers of the first. Two copies of one header are one header."""
    for file, value in (("a", 1.0), ("b", 2.0), ("copy", 1.0)):
        program = record(lambda x, value=value: [value * x[0]], {"x": (1,)})
        each = ExportedFunction("scale", program, {"x": "x"}, {"out": "y"}, [])
        text = exported_header(ROBOT, [each], Style("c", False, "arm"))
        (tmp_path / f"{file}.h").write_text(text)
    for second, accepted in (("b", False), ("copy", True)):
        (tmp_path / "unit.c").write_text(f'#include "a.h"\n#include "{second}.h"\n')
        command = [compiler("c", 0), "-std=c99", "-fsyntax-only", "unit.c"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ran.returncode == 0) is accepted and ("arm_nq" in ran.stderr) is not accepted


@pytest.mark.parametrize(
    ("language", "which", "option", "message"),
    [
        ("c++", 0, "-ffast-math", "compile without -ffast-math"),
        ("c++", 1, "-Ofast", "compile without -ffast-math"),
        ("c", 0, "-funsafe-math-optimizations", "compile without -ffast-math"),
        ("c", 1, "-ffinite-math-only", "compile without -ffast-math"),
        ("c++", 0, "-mfpmath=387", "compile with -msse2 -mfpmath=sse"),
        ("c++", 0, "-DWARPDYN_LANE_BYTES=8", "must be a power of two, at least 16"),
        ("c", 1, "-DWARPDYN_LANE_BYTES=24", "must be a power of two, at least 16"),
    ],
)
def test_options_that_make_results_wrong_are_refused(
    language: str, which: int, option: str, message: str, tmp_path: Path
) -> None:
    """Before, sines were wrong by 0.7, and batches with other lanes wrote behind their arrays."""
    if "387" in option and platform.machine() != "x86_64":
        pytest.skip("only x86 has these numbers")
    (tmp_path / "unit.txt").write_text(header(language))
    command = [compiler(language, which), f"-x{language}", option, "-fsyntax-only", "unit.txt"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and message in ran.stderr


@pytest.mark.parametrize("language", ["c++", "c"])
@pytest.mark.parametrize("libm", [True, False])
def test_numbers_beyond_float_are_infinite(language: str, libm: bool, tmp_path: Path) -> None:
    """Before, a limit of 1e39 was a division by zero, which C++ does not compile."""
    program = record(lambda x: [scalar.minimum(x[0], 1e39), x[0] + math.inf], {"x": (1,)})
    each = ExportedFunction("go", program, {"x": "x"}, {"out": "y"}, [])
    robot = ExportedRobot(["arm"], tables={"lower": (-1e39, 1.0)})
    text = exported_header(robot, [each], Style(language, True, "arm", libm))  # type: ignore[arg-type]
    for which in (0, 1):
        # A process loads a library of the same path only once.
        folder = tmp_path / str(which)
        folder.mkdir()
        compiled = CompiledHeader(
            folder,
            text,
            {"go": ("x", "y")},
            namespace="arm",
            language=language,
            which=which,
            single=True,
        )
        x = np.full((5, 1), 3.0, np.float32)
        for run in (compiled.one_by_one, compiled.batch):
            np.testing.assert_array_equal(run("go", [x], (2,)), np.tile([3.0, np.inf], (5, 1)))


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
