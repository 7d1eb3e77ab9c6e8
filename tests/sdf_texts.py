"""SDF as text for the tests of its reader."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.model import Model
from warpdyn.model.names import ModelError, ModelWarning

ROUND_OFF = 1e-14
"""Products of a few rotation matrices and positions of about 1."""


def sdf(*parts: str, version: str = "1.9") -> str:
    return f'<sdf version="{version}">{"".join(parts)}</sdf>'


def world(*parts: str) -> str:
    return f'<world name="w">{"".join(parts)}</world>'


def model(*parts: str, name: str = "m", more: str = "") -> str:
    return f'<model name="{name}" {more}>{"".join(parts)}</model>'


def robot(*parts: str, version: str = "1.9") -> str:
    """A file with one model."""
    return sdf(model(*parts), version=version)


def link(
    name: str, pose: str = "", inside: str = "", relative_to: str = "", mass: float = 2.0
) -> str:
    inertia = "<inertia><ixx>0.3</ixx><iyy>0.4</iyy><izz>0.5</izz></inertia>"
    inertial = f"<inertial><mass>{mass}</mass><pose>0.1 0.2 0.3 0 0 0</pose>{inertia}</inertial>"
    return f'<link name="{name}">{at(pose, relative_to)}{inertial}{inside}</link>'


def at(pose: str, relative_to: str = "") -> str:
    where = f' relative_to="{relative_to}"' if relative_to else ""
    return f"<pose{where}>{pose}</pose>" if pose or relative_to else ""


def frame(name: str, pose: str = "", attached_to: str = "", relative_to: str = "") -> str:
    attached = f' attached_to="{attached_to}"' if attached_to else ""
    return f'<frame name="{name}"{attached}>{at(pose, relative_to)}</frame>'


def axis(xyz: str = "0 0 1", inside: str = "", tag: str = "axis", expressed_in: str = "") -> str:
    where = f' expressed_in="{expressed_in}"' if expressed_in else ""
    return f"<{tag}><xyz{where}>{xyz}</xyz>{inside}</{tag}>"


def joint(
    name: str = "j",
    kind: str = "revolute",
    parent: str = "a",
    child: str = "b",
    inside: str | None = None,
    pose: str = "",
    relative_to: str = "",
) -> str:
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    inside = axis() if inside is None else inside
    return f'<joint name="{name}" type="{kind}">{ends}{at(pose, relative_to)}{inside}</joint>'


AB = link("a") + link("b", "1 2 3 0.1 0.2 0.3")


def load(text: str | bytes | Path, **options: object) -> Model:
    """Load; a warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_sdf(text, **options)  # type: ignore[arg-type]


def quietly(text: str, **options: object) -> Model:
    """Load and ignore warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_sdf(text, **options)  # type: ignore[arg-type]


def remarks(text: str, **options: object) -> tuple[str, ...]:
    with pytest.warns(ModelWarning):
        return load_sdf(text, **options).warnings  # type: ignore[arg-type]


def refusal(source: str | bytes | Path, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        load_sdf(source, **options)  # type: ignore[arg-type]
    return str(caught.value)


def poses(robot: Model, q: object = None) -> dict[str, np.ndarray]:
    """Every link's 4x4 pose in the world, by default at the neutral configuration."""
    given = robot.neutral if q is None else np.asarray(q, dtype=float)
    return dict(zip(robot.link_names, wd.oracle(wd.fk, robot, given), strict=True))


def pose_matrix(
    x: float = 0, y: float = 0, z: float = 0, roll: float = 0, pitch: float = 0, yaw: float = 0
) -> np.ndarray:
    """The 4x4 matrix of SDF's six pose numbers."""
    T = np.eye(4)
    T[:3, :3] = rotation([0, 0, 1], yaw) @ rotation([0, 1, 0], pitch) @ rotation([1, 0, 0], roll)
    T[:3, 3] = x, y, z
    return T


def rotation(axis: object, angle: float) -> np.ndarray:
    """The rotation matrix about an axis, by Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def motion(R: np.ndarray | None = None, p: object = (0, 0, 0)) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = p
    return T
