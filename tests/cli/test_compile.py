"""`warpdyn compile`: every requested kernel is listed, and is in the cache afterwards."""

from __future__ import annotations

from warpdyn.cli import compile as compile_command
from warpdyn.cli.main import main
from warpdyn.model.names import ModelError


def test_compile_names_every_kernel(capsys):
    """Each algorithm and precision has a line, and a summary comes last."""
    arguments = "compile double_pendulum --device cpu --dtype float32 float64 --algorithm rnea crba"
    assert main(arguments.split()) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(line.endswith(" s") for line in lines)
    assert sum(line.startswith("rnea for double_pendulum float") for line in lines) == 2
    assert sum("float64 cpu" in line for line in lines) == 2
    assert last.startswith("double_pendulum is ready, after ") and "kernels compiled" in last
    assert main(arguments.split()) == 0
    assert ": 0 kernels compiled, 4 in the cache before" in capsys.readouterr().out


def test_derivatives_searches_and_gradients_are_compiled(capsys):
    """They have their Python names. Functions of a frame get one."""
    arguments = "compile double_pendulum --device cpu --gradients q --algorithm"
    names = ["rnea_derivatives", "inverse_kinematics", "manipulability", "gravity_torques"]
    assert main([*arguments.split(), *names]) == 0
    labels = {line.split(" for ")[0] for line in capsys.readouterr().out.splitlines()[:-1]}
    gradients = {f"vjp of {name}" for name in names if name != "inverse_kinematics"}
    assert labels == {*names, *gradients}


def test_an_algorithm_that_is_not_defined_does_not_stop_the_others(monkeypatch, capsys):
    """Its refusal is one line, and the others are compiled."""
    kernels_of = compile_command.kernels_of

    def refusing(model, call, **options):
        if call.func.__name__ == "aba":
            raise ModelError("a link without mass")
        return kernels_of(model, call, **options)

    monkeypatch.setattr(compile_command, "kernels_of", refusing)
    assert (
        main(["compile", "double_pendulum", "--algorithm", "aba", "rnea", "--device", "cpu"]) == 0
    )
    said = capsys.readouterr().out.splitlines()
    assert said[0].split(maxsplit=3)[3] == "not defined: a link without mass"
    assert said[1].startswith("rnea") and said[1].endswith(" s") and "is ready" in said[2]


def test_a_function_that_needs_more_than_states_is_not_compiled(capsys):
    """Its points cannot be given on the command line."""
    assert main(["compile", "cartpole", "--algorithm", "point_heights", "--device", "cpu"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "not defined: point_heights() missing 1 required keyword-only argument: 'points'" in out


def test_gradients_by_an_unknown_input_are_refused(capsys):
    """One line says so before any compilation."""
    arguments = "compile cartpole --algorithm rnea fk --gradients q speed"
    assert main(arguments.split()) == 2
    said = capsys.readouterr()
    assert "--gradients: none of these calls has an input speed" in said.err
    assert "they have a, q, v" in said.err and not said.out
