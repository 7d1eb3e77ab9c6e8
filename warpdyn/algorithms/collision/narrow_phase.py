"""Contacts of two shapes by their kinds."""

from __future__ import annotations

from collections.abc import Callable

from .box_box import box_box
from .box_shapes import plane_box, sphere_box
from .capsule_box import capsule_box
from .contact import Contact, ShapeAt, pair_of_kinds
from .mesh_contacts import mesh_box, mesh_capsule, mesh_mesh, mesh_sphere, plane_mesh
from .round_shapes import (
    capsule_capsule,
    plane_capsule,
    plane_sphere,
    sphere_capsule,
    sphere_sphere,
)

NARROW_PHASES: dict[tuple[str, str], Callable[[ShapeAt, ShapeAt], list[Contact]]] = {
    ("sphere", "sphere"): sphere_sphere,
    ("plane", "sphere"): plane_sphere,
    ("plane", "capsule"): plane_capsule,
    ("sphere", "capsule"): sphere_capsule,
    ("capsule", "capsule"): capsule_capsule,
    ("sphere", "box"): sphere_box,
    ("plane", "box"): plane_box,
    ("capsule", "box"): capsule_box,
    ("box", "box"): box_box,
    ("plane", "mesh"): plane_mesh,
    ("mesh", "sphere"): mesh_sphere,
    ("mesh", "capsule"): mesh_capsule,
    ("mesh", "box"): mesh_box,
    ("mesh", "mesh"): mesh_mesh,
}
"""The function for two kinds of shapes, those of `POINTS`."""


def contacts(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of two shapes, the normals from a to b. Shapes that are apart have contacts with
    positive gaps."""
    kinds, is_turned = pair_of_kinds(a.kind, b.kind)
    if is_turned:
        return [contact.in_other_order() for contact in NARROW_PHASES[kinds](b, a)]
    return NARROW_PHASES[kinds](a, b)
