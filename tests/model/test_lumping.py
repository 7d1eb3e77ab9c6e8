"""A model's tree: the bodies of links on fixed joints, and the numbers of each body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robots import by_name

from warpdyn.model.closed_loops.loop import Loop
from warpdyn.model.lumping import build_tree
from warpdyn.model.poses_and_limits import Pose
from warpdyn.model.tree import WORLD


def test_links_on_fixed_joints_are_one_body() -> None:
    """The masses of such links are added in the body, or in the ground."""
    model = by_name("ur5e").model
    tree = build_tree(model)
    assert len(tree.bodies) == len(model.joint_names)
    masses = [tree.ground.mass, *(body.inertia.mass for body in tree.bodies)]
    assert abs(sum(masses) - model.total_mass) < 1e-12
    assert tree.frames[model.root].body == WORLD


def test_effects_follow_the_direction_of_the_axis() -> None:
    """The rest position of a spring changes sign if the axis of its joint is reversed."""
    model = by_name("axes").model.with_springs(3.0, rest=0.2)
    for body in build_tree(model).bodies:
        for effects in body.effects:
            assert effects.rest == 0.2 * body.multiplier


def test_the_base_body_has_the_models_base_armature() -> None:
    """The weight that is compensated is on the body of the link."""
    model = replace(by_name("quadruped_floating").model, base_armature=0.5)
    tree = build_tree(model.with_gravity_compensation({model.root: 0.25}))
    base = tree.bodies[0]
    assert base.armature == base.free_rotor == 0.5
    assert base.borne[0][0] == 0.25 * model.link(model.root).mass
    assert not any(body.borne for body in tree.bodies[1:])


def test_the_end_of_a_loop_is_on_a_body_or_in_the_world() -> None:
    """The poses are those of the loop, including placements of links on fixed joints."""
    model = by_name("ur5e").model
    at, there = Pose((0.1, 0.2, 0.3)), Pose((0.4, 0.5, 0.6))
    loops = (Loop.weld("tool0", at, None, there), Loop.weld("tool0", at, model.root, there))
    tree = build_tree(replace(model, loops=loops))
    tool = tree.frames["tool0"]
    for loop in tree.loops:
        assert loop.frames is not None
        first, second = loop.frames.first, loop.frames.second
        assert (first.body, second.body) == (tool.body, WORLD)
        expected = tool.placement.compose(at.placement).as_matrix()
        assert np.allclose([*first.placement.p], [*expected.p]) and np.allclose(
            [*second.placement.p], [0.4, 0.5, 0.6]
        )
