"""Description of the robot of a demo node, from its parameter `robot`."""

from __future__ import annotations

from pathlib import Path

import warpdyn as wd

from ..control.robot_description import read_description


def urdf_text(robot: str) -> str:
    """URDF text of a bundled robot or of a file; ValueError if it is neither."""
    if robot in wd.robot_names():
        return (Path(wd.__file__).parent / "robots" / f"{robot}.urdf").read_text()
    return read_description(robot).decode("utf-8", "replace")
