"""Closed loops: constraints between links or joints of a robot, in addition to its tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...algebra.rotations import axes_about
from ...algebra.spatial import ZERO, Placement, Vector
from ..joints import BALL, JointKind
from ..names import ModelError
from ..poses_and_limits import HERE, ORIGIN, Pose, Vector3

LoopKind = Literal["connect", "weld", "hinge", "joint"]
"""The parts that a loop constrains: two points, the pose of two frames, two axes, two joints."""

HIGHEST_POWER = 4
"""Highest power of a polynomial between two joints."""


@dataclass(frozen=True)
class Loop:
    """A constraint that closes a loop. The tree stays as it is: `step` and `wd.loops` add the
    constraint to it.

    "connect": a point of `first` and a point of `second` coincide. "weld": two frames coincide, in
    position and rotation. "hinge": their origins and their z axes coincide. "joint": q of the joint
    `first` is a polynomial of q of the joint `second`, with the `coefficients` of its powers from 0
    on [rad, m].
    """

    kind: LoopKind
    first: str
    """A link, or a joint of one coordinate."""
    second: str | None
    """A link, or a joint of one coordinate. None: the world, or a joint at coefficients[0]."""
    first_pose: Pose = HERE
    """The point or frame in the first link."""
    second_pose: Pose = HERE
    """The point or frame in the second link, or in the world."""
    coefficients: tuple[float, ...] = ()
    name: str = ""

    @classmethod
    def connect(
        cls, link_a: str, point_a: Any, link_b: str | None, point_b: Any, name: str = ""
    ) -> Loop:
        """Let `point_a` of `link_a` and `point_b` of `link_b` coincide. Points are x y z in the
        links' frames [m]; link_b None is the world."""
        one, two = (Pose(Pose.of(point).position) for point in (point_a, point_b))
        return cls("connect", link_a, link_b, one, two, name=name)

    @classmethod
    def weld(
        cls,
        link_a: str,
        pose_a: Any = ORIGIN,
        link_b: str | None = None,
        pose_b: Any = ORIGIN,
        name: str = "",
    ) -> Loop:
        """Let the frame `pose_a` of `link_a` and the frame `pose_b` of `link_b` coincide, in any
        form that `Pose.of` takes; link_b None is the world."""
        return cls("weld", link_a, link_b, Pose.of(pose_a), Pose.of(pose_b), name=name)

    @classmethod
    def hinge(
        cls, link_a: str, pose_a: Any, link_b: str | None, pose_b: Any = ORIGIN, name: str = ""
    ) -> Loop:
        """Let the origins and the z axes of the frame `pose_a` of `link_a` and of the frame `pose_b`
        of `link_b` coincide: a revolute joint that closes a loop. link_b None is the world."""
        return cls("hinge", link_a, link_b, Pose.of(pose_a), Pose.of(pose_b), name=name)

    @classmethod
    def couple(
        cls, joint_a: str, joint_b: str | None, coefficients: Sequence[float], name: str = ""
    ) -> Loop:
        """Let q of `joint_a` be c0 + c1 q + c2 q² + ... of q of `joint_b` [rad, m]."""
        return cls(
            "joint", joint_a, joint_b, coefficients=tuple(map(float, coefficients)), name=name
        )

    @property
    def rows(self) -> int:
        """The number of its equations."""
        return {"connect": 3, "weld": 6, "hinge": 5, "joint": 1}[self.kind]

    @property
    def ends(self) -> tuple[str, ...]:
        """Names of its links, or of its joints."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def is_of_links(self) -> bool:
        """True if its ends are links."""
        return self.kind != "joint"

    def is_between(self, links: Collection[str], joints: Collection[str]) -> bool:
        """True if its ends are among these links, or among these joints."""
        return set(self.ends) <= set(links if self.is_of_links else joints)

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        second = self.second or ("the world" if self.is_of_links else "a constant")
        return f"{self.kind}{name} of {self.first} and {second}"

    def with_renamed_links(self, names: Mapping[str, str]) -> Loop:
        """The loop under new names of links, old ones as keys."""
        return self._with_names(names) if self.is_of_links else self

    def with_renamed_joints(self, names: Mapping[str, str]) -> Loop:
        """The loop under new names of joints, old ones as keys."""
        return self if self.is_of_links else self._with_names(names)

    def with_prefix(self, prefix: str, links: Mapping[str, str], joints: Mapping[str, str]) -> Loop:
        """The loop under new names of links and joints, with a prefix before its own name."""
        other = self.with_renamed_links(links).with_renamed_joints(joints)
        return replace(other, name=prefix + self.name if self.name else "")

    def _with_names(self, names: Mapping[str, str]) -> Loop:
        second = self.second if self.second is None else names.get(self.second, self.second)
        return replace(self, first=names.get(self.first, self.first), second=second)

    def with_moved_links(self, places: Mapping[str, tuple[str, Any]]) -> Loop:
        """The loop after links were merged into others: by old name, the link that now has its
        place, and the placement in it."""
        if not self.is_of_links:
            return self
        first, X = places[self.first]
        pose = Pose.of(X.compose(self.first_pose.placement))
        moved = replace(self, first=first, first_pose=pose)
        if self.second is None:
            return moved
        second, X = places[self.second]
        return replace(
            moved, second=second, second_pose=Pose.of(X.compose(self.second_pose.placement))
        )

    def with_held_joints(self, held: Mapping[str, float]) -> Loop | None:
        """The loop after joints were locked at positions; None if nothing is left of it."""
        if self.is_of_links or not any(end in held for end in self.ends):
            return self
        if self.first not in held:
            return replace(
                self, second=None, coefficients=(self.position(held[self.second or ""]),)
            )
        if self.second is None or self.second in held:
            return None
        raise ValueError(
            f'the loop "{self}" moves joint "{self.first}"; lock "{self.second}" too, or keep both'
        )

    def position(self, leader: float) -> float:
        """q of the first joint at q of the second [rad, m]."""
        return sum(c * leader**power for power, c in enumerate(self.coefficients))


def loop_of_joint(
    name: str, kind: JointKind, axis: Vector3, ends: Sequence[tuple[str | None, Placement]]
) -> Loop | None:
    """The loop that a joint between two links closes: its frame in each of them. A fixed joint is a
    weld, a ball joint a connect, a revolute one a hinge about `axis`; None for other kinds.

    ends: a link, or None for the world, and the placement in it.
    """
    (first, X), (second, Y) = sorted(ends, key=lambda end: end[0] is None)
    if first is None:
        return None
    if kind is BALL:
        return Loop.connect(first, [*X.p], second, [*Y.p], name)
    if not kind.nv:
        return Loop.weld(first, Pose.of(X), second, Pose.of(Y), name)
    if kind.single and kind.turns and not kind.threaded and not kind.geared:
        turn = Placement(axes_about(Vector(*axis)), ZERO)
        return Loop.hinge(first, Pose.of(X.compose(turn)), second, Pose.of(Y.compose(turn)), name)
    return None


def loops_to_attach(
    name: str,
    loops: Sequence[Loop],
    prefix: str,
    links: Mapping[str, str],
    joints: Mapping[str, str],
) -> tuple[Loop, ...]:
    """The loops of the robot `name` under the names that it has on another one."""
    if any(loop.is_of_links and loop.second is None for loop in loops):
        raise ValueError(
            f"a loop of {name} ends in the world, which cannot be attached; "
            "leave it out: dataclasses.replace(other, loops=())"
        )
    return tuple(loop.with_prefix(prefix, links, joints) for loop in loops)


def refuse_loops(name: str, loops: Sequence[Loop], form: str) -> None:
    """Raise for loops of a model that is written in a format without loops."""
    if loops:
        raise ModelError(
            f"{name}: {form} cannot express closed loops ({loops[0]}); "
            "dataclasses.replace(model, loops=()) leaves them out"
        )
