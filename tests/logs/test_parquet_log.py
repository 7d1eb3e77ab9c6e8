"""Parquet: written columns equal those that were read, for all kinds of lists, with constant
memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_files import lists

from warpdyn.logs.parquet_log import ParquetLog, read_metadata, record_batch
from warpdyn.logs.records import Label, Labels, LogError

Q = np.arange(20.0, dtype=np.float32).reshape(10, 2)


def write_parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=4)
    return path


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("rows", [3, 100])
def test_columns_are_read_unchanged(tmp_path: Path, fixed: bool, rows: int) -> None:
    """Lists and plain columns are read in parts, in the file's order. Integers become float64."""
    path = write_parquet(tmp_path / "a.parquet", q=lists(Q, fixed), n=np.arange(10), t=Q[:, 0])
    log = ParquetLog(path)
    assert (log.width("q"), log.width("t"), log.rows) == (2, None, 10)
    parts = list(log.parts(["q", "n", "t"], rows, True))
    assert np.array_equal(np.concatenate([p.numbers["q"] for p in parts]), Q)
    assert np.array_equal(np.concatenate([p.numbers["n"] for p in parts]), np.arange(10.0))
    assert sum(p.rows for p in parts) == 10 and max(p.rows for p in parts) <= rows
    assert all(p.numbers["q"].dtype == np.float32 for p in parts)
    alone = list(log.parts(["t"], rows, False))
    assert np.array_equal(np.concatenate([p.numbers["t"] for p in alone]), Q[:, 0])
    assert all(p.carried is None for p in alone)


def test_time_stamps_are_converted_to_seconds(tmp_path: Path) -> None:
    """Arrow's time stamps and durations may have any unit. Seconds count from the first row of the
    file, in every part and every pass, so that no digit of a late date is lost."""
    late = 1_800_000_000
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        for kind in (pa.timestamp(unit), pa.duration(unit)):
            stamps = pa.array(late * round(1 / scale) + np.arange(5), kind)
            log = ParquetLog(write_parquet(tmp_path / "a.parquet", t=stamps))
            for rows in (2, 10):
                found = [part.numbers["t"] for part in log.parts(["t"], rows, False)]
                assert np.allclose(np.concatenate(found), np.arange(5) * scale, rtol=1e-12, atol=0)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_labelled_file_contains_the_original(tmp_path: Path, fixed: bool) -> None:
    """The columns are equal. Labels have metadata: a vector, a matrix, a number, and one in
    separate columns."""
    path = write_parquet(tmp_path / "a.parquet", q=lists(Q, fixed), task=["lift"] * 10)
    log = ParquetLog(path)
    added = {"tau": 2 * Q, "M": np.ones((10, 2, 2)), "E": Q[:, 0], "two": Q}
    columns = [
        Label(n, x.shape[1:], x.dtype, {"unit": n}, ("two_a", "two_b") if n == "two" else ())
        for n, x in added.items()
    ]
    writer = log.writer(tmp_path / "b.parquet", Labels(columns, {"model": "arm"}))
    begin = 0
    for part in log.parts(["q"], 3, True):
        writer.write(part, {n: x[begin : begin + part.rows] for n, x in added.items()})
        begin += part.rows
    writer.close()
    before, after = pq.read_table(path), pq.read_table(tmp_path / "b.parquet")
    assert after.select(before.column_names).equals(before)
    assert np.array_equal(np.array(after["tau"].to_pylist()), 2 * Q)
    assert np.array_equal(np.array(after["M"].to_pylist()), np.ones((10, 4)))
    assert np.array_equal(after["two_b"].to_numpy(), Q[:, 1])
    assert pa.types.is_fixed_size_list(after.schema.field("tau").type) == fixed
    assert json.loads(after.schema.field("M").metadata[b"warpdyn"]) == {
        "shape": [2, 2],
        "unit": "M",
    }
    assert json.loads(after.schema.metadata[b"warpdyn"])["model"] == "arm"


