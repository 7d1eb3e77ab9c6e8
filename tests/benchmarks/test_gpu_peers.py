"""Comparison with other libraries on a GPU: the command on the emulated device, its clock and its
tables."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cuda_device.emulated_processes import run_emulated

import warpdyn as wd
from benchmarks.gpu_peers import __main__ as gpu_peers
from benchmarks.gpu_peers import dynamics, steps, tables, timing
from benchmarks.gpu_peers.timing import ROUNDS, Work, figures
from benchmarks.peers import CannotDo

STORED = json.loads(tables.RESULT.read_text())


MEASURED = """
import argparse, sys
from pathlib import Path
from benchmarks.gpu_peers import __main__ as gpu_peers
from benchmarks.gpu_peers import timing
timing.ROUNDS, timing.TURN = 1, 0.0
for part, name in (("dynamics", "double_pendulum"), ("steps", "quadruped"), ("scenes", "pile-3")):
    given = {"parts": [part], "peers": ["warpdyn"], "names": [name], "batches": [8]}
    path = Path(sys.argv[1])
    gpu_peers.measure(argparse.Namespace(**given, device="cuda:0", lines=path))
"""
"""All parts in one process, with one short round."""


def test_warpdyn_is_measured_in_all_parts(tmp_path: Path) -> None:
    """The parts are each algorithm in both layouts and three forms, steps at rest and in motion,
    and a settled scene."""
    path = tmp_path / "lines.jsonl"
    done = run_emulated("-c", MEASURED, str(path))
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [x.get("why") for x in lines] == [None] * 35, done.stderr
    of_dynamics, steps, scenes = ([x for x in lines if x["part"] == part] for part in PARTS)
    assert len({(x["algorithm"], x["layout"], x["form"]) for x in of_dynamics}) == 30
    assert all(0 < x["error"] < 1e-5 for x in of_dynamics)
    assert [x.get("moving", False) for x in steps] == [False, False, True, True]
    assert all(x["off_m"] < 0.02 for x in steps)
    assert [x["scene"] for x in scenes] == ["pile-3"]
    assert all(x["us_low"] <= x["us"] <= x["us_high"] for x in lines)


PARTS = ("dynamics", "steps", "scenes")


def test_everything_is_compiled_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each robot and scene compiles in a separate process, with few robots and without results. A
    failure is reported, and the case is still measured."""
    commands = list[list[str]]()

    def fails(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", "no GPU")

    monkeypatch.setattr(subprocess, "run", fails)
    monkeypatch.setattr(gpu_peers, "describe_run", lambda device, peers: {"versions": {}})
    monkeypatch.setattr(tables, "tables", lambda content: [])
    names, output = ("quadruped", "pile-3"), ("--output", str(tmp_path / "peers.json"))
    assert gpu_peers.main(["--peers", "warpdyn", "--names", *names, *output]) == 0
    shown = [(x[x.index("--parts") + 1], x[x.index("--names") + 1 :]) for x in commands]
    small = ["--batches", "64"]
    cases = [("dynamics", names[0]), ("steps", names[0]), ("scenes", names[1])]
    assert sorted(shown[:3]) == sorted((part, [name, *small]) for part, name in cases)
    assert [part for part, _ in shown[3:]] == list(PARTS)
    lines = [x[x.index("--lines") + 1] for x in commands]
    assert set(lines[:3]) == {os.devnull} and os.devnull not in lines[3:]
    assert all(words[-2:] == ["4096", "65536"] for _, words in shown[3:])
    assert capsys.readouterr().err.count("no GPU") == 6


def test_a_compiling_process_runs_once_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes one round, however short."""
    given = argparse.Namespace(
        **{"parts": ["steps"], "peers": ["warpdyn"], "names": ["quadruped"], "batches": [8]},
        **{"device": "cpu", "lines": gpu_peers.NOWHERE},
    )
    for name in ("ROUNDS", "ROUNDS_OF_SLOW", "TURN"):
        monkeypatch.setattr(timing, name, getattr(timing, name))
    for name in ("compile", "compile_messages"):
        monkeypatch.setattr(wd.config, name, getattr(wd.config, name))
    monkeypatch.setattr(gpu_peers.warnings, "simplefilter", lambda kind: None)
    monkeypatch.setattr(gpu_peers.wp.config, "quiet", False, raising=False)
    seen = list[tuple[Any, ...]]()

    def record_settings(*asked: Any) -> Iterator[dict[str, Any]]:
        seen.append((*asked, timing.ROUNDS, timing.ROUNDS_OF_SLOW, timing.TURN, wd.config.compile))
        yield {}

    monkeypatch.setattr(steps, "records", record_settings)
    gpu_peers.measure(given)
    assert seen == [("warpdyn", ["quadruped"], [8], "cpu", 1, 1, 0.0, "wait")]


def test_a_failing_library_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX may have no GPU, and other lines are still measured."""

    def fails(key: str, case: dynamics.Case) -> Iterator[dict[str, Any]]:
        if case.algorithm == "crba":
            raise CannotDo("no such function")
        raise RuntimeError("no GPU")

    monkeypatch.setattr(dynamics, "_theirs", fails)
    lines = list(dynamics.records("mjx", ["quadruped"], [8], "cpu"))
    reasons = {x["algorithm"]: x["why"] for x in lines}
    assert len(reasons) == 5 and reasons.pop("crba") == "no such function"
    assert set(reasons.values()) == {"RuntimeError: no GPU"}


def test_the_clock_waits_for_the_end() -> None:
    """A restart comes before each round. Its time and that of the first step after it do not
    count."""
    events = list[str]()

    def finish(last: object) -> None:
        events.append(f"finish {last}")
        time.sleep(0.02)

    def run() -> int:
        events.append("run")
        return len(events)

    work = Work(run, "cpu", finish, restart=lambda: events.append("restart"), most=1)
    found = figures(work, robots=1000, calls=2)
    assert events[:5] == ["restart", "run", "finish 2", "run", "finish 4"]
    assert events.count("restart") == 1 + ROUNDS
    assert found["us"] >= 1e4
    assert found["million_per_second"] == pytest.approx(1e3 / found["us"], rel=0.01)


def line_of(library: str, us: float, **more: object) -> dict[str, object]:
    return {
        "part": "steps",
        "library": library,
        "robot": "r",
        "envs": 8,
        "us": us,
        "form": "f",
    } | more


def test_tables_have_multiples_of_warpdyns_time() -> None:
    """They use the fastest form of each other library. Times that do not count are listed below."""
    records = [
        line_of("warpdyn", 2.0, form="4 steps a launch"),
        line_of("warpdyn", 1.0, form="1 step a launch"),
        line_of("MuJoCo Warp", 30.0),
        line_of("MuJoCo Warp", 20.0),
        line_of("Newton", 1.0, why="the base is 0.1 m off"),
    ]
    text = "\n".join(tables.tables({"records": records}))
    assert "| robot | 8 [us] | MuJoCo Warp |" in text
    assert "| r | 2.0 | 10× |" in text
    assert "no time: Newton, steps, 1 case: the base is 0.1 m off" in text


def test_stored_results_were_measured_on_a_gpu() -> None:
    """They cover all parts in both batches, and no stored error exceeds 1e-4."""
    assert "H100" in STORED["about"]["hardware"]
    lines = [x for x in STORED["records"] if "why" not in x]
    for part in PARTS:
        ours = {x["envs"] for x in lines if (x["part"], x["library"]) == (part, "warpdyn")}
        assert ours == {4096, 65536}
    assert {x["library"] for x in lines} >= {"MuJoCo Warp", "MJX", "Newton"}
    assert all(x["us"] > 0 for x in lines)
    assert not any(x["error"] > 1e-4 for x in lines if "error" in x)
