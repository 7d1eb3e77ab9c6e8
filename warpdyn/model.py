"""A robot as its description says it: links, joints, frames and limits, by name and by index.

A `Model` is immutable data. What the algorithms loop over, with fixed joints lumped and mimic joints reduced, is its
`tree` (`warpdyn.tree`).
"""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from .description import ORIGIN, ZERO3, Joint, Link, Matrix3, ModelError, check, find_root
from .gearbox import without_gears
from .joints import FLOATING

T = TypeVar("T")

BASE_JOINT = "floating_base"
"""Name of the joint between the world and the root link of a floating model."""


@dataclass(frozen=True)
class Coordinates:
    """Where a joint's own coordinates lie in q and v."""

    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: links and joints in tree order (depth first, siblings as they stand in the description).

    Build one with `warpdyn.load_urdf` or `warpdyn.load_robot`.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    floating_base: bool = False
    quaternion: str = "xyzw"
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def assemble(
        cls,
        name: str,
        links: Sequence[Link],
        joints: Sequence[Joint],
        *,
        source: str = "model",
        floating_base: bool = False,
        quaternion: str = "xyzw",
        warnings: Sequence[str] = (),
    ) -> Model:
        """Check links and joints as they stand in a description and put them in tree order.

        Raises ModelError, beginning with `source`, for what is not one tree of sound links and joints.
        """
        if quaternion not in ("xyzw", "wxyz"):
            raise ModelError(f'{source}: quaternion must be "xyzw" or "wxyz", got {quaternion!r}')
        joints = without_gears(source, links, joints)
        check(source, links, joints)
        by_parent: dict[str, list[Joint]] = {}
        for joint in joints:
            by_parent.setdefault(joint.parent, []).append(joint)
        root = find_root(source, links, joints)
        if floating_base and any(joint.name == BASE_JOINT for joint in joints):
            raise ModelError(f'{source}: joint "{BASE_JOINT}" has the name of the free base\'s own joint; rename it')
        by_name = {link.name: link for link in links}
        ordered_links, ordered_joints = [by_name[root]], []
        waiting = list(reversed(by_parent.get(root, [])))
        while waiting:
            joint = waiting.pop()
            ordered_joints.append(joint)
            ordered_links.append(by_name[joint.child])
            waiting.extend(reversed(by_parent.get(joint.child, [])))
        return cls(name, tuple(ordered_links), tuple(ordered_joints), floating_base, quaternion, tuple(warnings))

    # Names and indices.

    @property
    def root(self) -> str:
        return self.links[0].name

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        return tuple(link.name for link in self.links)

    @cached_property
    def moving_joints(self) -> tuple[Joint, ...]:
        """Joints with coordinates of their own, in coordinate order, the base's 6-dof joint first when it floats."""
        own = tuple(j for j in self.joints if j.kind.nv and j.mimic is None)
        return (Joint(BASE_JOINT, FLOATING, "", self.root), *own) if self.floating_base else own

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have coordinates, in their order; neither fixed nor mimic joints, nor the base."""
        return tuple(j.name for j in self.moving_joints[int(self.floating_base) :])

    @cached_property
    def coordinates(self) -> Mapping[str, Coordinates]:
        """For each moving joint its columns of q and v."""
        table, nq, nv = {}, 0, 0
        for joint in self.moving_joints:
            kind = joint.kind
            table[joint.name] = Coordinates(slice(nq, nq + kind.nq), slice(nv, nv + kind.nv))
            nq, nv = nq + kind.nq, nv + kind.nv
        return table

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """One name for each column of q: the joint's, with the coordinate's after a dot where it has several."""
        return tuple(_dotted(j.name, c) for j in self.moving_joints for c in self._q_order(j))

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        return tuple(_dotted(j.name, c) for j in self.moving_joints for c in j.kind.v_names)

    def _q_order(self, joint: Joint) -> tuple[str, ...]:
        """Names of a joint's coordinates in this model's order of quaternions."""
        names, k = joint.kind.q_names, joint.kind.quaternion
        return names if k is None or self.quaternion == "xyzw" else (*names[:k], names[k + 3], *names[k : k + 3])

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.v_names)

    @property
    def nlinks(self) -> int:
        return len(self.links)

    def link_index(self, name: str) -> int:
        return _find(self._link_indices, name, "link", self.name)

    def link_indices(self, names: Iterable[str]) -> list[int]:
        return [self.link_index(name) for name in names]

    def joint_index(self, name: str) -> int:
        """Position of a joint in `joint_names`."""
        return _find(self._joint_indices, name, "moving joint", self.name)

    def joint_indices(self, names: Iterable[str]) -> list[int]:
        return [self.joint_index(name) for name in names]

    def q_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of q that belong to the named joints, in their order."""
        found = [_find(self.coordinates, name, "moving joint", self.name).q for name in names]
        return [i for s in found for i in range(s.start, s.stop)]

    def v_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of v that belong to the named joints, in their order."""
        found = [_find(self.coordinates, name, "moving joint", self.name).v for name in names]
        return [i for s in found for i in range(s.start, s.stop)]

    def link(self, name: str) -> Link:
        return self.links[self.link_index(name)]

    def joint(self, name: str) -> Joint:
        """Any joint of the description by name, fixed and mimic joints included."""
        return _find({j.name: j for j in self.joints}, name, "joint", self.name)

    def parent_joint(self, link: str) -> Joint | None:
        """The joint that carries a link; None for the root."""
        self.link_index(link)
        return self._parent_joints.get(link)

    def parent(self, link: str) -> str | None:
        joint = self.parent_joint(link)
        return joint.parent if joint else None

    def children(self, link: str) -> tuple[str, ...]:
        self.link_index(link)
        return tuple(j.child for j in self.joints if j.parent == link)

    @cached_property
    def _link_indices(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.link_names)}

    @cached_property
    def _joint_indices(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def _parent_joints(self) -> Mapping[str, Joint]:
        return {joint.child: joint for joint in self.joints}

    # Numbers.

    @property
    def total_mass(self) -> float:
        """Sum over every link of the description, root-fixed ones included [kg]."""
        return math.fsum(link.mass for link in self.links)

    @cached_property
    def neutral(self) -> np.ndarray:
        """(nq,) zero position; a floating base at the origin, not turned."""
        values = [(j, dict(zip(j.kind.q_names, j.kind.neutral, strict=True))) for j in self.moving_joints]
        return np.array([value[c] for j, value in values for c in self._q_order(j)])

    @cached_property
    def position_lower(self) -> np.ndarray:
        """(nq,) lower position limits [rad, m]; -inf where there is none."""
        return np.array([limits.lower for j in self.moving_joints for limits in j.q_limits])

    @cached_property
    def position_upper(self) -> np.ndarray:
        return np.array([limits.upper for j in self.moving_joints for limits in j.q_limits])

    @cached_property
    def velocity_limit(self) -> np.ndarray:
        """(nv,) [rad/s, m/s]; inf where there is none."""
        return np.array([limits.velocity for j in self.moving_joints for limits in j.v_limits])

    @cached_property
    def effort_limit(self) -> np.ndarray:
        """(nv,) [N·m, N]; inf where there is none."""
        return np.array([limits.effort for j in self.moving_joints for limits in j.v_limits])

    # Changed copies.

    def with_armature(self, armature: float | Mapping[str, float]) -> Model:
        """The same robot with reflected rotor inertia [kg·m², kg]: one value, or values by joint name."""
        own = [j.name for j in self.joints if j.kind.nv and j.mimic is None]
        values = armature if isinstance(armature, Mapping) else dict.fromkeys(own, armature)
        for name, value in values.items():
            if not self.joint(name).kind.nv:
                raise ValueError(f'joint "{name}" of {self.name} is fixed; armature belongs to a moving joint')
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f'armature of joint "{name}" must be finite and not negative, got {value}')
        return replace(
            self, joints=tuple(replace(j, armature=float(values.get(j.name, j.armature))) for j in self.joints)
        )

    def with_payload(self, link: str, mass: float, com: Sequence[float] = ORIGIN, inertia: Matrix3 = ZERO3) -> Model:
        """The same robot with a load on `link`: mass [kg], com in the link frame [m], inertia about it [kg·m²]."""
        x, y, z = (float(c) for c in com)
        if not (mass >= 0 and all(math.isfinite(c) for c in (mass, x, y, z))):
            raise ValueError(f"a payload needs a finite mass, not negative, and a finite com; got {mass} kg at {com}")
        heavier = _joined(self.link(link), Link("payload", float(mass), (x, y, z), inertia))
        return replace(self, links=tuple(heavier if old.name == link else old for old in self.links))

    @cached_property
    def key(self) -> str:
        """A hash of everything that the dynamics depend on."""
        links = [(k.name, k.mass, k.com, k.inertia) for k in self.links]
        joints = [
            (j.name, j.kind.name, j.parent, j.child, j.pose, j.axis, j.axis2, j.pitch, j.armature, j.mimic)
            for j in self.joints
        ]
        return hashlib.sha256(repr((links, joints, self.floating_base, self.quaternion)).encode()).hexdigest()

    def summary(self) -> str:
        """The tree of links with their joints, limits and masses, as text."""
        base = "floating base" if self.floating_base else "fixed base"
        lines = [
            f"{self.name}: {self.nlinks} links, {len(self.joint_names)} moving joints, nq = {self.nq}, nv = {self.nv}, "
            f"{base}, {self.total_mass:.6g} kg",
            *_branches(self),
        ]
        return "\n".join(lines)


def _joined(link: Link, load: Link) -> Link:
    """`link` with `load` welded to it; parallel-axis theorem about the common centre of mass."""
    mass = link.mass + load.mass
    if mass == 0.0:
        return link
    com = (link.mass * np.array(link.com) + load.mass * np.array(load.com)) / mass
    inertia = np.zeros((3, 3))
    for part in (link, load):
        d = np.array(part.com) - com
        inertia += np.array(part.inertia) + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    rows = tuple((float(a), float(b), float(c)) for a, b, c in inertia)
    return replace(
        link, mass=mass, com=(float(com[0]), float(com[1]), float(com[2])), inertia=(rows[0], rows[1], rows[2])
    )


def _branches(model: Model) -> list[str]:
    """A line for each link, below its parent."""
    by_parent: dict[str, list[Joint]] = {}
    for joint in model.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    lines, waiting = [], [(model.links[0], "", "")]
    while waiting:
        link, head, indent = waiting.pop()
        lines.append(f"{head}{link.name}" + (f"  {link.mass:.4g} kg" if link.mass else ""))
        joints = by_parent.get(link.name, [])
        for joint in reversed(joints):
            corner, below = ("└─", "   ") if joint is joints[-1] else ("├─", "│  ")
            head = f"{indent}{corner} {_describe(model, joint)} ─ "
            waiting.append((model.link(joint.child), head, indent + below))
    return lines


def _describe(model: Model, joint: Joint) -> str:
    if not joint.kind.nv:
        return f"({joint.kind.name})"
    if joint.mimic:
        return f"{joint.name} (mimics {joint.mimic.joint} x {joint.mimic.multiplier:g} + {joint.mimic.offset:g})"
    columns = model.coordinates[joint.name].q
    column = f"q[{columns.start}]" if joint.kind.nq == 1 else f"q[{columns.start}:{columns.stop}]"
    limits = joint.limits
    bounds = f" {limits.lower:.4g}..{limits.upper:.4g}" if math.isfinite(limits.upper - limits.lower) else ""
    return f"{joint.name} {column} ({joint.kind.name}{bounds})"


def _dotted(joint: str, coordinate: str) -> str:
    return f"{joint}.{coordinate}" if coordinate else joint


def _find(table: Mapping[str, T], name: str, what: str, model: str) -> T:
    if name in table:
        return table[name]
    close = difflib.get_close_matches(str(name), list(table), n=3)
    hint = f"did you mean {' or '.join(repr(c) for c in close)}?" if close else f"it has {', '.join(list(table)[:12])}"
    raise KeyError(f"{model} has no {what} named {name!r}; {hint}")
