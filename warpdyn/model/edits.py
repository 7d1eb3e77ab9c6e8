"""Copies of a robot with other numbers in its links, joints or base.

Each function is a method of `Model`, which lists them. It checks names and numbers and returns
another model. Functions that add, remove, merge or rename links and joints are in `restructure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from .assembly import rebuild
from .checks import not_negative, rigid_body
from .description import Joint, Link
from .joints import FLOATING
from .named_configurations import Configuration
from .names import look_up
from .poses_and_limits import ORIGIN, ZERO3
from .reference_frames import Reference, reference_of
from .restructure import coordinates_at, weld_links
from .structure import Robot, Structure

PerJoint = float | Mapping[str, float] | None
"""One value for all joints, values by joint name, or None."""


def with_base_velocity(self: Robot, representation: Reference) -> Robot:
    """The same robot with its free base's velocity, acceleration and force in another
    representation.

    "local": the base's own twist in its own frame (the default).
    "local_world_aligned": velocity of its origin and angular velocity, in the world's axes.
    "world": twist of the point that is at the world's origin. Aliases "body", "mixed", "inertial".
    The representation applies to v, a (the rate of v), tau, and columns of Jacobians.
    """
    return replace(
        self, base_velocity=cast("Reference", reference_of(representation, "base_velocity"))
    )


# Joints.


def with_armature(self: Robot, armature: float | Mapping[str, float]) -> Robot:
    """The same robot with reflected rotor inertia [kg·m², kg]: one value, or values by joint
    name."""
    if armature is None:
        raise TypeError(
            f"armature of {self.name} must be one number, or numbers by joint name, got None"
        )
    values = _by_joint(self, "armature", armature, lambda joint: True)
    joints = (replace(j, armature=values.get(j.name, j.armature)) for j in self.joints)
    return replace(self, joints=tuple(joints))


def with_friction(
    self: Robot,
    *,
    viscous: PerJoint | Literal["description"] = None,
    coulomb: PerJoint | Literal["description"] = None,
) -> Robot:
    """The same robot with friction in its joints: viscous [N·m·s/rad, N·s/m] and Coulomb [N·m, N].

    Each is one value (for all joints but free ones), or values by joint name, or "description" for
    the `damping`, or `friction`, of every joint in the robot's file, and the damping of its
    tendons. Values that are not given stay as they are. A loaded model has no friction.
    """

    def values(
        what: str, asked: PerJoint | str, described: Callable[[Joint], Sequence[float]]
    ) -> Mapping[str, float | Sequence[float]]:
        if isinstance(asked, str) and asked == "description":
            return {joint.name: described(joint) for joint in self.joints}
        return _by_joint(self, what, asked, lambda joint: joint.kind is not FLOATING)

    self = _with_chosen_forces(self, viscous=viscous, coulomb=coulomb)
    if isinstance(viscous, str) and viscous == "description":
        tendons = (tendon.with_effects(viscous=tendon.damping) for tendon in self.tendons)
        self = replace(self, tendons=tuple(tendons))
    return _with_effects(
        self,
        viscous=values("viscous friction", viscous, lambda joint: joint.v_damping),
        coulomb=values("Coulomb friction", coulomb, lambda joint: joint.v_friction),
    )


def with_limit_springs(
    self: Robot, *, stiffness: PerJoint = None, damping: PerJoint = None
) -> Robot:
    """The same robot with springs [N·m/rad, N/m] and dampers [N·m·s/rad, N·s/m] that act beyond
    position limits.

    Each is one value (for all joints with limits), or values by joint name. Values that are not
    given stay as they are.
    """
    for values in (stiffness, damping):
        for name in values if isinstance(values, Mapping) else ():
            if not self.joint(name).is_bounded:
                raise ValueError(
                    f'joint "{name}" of {self.name} has no position limits for a spring to act beyond; '
                    f'give it some: model.with_limits("{name}", lower=..., upper=...)'
                )
    return _with_effects(
        self,
        stiffness=_by_joint(self, "limit stiffness", stiffness, lambda joint: joint.is_bounded),
        damping=_by_joint(self, "limit damping", damping, lambda joint: joint.is_bounded),
    )


def with_springs(
    self: Robot,
    spring: PerJoint | Literal["description"] = None,
    *,
    rest: float | Mapping[str, float | Sequence[float]] | None = None,
) -> Robot:
    """The same robot with springs in its joints: stiffness [N·m/rad, N/m] and the position at which
    each is slack [rad, m].

    Each is one value (for all joints of one coordinate), or values by joint name. spring =
    "description" takes the springs of the robot's file and their slack positions, including those
    of tendons and of a free base. Values that are not given stay as they are. A loaded model has no
    springs. The spring of a ball joint is slack at a rotation vector (3,) [rad]. Its torque is k
    times the rotation vector that leads there. The spring of a free joint is slack at a position
    [m] and a rotation vector (6,), and k acts on both.
    """
    for values in (spring, rest):
        for name in values if isinstance(values, Mapping) else ():
            if not self.joint(name).kind.elastic:
                raise ValueError(
                    f'joint "{name}" of {self.name} is a {self.joint(name).kind.name} joint; springs '
                    "are for joints of one coordinate, ball and free joints"
                )
    self = _with_chosen_forces(self, spring=spring)
    elastic = [joint for joint in self.joints if joint.kind.elastic]
    single = [joint.name for joint in elastic if joint.kind.single]
    slack: dict[str, Sequence[float]] = {}
    stiffness: dict[str, float]
    if spring == "description":
        stiffness = {joint.name: joint.spring for joint in elastic}
        slack = {joint.name: joint.v_rest for joint in elastic}
        tendons = (tendon.with_effects(spring=tendon.spring) for tendon in self.tendons)
        self = replace(self, tendons=tuple(tendons), base_effects=self.base_springs)
    else:
        stiffness = _by_joint(self, "spring", spring, lambda joint: joint.kind.single)
    if rest is not None:
        asked = rest if isinstance(rest, Mapping) else dict.fromkeys(single, rest)
        slack = {name: _where_slack(self.joint(name), x) for name, x in asked.items()}
    return _with_effects(self, spring=stiffness, rest=slack)


def _where_slack(joint: Joint, rest: float | Sequence[float]) -> tuple[float, ...]:
    """The slack position of a joint's spring, one number for each velocity coordinate."""
    numbers = tuple(map(float, np.ravel(rest)))
    if len(numbers) != joint.kind.nv or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"rest must be finite numbers, {joint.kind.nv} for the {joint.kind.name} joint "
            f'"{joint.name}", got {rest!r}'
        )
    return numbers


