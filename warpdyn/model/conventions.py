"""How MuJoCo, Newton, Drake and Pinocchio write warpdyn's q and v: which columns, in which order.

What differs: the order of a quaternion and its place in the free base's seven coordinates, the base's velocity (a name
of `algorithms.representations`), continuous joints as a cosine and a sine, mimic joints with columns of their own, and
the order of joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .description import Joint, followed
from .joints import JointKind
from .model import Model

SAME, COS, SIN, ANGLE = "same", "cos", "sin", "angle"

Entry = tuple[str, tuple[int, ...], float, float]
"""A coordinate from others: a function, of which columns, of their value times a factor plus an offset."""

Columns = tuple[tuple[tuple[int, float], ...], ...]
"""For each entry of a vector the entries of another that it is the weighted sum of."""


@dataclass(frozen=True)
class Dialect:
    """`base`: the representation of a free base's velocity; `circles`: a continuous joint is a cosine and a sine."""

    base: str
    quaternion: str = "xyzw"
    quaternion_first: bool = False
    circles: bool = False
    balls: bool = False
    """Ball joints are a quaternion and their angular velocity in the child's axes."""
    inside: bool = False
    """Planar joints about z, and free joints inside the tree, are as warpdyn's but for quaternions and circles."""


DIALECTS = {
    "mujoco": Dialect("mujoco", "wxyz", balls=True),
    "newton": Dialect("newton"),
    "drake": Dialect("drake", "wxyz", quaternion_first=True),
    "pinocchio": Dialect("local", circles=True, balls=True, inside=True),
}


@dataclass(frozen=True)
class Layout:
    """The columns of a model in a dialect, joints in its order."""

    q_to: tuple[Entry, ...]
    q_from: tuple[Entry, ...]
    v_to: Columns
    v_from: Columns
    tau_from: Columns
    tau_to: Columns


@lru_cache(maxsize=64)
def layout(model: Model, dialect: str, joints: tuple[str, ...] | None) -> Layout:
    """Columns to and from the dialect; `joints` in its order, by default the description's (Pinocchio: siblings by
    name), mimic joints among them."""
    d = DIALECTS[dialect]
    order = (
        _joints(model, joints)
        if joints is not None
        else _every(model, by_name=dialect == "pinocchio")
    )
    named = {joint.name: joint for joint in model.joints}
    base = int(model.floating_base)
    q_to: list[Entry] = []
    q_from: dict[int, Entry] = {}
    v_to: list[tuple[tuple[int, float], ...]] = []
    v_from: dict[int, tuple[tuple[int, float], ...]] = {}
    tau_from: dict[int, list[tuple[int, float]]] = {k: [] for k in range(6 * base, model.nv)}
    if base:
        mine, theirs = _base_names(model.quaternion), _base_names(d.quaternion, d.quaternion_first)
        q_to = [(SAME, (mine.index(name),), 1.0, 0.0) for name in theirs]
        q_from = {k: (SAME, (theirs.index(name),), 1.0, 0.0) for k, name in enumerate(mine)}
    for joint in order:
        lead, factor, offset = followed(joint, named)
        own = model.coordinates[lead]
        start = len(q_to)
        entries = [
            (f, tuple(own.q.start + k for k in ks))
            for f, ks in _written(dialect, model.quaternion, joint)
        ]
        q_to += [(f, ks, factor, offset) for f, ks in entries]
        for k in range(own.v.start, own.v.stop):
            tau_from[k].append((6 * base + len(v_to), factor))
            v_to.append(((k, factor),))
        if joint.mimic is None:
            first = 6 * base + len(v_to) - joint.kind.nv
            v_from |= {own.v.start + k: ((first + k, 1.0),) for k in range(joint.kind.nv)}
            for place, (f, ks) in enumerate(entries, start):
                if f == COS:
                    q_from[ks[0]] = (ANGLE, (place, place + 1), 1.0, 0.0)
                elif f == SAME:
                    q_from[ks[0]] = (SAME, (place,), 1.0, 0.0)
    missing = [name for name in model.joint_names if name not in {joint.name for joint in order}]
    if missing:
        raise ValueError(
            f"joints must name every joint that has coordinates; {', '.join(missing)} are missing"
        )
    places = {terms[0][0]: k for k, terms in v_from.items()}
    tau_to = [
        ((places[6 * base + k], 1.0),) if 6 * base + k in places else () for k in range(len(v_to))
    ]
    return Layout(
        tuple(q_to),
        tuple(q_from[k] for k in range(model.nq)),
        tuple(v_to),
        tuple(v_from[k] for k in range(6 * base, model.nv)),
        tuple(tuple(terms) for terms in tau_from.values()),
        tuple(tau_to),
    )


def _joints(model: Model, names: Sequence[str]) -> list[Joint]:
    joints = [model.joint(name) for name in names]
    for joint in joints:
        if not joint.kind.nv or joints.count(joint) > 1:
            reason = "is fixed" if not joint.kind.nv else "stands there twice"
            raise ValueError(f'joints must name moving joints, each once; "{joint.name}" {reason}')
    return joints


def _every(model: Model, by_name: bool) -> list[Joint]:
    """Moving joints depth first, siblings as they stand in the description or by name."""
    if not by_name:
        return [joint for joint in model.joints if joint.kind.nv]

    def below(link: str) -> Iterator[Joint]:
        for joint in sorted(
            (j for j in model.joints if j.parent == link), key=lambda joint: joint.name
        ):
            yield joint
            yield from below(joint.child)

    return [joint for joint in below(model.root) if joint.kind.nv]


def _base_names(quaternion: str, first: bool = False) -> list[str]:
    turn = [f"q{c}" for c in quaternion]
    return [*turn, *"xyz"] if first else [*"xyz", *turn]


def _written(name: str, quaternion: str, joint: Joint) -> list[tuple[str, tuple[int, ...]]]:
    """The dialect's coordinates of a joint: functions of warpdyn's own columns of it."""
    d, kind = DIALECTS[name], joint.kind
    if kind.single:
        return _circle(0) if d.circles and endless(kind) else [(SAME, (0,))]
    if d.inside and kind.nq == kind.nv == 3 and joint.axis == (0.0, 0.0, 1.0):
        return [(SAME, (0,)), (SAME, (1,)), *_circle(2)]
    if kind.quaternion is not None and (d.balls if kind.quaternion == 0 else d.inside):
        k = kind.quaternion
        return [(SAME, (i,)) for i in [*range(k), *(k + quaternion.index(c) for c in d.quaternion)]]
    raise ValueError(
        f'joint "{joint.name}" is {kind.name}, which {name} writes otherwise; convert its columns apart'
    )


def _circle(k: int) -> list[tuple[str, tuple[int, ...]]]:
    return [(COS, (k,)), (SIN, (k,))]


def endless(kind: JointKind) -> bool:
    """A single angle without limits."""
    return kind.single and kind.turns and not (kind.needs_limits or kind.geared or kind.threaded)
