"""Parquet files, streamed: plain columns, and lists of numbers of one length, as LeRobot writes
them.

Memory use is constant for a file of any size: pages are read through a buffer of a megabyte, and
each part is written as a row group before the next one is decoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .records import Label, Labels, LogError, LogPart, join_names, reason_of, repeated_name_error

BUFFER = 1 << 20
"""Number of bytes read at a time; without it whole column chunks are read, however long a row group
is."""

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of Arrow's time stamps and durations."""

METADATA = b"warpdyn"
"""Key for the meaning of labels, in the schema and in each label's field."""


class ParquetLog:
    """A Parquet file that is open for reading."""

    def __init__(self, path: Path):
        self.path = path
        with _mistakes("it is not a Parquet file, or a part of one"):
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
            self._schema = self._file.schema_arrow
        self.names = list(self._schema.names)
        self.rows: int | None = self._file.metadata.num_rows
        self.notes: list[str] = []
        self.fixed = any(map(pa.types.is_fixed_size_list, self._schema.types))
        self._widths: dict[str, int | None] = {}
        self._first_ticks: dict[str, int] = {}

    def width(self, name: str) -> int | None:
        """The number of entries in a row: for a fixed-size list from its type, else that of the
        first row."""
        if name not in self._widths:
            self._widths[name] = self._width(name)
        return self._widths[name]

    def _width(self, name: str) -> int | None:
        if self.names.count(name) > 1:
            raise repeated_name_error(name)
        kind = self._schema.field(name).type
        if _is_number(kind) or _is_time(kind):
            return None
        if not _is_list(kind) or not _is_number(kind.value_type):
            raise LogError(f"column {name} holds {kind}, not numbers")
        if pa.types.is_fixed_size_list(kind):
            return int(kind.list_size)
        with _mistakes("it cannot be decoded"):
            first = next(self._file.iter_batches(1, columns=[name], use_threads=False), None)
        if first is None or first.column(0).null_count:
            raise LogError(f"column {name} has an empty entry in row 0; cut such rows out")
        return len(first.column(0)[0])

    def entries(self, name: str) -> tuple[str, ...]:
        """Names of entries: none are known."""
        return ()

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """Record batches. A part may have fewer rows at the end of a row group."""
        chosen = None if whole else list(dict.fromkeys(names))
        for name in names:
            self.width(name)  # not inside the loop: it would set the size of the batches to one row
        begin = 0
        with _mistakes("it cannot be decoded"):
            batches = self._file.iter_batches(rows, columns=chosen, use_threads=False)
        while True:
            with _mistakes("it cannot be decoded"):
                batch = next(batches, None)
            if batch is None:
                return
            if batch.num_rows:
                numbers = {n: self._values(n, batch.column(n), begin) for n in names}
                yield LogPart(batch.num_rows, numbers, batch if whole else None)
                begin += batch.num_rows

    def _values(self, name: str, array: Any, begin: int) -> np.ndarray:
        """A column as a NumPy array, without a copy if possible. Time stamps and durations become
        seconds since the file's first row."""
        if array.null_count:
            row = begin + int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
            raise LogError(f"column {name} has an empty entry in row {row}; cut such rows out")
        kind = array.type
        if _is_time(kind):
            # Whole ticks are subtracted: seconds since 1970 would have a resolution of 0.2 us.
            ticks = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return (ticks - self._first_ticks.setdefault(name, ticks[0])) * SECONDS[kind.unit]
        if not _is_list(kind):
            return _numbers(array)
        n = self.width(name) or 0
        if not pa.types.is_fixed_size_list(kind):
            lengths = np.diff(array.offsets.to_numpy())
            if (lengths != n).any():
                k = int(np.argmax(lengths != n))
                raise LogError(
                    f"column {name} has lists of {n} numbers, but of {lengths[k]} in row {begin + k}"
                )
        flat = array.flatten()  # `values` would ignore the start of a slice
        if flat.null_count:
            raise LogError(f"column {name} has lists with empty entries; cut such rows out")
        return _numbers(flat).reshape(len(array), n)

    def writer(self, path: Path, labels: Labels) -> ParquetWriter:
        """A Parquet file with the same columns and the labels, compressed like this one; zstd
        replaces slow compression (gzip)."""
        compression = "snappy"
        if self._file.metadata.num_row_groups and self.names:
            compression = self._file.metadata.row_group(0).column(0).compression.lower()
        compression = {"uncompressed": "none", "gzip": "zstd", "brotli": "zstd"}.get(
            compression, compression
        )
        return ParquetWriter(path, self._schema, labels, self.fixed, compression)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_metadata(path: Path) -> Any:
    """The meaning of labels, from a file with labels."""
    return json.loads(pq.read_schema(path).metadata[METADATA])


