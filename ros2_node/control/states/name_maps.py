"""The joints that a JointState can carry, and maps from its names to columns of q and v."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warpdyn.model import Model

from .finite_difference import Index

MAX_MAPS = 32
"""Largest number of cached lists of names: a publisher of ever new names must not fill the
memory."""


def single_joints(model: Model) -> tuple[str, ...]:
    """The joints that a JointState can carry: those with one coordinate that are not mimic
    joints."""
    return tuple(j.name for j in model.moving_joints if j.kind.single)


def unreadable_joints(model: Model) -> tuple[str, ...]:
    """The joints of several coordinates, such as floating and planar ones, which no JointState can
    carry."""
    able = single_joints(model)
    return tuple(j.name for j in model.moving_joints if j.name not in able)


def unreadable(model: Model, name: str) -> str:
    """The reason why no JointState can carry the joint of this name."""
    mimics = {j.name: j.mimic for j in model.joints if j.mimic is not None}
    if name in mimics:
        return f"joint {name!r} follows {mimics[name].joint!r} and has no coordinate of its own: take it off the list"
    able = single_joints(model)
    return f"{model.name} has no moving joint {name!r}; its joints are {', '.join(able[:40])}"


@dataclass(eq=False)
class NameMap:
    """The columns of one list of names: entry `entries[k]` of the message is coordinate
    `columns[k]`."""

    names: list[str]
    problem: str | None
    entries: Index
    columns: Index
    """Both are `slice(None)` where the message is q itself."""
    v_columns: Index
    missing: np.ndarray
    unknown: int
    mimics: tuple[tuple[int, int, float, float], ...]
    """(entry, entry of its source, multiplier, offset)"""
    complete: bool
    stamp: int = 0
    needed: np.ndarray | None = None
    """The positions that are read, of the message before."""

    def is_repeated(self, positions: np.ndarray) -> bool:
        """True if a message with the stamp of the one before repeats its positions: a driver that
        lost its robot does so. Joints that are not read may be NaN, and do not count."""
        return self.needed is not None and np.array_equal(positions, self.needed)


class NameMaps:
    """Maps of the most recent lists of names.

    q_of: columns of q by name of the joints that are read; v_of_q: columns of v by those of q (nq,).
    """

    def __init__(self, model: Model, q_of: Mapping[str, int], v_of_q: np.ndarray) -> None:
        self._q_of, self._v_of_q = q_of, v_of_q
        self._known = {j.name for j in model.joints}
        self._mimics = {j.name: j.mimic for j in model.joints if j.mimic is not None}
        self._maps: dict[tuple[str, ...], NameMap] = {}

    def __len__(self) -> int:
        return len(self._maps)

    def forget(self) -> None:
        """Start again: forget the messages of all maps."""
        for m in self._maps.values():
            m.stamp, m.needed = 0, None

    def find(self, names: list[str]) -> NameMap:
        """The map of these names."""
        key = tuple(names)
        name_map = self._maps.pop(key, None) or self._new_map(names)
        while len(self._maps) >= MAX_MAPS:
            del self._maps[next(iter(self._maps))]  # the one not used for longest
        self._maps[key] = name_map
        return name_map

    def _new_map(self, names: list[str]) -> NameMap:
        entry_of = {name: i for i, name in enumerate(names)}
        entries = [i for i, name in enumerate(names) if name in self._q_of]
        columns = [self._q_of[names[i]] for i in entries]
        # Joints that the node does not know may repeat: they belong to other robots on the topic.
        problem = None
        if any(name in self._known and entry_of[name] != i for i, name in enumerate(names)):
            problem = "duplicate_name"
        elif not entries:
            problem = "no_known_joint"
        mimics = tuple(
            (i, entry_of[mimic.joint], mimic.multiplier, mimic.offset)
            for i, name in enumerate(names)
            if (mimic := self._mimics.get(name)) is not None and mimic.joint in entry_of
        )
        missing = sorted(set(self._q_of.values()) - set(columns))
        in_order = columns == list(range(len(self._v_of_q))) and entries == list(range(len(names)))
        plain = slice(None) if in_order else None
        return NameMap(
            names=list(names),
            problem=problem,
            entries=plain or np.array(entries, dtype=int),
            columns=plain or np.array(columns, dtype=int),
            v_columns=plain or self._v_of_q[columns],
            missing=np.array(missing, dtype=int),
            unknown=sum(name not in self._known for name in names),
            mimics=mimics,
            complete=not missing,
        )
