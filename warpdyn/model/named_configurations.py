"""Named configurations of a robot: "home", "ready", the keyframes of a description.

They are kept by joint name, so that they outlive changes of the robot; a `Structure` makes arrays
of them in its own columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .names import count_with_noun, look_up


@dataclass(frozen=True)
class Configuration:
    """Coordinates by joint name, quaternions x y z w. Joints without an entry are neutral."""

    name: str
    coordinates: tuple[tuple[str, tuple[float, ...]], ...]

    def restrict_to(self, joints: Collection[str]) -> Configuration:
        """The entries for these joints."""
        return replace(self, coordinates=tuple(c for c in self.coordinates if c[0] in joints))

    def with_renamed_joints(self, names: Mapping[str, str]) -> Configuration:
        """The same with joints under new names, old ones as keys."""
        return replace(self, coordinates=tuple((names.get(j, j), x) for j, x in self.coordinates))

    def join(self, other: Configuration) -> Configuration:
        """The entries of both, under this one's name."""
        return replace(self, coordinates=self.coordinates + other.coordinates)


class Configurations(Mapping[str, np.ndarray]):
    """Positions (nq,) by name, in the order of the description; the arrays are read-only."""

    def __init__(self, robot: str, arrays: Mapping[str, np.ndarray]) -> None:
        self._robot, self._arrays = robot, dict(arrays)
        for q in self._arrays.values():
            q.setflags(write=False)

    def __getitem__(self, name: str) -> np.ndarray:
        if not self._arrays:
            raise KeyError(
                f"{self._robot} has no configurations; make one: "
                f"model.with_configuration({name!r}, q)"
            )
        return look_up(self._arrays, name, "configuration", self._robot)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        count = count_with_noun(len(self), "configuration")
        return f"<{count} of {self._robot}: {', '.join(self) or 'none'}>"
