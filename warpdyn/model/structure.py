"""Links and joints in tree order, by name and by index, with limits: all data of a robot. `Model`
adds operations, which are functions of a `Structure`: copies, parameters, exported texts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np

from .actuators import Actuator
from .closed_loops.loop import Loop
from .described_sensors import DescribedSensor, PhysicsSettings
from .description import Joint, Link
from .ground_contact import TouchingPair
from .joints import FLOATING
from .named_configurations import Configuration, Configurations
from .names import check_names, look_up
from .poses_and_limits import Effects
from .reference_frames import Reference
from .tendons import Tendon

BASE_JOINT = "floating_base"
"""Name of a floating root's joint, unless a joint of its description has it (`base_joint`)."""

HOME, DRAWN = "home", "qpos0"
"""Configurations that a robot starts in by default; the first that exists is used."""


def name_of_base_joint(taken: Collection[str]) -> str:
    """The name of a floating root's joint that differs from these joint names."""
    names = (f"{BASE_JOINT}_{k}" if k > 1 else BASE_JOINT for k in count(1))
    return next(name for name in names if name not in taken)


QuaternionOrder = Literal["xyzw", "wxyz"]
"""Position of a quaternion's scalar part: last or first."""


@dataclass(frozen=True)
class Coordinates:
    """Positions of a joint's coordinates in q and v."""

    q: slice
    v: slice


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """Links and joints in tree order: depth first, siblings as they stand in the description.

    Two structures are equal if all of their fields are: a copy or a pickled one is the same robot,
    and shares its kernels. Arrays are read-only: `copy()` an array before you change it.
    """

    name: str
    """The robot's name in its description."""
    links: tuple[Link, ...]
    """Every link of the description, the root first."""
    joints: tuple[Joint, ...]
    """Every joint of the description, also fixed and mimic ones. Joint k carries link k + 1."""
    floating_base: bool = False
    """True if the root moves freely; it has the first columns of q (7) and v (6)."""
    quaternion: QuaternionOrder = "xyzw"
    """Order of each quaternion in q."""
    base_velocity: Reference = "local"
    """Representation of the free base's columns in v, a and tau (`with_base_velocity`)."""
    warnings: tuple[str, ...] = ()
    """Suspicious parts of the description, which were used as written."""
    base_armature: float = 0.0
    """Armature of the free base's joint [kg, kg·m²], along the world's axes and the base's."""
    base_springs: tuple[Effects, ...] = ()
    """The description's springs of the free base's joint, by velocity coordinate, or none."""
    base_effects: tuple[Effects, ...] = ()
    """Effects that act on the free base's joint: springs only."""
    tendons: tuple[Tendon, ...] = ()
    """Fixed tendons: sums of joint positions, with forces and an armature along them."""
    loops: tuple[Loop, ...] = ()
    """Constraints that close loops; functions other than `step` and `wd.loops` leave them open."""
    actuators: tuple[Actuator, ...] = ()
    """Actuators in the order of their controls (`warpdyn.actuator_torques`)."""
    sensors: tuple[DescribedSensor, ...] = ()
    """Sensors of the description, kept as data."""
    physics: Mapping[str, str] = field(default_factory=PhysicsSettings)
    """A simulator's settings in the description (time step, solver, gravity), by path, as data."""
    excluded_pairs: tuple[tuple[str, str], ...] = ()
    """Pairs of links whose shapes do not touch (MJCF's exclude, SRDF's disabled collisions)."""
    touching_pairs: tuple[TouchingPair, ...] = ()
    """Pairs of shapes that touch in any case, whatever their masks are (MJCF's pair)."""
    named: tuple[Configuration, ...] = ()
    """Named configurations, from which `configurations` makes arrays."""
    is_simulated: bool = False
    """True for a simulator's description (MJCF): its passive forces act in a `Simulation`."""
    chosen_forces: frozenset[str] = frozenset()
    """Kinds of passive forces that were set on the model, to zero too: a `Simulation` keeps them."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        # The key comes first: it tells nearly all apart, and unlike the fields -0.0 from 0.0.
        return self.key == other.key and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def _fields(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: copies make arrays of their own, which are read-only too."""
        return self._fields

    # Names and indices.

    @property
    def root(self) -> str:
        """Name of the link that carries all others."""
        return self.links[0].name

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links: the order of `fk`, of `f_ext` arrays and of inertial parameters."""
        return tuple(link.name for link in self.links)

    @cached_property
    def base_joint(self) -> str:
        """Name of the joint by which a floating root moves: "floating_base", or "floating_base_2"
        and so on if joints of the description have that name."""
        return name_of_base_joint({joint.name for joint in self.joints})

    @cached_property
    def moving_joints(self) -> tuple[Joint, ...]:
        """Joints that have coordinates, in their order, a floating base's 6-dof joint first."""
        independent = tuple(j for j in self.joints if j.kind.nv and j.mimic is None)
        base = Joint(self.base_joint, FLOATING, "", self.root, armature=self.base_armature)
        return (base, *independent) if self.floating_base else independent

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have coordinates, in their order: neither fixed nor mimic
        joints, nor the base."""
        return tuple(j.name for j in self.moving_joints[int(self.floating_base) :])

    @cached_property
    def coordinates(self) -> Mapping[str, Coordinates]:
        """Columns of q and v of each moving joint, by its name."""
        table, nq, nv = {}, 0, 0
        for joint in self.moving_joints:
            kind = joint.kind
            table[joint.name] = Coordinates(slice(nq, nq + kind.nq), slice(nv, nv + kind.nv))
            nq, nv = nq + kind.nq, nv + kind.nv
        return MappingProxyType(table)

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """One name for each column of q: the joint's name, followed by a dot and the coordinate's
        name if it has several."""
        return tuple(
            _coordinate_name(j.name, c)
            for j in self.moving_joints
            for c in j.kind.reorder(j.kind.q_names, self.quaternion)
        )

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        """One name for each column of v, of accelerations and of joint forces."""
        return tuple(
            _coordinate_name(j.name, c) for j in self.moving_joints for c in j.kind.v_names
        )

    @property
    def nq(self) -> int:
        """Columns of q: a base's or floating joint's quaternion counts four."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """Columns of v, of accelerations and of joint forces: degrees of freedom."""
        return len(self.v_names)

    @property
    def nlinks(self) -> int:
        """Number of links, those on fixed joints included."""
        return len(self.links)

    def link_index(self, name: str) -> int:
        """Position of a link in `link_names`; KeyError with similar names if there is none."""
        return look_up(self._link_indices, name, "link", self.name)

    def link_indices(self, names: Iterable[str]) -> list[int]:
        """Positions of links in `link_names`, in the order of `names`."""
        return [self.link_index(name) for name in check_names(names)]

    def joint_index(self, name: str) -> int:
        """Position of a joint in `joint_names`."""
        return look_up(self._joint_indices, name, "moving joint", self.name)

    def joint_indices(self, names: Iterable[str]) -> list[int]:
        """Positions of joints in `joint_names`, in the order of `names`."""
        return [self.joint_index(name) for name in check_names(names)]

    def q_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of q that belong to the named joints, in their order."""
        return [i for c in self._coordinates_of(names) for i in range(c.q.start, c.q.stop)]

    def v_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of v that belong to the named joints, in their order."""
        return [i for c in self._coordinates_of(names) for i in range(c.v.start, c.v.stop)]

    def _coordinates_of(self, names: Iterable[str]) -> list[Coordinates]:
        return [look_up(self.coordinates, n, "moving joint", self.name) for n in check_names(names)]

    def link(self, name: str) -> Link:
        """A link by name: its mass, centre of mass, inertia and shapes."""
        return self.links[self.link_index(name)]

    def joint(self, name: str) -> Joint:
        """Any joint of the description by name, fixed and mimic joints included."""
        return look_up(self._joints_by_name, name, "joint", self.name)

    def parent_joint(self, link: str) -> Joint | None:
        """The joint that carries a link; None for the root."""
        self.link_index(link)
        return self._parent_joints.get(link)

    def parent(self, link: str) -> str | None:
        """The link that carries a link; None for the root."""
        joint = self.parent_joint(link)
        return joint.parent if joint else None

    def children(self, link: str) -> tuple[str, ...]:
        """The child links of a link."""
        self.link_index(link)
        return tuple(j.child for j in self.joints if j.parent == link)

    def subtree_joints(self, link: str, *, fixed: bool = False) -> tuple[str, ...]:
        """Names of the moving joints beyond a link, mimic joints too; with `fixed`, all joints."""
        self.link_index(link)
        carried, names = {link}, []
        for joint in self.joints:  # parents come first
            if joint.parent in carried:
                carried.add(joint.child)
                names += [joint.name] if fixed or joint.kind.nv else []
        return tuple(names)

    @cached_property
    def moving_link_names(self) -> tuple[str, ...]:
        """Names of the links that a moving joint carries, after that of a floating root."""
        moving = tuple(joint.child for joint in self.joints if joint.kind.nv)
        return (self.root, *moving) if self.floating_base else moving

    @cached_property
    def supports(self) -> np.ndarray:
        """(nlinks, nlinks) booleans, read-only: True where link k (column) carries link i (row), or
        is link i. Row i marks the links between the root and i, both included."""
        table = np.eye(self.nlinks, dtype=bool)
        for joint in self.joints:  # parents come first
            child, parent = self.link_index(joint.child), self.link_index(joint.parent)
            table[child] |= table[parent]
        return _make_read_only(table)

    @cached_property
    def _link_indices(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.link_names)}

    @cached_property
    def _joint_indices(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def _joints_by_name(self) -> Mapping[str, Joint]:
        return {joint.name: joint for joint in self.joints}

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
        """(nq,) zero position, read-only; a floating base at the origin, not turned."""
        return _make_read_only(self._q_at({}))

    @cached_property
    def configurations(self) -> Configurations:
        """Positions by name, (nq,) and read-only: keyframes, and those of `with_configuration`."""
        return Configurations(
            self.name, {c.name: self._q_at(dict(c.coordinates)) for c in self.named}
        )

    def _q_at(self, coordinates: Mapping[str, tuple[float, ...]]) -> np.ndarray:
        """(nq,) coordinates by joint (quaternions x y z w), neutral for joints without an entry."""
        return np.array(
            [
                x
                for j in self.moving_joints
                for x in j.kind.reorder(coordinates.get(j.name, j.kind.neutral), self.quaternion)
            ]
        )

    @cached_property
    def position_lower(self) -> np.ndarray:
        """(nq,) lower position limits [rad, m]; -inf for no limit. Read-only."""
        limits = [each.lower for j in self.moving_joints for each in j.q_limits]
        return _make_read_only(np.array(limits))

    @cached_property
    def position_upper(self) -> np.ndarray:
        """(nq,) upper position limits [rad, m]; inf for no limit. Read-only."""
        limits = [each.upper for j in self.moving_joints for each in j.q_limits]
        return _make_read_only(np.array(limits))

    @cached_property
    def velocity_limit(self) -> np.ndarray:
        """(nv,) velocity limits [rad/s, m/s]; inf for no limit. Read-only."""
        limits = [each.velocity for j in self.moving_joints for each in j.v_limits]
        return _make_read_only(np.array(limits))

    @cached_property
    def effort_limit(self) -> np.ndarray:
        """(nv,) effort limits [N·m, N]; inf for no limit. Read-only."""
        limits = [each.effort for j in self.moving_joints for each in j.v_limits]
        return _make_read_only(np.array(limits))

    @cached_property
    def key(self) -> str:
        """A hash of everything that the dynamics depend on."""
        links = [(k.name, k.mass, k.com, k.inertia) for k in self.links]
        joints = [
            (
                j.name,
                j.kind.name,
                j.parent,
                j.child,
                j.pose,
                j.axis,
                j.axis2,
                j.pitch,
                j.armature,
                j.mimic,
            )
            for j in self.joints
        ]
        effects = [(j.name, j.effects, j.v_limits) for j in self.joints if j.effects]
        borne = [(k.name, k.borne) for k in self.links if k.borne]
        # Effort limits act on the dynamics only at joints that actuators push.
        pushed = {name for actuator in self.actuators for name, _ in actuator.arms}
        content = (
            links,
            borne,
            self.base_armature,
            self.base_effects,
            self.tendons,
            self.actuators,
            [(name, self.joint(name).limits.effort) for name in sorted(pushed)],
            joints,
            effects,
            self.floating_base,
            self.quaternion,
            self.base_velocity,
            *self.loops,
        )
        return hashlib.sha256(repr(content).encode()).hexdigest()


Robot = TypeVar("Robot", bound=Structure)
"""The class of a model, which a changed copy keeps."""


def _make_read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _coordinate_name(joint: str, coordinate: str) -> str:
    return f"{joint}.{coordinate}" if coordinate else joint


def start_of(model: Structure) -> np.ndarray:
    """(nq,) the configuration "home", else "qpos0" (an MJCF file's), else the neutral one."""
    there = model.configurations
    return np.asarray(there.get(HOME, there.get(DRAWN, model.neutral)))
