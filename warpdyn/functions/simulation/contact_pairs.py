"""Pairs of shapes that may touch each other in a simulation, from collision shapes or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, overload

from ...algorithms.collision.contact import points_of
from ...algorithms.collision.mesh_contacts import cylinder_vertices
from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from ...execution.repeat.call_key import compared_by_value
from ...formats.meshes.mesh_hulls import hull_points
from ...model import Model
from ...model.collision_points import LeftOut
from ...model.description import Geometry
from ...model.ground_contact import ContactFriction, ContactSoftness
from ...model.mesh_files import MeshError
from ...model.model import check_model
from ...model.names import count_with_noun
from ...model.poses_and_limits import vector3
from ...model.scene.shape_pairs import shape_pairs
from ..whole_numbers import whole_number

MESH_VERTICES = 16
"""Vertices of a mesh's convex hull that are kept by default."""

LARGEST_MESH = 32
"""Most vertices of a mesh's hull."""

LISTED = 4
"""Largest number of pairs in a printed summary; further pairs are only counted."""


@compared_by_value
class ContactPairs(Sequence[ContactPair]):
    """The pairs of collision shapes of a model that may touch each other; for `pairs=`.

    Shapes of one rigid body make no pair, nor do those of two bodies that a joint connects, nor
    those that the description keeps apart (MJCF's contype, conaffinity and exclude; disabled
    collisions of an SRDF file). Shapes of an MJCF file's <pair> touch in any case. The ground is
    not among the pairs, because `points=` touch it, but `with_ground` adds it: a box then touches
    the plane z = 0 with its lowest four corners. Spheres, capsules, boxes and planes are exact. A
    cylinder is a prism of sixteen sides. A mesh is the hull of up to `mesh_vertices` vertices,
    which the package trimesh reads. `left_out` has (link, shape, reason) of each shape that cannot
    be read.

    `friction` has the coefficient of each pair from the description, or None: the larger one of the
    two shapes, that of the shape with the higher priority, or that of a <pair>.
    `torsional_friction` and `rolling_friction` have those of its moments [m], or 0. `contacts` is
    the number of contacts.

    A step computes only the contacts of near pairs. `slots`: the largest number of near pairs of
    one kind, such as box and box on free bodies; None: two more than the bodies of these pairs. A
    near pair without a slot does not touch in that step, and `pairs_left_out` counts it.
    """

    def __init__(
        self, model: Model, *, mesh_vertices: int = MESH_VERTICES, slots: int | None = None
    ):
        check_model(model)
        mesh_vertices = whole_number("mesh_vertices", mesh_vertices, least=4, most=LARGEST_MESH)
        self.model = model
        self.slots = None if slots is None else whole_number("slots", slots)
        self._mesh_vertices = mesh_vertices
        # A shape in many pairs is read once, because a mesh is a file.
        shapes_read: dict[tuple[str, int], ContactShape | None] = {}
        left_out: list[LeftOut] = []
        pairs: list[ContactPair] = []
        friction: list[ContactFriction | None] = []
        for *both, coefficient in shape_pairs(model):
            shapes = []
            for link, shape, number in both:
                key = link, number
                if key not in shapes_read:
                    shapes_read[key] = _contact_shape(link, shape, mesh_vertices, left_out)
                shapes.append(shapes_read[key])
            first, second = shapes
            if first is not None and second is not None and _can_touch(first, second):
                pairs.append(ContactPair(first, second))
                friction.append(coefficient)
        self.pairs, self.left_out, self._friction = tuple(pairs), tuple(left_out), tuple(friction)

    def only(self, *pairs: str | tuple[str, str]) -> ContactPairs:
        """The pairs between links of these names, or that match these patterns, in either order:
        `only(("*_finger", "cube"))`. A name alone is every pair of its link: `only("cube")`."""
        chosen = self._matching(pairs)
        return self._with(k for k in range(len(self)) if k in chosen)

    def without(self, *pairs: str | tuple[str, str]) -> ContactPairs:
        """All pairs but those that `only` would choose."""
        chosen = self._matching(pairs)
        return self._with(k for k in range(len(self)) if k not in chosen)

    def with_ground(self, *links: str, friction: float | None = None) -> ContactPairs:
        """The pairs, and pairs of the shapes of these links with the ground z = 0. In the latter
        the ground is first. Leave these links out of `points=`, or they touch the ground twice.
        friction: the sliding coefficient; None: that of an MJCF file, or 0.8. ValueError: a link
        has no shape that can touch the ground, or touches it already."""
        grounded: list[ContactPair] = []
        coefficients: list[ContactFriction | None] = []
        left_out: list[LeftOut] = []
        there = {pair.second.link for pair in self if pair.first == GROUND}
        for name in links:
            if name in there:
                raise ValueError(f"{name} touches the ground already; name it once")
            there.add(name)
            before = len(grounded)
            for each in self.model.link(name).collisions:
                shape = _contact_shape(name, each, self._mesh_vertices, left_out)
                if shape is not None and _can_touch(GROUND, shape):
                    grounded.append(ContactPair(GROUND, shape))
                    coefficients.append(_ground_friction(each, friction))
            if len(grounded) == before:
                why = "; ".join(f"{what}: {why}" for link, what, why in left_out if link == name)
                raise ValueError(
                    f"{name} has no shape that can touch the ground{f' ({why})' if why else ''}"
                )
        changed = self._with(range(len(self)))
        changed.left_out = tuple(dict.fromkeys((*self.left_out, *left_out)))
        changed.pairs = (*self.pairs, *grounded)
        changed._friction = (*self._friction, *coefficients)
        return changed

    @property
    def friction(self) -> tuple[float | None, ...]:
        """The sliding coefficient of each pair from the description, or None."""
        return tuple(each if each is None else each.sliding for each in self._friction)

    @property
    def torsional_friction(self) -> tuple[float, ...]:
        """The torsional coefficient of each pair from the description [m], or 0."""
        return tuple(0.0 if each is None else each.torsional for each in self._friction)

    @property
    def rolling_friction(self) -> tuple[float, ...]:
        """The rolling coefficient of each pair from the description [m], or 0."""
        return tuple(0.0 if each is None else each.rolling for each in self._friction)

    @property
    def contacts(self) -> int:
        """The number of contacts of all pairs: the rows of `pair_impulses`."""
        return sum(pair.contacts for pair in self)

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The two links of each pair; the ground is "ground"."""
        return pair_links(self)

    def between(self, first: str, second: str) -> dict[int, float]:
        """The pairs between two links by number, with 1 if they are in this order and -1 if in the
        other one. Raises KeyError if there are none."""
        return pairs_between(self, first, second)

    def _with(self, kept: Iterable[int]) -> ContactPairs:
        changed: ContactPairs = object.__new__(ContactPairs)
        chosen = list(kept)
        changed.model, changed.left_out = self.model, self.left_out
        changed.slots, changed._mesh_vertices = self.slots, self._mesh_vertices
        changed.pairs = tuple(self.pairs[k] for k in chosen)
        changed._friction = tuple(self._friction[k] for k in chosen)
        return changed

    def _matching(self, patterns: Sequence[Any]) -> set[int]:
        """Numbers of the pairs that match patterns; each pattern must match some."""
        chosen: set[int] = set()
        for pattern in patterns:
            if not isinstance(pattern, str) and len(pattern) != 2:
                raise ValueError(
                    f"a pair is two link names, or one name for all pairs of its link; got {pattern!r}"
                )
            x, y = (pattern, "*") if isinstance(pattern, str) else pattern
            fitting = {
                k
                for k, (a, b) in enumerate(self.links)
                if (fnmatchcase(a, x) and fnmatchcase(b, y))
                or (fnmatchcase(a, y) and fnmatchcase(b, x))
            }
            if not fitting:
                there = sorted({link for pair in self.links for link in pair})
                near = [m for name in (x, y) for m in get_close_matches(name, there, n=2)]
                raise KeyError(
                    f"{self.model.name} has no pair of {x!r} and {y!r}; there are pairs of "
                    f"{', '.join(near or there) or 'no links'}"
                )
            chosen |= fitting
        return chosen

    @overload
    def __getitem__(self, index: int) -> ContactPair: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ContactPair, ...]: ...
    def __getitem__(self, index: int | slice) -> ContactPair | tuple[ContactPair, ...]:
        return self.pairs[index]

    def __eq__(self, other: object) -> bool:
        """True if both have the same pairs of the same model."""
        if not isinstance(other, ContactPairs):
            return NotImplemented
        mine, others = (
            (each.pairs, each._friction, each.slots, each.model) for each in (self, other)
        )
        return mine == others

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[ContactPair]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        left = "; ".join(f"{shape} of {link} ({why})" for link, shape, why in self.left_out)
        return (
            f"<{count_with_noun(len(self), 'contact pair')} of {self.model.name} with "
            f"{count_with_noun(self.contacts, 'contact')}: "
            f"{_first_pairs(self.links)}{f'; left out: {left}' if left else ''}>"
        )


class PairContact(NamedTuple):
    """The properties of contacts between bodies.

    Each is a number, (pairs,) or (B, pairs). `friction`: coefficient; None: those of the
    description (`ContactPairs.friction`), or 0.8. `stiffness` [N/m]; None: as stiff as the step
    and the masses allow. `dissipation` [s]: the time in which two shapes that overlap lose their approach speed.
    `restitution`: the share of the approach speed with which they separate if it is above 2 · 9.81
    dt, from 0 to 1; the plain number 0 costs nothing. `push_out` [m/s], a number or (B,): the
    largest speed at which shapes that overlap are pushed apart. `torsional_friction`,
    `rolling_friction` [m]: the largest moment about the normal, and about the tangents, as a share
    of the normal force; None: those of the description, or 0, which costs nothing.
    `softness`: MuJoCo's law of the normal force in place of stiffness, dissipation and restitution,
    with R relative to the sum of the inverse masses of both links; None: no such law. Friction does
    not change.
    """

    friction: Any = None
    stiffness: Any = None
    dissipation: Any = 0.005
    restitution: Any = 0.0
    push_out: Any = 1.0
    torsional_friction: Any = None
    rolling_friction: Any = None
    softness: ContactSoftness | None = None


RIGID = PairContact()


def pair_links(pairs: Sequence[ContactPair]) -> tuple[tuple[str, str], ...]:
    """The two links of each pair; a shape of the world belongs to "ground"."""
    return tuple((pair.first.link or "ground", pair.second.link or "ground") for pair in pairs)


def pairs_between(pairs: Sequence[ContactPair], first: str, second: str) -> dict[int, float]:
    """The pairs between two links by number, with 1 if they are in this order and -1 if in the
    other one. Raises KeyError if there are none."""
    links = pair_links(pairs)
    found = {k: 1.0 for k, each in enumerate(links) if each == (first, second)}
    found |= {k: -1.0 for k, each in enumerate(links) if each == (second, first)}
    if not found:
        remedy = "" if links else ": pass pairs=wd.ContactPairs(model)"
        raise KeyError(
            f"there is no pair of {first} and {second}; there are {_first_pairs(links)}{remedy}"
        )
    return found


def _ground_friction(shape: Geometry, sliding: float | None) -> ContactFriction | None:
    """Coefficients of a shape on the ground; None if neither the description nor `sliding` gives
    them."""
    described = shape.on_ground
    if described is None:
        return None if sliding is None else ContactFriction(sliding)
    numbers = ContactFriction(described.friction, described.torsional, described.rolling)
    return numbers if sliding is None else numbers._replace(sliding=sliding)


def signs_between(
    points: Sequence[ContactPoint], pairs: Sequence[ContactPair], first: str, second: str
) -> dict[int, float]:
    """The contacts between two links by their number among those of all points, then of all pairs,
    with 1 for forces on the second link and -1 for those on the first one. Points are between the
    "ground" and their link. Raises KeyError if there are none."""
    found = {}
    for k, point in enumerate(points):
        if (first, second) in (("ground", point.link), (point.link, "ground")):
            found[k] = 1.0 if first == "ground" else -1.0
    try:
        between = pairs_between(pairs, first, second)
    except KeyError:
        if not found:
            raise
        between = {}
    return found | {len(points) + k: sign for k, sign in between.items()}


def _can_touch(first: ContactShape, second: ContactShape) -> bool:
    """False for two planes."""
    return not first.kind == second.kind == "plane" and points_of(first.kind, second.kind) > 0


def _contact_shape(
    link: str, shape: Geometry, vertices: int, left_out: list[LeftOut]
) -> ContactShape | None:
    """The shape for the narrow phase; None, and an entry of `left_out`, if it cannot be used."""
    try:
        kind, size, corners = _kind_and_size(shape, vertices)
    except MeshError as error:
        left_out.append(LeftOut(link, f"the mesh {shape.filename or ''}".strip(), str(error)))
        return None
    rotation = tuple(vector3(row) for row in shape.pose.rotation)
    return ContactShape(
        link, kind, size, shape.pose.position, (rotation[0], rotation[1], rotation[2]), corners
    )


def _kind_and_size(
    shape: Geometry, vertices: int
) -> tuple[str, tuple[float, ...], tuple[tuple[float, float, float], ...]]:
    """Kind and sizes of a shape as the narrow phase takes them, and the vertices of a mesh."""
    size = shape.size
    if shape.shape == "capsule":
        return "capsule", (size[0], 0.5 * size[1]), ()
    if shape.shape == "box":
        return "box", tuple(0.5 * x for x in size), ()
    if shape.shape == "plane":
        return "plane", (), ()
    if shape.shape == "sphere":
        return "sphere", (size[0],), ()
    if shape.shape == "cylinder":
        return "mesh", (), cylinder_vertices(size[0], 0.5 * size[1])
    return "mesh", (), hull_points(shape, vertices)


def _first_pairs(links: Sequence[tuple[str, str]]) -> str:
    shown = [f"{a} and {b}" for a, b in dict.fromkeys(links)]
    more = f" and {len(shown) - LISTED} more" if len(shown) > LISTED else ""
    return f"{', '.join(shown[:LISTED]) or 'none'}{more}"
