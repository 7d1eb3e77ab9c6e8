"""Options that several commands share. They mean the same in each."""

from __future__ import annotations

import argparse

import pytest

from warpdyn.cli import shared_options
from warpdyn.cli.main import parser

NEEDED = {
    "source": ["rnea"],
    "export": ["rnea"],
    "label": ["log.csv", "--out", "labels"],
}
"""Arguments that a command needs in addition to the robot."""


@pytest.mark.parametrize(
    "command",
    ["info", "check", "bench", "compile", "source", "export", "label", "simulate", "view"],
)
def test_every_command_reads_the_same_robot_options(command: str) -> None:
    """They are the robot, its base, its loops, its part of the file, and the arguments of its xacro
    file."""
    words = [command, "panda", *NEEDED.get(command, [])]
    plain = parser().parse_args(words)
    assert (plain.robot, plain.base, plain.loops, plain.xacro_arg) == ("panda", None, None, [])
    assert plain.part is None
    options = ["--base", "floating", "--loops", "cut", "--xacro-arg", "hand:=no"]
    options += ["--model", "world"]
    args = parser().parse_args([*words, *options])
    assert (args.base, args.loops, args.xacro_arg) == ("floating", "cut", [("hand", "no")])
    assert args.part == "world"


def test_each_function_adds_only_its_options() -> None:
    """The test covers names and defaults."""
    defaults = {
        "add_frame": {"frame": None},
        "add_kernel": {"kernel": None, "option": None},
        "add_kernel_options": {"option": None},
        "add_device": {"device": None},
        "add_threads": {"threads": None},
        "add_topic": {"topic": "/joint_states"},
        "add_page": {"host": "127.0.0.1", "port": 8080},
    }
    for name, expected in defaults.items():
        sub = argparse.ArgumentParser()
        getattr(shared_options, name)(sub)
        assert vars(sub.parse_args([])) == expected


def test_a_command_has_a_description() -> None:
    """The list of commands shows it unchanged, the command's own help as a sentence."""
    whole = argparse.ArgumentParser()
    sub = shared_options.add_command(whole.add_subparsers(), "weigh", "print the mass of a robot")
    assert sub.description == "Print the mass of a robot."
    assert "print the mass of a robot\n" in whole.format_help()
