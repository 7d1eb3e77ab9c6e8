"""Contact forces link by link: net force and moment, and flags for touched points and links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...algebra.scalar import Scalar, maximum, select_less
from ...algebra.spatial import ZERO, Vector
from ...model.tree import Tree
from ..frames import body_placements
from .contact_rows import ContactPoint
from .contact_shapes import ContactPair
from .uneven_ground import Terrain, terrain_of


class Measurements(NamedTuple):
    """The measurements of a simulation's sensors.

    `units`: links with an IMU. `links`: links whose contact forces are summed. `threshold`: the
    force above which a point or a link counts as touched [N].
    """

    units: tuple[str, ...]
    links: tuple[str, ...]
    threshold: float


def link_contact_forces(
    tree: Tree,
    q: Sequence[Scalar],
    forces: Sequence[Sequence[Scalar]],
    moments: Sequence[Sequence[Scalar]] | None = None,
    *,
    points: Sequence[ContactPoint],
    frames: Sequence[str],
    reference: str,
    terrain: Terrain | None = None,
    halfway: Sequence[float | None] = (),
) -> list[list[Scalar]]:
    """Net force and moment of the contacts of each link: 6 for each frame [N, N·m].

    q: nq [m, rad].  forces: 3 for each point, in the world's axes [N]; each acts where the sphere is
    deepest: at its lowest point, or on a `terrain` against the normal of the ground below its
    centre.  moments: of torsional and rolling friction, 3 for each point in the world's axes [N·m].
    reference: "local", "world" or "local_world_aligned". halfway: as in `contact_rows`. RBDA section
    2.6: moments about the origin that the reference names.
    """
    seats = [tree.frames[name] for name in frames]
    X = body_placements(tree, q, [seat.body for seat in seats])
    wrenches = []
    for name, seat in zip(frames, seats, strict=True):
        T = X[seat.body].compose(seat.placement).as_matrix()
        force, moment = ZERO, ZERO
        for n, (point, each) in enumerate(zip(points, forces, strict=True)):
            if point.link == name:
                f = Vector(*each)
                centre = T.R.to_parent(Vector(*point.centre))
                margin = halfway[n] if halfway else None
                deepest = centre - _reach_to_ground(terrain, T.p + centre, point.radius, margin)
                force = force + f
                moment = moment + (T.p + deepest if reference == "world" else deepest).cross(f)
                if moments is not None:
                    moment = moment + Vector(*moments[n])
        if reference == "local":
            force, moment = T.R.to_child(force), T.R.to_child(moment)
        wrenches.append([*force, *moment])
    return wrenches


def link_forces_on_ground(
    tree: Tree,
    q: Sequence[Scalar],
    forces: Sequence[Sequence[Scalar]],
    *more: Sequence,
    arrays: tuple[str, ...],
    **options: Any,
) -> list[list[Scalar]]:
    """`link_contact_forces` with the arrays `more` by name: moments, and those of a terrain."""
    named: dict[str, Any] = dict(zip(arrays, more, strict=True))
    moments = named.pop("moments", None)
    return link_contact_forces(tree, q, forces, moments, terrain=terrain_of(named), **options)


def _reach_to_ground(
    terrain: Terrain | None, centre: Vector, radius: float, margin: float | None
) -> Vector:
    """From the place where a sphere touches the ground to its centre, in the world's axes."""
    normal, height = Vector(0.0, 0.0, 1.0), centre.z
    if terrain is not None:
        patch = terrain.below(centre.x, centre.y)
        normal = patch.axes().to_parent(normal)
        height = (centre.z - patch.height) * normal.z
    if margin is None:
        return normal * radius
    return normal * (radius + (height - radius - margin) * 0.5)


class PairContacts(NamedTuple):
    """The contacts of all pairs in a step: forces and moments on the second shapes [N, N·m], and
    positions [m], in the world's axes; one pair after the other."""

    pairs: Sequence[ContactPair]
    wrenches: Sequence[Sequence[Scalar]]
    positions: Sequence[Sequence[Scalar]]


def pair_forces_on_links(
    tree: Tree, q: Sequence[Scalar], contacts: PairContacts, links: Sequence[str]
) -> list[list[Scalar]]:
    """Net force and moment of the contacts of pairs on each link: 6 for each [N, N·m], in the
    world's axes, the moment about the link's origin.

    q: nq [m, rad], the configuration at which the contacts have their positions.
    """
    seats = [tree.frames[name] for name in links]
    X = body_placements(tree, q, [seat.body for seat in seats])
    origins = [X[seat.body].compose(seat.placement).p for seat in seats]
    totals = [(ZERO, ZERO)] * len(links)
    place = {name: n for n, name in enumerate(links)}
    first = 0
    for pair in contacts.pairs:
        for shape, sign in ((pair.first, -1.0), (pair.second, 1.0)):
            n = place.get(shape.link or "")
            if n is None:
                continue
            force, moment = totals[n]
            for k in range(first, first + pair.contacts):
                f = Vector(*contacts.wrenches[k][:3]) * sign
                arm = Vector(*contacts.positions[k]) - origins[n]
                force, moment = force + f, moment + arm.cross(f)
                if len(contacts.wrenches[k]) > 3:
                    moment = moment + Vector(*contacts.wrenches[k][3:]) * sign
            totals[n] = force, moment
        first += pair.contacts
    return [[*force, *moment] for force, moment in totals]


def pair_flags(forces: Sequence[Sequence[Scalar]], threshold: float) -> list[Scalar]:
    """Flags: 1 for each pair whose force is above `threshold` [N], else 0. forces: 3 each [N]."""
    return [
        select_less(threshold * threshold, f.dot(f), 1.0, 0.0) for f in (Vector(*x) for x in forces)
    ]


def with_flags_of_pairs(
    flags: Sequence[Scalar],
    of_pairs: Sequence[Scalar],
    pairs: Sequence[ContactPair],
    links: Sequence[str],
) -> list[Scalar]:
    """Flags of links that are also 1 where one of the link's pairs has the flag 1."""
    found = []
    for name, flag in zip(links, flags, strict=True):
        for pair, touching in zip(pairs, of_pairs, strict=True):
            if name in (pair.first.link, pair.second.link):
                flag = maximum(flag, touching)
        found.append(flag)
    return found


def contact_flags(
    tree: Tree,
    forces: Sequence[Sequence[Scalar]],
    *,
    points: Sequence[ContactPoint],
    links: Sequence[str] | None,
    threshold: float,
) -> list[Scalar]:
    """Flags: 1 if the force on a point, or the net force on a link's points, is above `threshold`
    [N], else 0.

    forces: 3 for each point [N].  links: their names; None for a flag of each point.
    """
    net = [Vector(*each) for each in forces]
    if links is not None:
        net = [
            sum((f for f, point in zip(net, points, strict=True) if point.link == name), ZERO)
            for name in links
        ]
    return [select_less(threshold * threshold, f.dot(f), 1.0, 0.0) for f in net]
