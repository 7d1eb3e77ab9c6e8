"""`python -m benchmarks`: a tiny run without peers, and the calls of each installed peer."""

from __future__ import annotations

import ast
import json
import re
import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import warpdyn as wd
from benchmarks import (
    calls,
    compile_all,
    fast_page,
    figures_page,
    memory,
    peers,
    report,
    roofline,
    startup,
)
from benchmarks.__main__ import main
from benchmarks.algorithms import ALGORITHMS
from benchmarks.cases import Case, cases
from benchmarks.interleave import Turn, take_turns
from benchmarks.peers import jax_aot
from benchmarks.robots import JOINTS_OF_TREE, robot
from benchmarks.throughput import measure


def test_a_quick_run_writes_lines_report_and_pictures(tmp_path, capsys):
    options = [
        "--quick",
        "--robots",
        "double_pendulum",
        "--algorithms",
        "fk",
        "rnea",
        "rnea_vjp",
        "--batches",
        "1",
        "64",
    ]
    assert (
        main(
            [*options, "--peers", "none", "--no-starts", "--rounds", "1", "--output", str(tmp_path)]
        )
        == 0
    )
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert (
        lines[0]["versions"]["warpdyn"] == wd.__version__ and lines[0]["limits"]["operations"] > 1e8
    )
    timed = [line for line in lines if line["kind"] == "time"]
    assert {(x["algorithm"], x["batch"]) for x in timed} == {
        (a, b) for a in ("fk", "rnea", "rnea_vjp") for b in (1, 64)
    }
    assert all(x["ns"] > 0 and x["ns_low"] <= x["ns"] <= x["ns_high"] for x in timed)
    assert all(x["worst_relative_error"] < 1e-5 for x in timed)
    assert timed[-1]["primal"] == "rnea" and timed[-1]["times_primal"] > 0
    text = (tmp_path / "report.md").read_text()
    assert text in capsys.readouterr().out
    for title in ("Gradients", "Batches", "How far from the floor"):
        assert f"## {title}" in text
    assert (tmp_path / "throughput.png").stat().st_size > 1000 and (
        tmp_path / "roofline.png"
    ).stat().st_size > 1000


def test_a_new_measurement_replaces_the_old_one(tmp_path, capsys):
    options = [
        "--quick",
        "--robots",
        "double_pendulum",
        "--algorithms",
        "rnea",
        "--batches",
        "16",
        "--peers",
        "none",
    ]
    for extra in ([], ["--add"]):
        main([*options, "--no-starts", "--rounds", "1", "--output", str(tmp_path), *extra])
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    run = report.read(tmp_path)
    assert len(lines) == 4 and len(run.own) == 1 and run.own[0]["ns"] == json.loads(lines[-1])["ns"]


def test_missing_peers_are_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        peers, "import_module", lambda *_: (_ for _ in ()).throw(ImportError("no module"))
    )
    found, missing = peers.find(["mjx"])
    assert not found and missing == {"mjx": "not installed (no module)"}


@pytest.mark.parametrize("name", ["double_pendulum", "quadruped"])
def test_pinocchio_and_mujoco_give_the_same_results(name):
    """Every algorithm that they have is compared. A wrong result would leave a blank cell with this
    reason."""
    found, _ = peers.find(["pinocchio", "mujoco", "mujoco_rollout"])
    if not found:
        pytest.skip("no peer is installed")
    for algorithm in ("fk", "jacobian", "rnea", "aba"):
        for record in measure([Case(name, algorithm, 32)], found, rounds=1):
            assert "another result" not in record.get("blank", ""), record
            assert "failed" not in record.get("blank", ""), record


def test_a_peer_with_wrong_results_is_not_timed():
    class Wrong:
        NAME, PACKAGES, DTYPE = "wrong", (), "float64"

        @staticmethod
        def prepare(robot, algorithm, states, device):
            return peers.PreparedRun(lambda: None, 4, lambda: [np.zeros((4, 2))])

    records = list(
        measure(
            [Case("double_pendulum", "rnea", 16)], [peers.InstalledPeer("wrong", Wrong)], rounds=1
        )
    )
    assert "another result" in records[-1]["blank"] and "ns" not in records[-1]


