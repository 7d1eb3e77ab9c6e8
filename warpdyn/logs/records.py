"""The interface of all log files: columns, parts of rows, labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

LONG, LATE = 1000.0, 1e11
"""A median step and a time [s] that no log has; the time is in the year 5138. Microseconds of rates
up to 1 kHz, nanoseconds, and stamps in milliseconds since 1970 are above."""


def are_ticks(step: float, latest: float) -> bool:
    """True if a median step or the latest time, without its sign, is too large for seconds."""
    return step > LONG or latest > LATE


class LogError(Exception):
    """A file cannot be read, or not be labelled. The message is one line with the reason and the
    remedy."""


class LogPart(NamedTuple):
    """Some consecutive rows of a log."""

    rows: int
    numbers: Mapping[str, np.ndarray]
    """The requested columns: (rows,), or (rows, n) if a row has a list."""
    carried: Any
    """Everything that the file has in these rows, in the form that its writer takes."""


@dataclass(frozen=True)
class Label:
    """A column that is added to a log."""

    name: str
    shape: tuple[int, ...]
    """The shape of one row: () for a number."""
    dtype: np.dtype
    about: Mapping[str, Any]
    """The label's metadata: unit, frame, names of the entries, source of the formula."""
    apart: tuple[str, ...] = ()
    """Names of the columns if each entry is to have its own."""


@dataclass(frozen=True)
class Labels:
    """All labels that are added to a file."""

    columns: Sequence[Label]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of the whole file: the robot, the version, how velocities were found."""

    def as_metadata(self) -> dict[str, Any]:
        """Metadata of the file and of each column, as JSON takes it."""
        columns: dict[str, Any] = {}
        for each in self.columns:
            apart = {"columns": list(each.apart)} if each.apart else {}
            columns[each.name] = {"shape": list(each.shape), **apart, **each.about}
        return {**self.metadata, "columns": columns}


class LogWriter(Protocol):
    """A labelled file that is being written; `close` completes it."""

    def write(self, part: LogPart, labels: Mapping[str, np.ndarray]) -> None:
        """Write the part's rows with their labels, (rows, *shape) by name."""

    def close(self) -> None:
        """Complete the file: no more parts follow."""

    def abandon(self) -> None:
        """Close a file that will stay incomplete."""


class Log(Protocol):
    """A file that is open for reading."""

    names: Sequence[str]
    """Names of all its columns."""
    rows: int | None
    """Number of rows; None if the file must be read to know it."""
    fixed: bool
    """True if labels are written as lists of a fixed size."""
    notes: list[str]
    """Remarks for the user about the way in which it was read."""

    def width(self, name: str) -> int | None:
        """Length of a column's lists, None for plain numbers. Raises LogError if there is no such
        column."""

    def entries(self, name: str) -> tuple[str, ...]:
        """Names of a column's entries (joints), if the file has them."""

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """The log from its first row to its last, at most `rows` at a time. Without `whole`
        only the named columns are read, and nothing is carried."""

    def writer(self, path: Path, labels: Labels) -> LogWriter:
        """A writer for everything that was read, and labels."""

    def close(self) -> None:
        """Close the file."""


def reason_of(error: Exception) -> str:
    """The first line of an error's message, or its class if it has none."""
    return str(error).partition("\n")[0] or type(error).__name__


def repeated_name_error(name: str) -> LogError:
    """The error of a table that has several columns of one name."""
    return LogError(f"several columns have the name {name}; rename one")


def join_names(names: Sequence[str], most: int = 8) -> str:
    """Names for a message."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "") or "nothing"


def finite(name: str, values: np.ndarray, first_row: int) -> np.ndarray:
    """The values, if all of them are finite; otherwise raises LogError."""
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
