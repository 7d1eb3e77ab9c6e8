"""MJCF: the mass, centre of mass and inertia of bodies, written out or those of their geoms.

Geoms are weighed by MuJoCo itself: a model that holds nothing but them is compiled in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from lxml import etree

from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar, as_number
from ..algebra.spatial import Placement, Rotation, Symmetric, Vector, as_matrix
from ..model.description import Link, ModelError, matrix3, vector3
from .mjcf_values import TURNS, Attributes, Element, MjcfValues

MEASURES = ("size", "pos", *TURNS, "fromto", "mass", "density", "group")
WEIGHED = ("type", "shellinertia", *MEASURES)
"""Attributes of a geom that its inertia depends on."""

SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "plane")
"""Geoms whose shape is written in the file."""


Part = tuple[Element, dict[str, str], Placement]
"""An element, its attributes over those of its class, and the frame that it stands in."""


@dataclass
class Matter:
    """What a body's inertia comes from: its <inertial> and its geoms, each with the frame that it
    stands in."""

    inertial: tuple[Element, Placement] | None = None
    geoms: list[Part] = field(default_factory=list)


def links(values: MjcfValues, bodies: Mapping[str, Matter]) -> list[Link]:
    """A link for each body."""
    rule = values.compiler.inertiafromgeom
    read: dict[str, Link] = {}
    from_geoms: dict[str, list[Part]] = {}
    for name, matter in bodies.items():
        read[name] = Link(name)
        if matter.inertial is not None and rule != "true":
            read[name] = _written(values, name, *matter.inertial)
        elif rule != "false":
            heavy = [geom for geom in matter.geoms if _weighs(values, name, *geom[:2])]
            if heavy:
                from_geoms[name] = heavy
    if from_geoms:
        read |= _weighed(values, from_geoms)
    return _adjusted(values, list(read.values()))


def _written(values: MjcfValues, name: str, element: Element, X: Placement) -> Link:
    written = {str(key): str(value) for key, value in element.attrib.items()}
    for key in ("pos", "mass"):
        if key not in written:
            raise values.refusal(element, f'<inertial> has no {key}; write {key}="..."')
    if "fullinertia" in written:
        xx, yy, zz, xy, xz, yz = values.numbers(element, "fullinertia", written, 6)
        J = Symmetric(xx, xy, xz, yy, yz, zz)
    else:
        J = _diagonal(list(values.vector(element, "diaginertia", written)))
    X = X.compose(values.placement(element, written)).as_matrix()
    mass = values.number(element, "mass", written, 0.0)
    return Link(name, mass, vector3(X.p), matrix3(X.R.symmetric_to_parent(J).rows))


def _weighs(values: MjcfValues, body: str, element: Element, written: Attributes) -> bool:
    """Whether a geom adds to its body's inertia; refused where that is not written in the file."""
    density = values.number(element, "density", written, 1000.0)
    group = values.number(element, "group", written, 0.0)
    low, high = values.compiler.inertiagrouprange
    if not values.number(element, "mass", written, density) or not low <= group <= high:
        return False
    if written.get("type", "sphere") not in SHAPES or "mesh" in written:
        raise values.refusal(
            element,
            f'the inertia of body "{body}" is that of its geoms, one of them of type {written.get("type", "sphere")}, '
            "whose file is not read; write an <inertial> for the body",
        )
    return written.get("type") != "plane"


def _weighed(values: MjcfValues, bodies: Mapping[str, Sequence[Part]]) -> dict[str, Link]:
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            f'{values.source}: body "{next(iter(bodies))}" has no <inertial>; the inertia of its geoms is computed by '
            "the package mujoco, which is not installed: pip install mujoco, or write an <inertial>"
        ) from None
    root = etree.Element("mujoco")
    etree.SubElement(root, "compiler", dict(values.compiler.raw))
    world = etree.SubElement(root, "worldbody")
    for geoms in bodies.values():
        body = etree.SubElement(world, "body")
        for element, written, X in geoms:
            for key in MEASURES:
                if key in written:  # else MuJoCo warns in a file of its own
                    values.numbers(element, key, written, max(len(written[key].split()), 1))
            rows = as_matrix(X.R).matrix.rows
            axes = [tuple(row)[column] for column in (0, 1) for row in rows]
            frame = etree.SubElement(body, "frame", pos=_words(X.p), xyaxes=_words(axes))
            etree.SubElement(
                frame, "geom", {key: written[key] for key in WEIGHED if key in written}
            )
    try:
        model = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))
    except (ValueError, mujoco.FatalError) as error:
        said = " ".join(str(error).split())
        raise ModelError(
            f"{values.source}: MuJoCo cannot weigh the geoms: {said}; correct them"
        ) from error
    read = {}
    for i, name in enumerate(bodies, 1):
        w, x, y, z = model.body_iquat[i].tolist()
        J = quaternion_rotation([x, y, z, w]).symmetric_to_parent(
            _diagonal(model.body_inertia[i].tolist())
        )
        read[name] = Link(
            name, float(model.body_mass[i]), vector3(model.body_ipos[i]), matrix3(J.rows)
        )
    return read


def _adjusted(values: MjcfValues, read: list[Link]) -> list[Link]:
    """The links with <compiler>'s lower bounds, balance and total mass applied."""
    compiler = values.compiler
    if compiler.boundmass or compiler.boundinertia or compiler.balanceinertia:
        read = [_bounded(values, link) for link in read]
    total = sum(link.mass for link in read)
    if compiler.settotalmass > 0 and total > 0:
        k = compiler.settotalmass / total
        read = [
            replace(
                link, mass=k * link.mass, inertia=matrix3(Vector(*row) * k for row in link.inertia)
            )
            for link in read
        ]
    return read


def _bounded(values: MjcfValues, link: Link) -> Link:
    compiler = values.compiler
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
