"""MJCF: the mass, centre of mass and inertia of bodies, from <inertial> or from their geoms.

MuJoCo itself weighs the geoms: a model with nothing but them and their meshes is compiled
in memory, so that every rule of a mesh's inertia (legacy, exact, convex, shell) is MuJoCo's own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from lxml import etree

from ...algebra.quaternions import quaternion_rotation
from ...algebra.scalar import Scalar, as_number
from ...algebra.spatial import HERE, ZERO, Placement, Rotation, Symmetric, Vector, as_matrix
from ...model.description import Link
from ...model.names import ModelError
from ...model.poses_and_limits import matrix3, vector3
from .mjcf_defaults import TURNS
from .mjcf_meshes import MjcfMeshes
from .mjcf_values import Attributes, Compiler, Element, MjcfValues

MEASURES = ("size", "pos", *TURNS, "fromto", "mass", "density", "group")
WEIGHED = ("type", "shellinertia", "mesh", "fitscale", *MEASURES)
"""Attributes of a geom that affect its inertia."""

SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
"""Types of geoms that have mass."""

NO_MASS = ("plane", "hfield")

Part = tuple[Element, dict[str, str], Placement]
"""An element, its attributes combined with those of its class, and its frame."""


@dataclass
class Matter:
    """Sources of a body's inertia: its <inertial> and its geoms, each with the frame that it
    stands in."""

    inertial: tuple[Element, Placement] | None = None
    geoms: list[Part] = field(default_factory=list)
    principal: Placement = HERE
    """Its centre of mass and principal axes in the body, if MuJoCo computes them; set by
    `links`."""
    pose: Placement = HERE
    """The pose that the body itself writes, without surrounding frames."""
    compiler: Compiler = Compiler()  # noqa: RUF009  (it is frozen)
    """The compiler settings that affect weighing in the body's file."""


def links(
    values: MjcfValues, bodies: Mapping[str, Matter], meshes: MjcfMeshes, still: Collection[str]
) -> list[Link]:
    """A link for each body.

    still: bodies that nothing moves, whose inertia enters totals only. If it cannot be computed, a
    remark says so.
    """
    read: dict[str, Link] = {}
    from_geoms: dict[str, list[Part]] = {}
    unknown: dict[str, ModelError] = {}
    for name, matter in bodies.items():
        read[name] = Link(name)
        heavy = _heavy_geoms(values, matter)
        if heavy:
            error = _error_of_meshes(meshes, heavy)
            if error is None:
                from_geoms[name] = heavy
            elif name in still:
                unknown[name] = error
            else:
                raise error
        elif matter.inertial is not None:
            read[name] = _read_inertial(values, name, matter, *matter.inertial)
        else:
            # MuJoCo puts the centre of mass of a body without mass at the body's pose, read as a
            # point of the body's own frame. Mass of `boundmass` and softness of contacts follow.
            read[name], matter.principal = Link(name, com=vector3(matter.pose.p)), matter.pose
    try:
        weighed = _weigh(values, from_geoms, meshes)
    except MujocoMissingError as error:
        if not from_geoms.keys() <= set(still):
            raise
        unknown |= dict.fromkeys(from_geoms, error)
        weighed = {}
    for name, (link, principal) in weighed.items():
        read[name], bodies[name].principal = link, principal
    if unknown:
        first, why = next(iter(unknown.items()))
        reason = str(why).removeprefix(f"{values.source}: ")
        values.remarks.append(
            f'{len(unknown)} bodies that nothing moves weigh nothing here, body "{first}" first: '
            f"{reason}; motions are the same, totals of mass are not"
        )
    return _adjust_masses(values, bodies, list(read.values()))


def _heavy_geoms(values: MjcfValues, matter: Matter) -> list[Part]:
    """The geoms that a body's inertia follows from; none if its <inertial> decides."""
    rule = matter.compiler.inertiafromgeom
    if rule == "true" or (rule == "auto" and matter.inertial is None):
        return [geom for geom in matter.geoms if _has_mass(values, *geom[:2])]
    return []


def _error_of_meshes(meshes: MjcfMeshes, geoms: Iterable[Part]) -> ModelError | None:
    """The error of the first geom whose mesh cannot be read; None if all can be read."""
    try:
        for element, written, _ in geoms:
            if "mesh" in written:
                meshes.mesh_of_geom(element, written["mesh"])
    except ModelError as error:
        return error
    return None


