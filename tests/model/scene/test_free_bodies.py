"""Which bodies of a model move freely, and the coordinates of its joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.scene.free_bodies import (
    drawn_at,
    free_joints,
    internal_joints,
    joint_columns,
    joint_position_columns,
    links_on,
    robot_base,
)

CUBE = wd.description.Box(0.1, 0.1, 0.1)


def test_a_floating_base_is_a_free_body() -> None:
    model = wd.load_robot("quadruped")
    assert [joint.name for joint in free_joints(model)] == [model.base_joint]
    assert joint_columns(model).tolist() == [*range(6, model.nv)]
    assert joint_position_columns(model).tolist() == [*range(7, model.nq)]
    assert not model.joint_columns.flags.writeable


def test_a_fixed_robot_has_no_free_bodies() -> None:
    model = wd.load_robot("panda")
    assert free_joints(model) == () and internal_joints(model) == model.moving_joints


def test_the_base_of_a_robot_is_the_free_body_with_joints() -> None:
    """Objects have no joints; a robot on a fixed base has no free body as its base."""
    for name, base in (("quadruped", "base"), ("panda", None)):
        model = wd.load_robot(name)
        assert robot_base(model) == base
        assert robot_base(model.with_object("cube", CUBE, mass=1.0)) == base


def test_objects_are_free_bodies_in_any_order_of_the_joints() -> None:
    """So are objects on a frame that is fixed in the world, but not those in a moving hand."""
    inertia = np.diag([0.01, 0.01, 0.01])
    builder = wd.ModelBuilder("scene").add_link("world").add_frame("table", "world", (0, 0, 1))
    for name in ("first", "arm", "second", "held"):
        builder.add_link(name, 1.0, (0, 0, 0), inertia)
    builder.add_joint("a", "floating", "table", "first")
    builder.add_joint("b", "revolute", "world", "arm", lower=-1, upper=1)
    builder.add_joint("c", "floating", "arm", "held")
    builder.add_joint("d", "floating", "world", "second")
    model = builder.build()
    assert {joint.name for joint in free_joints(model)} == {"a", "d"}
    assert {joint.name for joint in internal_joints(model)} == {"b", "c"}
    assert model.v_indices(["b", "c"]) == joint_columns(model).tolist()


def test_the_tree_has_the_same_free_bodies() -> None:
    """Columns of joints by name equal those by bodies of the tree for all robots with an object."""
    from warpdyn.algorithms.simulation.contact_rows import joint_coordinates
    from warpdyn.execution.request.evaluate import tree_of

    for name in ("panda", "quadruped", "humanoid", "cartpole"):
        for model in (wd.load_robot(name), wd.load_robot(name).with_object("o", CUBE, mass=1.0)):
            assert joint_coordinates(tree_of(model)) == joint_columns(model).tolist()


def test_links_on_a_link_are_those_fixed_to_it() -> None:
    model = wd.load_robot("panda").with_frame("mark", "panda_link3", (0, 0, 0.1))
    assert links_on(model, "panda_link3") == {"panda_link3", "mark"}


def test_drawn_poses_make_a_configuration() -> None:
    """The result is empty without bodies."""
    place = wd.description.Pose((1.0, 2.0, 3.0)).placement
    (drawn,) = drawn_at({"a": place})
    assert drawn.coordinates == (("a", (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)),)
    assert drawn_at({}) == ()


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_objects_have_the_models_quaternion_order(order: Any) -> None:
    model = wd.load_robot("quadruped", quaternion=order)
    turned = np.array([0.6, 0.0, 0.0, 0.8])  # x y z w
    scene = model.with_object("o", CUBE, mass=1.0, pose=(1.0, 0.0, 0.0, *turned))
    wanted = turned if order == "xyzw" else turned[[3, 0, 1, 2]]
    np.testing.assert_allclose(scene.configurations["home"][-4:], wanted, atol=1e-15)
