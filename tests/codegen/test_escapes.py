"""A name cannot end the comment or the string in which it is written, whatever it contains."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from exported_code import WARNINGS, compiler
from hostile_names import hostile_names

from warpdyn.codegen.escapes import escape_comment, string_literal

NAMES = hostile_names(600)
BUILDS = [
    ("c", 0, "-std=c99"),
    ("c", 1, "-std=c99"),
    ("c++", 0, "-std=c++17"),
    ("c++", 1, "-std=c++17"),
]


def test_a_comment_is_printable_and_has_no_delimiter() -> None:
    """It contains only printable ASCII, and no line ends, backslash at its end, delimiters of
    comments, or trigraphs."""
    for name in NAMES:
        text = escape_comment(name)
        assert text.isascii() and (text.isprintable() or not text), name
        assert not any(x in text for x in ("\\\n", "*/", "/*", "??")), name
        assert not text.endswith("\\"), name


def test_plain_text_is_not_escaped() -> None:
    """Characters of other text are replaced by their numbers."""
    plain = "rnea: torques [N m] for q, v, a; 3 x 3, 50 % (see table 5.1)?"
    assert escape_comment(plain) == plain
    assert escape_comment("Ärm\n\u202e🦾\\") == r"\xc4rm\x0a\u202e\U0001f9be\x5c"
    assert string_literal("a b") == '"a b"'
    assert string_literal('"\\?\n') == r'"\"\\\077\012"'


def test_names_that_c_strings_cannot_hold_are_refused() -> None:
    """A NUL would end the string, and half of a surrogate pair has no UTF-8."""
    for name in ("a\0b", "a\ud800"):
        with pytest.raises(ValueError, match=r"cannot be a C string.*rename it"):
            string_literal(name)


@pytest.mark.parametrize(("language", "which", "standard"), BUILDS)
def test_escaped_names_compile_unchanged(
    language: str, which: int, standard: str, tmp_path: Path
) -> None:
    """No comment changes what follows it, and every string is equal byte for byte."""
    lines = ["#include <stdio.h>"]
    for k, name in enumerate(NAMES):
        text = escape_comment(name)
        single = [f"// {text}", f"/// {text}"] if language == "c++" else []
        lines += [*single, f"/* {text} */", "/*", f" * {text}", " */"]
        lines += [f"static const char s{k}[] = {string_literal(name)};"]
    printed = "".join(f"  fwrite(s{k}, 1, sizeof s{k}, stdout);\n" for k in range(len(NAMES)))
    source = tmp_path / f"names.{'cpp' if language == 'c++' else 'c'}"
    source.write_text("\n".join(lines) + f"\nint main(void) {{\n{printed}  return 0;\n}}\n")
    program = str(tmp_path / "names")
    build = [compiler(language, which), standard, *WARNINGS, "-trigraphs", str(source)]
    built = subprocess.run([*build, "-o", program], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    said = subprocess.run([program], capture_output=True, check=True).stdout
    assert said == b"".join(name.encode() + b"\0" for name in NAMES)