def test_cases_vary_one_robot_and_algorithm():
    found = cases("panda", "rnea", (1, 16))
    assert [c.batch for c in found if c.plain] == [1, 16]
    assert {(c.dtype, c.layout, c.threads) for c in found if not c.plain} == {
        ("float64", "columns", 1),
        ("float32", "rows", 1),
        ("float32", "columns", 2),
    }


def test_every_algorithm_is_a_public_function():
    assert all(
        hasattr(wd, a.of or ("fk" if a.name == "fk_frame" else a.name)) or a.gradient
        for a in ALGORITHMS.values()
    )


def test_slow_runs_are_repeated_less_often(monkeypatch):
    monkeypatch.setattr("benchmarks.interleave.TURN", 1e-4)
    monkeypatch.setattr("benchmarks.interleave.SLOW", -1.0)
    turn = Turn(lambda: None, 1)
    take_turns([turn], 10)
    assert len(turn.samples) == 3


def test_the_random_tree_has_its_number_of_joints():
    assert robot("tree60").model.nv == JOINTS_OF_TREE
    assert robot("tree60_floating").model.nv == JOINTS_OF_TREE + 6


def test_the_roofline_is_the_longer_of_two_times():
    measured = {"copy": {"1000": 1e9, "1000000": 1e8}, "operations": 1e9}
    assert roofline.floor_ns(measured, 10, 1, 1000) == (10.0, "arithmetic")
    assert roofline.floor_ns(measured, 1, 100, 10000) == (1000.0, "memory")
    assert roofline.bandwidth(measured, 1e12) == 1e8


def lines_of(folder, *records):
    """A results folder with these measurements of a double pendulum's rnea, read again."""
    about = {
        "kind": "about",
        "date": "today",
        "hardware": "a core",
        "device": "cpu",
        "load": 0,
        "commit": "c",
    }
    at = {"kind": "time", "robot": "double_pendulum", "nv": 2, "algorithm": "rnea", "device": "cpu"}
    own = {
        "library": "warpdyn",
        "dtype": "float32",
        "layout": "columns",
        "threads": 1,
        "operations": 10,
        "bytes": 16,
    }
    own |= {
        "ns_low": 1,
        "ns_high": 3,
        "ns_of_plain_call": 3,
        "worst_relative_error": 0,
        "ns": 2.0,
        "batch": 4096,
    }
    found = [{**about, "versions": {}}, {**at, **own}, {**at, **own, "batch": 65536, "ns": 4.0}]
    found += [
        {**at, "peer": "p", "library": "Peer", "dtype": "float32", **record} for record in records
    ]
    (folder / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in found))
    return report.read(folder)


NUMBER = {"batch": 4096, "threads": 1, "form": "a call", "ns": 100.0, "first_call_seconds": 7.0}
NUMBER |= {"worst_relative_error": 0.0}


@pytest.mark.parametrize("last", ["number", "blank"])
def test_a_number_replaces_a_blank_and_a_blank_a_number(tmp_path, last):
    records = [NUMBER, {"blank": "no such function"}]
    run = lines_of(tmp_path, *(records if last == "blank" else records[::-1]))
    assert len(run.peers) == 1 and ("ns" in run.peers[0]) == (last == "number")


def test_every_empty_cell_has_a_reason(tmp_path):
    other = {**NUMBER, "library": "Other", "robot": "cartpole"}
    text = "\n".join(
        report.lines(lines_of(tmp_path, NUMBER, {"library": "None", "blank": "no rnea"}, other))
    )
    table = text[text.index("## Beside every peer") : text.index("## Empty cells")]
    assert "| double_pendulum rnea | 2 | 50 | 100 | *r2* |" in table
    assert "| *r1* | None | rnea | all robots | no rnea |" in text
    assert "| *r2* | any | rnea | all robots | not run" in text


