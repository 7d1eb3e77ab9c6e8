"""The teacher of a distillation: its network is read from a file, and some files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold, barely_trained

import warpdyn as wd
from warpdyn.rl.training import read_teacher
from warpdyn.rl.training_task import as_teacher_sees


class Seeing(Hold):
    """The task of a teacher, whose policy observes the critic's group of `Hold`."""

    groups = {"policy": Hold.groups["hidden"]}  # noqa: RUF012
    noise = {}  # noqa: RUF012


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return barely_trained(Seeing(), tmp_path_factory.mktemp("teacher") / "policy.onnx")


def test_the_teachers_network_gives_the_outputs_of_its_file(teacher: Path) -> None:
    seen = torch.randn(6, 7)
    with torch.inference_mode():
        found = read_teacher(Hold(), teacher)(seen)
    np.testing.assert_allclose(found, rl.Policy(teacher)(seen.numpy()), atol=1e-5)


def test_a_teacher_observes_the_last_group_without_noise() -> None:
    view = as_teacher_sees(Hold())
    assert list(view.groups) == ["hidden"] and not view.noise
    assert list(Hold().groups) == ["policy", "hidden"] and Hold().noise


def test_a_teacher_of_another_task_or_robot_is_refused_by_name(
    teacher: Path, tmp_path: Path
) -> None:
    """The student's own observations, another robot, other gains, and terms with another meaning."""
    mine = barely_trained(Hold(), tmp_path / "mine.onnx")
    with pytest.raises(rl.TaskError, match="observes 6 numbers; Hold for double_pendulum gives 7"):
        read_teacher(Hold(), mine)
    with pytest.raises(rl.TaskError, match="in the task CartpoleSwingUp with the robot cartpole"):
        read_teacher(Hold(), rl.bundled_policy("cartpole_swing_up"))

    class Stiff(Hold):
        drives = wd.PD(60.0, 2.0)

    with pytest.raises(rl.TaskError, match=r"its kp of '\w+' is 30.0, not 60.0"):
        read_teacher(Stiff(), teacher)

    class Other(Hold):
        groups = {**Hold.groups, "hidden": ("speed", "place", "more")}  # noqa: RUF012

    with pytest.raises(
        rl.TaskError, match=r"it observes place \(2\), speed \(2\), more \(3\), not "
    ):
        read_teacher(Other(), teacher)
    with pytest.raises(rl.TaskError, match="no such policy file"):
        read_teacher(Hold(), tmp_path / "none.onnx")


@pytest.mark.parametrize(
    ("student", "teacher", "width"),
    [
        ("quadruped_velocity_onboard", "quadruped_velocity", 50),
        ("quadruped_rough_onboard", "quadruped_rough", 83),
        ("humanoid_stand_onboard", "humanoid_stand", 45),
        ("humanoid_velocity_onboard", "humanoid_velocity", 50),
        ("motion_tracking_onboard", "motion_tracking", 268),
    ],
)
def test_bundled_policies_can_teach_the_onboard_tasks(
    student: str, teacher: str, width: int
) -> None:
    """The pairs are those of the documentation page on tasks."""
    found = read_teacher(rl.make(student), rl.bundled_policy(teacher))
    assert len(found.normalizer.mean) == width
