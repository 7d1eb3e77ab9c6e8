"""Options of train, eval, sim2sim and play: those they share, and those of one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
