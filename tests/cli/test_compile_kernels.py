"""`warpdyn compile`: every kernel asked for is named, and is in the cache afterwards."""

from __future__ import annotations

from warpdyn.cli import compile_kernels
from warpdyn.cli.main import main
from warpdyn.model.description import ModelError


def test_compile_names_every_kernel(capsys):
    """A line for each algorithm and precision, and one at the end."""
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


def test_an_algorithm_that_is_not_defined_does_not_stop_the_others(monkeypatch, capsys):
    """A refusal is a line of its own; the rest is compiled."""

    class Refusing(compile_kernels.Workload):
        def call(self):
            if self.algorithm == "aba":
                raise ModelError("a link without mass")
            return super().call()

    monkeypatch.setattr(compile_kernels, "Workload", Refusing)
    assert (
        main(["compile", "double_pendulum", "--algorithm", "aba", "rnea", "--device", "cpu"]) == 0
    )
    said = capsys.readouterr().out.splitlines()
    assert said[0].split(maxsplit=3)[3] == "not defined: a link without mass"
    assert said[1].startswith("rnea") and said[1].endswith(" s") and "is ready" in said[2]
