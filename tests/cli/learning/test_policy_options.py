"""Options of train, eval, sim2sim and play: the shared ones and those of single commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from warpdyn.cli.learning.policy_options import print_settings, setting_text
from warpdyn.cli.main import main, parser


@pytest.mark.parametrize(
    ("command", "envs"), [("train", None), ("eval", 256), ("sim2sim", 48), ("play", 4)]
)
def test_each_command_accepts_a_task_environments_and_a_robot(
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


def test_some_options_belong_to_single_commands() -> None:
    read = parser().parse_args
    assert read(["sim2sim", "t", "--dt", "0.002"]).dt == 0.002
    assert read(["play", "t", "--gif", "a.gif"]).gif == Path("a.gif")
    assert read(["train", "t", "--iterations", "130"]).iterations == 130
    with pytest.raises(SystemExit):
        read(["eval", "t", "--iterations", "130"])


def test_help_lists_the_settings_of_a_task(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The task comes before --help, and the settings have the form that --set reads. Without a task
    only the options are listed."""
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


class Noise(NamedTuple):
    """A setting of several numbers, of which some have defaults."""

    size: object
    law: str = "uniform"
    seconds: float = 1.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (0.25, "0.25"),
        ((64, 32), "64,32"),
        (np.array([1.0, 2.5]), "1,2.5"),
        ({}, "none"),
        ({"seconds": 6.0}, "seconds=6"),
        ({"a": 1, "b": None}, "a=1 b=none"),
        (True, "True"),
        (np.float32(0.5), "0.5"),
        (SimpleNamespace(vary=("mass", "friction")), "varies mass, friction"),
        (Noise(0.25), "0.25"),
        (Noise(0.25, "uniform"), "0.25"),
        (Noise((0.5, 1.5), "normal"), "0.5,1.5,law=normal"),
        (Noise(0.25, "uniform", 2.0), "0.25,seconds=2"),
    ],
)
def test_setting_values_are_printed_as_they_are_read(value: object, text: str) -> None:
    assert setting_text(value) == text


def test_settings_are_printed_in_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They come below a line with the task, and before a line on how to set them."""
    module = "warpdyn.rl.settings.task_settings"
    monkeypatch.setattr(f"{module}.make_with_settings", lambda task, words: (task, tuple(words)))
    monkeypatch.setattr(f"{module}.settings_of", lambda made: {"seconds": 6.0, "set": made[1]})
    print_settings("hop", ["a=1", "b=2"])
    said = capsys.readouterr().out
    assert said.splitlines()[:4] == [
        "",
        "settings of hop, for --set NAME=VALUE:",
        "  seconds  6",
        "  set      a=1,b=2",
    ]
    assert said.endswith("NAME=none removes it\n")


@pytest.mark.parametrize(
    "words",
    [
        ["train", "t"],
        ["train", "t", "--help"],
        ["eval", "t"],
        ["sim2sim", "t"],
        ["play", "t", "--gif", "a.gif"],
    ],
    ids=" ".join,
)
def test_a_package_missing_for_learning_is_reported_in_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example is onnxruntime."""
    lacks = ImportError("warpdyn.rl needs onnxruntime, which is not installed")

    class Lacking:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name.startswith("warpdyn.rl"):
                raise lacks

    for name in [name for name in sys.modules if name.startswith("warpdyn.rl")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("warpdyn.rl", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Lacking(), *sys.meta_path])
    try:
        status = main(words)
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    assert capsys.readouterr().err.strip().endswith(f"error: {lacks}")


@pytest.mark.parametrize("name", ["VecEnv", "evaluate", "sim2sim"])
def test_a_package_missing_for_environments_is_reported_in_one_line(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example is Torch, which a policy does not need."""
    rl = pytest.importorskip("warpdyn.rl")
    lacks = f"warpdyn.rl.{name} needs torch, which is not installed"

    def missing(wanted: str) -> object:
        raise ImportError(lacks)

    monkeypatch.delitem(vars(rl), name, raising=False)
    monkeypatch.setattr(rl, "__getattr__", missing)
    command = {"VecEnv": ["play", "--gif", "a.gif"], "evaluate": ["eval"], "sim2sim": ["sim2sim"]}
    first, *options = command[name]
    assert main([first, "cartpole_swing_up", *options]) == 2
    assert " ".join(capsys.readouterr().err.split()) == f"warpdyn: error: {lacks}"


def test_settings_into_a_closed_pipe_are_no_error() -> None:
    """`warpdyn train TASK --help | head` exits with code 0 and without a traceback."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-u", "-m", "warpdyn", "train", "cartpole_swing_up", "--help"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 0 and b"Traceback" not in done.stderr
