"""Public functions of the operational space: shapes, parts, defaults, gravity, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_shapes
from hand_made_urdf import joint, link, urdf
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.cli.workload import random_states
from warpdyn.functions.operational_space import operational_space_inertia
from warpdyn.model.names import ModelError

MODEL = wd.load_robot("ur5e")
FRAME = "tool0"
S = states(MODEL, 2)
NV = MODEL.nv
ONE = (wd.operational_space_inertia, wd.dynamically_consistent_inverse)


@pytest.mark.parametrize("part, rows", [("both", 6), ("linear", 3), ("angular", 3)])
def test_functions_of_the_operational_space_have_their_shapes(part: str, rows: int) -> None:
    """Λ is square, the bias a vector, J̄ has nv rows.

    A part has three directions in place of six.
    """
    given = {"frame": FRAME, "part": part}
    check_shapes(
        wd.operational_space, MODEL, S.q, S.v, shapes=[(rows, rows), (rows,), (NV, rows)], **given
    )
    check_shapes(wd.operational_space_inertia, MODEL, S.q, shapes=(rows, rows), **given)
    check_shapes(wd.dynamically_consistent_inverse, MODEL, S.q, shapes=(NV, rows), **given)


def test_the_operational_space_has_its_documented_defaults() -> None:
    """All six directions at the frame's origin in the world's axes, under the earth's gravity."""
    usual = {"reference": "local_world_aligned", "part": "both"}
    left_out, explicit = (
        wd.oracle(wd.operational_space, MODEL, S.q, S.v, frame=FRAME, **given)
        for given in ({}, {**usual, "gravity": (0.0, 0.0, -9.81), "f_ext": {}})
    )
    assert all(np.array_equal(x, y) for x, y in zip(left_out, explicit, strict=True))
    for function in ONE:
        left_out, explicit = (
            wd.oracle(function, MODEL, S.q, frame=FRAME, **given) for given in ({}, usual)
        )
        assert np.array_equal(left_out, explicit)


def test_separate_functions_equal_operational_space() -> None:
    """It returns all three results. Aliases of references are accepted."""
    for alias, own in (("body", "local"), ("inertial", "world")):
        inertia, _, inverse = wd.oracle(
            wd.operational_space, MODEL, S.q, S.v, frame=FRAME, reference=own
        )
        for function, wanted in zip(ONE, (inertia, inverse), strict=True):
            found = wd.oracle(function, MODEL, S.q, frame=FRAME, reference=alias)
            assert error(found, wanted) <= 1e-9


def test_forces_change_only_the_bias() -> None:
    """The frame carries f_ext on itself: the bias falls by J̄ᵀ Jᵀ f = f."""
    f = np.array([[1.0, -2.0, 0.5, 0.1, 0.2, -0.3]] * 2)
    plain, pushed = (
        wd.oracle(wd.operational_space, MODEL, S.q, S.v, frame=FRAME, reference="local", **given)
        for given in ({}, {"f_ext": {FRAME: f}})
    )
    assert np.array_equal(plain[0], pushed[0]) and np.array_equal(plain[2], pushed[2])
    condition = np.linalg.cond(plain[0]).max()
    assert error(plain[1] - pushed[1], f, plain[1]) <= 1e-14 * condition


def test_functions_of_the_operational_space_accept_a_batch_and_out() -> None:
    """One robot or many, both precisions, three arrays of `out=`."""
    model = by_name("slides").model
    s = states(model, 3)
    check_call(
        wd.operational_space,
        model,
        s.q,
        s.v,
        frame=model.link_names[-1],
        part="linear",
        single=1e-2,
    )


# Refusals.


def test_a_frame_that_cannot_move_in_all_directions_is_refused() -> None:
    """The tip of a cart-pole moves in a plane. Unknown references and frames are refused too."""
    model = by_name("cartpole").model
    q = np.zeros(model.nq)
    with pytest.raises(ModelError, match="of 6 directions"):
        operational_space_inertia(model, q, frame=model.link_names[-1])
    with pytest.raises(ValueError, match="reference must be one of"):
        operational_space_inertia(model, q, frame=model.link_names[-1], reference="body_fixed")
    with pytest.raises(KeyError):
        operational_space_inertia(model, q, frame="tip_of_nothing")


def test_a_frame_that_no_joint_moves_is_refused() -> None:
    """The root link of a fixed arm, and the link of a robot without joints, have no direction."""
    rigid = wd.load_urdf(urdf("block", link("a", 1.0)))
    for model, frame in ((MODEL, MODEL.root), (rigid, "a")):
        with pytest.raises(ModelError, match="in 0 of 6 directions, so it has no 6 by 6 inertia"):
            operational_space_inertia(model, np.zeros(model.nq), frame=frame)


def test_a_part_that_can_move_is_accepted() -> None:
    """If fewer than six directions are possible, the message suggests a part."""
    model = by_name("slides").model
    q, frame = states(model, 1).q, model.link_names[-1]
    with pytest.raises(
        ModelError, match=r'in 4 of 6 directions.*part="linear" or "angular".*mass_matrix_inverse'
    ):
        wd.operational_space_inertia(model, q, frame=frame)
    assert np.isfinite(
        wd.oracle(wd.operational_space_inertia, model, q, frame=frame, part="linear")
    ).all()
    with pytest.raises(ModelError, match="in 1 of 3 directions, so it has no 3 by 3 inertia"):
        wd.operational_space_inertia(model, q, frame=frame, part="angular")


def test_a_joint_without_inertia_is_refused() -> None:
    """Forward dynamics refuses such a joint, too."""
    model = wd.load_urdf(
        urdf("bare", link("a", 1.0), link("b"), joint("idle", "continuous", "a", "b"))
    )
    for function, given in ((ONE[0], 1), (ONE[1], 1), (wd.operational_space, 2)):
        with pytest.raises(ModelError, match='"idle" moves no inertia'):
            function(model, *[np.zeros(1)] * given, frame="b")


def test_unknown_parts_and_references_are_refused() -> None:
    """The message lists the choices."""
    for function, given in ((ONE[0], (S.q,)), (ONE[1], (S.q,)), (wd.operational_space, (S.q, S.v))):
        with pytest.raises(ValueError, match="part must be one of both, linear, angular; got 'up'"):
            function(MODEL, *given, frame=FRAME, part="up")
        with pytest.raises(ValueError, match="reference must be one of local, world"):
            function(MODEL, *given, frame=FRAME, reference="up")


def test_single_precision_is_accurate_near_a_singularity() -> None:
    """There forming and inverting Λ⁻¹ loses 5e-3 in float32."""
    q = random_states(MODEL, 5)["q"].astype(np.float32)
    for function in ONE:
        expected = wd.oracle(function, MODEL, q.astype(float), frame=FRAME)
        found = function(MODEL, q, frame=FRAME)
        assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
