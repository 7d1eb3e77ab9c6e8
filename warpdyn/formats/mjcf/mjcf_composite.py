"""MJCF: <composite type="cable">, which MuJoCo supported up to version 3, expanded into bodies.

A cable is a chain of segments on ball joints along a curve; the x axis of each segment lies along
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from lxml import etree

from ...algebra.quaternions import quaternion_rotation
from ...algebra.scalar import as_number
from ...algebra.spatial import Vector
from .mjcf_values import Element, MjcfValues

MOST = 300
"""Largest number of segments of a cable: each is a body nested in the one before."""

PLAIN = "{warpdyn}plain"
"""An empty default class, for the parts of a cable."""

ROUND = ("capsule", "cylinder")

CURVES: dict[str, Callable[[float, Sequence[float]], float]] = {
    "s": lambda s, size: s * size[0],
    "cos(s)": lambda s, size: size[1] * math.cos(math.pi * s * size[2]),
    "sin(s)": lambda s, size: size[1] * math.sin(math.pi * s * size[2]),
    "0": lambda s, size: 0.0,
}
"""Coordinates along a curve, by their words in the file: s goes from 0 to 1."""


def with_cables(values: MjcfValues, root: Element) -> None:
    """Replace each <composite> by a chain of bodies. Elasticity and skin are left out."""
    for element in list(root.iter("composite")):
        parent = element.getparent()
        assert parent is not None, "the outermost element is <mujoco>"
        kind = element.get("type", "")
        if kind != "cable":
            raise values.refusal(
                element,
                f'<composite type="{kind}"> is not read: MuJoCo no longer reads it either; write its bodies '
                "out, or a <replicate>",
            )
        values.classes.setdefault(PLAIN, {})
        first = _chain(values, element)
        if element in values.files:
            values.files[first] = values.files[element]
        if element.find("plugin") is not None:
            values.ignore("<plugin> of <composite>: its elasticity", element)
        parent.replace(element, first)


def _chain(values: MjcfValues, element: Element) -> Element:
    """The first body of a cable, which contains the rest."""
    written = {str(key): str(x) for key, x in element.attrib.items()}
    points = _points(values, element, written)
    offset = values.vector(element, "offset", written)
    prefix = written.get("prefix", "")
    initial = values.choice(element, "initial", written, "ball", ("free", "ball", "none"))
    joint, geom, site = (_child_attributes(element, tag) for tag in ("joint", "geom", "site"))
    shape = geom.get("type", "")
    if shape not in (*ROUND, "box"):
        raise values.refusal(element, "a cable needs a <geom> of type capsule, cylinder or box")
    last = len(points) - 2
    before, place = np.eye(3), np.array([as_number(x) for x in offset]) + points[0]
    bodies: list[Element] = []
    for k, (R, length) in enumerate(_frames(values, element, points)):
        name = "first" if k == 0 else "last" if k == last else str(k)
        # Each body nests in the one before, so that its pose is relative to that segment's frame.
        body = _empty_body(f"{prefix}B_{name}", before.T @ R, place)
        if k or initial != "none":
            free = k == 0 and initial == "free"
            etree.SubElement(body, "joint", _joint(joint, f"{prefix}J_{name}", free))
        etree.SubElement(body, "geom", _segment(values, element, geom, length, f"{prefix}G{k}"))
        if k == 0:
            etree.SubElement(body, "site", _site(site, f"{prefix}S_first", 0.0))
        if k == last:
            etree.SubElement(body, "site", _site(site, f"{prefix}S_last", length))
        if bodies:
            bodies[-1].append(body)
        bodies.append(body)
        before, place = R, np.array([length, 0.0, 0.0])
    return bodies[0]


def _empty_body(name: str, R: np.ndarray, p: np.ndarray) -> Element:
    """A body at a pose in its parent's frame: R (3, 3) and p (3) [m]."""
    axes = " ".join(repr(float(x)) for x in (*R[:, 0], *R[:, 1]))
    pos = " ".join(repr(float(x)) for x in p)
    body = etree.Element("body", name=name, pos=pos, xyaxes=axes)
    body.set("childclass", PLAIN)
    return body


def _joint(joint: dict[str, str], name: str, free: bool) -> dict[str, str]:
    """Attributes of a body's joint. A free joint takes only the stiffness of the cable's
    attributes."""
    taken = {x: joint[x] for x in joint if x == "stiffness"} if free else joint
    return {**taken, "name": name, "type": "free" if free else "ball"}