def test_missed_targets_come_first_with_their_amount(tmp_path):
    run = lines_of(tmp_path, NUMBER)
    (tmp_path / "where_the_time_goes.md").write_text("memory")
    report.write(tmp_path, run)
    text = (tmp_path / "report.md").read_text()
    assert text.index("## Missed") < text.index("## Beside every peer")
    assert "[why](where_the_time_goes.md)" in text
    assert (
        "| change of ns from B = 4,096 on [%], at most 15 | double_pendulum | 1 of 1 | rnea 100 |"
        in text
    )
    assert "1 of the 2 figures" in text and "**100**" in text
    assert (
        "| double_pendulum rnea |  | 7.0 |"
        in text[text.index("## Seconds of the peers' first call") :]
    )


def test_memory_is_measured_in_separate_processes(monkeypatch):
    """A batch needs more than the import, at least by its arrays."""
    monkeypatch.setattr(memory, "ALGORITHMS", ("rnea",))
    monkeypatch.setattr(memory, "find_spec", lambda name: None)
    (record,) = memory.records(["double_pendulum"], 1 << 20)
    assert (
        record["arrays"] == pytest.approx(4 * 2 * 4) and record["compile"] > record["import"] > 10
    )
    assert record["run"] > record["import"] + record["arrays"]


def test_a_jax_program_is_compiled_once_within_its_time_limit(tmp_path, monkeypatch):
    asked, found = [], {60.0: None, 120.0: 70.0}
    monkeypatch.setattr(jax_aot, "FOLDER", tmp_path)
    monkeypatch.setattr(
        jax_aot, "_compile", lambda *given: asked.append(given[-1]) or found[given[-1]]
    )
    peer = peers.InstalledPeer("peer", ModuleType("peer"), {"peer": "1.0"})
    work = peers.PreparedRun(lambda: None, 4, lambda: [], "jit of vmap")

    def seconds(limit: float) -> float:
        return jax_aot.seconds(peer, robot("double_pendulum"), "rnea", work, "cpu", limit)

    for _ in range(2):
        with pytest.raises(peers.CannotDo, match="after 60 s"):
            seconds(60.0)
    assert [seconds(120.0), seconds(120.0)] == [70.0, 70.0] and asked == [60.0, 120.0]


PROGRAMS = [
    (module.__name__.rpartition(".")[2], name)
    for module in (compile_all, memory, startup)
    for name, text in vars(module).items()
    if isinstance(text, str) and "\nimport " in text
]


@pytest.mark.parametrize(("module", "name"), PROGRAMS)
def test_programs_of_new_processes_import_existing_names(module, name):
    """Otherwise a module or name that has moved would be noticed only in a long run."""
    text = vars(import_module(f"benchmarks.{module}"))[name]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("benchmarks", "warp")):
            there = vars(import_module(str(node.module)))
            assert not [alias.name for alias in node.names if alias.name not in there]


def test_the_tables_of_the_figures_page_come_from_the_results():
    """The text between the marks in docs/figures.md is what `python -m benchmarks.figures_page`
    writes."""
    folder = figures_page.folder_in_page()
    if folder is None:
        pytest.skip("no results")
    run, of_calls = report.read(folder), figures_page.folder_in_page(figures_page.CALLS)
    assert figures_page.table(run, folder) and figures_page.is_current(run, folder)
    assert of_calls is not None
    assert (
        figures_page.call_section(report.read(of_calls), of_calls) in figures_page.PAGE.read_text()
    )


