"""`warpdyn bench`: its table, JSON file and picture, and the comparison with peers."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

import warpdyn as wd
from warpdyn.cli.bench import plot, to_json
from warpdyn.cli.main import main
from warpdyn.cli.peer_times import PeerTime
from warpdyn.cli.timing import Case, Measurement
from warpdyn.peers import find_peers
from warpdyn.peers.pinocchio import Pinocchio

PEERS = ["--peers", "pinocchio", "mujoco"]


def test_bench_writes_table_json_and_plot(tmp_path, capsys):
    """Each batch has a row, errors are within float32's digits, and both files are written."""
    pytest.importorskip("matplotlib")
    files = tmp_path / "b.json", tmp_path / "b.png"
    options = ["--batch", "1", "64", "--algorithm", "rnea", "--threads", "1", "--device", "cpu"]
    assert (
        main(
            ["bench", "double_pendulum", *options, "--json", str(files[0]), "--plot", str(files[1])]
        )
        == 0
    )
    figures = json.loads(files[0].read_text())["figures"]
    assert [f["batch"] for f in figures] == [1, 64]
    assert all(f["worst_relative_error"] < 1e-5 and f["ns_per_robot"] > 0 for f in figures)
    assert files[1].read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    assert "ns per" in said and "robots per" in said and "compile" in said


def test_bench_measures_peers_too(tmp_path, capsys):
    """Both peers have all five algorithms, give the same results, and take more than no time."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    file = tmp_path / "b.json"
    options = ["--batch", "40", *PEERS, "--json", str(file)]
    assert main(["bench", "double_pendulum", *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(
        x in said
        for x in ("Pinocchio", "MuJoCo", "on one core", "python -m benchmarks measures more peers")
    )
    figures = json.loads(file.read_text())["figures"]
    assert [f["algorithm"] for f in figures] == ["fk", "jacobian", "crba", "rnea", "aba"]
    for figure in figures:
        assert len(figure["peers"]) == 2
        for peer in figure["peers"].values():
            assert peer["ns_per_robot"] > 0 and peer["largest_relative_difference"] < 1e-5
            assert peer["times"] == pytest.approx(peer["ns_per_robot"] / figure["ns_per_robot"])


def test_bench_says_why_a_peer_is_not_timed(monkeypatch, capsys):
    """A peer with another result, or without the algorithm, has blank cells. The rest of the table
    is complete."""
    pytest.importorskip("pinocchio")

    rnea = Pinocchio.rnea
    monkeypatch.setattr(Pinocchio, "rnea", lambda *state: rnea(*state) + 1.0)
    monkeypatch.setattr(find_peers, "find_spec", lambda name: None if name == "mujoco" else name)
    assert (
        main(["bench", "panda", "--batch", "4", "--algorithm", "rnea", "aba", "fk", "--peers"]) == 0
    )
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: MuJoCo is not installed (pip install mujoco)" in said
    assert "rnea is not compared with Pinocchio" in said and "another result" in said
    assert (
        "aba is not compared with Pinocchio" in said and 'mimic joint "panda_finger_joint2"' in said
    )
    assert "fk is not compared" not in said


def test_json_has_a_refusal_instead_of_numbers():
    """A case that was not measured has its reason and no NaN, and so has a peer."""
    case = Case("rnea", 10, "float32", "columns", "cpu")
    refused = Measurement(case, refusal="not defined")
    peers = (PeerTime("p", 50.0, 1e-9), PeerTime("r", refusal="other"))
    timed = Measurement(case, seconds=1e-7, worst_error=1e-8, first_call=0.5, peers=peers)
    written = json.loads(to_json(wd.load_robot("cartpole"), [refused, timed]))
    assert written["robot"] == "cartpole" and written["nv"] == 2
    assert list(written["versions"]) == ["warpdyn", "warp", "numpy", "python"]
    first, second = written["figures"]
    assert first["refusal"] == "not defined" and "ns_per_robot" not in first
    assert second["ns_per_robot"] == pytest.approx(10.0)
    assert second["peers"]["p"]["times"] == pytest.approx(5.0)
    assert second["peers"]["r"] == {"refusal": "other"}


def test_a_plot_has_a_line_for_each_algorithm(monkeypatch):
    """Batches of a line are in order. A refused case has no point."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    written = []
    monkeypatch.setattr(figure, "savefig", lambda self, path, **_: written.append((self, path)))

    def measurement(name, batch, **found):
        return Measurement(Case(name, batch, "float32", "columns", "cpu"), **found)

    found = [
        measurement("fk", 100, seconds=1e-6),
        measurement("aba", 10, refusal="not defined"),
        measurement("fk", 10, seconds=1e-6),
        measurement("rnea", 10, seconds=2e-6),
    ]
    plot(wd.load_robot("cartpole"), found, "a.png")
    ((drawn, path),) = written
    (axes,) = drawn.axes
    lines = {line.get_label(): line.get_xydata().T.tolist() for line in axes.lines}
    assert path == "a.png" and [*lines] == ["fk", "rnea"]
    assert lines["fk"] == [[10, 100], pytest.approx([1e7, 1e8])]
    assert lines["rnea"] == [[10], pytest.approx([5e6])]
    assert [x.get_text() for x in axes.get_legend().get_texts()] == ["fk", "rnea"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == "batch size [robots]" and "per second" in axes.get_ylabel()
    assert axes.get_title().startswith("cartpole, float32, columns\n")
    assert all(line.get_visible() for line in axes.get_xgridlines())
    plot(wd.load_robot("cartpole"), [], "b.png")
    assert written[1][0].axes[0].get_legend() is None


def test_options_are_read_before_a_case_is_timed(tmp_path, monkeypatch, capsys):
    """All five algorithms are timed without --algorithm. A file that cannot be written is refused first."""
    asked, timed = [], []
    module = import_module("warpdyn.cli.bench")
    monkeypatch.setattr(module, "set_num_threads", asked.append)
    monkeypatch.setattr(module, "measure_cases", lambda model, cases, *_: timed.extend(cases) or [])
    assert main(["bench", "cartpole", "--threads", "3", "--batch", "2", "8"]) == 0
    assert asked == [3] and [case.batch for case in timed] == [2] * 5 + [8] * 5
    assert [case.algorithm for case in timed[:5]] == ["fk", "jacobian", "crba", "rnea", "aba"]
    timed.clear()
    (tmp_path / "a.png").mkdir()
    for option, file in (("--json", tmp_path), ("--plot", tmp_path / "a.png")):
        assert main(["bench", "cartpole", option, str(file)]) == 2
        assert "it is a folder" in capsys.readouterr().err and not timed
    assert main(["bench", "cartpole", "--plot", "a.txt"]) == 2 and not timed
