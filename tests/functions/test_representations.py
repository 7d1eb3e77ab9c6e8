"""Public conversions between conventions: names and aliases, columns of libraries, shapes,
refusals.
"""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import representations as rep

ROUND_OFF = 1e-14
"""Relative to the largest entry."""

MODEL = by_name("mimic_chain_floating").model
S = states(MODEL, 2)
GIVEN = {
    "velocity": (S.q, S.v),
    "acceleration": (S.q, S.v, S.a),
    "force": (S.q, S.tau),
}
LIBRARIES = ("mujoco", "newton", "drake", "pinocchio")
JOINTS = sum(bool(joint.kind.nv) for joint in MODEL.joints)
"""With those that follow others."""

POSE = np.tile([0.3, -0.2, 0.5, 0.0, 0.0, 0.6, 0.8], (3, 1))
SIX = np.random.default_rng(0).normal(size=(3, 6))


@pytest.mark.parametrize("name", GIVEN)
def test_velocities_have_nv_columns_or_those_of_the_library(name: str) -> None:
    """nv between representations. A library has a column for every joint, also for mimic joints."""
    function = getattr(wd.convert, name)
    check_shapes(function, MODEL, *GIVEN[name], shapes=(MODEL.nv,), target="world")
    check_shapes(function, MODEL, *GIVEN[name], shapes=(6 + JOINTS,), target="mujoco")
    there = [wd.oracle(function, MODEL, *GIVEN[name], target="mujoco")] * (len(GIVEN[name]) - 1)
    check_shapes(function, MODEL, S.q, *there, shapes=(MODEL.nv,), source="mujoco")


@pytest.mark.parametrize("library", LIBRARIES)
def test_configurations_have_the_columns_of_the_library(library: str) -> None:
    """Seven of the base and one for every joint. Converted back they have nq."""
    check_shapes(wd.convert.configuration, MODEL, S.q, shapes=(7 + JOINTS,), target=library)
    there = wd.oracle(wd.convert.configuration, MODEL, S.q, target=library)
    check_shapes(wd.convert.configuration, MODEL, there, shapes=(MODEL.nq,), source=library)


def test_twists_and_wrenches_have_six_numbers() -> None:
    """Transforms are 6 by 6."""
    for function in (wd.convert.twist, wd.convert.wrench):
        check_shapes(function, POSE, SIX, shapes=(6,), source="local", target="world")
    for function in (wd.motion_transform, wd.force_transform):
        check_shapes(function, POSE, shapes=(6, 6))


def test_conversions_accept_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested."""
    check_call(wd.convert.twist, POSE, SIX, source="local", target="world")
    check_call(wd.motion_transform, POSE)


@pytest.mark.parametrize("name", GIVEN)
def test_nothing_is_converted_by_default(name: str) -> None:
    """Both sides are warpdyn's, in the representation with which the model was loaded."""
    function = getattr(wd.convert, name)
    assert error(wd.oracle(function, MODEL, *GIVEN[name]), GIVEN[name][-1]) <= ROUND_OFF
    found = wd.oracle(function, MODEL, *GIVEN[name], target="world")
    assert np.array_equal(
        found, wd.oracle(function, MODEL, *GIVEN[name], source="local", target="world")
    )


@pytest.mark.parametrize("name", GIVEN)
def test_representations_have_aliases(name: str) -> None:
    """body, mixed, inertial. Pinocchio's base velocity is "local"."""
    function = getattr(wd.convert, name)
    for alias, own in (("mixed", "local_world_aligned"), ("inertial", "world")):
        found = wd.oracle(function, MODEL, *GIVEN[name], source="body", target=alias)
        wanted = wd.oracle(function, MODEL, *GIVEN[name], source="local", target=own)
        assert np.array_equal(found, wanted)
    pinocchio = wd.oracle(function, MODEL, *GIVEN[name], target="pinocchio")
    assert error(pinocchio[:, :6], GIVEN[name][-1][:, :6]) <= ROUND_OFF


def test_joints_selects_the_order_of_a_librarys_columns() -> None:
    """Reversed names give reversed columns."""
    names = [joint.name for joint in MODEL.joints if joint.kind.nv]
    usual = wd.oracle(wd.convert.velocity, MODEL, S.q, S.v, target="mujoco", joints=names)
    other = wd.oracle(wd.convert.velocity, MODEL, S.q, S.v, target="mujoco", joints=names[::-1])
    assert np.array_equal(other[:, :6], usual[:, :6])
    assert np.array_equal(other[:, 6:], usual[:, :5:-1])
    back = wd.oracle(wd.convert.velocity, MODEL, S.q, other, source="mujoco", joints=names[::-1])
    assert error(back, S.v) <= ROUND_OFF


