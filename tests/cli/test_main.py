"""The command line: what each command prints, its exit codes, and that a user's mistake is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from warpdyn.cli.main import main

PENDULUM = Path(__file__).parents[2] / "warpdyn" / "robots" / "double_pendulum.urdf"


def test_info_prints_the_tree_and_the_limits(capsys):
    assert main(["info", "panda"]) == 0
    said = capsys.readouterr().out
    assert (
        "panda_link7" in said
        and "-2.897" in said
        and "panda_finger_joint2 = 1 * panda_finger_joint1" in said
    )


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
    from warpdyn.cli import check

    monkeypatch.setitem(check.LIMITS, "float32", 0.0)
    assert main(["check", "double_pendulum"]) == 1
    assert "too large" in capsys.readouterr().out


def test_bench_writes_table_json_and_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    files = tmp_path / "b.json", tmp_path / "b.png"
    given = ["--batch", "1", "64", "--algorithm", "rnea", "--threads", "1", "--device", "cpu"]
    assert (
        main(["bench", "double_pendulum", *given, "--json", str(files[0]), "--plot", str(files[1])])
        == 0
    )
    figures = json.loads(files[0].read_text())["figures"]
    assert [f["batch"] for f in figures] == [1, 64]
    assert all(f["worst_relative_error"] < 1e-5 and f["ns_per_robot"] > 0 for f in figures)
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "ns per robot" in capsys.readouterr().out


PEERS = ["--peers", "pinocchio", "mujoco"]


@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped"])
def test_bench_measures_beside_the_peers(robot, tmp_path, capsys):
    """Both have all five, find the same, and take more than no time."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    file = tmp_path / "b.json"
    assert main(["bench", robot, "--batch", "40", *PEERS, "--json", str(file)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(
        x in said
        for x in ("Pinocchio", "MuJoCo", "on one core", "python -m benchmarks has more peers")
    )
    figures = json.loads(file.read_text())["figures"]
    assert [f["algorithm"] for f in figures] == ["fk", "jacobian", "crba", "rnea", "aba"]
    for figure in figures:
        assert len(figure["peers"]) == 2
        for peer in figure["peers"].values():
            assert peer["ns_per_robot"] > 0 and peer["largest_relative_difference"] < 1e-5
            assert peer["times"] == pytest.approx(peer["ns_per_robot"] / figure["ns_per_robot"])


def test_bench_says_why_a_peer_is_not_timed(monkeypatch, capsys):
    """What computes something else, or cannot be asked, is left blank; the rest of the table stands."""
    pytest.importorskip("pinocchio")
    from warpdyn.cli import check
    from warpdyn.peers.pinocchio import Pinocchio

    rnea = Pinocchio.rnea
    monkeypatch.setattr(Pinocchio, "rnea", lambda *given: rnea(*given) + 1.0)
    monkeypatch.setattr(check, "find_spec", lambda name: None if name == "mujoco" else name)
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


def test_other_formats_are_given_to_peers_as_urdf(tmp_path, capsys):
    """MJCF is written as URDF for libraries that read no other; what URDF cannot say is a reason."""
    pytest.importorskip("pinocchio")
    text = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0" {}/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.025"/></body></worldbody></mujoco>"""
    arm = tmp_path / "arm.xml"
    arm.write_text(text.format(""))
    assert main(["check", str(arm)]) == 0
    arm.write_text(text.format('armature="0.1"'))
    assert (
        main(["bench", str(arm), "--batch", "4", "--algorithm", "rnea", "--peers", "pinocchio"])
        == 0
    )
    said = capsys.readouterr().out
    assert "left out: Pinocchio is given URDF" in said and "armature" in said


def test_compile_names_every_kernel(capsys):
    assert (
        main(
            [
                "compile",
                "double_pendulum",
                "--dtype",
                "float32",
                "float64",
                "--algorithm",
                "rnea",
                "crba",
            ]
        )
        == 0
    )
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
        (["bench", "cartpole", "--peers", "--threads", "2"], "on one core"),
    ],
)
def test_mistakes_are_one_line(arguments, text, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert (
        said.err.startswith("warpdyn: error: ") and text in said.err and said.err.count("\n") == 1
    )


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
        "import sys; from warpdyn.cli.main import main; main(['info', 'cartpole']);"
        "sys.exit(any(m in sys.modules for m in ('rich', 'matplotlib')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )
