"""Public functions of frames: one, several or all; references, parts and points; shapes and
refusals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from contracts import check_call, check_defaults, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import kinematics

ROUND_OFF = {"float64": 1e-13, "float32": 5e-6}
"""Relative to the largest entry of a pose: rotations are products of some ten factors."""

MODEL = by_name("rooted").model
S = states(MODEL, 2)
OTHER = "arm"
SEVERAL = {
    "fk": ((S.q,), (4, 4)),
    "jacobian": ((S.q,), (6, MODEL.nv)),
    "frame_velocity": ((S.q, S.v), (6,)),
    "frame_acceleration": ((S.q, S.v, S.a), (6,)),
    "frame_bias_acceleration": ((S.q, S.v), (6,)),
    "jacobian_derivative": ((S.q, S.v), (6, MODEL.nv)),
}
"""Functions of one frame, some or all: arrays, and the shape for one."""

PARTED = ("jacobian", "jacobian_derivative", "kinematic_hessian", "manipulability")
RELATIVE = ("fk", "jacobian", "frame_velocity")
POINTED = ("jacobian", "jacobian_derivative")


# Shapes, and frames in their order.


@pytest.mark.parametrize("name", SEVERAL)
def test_results_for_one_several_or_all_frames_have_their_shapes(name: str) -> None:
    """One frame adds no axis, several add one, also a list of one.

    Without either all links are returned.
    """
    function, (given, shape) = getattr(wd, name), SEVERAL[name]
    check_shapes(function, MODEL, *given, shapes=shape, frame="tip")
    check_shapes(function, MODEL, *given, shapes=(1, *shape), frames=["tip"])
    check_shapes(function, MODEL, *given, shapes=(3, *shape), frames=("tip", "arm", "tip"))
    check_shapes(function, MODEL, *given, shapes=(MODEL.nlinks, *shape))


@pytest.mark.parametrize("name", SEVERAL)
def test_frames_are_returned_in_the_given_order(name: str) -> None:
    """Each row equals that of the frame alone. All frames are those of `model.link_names`."""
    function, (given, _) = getattr(wd, name), SEVERAL[name]
    names = ["tip", "pedestal", "tip", "arm"]
    some = wd.oracle(function, MODEL, *given, frames=names)
    for k, frame in enumerate(names):
        assert np.array_equal(some[:, k], wd.oracle(function, MODEL, *given, frame=frame))
    every = wd.oracle(function, MODEL, *given)
    assert np.array_equal(some, every[:, MODEL.link_indices(names)])


def test_functions_of_one_frame_have_their_shapes() -> None:
    """Pose and Jacobian, Hessian, manipulability. frame= is required."""
    nv = MODEL.nv
    check_shapes(wd.pose_and_jacobian, MODEL, S.q, shapes=[(4, 4), (6, nv)], frame="tip")
    check_shapes(wd.kinematic_hessian, MODEL, S.q, shapes=(6, nv, nv), frame="tip")
    half = {"frame": "tip", "part": "linear", "out": np.full((len(S.q), 3, nv, nv), np.nan)}
    assert np.isfinite(wd.kinematic_hessian(MODEL, S.q, **half)).all()
    check_shapes(wd.manipulability, MODEL, S.q, shapes=(), frame="tip")
    for function in (wd.pose_and_jacobian, wd.kinematic_hessian, wd.manipulability):
        with pytest.raises(TypeError, match="frame"):
            function(MODEL, S.q)


def test_poses_are_matrices_or_vectors_of_seven() -> None:
    """Matrices by default, or [x y z qx qy qz qw]."""
    check_defaults(wd.fk, MODEL, S.q, form="matrix")
    check_shapes(wd.fk, MODEL, S.q, shapes=(7,), frame="tip", form="pose")
    check_shapes(wd.fk, MODEL, S.q, shapes=(2, 7), frames=["tip", "arm"], form="pose")
    T = wd.oracle(wd.fk, MODEL, S.q, frame="tip")
    pose = wd.oracle(wd.fk, MODEL, S.q, frame="tip", form="pose")
    assert error(wd.convert.matrix_to_pose(T), pose) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", PARTED)
def test_parts_are_rows_of_the_whole(name: str) -> None:
    """Three of six rows. Manipulability is the volume of these rows."""
    function = getattr(wd, name)
    given = (S.q, S.v) if name == "jacobian_derivative" else (S.q,)
    whole = wd.oracle(function, MODEL, *given, frame="tip")
    assert np.array_equal(whole, wd.oracle(function, MODEL, *given, frame="tip", part="both"))
    parts = [
        wd.oracle(function, MODEL, *given, frame="tip", part=part) for part in ("linear", "angular")
    ]
    if name == "manipulability":
        J = wd.oracle(wd.jacobian, MODEL, S.q, frame="tip")[..., 0]
        for found, rows in zip(parts, (J[:, :3], J[:, 3:]), strict=True):
            assert error(found, np.linalg.norm(rows, axis=1)) <= ROUND_OFF["float64"]
    else:
        assert np.array_equal(np.concatenate(parts, axis=1), whole)


def test_functions_of_frames_accept_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested, and functions with one result and with two."""
    model = by_name("cartpole").model
    s, frame = states(model, 3), model.link_names[-1]
    check_call(wd.fk, model, s.q)
    check_call(wd.pose_and_jacobian, model, s.q, frame=frame)


