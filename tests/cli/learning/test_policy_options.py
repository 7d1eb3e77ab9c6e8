"""Options of train, eval, sim2sim and play: those they share, and those of one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpdyn.cli.learning.policy_options import setting_text
from warpdyn.cli.main import parser


@pytest.mark.parametrize(
    ("command", "envs"), [("train", None), ("eval", 256), ("sim2sim", 48), ("play", 4)]
)
def test_each_takes_a_task_environments_and_a_robot_of_ones_own(
    command: str, envs: int | None
) -> None:
    args = parser().parse_args([command, "quadruped_velocity", "--robot", "my.urdf", "--kp", "30"])
    assert (args.task, args.envs, args.robot, args.kp) == (
        "quadruped_velocity",
        envs,
        "my.urdf",
        30,
    )
    assert args.seed == 0 and callable(args.run)


def test_what_only_one_of_them_takes() -> None:
    read = parser().parse_args
    assert read(["sim2sim", "t", "--dt", "0.002"]).dt == 0.002
    assert read(["play", "t", "--gif", "a.gif"]).gif == Path("a.gif")
    assert read(["train", "t", "--iterations", "130"]).iterations == 130
    with pytest.raises(SystemExit):
        read(["eval", "t", "--iterations", "130"])


def test_help_lists_the_settings_of_a_task(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of the task before --help, in the form that --set reads; without one the options alone."""
    file = tmp_path / "my.py"
    file.write_text("from warpdyn import rl\nclass Swing(rl.CartpoleSwingUp):\n    pull = 1.5\n")
    for words, there in ((["--help"], False), ([f"{file}:Swing", "--help"], True)):
        with pytest.raises(SystemExit) as end:
            parser().parse_args(["train", *words])
        said = capsys.readouterr().out
        assert end.value.code == 0 and "--wall-minutes" in said
        lines = [line.split() for line in said.splitlines()]
        for line in (["pull", "1.5"], ["recipe.layers", "64,64"]):
            assert (line in lines) == there
    with pytest.raises(SystemExit) as end:
        parser().parse_args(["eval", f"{file}:Swin", "--help"])
    assert end.value.code == 2 and "did you mean 'Swing'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (0.25, "0.25"),
        ((64, 32), "64,32"),
        (np.array([1.0, 2.5]), "1,2.5"),
        ({}, "none"),
        ({"seconds": 6.0}, "seconds=6"),
    ],
)
def test_values_are_printed_as_they_are_read(value: object, text: str) -> None:
    assert setting_text(value) == text
