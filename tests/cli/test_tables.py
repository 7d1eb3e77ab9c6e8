"""Tables of measurements: columns, cells, and notes."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.console import Console

from warpdyn.cli import tables
from warpdyn.cli.accuracy import LIMITS
from warpdyn.cli.peer_times import PeerTime
from warpdyn.cli.timing import Case, Measurement

CASE = Case("rnea", 4096, "float32", "columns", "cpu")
TIMED = Measurement(CASE, seconds=4096e-8, worst_error=2e-7, first_call=0.123)


def cells(table):
    return [list(column.cells) for column in table.columns]


def test_a_row_has_time_rate_error_and_compile_time():
    """The rate is a column, too, if there are no peers. A case that is not defined says so in the
    first of these columns.
    """
    refused = Measurement(CASE, refusal="no")
    assert cells(tables.table([TIMED, refused])) == [
        ["rnea", "rnea"],
        ["4,096", "4,096"],
        ["10", "not defined"],
        ["100 million", ""],
        ["2.0e-07", ""],
        ["0.12", ""],
    ]


def test_peers_have_two_columns_each():
    """They are the time and its multiple of warpdyn's. Both are blank if the peer refuses."""
    peers = (PeerTime("P", 35.0, 1e-9), PeerTime("Q", refusal="no such joint"))
    timed = Measurement(CASE, seconds=4096e-8, worst_error=2e-7, first_call=0.123, peers=peers)
    table = tables.table([timed])
    assert cells(table)[2:] == [["10"], ["2.0e-07"], ["35"], ["3.5"], [""], [""]]
    lines = tables.explain([timed])
    assert any(line.startswith("Peers: float64") for line in lines)
    assert lines[-1] == "rnea is not compared with Q: no such joint"


def test_only_a_comparison_has_no_frame():
    """It has more columns, which are one space apart and begin at the left edge."""
    peers = (PeerTime("P", 35.0, 1e-9),)
    for measurement, box, padding in (
        (TIMED, HEAVY_HEAD, (0, 1, 0, 1)),
        (replace(TIMED, peers=peers), SIMPLE_HEAD, (0, 1, 0, 0)),
    ):
        table = tables.table([measurement])
        assert table.box is box and table.padding == padding


def test_columns_have_names_and_units():
    """Names of two words and of peers are on two lines. Numbers are aligned at the right."""
    peers = (PeerTime("Pinocchio 4", 35.0, 1e-9), PeerTime("Q", 7.0, 1e-9))
    first = ["algorithm", "batch", "ns per\nrobot"]
    alone = [*first, "robots per\nsecond", "worst\nerror", "compile\n\\[s]"]
    compared = [*first, "worst\nerror", "Pinocchio\n4\n\\[ns]", "times", "Q\n\\[ns]", "times"]
    for names, measurement in ((alone, TIMED), (compared, replace(TIMED, peers=peers))):
        columns = tables.table([measurement]).columns
        assert [column.header for column in columns] == names
        assert [column.justify for column in columns] == ["left", *["right"] * (len(names) - 1)]
        assert all(column.no_wrap for column in columns)


def test_a_row_is_one_line_in_any_width():
    """A narrow terminal cuts the name of an algorithm instead of breaking it."""
    long = Measurement(replace(CASE, algorithm="time derivative of the jacobian"), seconds=1e-6)
    for width in (100, 70, 50):
        console = Console(width=width, file=StringIO())
        lengths = []
        for rows in ([TIMED], [TIMED, long], [TIMED, long, long]):
            with console.capture() as said:
                console.print(tables.table(rows))
            lengths.append(len(said.get().splitlines()))
            assert "rnea" in said.get()
        assert lengths[1] == lengths[0] + 1 and lengths[2] == lengths[0] + 2


def test_the_benchmarks_are_mentioned_only_in_a_checkout(monkeypatch):
    """Other installations do not have them."""
    timed = Measurement(CASE, 1e-6, peers=(PeerTime("P", 35.0, 1e-9),))
    beside = Path(tables.__file__).parents[2] / "benchmarks"
    assert tables.in_checkout() is beside.is_dir()
    for there in (True, False):
        monkeypatch.setattr(tables, "in_checkout", lambda there=there: there)
        said = "python -m benchmarks" in " ".join(tables.explain([timed]))
        assert said is there


def test_tables_fit_80_columns_in_pipes(monkeypatch, capsys):
    """If the output has no width, or has 80 columns, lines fit 80 columns and no text is cut."""
    slow = Case("jacobian", 1_048_576, "float32", "columns", "cpu")
    seconds = 1_048_576 * 123_456e-9
    peers = (PeerTime("Pinocchio 4.1.0", 123_456.0), PeerTime("MuJoCo 4.0.0", 123_456_789.0))
    for columns in (None, "80"):
        if columns is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", columns)
        for beside in ((), peers):
            timed = Measurement(slow, seconds, 2e-7, first_call=123.456, peers=beside)
            tables.print_measurements("a title of some length " * 5, [timed])
            said = capsys.readouterr().out
            assert max(map(len, said.splitlines())) <= 80 and "…" not in said
            wanted = ["jacobian", "1,048,576", "123,456", "2.0e-07"]
            wanted += ["1,000", "123,456,789"] if beside else ["8.1 thousand", "123.46"]
            assert all(each in said for each in wanted)


def test_notes_come_in_order_and_once(monkeypatch):
    """The first note is on compilation if there are no peers, otherwise on the comparison and its
    tolerance. The reasons for missing numbers follow, each once and in order.
    """
    monkeypatch.setattr(tables, "in_checkout", lambda: False)
    first, *others = tables.explain([Measurement(CASE, 1e-6)])
    assert first.startswith("fk computes the poses of all links,") and not others
    assert first.endswith("comes from the cache.") and "Compile: seconds from the first" in first
    refused = PeerTime("P", refusal="it has no such algorithm")
    timed = [
        Measurement(CASE, 1e-6, peers=(refused, PeerTime("Q", 35.0, 1e-9))),
        Measurement(CASE, 1e-6, peers=(refused,)),
        Measurement(replace(CASE, algorithm="aba"), refusal="it moves no inertia"),
    ]
    first, comparison, *reasons = tables.explain(timed)
    assert "Compile" not in first and comparison.startswith("Peers: float64, one Python call")
    assert comparison.endswith(f"agreed to {LIMITS[CASE.dtype]:g} beforehand.")
    assert reasons == [
        f"{CASE.algorithm} is not compared with P: it has no such algorithm",
        "aba is not defined: it moves no inertia",
    ]
