"""A robot as its description says it: links, joints, frames and limits, by name and by index.

A `Model` is immutable data. What the algorithms loop over, with fixed joints lumped and mimic joints reduced, is its
`tree` (`warpdyn.model.tree`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import describe, edits, params
from .checks import check, find_root
from .description import ORIGIN, ZERO3, Joint, Link, Matrix3, ModelError, Pose, look_up
from .gearbox import without_gears
from .joints import FIXED, FLOATING
from .reference_frames import reference_of
from .to_urdf import write_urdf

PerJoint = float | Mapping[str, float] | None
"""One value for all joints, values by joint name, or nothing."""

BASE_JOINT = "floating_base"
"""Name of the joint between the world and the root link of a floating model."""


@dataclass(frozen=True)
class Coordinates:
    """Where a joint's own coordinates lie in q and v."""

    q: slice
    v: slice


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A robot: links and joints in tree order (depth first, siblings as they stand in the description).

    Load one with `warpdyn.load` or `warpdyn.load_robot`, or make one with `warpdyn.ModelBuilder`.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    floating_base: bool = False
    quaternion: str = "xyzw"
    base_velocity: str = "local"
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Model {describe.head(self)}>"

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
            raise ModelError(
                f'{source}: joint "{BASE_JOINT}" has the name of the free base\'s own joint; rename it'
            )
        by_name = {link.name: link for link in links}
        ordered_links, ordered_joints = [by_name[root]], []
        waiting = list(reversed(by_parent.get(root, [])))
        while waiting:
            joint = waiting.pop()
            ordered_joints.append(joint)
            ordered_links.append(by_name[joint.child])
            waiting.extend(reversed(by_parent.get(joint.child, [])))
        parts = tuple(ordered_links), tuple(ordered_joints)
        return cls(name, *parts, floating_base, quaternion, warnings=tuple(warnings))

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
        return (
            names
            if k is None or self.quaternion == "xyzw"
            else (*names[:k], names[k + 3], *names[k : k + 3])
        )

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
        return look_up(self._link_indices, name, "link", self.name)

    def link_indices(self, names: Iterable[str]) -> list[int]:
        return [self.link_index(name) for name in _several(names)]

    def joint_index(self, name: str) -> int:
        """Position of a joint in `joint_names`."""
        return look_up(self._joint_indices, name, "moving joint", self.name)

    def joint_indices(self, names: Iterable[str]) -> list[int]:
        return [self.joint_index(name) for name in _several(names)]

    def q_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of q that belong to the named joints, in their order."""
        found = [
            look_up(self.coordinates, name, "moving joint", self.name).q for name in _several(names)
        ]
        return [i for s in found for i in range(s.start, s.stop)]

    def v_indices(self, names: Iterable[str]) -> list[int]:
        """Columns of v that belong to the named joints, in their order."""
        found = [
            look_up(self.coordinates, name, "moving joint", self.name).v for name in _several(names)
        ]
        return [i for s in found for i in range(s.start, s.stop)]

    def link(self, name: str) -> Link:
        return self.links[self.link_index(name)]

    def joint(self, name: str) -> Joint:
        """Any joint of the description by name, fixed and mimic joints included."""
        return look_up({j.name: j for j in self.joints}, name, "joint", self.name)

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
        values = [
            (j, dict(zip(j.kind.q_names, j.kind.neutral, strict=True))) for j in self.moving_joints
        ]
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

    def with_base_velocity(self, representation: str) -> Model:
        """The same robot with its free base's velocity, acceleration and force in another representation.

        "local": the base's own twist in its own frame, as it is unless asked for. "local_world_aligned": velocity of
        its origin and angular velocity, in the world's axes. "world": twist of the point that is at the world's origin.
        Aliases "body", "mixed", "inertial". It holds in v, a (the rate of v), tau, and columns of Jacobians.
        """
        return replace(self, base_velocity=reference_of(representation, "base_velocity"))

    def with_armature(self, armature: float | Mapping[str, float]) -> Model:
        """The same robot with reflected rotor inertia [kg·m², kg]: one value, or values by joint name."""
        values = self._by_joint("armature", armature, lambda joint: True)
        return replace(
            self,
            joints=tuple(replace(j, armature=values.get(j.name, j.armature)) for j in self.joints),
        )

    def with_friction(
        self, *, viscous: PerJoint | str = None, coulomb: PerJoint | str = None
    ) -> Model:
        """The same robot with friction in its joints: viscous [N·m·s/rad, N·s/m] and Coulomb [N·m, N].

        Each is one value (for all joints but free ones), or values by joint name, or "description" for the `damping`,
        or `friction`, of every joint in the robot's file. Values not given stay; there are none at first.
        """

        def values(
            what: str, given: PerJoint | str, described: Callable[[Joint], Sequence[float]]
        ) -> Mapping[str, Any]:
            if given == "description":
                return {joint.name: described(joint) for joint in self.joints}
            return self._by_joint(what, given, lambda joint: joint.kind is not FLOATING)

        return self._with_effects(
            viscous=values("viscous friction", viscous, lambda joint: joint.v_damping),
            coulomb=values("Coulomb friction", coulomb, lambda joint: joint.v_friction),
        )

    def with_limit_springs(self, *, stiffness: PerJoint = None, damping: PerJoint = None) -> Model:
        """The same robot with springs [N·m/rad, N/m] and dampers [N·m·s/rad, N·s/m] that act beyond position limits.

        Each is one value (for all joints with limits), or values by joint name. Values not given stay.
        """
        for name in {**_mapping(stiffness), **_mapping(damping)}:
            if not self.joint(name).bounded:
                raise ValueError(
                    f'joint "{name}" of {self.name} has no position limits for a spring to act beyond; give it some: '
                    f'model.with_limits("{name}", lower=..., upper=...)'
                )
        return self._with_effects(
            stiffness=self._by_joint("limit stiffness", stiffness, lambda joint: joint.bounded),
            damping=self._by_joint("limit damping", damping, lambda joint: joint.bounded),
        )

    def _by_joint(
        self, what: str, given: PerJoint | str, applies: Callable[[Joint], bool]
    ) -> dict[str, float]:
        """Values by joint name; of one value for all, those joints that have coordinates and that it applies to."""
        own = [j.name for j in self.joints if j.kind.nv and j.mimic is None and applies(j)]
        values = (
            given
            if isinstance(given, Mapping)
            else {}
            if given is None
            else dict.fromkeys(own, given)
        )
        for name, value in values.items():
            if not self.joint(name).kind.nv:
                raise ValueError(
                    f'joint "{name}" of {self.name} is fixed; {what} belongs to a moving joint'
                )
            if isinstance(value, str) or not (math.isfinite(value) and value >= 0):
                raise ValueError(
                    f'{what} of joint "{name}" must be finite and not negative, got {value!r}'
                )
        return {name: float(value) for name, value in values.items()}

    def _with_effects(self, **values: Mapping[str, float | Sequence[float]]) -> Model:
        """Each effect by joint name: one value for all coordinates of a joint, or one for each."""

        def changed(joint: Joint) -> Joint:
            own = {effect: by_name.get(joint.name) for effect, by_name in values.items()}
            each = {e: (x,) * joint.kind.nv if isinstance(x, float) else x for e, x in own.items()}
            return joint.with_effects(**each)

        return replace(self, joints=tuple(changed(joint) for joint in self.joints))

    def with_payload(
        self, link: str, mass: float, com: Sequence[float] = ORIGIN, inertia: Matrix3 = ZERO3
    ) -> Model:
        """The same robot with a load on `link`: mass [kg], com in the link frame [m], inertia about it [kg·m²]."""
        load = Link("payload", *edits.body("a payload", mass, com, inertia))
        return self._with_link(link, lambda old: edits.joined(old, load))

    def with_link_mass(self, link: str, mass: float) -> Model:
        """The same robot with another mass of a link [kg]; its com and its inertia about it stay."""
        old = self.link(link)
        value, com, inertia = edits.body(f'link "{link}"', mass, old.com, old.inertia)
        return self._with_link(link, lambda old: replace(old, mass=value, com=com, inertia=inertia))

    def with_link_inertia(self, link: str, inertia: Any, com: Any = None) -> Model:
        """The same robot with another inertia of a link, (3, 3) about its com in its axes [kg·m²], and another com [m]
        where one is given; its mass stays."""
        old = self.link(link)
        mass, c, J = edits.body(
            f'link "{link}"', old.mass, old.com if com is None else com, inertia
        )
        return self._with_link(link, lambda old: replace(old, mass=mass, com=c, inertia=J))

    def with_limits(
        self,
        joint: str,
        *,
        lower: float | None = None,
        upper: float | None = None,
        velocity: float | None = None,
        effort: float | None = None,
    ) -> Model:
        """The same robot with other limits of a joint, of its first axis where it has two [rad or m, and by s;
        N·m or N]; those not given stay."""
        bounds = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        if not self.joint(joint).kind.nv:
            raise ValueError(
                f'joint "{joint}" of {self.name} is fixed; limits belong to a moving joint'
            )
        return self._made_of(
            *edits.with_joint(*self._parts, joint, lambda old: edits.limited(old, bounds))
        )

    def with_frame(self, name: str, parent: str, pose: Any) -> Model:
        """The same robot with a frame on link `parent`: a link without mass on a fixed joint "<name>_joint".

        pose: of the frame in the link: a Pose, a 4x4 matrix, x y z, or x y z qx qy qz qw.
        """
        self.link(parent)
        link, joint = edits.frame(self.joints, name, parent, pose)
        return self._made_of([*self.links, link], [*self.joints, joint])

    def reduce(self, joints: Iterable[str], at: Any = None) -> Model:
        """The robot whose other joints are locked: fixed where the coordinates `at` have them, with those that mimic
        them; a floating base stays free. Links of locked joints stay as frames (`collapse` merges them).

        joints: names of the joints that keep their coordinates.
        at: coordinates by joint name, or a whole q (nq,); neutral where not given.
        """
        kept = set(_several(joints))
        self.joint_indices(kept)
        locked = {
            name: joint
            for name, joint in zip(
                self.joint_names, self.moving_joints[self.floating_base :], strict=True
            )
            if name not in kept
        }
        q = self.neutral
        if at is not None and not isinstance(at, Mapping):
            q = np.asarray(at, dtype=float)
            if q.shape != (self.nq,):
                raise ValueError(
                    f"at must be a mapping by joint name, or q (nq,) = ({self.nq},), got {q.shape}"
                )
        given = {name: q[self.coordinates[name].q] for name in locked}
        for name, value in at.items() if isinstance(at, Mapping) else ():
            if name in kept:
                raise ValueError(
                    f'joint "{name}" of {self.name} keeps its coordinates; leave it out of `at`'
                )
            look_up(locked, name, "joint to lock", self.name)
            given[name] = value
        values = {
            name: edits.coordinates(locked[name], given[name], self._q_order(locked[name]))
            for name in locked
        }
        return self._made_of(*edits.reduce(*self._parts, values))

    def collapse(self, keep: Iterable[str] = ()) -> Model:
        """The same robot with every link on a fixed joint merged into the link that carries it; the links named in
        `keep` stay as frames without mass."""
        names = set(_several(keep))
        self.link_indices(names)
        return self._made_of(*edits.collapse(*self._parts, names))

    def attach(
        self,
        other: Model,
        frame: str,
        *,
        pose: Any = ORIGIN,
        prefix: str = "",
        joint: str | None = None,
    ) -> Model:
        """This robot with another one fixed to its link `frame`, whatever base the other had.

        pose: of the other's root in `frame`: a Pose, a 4x4 matrix, x y z, or x y z qx qy qz qw.
        prefix: goes before the other's names. joint: name of the joint, by default "<frame>_to_<root>".
        """
        self.link(frame)
        root = prefix + other.root
        mount = Joint(joint or f"{frame}_to_{root}", FIXED, frame, root, Pose.of(pose))
        return self._made_of(*edits.attach(*self._parts, other._parts, mount, prefix))

    def detach(self, link: str) -> Model:
        """The robot without `link` and all that it carries."""
        self.link(link)
        if link == self.root:
            raise ValueError(
                f'link "{link}" is the root of {self.name}; nothing would be left without it'
            )
        return self._made_of(*edits.detach(*self._parts, link))

    def rename(
        self,
        links: Mapping[str, str] | None = None,
        joints: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Model:
        """The same robot under other names: {old: new} for links and joints, `name` for the robot."""
        for link in links or {}:
            self.link(link)
        for joint in joints or {}:
            self.joint(joint)
        renamed = self._made_of(*edits.rename(*self._parts, links or {}, joints or {}))
        return renamed if name is None else replace(renamed, name=name)

    @property
    def _parts(self) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
        return self.links, self.joints

    def _with_link(self, name: str, change: Callable[[Link], Link]) -> Model:
        self.link(name)
        return self._made_of(*edits.with_link(*self._parts, name, change))

    def _made_of(self, links: Sequence[Link], joints: Sequence[Joint]) -> Model:
        """The same robot with other links and joints, checked and put in order."""
        made = Model.assemble(
            self.name, links, joints, source=self.name, floating_base=self.floating_base
        )
        return replace(self, links=made.links, joints=made.joints)

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
        content = (links, joints, effects, self.floating_base, self.quaternion, self.base_velocity)
        return hashlib.sha256(repr(content).encode()).hexdigest()

    def to_urdf(self) -> str:
        """The text of a URDF file of this robot: links, joints, limits, mimic joints, damping, friction and shapes.

        Read again (`floating_base` as here), it gives the same robot, to rounding of the angles that URDF writes
        rotations in. Raises ModelError for what URDF has no word for, naming the joint: other kinds, armature, effects.
        """
        return write_urdf(self.name, self.links, self.joints)

    def summary(self) -> str:
        """The tree of links with their joints, limits and masses, as text."""
        return describe.summary(self)

    def params(
        self,
        envs: int | None = None,
        *,
        mass: Any = None,
        com: Any = None,
        inertia: Any = None,
        placement: Any = None,
        armature: Any = None,
        viscous: Any = None,
        coulomb: Any = None,
        stiffness: Any = None,
        damping: Any = None,
        gravity: Any = None,
        dtype: Any = None,
    ) -> params.Params:
        """Parameters that differ from one environment to the next, for the `params=` of every function.

        Each is {name: values}, values (B, ..) or one for all environments; or one array for all links (mass (B,
        nlinks) [kg], com (B, nlinks, 3) [m], inertia (B, nlinks, 6) Ixx Ixy Ixz Iyy Iyz Izz [kg·m²]) or joints
        (placement (B, njoints, 7) x y z qx qy qz qw, armature, viscous, coulomb, stiffness, damping (B, njoints)).
        gravity: (B, 3) [m/s²]. What is not given stays as it is and costs nothing at run time.
        envs: number of environments, where only single values are given. The arrays' library, dtype and device are
        kept; `dtype` converts NumPy's. Change the arrays in place (`params["mass"][:] = ..`) between calls.
        """
        links = {"mass": mass, "com": com, "inertia": inertia}
        effects = {
            "viscous": viscous,
            "coulomb": coulomb,
            "stiffness": stiffness,
            "damping": damping,
        }
        joints = {"placement": placement, "armature": armature, **effects}
        return params.build(self, envs, dtype, gravity, {**links, **joints})


def _several(names: Iterable[str]) -> Iterable[str]:
    if isinstance(names, str):
        raise TypeError(f'a list of names is asked for, got "{names}"; for one name ["{names}"]')
    return names


def _mapping(given: PerJoint) -> Mapping[str, float]:
    return given if isinstance(given, Mapping) else {}


def _dotted(joint: str, coordinate: str) -> str:
    return f"{joint}.{coordinate}" if coordinate else joint
