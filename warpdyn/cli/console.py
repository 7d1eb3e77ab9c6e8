"""Output for the terminal: its width, wrapped lines, and numbers with three digits."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from ..model.names import printable

if TYPE_CHECKING:
    from rich.table import Table

WIDEST = 1000
"""Columns in which every table fits."""


def width() -> int:
    """Columns of the terminal; 80 for files and pipes, which have no width."""
    return shutil.get_terminal_size().columns


def show(table: Table) -> None:
    """Print a table, in files and pipes too. In a terminal that is narrower than the table, its lines
    are wrapped by the terminal, because rich would cut the numbers."""
    from rich.console import Console
    from rich.measure import Measurement

    wide = Console(width=WIDEST)
    needed = Measurement.get(wide, wide.options, table).maximum
    Console(width=max(width(), needed)).print(table)


def say(text: str) -> None:
    """Print text wrapped between words; names are made printable."""
    fill = textwrap.fill(printable(text), width(), break_long_words=False, break_on_hyphens=False)
    print(fill)


def short(number: float) -> str:
    """A number with three digits."""
    return f"{number:,.3g}" if number < 100 else f"{number:,.0f}"


def in_words(count: float) -> str:
    """A large number with three digits and a word: 83.3 million."""
    for size, word in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return f"{count:.3g}"