def with_gravity_compensation(
    self: Robot, share: float | Mapping[str, float] | Literal["description"]
) -> Robot:
    """The same robot with a share of its links' weight compensated: one value for all links, values
    by link name, or "description" for `gravcomp` of the robot's file.

    With a share of 1, gravity does not move a link; with 0, nothing is compensated. Mass and
    inertia do not change.
    """
    if share == "description":
        shares = {link.name: link.gravcomp for link in self.links}
    elif isinstance(share, Mapping):
        shares = {self.link(name).name: float(x) for name, x in share.items()}
    else:
        shares = dict.fromkeys(self.link_names, float(share))
    if not all(map(math.isfinite, shares.values())):
        raise ValueError(
            f"the compensated share of a weight must be a finite number, got {share!r}"
        )
    links = (replace(link, borne=shares.get(link.name, link.borne)) for link in self.links)
    return replace(_with_chosen_forces(self, gravcomp=share), links=tuple(links))


def with_limits(
    self: Robot,
    joint: str,
    *,
    lower: float | None = None,
    upper: float | None = None,
    velocity: float | None = None,
    effort: float | None = None,
) -> Robot:
    """The same robot with other limits of a joint, or of its first axis if it has two [rad or m;
    rad/s or m/s; N·m or N]. Limits that are not given stay."""
    bounds = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
    if not self.joint(joint).kind.nv:
        raise ValueError(
            f'joint "{joint}" of {self.name} is fixed; limits belong to a moving joint'
        )
    joints = [_limit_joint(each, bounds) if each.name == joint else each for each in self.joints]
    return rebuild(self, self.links, joints)