def test_ordinary_calls_are_timed_and_written_to_the_page(tmp_path, monkeypatch):
    """Each form of a call is timed for every batch with its requirements. The machine's caches are
    recorded."""
    monkeypatch.setattr(calls, "CASES", (("ur5e", "rnea"), ("ur5e", "crba")))
    monkeypatch.setattr(calls, "OF_LIBRARIES", calls.CASES[:1])
    monkeypatch.setattr(calls, "is_installed", lambda: True)
    monkeypatch.setattr(calls, "BATCHES", (1, 2048))
    records = list(calls.measure(1, calls.BATCHES))
    assert [(r["algorithm"], r["batch"]) for r in records] == [
        (a, b) for a in ("rnea", "crba") for b in (1, 2048)
    ]
    for r in records:
        assert {"plain", "out", "bound", "own", "copy", "arithmetic"} <= r["ns"].keys()
        assert all(ns > 0 for ns in r["ns"].values())
    assert {"torch", "torch backward", "jax", "jax jit"} <= records[0]["ns"].keys()
    assert {"torch floor", "torch kernels"} <= records[0]["ns"].keys()
    lines = [{"kind": "call", **r} for r in records]
    about = {"hardware": "a machine", "date": "today", "versions": {}, "commit": "c", "load": 0}
    about |= {"caches": [(1, 32768), (3, 1 << 25)], "limits": {"copy": {"65536": 3e10}}}
    lines.insert(0, {"kind": "about", **about})
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run = report.read(tmp_path)
    text = "\n".join(calls.page(run))
    assert "L1 32 KiB, L3 32,768 KiB" in text and "ur5e crba, 144 bytes" in text
    assert {a.figure for a in run.asked} >= {"plain call by bound, one robot"}
    assert "| ur5e rnea | **" in figures_page.calls_table(run)
    (row,) = (
        x for x in fast_page.torch_table(run).splitlines() if x.startswith("| ur5e rnea | 1 |")
    )
    assert row.count(" us |") == len(fast_page.WAYS_OF_TORCH)
    for record in run.calls:
        record["ns"].pop("torch floor", None)
    assert fast_page.torch_table(run) == ""


def test_a_cell_of_the_figures_table_has_one_time_and_ratio():
    """The ratio is Pinocchio's. One sentence below the table has the ratios of the best peer."""
    folder = figures_page.folder_in_page()
    if folder is None:
        pytest.skip("no results")
    lines = figures_page.table(report.read(folder), folder).splitlines()
    cells = [c.strip() for row in lines if row.startswith("| ") for c in row.strip("| ").split("|")]
    figures = [cell for cell in cells if cell[:1].isdigit()]
    assert len(figures) > 30
    for cell in figures:
        assert re.fullmatch(r"[\d.,]+ ns(<br>\*\*\d+×\*\*)?", cell), cell
    assert re.search(r"fastest of all peers takes \d+ to \d+ times as long", lines[-1])


def test_the_tables_of_the_speed_page_come_from_the_results():
    """docs/fast.md has every cell that `python -m benchmarks.fast_page` writes."""
    folder = figures_page.folder_in_page()
    if folder is None:
        pytest.skip("no results")
    page, of_calls = fast_page.PAGE.read_text(), figures_page.folder_in_page(figures_page.CALLS)
    assert of_calls is not None
    run, called = report.read(folder), report.read(of_calls)
    assert fast_page.update_page(page, run, called, of_calls) == page
    assert (
        fast_page.thread_table(of_calls) in page
        and fast_page.thread_table(of_calls).count("× (") >= 12
    )
    assert fast_page.call_table(called) in page and fast_page.ratio_table(run) in page
    assert fast_page.call_table(called).count(" us |") > 40
    assert len(re.findall(r"[\d.]+×", fast_page.ratio_table(run))) == 2 * len(fast_page.ROWS)


def test_compile_all_has_a_help_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown robot is reported in one line, not a traceback."""
    for argument, code, said in (("--help", 0, "first call"), ("nobody", 2, "no robot 'nobody'")):
        monkeypatch.setattr(sys, "argv", ["compile_all", argument])
        with pytest.raises(SystemExit) as ended:
            compile_all.main()
        written = capsys.readouterr()
        assert ended.value.code == code and said in written.out + written.err
