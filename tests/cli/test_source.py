"""`warpdyn source`: the recorded program as text and as C++."""

from __future__ import annotations

import pytest

from warpdyn.cli.main import main


@pytest.mark.parametrize("target", ["text", "cpu", "cuda"])
@pytest.mark.parametrize("algorithm", ["fk", "jacobian", "crba", "rnea", "aba"])
def test_source_prints_a_program(algorithm, target, capsys):
    """Every algorithm has a program for every target."""
    assert main(["source", "double_pendulum", algorithm, "--target", target]) == 0
    assert "t" in capsys.readouterr().out


def test_the_program_of_a_pendulum_is_readable(capsys):
    """The text names the program, its inputs and results, and has a line for each operation."""
    assert main(["source", "cartpole", "crba"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("crba_cartpole(q[2]) -> out[2, 2]") and "out[3] =" in said


def test_fk_of_one_link_is_shorter_than_of_all(capsys):
    """--frame leaves out everything that only other links need."""
    assert main(["source", "panda", "fk"]) == 0
    of_all = capsys.readouterr().out
    assert main(["source", "panda", "fk", "--frame", "panda_link2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) < len(of_all.splitlines()) / 2


def test_the_source_has_the_requested_precision(capsys):
    """C++ for float64 computes in double."""
    for dtype, word in (("float32", "float"), ("float64", "double")):
        assert main(["source", "cartpole", "rnea", "--target", "cuda", "--dtype", dtype]) == 0
        assert word in capsys.readouterr().out
