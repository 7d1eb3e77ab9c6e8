"""The robots of the cases, as the same text for warpdyn and for its peers."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import metadata
from pathlib import Path

import warpdyn as wd

FILES = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos_reduced": "talos_data/robots/talos_reduced.urdf",
}


@cache
def urdf(name: str) -> str:
    """Text of a robot of example-robot-data. The panda's fingers are welded on: seven joints for every library."""
    folder = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
    text = (folder / "share/example-robot-data/robots" / FILES[name]).read_text()
    return text.replace('type="prismatic"', 'type="fixed"') if name == "panda" else text


@cache
def model(name: str) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load_urdf(urdf(name))
