"""Tables as text: a header line, then a line of numbers for each row. Text columns are passed
through."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np

from .records import Labels, LogError, LogPart, join_names, repeated_name_error


class CsvLog:
    """A table that is open for reading."""

    def __init__(self, path: Path):
        self.path, self.rows, self.fixed = path, None, False
        self.notes: list[str] = []
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                self.names = [name.strip() for name in next(csv.reader(file), [])]
        except (UnicodeDecodeError, csv.Error) as error:
            raise LogError(f"it is not a table with a header line: {error}") from None
        if not self.names:
            raise LogError("it is empty: a header line and lines of numbers are needed")

    def width(self, name: str) -> int | None:
        """The width: a column has one number per row."""
        return None

    def entries(self, name: str) -> tuple[str, ...]:
        """Names of entries: none."""
        return ()

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """The lines of the file, in parts."""
        for name in names:
            if self.names.count(name) > 1:
                raise repeated_name_error(name)
        places = {n: self.names.index(n) for n in names}
        with self.path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            next(lines)
            while True:
                try:
                    read = [(lines.line_num, row) for row in islice(lines, rows)]
                except (UnicodeDecodeError, csv.Error) as error:
                    raise LogError(f"line {lines.line_num} cannot be read: {error}") from None
                if not read:
                    return
                some = [(line, row) for line, row in read if row]
                for line, row in some:
                    if len(row) != len(self.names):
                        raise LogError(
                            f"line {line} has {len(row)} entries, the first names {len(self.names)}"
                        )
                numbers = {n: _floats(n, k, some) for n, k in places.items()}
                if some:
                    yield LogPart(len(some), numbers, [row for _, row in some] if whole else None)

    def writer(self, path: Path, labels: Labels) -> CsvWriter:
        """A table with the same columns and the labels; the meaning of labels is in the manifest
        only."""
        return CsvWriter(path, self.names, labels)

    def close(self) -> None:
        """Do nothing: no file stays open."""


class CsvWriter:
    """A labelled table."""

    def __init__(self, path: Path, names: Sequence[str], labels: Labels):
        self._labels = labels.columns
        added = [name for each in self._labels for name in each.apart or (each.name,)]
        if twice := [name for name in added if name in names]:
            raise LogError(
                f"it has a column {join_names(twice)} already: give the label another name, "
                f"my_{twice[0]}=..."
            )
        self._file = path.open("w", newline="", encoding="utf-8")
        self._table = csv.writer(self._file, lineterminator="\n")
        self._table.writerow([*names, *added])

    def write(self, part: LogPart, labels: Mapping[str, np.ndarray]) -> None:
        """Write numbers with all their digits."""
        blocks = [labels[each.name].reshape(part.rows, -1) for each in self._labels]
        numbers = np.concatenate(blocks, axis=1).tolist()
        for row, added in zip(part.carried, numbers, strict=True):
            self._table.writerow([*row, *map(repr, added)])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file, even if the disk refuses."""
        with suppress(OSError):
            self._file.close()


def _floats(name: str, column: int, rows: Sequence[tuple[int, Sequence[str]]]) -> np.ndarray:
    """A column's numbers; rows come with their line numbers in the file."""
    try:
        return np.array([row[column] for _, row in rows], dtype=np.float64)
    except ValueError:
        line, text = next((line, row[column]) for line, row in rows if not _is_number(row[column]))
        raise LogError(f"line {line}: {name} is {text!r}, not a number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
