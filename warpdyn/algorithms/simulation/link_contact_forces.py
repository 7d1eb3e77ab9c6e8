"""Contact forces link by link: net force and moment, and flags for touched points and links."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.scalar import Scalar, select_less
from ...algebra.spatial import ZERO, Vector
from ...model.tree import Tree
from ..frames import body_placements
from .contact_rows import ContactPoint


def link_contact_forces(
    tree: Tree,
    q: Sequence[Scalar],
    forces: Sequence[Sequence[Scalar]],
    *,
    points: Sequence[ContactPoint],
    frames: Sequence[str],
    reference: str,
) -> list[list[Scalar]]:
    """Net force and moment of the contacts of each link: 6 for each frame [N, N·m].

    q: nq [m, rad].  forces: 3 for each point, in the world's axes [N]; each acts at the lowest
    point of the sphere.  reference: "local", "world" or "local_world_aligned". RBDA section 2.6:
    moments about the origin that the reference names.
    """
    seats = [tree.frames[name] for name in frames]
    X = body_placements(tree, q, [seat.body for seat in seats])
    wrenches = []
    for name, seat in zip(frames, seats, strict=True):
        T = X[seat.body].compose(seat.placement).as_matrix()
        force, moment = ZERO, ZERO
        for point, each in zip(points, forces, strict=True):
            if point.link == name:
                f = Vector(*each)
                lowest = T.R.to_parent(Vector(*point.centre)) - Vector(0.0, 0.0, point.radius)
                force = force + f
                moment = moment + (T.p + lowest if reference == "world" else lowest).cross(f)
        if reference == "local":
            force, moment = T.R.to_child(force), T.R.to_child(moment)
        wrenches.append([*force, *moment])
    return wrenches


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
