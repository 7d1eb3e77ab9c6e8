"""The command line: its exit codes, and one line for a user's mistake."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from warpdyn.cli import info as info_command
from warpdyn.cli.main import COMMANDS, CommandParser, main, parser


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["info", "no_such_robot"], "no bundled robot of that name"),
        (["source", "panda", "fk", "--frame", "panda_link_8"], "did you mean"),
        (["bench", "cartpole", "--device", "cuda:77"], "there is no device"),
        (["bench", "cartpole", "--peers", "--threads", "2"], "on one core"),
        (["simulate", "no_such_robot"], "no bundled robot of that name"),
        (["source", "my.py", "panda"], "a kernel in it is my.py:NAME"),
        (["simulate", "cartpole", "--dt", "0.2"], "dt must be a number of seconds in (0, 0.1]"),
        (["simulate", "cartpole", "--png", "plot.xyz"], "its ending must be one of"),
        (["simulate", "cartpole", "--device", "cuda:77"], "there is no device"),
    ],
)
def test_mistakes_are_one_line(arguments, text, capsys):
    """The exit code is 2, and the line on stderr says what is needed."""
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert (
        said.err.startswith("warpdyn: error: ") and text in said.err and said.err.count("\n") == 1
    )


def test_a_bad_file_is_reported_in_one_line(tmp_path, capsys):
    """The reader's error names the file."""
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link name='a'/><link name='b'/></robot>")
    assert main(["info", str(bad)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("warpdyn: error: bad.urdf") and said.count("\n") == 1


def test_a_robot_without_joints_is_explained(tmp_path, capsys):
    """It can be described, but there is nothing to compute."""
    stone = tmp_path / "stone.urdf"
    stone.write_text("<robot name='stone'><link name='a'/></robot>")
    assert main(["info", str(stone)]) == 0
    assert main(["bench", str(stone)]) == 2
    assert "no moving joint" in capsys.readouterr().err


def test_a_command_has_the_name_of_its_file(capsys):
    """The list of `warpdyn --help` is the list of files, in the order of COMMANDS."""
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert listed == [command.__name__.rpartition(".")[2] for command in COMMANDS]


def test_every_command_has_a_help_text(capsys):
    """`warpdyn COMMAND --help` names the robot first and exits with 0."""
    for name in ("info", "check", "bench", "compile", "source", "simulate", "cache"):
        with pytest.raises(SystemExit) as exit:
            main([name, "--help"])
        said = capsys.readouterr().out
        assert (
            exit.value.code == 0
            and said.startswith(f"usage: warpdyn {name} ")
            and ("ROBOT" in said) is (name != "cache")
        )


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "many"])
def test_counts_are_whole_numbers_above_zero(text, capsys):
    """Otherwise the refusal says what is needed and what arrived."""
    with pytest.raises(SystemExit) as exit:
        main(["bench", "cartpole", f"--batch={text}"])
    assert exit.value.code == 2
    assert f"must be a whole number of at least 1, got '{text}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--envs=-4", "must be a whole number of at least 1, got '-4'"),
        ("--seconds=-1", "must be a number above 0, got '-1'"),
        ("--seconds=nan", "must be a number above 0, got 'nan'"),
        ("--dt=0", "must be a number above 0, got '0'"),
        ("--kp=-3", "must be a number of at least 0, got '-3'"),
        ("--kd=-3", "must be a number of at least 0, got '-3'"),
        ("--friction=-0.1", "must be a number of at least 0, got '-0.1'"),
        ("--push=hard", "must be a number of at least 0, got 'hard'"),
        ("--substeps=0", "must be a whole number of at least 1, got '0'"),
        ("--seed=-1", "must be a whole number of at least 0, got '-1'"),
    ],
)
def test_numbers_of_a_simulation_are_checked_first(option, text, capsys):
    """The check comes before the robot is read. The exit code is 2, and the error names the
    option."""
    with pytest.raises(SystemExit) as exit:
        main(["simulate", "cartpole", option])
    said = capsys.readouterr().err.splitlines()[-1]
    assert exit.value.code == 2 and option.partition("=")[0] in said and said.endswith(text)