def test_a_label_with_the_name_of_a_column_is_refused(tmp_path: Path) -> None:
    log = ParquetLog(write_parquet(tmp_path / "a.parquet", tau=Q[:, 0]))
    labels = Labels([Label("tau", (), np.dtype("f4"), {})])
    with pytest.raises(LogError, match="a column tau already: give the label another name"):
        log.writer(tmp_path / "b.parquet", labels)


def test_a_repeated_name_is_refused_where_it_is_read(tmp_path: Path) -> None:
    """Other columns of one name are passed through."""
    path = tmp_path / "a.parquet"
    x = pa.array([1.0, 2.0])
    pq.write_table(pa.Table.from_arrays([x, x, x], names=["note", "t", "note"]), path)
    log = ParquetLog(path)
    (part,) = log.parts(["t"], 10, True)
    assert part.carried.num_columns == 3
    with pytest.raises(LogError, match=r"^several columns have the name note; rename one$"):
        log.width("note")
    with pytest.raises(LogError, match="several columns"):
        next(log.parts(["t", "note"], 10, False))


def test_incomplete_rows_are_refused(tmp_path: Path) -> None:
    """They have empty entries or lists of other lengths. The message has the number of the row."""
    lengths = pa.array([[1.0, 2.0]] * 6 + [[1.0]], pa.list_(pa.float32()))
    log = ParquetLog(write_parquet(tmp_path / "a.parquet", q=lengths))
    with pytest.raises(LogError, match="lists of 2 numbers, but of 1 in row 6"):
        list(log.parts(["q"], 100, True))
    empty = pa.array([1.0] * 5 + [None])
    log = ParquetLog(write_parquet(tmp_path / "b.parquet", q=empty))
    with pytest.raises(LogError, match="an empty entry in row 5"):
        list(log.parts(["q"], 3, True))
    log = ParquetLog(write_parquet(tmp_path / "c.parquet", q=["text"]))
    with pytest.raises(LogError, match="holds string, not numbers"):
        log.width("q")


