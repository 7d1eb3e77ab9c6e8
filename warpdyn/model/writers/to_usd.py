"""A robot as the text of a USD stage, written in the UsdPhysics schemas."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.scalar import as_number
from ...algebra.spatial import HERE, Placement, Rotation, Vector, as_matrix
from ..description import Geometry, Joint, Link
from ..joints import JointKind
from ..names import ModelError
from ..restructure import collapse
from ..structure import Robot
from .left_out import WITHOUT_EFFECTS, refuse_forces, warn_of_left_out

SHAPES = {"box": "Cube", "sphere": "Sphere", "cylinder": "Cylinder", "capsule": "Capsule"}

WORLD = "world"
"""The name that readers give to the root of a fixed robot. No body has it."""

HEAD = """#usda 1.0
(
    defaultPrim = "{name}"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)

def Xform "{name}" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
)
{{
"""


def to_usd(self: Robot) -> str:
    """The text of a USD stage (.usda) of this robot: bodies, joints, limits, mimic joints,
    armature, damping, friction and shapes, as an articulation of UsdPhysics, with Newton's schemas
    for everything that UsdPhysics cannot express.

    Links on fixed joints are merged into those that carry them (`collapse`), meshes are left out,
    and names are changed to valid USD names. Joint and mass numbers have single precision in
    USD. Bodies are placed at the zero position of all joints. Raises ModelError, naming the joint
    or link, for anything in the dynamics that USD cannot express: other kinds of joints, joint
    effects, moving bodies without mass; and for closed loops. Warns of springs, tendons, actuators
    and shapes that it leaves out. Configurations, and contact numbers of shapes, are left out too.

    >>> text = wd.load_robot("panda").to_usd()
    >>> wd.load_usd(text).nv
    8
    """
    refuse_forces(self, "this writer of USD")
    balls = [j.name for j in self.joints if not j.kind.has_axis and (j.damping or j.friction)]
    warn_of_left_out(self, "USD", SHAPES, {"damping and friction": balls})
    robot = collapse(self)
    paths = _prim_names([link.name for link in robot.links] + [j.name for j in robot.joints])
    link_names = dict(zip(robot.link_names, paths, strict=False))
    names = {j.name: p for j, p in zip(robot.joints, paths[len(robot.links) :], strict=True)}
    (title,) = _prim_names([robot.name])
    held = not robot.floating_base
    ground = held and not robot.links[0].mass
    places: dict[str, Placement] = {robot.root: HERE}
    parts: list[str] = []
    for joint in robot.joints:  # parents come first
        pose = joint.pose.placement
        places[joint.child] = places[joint.parent].compose(pose).as_matrix()
    for link in robot.links[int(ground) :]:
        parts.append(_body(robot, link, link_names[link.name], places[link.name]))
    ends = {name: f"</{title}/{path}>" for name, path in link_names.items()}
    if ground:
        ends[robot.root] = ""
    elif held:
        weld = _prim(
            "PhysicsFixedJoint", "held_in_the_world", [f"rel physics:body1 = {ends[robot.root]}"]
        )
        parts.append(weld)
    for joint in robot.joints:
        parts.append(_joint(robot, joint, names, ends, title))
    inside = "".join(f"    {line}\n" for part in parts for line in part.splitlines())
    return f"{HEAD.format(name=title)}{inside}}}\n"


def _prim_names(names: Sequence[str]) -> list[str]:
    """Unique names that USD allows."""
    made: dict[str, None] = {}
    for name in names:
        path = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
        path = f"_{path}" if path[0].isdigit() else path
        while path in made or path == WORLD:
            path += "_"
        made[path] = None
    return list(made)


def _prim(kind: str, name: str, inside: Iterable[str], apis: Sequence[str] = ()) -> str:
    listed = ", ".join(f'"{api}"' for api in apis)
    head = f" (\n    prepend apiSchemas = [{listed}]\n)" if apis else ""
    lines = "".join(f"    {line}\n" for part in inside for line in part.splitlines())
    return f'def {kind} "{name}"{head}\n{{\n{lines}}}\n'


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(repr(float(x) + 0.0) for x in values)})"


def _quaternion(R: Rotation) -> str:
    """A quaternion with w first, as USD writes it."""
    x, y, z, w = (float(as_number(each)) for each in rotation_quaternion(R))
    return _numbers((w, x, y, z))


def _prim_placement(X: Placement, *more: str) -> Iterator[str]:
    """The placement of a prim in its parent prim."""
    yield f"double3 xformOp:translate = {_numbers(map(as_number, X.p))}"
    yield f"quatd xformOp:orient = {_quaternion(as_matrix(X.R))}"
    yield from more
    ops = ["translate", "orient", *(["scale"] if more else [])]
    listed = ", ".join(f'"xformOp:{op}"' for op in ops)
    yield f"uniform token[] xformOpOrder = [{listed}]"


# Bodies.


def _body(robot: Robot, link: Link, name: str, X: Placement) -> str:
    moments, axes = np.linalg.eigh(np.array(link.inertia, dtype=float))
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    if not link.mass or not moments.any():
        what = "inertia" if link.mass else "mass"
        raise ModelError(
            f'{robot.name}: link "{link.name}" has no {what}, and readers of USD compute one from its '
            f"shapes if it is 0; give it one (with_link_{what})"
        )
    turn = Rotation([Vector(*row) for row in axes.tolist()])
    weight = (
        f"float physics:mass = {link.mass!r}",
        f"point3f physics:centerOfMass = {_numbers(link.com)}",
        f"float3 physics:diagonalInertia = {_numbers(moments)}",
        f"quatf physics:principalAxes = {_quaternion(turn)}",
    )
    apis = ("PhysicsRigidBodyAPI", "PhysicsMassAPI")
    return _prim("Xform", name, [*_prim_placement(X), *weight, *_shapes(link)], apis)


def _shapes(link: Link) -> Iterator[str]:
    """Visual and collision shapes; a shape that is both is written once."""
    both = [shape for shape in link.collisions if shape in link.visuals]
    only = [shape for shape in link.collisions if shape not in link.visuals]
    for k, shape in enumerate((*link.visuals, *only)):
        if shape.shape in SHAPES:
            yield _shape(
                shape, f"shape{k}", shape in both or k >= len(link.visuals), k < len(link.visuals)
            )


def _shape(shape: Geometry, name: str, touches: bool, shown: bool) -> str:
    lines: list[str] = []
    scale: tuple[str, ...] = ()
    if shape.shape == "box":
        lines, scale = ["double size = 1"], (f"float3 xformOp:scale = {_numbers(shape.size)}",)
    else:
        lines = [f"double radius = {shape.size[0]!r}"]
        if shape.shape != "sphere":
            lines += [f"double height = {shape.size[1]!r}", 'uniform token axis = "Z"']
    if not shown:
        lines.append('uniform token purpose = "guide"')
    if shape.color is not None:
        lines.append(f"color3f[] primvars:displayColor = [{_numbers(shape.color[:3])}]")
    inside = [*lines, *_prim_placement(shape.pose.placement, *scale)]
    return _prim(SHAPES[shape.shape], name, inside, ["PhysicsCollisionAPI"] if touches else ())


# Joints.


def _joint(
    robot: Robot, joint: Joint, names: Mapping[str, str], ends: Mapping[str, str], title: str
) -> str:
    kind, where = joint.kind, f'{robot.name}: joint "{joint.name}"'
    word = prim_of(kind)
    if word is None:
        raise ModelError(
            f"{where}: USD cannot express a {kind.name} joint; it has joints about or along one "
            "axis, and ball joints"
        )
    if joint.effects:
        raise ModelError(
            f"{where}: USD cannot express friction and springs that act in the dynamics; "
            f"{WITHOUT_EFFECTS}"
        )
    if not kind.has_axis and joint.armature:
        raise ModelError(
            f"{where}: to_usd does not write the armature of a {kind.name} joint; "
            "with_armature(0) removes it"
        )
    # UsdPhysics knows the axes X, Y and Z only, so both frames of the joint are turned to bring its
    # axis onto X.
    turn = _onto_x(joint.axis) if kind.has_axis else HERE
    lines: list[str] = []
    apis: list[str] = []
    for k, (body, X) in enumerate(
        ((joint.parent, joint.pose.placement.compose(turn).as_matrix()), (joint.child, turn))
    ):
        lines += [f"rel physics:body{k} = {ends[body]}"] if ends[body] else []
        lines.append(f"point3f physics:localPos{k} = {_numbers(map(as_number, X.p))}")
        lines.append(f"quatf physics:localRot{k} = {_quaternion(as_matrix(X.R))}")
    if kind.has_axis:
        lines.append('uniform token physics:axis = "X"')
        along, apis = _along(joint, kind)
        lines += along
    if joint.mimic is not None:
        apis.append("NewtonMimicAPI")
        unit = 180 / math.pi if kind.turns else 1.0
        lines.append(f"rel newton:mimicJoint = </{title}/{names[joint.mimic.joint]}>")
        lines.append(f"float newton:mimicCoef0 = {joint.mimic.offset * unit!r}")
        lines.append(f"float newton:mimicCoef1 = {joint.mimic.multiplier!r}")
    return _prim(word, names[joint.name], lines, apis)


def prim_of(kind: JointKind) -> str | None:
    """The prim type for this joint kind; None if UsdPhysics has none."""
    if kind.single and kind.has_axis and not kind.threaded:
        return "PhysicsRevoluteJoint" if kind.turns else "PhysicsPrismaticJoint"
    return "PhysicsSphericalJoint" if kind.quaternion == 0 else None


def _along(joint: Joint, kind: JointKind) -> tuple[list[str], list[str]]:
    """Limits, armature, damping and friction of a joint of one coordinate, and the schemas that
    they belong to; angles in degrees."""
    unit, drive = (180 / math.pi, "angular") if kind.turns else (1.0, "linear")
    limits = joint.limits
    said = {
        "physics:lowerLimit": limits.lower * unit,
        "physics:upperLimit": limits.upper * unit,
        "newton:velocityLimit": limits.velocity * unit,
        f"drive:{drive}:physics:maxForce": limits.effort,
    }
    lines = [f"float {key} = {x!r}" for key, x in said.items() if math.isfinite(x)]
    others = {
        "newton:armature": joint.armature,
        "newton:damping": joint.damping / unit,
        "newton:friction": joint.friction,
    }
    lines += [f"float {key} = {x!r}" for key, x in others.items() if x]
    return lines, [f"PhysicsDriveAPI:{drive}"] if math.isfinite(limits.effort) else []


def _onto_x(axis: Sequence[float]) -> Placement:
    """A turn that brings x onto a direction."""
    x = np.array(axis, dtype=float)
    y = np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
    y /= np.linalg.norm(y)
    rows = np.array([x, y, np.cross(x, y)]).T
    return Placement(Rotation([Vector(*row) for row in rows.tolist()]), Vector(0.0, 0.0, 0.0))
