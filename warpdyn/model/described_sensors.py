"""Sensors of a description and settings of its simulator, kept as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .poses_and_limits import Pose


@dataclass(frozen=True)
class DescribedSensor:
    """A sensor as the description has it. warpdyn keeps it as data and does not simulate it.

    `kind` is the description's word ("imu", "camera", "jointpos"). `link` or `joint` names the part
    that carries it, None if it is on neither. `pose` is its pose in that link. `said` holds
    everything else that is written, by path: ("camera/horizontal_fov", "1.05"), attributes as
    ("camera/@name", "left").
    """

    name: str
    kind: str
    link: str | None = None
    joint: str | None = None
    pose: Pose = Pose()  # noqa: RUF009  (it is frozen)
    said: tuple[tuple[str, str], ...] = ()

    def with_renamed_parts(
        self, links: Mapping[str, str], joints: Mapping[str, str]
    ) -> DescribedSensor:
        """This sensor on renamed links and joints: {old name: new name}."""
        link = self.link and links.get(self.link, self.link)
        joint = self.joint and joints.get(self.joint, self.joint)
        return replace(self, link=link, joint=joint)


class PhysicsSettings(Mapping[str, str]):
    """A simulator's settings in a description, by path. Read-only."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._settings = dict(settings or {})

    def __getitem__(self, path: str) -> str:
        return self._settings[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def __repr__(self) -> str:
        return repr(self._settings)
