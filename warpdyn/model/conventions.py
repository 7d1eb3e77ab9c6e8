"""Conventions of MuJoCo, Newton, Drake and Pinocchio for q and v: their columns and the columns'
order.

The libraries differ in the order of a quaternion and its place in the free base's seven
coordinates, the base's velocity (a name of `algorithms.representations`), continuous joints as a
cosine and a sine, mimic joints with columns of their own, and the order of joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .description import Joint, leading_joint
from .model import Model

SAME, COS, SIN, ANGLE = "same", "cos", "sin", "angle"

Entry = tuple[str, tuple[int, ...], float, float]
"""A coordinate computed from others: a function's name, the columns it reads, a factor and an
offset for the result."""

Columns = tuple[tuple[tuple[int, float], ...], ...]
"""A vector as weighted sums of another's entries: (index, weight) pairs for each entry."""


@dataclass(frozen=True)
class Convention:
    """A library's conventions. `base`: the representation of a free base's velocity. `circles`: a
    continuous joint is a cosine and a sine."""

    base: str
    quaternion: str = "xyzw"
    quaternion_first: bool = False
    circles: bool = False
    balls: bool = False
    """Ball joints are a quaternion and their angular velocity in the child's axes."""
    inside: bool = False
    """Planar joints about z, and free joints inside the tree, are written as in warpdyn, except for
    quaternions and circles."""

    @property
    def base_quaternion(self) -> tuple[str, bool]:
        """Order of the base's quaternion, and True if it comes before the position."""
        return self.quaternion, self.quaternion_first


OtherLibrary = Literal["mujoco", "newton", "drake", "pinocchio"]

CONVENTIONS: dict[str, Convention] = {
    "mujoco": Convention(base="mujoco", quaternion="wxyz", balls=True),
    "newton": Convention(base="newton"),
    "drake": Convention(base="drake", quaternion="wxyz", quaternion_first=True),
    "pinocchio": Convention(base="local", circles=True, balls=True, inside=True),
}


@dataclass(frozen=True)
class ColumnMap:
    """The mapping between a model's columns and those of a library, with joints in the library's
    order."""

    q_to: tuple[Entry, ...]
    q_from: tuple[Entry, ...]
    v_to: Columns
    v_from: Columns
    tau_from: Columns
    tau_to: Columns


def _refuse_missing(model: Model, order: Sequence[Joint]) -> None:
    named = {joint.name for joint in order}
    if missing := [name for name in model.joint_names if name not in named]:
        raise ValueError(
            f"joints must name every joint that has coordinates; {', '.join(missing)} are missing"
        )


@lru_cache(maxsize=64)
def column_map(model: Model, library: str, joints: tuple[str, ...] | None) -> ColumnMap:
    """Columns to and from a library's convention.

    joints: every moving joint in the library's order, mimic joints among them; by default the
    description's order (Pinocchio: siblings by name).
    """
    convention = CONVENTIONS[library]
    order = (
        _joints(model, joints)
        if joints is not None
        else _moving_joints(model, by_name=library == "pinocchio")
    )
    named = {joint.name: joint for joint in model.joints}
    base = int(model.floating_base)
    q_to, q_from = _base_coordinates(model, convention) if base else ([], {})
    v_to: list[tuple[tuple[int, float], ...]] = []
    v_from: dict[int, tuple[tuple[int, float], ...]] = {}
    tau_from: dict[int, list[tuple[int, float]]] = {k: [] for k in range(6 * base, model.nv)}
    for joint in order:
        # A mimic joint has columns in the library and none in warpdyn: multiples of its leader's.
        leader, factor, offset = leading_joint(joint, named)
        q, v = model.coordinates[leader].q, model.coordinates[leader].v
        start = len(q_to)
        entries = [
            (f, tuple(q.start + k for k in ks))
            for f, ks in _library_coordinates(library, model.quaternion, joint)
        ]
        q_to += [(f, ks, factor, offset) for f, ks in entries]
        for k in range(v.start, v.stop):
            # By virtual work the leader's force is the sum of its followers' forces, each times its
            # multiplier.
            tau_from[k].append((6 * base + len(v_to), factor))
            v_to.append(((k, factor),))
        if joint.mimic is None:
            first = 6 * base + len(v_to) - joint.kind.nv
            v_from |= {v.start + k: ((first + k, 1.0),) for k in range(joint.kind.nv)}
            q_from |= _joint_coordinates(entries, start)
    _refuse_missing(model, order)
    # Forces go to the leaders alone: no force drives a follower's joint.
    places = {terms[0][0]: k for k, terms in v_from.items()}
    tau_to = [
        ((places[6 * base + k], 1.0),) if 6 * base + k in places else () for k in range(len(v_to))
    ]
    return ColumnMap(
        q_to=tuple(q_to),
        q_from=tuple(q_from[k] for k in range(model.nq)),
        v_to=tuple(v_to),
        v_from=tuple(v_from[k] for k in range(6 * base, model.nv)),
        tau_from=tuple(tuple(terms) for terms in tau_from.values()),
        tau_to=tuple(tau_to),
    )


