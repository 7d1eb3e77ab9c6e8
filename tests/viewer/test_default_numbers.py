"""Defaults of the arguments of pages and of what is drawn on them."""

from __future__ import annotations

from module_numbers import default_numbers

DEFAULTS = {
    "bodies": {
        "bodies.opacity": 1.0,
    },
    "browser": {
        "Browser.open.width": 1280,
        "Browser.open.height": 800,
    },
    "player": {
        "Player.loop": True,
        "Player.speed": 1.0,
    },
    "robot_view": {
        "RobotView.opacity": 1.0,
        "RobotView.at": (0.0, 0.0, 0.0),
        "RobotView.box.planes": False,
    },
    "shapes": {
        "Solid.plane": False,
    },
    "stage": {
        "Page.ground.size": 1.0,
    },
    "trajectory": {
        "Trajectory.has_times": True,
    },
    "viewer": {
        "Viewer.add.opacity": 1.0,
        "Viewer.add.at": (0.0, 0.0, 0.0),
        "Viewer.arrows.scale": 1.0,
        "Viewer.over.on": True,
        "Viewer.trajectory.loop": True,
        "Viewer.trajectory.speed": 1.0,
        "Viewer.record.rate": 50.0,
        "Viewer.png.width": 1280,
        "Viewer.png.height": 800,
        "show.controls": True,
        "show.port": 0,
    },
}


def test_defaults_change_only_on_purpose() -> None:
    assert default_numbers("warpdyn/viewer") == DEFAULTS
