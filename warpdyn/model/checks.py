"""Checks of links and joints: one tree of valid bodies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.scalar import as_number
from ..algebra.spatial import Vector
from .description import Geometry, Joint, Link
from .joints import JointKind
from .names import ModelError
from .poses_and_limits import (
    MOST,
    ORIGIN,
    PERPENDICULAR,
    UNLIMITED,
    ZERO3,
    Matrix3,
    Pose,
    Vector3,
    matrix3,
    vector3,
)

ROUNDING = 1e-3
"""Share of the largest principal moment by which an inertia may violate the laws of physics: files
write 3 digits."""

SKEW = 1e-9
"""Largest asymmetry of an inertia matrix, relative to its largest entry."""

NEGLIGIBLE = 1e-12
"""Moment of inertia [kg·m²] that is too small to check: a milligram at a millimetre, as
descriptions give to dummy links."""

COUNTS_OF_SIZES = {
    "box": (3,),
    "cylinder": (2,),
    "sphere": (1,),
    "capsule": (2,),
    "ellipsoid": (3,),
    "mesh": (0, 3),
    "plane": (0, 2),
}
"""The numbers of sizes that a shape may have, by its kind."""

NEEDS_MASS = "needs a finite mass that is not negative"
"""The message for a link or a payload whose mass is negative or not finite."""


def check_description(source: str, links: Sequence[Link], joints: Sequence[Joint]) -> None:
    """Refuse links and joints that cannot form a tree of bodies."""
    if not links:
        raise ModelError(f"{source}: there is no link; a robot needs at least one <link>")
    for what, names in (("link", [k.name for k in links]), ("joint", [j.name for j in joints])):
        if (twice := first_repeated(names)) is not None:
            raise ModelError(
                f'{source}: two {what}s are named "{twice}"; give each {what} its own name'
            )
    # Magnitudes are bounded too, because products of larger numbers may overflow.
    for link in links:
        numbers = (link.mass, *link.com, *(x for row in link.inertia for x in row))
        if not finite(numbers):
            raise ModelError(
                f'{source}: link "{link.name}": inertial values must be finite numbers, got {numbers}'
            )
        if max(map(abs, numbers)) > MOST:
            raise ModelError(
                f'{source}: link "{link.name}": inertial values must be at most {MOST:g} kg, m and kg·m², '
                f"got {numbers}"
            )
        if link.mass < 0:
            raise ModelError(
                f'{source}: link "{link.name}": mass is {link.mass:g} kg; it must not be negative'
            )
    known = {link.name for link in links}
    carried: dict[str, str] = {}
    for joint in joints:
        where = f'{source}: joint "{joint.name}"'
        for role, link_name in (("parent", joint.parent), ("child", joint.child)):
            if link_name not in known:
                raise ModelError(
                    f'{where}: its {role} link "{link_name}" does not exist; add the link or correct the name'
                )
        if joint.child in carried:
            raise ModelError(
                f'{where}: link "{joint.child}" is already the child of joint '
                f'"{carried[joint.child]}"; a link has one parent joint: remove one of the two, or '
                "close the loop by a constraint (ModelBuilder.hinge, connect or weld)"
            )
        carried[joint.child] = joint.name
        _check_joint(where, joint)
    check_mimics(source, joints)


def _check_joint(where: str, joint: Joint) -> None:
    numbers = (*joint.pose.position, *(x for row in joint.pose.rotation for x in row))
    if not finite(numbers):
        raise ModelError(f"{where}: its origin must be finite numbers, got {joint.pose.position}")
    if max(map(abs, joint.pose.position)) > MOST:
        raise ModelError(
            f"{where}: its origin must be within {MOST:g} m of its parent's, got {joint.pose.position}"
        )
    kind = joint.kind
    for name in kind.axis_names:
        _check_axis(where, name, kind, getattr(joint, name))
    if kind.geared and joint.axis2 is not None:
        _check_axis(where, "axis2", kind, joint.axis2)
    if not kind.series:
        _refuse_second_axis(where, joint)
    # Files round right angles, so that a small cosine is accepted.
    leaning = as_number(Vector(*joint.axes[0]).dot(Vector(*joint.axes[-1])))
    if kind.perpendicular and abs(leaning) > PERPENDICULAR:
        raise ModelError(
            f"{where}: the two axes of a {kind.name} joint must be perpendicular, but the cosine between them is "
            f"{leaning:.3g}; correct them, or use the kind that takes any two axes"
        )
    if not math.isfinite(joint.pitch) or (joint.pitch and not kind.threaded):
        raise ModelError(
            f"{where}: pitch is {joint.pitch}; it must be finite, and only a screw has one"
        )
    if not not_negative(joint.armature):
        raise ModelError(
            f"{where}: armature is {joint.armature}; it must be finite and not negative"
        )


def _check_axis(where: str, what: str, kind: JointKind, axis: Vector3 | None) -> None:
    if axis is None:
        raise ModelError(f"{where}: it has no {what}; a {kind.name} joint needs two axes")
    norm = math.hypot(*axis)
    if not math.isfinite(norm) or abs(norm - 1.0) > 1e-9:
        numbers = ", ".join(f"{x:g}" for x in axis)
        needed = "a unit" if 0.0 < norm < math.inf else "a non-zero"
        raise ModelError(
            f"{where}: {what} is ({numbers}); a {kind.name} joint needs {needed} {what}"
        )


def _refuse_second_axis(where: str, joint: Joint) -> None:
    """Raise if a joint of one axis has fields that only other kinds read."""
    kind = joint.kind
    fields = {
        "axis2": joint.axis2 is not None and not kind.geared,
        "limits2": joint.limits2 != UNLIMITED,
        "damping2": joint.damping2 != 0.0,
        "friction2": joint.friction2 != 0.0,
        "gearbox": joint.gearbox is not None and not kind.geared,
    }
    for name, is_given in fields.items():
        if is_given:
            owner = "a gearbox joint" if name == "gearbox" else "a universal or revolute2 joint"
            raise ModelError(
                f"{where}: {name} is for {owner}, and this joint is {kind.name}; leave it out"
            )


def check_mimics(source: str, joints: Sequence[Joint]) -> None:
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if (
            joint.mimic is None or not joint.kind.nv
        ):  # real files leave <mimic> on joints that they fixed
            continue
        where = f'{source}: joint "{joint.name}"'
        if not joint.kind.single:
            raise ModelError(
                f"{where}: a {joint.kind.name} joint cannot mimic another; only joints of one coordinate can"
            )
        if not finite((joint.mimic.multiplier, joint.mimic.offset)):
            raise ModelError(f"{where}: mimic multiplier and offset must be finite numbers")
        seen, target = [joint.name], joint
        while target.mimic is not None:
            followed = target.mimic.joint
            if followed not in by_name:
                raise ModelError(
                    f'{where}: it mimics "{followed}", which does not exist; correct the name or remove <mimic>'
                )
            if followed in seen:
                raise ModelError(
                    f"{where}: mimic joints follow each other in a cycle: {' -> '.join([*seen, followed])}"
                )
            seen.append(followed)
            target = by_name[followed]
        if not target.kind.single:
            raise ModelError(
                f'{where}: it mimics "{target.name}", a {target.kind.name} joint; '
                "only joints of one coordinate can be followed"
            )


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs twice or more, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def finite(numbers: Iterable[float]) -> bool:
    """True if all of them are finite numbers. None and text are not."""
    try:
        return all(map(math.isfinite, numbers))
    except TypeError:
        return False


def not_negative(number: float) -> bool:
    """True if the number is finite and not negative."""
    return finite([number]) and number >= 0


def rigid_body(what: str, mass: Any, com: Any, inertia: Any) -> tuple[float, Vector3, Matrix3]:
    """Mass [kg], com [m] and inertia about it [kg·m²] as plain numbers, refused if no rigid body
    can have them."""
    try:
        m, c, J = float(mass), vector3(com), matrix3(inertia)
    except (TypeError, ValueError):
        m, c, J = math.nan, ORIGIN, ZERO3
    entries = [x for row in J for x in row]
    if not (not_negative(m) and finite((*c, *entries))):
        raise ValueError(
            f"{what} {NEEDS_MASS}, a finite com (3,) and inertia (3, 3); "
            f"got {mass} kg at {com} with {inertia}"
        )
    largest = max(map(abs, entries))
    if any(abs(J[i][k] - J[k][i]) > SKEW * largest for i in range(3) for k in range(i)):
        raise ValueError(f"the inertia of {what} must be symmetric, got {inertia}")
    if largest > NEGLIGIBLE:
        least = float(np.linalg.eigvalsh(np.array(J) / largest)[0])
        if least < -ROUNDING:
            raise ValueError(
                f"the inertia of {what} has a negative principal moment, {least * largest:.3g} kg·m², "
                f"which no body has; got {inertia}"
            )
    return m, c, J


def checked_shapes(where: str, shapes: Sequence[Geometry]) -> tuple[Geometry, ...]:
    """Shapes that a user gives a link, with their sizes as floats. Refused if they are not shapes,
    or if a size or a pose is wrong."""
    if isinstance(shapes, Geometry):
        raise ModelError(
            f"{where}: visuals and collisions are lists of shapes; got one {shapes.shape} instead of "
            "a list of it"
        )
    checked = []
    for shape in shapes:
        if not isinstance(shape, Geometry):
            raise ModelError(
                f"{where}: a shape is a wd.description.Geometry, such as "
                f'Geometry("box", (0.1, 0.1, 0.1)); got {shape!r}'
            )
        if shape.shape not in COUNTS_OF_SIZES:
            raise ModelError(
                f'{where}: there is no shape "{shape.shape}"; choose one of '
                f"{', '.join(COUNTS_OF_SIZES)}"
            )
        counts, numbers = COUNTS_OF_SIZES[shape.shape], tuple(np.ravel(shape.size).tolist())
        least = -math.inf if shape.shape == "mesh" else 0.0  # a negative scale mirrors a mesh
        if len(numbers) not in counts or not (
            finite(numbers) and min(numbers, default=0.0) >= least
        ):
            kind = "finite" if shape.shape == "mesh" else "finite and not negative"
            sizes = "size" if counts == (1,) else "sizes"
            raise ModelError(
                f"{where}: a {shape.shape} has {' or '.join(map(str, counts))} {sizes}, {kind} (see "
                f"wd.description.Geometry); got {shape.size!r}"
            )
        if not isinstance(shape.pose, Pose):
            raise ModelError(
                f"{where}: the pose of a {shape.shape} is a wd.description.Pose, such as "
                f"Pose.at((0, 0, 0.1)); got {shape.pose!r}"
            )
        if not (shape.filename is None or isinstance(shape.filename, str)):
            raise ModelError(
                f"{where}: the third argument of Geometry is the file name of a mesh, a string; got "
                f"{shape.filename!r}. A pose is given as pose=..."
            )
        checked.append(replace(shape, size=tuple(map(float, numbers))))
    return tuple(checked)


def find_root(source: str, links: Sequence[Link], joints: Sequence[Joint]) -> str:
    """The one link that no joint carries. Every other link must descend from it."""
    carried = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in carried]
    if len(roots) > 1:
        shown = ", ".join(f'"{name}"' for name in roots[:5])
        raise ModelError(
            f"{source}: {len(roots)} links have no parent joint ({shown}); connect them, there must be one root"
        )
    parents = {joint.child: joint.parent for joint in joints}
    hanging = set(roots)
    for link in links:
        chain, name = set[str](), link.name
        while name not in hanging:
            if name in chain:
                raise ModelError(
                    f'{source}: the joints form a closed loop through link "{name}"; a robot must be a tree'
                )
            chain.add(name)
            name = parents[name]
        hanging |= chain
    return roots[0]
