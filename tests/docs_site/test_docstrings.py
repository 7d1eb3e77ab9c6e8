"""Docstrings as reStructuredText: code is code, and nothing else becomes markup."""

from __future__ import annotations

import pytest

from docs_site.docstrings import as_rst


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("takes `q` and `v`.", "takes ``q`` and ``v``."),
        ("M_ and *_foot", r"M\_ and \*\_foot"),
        ("|x| of `a_*`", r"\|x\| of ``a_*``"),
        ("a lone ` stays", r"a lone \` stays"),
    ],
)
def test_marks_are_what_they_are(plain: str, written: str) -> None:
    assert as_rst([plain]) == [written]


def test_examples_stay() -> None:
    """What stands after `>>>`, and what it prints, up to the next empty line."""
    lines = ["Text_.", "", ">>> x = y_ * `z`", "['a_*']", "", "more_"]
    assert as_rst(lines) == ["Text\\_.", "", ">>> x = y_ * `z`", "['a_*']", "", "more\\_"]


def test_indented_lines_are_a_block() -> None:
    """As they stand, with text before and after."""
    written = as_rst(["A table:", "    a_ | b*", "    c", "and on."])
    assert written == ["A table:", "", "::", "", "    a_ | b*", "    c", "", "and on."]