def test_a_truncated_or_damaged_file_is_refused(tmp_path: Path) -> None:
    """Its end is missing, or bytes of a page differ."""
    path = write_parquet(
        tmp_path / "a.parquet", q=lists(np.random.default_rng(0).normal(size=(500, 2)))
    )
    data = path.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(LogError, match="not a Parquet file, or a part of one"):
        ParquetLog(tmp_path / "cut.parquet")
    spoilt = bytearray(data)
    spoilt[4:2000] = bytes(1996)
    (tmp_path / "spoilt.parquet").write_bytes(spoilt)
    with pytest.raises(LogError, match="cannot be decoded"):
        list(ParquetLog(tmp_path / "spoilt.parquet").parts(["q"], 100, True))


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Arrow's peak for 20 times as many rows in one row group is that of a part and its buffers.

    All parts have the right number of rows.
    """
    peaks = []
    for rows in (20_000, 400_000):
        x = np.random.default_rng(0).normal(size=(rows, 7)).astype(np.float32)
        path = tmp_path / f"{rows}.parquet"
        pq.write_table(pa.Table.from_batches([record_batch({"q": x})]), path, row_group_size=rows)
        pool, log = pa.default_memory_pool(), ParquetLog(path)
        before, most = pool.bytes_allocated(), 0
        for part in log.parts(["q"], 10_000, True):
            assert part.rows == 10_000
            most = max(most, pool.bytes_allocated() - before)
        peaks.append(most)
    assert peaks[1] < 2 * peaks[0] + 4e6
    assert peaks[1] < 400_000 * 28 / 2


def test_columns_become_a_batch() -> None:
    """They are numbers and lists, none of them empty."""
    batch = record_batch({"t": Q[:, 0], "q": Q})
    assert batch.schema.names == ["t", "q"] and not any(f.nullable for f in batch.schema)
    assert np.array_equal(np.array(batch.column("q").to_pylist()), Q)


def test_lists_with_empty_entries_are_refused(tmp_path: Path) -> None:
    """An empty first row, whose length is not known, and an entry inside a list."""
    for name, rows, said in (
        ("first", [None, [1.0]], "column q has an empty entry in row 0; cut such rows out"),
        ("later", [[1.0], None], "column q has an empty entry in row 1; cut such rows out"),
        ("inner", [[1.0], [None]], "column q has lists with empty entries; cut such rows out"),
    ):
        kind = pa.list_(pa.float64())
        log = ParquetLog(write_parquet(tmp_path / f"{name}.parquet", q=pa.array(rows, kind)))
        with pytest.raises(LogError, match=f"^{said}$"):
            list(log.parts(["q"], 1, True))
    log = ParquetLog(
        write_parquet(tmp_path / "none.parquet", q=pa.array([], pa.list_(pa.float64())))
    )
    with pytest.raises(
        LogError, match=r"^column q has an empty entry in row 0; cut such rows out$"
    ):
        log.width("q")
    assert log.entries("q") == () and log.rows == 0 and log.notes == []
    texts = pa.array([["a"]], pa.list_(pa.string()))
    log = ParquetLog(write_parquet(tmp_path / "texts.parquet", q=texts))
    with pytest.raises(LogError, match=r"^column q holds list<element: string>, not numbers$"):
        log.width("q")


def test_rows_are_counted_from_the_start_of_the_file(tmp_path: Path) -> None:
    """The row of a list with another length is reported, in parts of a few rows."""
    lists_of_two = pa.array([[1.0, 2.0]] * 9 + [[1.0]], pa.list_(pa.float32()))
    log = ParquetLog(write_parquet(tmp_path / "a.parquet", q=lists_of_two))
    with pytest.raises(LogError, match=r"^column q has lists of 2 numbers, but of 1 in row 9$"):
        list(log.parts(["q"], 3, True))


def test_errors_of_the_disk_are_raised_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ParquetLog(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("compression", "wanted"),
    [("none", "UNCOMPRESSED"), ("snappy", "SNAPPY"), ("zstd", "ZSTD"), ("gzip", "ZSTD")],
)
def test_fast_compression_is_kept(tmp_path: Path, compression: str, wanted: str) -> None:
    """Texts have a dictionary, numbers have none. Integers and texts have statistics."""
    table = pa.table({"n": np.arange(4), "task": ["lift"] * 4, "x": np.arange(4.0)})
    pq.write_table(table, tmp_path / "a.parquet", compression=compression)
    log = ParquetLog(tmp_path / "a.parquet")
    writer = log.writer(tmp_path / "b.parquet", Labels([], {"model": "arm"}))
    for part in log.parts([], 3, True):
        writer.write(part, {})
    writer.abandon()
    group = pq.ParquetFile(tmp_path / "b.parquet").metadata
    assert (group.num_row_groups, group.row_group(0).num_rows) == (2, 3)
    columns = [group.row_group(0).column(k) for k in range(3)]
    assert {column.compression for column in columns} == {wanted}
    assert [column.is_stats_set for column in columns] == [True, True, False]
    encodings = ["RLE_DICTIONARY" in column.encodings for column in columns]
    assert encodings == [False, True, False]
    assert read_metadata(tmp_path / "b.parquet") == {"model": "arm", "columns": {}}
    log.close()


def test_existing_columns_of_a_label_are_listed_in_order(tmp_path: Path) -> None:
    """Those that the file has already, sorted."""
    log = ParquetLog(write_parquet(tmp_path / "a.parquet", b=Q[:, 0], c=Q[:, 0]))
    labels = Labels([Label("two", (2,), np.dtype("f4"), {}, ("c", "b"))])
    said = "it has a column b, c already: give the label another name, my_b=..."
    with pytest.raises(LogError, match=f"^{said}$"):
        log.writer(tmp_path / "b.parquet", labels)


def test_a_log_without_rows_can_be_labelled(tmp_path: Path) -> None:
    """The output has the same columns and no row."""
    log = ParquetLog(write_parquet(tmp_path / "a.parquet", t=pa.array([], pa.float64())))
    assert list(log.parts(["t"], 3, True)) == []
    log.writer(tmp_path / "b.parquet", Labels([Label("E", (), np.dtype("f8"), {})])).close()
    table = pq.read_table(tmp_path / "b.parquet")
    assert table.column_names == ["t", "E"] and table.num_rows == 0