class ParquetWriter:
    """A labelled Parquet file; every written part is a row group."""

    def __init__(
        self, path: Path, schema: Any, labels: Labels, fixed: bool, compression: str = "snappy"
    ):
        fields = [
            _field(each, name, fixed)
            for each in labels.columns
            for name in each.apart or (each.name,)
        ]
        if twice := sorted({f.name for f in fields} & set(schema.names)):
            raise LogError(
                f"it has a column {join_names(twice)} already: give the label another name, "
                f"my_{twice[0]}=..."
            )
        metadata = {**(schema.metadata or {}), METADATA: json.dumps(labels.as_metadata()).encode()}
        self._labels = labels.columns
        self._schema = pa.schema([*schema, *fields], metadata=metadata)
        texts = [f.name for f in schema if "string" in str(f.type)]
        # The columns by which readers choose rows: episode_index, index, task.
        known = [f.name for f in schema if pa.types.is_integer(f.type)] + texts
        # A dictionary of floats overflows and is discarded after every number was hashed.
        self._writer = pq.ParquetWriter(
            path,
            self._schema,
            compression=compression,
            use_dictionary=texts or False,
            write_statistics=known or False,
        )

    def write(self, part: LogPart, labels: Mapping[str, np.ndarray]) -> None:
        """Write the arrays as they were read, and labels without a copy."""
        kinds = iter(list(self._schema)[len(part.carried.columns) :])
        added = []
        for each in self._labels:
            values = labels[each.name].reshape(part.rows, -1)
            for column in values.T if each.apart else (values,):
                added.append(_array(column, next(kinds).type))
        batch = pa.RecordBatch.from_arrays([*part.carried.columns, *added], schema=self._schema)
        self._writer.write_batch(batch, row_group_size=1 << 30)

    def close(self) -> None:
        """Write the footer and close the file."""
        self._writer.close()

    def abandon(self) -> None:
        """Close the file, even if the disk refuses the footer."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()


def record_batch(columns: Mapping[str, np.ndarray]) -> Any:
    """Columns of numbers, (rows,) or (rows, n), as a record batch of plain columns and lists."""
    kinds = {n: pa.from_numpy_dtype(x.dtype) for n, x in columns.items()}
    kinds = {n: _list_of(kinds[n]) if x.ndim > 1 else kinds[n] for n, x in columns.items()}
    schema = pa.schema([pa.field(n, kind, nullable=False) for n, kind in kinds.items()])
    arrays = [_array(x, kinds[n]) for n, x in columns.items()]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_time(kind: Any) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_duration(kind))


def _is_list(kind: Any) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _numbers(array: Any) -> np.ndarray:
    """The array's numbers: float32 stays, and all other types become float64."""
    values = array.to_numpy(zero_copy_only=False)
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _list_of(kind: Any, size: int = -1) -> Any:
    return pa.list_(pa.field("element", kind, nullable=False), size)


def _field(label: Label, name: str, fixed: bool) -> Any:
    kind = pa.from_numpy_dtype(label.dtype)
    size = int(np.prod(label.shape))
    if label.shape and not label.apart:
        kind = _list_of(kind, size if fixed else -1)
    metadata = {METADATA: json.dumps({"shape": label.shape, **label.about}).encode()}
    return pa.field(name, kind, nullable=False, metadata=metadata)


def _array(values: np.ndarray, kind: Any) -> Any:
    """(rows,) or (rows, n) as an array of that type."""
    values = np.ascontiguousarray(values)
    if not _is_list(kind):
        return pa.array(values.reshape(-1), type=kind)
    rows, n = values.shape
    flat = pa.array(values.reshape(-1))
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * np.int32(n))
    return pa.ListArray.from_arrays(offsets, flat, type=kind)


@contextmanager
def _mistakes(what: str) -> Iterator[None]:
    """Raise LogError, in one line, for bytes that Arrow cannot read; errors of the disk stay what
    they are."""
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        raise LogError(f"{what}: {reason_of(error)}") from None
