"""What every kind of log file is read as and written from: columns, parts of rows, labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np


class LogError(Exception):
    """A file that cannot be read, or not be labelled; one line that says why and what to do."""


class LogPart(NamedTuple):
    """Some rows of a log, one after the other."""

    rows: int
    numbers: Mapping[str, np.ndarray]
    """Columns that were asked for: (rows,), or (rows, n) where a row has a list."""
    carried: Any
    """All that the file has in these rows, as the writer of its kind takes it."""


@dataclass(frozen=True)
class Label:
    """A column that is added to a log."""

    name: str
    shape: tuple[int, ...]
    """What one row has: () for a number."""
    dtype: np.dtype
    about: Mapping[str, Any]
    """What goes into the metadata: unit, frame, names of the entries, formula's source."""
    apart: tuple[str, ...] = ()
    """Names of the columns if each entry is to have its own."""


@dataclass(frozen=True)
class Labels:
    """All that is added to a file."""

    columns: Sequence[Label]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What holds for the whole file: the robot, the version, how velocities were found."""

    def described(self) -> dict[str, Any]:
        """Metadata of the file and of each column, as JSON takes it."""
        columns: dict[str, Any] = {}
        for each in self.columns:
            apart = {"columns": list(each.apart)} if each.apart else {}
            columns[each.name] = {"shape": list(each.shape), **apart, **each.about}
        return {**self.metadata, "columns": columns}


class LogWriter(Protocol):
    """A labelled file that is being written; `close` makes it whole."""

    def write(self, part: LogPart, labels: Mapping[str, np.ndarray]) -> None:
        """The part's rows with their labels, (rows, *shape) by name."""

    def close(self) -> None:
        """Nothing comes any more."""

    def abandon(self) -> None:
        """Let go of a file that will not be whole."""


class Log(Protocol):
    """A file that is open for reading."""

    names: Sequence[str]
    """All its columns."""
    rows: int | None
    """None where it must be read to know."""
    fixed: bool
    """Whether labels are written as lists of a fixed size."""
    notes: list[str]
    """What a user should know of how it was read."""

    def width(self, name: str) -> int | None:
        """Numbers in a row of a column, None of one that has a plain number; LogError if it has none."""

    def entries(self, name: str) -> tuple[str, ...]:
        """Names of a column's entries (joints), where the file knows them."""

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """The log from its first row to its last, at most so many rows at a time. Without `whole`
        nothing but the named columns is read, and nothing is carried."""

    def writer(self, path: Path, labels: Labels) -> LogWriter:
        """What writes all that was read, and labels."""

    def close(self) -> None:
        """Let go of the file."""


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names for a message."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "") or "nothing"


def finite(name: str, values: np.ndarray, first_row: int) -> np.ndarray:
    """Values, if all of them are numbers."""
    with np.errstate(all="ignore"):
        total = values.sum()  # one pass; infinities of both signs sum to NaN
    if not np.isfinite(total):
        wrong = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if wrong.any():
            row = first_row + int(np.argmax(wrong))
            raise LogError(
                f"column {name} is not finite in {int(wrong.sum())} rows, first in row {row}; "
                "cut these rows out"
            )
    return values
