"""NumPy archives: arrays (T,) and (T, n) by name. They are in memory as a whole, and so are
labels."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .records import Labels, LogError, LogPart, reason_of

METADATA = "warpdyn"
"""Name of the array that holds the meaning of labels, as JSON."""


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive by name. Raises LogError if it cannot be read."""
    if not zipfile.is_zipfile(path):
        raise LogError("it is no .npz file, or a part of one; numpy.savez writes them")
    try:
        with np.load(path, allow_pickle=False) as file:
            return {n: np.asarray(file[n]) for n in file.files}
    except (FileNotFoundError, PermissionError):
        raise
    except (ValueError, zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError) as error:
        raise LogError(f"NumPy cannot read it: {reason_of(error)}") from None


class NpzLog:
    """An archive that has been read."""

    def __init__(self, path: Path):
        self.path = path
        self.fixed, self.notes = True, list[str]()
        self._arrays = read_arrays(path)
        self.names = list(self._arrays)
        lengths = [len(x) for x in self._arrays.values() if x.ndim]
        self.rows: int | None = max(lengths, key=lengths.count, default=0)

    def width(self, name: str) -> int | None:
        """The number of entries in a row."""
        array = self._arrays[name]
        if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
            raise LogError(
                f"array {name} is {array.dtype} {array.shape}, not numbers (T,) or (T, n)"
            )
        if len(array) != self.rows:
            raise LogError(f"array {name} has {len(array)} rows, others have {self.rows}")
        return None if array.ndim == 1 else array.shape[1]

    def entries(self, name: str) -> tuple[str, ...]:
        """Names of entries: none are known."""
        return ()

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """Slices of the arrays."""
        for begin in range(0, self.rows or 0, rows):
            numbers = {n: _floats(self._arrays[n][begin : begin + rows]) for n in names}
            yield LogPart(min(rows, (self.rows or 0) - begin), numbers, None)

    def writer(self, path: Path, labels: Labels) -> NpzWriter:
        """An archive of the same arrays and the labels."""
        return NpzWriter(path, self._arrays, labels)

    def close(self) -> None:
        """Do nothing: no file is open."""


def read_metadata(path: Path) -> Any:
    """The meaning of labels, from an archive with labels."""
    with np.load(path, allow_pickle=False) as file:
        return json.loads(str(file[METADATA]))


class NpzWriter:
    """A labelled archive, written when it is closed."""

    def __init__(self, path: Path, arrays: Mapping[str, np.ndarray], labels: Labels):
        for each in labels.columns:
            if each.name in arrays:
                raise LogError(
                    f"it has an array {each.name} already: give the label another name, "
                    f"my_{each.name}=..."
                )
        self._path, self._arrays, self._labels = path, arrays, labels
        self._parts: dict[str, list[np.ndarray]] = {each.name: [] for each in labels.columns}

    def write(self, part: LogPart, labels: Mapping[str, np.ndarray]) -> None:
        """Keep the labels until the end."""
        for name, parts in self._parts.items():
            parts.append(labels[name])

    def close(self) -> None:
        """Write everything, as numpy.savez does."""
        added = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        before = {n: x for n, x in self._arrays.items() if n != METADATA}
        about = np.array(json.dumps(self._labels.as_metadata()))
        with zipfile.ZipFile(self._path, "w") as archive:
            for name, array in {**before, **added, METADATA: about}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)

    def abandon(self) -> None:
        """Do nothing: no file is open."""


def _floats(values: np.ndarray) -> np.ndarray:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
