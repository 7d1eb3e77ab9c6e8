"""Terminal output: wrapped lines and numbers."""

from __future__ import annotations

import pytest
from rich.table import Table

from warpdyn.cli import console


@pytest.mark.parametrize(
    ("number", "text"), [(0.12345, "0.123"), (12.345, "12.3"), (123.4, "123"), (12345.6, "12,346")]
)
def test_numbers_have_three_digits(number, text):
    """Whole numbers above a hundred are not cut."""
    assert console.short(number) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (12.0, "12"),
        (999.0, "999"),
        (1000.0, "1 thousand"),
        (4500.0, "4.5 thousand"),
        (1e6, "1 million"),
        (83.3e6, "83.3 million"),
        (1e9, "1 billion"),
        (2e9, "2 billion"),
    ],
)
def test_large_numbers_have_three_digits_and_a_word(count, text):
    """Examples are thousand and million."""
    assert console.in_words(count) == text


def test_a_table_is_never_cut(monkeypatch, capsys):
    """A terminal that is too narrow for it wraps its lines. A cut number would be another number."""
    monkeypatch.setenv("COLUMNS", "12")
    table = Table()
    for name in ("a time", "another one"):
        table.add_column(name, no_wrap=True)
    table.add_row("1,234,567", "0.000123456")
    console.show(table)
    out = capsys.readouterr().out
    assert "1,234,567" in out and "0.000123456" in out and "…" not in out


def test_prose_is_broken_between_words(monkeypatch, capsys):
    """A word that is longer than the line is not broken, since it may be a path."""
    monkeypatch.setenv("COLUMNS", "20")
    console.say("a line of prose, and /a/path/that/is/long/a-b.png")
    assert capsys.readouterr().out == "a line of prose, and\n/a/path/that/is/long/a-b.png\n"


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """Text such as a policy's metadata may come from anybody. No control character reaches the
    terminal."""
    console.say("policy.onnx, made by \x1b[2J\x9b31mme\nall checks passed \u202e")
    assert capsys.readouterr().out == (
        "policy.onnx, made by \\x1b[2J\\x9b31mme\\x0aall checks passed \\u202e\n"
    )
