"""Quantities that may vary: their owners, and the numbers that are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.description import Gearbox
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import EYE, Effects
from warpdyn.model.quantities import DRAWN, EFFECTS, QUANTITIES, SHAPES, check_owner, has_direction

MODEL = wd.load_robot("panda")


def test_each_quantity_is_an_argument_of_params() -> None:
    """The order is that of the table. Quantities of links have link names, others joint names."""
    assert keywords(MODEL.params) == SHAPES.keys()
    for quantity, shape in SHAPES.items():
        link = QUANTITIES[quantity].owner == "link"
        name = MODEL.links[2].name if link else MODEL.joints[2].name
        number = np.zeros(shape) + 0.5
        assert MODEL.params(**{quantity: {name: number}})[quantity].shape == (1, *shape)


def test_each_quantity_with_a_draw_is_an_argument_of_randomise() -> None:
    """An axis, a spring and its rest position are not drawn. A tilt is only drawn."""
    assert keywords(wd.randomise) == set(DRAWN)
    assert SHAPES.keys() - set(DRAWN) == {"axis", "spring", "rest"}
    assert set(DRAWN) - SHAPES.keys() == {"tilt"}


def test_effects_are_fields_of_a_joint_s_effects() -> None:
    assert set(EFFECTS) <= {field.name for field in fields(Effects)}


def keywords(function: Callable[..., Any]) -> set[str]:
    """Keyword arguments of a function that are quantities of links and joints."""
    others = {"seed", "gravity", "like", "dtype", "device"}
    parameters = inspect.signature(function).parameters.values()
    return {x.name for x in parameters if x.kind is x.KEYWORD_ONLY} - others


def test_a_varied_axis_is_the_rotation_axis_of_its_joint() -> None:
    """fk at q is Rodrigues' rotation about the direction, whatever its length and sign."""
    builder = wd.ModelBuilder("top")
    builder.add_link("disk", mass=1.0, inertia=np.eye(3))
    builder.add_link("base")
    builder.add_joint("spin", "continuous", "base", "disk", axis=(0, 0, 1))
    model = builder.build()
    axes = np.array([(0, 0, 2.0), (0, 0, -0.5), (3.0, 0, 0), (1.0, -2.0, 0.5), (-1.0, 1.0, -4.0)])
    q = np.linspace(-2, 2, len(axes))[:, None]
    poses = wd.oracle(wd.fk, model, q, frame="disk", params=model.params(axis={"spin": axes}))
    for pose, u, angle in zip(poses, axes, q[:, 0], strict=True):
        quaternion = [*(u / np.linalg.norm(u) * np.sin(angle / 2)), np.cos(angle / 2)]
        assert np.allclose(pose[:3, :3], wd.convert.quaternion_to_matrix(np.array(quaternion)))


def test_derivatives_by_an_axis_are_tangent_to_the_sphere() -> None:
    """A longer axis is the same axis, uᵀ ∂τ/∂u = 0. Rotating it changes the torque."""
    axis = np.array([[0.3, -0.4, 1.2]])
    params = MODEL.params(axis={"panda_joint4": axis})
    q = wd.random_configuration(MODEL, 1, seed=3)
    slope = wd.oracle(
        wd.derivatives, wd.gravity_torques, MODEL, q, wrt="params:axis", params=params
    )
    along = slope.reshape(MODEL.nv, 3) @ axis[0]
    assert np.abs(along).max() <= 1e-12 < np.abs(slope).max()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"axis": {"panda_hand_joint": (0, 0, 1)}}, "is fixed; axis belongs to a moving joint"),
        ({"axis": {"panda_joint1": np.zeros((2, 3))}}, 'axis of joint "panda_joint1" .* not zero'),
        ({"viscous": {"panda_joint1": -0.5}}, 'viscous of joint "panda_joint1" .* got -0.5'),
        ({"mass": {"panda_hand": -1.0}}, 'mass of link "panda_hand" .* not negative, got -1'),
    ],
)
def test_invalid_quantities_are_refused(wrong: dict[str, Any], words: str) -> None:
    """The message contains the name. Rows of joints without the quantity are not read."""
    with pytest.raises(ValueError, match=words):
        MODEL.params(**wrong)


def test_axes_of_all_joints_may_be_one_array() -> None:
    """Rows of fixed joints may be zero."""
    axes = np.array([joint.axis if joint.kind.nv else (0, 0, 0) for joint in MODEL.joints], float)
    q = wd.random_configuration(MODEL, 3, seed=1)
    params = MODEL.params(3, axis=axes)
    found, wanted = wd.oracle(wd.crba, MODEL, q, params=params), wd.oracle(wd.crba, MODEL, q)
    assert np.abs(found - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_quantities_that_a_joint_type_does_not_have_are_refused() -> None:
    """The message names the joint, its type and the reason. Types with the quantity accept it."""
    builder = wd.ModelBuilder("kinds").add_link("base")
    for kind in ("ball", "planar", "revolute", "continuous", "fixed"):
        builder.add_link(kind, 1.0, inertia=np.eye(3))
        builder.add_joint(f"{kind}_joint", kind, "base", kind)
    model = builder.build()
    for quantity, kind, words in (
        ("axis", "ball", "is a ball joint; axis is for joints of one coordinate$"),
        ("rest", "planar", "is a planar joint; rest is for joints of one coordinate$"),
        (
            "spring",
            "planar",
            "is a planar joint; springs are for joints of one coordinate, ball and",
        ),
        ("stiffness", "continuous", "has no position limits for stiffness to act beyond; give it"),
        ("damping", "continuous", r'model.with_limits\("continuous_joint", lower=..., upper=...\)'),
        ("viscous", "fixed", "is fixed; viscous belongs to a moving joint$"),
    ):
        with pytest.raises(ValueError, match=f'joint "{kind}_joint" of kinds .*{words}'):
            check_owner(model, quantity, f"{kind}_joint")
    for quantity in ("axis", "rest", "spring", "placement", "viscous"):
        check_owner(model, quantity, "continuous_joint")
    for quantity in ("spring", "placement"):
        check_owner(model, quantity, "ball_joint")
    check_owner(model, "placement", "fixed_joint")


def test_the_axis_of_a_gearbox_cannot_vary() -> None:
    """Its ratio depends on the axis. A joint with its own axis may vary."""
    z, own, gear = (0.0, 0.0, 1.0), KINDS["continuous"], KINDS["gearbox"]
    links = [wd.Link(name, 1.0, inertia=EYE) for name in ("frame", "small", "hand")]
    joints = [
        wd.Joint("in", own, "frame", "small", axis=z),
        wd.Joint("gear", gear, "frame", "hand", axis=z, gearbox=Gearbox(3.0, "small")),
    ]
    model = wd.Model.assemble("geared", links, joints)
    assert [has_direction(joint) for joint in model.joints] == [True, False]
    check_owner(model, "axis", "in")
    with pytest.raises(ValueError, match=r'"gear" of geared .*whose axis its ratio depends on; it'):
        check_owner(model, "axis", "gear")