def test_a_missing_output_folder_is_reported(tmp_path, capsys):
    """The error has the path of the file."""
    file = tmp_path / "none" / "panda.hpp"
    assert main(["export", "panda", "rnea", "--out", str(file)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == f"warpdyn: error: {file}: No such file or directory"


def test_counts_may_be_grouped():
    """4,096 and 4_096 mean 4096."""
    args = parser().parse_args(["bench", "cartpole", "--batch", "4,096", "1_000", "7"])
    assert args.batch == [4096, 1000, 7]


def test_an_interrupt_gives_exit_code_130(monkeypatch, capsys):
    """Ctrl-C prints one line. Shells expect this code."""

    def interrupt(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(info_command, "info", interrupt)
    assert main(["info", "cartpole"]) == 130
    assert capsys.readouterr().err == "warpdyn: interrupted\n"


def test_an_interrupt_while_arguments_are_read_gives_the_same_line(monkeypatch, capsys):
    """The parser of all commands takes part of a second on a busy machine."""

    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(CommandParser, "add_subparsers", interrupt)
    assert main(["info", "panda"]) == 130
    assert capsys.readouterr().err == "warpdyn: interrupted\n"


def test_a_closed_output_pipe_is_no_error():
    """The command exits with code 0 and without a traceback."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-u", "-m", "warpdyn", "info", "cartpole"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 0 and b"Traceback" not in done.stderr


LAST_COLLECTIONS = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count()))
from warpdyn.cli.main import main
sys.argv = ["warpdyn", "info", "cartpole"]
main({arguments})
"""


@pytest.mark.parametrize(
    ("arguments", "left_out"), [("None", True), ('["info", "cartpole"]', False)]
)
def test_a_command_ends_without_the_last_collections(arguments: str, left_out: bool):
    """They took 0.3 s of each command. A program that calls `main` keeps them."""
    done = subprocess.run(
        [sys.executable, "-c", LAST_COLLECTIONS.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (int(done.stdout.split()[-1]) > 10_000) == left_out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["inof", "panda"], "there is no command 'inof'; did you mean 'info'?"),
        (["zzz"], "there is no command 'zzz'; warpdyn --help lists the commands"),
        (["export", "ur5e", "rnea", "--otu", "x.hpp"], "did you mean '--out'?"),
        (["export", "ur5e", "rnea", "--otu=x.hpp"], "did you mean '--out'?"),
        (["label", "robot", "log.csv", "--otu", "x"], "did you mean '--out'?"),
        (["bench", "panda", "--bacth", "4"], "did you mean '--batch'?"),
        (["check", "panda", "--frmae", "x"], "did you mean '--frame'?"),
        (["bench", "panda", "--batch", "0"], "--batch: must be a whole number of at least 1, got"),
    ],
)
def test_a_misspelled_name_gets_a_suggestion(arguments, text, capsys):
    """The exit code is 2. The last line has the suggestion, and the usage of the command is above
    it."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    *usage, last = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and text in last
    command = arguments[0] if "there is no command" not in text else ""
    assert usage[0].startswith(f"usage: warpdyn {command}")


def test_a_name_unlike_any_other_gets_no_suggestion(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "panda", "--zzz"])
    assert "did you mean" not in capsys.readouterr().err


def test_the_output_option_has_a_short_form(tmp_path, capsys):
    """`-o` means `--out`."""
    file = tmp_path / "u.hpp"
    assert main(["export", "ur5e", "rnea", "-o", str(file)]) == 0
    assert "ur5e" in file.read_text() and str(file) in capsys.readouterr().out


def describe_option(option: argparse.Action) -> str:
    """The behaviour of argparse for an option. A list of more than ten choices is left out."""
    choices = sorted(option.choices) if option.choices and len(option.choices) <= 10 else None
    kind = getattr(option.type, "__name__", None)
    return (
        f"{option.dest} nargs={option.nargs} type={kind} default={option.default!r} "
        f"const={option.const} required={option.required} choices={choices} metavar={option.metavar}"
    )


def test_options_change_only_on_purpose():
    """The stored file has every option of every command."""
    (commands,) = (x for x in parser()._actions if isinstance(x, argparse._SubParsersAction))
    found = {
        name: {" ".join(x.option_strings) or x.dest: describe_option(x) for x in each._actions}
        for name, each in commands.choices.items()
    }
    stored = Path(__file__).with_name("command_options.json")
    assert found == json.loads(stored.read_text())
