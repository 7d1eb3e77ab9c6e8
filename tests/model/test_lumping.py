"""From a model to its tree: what links on fixed joints are, and which numbers a body is handed."""

from __future__ import annotations

from dataclasses import replace

from robots import by_name

from warpdyn.model.lumping import build_tree
from warpdyn.model.tree import WORLD


def test_links_on_fixed_joints_are_one_body() -> None:
    """Their masses add up in it, or in the ground."""
    model = by_name("ur5e").model
    tree = build_tree(model)
    assert len(tree.bodies) == len(model.joint_names)
    masses = [tree.ground.mass, *(body.inertia.mass for body in tree.bodies)]
    assert abs(sum(masses) - model.total_mass) < 1e-12
    assert tree.frames[model.root].body == WORLD


def test_effects_go_with_the_axis() -> None:
    """A joint whose axis points backwards is slack at the negative of its angle there."""
    model = by_name("axes").model.with_springs(3.0, rest=0.2)
    for body in build_tree(model).bodies:
        for effects in body.effects:
            assert effects.rest == 0.2 * body.multiplier


def test_the_base_has_its_armature() -> None:
    """And its borne weight is on the body of the link."""
    model = replace(by_name("quadruped_floating").model, base_armature=0.5)
    tree = build_tree(model.with_gravity_compensation({model.root: 0.25}))
    base = tree.bodies[0]
    assert base.armature == base.free_rotor == 0.5
    assert base.borne[0][0] == 0.25 * model.link(model.root).mass
    assert not any(body.borne for body in tree.bodies[1:])