def _weigh(
    values: MjcfValues, geoms: Mapping[str, list[Part]], meshes: MjcfMeshes
) -> dict[str, tuple[Link, Placement]]:
    """Link and principal axes of each body, from its geoms, `AT_ONCE` bodies at a time."""
    weighed: dict[str, tuple[Link, Placement]] = {}
    names = list(geoms)
    for k in range(0, len(names), AT_ONCE):
        few = {name: geoms[name] for name in names[k : k + AT_ONCE]}
        weighed |= _compute_links(values, few, meshes)
    return weighed


AT_ONCE = 300
"""Number of bodies that MuJoCo weighs at once; its time grows faster than their square."""

MOST_KNOWN = 64

_known: dict[bytes, list[tuple[float, list[float], list[float], list[float]]]] = {}
"""Earlier results, by the content of the text and of its meshes: weighing takes most of the time of
a load."""


class MujocoMissingError(ModelError):
    """Geoms cannot be weighed because the package mujoco is missing."""


def _read_inertial(
    values: MjcfValues, name: str, matter: Matter, element: Element, X: Placement
) -> Link:
    written = {str(key): str(value) for key, value in element.attrib.items()}
    for key in ("pos", "mass"):
        if key not in written:
            raise values.refusal(element, f'<inertial> has no {key}; write {key}="..."')
    more = [key for key in ("diaginertia", *TURNS) if key in written]
    if "fullinertia" in written and more:
        raise values.refusal(element, f"it has both fullinertia and {more[0]}; write one of them")
    X = X.compose(values.placement(element, written)).as_matrix()
    matter.principal = X
    if "fullinertia" in written:
        xx, yy, zz, xy, xz, yz = values.numbers(element, "fullinertia", written, 6)
        J = Symmetric(xx, xy, xz, yy, yz, zz)
        matter.principal = X.compose(Placement(_principal_axes(J), ZERO)).as_matrix()
    else:
        J = _diagonal(list(values.vector(element, "diaginertia", written)))
    mass = values.number(element, "mass", written, 0.0)
    return Link(name, mass, vector3(X.p), matrix3(X.R.symmetric_to_parent(J).rows))


def _principal_axes(J: Symmetric) -> Rotation:
    """Principal axes of an inertia, the largest moment first; with MuJoCo's signs if it is
    installed."""
    rows = np.array([list(row) for row in J.rows], dtype=float)
    axes = np.linalg.eigh(rows)[1][:, ::-1]
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    try:
        import mujoco
    except ImportError:
        return Rotation([Vector(*row) for row in axes.tolist()])
    quat = np.zeros(4)
    mujoco.mju_eig3(np.zeros(3), np.zeros(9), quat, rows.ravel())
    w, x, y, z = quat.tolist()
    return quaternion_rotation([x, y, z, w])


def _has_mass(values: MjcfValues, element: Element, written: Attributes) -> bool:
    """True if a geom adds to its body's inertia."""
    density = values.number(element, "density", written, 1000.0)
    group = values.number(element, "group", written, 0.0)
    low, high = values.compiler_of(element).inertiagrouprange
    if not values.number(element, "mass", written, density) or not low <= group <= high:
        return False
    shape = written.get("type", "sphere")
    compiler = values.compiler_of(element)
    if "mesh" in written and shape != "mesh" and compiler.fitaabb != values.compiler.fitaabb:
        raise values.refusal(
            element,
            "it is fitted to a mesh by the fitaabb of an attached file, which differs from this file's; "
            "write an <inertial> for the body",
        )
    if shape not in SHAPES + NO_MASS or (shape == "mesh" and "mesh" not in written):
        raise values.refusal(
            element,
            f"a geom of type {shape}{' without a mesh' if shape == 'mesh' else ''} cannot be weighed; "
            "write an <inertial> for the body",
        )
    return shape not in NO_MASS


