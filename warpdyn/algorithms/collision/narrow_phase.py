"""Contacts of two shapes by their kinds."""

from __future__ import annotations

from collections.abc import Callable

from .box_box import box_box
from .box_shapes import plane_box, sphere_box
from .capsule_box import capsule_box
from .contact import Contact, ShapeAt
from .mesh_contacts import mesh_box, mesh_capsule, mesh_mesh, mesh_sphere, plane_mesh
from .round_shapes import (
    capsule_capsule,
    plane_capsule,
    plane_sphere,
    sphere_capsule,
    sphere_sphere,
)

NARROW_PHASES: dict[tuple[str, str], tuple[Callable[[ShapeAt, ShapeAt], list[Contact]], int]] = {
    ("sphere", "sphere"): (sphere_sphere, 1),
    ("plane", "sphere"): (plane_sphere, 1),
    ("plane", "capsule"): (plane_capsule, 2),
    ("sphere", "capsule"): (sphere_capsule, 1),
    ("capsule", "capsule"): (capsule_capsule, 2),
    ("sphere", "box"): (sphere_box, 1),
    ("plane", "box"): (plane_box, 4),
    ("capsule", "box"): (capsule_box, 2),
    ("box", "box"): (box_box, 4),
    ("plane", "mesh"): (plane_mesh, 4),
    ("mesh", "sphere"): (mesh_sphere, 1),
    ("mesh", "capsule"): (mesh_capsule, 2),
    ("mesh", "box"): (mesh_box, 4),
    ("mesh", "mesh"): (mesh_mesh, 4),
}
"""For two kinds of shapes: the function, and the number of contacts it returns."""


def contacts(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of two shapes, the normals from a to b. Shapes that are apart have contacts with
    positive gaps."""
    if (a.kind, b.kind) in NARROW_PHASES:
        return NARROW_PHASES[a.kind, b.kind][0](a, b)
    _refuse_unknown(a.kind, b.kind)
    return [contact.in_other_order() for contact in NARROW_PHASES[b.kind, a.kind][0](b, a)]


def points_of(kind_a: str, kind_b: str) -> int:
    """The number of contacts that `contacts` returns for two kinds of shapes."""
    if (kind_a, kind_b) in NARROW_PHASES:
        return NARROW_PHASES[kind_a, kind_b][1]
    _refuse_unknown(kind_a, kind_b)
    return NARROW_PHASES[kind_b, kind_a][1]


def _refuse_unknown(kind_a: str, kind_b: str) -> None:
    """Raise if no narrow phase has these kinds in either order."""
    if (kind_b, kind_a) not in NARROW_PHASES:
        pairs = ", ".join(f"{first} and {second}" for first, second in NARROW_PHASES)
        raise ValueError(
            f"there is no narrow phase for {kind_a} and {kind_b}. These pairs have one: {pairs}."
        )
