"""`warpdyn export --ros2-control`: packages from the command line, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from warpdyn.cli.main import main

KERNEL = """
import warpdyn as wd

@wd.kernel
def hold(robot, q, v, q_desired, stiffness: ("nv",), *, rest=1.0):
    return robot.gravity_torques(q) + stiffness * (q_desired - q) - rest * v
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(KERNEL)
    return tmp_path


def test_a_package_may_have_some_laws(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are laws of the node and a user's own, for some joints, under another name."""
    arm = ",".join(f"panda_joint{k}" for k in range(1, 8))
    laws = ["gravity_compensation", "my.py:hold", "--option", "rest=3"]
    command = ["export", "panda", *laws, "--ros2-control", "out", "--joints", arm]
    assert main([*command, "--namespace", "My-Panda"]) == 0
    assert (
        capsys.readouterr().out == "out: package my_panda, controllers gravity_compensation, hold\n"
    )
    example = yaml.safe_load((here / "out/config/controllers.yaml").read_text())
    assert example["hold"]["ros__parameters"]["joints"] == arm.split(",")
    assert "struct HoldLaw {" in (here / "out/include/my_panda/laws.hpp").read_text()
    assert main([*command, "--namespace", "My-Panda"]) == 2
    assert "out is not empty; --force replaces its files" in capsys.readouterr().err
    assert main([*command, "--namespace", "My-Panda", "--force"]) == 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["joint_impedence", "--ros2-control", "out"], "did you mean 'joint_impedance'?"),
        (["rnea", "--ros2-control", "out"], "there is no law 'rnea'"),
        (["--ros2-control", "out", "--c"], "--c is not for --ros2-control"),
        (["--ros2-control", "out", "--joints", "knee"], "panda has no joint 'knee'"),
        (["--ros2-control", "out", "--base", "floating"], "has a free base"),
        (["--ros2-control", "out", "--frame", "knee"], "knee"),
        (
            ["joint_impedance", "my.py:hold", "--ros2-control", "out", "--frame", "panda_hand"],
            "none of the laws has an option frame",
        ),
        (["rnea", "--joints", "panda_joint1"], "--joints is for --ros2-control"),
        ([], "name at least one function"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    asked: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder is created."""
    assert main(["export", "panda", *asked]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (here / "out").exists()
