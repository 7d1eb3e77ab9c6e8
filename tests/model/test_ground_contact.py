"""Contact of shapes with the ground according to the description: stored with a shape and with the
spheres made from it."""

from __future__ import annotations

from dataclasses import replace

from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.model.collision_points import collision_spheres
from warpdyn.model.ground_contact import ContactFriction, GroundContact


def test_spheres_have_the_ground_contact_of_their_shape() -> None:
    """A shape that does not touch the ground has none. Shapes that differ only in this are
    equal."""
    model = wd.load_robot("quadruped")
    foot = model.link("FL_foot")
    (shape,) = foot.collisions
    rubber = GroundContact(touches=True, friction=1.2, sink=1e-3, dissipation=0.03)
    for contact in (rubber, rubber._replace(touches=False)):
        said = replace(shape, on_ground=contact)
        links = [replace(x, collisions=(said,)) if x is foot else x for x in model.links]
        spheres, _ = collision_spheres(replace(model, links=tuple(links)), lambda _: [])
        mine = [sphere.on_ground for sphere in spheres if sphere.link == "FL_foot"]
        assert mine == ([contact] if contact.touches else []) and said == shape


def test_documented_numbers() -> None:
    check_numbers("model.ground_contact", STANDARD_WEIGHT=9.81)


def test_a_condim_leaves_some_of_the_friction() -> None:
    """1 none, 3 sliding, 4 torsional friction too, 6 all."""
    whole = ContactFriction(0.9, 0.02, 0.003)
    wanted = {1: (0, 0, 0), 3: (0.9, 0, 0), 4: (0.9, 0.02, 0), 6: (0.9, 0.02, 0.003)}
    assert {k: tuple(whole.of_condim(k)) for k in wanted} == wanted