def with_configuration(self: Robot, name: str, q: Any) -> Robot:
    """The same robot with a named configuration; one that has this name already is replaced.

    q: (nq,) [rad, m], or coordinates by joint name (a free base's under "floating_base"), neutral
    for joints that are not named. Quaternions may be of any length. Limits are not checked.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"a configuration needs a name, got {name!r}")
    for joint in q if isinstance(q, Mapping) else ():
        look_up(self.coordinates, joint, "moving joint", self.name)
    at = coordinates_at(self, self.moving_joints, q, what="q")
    made = Configuration(name, tuple((joint, tuple(x)) for joint, x in at.items()))
    others = {c.name: c for c in self.named}
    return replace(self, named=tuple({**others, name: made}.values()))


def _by_joint(
    self: Structure, what: str, asked: PerJoint | str, applies: Callable[[Joint], bool]
) -> dict[str, float]:
    """Values by joint name. One value for all goes to the joints that have coordinates and for
    which `applies` is true."""
    values: Mapping[str, Any] = {}
    if isinstance(asked, Mapping):
        values = asked
    elif asked is not None and np.ndim(asked):
        raise TypeError(
            f"{what} of {self.name} must be one number, or numbers by joint name, such as "
            f"{{{self.moving_joints[0].name!r}: 0.1}}; got {asked}"
        )
    elif asked is not None:
        independent = [j for j in self.joints if j.kind.nv and j.mimic is None]
        values = dict.fromkeys((j.name for j in independent if applies(j)), asked)
    for name, value in values.items():
        if not self.joint(name).kind.nv:
            raise ValueError(
                f'joint "{name}" of {self.name} is fixed; {what} belongs to a moving joint'
            )
        if isinstance(value, str) or not not_negative(value):
            raise ValueError(
                f'{what} of joint "{name}" must be finite and not negative, got {value!r}'
            )
    return {name: float(value) for name, value in values.items()}


def _with_chosen_forces(self: Robot, **asked: PerJoint | str) -> Robot:
    """The same robot with a record of the kinds of forces that are asked for, with any numbers."""
    named = {kind for kind, x in asked.items() if not isinstance(x, Mapping) or x}
    kinds = {kind for kind in named if asked[kind] is not None}
    return replace(self, chosen_forces=self.chosen_forces | kinds)


def _with_effects(self: Robot, **values: Mapping[str, float | Sequence[float]]) -> Robot:
    """Set each effect by joint name: one value for all coordinates of a joint, or one for each."""

    def change_joint(joint: Joint) -> Joint:
        each: dict[str, Sequence[float] | None] = {}
        for effect, by_name in values.items():
            value = by_name.get(joint.name)
            each[effect] = (value,) * joint.kind.nv if isinstance(value, float) else value
        return joint.with_effects(**each)

    return replace(self, joints=tuple(change_joint(joint) for joint in self.joints))


def _limit_joint(joint: Joint, bounds: Mapping[str, float | None]) -> Joint:
    """The joint with those bounds that are not None."""
    changed = {name: float(value) for name, value in bounds.items() if value is not None}
    limits = replace(joint.limits, **changed)
    if (
        any(map(math.isnan, changed.values()))
        or limits.lower > limits.upper
        or min(limits.velocity, limits.effort) < 0
    ):
        raise ValueError(
            f'limits of joint "{joint.name}" need lower <= upper, velocity and effort not negative; '
            f"got {limits}"
        )
    return replace(joint, limits=limits)


# Links.


def with_payload(
    self: Robot, link: str, mass: float, com: ArrayLike = ORIGIN, inertia: ArrayLike = ZERO3
) -> Robot:
    """The same robot with a load on `link`: mass [kg], com in the link frame [m], inertia about it
    [kg·m²]. A link whose weight is compensated in the dynamics is refused. A share that is only
    described (`gravcomp`) then covers the load too, as it does for the mass of a body in MuJoCo.

    >>> model = wd.load_robot("panda")
    >>> loaded = model.with_payload("panda_hand", mass=2.0, com=(0, 0, 0.1))
    >>> np.allclose(loaded.total_mass, model.total_mass + 2.0)
    True
    """
    carrier = self.link(link)
    load = Link("payload", *rigid_body("a payload", mass, com, inertia), gravcomp=carrier.gravcomp)
    return _with_link(self, weld_links(carrier, load))


def with_link_mass(self: Robot, link: str, mass: float) -> Robot:
    """The same robot with another mass of a link [kg]; com and inertia about the com stay."""
    old = self.link(link)
    return _with_body(self, old, mass, old.com, old.inertia)


def with_link_inertia(self: Robot, link: str, inertia: Any, com: Any = None) -> Robot:
    """The same robot with another inertia of a link, (3, 3) about its com in its axes [kg·m²], and
    another com [m] if one is given. Its mass stays."""
    old = self.link(link)
    return _with_body(self, old, old.mass, old.com if com is None else com, inertia)


def _with_body(self: Robot, link: Link, mass: Any, com: Any, inertia: Any) -> Robot:
    mass, com, inertia = rigid_body(f'link "{link.name}"', mass, com, inertia)
    return _with_link(self, replace(link, mass=mass, com=com, inertia=inertia))


def _with_link(self: Robot, link: Link) -> Robot:
    """The same robot with the link of this name replaced."""
    links = [link if each.name == link.name else each for each in self.links]
    return rebuild(self, links, self.joints)