@pytest.mark.parametrize("name", ["panda", "branches_wxyz", "rooted"])
def test_frame_and_frames_give_rows_of_all_frames(name: str, run) -> None:
    """The rows have the order of `frames`. A repeated frame gives a repeated row."""
    model = by_name(name).model
    q = states(model).q
    poses = run(wd.fk, model, q)
    names = [model.link_names[-1], model.link_names[0], model.link_names[-1]]
    assert (
        error(run(wd.fk, model, q, frames=names), poses[:, model.link_indices(names)])
        <= ROUND_OFF["float64"]
    )
    assert error(run(wd.fk, model, q, frame=names[0]), poses[:, -1]) <= ROUND_OFF["float64"]


# References, relative frames and points.


def test_local_world_aligned_is_the_default_reference(run) -> None:
    """The documentation names this default."""
    model = by_name("ur5e").model
    q, frame = states(model).q, "tool0"
    default = run(wd.jacobian, model, q, frame=frame)
    assert np.array_equal(
        default, run(wd.jacobian, model, q, frame=frame, reference="local_world_aligned")
    )


@pytest.mark.parametrize(
    "name", sorted({*SEVERAL, "pose_and_jacobian", "kinematic_hessian"} - {"fk"})
)
def test_references_have_aliases(name: str) -> None:
    """body, inertial and mixed. The last one is the default."""
    function = getattr(wd, name)
    given = SEVERAL[name][0] if name in SEVERAL else (S.q,)

    def evaluate(**options: str) -> list[np.ndarray]:
        result = wd.oracle(function, MODEL, *given, frame="tip", **options)
        return list(result) if isinstance(result, tuple) else [result]

    for alias, own in (("body", "local"), ("inertial", "world"), ("mixed", "local_world_aligned")):
        pairs = zip(evaluate(reference=alias), evaluate(reference=own), strict=True)
        assert all(np.array_equal(x, y) for x, y in pairs)
    pairs = zip(evaluate(), evaluate(reference="mixed"), strict=True)
    assert all(np.array_equal(x, y) for x, y in pairs)


@pytest.mark.parametrize(
    ("call", "candidates"),
    [
        (lambda: wd.jacobian.describe(MODEL, S.q, reference="local"), 2),
        (lambda: wd.jacobian.describe(MODEL, S.q, reference="world"), 1),
        (lambda: wd.jacobian.describe(MODEL, S.q, frame="tip", reference="local"), 1),
        (lambda: wd.jacobian.describe(MODEL, S.q, reference="local", relative_to=OTHER), 1),
        (lambda: wd.frame_acceleration.describe(MODEL, S.q, S.v, S.a, reference="local"), 1),
        (lambda: wd.frame_acceleration.describe(MODEL, S.q, S.v, S.a, reference="world"), 2),
        (
            lambda: wd.frame_acceleration.describe(
                MODEL, S.q, S.v, S.a, reference="world", kind="classical"
            ),
            1,
        ),
        (lambda: wd.frame_bias_acceleration.describe(MODEL, S.q, S.v, reference="local"), 1),
        (lambda: wd.frame_bias_acceleration.describe(MODEL, S.q, S.v, reference="world"), 2),
    ],
)
def test_the_reference_decides_which_algorithms_are_candidates(
    call: Callable[[], Any], candidates: int
) -> None:
    """The shorter program of two algorithms is taken, if both compute what is asked."""
    assert len(call().algorithms) == candidates


def test_one_bias_acceleration_is_that_of_all_frames_for_another_base_velocity() -> None:
    """Its conversion needs the Jacobian of the same frames."""
    model = wd.load_robot("quadruped", base_velocity="world")
    s, name = states(model, 1), model.link_names[5]
    one = wd.oracle(wd.frame_bias_acceleration, model, s.q, s.v, frame=name)
    every = wd.oracle(wd.frame_bias_acceleration, model, s.q, s.v)
    assert error(one, every[:, model.link_index(name)], every) <= 1e-12


def test_accelerations_are_spatial_by_default() -> None:
    """The default is kind="spatial"."""
    check_defaults(wd.frame_acceleration, MODEL, S.q, S.v, S.a, kind="spatial")


