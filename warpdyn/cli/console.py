"""Output for the terminal: its width, wrapped lines, and numbers with three digits."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from ..model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


def width() -> int:
    """Columns of the terminal; 80 for files and pipes, which have no width."""
    return shutil.get_terminal_size().columns


def console() -> Console:
    """Console for tables, in files and pipes too."""
    from rich.console import Console

    return Console(width=width())


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
