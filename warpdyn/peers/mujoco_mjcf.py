"""An MJCF file in MuJoCo's own reading, and the mapping of its joints and frames to the model's.

Everything that adds nothing to M q'' + h = tau is left out: shapes of bodies whose inertia is
written, sensors, actuators, tendons without armature, contacts, and constraints except those
between joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..model.description import Joint
from ..model.joints import FLOATING
from .peer import NotComparable

LEFT_OUT = (
    "sensors",
    "actuators",
    "excludes",
    "pairs",
    "keys",
    "tuples",
    "skins",
    "flexes",
    "materials",
    "textures",
)
"""Lists of a specification that are emptied."""


def bare_spec(mujoco: Any, path: Path, model: Model) -> Any:
    """MuJoCo's specification of the file, without parts that add nothing, with the model's base."""
    spec = mujoco.MjSpec.from_file(str(path.resolve()))
    for shape in (*spec.geoms, *spec.sites):
        shape.material = ""
    for what in LEFT_OUT:
        for element in list(getattr(spec, what)):
            spec.delete(element)
    for element in list(spec.equalities):
        if element.type != mujoco.mjtEq.mjEQ_JOINT:
            spec.delete(element)
    for tendon in list(spec.tendons):
        if not tendon.armature:
            spec.delete(tendon)
    _delete_shapes(mujoco, spec)
    free = [j for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    if model.floating_base and not free:
        spec.worldbody.first_body().add_freejoint().name = model.base_joint
    elif not any(joint.kind is FLOATING for joint in model.moving_joints):
        for joint in free:  # held at their bodies' poses in the file
            spec.delete(joint)
    return spec


def _delete_shapes(mujoco: Any, spec: Any) -> None:
    """Delete geoms that no inertia and no tendon needs, and meshes and height fields that no geom
    needs then."""
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    for body in spec.bodies:
        written = body.explicitinertial and not from_geoms
        for geom in list(body.geoms):
            if (written and not spec.tendons) or geom.hfieldname:
                spec.delete(geom)
    weighed = {geom.meshname for body in spec.bodies for geom in body.geoms}
    for element in (*spec.hfields, *(mesh for mesh in spec.meshes if mesh.name not in weighed)):
        spec.delete(element)


def joint_numbers(robot: Any, model: Model) -> dict[str, int]:
    """MuJoCo's index of each joint of the model; by order if the file has no name."""
    named = {robot.joint(i).name: i for i in range(robot.njnt) if robot.joint(i).name}
    numbers = {joint.name: named[joint.name] for joint in model.joints if joint.name in named}
    moving = (joint for joint in model.joints if joint.kind.nv and joint.name not in named)
    nameless = [i for i in range(robot.njnt) if not robot.joint(i).name]
    if model.floating_base:
        numbers[model.base_joint] = 0
        nameless = [i for i in nameless if i]
    numbers |= dict(zip((joint.name for joint in moving), nameless, strict=False))
    for joint in (j for j in model.moving_joints if j.name in numbers):
        number = numbers[joint.name]
        size = {0: 6, 1: 3, 2: 1, 3: 1}[int(robot.jnt_type[number])]
        if size != joint.kind.nv:
            raise NotComparable(f'MuJoCo has another kind of joint than "{joint.name}"')
    return numbers


def frame_numbers(robot: Any, model: Model) -> dict[str, tuple[bool, int]]:
    """A flag and an index for each link that MuJoCo has: True for a site, and its index there.

    Links between several joints of a body exist in the model only.
    """
    bodies = {robot.body(i).name: i for i in range(robot.nbody) if robot.body(i).name}
    sites = {robot.site(i).name: i for i in range(robot.nsite) if robot.site(i).name}
    frames = {name: (False, bodies[name]) for name in model.link_names if name in bodies}
    unknown = []
    for link in (each for each in model.link_names if each not in frames):
        joint = model.parent_joint(link)
        site = link if link in sites else link.removesuffix("_site")
        if site in sites and joint is not None and joint.name == f"{link}_joint":
            frames[link] = True, sites[site]
        elif joint is None or not _between(link, joint):
            unknown.append(link)
    nameless = [i for i in range(1, robot.nbody) if not robot.body(i).name]
    if len(unknown) == len(nameless):
        frames |= {link: (False, i) for link, i in zip(unknown, nameless, strict=True)}
    return frames


def _between(link: str, joint: Joint) -> bool:
    return joint.kind.nv > 0 and link.endswith(f":{joint.name}")


def held_positions(
    robot: Any, numbers: dict[str, int], model: Model
) -> Iterator[tuple[str, int, float]]:
    """Name, address in qpos and value of each joint that MuJoCo's constraints hold still."""
    constraints = {
        int(robot.eq_obj1id[i]): (int(robot.eq_obj2id[i]), np.array(robot.eq_data[i][:5]))
        for i in range(robot.neq)
        if robot.eq_active0[i]
    }

    def position(number: int) -> float:
        leader, c = constraints.get(number, (-1, np.zeros(5)))
        start = robot.qpos0[robot.jnt_qposadr[number]]
        if leader < 0:
            return float(start + c[0])
        moved = position(leader) - robot.qpos0[robot.jnt_qposadr[leader]]
        return float(start + np.polynomial.polynomial.polyval(moved, c))

    for joint in model.joints:
        if joint.name in numbers and not joint.kind.nv:
            number = numbers[joint.name]
            yield joint.name, int(robot.jnt_qposadr[number]), position(number)