def test_newtons_base_velocity_is_that_of_the_centre_of_mass() -> None:
    """com= replaces the root link's centre of mass: v + ω × c, in the world's axes."""
    mixed = wd.oracle(wd.convert.velocity, MODEL, S.q, S.v, target="mixed")
    R = wd.oracle(wd.fk, MODEL, S.q, frame=MODEL.root)[:, :3, :3]
    for com in (None, (0.4, -0.1, 0.2)):
        found = wd.oracle(wd.convert.velocity, MODEL, S.q, S.v, target="newton", com=com)
        c = np.array(MODEL.link(MODEL.root).com if com is None else com)
        wanted = mixed[:, :3] + np.cross(mixed[:, 3:6], R @ c)
        assert error(found[:, :3], wanted) <= ROUND_OFF
        assert np.array_equal(found[:, 3:6], mixed[:, 3:6])


# Refusals.


def test_unknown_representations_and_orders_are_refused() -> None:
    """Unknown names, two libraries, an incomplete order, and joints that a library has in another
    form.
    """
    model, s = by_name("quadruped_floating").model, states(by_name("quadruped_floating").model, 1)
    with pytest.raises(ValueError, match=r"(source|target) must be one of local"):
        rep.convert_velocity(model, s.q, s.v, source="left", target="world")
    with pytest.raises(ValueError, match="in two steps"):
        rep.convert_velocity(model, s.q, s.v, source="mujoco", target="drake")
    with pytest.raises(ValueError, match="must name the library"):
        rep.convert_velocity(
            model, s.q, s.v, source="local", target="world", joints=model.joint_names
        )
    with pytest.raises(ValueError, match="are missing"):
        rep.convert_configuration(model, s.q, target="mujoco", joints=model.joint_names[1:])
    with pytest.raises(ValueError, match="stands there twice"):
        rep.convert_configuration(
            model, s.q, target="mujoco", joints=[*model.joint_names, model.joint_names[0]]
        )
    with pytest.raises(ValueError, match=r"(source|target) must be one of local"):
        rep.convert_twist(s.q[:, :7].copy(), s.v[:, :6].copy(), source="mujoco", target="world")
    planar = by_name("planar").model
    with pytest.raises(ValueError, match='"drive" is planar, whose columns differ in drake'):
        rep.convert_configuration(planar, states(planar, 1).q, target="drake")


@pytest.mark.parametrize("name", GIVEN)
def test_a_conversion_between_two_libraries_is_refused(name: str) -> None:
    """One side must be warpdyn's."""
    with pytest.raises(ValueError, match="convert from one library to another in two steps"):
        getattr(wd.convert, name)(MODEL, *GIVEN[name], source="mujoco", target="drake")
    with pytest.raises(ValueError, match="joints= is the order of another library's columns"):
        getattr(wd.convert, name)(MODEL, *GIVEN[name], target="world", joints=MODEL.joint_names)
    with pytest.raises(
        ValueError, match=r"target must be one of local, .*warpdyn, mujoco.*got 'left'"
    ):
        getattr(wd.convert, name)(MODEL, *GIVEN[name], target="left")


def test_a_configuration_conversion_needs_one_library() -> None:
    """Neither none nor two, because a configuration has no representations."""
    for sides in ({}, {"target": "world"}, {"source": "mujoco", "target": "drake"}):
        with pytest.raises(ValueError, match="one of source and target must be a library"):
            wd.convert.configuration(MODEL, S.q, **sides)


@pytest.mark.parametrize("function", [wd.convert.twist, wd.convert.wrench])
def test_twists_and_wrenches_have_three_representations(function) -> None:
    """None of a library. Both sides are required."""
    for sides in ({"source": "drake", "target": "world"}, {"source": "local", "target": "warpdyn"}):
        with pytest.raises(ValueError, match="must be one of local, world, local_world_aligned"):
            function(POSE, SIX, **sides)
    with pytest.raises(TypeError, match="target"):
        function(POSE, SIX, source="local")


def test_arrays_without_a_librarys_columns_are_refused() -> None:
    """A row of nv is refused if the library has more columns."""
    with pytest.raises(ValueError, match=rf"^v must be \(B, {6 + JOINTS}\).*got \(2, {MODEL.nv}\)"):
        wd.convert.velocity(MODEL, S.q, S.v, source="mujoco")