def _base_coordinates(model: Model, convention: Convention) -> tuple[list[Entry], dict[int, Entry]]:
    """The library's coordinates of the free base from the model's, and the model's, by column, from
    the library's."""
    mine, theirs = _base_names(model.quaternion), _base_names(*convention.base_quaternion)
    to: list[Entry] = [(SAME, (mine.index(name),), 1.0, 0.0) for name in theirs]
    return to, {k: (SAME, (theirs.index(name),), 1.0, 0.0) for k, name in enumerate(mine)}


def _joint_coordinates(
    entries: Sequence[tuple[str, tuple[int, ...]]], start: int
) -> dict[int, Entry]:
    """The model's coordinates of a joint, by column, from the library's, which begin at `start`."""
    found: dict[int, Entry] = {}
    for place, (f, ks) in enumerate(entries, start):
        if f == COS:
            found[ks[0]] = (ANGLE, (place, place + 1), 1.0, 0.0)
        elif f == SAME:
            found[ks[0]] = (SAME, (place,), 1.0, 0.0)
    return found


def _joints(model: Model, names: Sequence[str]) -> list[Joint]:
    joints = [model.joint(name) for name in names]
    for joint in joints:
        if not joint.kind.nv or joints.count(joint) > 1:
            reason = "is fixed" if not joint.kind.nv else "stands there twice"
            raise ValueError(f'joints must name moving joints, each once; "{joint.name}" {reason}')
    return joints


def _moving_joints(model: Model, by_name: bool) -> list[Joint]:
    """Moving joints depth first, siblings as they stand in the description or by name."""
    if not by_name:
        return [joint for joint in model.joints if joint.kind.nv]

    def joints_below(link: str) -> Iterator[Joint]:
        for joint in sorted(
            (j for j in model.joints if j.parent == link), key=lambda joint: joint.name
        ):
            yield joint
            yield from joints_below(joint.child)

    return [joint for joint in joints_below(model.root) if joint.kind.nv]


def _base_names(quaternion: str, first: bool = False) -> list[str]:
    turn = [f"q{c}" for c in quaternion]
    return [*turn, *"xyz"] if first else [*"xyz", *turn]


def _library_coordinates(
    name: str, quaternion: str, joint: Joint
) -> list[tuple[str, tuple[int, ...]]]:
    """The library's coordinates of a joint, as functions of the joint's columns in warpdyn."""
    convention, kind = CONVENTIONS[name], joint.kind
    if kind.single:
        return _circle(0) if convention.circles and kind.endless else [(SAME, (0,))]
    if convention.inside and kind.nq == kind.nv == 3 and joint.axis == (0.0, 0.0, 1.0):
        return [(SAME, (0,)), (SAME, (1,)), *_circle(2)]
    known = convention.balls if kind.quaternion == 0 else convention.inside
    if kind.quaternion is not None and known:
        k = kind.quaternion
        turn = (k + quaternion.index(letter) for letter in convention.quaternion)
        return [(SAME, (i,)) for i in (*range(k), *turn)]
    raise ValueError(
        f'joint "{joint.name}" is {kind.name}, whose columns differ in {name}; convert them separately'
    )


def _circle(k: int) -> list[tuple[str, tuple[int, ...]]]:
    return [(COS, (k,)), (SIN, (k,))]
