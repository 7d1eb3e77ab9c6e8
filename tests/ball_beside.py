"""A pair of collision shapes for any robot."""

from __future__ import annotations

from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape


def ball_beside(link: str) -> ContactPair:
    """A ball that is fixed in the world, and a capsule on a link."""
    ball = ContactShape(None, "sphere", (0.1,), (0.3, 0.1, -0.2))
    return ContactPair(ball, ContactShape(link, "capsule", (0.05, 0.2)))
