"""Names of types and helpers in exported code."""

from __future__ import annotations

from warpdyn.codegen.portable_style import Style


def test_names_distinguish_numbers_and_lanes_in_each_language() -> None:
    """Types distinguish them in C++. In C names do, and all names begin with the prefix."""
    cpp, c = Style("c++", True, "arm"), Style("c", True, "arm")
    assert (cpp.helper("sqrt", True), c.helper("sqrt", True)) == ("sqrt", "arm_lanes_sqrt")
    assert (cpp.type(False), c.type(False)) == ("number", "arm_number")
    assert (cpp.inline, c.inline) == ("inline", "static inline")
    assert (cpp.restrict, c.restrict) == ("__restrict", "restrict")
    assert cpp.noexcept == " noexcept" and not c.noexcept


def test_helper_functions_have_the_names_of_the_language() -> None:
    """The example is a function of numbers."""
    assert "inline number abs(number x) noexcept {" in Style("c++", True, "arm").helpers("abs")
    assert "arm_number arm_number_abs(arm_number x) {" in Style("c", True, "arm").helpers("abs")


def test_only_the_librarys_functions_are_those_of_std() -> None:
    """They have one name for float and double in C++. In C the name says which."""
    for single, suffix in ((True, "f"), (False, "")):
        cpp, c = Style("c++", single, "arm"), Style("c", single, "arm")
        assert "return std::sqrt(" in cpp.helpers("libm") and "std::" not in c.helpers("libm")
        assert f"return sqrt{suffix}(" in c.helpers("libm")
        for piece in ("number", "abs", "lanes", "lanes_libm"):
            assert "std::" not in cpp.helpers(piece)