def _compute_links(
    values: MjcfValues, bodies: Mapping[str, Sequence[Part]], meshes: MjcfMeshes
) -> dict[str, tuple[Link, Placement]]:
    """The link of each body and its principal axes, as MuJoCo computes them."""
    try:
        import mujoco
    except ImportError:
        raise MujocoMissingError(
            f'{values.source}: body "{next(iter(bodies))}" has no <inertial>; the inertia of its geoms is computed by '
            "the package mujoco, which is not installed: pip install mujoco, or write an <inertial>"
        ) from None
    used = {written.get("mesh") for geoms in bodies.values() for _, written, _ in geoms}
    here = [mesh for name, mesh in meshes.weighable.items() if name in used]
    root = etree.Element("mujoco")
    etree.SubElement(root, "compiler", dict(values.compiler.raw))
    assets = etree.SubElement(root, "asset")
    for attributes, _ in here:
        etree.SubElement(assets, "mesh", attributes)
    world = etree.SubElement(root, "worldbody")
    for geoms in bodies.values():
        body = etree.SubElement(world, "body")
        for geom in geoms:
            _add_geom(values, body, *geom)
    text = etree.tostring(root, encoding="unicode")
    files = {name: data for mesh in here for name, data in mesh.files.items()}
    digest = hashlib.sha256(text.encode())
    for data in files.values():
        digest.update(hashlib.sha256(data).digest())
    weighed = _known.get(digest.digest())
    if weighed is None:
        try:
            model = mujoco.MjModel.from_xml_string(text, files)
        except (ValueError, mujoco.FatalError) as error:
            reason = " ".join(str(error).split())
            raise ModelError(
                f"{values.source}: MuJoCo cannot weigh the geoms: {reason}; correct them"
            ) from error
        numbers = (model.body_mass, model.body_ipos, model.body_iquat, model.body_inertia)
        weighed = list(zip(*(x[1:].tolist() for x in numbers), strict=True))
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[digest.digest()] = weighed
    read = {}
    for name, (mass, centre, (w, x, y, z), moments) in zip(bodies, weighed, strict=True):
        R, com = quaternion_rotation([x, y, z, w]), vector3(centre)
        J = R.symmetric_to_parent(_diagonal(moments))
        read[name] = Link(name, mass, com, matrix3(J.rows)), Placement(R, Vector(*com))
    return read


def _add_geom(
    values: MjcfValues, body: Element, element: Element, written: Mapping[str, str], X: Placement
) -> None:
    """Add a geom to the body in the file that MuJoCo compiles, with everything that its mass
    depends on."""
    for key in MEASURES:
        if key in written:  # otherwise MuJoCo writes a warning to a log file
            values.numbers(element, key, written, max(len(written[key].split()), 1))
    geom = {key: written[key] for key in WEIGHED if key in written}
    if values.compiler_of(element) is not values.compiler:  # MuJoCo uses the inertia of the file
        geom["group"] = str(values.compiler.inertiagrouprange[0])
        if "fromto" not in geom:
            X = X.compose(values.placement(element, written)).as_matrix()
            geom = {key: x for key, x in geom.items() if key not in ("pos", *TURNS)}
    rows = as_matrix(X.R).matrix.rows
    axes = [tuple(row)[column] for column in (0, 1) for row in rows]
    frame = etree.SubElement(body, "frame", pos=_words(X.p), xyaxes=_words(axes))
    # Geoms that touch nothing need no convex hull.
    etree.SubElement(frame, "geom", contype="0", conaffinity="0", **geom)


def _adjust_masses(
    values: MjcfValues, bodies: Mapping[str, Matter], read: Iterable[Link]
) -> list[Link]:
    """The links with <compiler>'s lower bounds, balance and total mass applied."""
    read = [_bound_inertia(bodies[link.name].compiler, link) for link in read]
    total = sum(link.mass for link in read)
    if values.compiler.settotalmass > 0 and total > 0:
        k = values.compiler.settotalmass / total
        read = [
            replace(
                link, mass=k * link.mass, inertia=matrix3(Vector(*row) * k for row in link.inertia)
            )
            for link in read
        ]
    return read


def _bound_inertia(compiler: Compiler, link: Link) -> Link:
    if not (compiler.boundmass or compiler.boundinertia or compiler.balanceinertia):
        return link
    link = replace(link, mass=max(link.mass, compiler.boundmass))
    size = max(abs(x) for row in link.inertia for x in row)
    if not math.isfinite(size):  # Model.assemble refuses it by name
        return link
    moments, axes = np.linalg.eigh(np.array(link.inertia) / (size or 1.0))
    moments = moments * size
    adjusted = np.maximum(moments, compiler.boundinertia)
    if compiler.balanceinertia and adjusted[0] + adjusted[1] < adjusted[2]:
        adjusted[:] = adjusted.mean()
    if np.array_equal(adjusted, moments):
        return link
    R = Rotation([Vector(*row) for row in axes.tolist()])
    return replace(link, inertia=matrix3(R.symmetric_to_parent(_diagonal(adjusted.tolist())).rows))


def _words(numbers: Iterable[Scalar]) -> str:
    return " ".join(repr(float(as_number(x))) for x in numbers)


def _diagonal(moments: Sequence[Scalar]) -> Symmetric:
    xx, yy, zz = moments
    return Symmetric(xx, 0.0, 0.0, yy, 0.0, zz)
