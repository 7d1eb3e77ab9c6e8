"""Conversion of docstrings to reStructuredText: code is marked as code, and other text contains no
markup."""

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
def test_text_is_escaped_and_code_is_marked(plain: str, written: str) -> None:
    assert as_rst([plain]) == [written]


def test_examples_are_not_changed() -> None:
    """An example begins at `>>>` and includes its output up to the next empty line."""
    lines = ["Text_.", "", ">>> x = y_ * `z`", "['a_*']", "", "more_"]
    assert as_rst(lines) == ["Text\\_.", "", ">>> x = y_ * `z`", "['a_*']", "", "more\\_"]


def test_indented_lines_become_a_block() -> None:
    """They are not changed, and text may come before and after."""
    written = as_rst(["A table:", "    a_ | b*", "    c", "and on."])
    assert written == ["A table:", "", "::", "", "    a_ | b*", "    c", "", "and on."]
