"""C++ headers read as text: Python's result equals that of the C++ preprocessor."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cuda_on_host import needs_compiler

import warpdyn as wd
from warpdyn.codegen import headers

FOLDER = Path(wd.__file__).parent / "codegen"


def preprocess(file: Path, single: bool) -> list[str]:
    """Words of a file after the system's preprocessor."""
    command = ["g++", "-E", "-P", f"-DWARPDYN_FLOAT={int(single)}", file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@needs_compiler
@pytest.mark.parametrize("single", [True, False])
def test_the_text_equals_that_of_the_preprocessor(single: bool, tmp_path: Path) -> None:
    """Conditions, includes and placeholders are the same, and comments are removed."""
    for name in ("lanes.h", "transposes.h"):
        text = (FOLDER / name).read_text().replace("#include <math.h>", "")
        (tmp_path / name).write_text(text)
    places = {"ahead": 4, "members": "", "parts": "", "body": ""}
    read = tmp_path / "read.h"
    read.write_text(headers.piece("lanes.h", "lanes", single, **places) + "\n")
    assert preprocess(read, single) == preprocess(tmp_path / "lanes.h", single)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which headers are searched instead of the package."""
    monkeypatch.setattr(headers, "files", lambda package: tmp_path)
    headers.pieces.cache_clear()
    return tmp_path


HEADER = """/// About the file.
#include <math.h>
#define $x 1
/// [one] The first piece.
#if WARPDYN_FLOAT
float a = $x; // kept
#else
double a = $x;
#endif
  /// For the reader.
#include "other.h"

/// [two]
$x$y
"""


def test_a_header_is_read_in_pieces(folder: Path) -> None:
    """Each condition leaves one branch, included files are inserted, and comments of two slashes
    are kept."""
    (folder / "some.h").write_text(HEADER)
    (folder / "other.h").write_text("/// Not this.\n#if WARPDYN_FLOAT\nint b;\n#endif\nint c;\n")
    assert headers.pieces("some.h", True) == {
        "one": "float a = $x; // kept\nint b;\nint c;",
        "two": "$x$y",
    }
    assert headers.pieces("some.h", False)["one"] == "double a = $x;\nint c;"


def test_conditions_on_the_processor_are_kept(folder: Path) -> None:
    """The precision is decided inside both branches. A removed branch is removed completely."""
    (folder / "some.h").write_text(
        "/// [one]\n#ifdef WARPDYN_NARROW\nint a;\n#if WARPDYN_FLOAT\nint b;\n#endif\n#else\nint c;\n#endif\n"
        "/// [two]\n#if WARPDYN_FLOAT\nint d;\n#else\n#ifdef WARPDYN_NARROW\nint e;\n#endif\n#endif\n"
    )
    double, single = (headers.pieces("some.h", x) for x in (False, True))
    assert double["one"] == "#ifdef WARPDYN_NARROW\nint a;\n#else\nint c;\n#endif"
    assert single["one"] == "#ifdef WARPDYN_NARROW\nint a;\nint b;\n#else\nint c;\n#endif"
    assert double["two"] == "#ifdef WARPDYN_NARROW\nint e;\n#endif"
    assert single["two"] == "int d;"


def test_all_placeholders_are_filled(folder: Path) -> None:
    """Text may contain what looks like a placeholder. A missing or unknown placeholder is an
    error."""
    (folder / "some.h").write_text(HEADER)
    (folder / "other.h").write_text("")
    assert headers.piece("some.h", "two", x="$y", y=3) == "$y3"
    with pytest.raises(ValueError, match=r"some.h \[two\]: places without text: \['y'\]"):
        headers.piece("some.h", "two", x="")
    with pytest.raises(ValueError, match=r"text without a place: \['z'\]"):
        headers.piece("some.h", "two", x="", y="", z="")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/// [one]\n/// [one]\n", "two pieces"),
        ("/// [one]\n#if WARPDYN_FLOAT\n", "without '#endif'"),
        ("/// [one]\n#if WARPDYN_FLOAT\n#if WARPDYN_FLOAT\n", "only plain"),
        ("/// [one]\n#if 1\n#endif\n", "only plain"),
        ("/// [one]\n#ifdef X\n#endif\n", "only plain"),
        ("/// [one]\n#else\n#endif\n", "without its beginning"),
    ],
)
def test_invalid_headers_are_refused(folder: Path, text: str, message: str) -> None:
    """A header is read completely or not at all."""
    (folder / "bad.h").write_text(text)
    with pytest.raises(ValueError, match=message):
        headers.pieces("bad.h", True)


@pytest.mark.parametrize("header", sorted(path.name for path in FOLDER.glob("*.h")))
def test_all_headers_of_the_package_are_valid(header: str) -> None:
    """They are read in both precisions, and every piece has balanced braces."""
    for single in (True, False):
        for text in headers.pieces(header, single).values():
            assert text and text.count("{") == text.count("}")
