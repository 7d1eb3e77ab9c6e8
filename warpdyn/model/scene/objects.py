"""Objects added to the world of a robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..assembly import rebuild
from ..checks import rigid_body
from ..description import Joint, Link
from ..joints import FLOATING
from ..named_configurations import Configuration
from ..names import ModelError
from ..poses_and_limits import ORIGIN, Pose
from ..structure import DRAWN, HOME, Robot, Structure
from .free_bodies import free_coordinates
from .solids import Solid, geometry_of

WORLD_LINK = "world"
"""Name of the link to which free bodies are joined."""


def with_object(
    self: Robot,
    name: str,
    shape: Solid,
    *,
    mass: float,
    pose: Any = ORIGIN,
    color: Sequence[float] | None = None,
) -> Robot:
    """The robot with one more body in its world, which moves freely: a link `name` on the floating
    joint "world_to_<name>". Its coordinates, the last ones, are its pose in the world.

    shape: a `Box`, `Sphere`, `Cylinder` or `Capsule` of `wd.description`, of uniform density. mass [kg].
    pose: in the world, where the object lies in every named configuration: a Pose, a 4x4 matrix,
    x y z, or x y z qx qy qz qw. A robot without "home" and "qpos0" gets "qpos0", in which its joints
    are neutral.
    color: red, green, blue, opacity in [0, 1].

    A robot with a floating base becomes a robot with the root "world" and the floating joint
    "floating_base"; its coordinates stay the first ones.
    """
    where = f'object "{name}"'
    link = _link(where, name, shape, mass, _color(where, color))
    try:
        place = Pose.of(pose)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{where}: {error}") from None
    robot = _in_world(self)
    joint = Joint(f"world_to_{name}", FLOATING, robot.root, name)
    for what, there, new in (
        ("link", robot.link_names, name),
        ("joint", [each.name for each in robot.joints], joint.name),
    ):
        if new in there:
            raise ModelError(f'{where}: {self.name} has a {what} "{new}"; choose another name')
    both = rebuild(robot, [*robot.links, link], [*robot.joints, joint])
    lies = Configuration("", ((joint.name, free_coordinates(place.placement)),))
    # Objects at the origin would lie inside the ground, so there is a configuration to start in.
    named = both.named
    if not {HOME, DRAWN} & {each.name for each in named}:
        named = (*named, Configuration(DRAWN, ()))
    return replace(both, named=tuple(each.join(lies) for each in named))


def _link(
    where: str,
    name: str,
    shape: Solid,
    mass: float,
    color: tuple[float, float, float, float] | None,
) -> Link:
    """The link of an object of uniform density; its visual shape is its collision shape."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"an object needs a name, got {name!r}")
    if not isinstance(shape, Solid):
        raise TypeError(
            f"{where}: its shape must be a Box, Sphere, Cylinder or Capsule of wd.description; got {shape!r}"
        )
    if not isinstance(mass, (int, float, np.number)) or not 0.0 < mass < math.inf:
        raise ValueError(f"{where}: its mass must be a number above 0 [kg]; got {mass!r}")
    drawn = geometry_of(shape, color)
    volume, moments = shape.moments
    body = rigid_body(where, mass, ORIGIN, np.diag(moments) * (mass / volume))
    return Link(name, *body, (drawn,), (drawn,))


def _color(where: str, color: Sequence[float] | None) -> tuple[float, float, float, float] | None:
    if color is None:
        return None
    try:
        numbers = tuple(map(float, color))
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) == 3:
        numbers = (*numbers, 1.0)
    if len(numbers) != 4 or not all(0.0 <= x <= 1.0 for x in numbers):
        raise ValueError(
            f"{where}: color must be red, green, blue, opacity in [0, 1]; got {color!r}"
        )
    return (numbers[0], numbers[1], numbers[2], numbers[3])


def _in_world(robot: Robot) -> Robot:
    """The robot with a root that is fixed in the world."""
    if not robot.floating_base:
        return robot
    if robot.base_velocity != "local":
        raise ModelError(
            f"{robot.name} has base velocities in the representation {robot.base_velocity!r}, which "
            'a world of several bodies does not have: model.with_base_velocity("local") first'
        )
    springs = robot.base_springs
    joint = Joint(
        robot.base_joint,
        FLOATING,
        _new_name(robot, WORLD_LINK),
        robot.root,
        armature=robot.base_armature,
        effects=robot.base_effects,
        spring=springs[0].spring if springs else 0.0,
        rest=tuple(each.rest for each in springs) if springs else 0.0,
    )
    freed = replace(robot, floating_base=False, base_armature=0.0, base_effects=(), base_springs=())
    return rebuild(freed, [Link(joint.parent), *robot.links], [joint, *robot.joints])


def _new_name(robot: Structure, name: str) -> str:
    """The name, or the first free one of name_2, name_3 and so on."""
    taken, number = set(robot.link_names), 2
    new = name
    while new in taken:
        new, number = f"{name}_{number}", number + 1
    return new
