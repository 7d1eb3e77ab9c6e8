"""Closed loops of a tree: frames of bodies that coincide, and coordinates that follow others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..algebra.spatial import Placement


class LoopEnd(NamedTuple):
    """A frame of a body, or of the world."""

    body: int
    placement: Placement


class JoinedFrames(NamedTuple):
    """Two frames whose origins coincide and, if they are `welded`, their axes too."""

    first: LoopEnd
    second: LoopEnd
    welded: bool

    @property
    def rows(self) -> int:
        """The number of its equations."""
        return 6 if self.welded else 3

    def with_placements(self, change: Callable[[Placement], Placement]) -> JoinedFrames:
        """The same loop with changed placements of its frames."""
        first, second = (
            LoopEnd(end.body, change(end.placement)) for end in (self.first, self.second)
        )
        return JoinedFrames(first, second, self.welded)


class Follower(NamedTuple):
    """A joint by its leader's columns of v and q: position = ratio * q + offset."""

    v_index: int
    q_index: int
    ratio: float
    offset: float


class CoupledJoints(NamedTuple):
    """A joint whose position is a polynomial of another's, or a constant: powers from 0 on."""

    first: Follower
    second: Follower | None
    coefficients: tuple[float, ...]

    rows = 1

    def with_placements(self, _: Callable[[Placement], Placement]) -> CoupledJoints:
        """The same loop, which has no placements."""
        return self