@pytest.mark.parametrize("name", RELATIVE)
def test_the_root_link_of_a_fixed_robot_equals_the_world(name: str) -> None:
    """relative_to= the root changes nothing. Relative to another link the results differ."""
    function, (given, _) = getattr(wd, name), SEVERAL[name]
    wanted = wd.oracle(function, MODEL, *given, frame="tip")
    root = wd.oracle(function, MODEL, *given, frame="tip", relative_to=MODEL.root)
    other = wd.oracle(function, MODEL, *given, frame="tip", relative_to=OTHER)
    assert error(root, wanted) <= ROUND_OFF["float64"] and error(other, wanted) > 0.1


@pytest.mark.parametrize("name", POINTED)
def test_a_point_can_be_numbers_or_an_array(name: str) -> None:
    """A list and a tuple are constants of the program.

    An array has a row per robot or is one for all.
    """
    function, (given, _) = getattr(wd, name), SEVERAL[name]
    point = [0.1, -0.2, 0.3]
    wanted = wd.oracle(function, MODEL, *given, frame="tip", point=point)
    for form in (tuple(point), np.tile(point, (2, 1))):
        found = wd.oracle(function, MODEL, *given, frame="tip", point=form)
        assert error(found, wanted) <= ROUND_OFF["float64"]
    each = np.array([point, [0.0, 0.0, 0.0]])
    found = wd.oracle(function, MODEL, *given, frame="tip", point=each)
    assert error(found[0], wanted[0]) <= ROUND_OFF["float64"]
    at_origin = wd.oracle(function, MODEL, *given, frame="tip")
    assert error(found[1], at_origin[1]) <= ROUND_OFF["float64"]


# Refusals.


@pytest.mark.parametrize(
    "options, said",
    [
        ({"form": "euler"}, "form must be one of matrix, pose; got 'euler'"),
        ({"relative_to": "no_link"}, "no link named 'no_link'"),
    ],
)
def test_unknown_options_of_poses_are_refused(options: dict, said: str) -> None:
    """The message lists the choices, and names an unknown link."""
    model = by_name("ur5e").model
    with pytest.raises((ValueError, KeyError), match=said):
        kinematics.fk(model, states(model, 2).q, **options)


@pytest.mark.parametrize(
    "options, said",
    [
        (
            {"frame": "tool0", "part": "rotation"},
            "part must be one of both, linear, angular; got 'rotation'",
        ),
        ({"frame": "tool0", "frames": ["tool0"]}, "not both"),
        ({"frames": "tool0"}, "must be a list of link names"),
        ({"point": (0, 0, 0)}, "a point is fixed to one frame"),
        ({"frame": "tool0", "point": (0, 0)}, "three numbers"),
    ],
)
def test_invalid_options_of_jacobians_are_refused(options: dict, said: str) -> None:
    """Parts, frames and points."""
    model = by_name("ur5e").model
    with pytest.raises(ValueError, match=said):
        kinematics.jacobian(model, states(model, 2).q, **options)


def test_an_unknown_kind_of_acceleration_is_refused() -> None:
    """The message lists spatial and classical."""
    model = by_name("ur5e").model
    s = states(model, 1)
    with pytest.raises(ValueError, match="kind must be one of spatial, classical; got 'proper'"):
        kinematics.frame_acceleration(model, s.q, s.v, s.a, kind="proper")


@pytest.mark.parametrize("name", PARTED)
def test_an_unknown_part_is_refused(name: str) -> None:
    """The message lists the three parts."""
    given = (S.q, S.v) if name == "jacobian_derivative" else (S.q,)
    with pytest.raises(
        ValueError, match="part must be one of both, linear, angular; got 'rotation'"
    ):
        getattr(wd, name)(MODEL, *given, frame="tip", part="rotation")


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_to_an_unknown_link_is_refused(name: str) -> None:
    """The message names the link and suggests another."""
    function, (given, _) = getattr(wd, name), SEVERAL[name]
    with pytest.raises(KeyError, match="rooted has no link named 'tol'; did you mean 'tool'"):
        function(MODEL, *given, frame="tip", relative_to="tol")


@pytest.mark.parametrize("name", POINTED)
def test_points_must_be_three_numbers_of_one_frame(name: str) -> None:
    """Several frames, two numbers, and an array of another width are refused."""
    function, (given, _) = getattr(wd, name), SEVERAL[name]
    with pytest.raises(
        ValueError, match='a point is fixed to one frame: give frame="name" with point='
    ):
        function(MODEL, *given, frames=["tip"], point=(0.0, 0.0, 0.0))
    with pytest.raises(
        ValueError, match=r"point must be three numbers or an array \(B, 3\), got \(0.0, 0.0\)"
    ):
        function(MODEL, *given, frame="tip", point=(0.0, 0.0))
    with pytest.raises(ValueError, match=r"^point must be \(B, 3\).*got \(2, 2\)"):
        function(MODEL, *given, frame="tip", point=np.zeros((2, 2)))
