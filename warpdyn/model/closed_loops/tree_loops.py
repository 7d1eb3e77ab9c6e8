"""Closed loops of a tree: frames of bodies that coincide, and coordinates that follow others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...algebra.spatial import Placement


class LoopEnd(NamedTuple):
    """A frame of a body, or of the world."""

    body: int
    placement: Placement


class JoinedFrames(NamedTuple):
    """Two frames whose origins coincide. `turns`: how many of the rotations about x, y and z of the
    first frame are zero too: 0, 2 (a hinge about the common z axis) or 3."""

    first: LoopEnd
    second: LoopEnd
    turns: int


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


class TreeLoop(NamedTuple):
    """A closed loop: frames, or else joints."""

    frames: JoinedFrames | None = None
    joints: CoupledJoints | None = None

    def with_placements(self, change: Callable[[Placement], Placement]) -> TreeLoop:
        """The same loop with changed placements of its frames."""
        if self.frames is None:
            return self
        first, second, turns = self.frames
        return TreeLoop(
            JoinedFrames(
                LoopEnd(first.body, change(first.placement)),
                LoopEnd(second.body, change(second.placement)),
                turns,
            )
        )
