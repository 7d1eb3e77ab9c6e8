"""MJCF: <replicate>, expanded into copies, each in its own <frame>."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.scalar import as_number
from ...algebra.spatial import ZERO, Placement
from ..robot_source import tag_name
from .mjcf_values import Element, MjcfValues

MOST = 200_000
"""Largest number of elements in a file after copying."""


def with_copies(values: MjcfValues, root: Element) -> None:
    """Replace each <replicate> by frames with copies, as MuJoCo does. Copy k is turned by k times
    `euler`, and displaced from the previous copy by `offset` in that copy's axes. Its names end in
    `sep` and k, with as many digits as `count` has."""
    size = sum(1 for _ in root.iter())
    for element in reversed(list(root.iter("replicate"))):  # inner ones first
        written = {str(key): str(value) for key, value in element.attrib.items()}
        count = values.whole_number(element, "count", written)
        parent = element.getparent()
        assert parent is not None, "the outermost element is <mujoco>"
        size += count * sum(1 for _ in element.iter())
        if size > MOST:
            raise values.refusal(
                element,
                f"the file would have more than {MOST} elements after its copies; write fewer",
            )
        offset, angles = (values.vector(element, key, written) for key in ("offset", "euler"))
        p, digits = ZERO, len(str(count))
        frames = []
        for k in range(count):
            turn = " ".join(repr(as_number(angle) * k) for angle in angles)
            X = Placement(values.rotation(element, {"euler": turn}), p)
            frame = _frame(X)
            frame.extend(deepcopy(child) for child in element)
            for inner in frame.iterdescendants():
                name = inner.get("name")
                if name and tag_name(inner) != "frame":
                    inner.set("name", f"{name}{written.get('sep', '')}{k:0{digits}}")
            if element in values.files:
                values.files[frame] = values.files[element]
            frames.append(frame)
            p = X.point_to_parent(offset)
        place = parent.index(element)
        parent[place : place + 1] = frames


def _frame(X: Placement) -> Element:
    x, y, z, w = map(as_number, rotation_quaternion(X.R))
    pos = " ".join(repr(float(as_number(each))) for each in X.p)
    return etree.Element("frame", pos=pos, quat=" ".join(map(repr, (w, x, y, z))))
