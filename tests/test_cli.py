"""The command line: what each command prints, its exit codes, and that a user's mistake is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from warpdyn.cli import main

PENDULUM = Path(__file__).parent.parent / "warpdyn" / "robots" / "double_pendulum.urdf"


def test_info_prints_the_tree_and_the_limits(capsys):
    assert main(["info", "panda"]) == 0
    said = capsys.readouterr().out
    assert "panda_link7" in said and "-2.897" in said and "panda_finger_joint2 = 1 * panda_finger_joint1" in said


def test_info_takes_a_path_and_a_floating_base(capsys):
    assert main(["info", str(PENDULUM), "--base", "floating"]) == 0
    assert "floating_base.qw" in capsys.readouterr().out


@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped"])
def test_check_agrees_with_the_peers(robot, capsys):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    assert main(["check", robot]) == 0
    said = capsys.readouterr().out
    assert "Pinocchio" in said and "MuJoCo" in said and "not compared" not in said


def test_check_fails_where_a_difference_is_too_large(monkeypatch, capsys):
    pytest.importorskip("pinocchio")
    from warpdyn.commands import check

    monkeypatch.setitem(check.LIMITS, "float32", 0.0)
    assert main(["check", "double_pendulum"]) == 1
    assert "too large" in capsys.readouterr().out


def test_bench_writes_table_json_and_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    files = tmp_path / "b.json", tmp_path / "b.png"
    given = ["--batch", "1", "64", "--algorithm", "rnea", "--threads", "1", "--device", "cpu"]
    assert main(["bench", "double_pendulum", *given, "--json", str(files[0]), "--plot", str(files[1])]) == 0
    figures = json.loads(files[0].read_text())["figures"]
    assert [f["batch"] for f in figures] == [1, 64]
    assert all(f["worst_relative_error"] < 1e-5 and f["ns_per_robot"] > 0 for f in figures)
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "ns per robot" in capsys.readouterr().out


def test_compile_names_every_kernel(capsys):
    assert main(["compile", "double_pendulum", "--dtype", "float32", "float64", "--algorithm", "rnea", "crba"]) == 0
    said = capsys.readouterr().out
    assert said.count("rnea") == 2 and said.count("crba") == 2 and "is ready" in said


@pytest.mark.parametrize("target", ["text", "cpu", "cuda"])
@pytest.mark.parametrize("algorithm", ["fk", "jacobian", "crba", "rnea", "aba"])
def test_source_prints_a_program(algorithm, target, capsys):
    assert main(["source", "double_pendulum", algorithm, "--target", target]) == 0
    assert "t" in capsys.readouterr().out


def test_the_program_of_a_pendulum_is_readable(capsys):
    assert main(["source", "cartpole", "crba"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("crba_cartpole(q[2]) -> out[2, 2]") and "out[3] =" in said


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["info", "no_such_robot"], "no bundled robot of that name"),
        (["source", "panda", "fk", "--frame", "panda_link_8"], "did you mean"),
        (["bench", "cartpole", "--device", "cuda:77"], "there is no device"),
    ],
)
def test_mistakes_are_one_line(arguments, text, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("warpdyn: error: ") and text in said.err and said.err.count("\n") == 1


def test_a_bad_file_is_one_line(tmp_path, capsys):
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link name='a'/><link name='b'/></robot>")
    assert main(["info", str(bad)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("warpdyn: error: bad.urdf") and said.count("\n") == 1


def test_a_robot_without_joints_is_explained(tmp_path, capsys):
    stone = tmp_path / "stone.urdf"
    stone.write_text("<robot name='stone'><link name='a'/></robot>")
    assert main(["info", str(stone)]) == 0
    assert main(["demo", str(stone), "--output", str(tmp_path / "stone.png")]) == 2
    assert "no moving joint" in capsys.readouterr().err


def test_info_needs_neither_rich_nor_matplotlib():
    code = (
        "import sys; from warpdyn.cli import main; main(['info', 'cartpole']);"
        "sys.exit(any(m in sys.modules for m in ('rich', 'matplotlib')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
