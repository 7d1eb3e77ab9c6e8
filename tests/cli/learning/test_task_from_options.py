"""The task of a command line: the robot, its feet, stance and gains."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.cli.command_line import UserError
from warpdyn.cli.learning.policy_options import add_task
from warpdyn.cli.learning.task_from_options import add_quadruped, task_from_options
from warpdyn.cli.main import main


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the bundled quadruped without its stance, whose feet are called paws."""
    made = wd.load_robot("quadruped")
    feet = {link: link.replace("foot", "PAW") for link in made.link_names}
    path = tmp_path_factory.mktemp("robots") / "my.urdf"
    path.write_text(made.rename(links=feet).to_urdf())
    return path


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False)
    add_task(parser)
    add_quadruped(parser)
    return parser.parse_args(words)


def test_options_set_feet_stance_and_gains(robot: Path) -> None:
    """Feet and joints are given by patterns."""
    words = ["quadruped_velocity", "--robot", str(robot), "--feet", "*_paw"]
    stance = ["--stance", "*_thigh_joint=0.9", "*_calf_joint=-1.5"]
    task = task_from_options(parse(*words, *stance, "--kp", "30"))
    assert [point.link for point in task.points] == ["FL_PAW", "FR_PAW", "RL_PAW", "RR_PAW"]
    assert task.drives is not None
    assert (task.drives.kp, task.drives.kd) == (30.0, pytest.approx(0.6))
    small = task_from_options(
        parse(*words, *stance, "--effort", "2.7", "--range", "0.5", "0.3", "1")
    )
    assert small.drives is not None and small.drives.effort == 2.7
    assert np.asarray(small.numbers["command_range"]).tolist() == [0.5, 0.3, 1.0]
    angles = ["0", "0.9", "-1.5"] * 4
    again = task_from_options(parse(*words, "--stance", *angles))
    assert again.stance.tolist() == task.stance.tolist()  # type: ignore[attr-defined]


def test_the_robot_may_be_bundled_or_left_out() -> None:
    assert task_from_options(parse("quadruped_velocity")).model.name == "quadruped"
    words = ["quadruped_velocity", "--robot", "quadruped", "--stance", "home"]
    assert task_from_options(parse(*words)).stance[1] == 0.9  # type: ignore[attr-defined]


def test_mistakes_are_one_line(robot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, text in (
        (
            [],
            'has no link "*foot" for a foot. Name the feet: feet=, some of FL_PAW, FR_PAW, RL_PAW and',
        ),
        (["--feet", "*_PAW"], "give stance= angles of its 12 joints, FL_hip_joint"),
        (["--feet", "*_PAW", "--stance", "0", "0.9"], "stance must be 12 angles"),
        (["--stance", "a=b"], "--stance takes JOINT=ANGLE words, angles, or one name; got a=b"),
    ):
        assert main(["train", "quadruped_velocity", "--robot", str(robot), *words]) == 2
        said = capsys.readouterr().err
        assert text in said and "Traceback" not in said
    with pytest.raises(UserError, match="--kp needs a robot: add --robot FILE"):
        task_from_options(parse("quadruped_velocity", "--kp", "20"))
    assert main(["train", "cartpole_swing_up", "--robot", "cartpole"]) == 2
    assert "takes no" in capsys.readouterr().err


def test_a_task_that_is_no_locomotion_may_get_a_robot(tmp_path: Path) -> None:
    """Gains reach the task by their names. Options that the task does not have are refused."""
    arm = wd.load_robot("double_pendulum")
    (path := tmp_path / "arm.urdf").write_text(arm.to_urdf())
    clip = tmp_path / "still.csv"
    rl.MotionClip(50.0, arm.joint_names, np.zeros((51, 2))).write(clip)
    words = ["motion_tracking", "--robot", str(path), "--base", "fixed", "--kp", "300"]
    words += ["--effort", "90", "--set", f"clip={clip}"]
    task = task_from_options(parse(*words))
    assert task.model.nq == 2 and task.drives is not None
    np.testing.assert_allclose([task.drives.kp, task.drives.effort], [[300.0] * 2, [90.0] * 2])
    with pytest.raises(UserError, match="--stance is not for motion_tracking"):
        task_from_options(parse(*words, "--stance", "home"))
    with pytest.raises(UserError, match="--range is not for motion_tracking"):
        task_from_options(parse(*words, "--range", "1", "1", "1"))
