"""Joints of a USD stage: their two bodies, their degrees of freedom, each with its range and its
drive, and the loops that some of them close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.spatial import Placement
from ...model.closed_loops.loop import Loop, loop_of_joint
from ...model.description import Joint
from ...model.joints import KINDS
from ...model.poses_and_limits import Limits, Pose
from .usd_values import UsdValues
from .usd_words import FREEDOMS

SECOND = "its second body carries its first; exchange its bodies and their frames"


@dataclass(frozen=True, eq=False)
class Between:
    """A joint prim between two bodies (paths; "" is the world), with its frame in each [m]."""

    prim: Any
    bodies: tuple[str, str]
    frames: tuple[np.ndarray, np.ndarray]

    def ends(self, names: Mapping[str, str]) -> list[tuple[str | None, Placement]]:
        """Its links by name, None for the world, and its frame in each."""
        pairs = zip(self.bodies, self.frames, strict=True)
        return [(names[body] if body else None, Pose.of(X).placement) for body, X in pairs]

    def beyond(self, body: str) -> str:
        return self.bodies[1] if body == self.bodies[0] else self.bodies[0]


def freedoms_of(
    values: UsdValues, physics: Any, prim: Any, turned: bool
) -> Iterator[tuple[str, Joint]]:
    """A joint record for each degree of freedom, whose name and place are not set yet. A joint that
    is traversed from its second body turns the other way."""
    if prim.IsA(physics.FixedJoint):
        return
    if prim.IsA(physics.SphericalJoint):
        yield "ball", _ball(values, prim, turned)
        return
    simple = prim.IsA(physics.RevoluteJoint) or prim.IsA(physics.PrismaticJoint)
    free = _ranges(values, physics, prim)
    turning = [f for f, *_ in free if f.startswith("rot")]
    bounds = [x for _, *ends in free for x in ends if x is not None]
    # Three unlimited rotations are a ball joint, which has no singular orientation.
    if len(turning) == len(free) == 3 and not np.isfinite(bounds).any():
        yield "ball", _ball(values, prim, turned)
        return
    if turned and len(free) > 1:
        raise values.refusal(prim, SECOND)
    if len(turning) > 1:
        values.remarks.append(
            f"{prim.GetPath()}: it turns about several axes; taken one after the other, "
            f"{', '.join(turning)}, as Newton does"
        )
    for freedom, *ends in free:
        drive = freedom
        if simple:
            drive = "angular" if turning else "linear"
        yield freedom, values.along_axis(prim, freedom, ends, drive, -1.0 if turned else 1.0)


def loop_between(
    values: UsdValues, physics: Any, joint: Between, names: Mapping[str, str], name: str
) -> Loop | None:
    """The loop that a joint closes between two links; None if loops have no such kind."""
    freedoms = [each for _, each in freedoms_of(values, physics, joint.prim, False)]
    if len(freedoms) > 1:
        return None
    kind, axis = KINDS["fixed"], Joint.axis
    if freedoms:
        kind, axis = freedoms[0].kind, freedoms[0].axis
    return loop_of_joint(name, kind, axis, joint.ends(names))


def _ranges(values: UsdValues, physics: Any, prim: Any) -> list[tuple[str, Any, Any]]:
    """The degrees of freedom of a joint that are not locked, with their ranges."""
    turns = prim.IsA(physics.RevoluteJoint)
    if turns or prim.IsA(physics.PrismaticJoint):
        axis = str(values.value(prim, "physics:axis") or "X")
        lower, upper = (values.value(prim, f"physics:{end}Limit") for end in ("lower", "upper"))
        return [(("rot" if turns else "trans") + axis, lower, upper)]
    if prim.GetTypeName() == "PhysicsJoint":
        return [each for f in FREEDOMS for each in _range(physics, prim, f)]
    raise values.refusal(prim, f"a {prim.GetTypeName()} is not supported as a joint of a robot")


def _range(physics: Any, prim: Any, freedom: str) -> Iterator[tuple[str, Any, Any]]:
    """A degree of freedom of a generic joint with its range; nothing if the range locks it."""
    lower, upper = None, None
    if prim.HasAPI(physics.LimitAPI, freedom):
        limit = physics.LimitAPI(prim, freedom)
        lower, upper = limit.GetLowAttr().Get(), limit.GetHighAttr().Get()
    if lower is None or upper is None or lower <= upper:
        yield freedom, lower, upper


def _ball(values: UsdValues, prim: Any, turned: bool) -> Joint:
    if turned:
        raise values.refusal(prim, SECOND)
    cones = (values.value(prim, f"physics:coneAngle{k}Limit") for k in (0, 1))
    if any(cone is not None and 0 <= cone < np.inf for cone in cones):
        values.remarks.append(f"{prim.GetPath()}: limits of a ball joint are left out")
    return Joint("", KINDS["ball"], "", "", limits=Limits())
