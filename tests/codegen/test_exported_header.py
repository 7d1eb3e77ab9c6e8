"""What stands around exported programs: constants, tables, comments, forms for many robots."""

from __future__ import annotations

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


def test_a_header_of_cpp() -> None:
    """Constants of the robot, a function for one and one for many, each with its comment."""
    text = header("c++")
    assert text.startswith("// arm: of a test.\n#pragma once\n")
    assert "constexpr int nq = 2;" in text
    assert r'joint_names[] = {"a \"quoted\" joint", "b"};' in text
    assert "lower[] = {-1.5, -std::numeric_limits<number>::infinity()};" in text
    assert "/// grow: a test.\ninline void grow(const number x[2], number y[2]) noexcept {" in text
    assert "/// The same for n robots, a row each: x[n x 2], y[n x 2]." in text
    assert "inline void grow_batch(std::size_t n, const number *x, number *y) noexcept {" in text


def test_a_header_of_c() -> None:
    """All names begin with the robot's."""
    text = header("c")
    assert "#ifndef ARM_H" in text and "enum { arm_nq = 2 };" in text
    assert "static inline void arm_grow(" in text and "static inline void arm_grow_batch(" in text
    assert "static const arm_number arm_lower[] = {-1.5, -INFINITY};" in text


def test_what_functions_need_of_a_library() -> None:
    """By the function's name."""
    program = record(lambda x: [scalar.exp(x[0])], {"x": (1,)})
    each = ExportedFunction("grow", program, {"x": "x"}, {"out": "y"}, [])
    assert library_functions_of([each]) == {"grow": {"exp"}}
