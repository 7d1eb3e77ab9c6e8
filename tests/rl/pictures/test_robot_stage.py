"""A stage has the robot in the middle and the ground below it."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

from matplotlib.figure import Figure

from warpdyn.functions.pictures.robot_picture import RobotPicture
from warpdyn.rl.pictures.robot_stage import Stage


def test_the_view_follows_a_base_along_the_ground() -> None:
    """The outlines do not change when the robot moves along the ground. The ground lines do."""
    task = rl.QuadrupedVelocity()
    drawn = RobotPicture(task.model)
    q = np.array([0, 0, task.height, 0, 0, 0, 1.0, *task.stance])
    panel = Figure().add_subplot()
    stage = Stage(task, drawn, panel, drawn.poses(q))
    assert {stage.bodies, stage.lines} <= set(panel.collections)
    seen = []
    for x in (0.0, 0.2):
        moved = q + np.eye(len(q))[0] * x
        stage.show(drawn.poses(moved), np.zeros(3))
        seen.append([path.vertices for path in stage.bodies.get_paths()])
    assert all(np.allclose(a, b) for a, b in zip(*seen, strict=True))
    assert len(stage.lines.get_paths()) > 3


@pytest.mark.parametrize("name", ["quadruped_velocity", "quadruped_rough"])
def test_the_view_follows_a_base_upwards_only_on_a_terrain(name: str) -> None:
    """The view follows a robot that climbs a terrain.

    A jump on level ground stays within the picture.
    """
    task = rl.make(name)
    drawn = RobotPicture(task.model)
    q = np.array([0, 0, task.height, 0, 0, 0, 1.0, *task.stance])
    stage = Stage(task, drawn, Figure().add_subplot(), drawn.poses(q))
    lowest = []
    for z in (0.0, 0.3):
        stage.show(drawn.poses(q + np.eye(len(q))[2] * z), np.zeros(3))
        lowest.append(min(path.vertices[:, 1].min() for path in stage.bodies.get_paths()))
    rise = 0.0 if name == "quadruped_rough" else 0.3
    assert lowest[1] - lowest[0] == pytest.approx(rise, abs=0.02)