def _site(site: dict[str, str], name: str, x: float) -> dict[str, str]:
    """Attributes of the site at an end of the cable, at `x` [m] along its segment."""
    return {**site, "name": name, "pos": f"{x!r} 0 0"}


def _child_attributes(element: Element, tag: str) -> dict[str, str]:
    """Attributes of a child of the composite, which apply to all parts that it describes."""
    child = element.find(tag)
    attributes = {} if child is None else child.attrib
    said = {str(k): str(x) for k, x in attributes.items()}
    return {k: x for k, x in said.items() if k not in ("kind", "pos", "name") and k[0] != "{"}


def _count(written: dict[str, str], key: str) -> int:
    """Number of values in an attribute, 1 if it is missing."""
    return len(written.get(key, "").split()) or 1


def _segment(
    values: MjcfValues, element: Element, geom: dict[str, str], length: float, name: str
) -> dict[str, str]:
    size = values.numbers(element, "size", {"size": "nan", **geom}, _count(geom, "size"))
    if geom["type"] in ROUND:
        return {**geom, "name": name, "size": repr(size[0]), "fromto": f"0 0 0 {length!r} 0 0"}
    half = " ".join(map(repr, (length / 2, *size[1:3])))
    return {**geom, "name": name, "size": half, "pos": f"{length / 2!r} 0 0"}


def _points(values: MjcfValues, element: Element, written: dict[str, str]) -> list[np.ndarray]:
    """The ends of the segments, in single precision as in MuJoCo."""
    if "vertex" in written:
        numbers = values.numbers(element, "vertex", written, len(written["vertex"].split()))
        if len(numbers) % 3 or not 6 <= len(numbers) <= 3 * (MOST + 1):
            raise values.refusal(element, f"vertex needs 2 to {MOST + 1} points of three numbers")
        return list(np.reshape(numbers, (-1, 3)).astype(np.float32).astype(float))
    counts = values.numbers(element, "count", {"count": "nan", **written}, _count(written, "count"))
    count = int(counts[0])
    if not 2 <= count <= MOST + 1 or count != counts[0] or any(x != 1 for x in counts[1:]):
        raise values.refusal(element, f"count of a cable must be 2 to {MOST + 1}, then 1 1")
    words = [*written.get("curve", "").split(), "0", "0", "0"][:3]
    if not set(words) <= set(CURVES):
        raise values.refusal(element, f"curve must consist of the words {', '.join(CURVES)}")
    sizes = values.numbers(element, "size", {"size": "nan", **written}, _count(written, "size"))
    size = [*sizes, 0.0, 0.0][:3]
    w, *v = values.numbers(element, "quat", {"quat": "1 0 0 0", **written}, 4)
    if abs(math.hypot(w, *v) - 1) > 1e-3:
        raise values.refusal(element, "quat of a composite must be of unit length")
    R = quaternion_rotation([*v, w])
    points = [[CURVES[word](k / (count - 1), size) for word in words] for k in range(count)]
    turned = [[as_number(x) for x in R.to_parent(Vector(*p))] for p in points]
    return list(np.array(turned, dtype=np.float32).astype(float))


def _frames(
    values: MjcfValues, element: Element, points: Sequence[np.ndarray]
) -> list[tuple[np.ndarray, float]]:
    """Axes and length of each segment between points. y lies in the plane of the first bend, and
    then turns with the bends only."""
    edges = np.diff(np.array(points), axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    if not (lengths > 0).all():
        raise values.refusal(element, "two neighbouring points of the cable coincide")
    along = edges / lengths[:, None]
    normal = np.array([0.0, 1.0, 0.0])
    frames = []
    for k, x in enumerate(along):
        if k == 0:
            up = np.cross(x, along[1]) if len(along) > 1 else np.zeros(3)
            up = up if np.linalg.norm(up) > 1e-9 else np.array([0.0, 0.0, 1.0])
            if np.linalg.norm(np.cross(up, x)) < 1e-9:
                up = np.array([1.0, 0.0, 0.0])
            normal = np.cross(up, x)
        else:
            bend = np.cross(along[k - 1], x)
            sine, cosine = float(np.linalg.norm(bend)), float(along[k - 1] @ x)
            if sine > 1e-12:
                axis = bend / sine
                across = np.cross(axis, normal)
                normal = normal * cosine + across * sine + axis * (axis @ normal) * (1 - cosine)
        normal = normal - x * (x @ normal)
        normal /= np.linalg.norm(normal)
        frames.append((np.array([x, normal, np.cross(x, normal)]).T, float(lengths[k])))
    return frames
