"""USD stages as text for the tests of their reader."""

from __future__ import annotations


def stage(*parts: str, metre: float = 1.0, up: str = "Z", kilogram: float = 1.0) -> str:
    head = f'metersPerUnit = {metre}\nkilogramsPerUnit = {kilogram}\nupAxis = "{up}"'
    return f'#usda 1.0\n(\n{head}\ndefaultPrim = "robot"\n)\ndef Xform "robot"\n{{\n{"".join(parts)}}}\n'


def body(
    name: str,
    inside: str = "",
    mass: float | None = 1.0,
    moments: str = "1, 2, 2.5",
    root: bool = False,
) -> str:
    apis = [
        "PhysicsRigidBodyAPI",
        "PhysicsMassAPI",
        *(["PhysicsArticulationRootAPI"] if root else []),
    ]
    listed = ", ".join(f'"{api}"' for api in apis)
    weight = (
        ""
        if mass is None
        else (f"float physics:mass = {mass}\nfloat3 physics:diagonalInertia = ({moments})\n")
    )
    return f'def Xform "{name}" (\nprepend apiSchemas = [{listed}]\n)\n{{\n{weight}{inside}\n}}\n'


def at(x: float, y: float, z: float, orient: str = "1, 0, 0, 0") -> str:
    """The placement of a body."""
    return (
        f"double3 xformOp:translate = ({x}, {y}, {z})\nquatf xformOp:orient = ({orient})\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
    )


def joint(
    name: str,
    kind: str = "Revolute",
    bodies: tuple[str, str] = ("a", "b"),
    inside: str = "",
    apis: str = "",
    axis: str = "Z",
) -> str:
    """A joint between two bodies by name. "" is the world."""
    ends = "".join(
        f"rel physics:body{k} = </robot/{body}>\n" for k, body in enumerate(bodies) if body
    )
    head = f" (\nprepend apiSchemas = [{apis}]\n)" if apis else ""
    along = f'uniform token physics:axis = "{axis}"\n' if kind in ("Revolute", "Prismatic") else ""
    return f'def Physics{kind}Joint "{name}"{head}\n{{\n{ends}{along}{inside}\n}}\n'


def frames(
    place0: str = "0, 0, 0",
    place1: str = "0, 0, 0",
    turn0: str = "1, 0, 0, 0",
    turn1: str = "1, 0, 0, 0",
) -> str:
    """The joint's frame in each of its two bodies."""
    return (
        f"point3f physics:localPos0 = ({place0})\npoint3f physics:localPos1 = ({place1})\n"
        f"quatf physics:localRot0 = ({turn0})\nquatf physics:localRot1 = ({turn1})\n"
    )
