"""The oracle: the algorithm on plain numbers, for every argument that the functions accept."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd


def test_the_oracle_accepts_the_functions_arguments() -> None:
    """It accepts one robot or several, any library, and forces and gravity in their forms. The
    result is float64 in NumPy."""
    import warp as wp

    model = by_name("mimic_branches").model
    s = states(model, 3)
    whole = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    assert whole.shape == (3, model.nv) and whole.dtype == np.float64
    one = wd.oracle(wd.rnea, model, s.q[1], s.v[1], s.a[1], gravity=s.gravity[1], f_ext=s.forces[1])
    assert np.array_equal(one, whole[1])
    named = {link: s.forces[:, i] for i, link in enumerate(model.link_names)}
    assert np.array_equal(
        wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=named), whole
    )
    from_warp = wd.oracle(
        wd.rnea,
        model,
        wp.array(s.q),
        wp.array(s.v),
        wp.array(s.a),
        gravity=s.gravity,
        f_ext=s.forces,
    )
    assert np.array_equal(from_warp, whole)
    rounded = wd.oracle(wd.crba, model, s.q.astype(np.float32))
    assert rounded.dtype == np.float64 and np.array_equal(
        rounded, wd.oracle(wd.crba, model, s.q.astype(np.float32).astype(float))
    )


def test_the_oracle_makes_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes if nothing can be recorded or compiled."""
    import warpdyn.execution.launch.launch as launch

    def fail(*_: object) -> None:
        raise AssertionError("the oracle made a kernel")

    monkeypatch.setattr(launch, "_make_kernel", fail)
    model = wd.load_robot("cartpole")
    s = states(model, 2)
    assert wd.oracle(wd.aba, model, s.q, s.v, s.a).shape == (2, model.nv)


def test_the_oracle_returns_several_results_as_a_tuple() -> None:
    """The tuple is in the function's order, with names if the function has named results."""
    model = by_name("panda").model
    q, frame = wd.random_configuration(model, 2), model.link_names[-1]
    pose, jacobian = wd.oracle(wd.pose_and_jacobian, model, q, frame=frame)
    assert np.array_equal(pose, wd.oracle(wd.fk, model, q, frame=frame))
    assert np.array_equal(jacobian, wd.oracle(wd.jacobian, model, q, frame=frame))
    found = wd.oracle(wd.inverse_kinematics, model, pose[0], frame=frame, q0=q[0], restarts=0)
    assert found.success and error(found.q, q[0]) <= 1e-3


def test_the_oracle_refuses_wrong_shapes_like_the_functions() -> None:
    """The message is the same."""
    model = by_name("panda").model
    q = states(model, 2).q
    for function in (wd.crba, lambda *given: wd.oracle(wd.crba, *given)):
        with pytest.raises(ValueError, match=rf"q must be \(B, nq\) = \(B, {model.nq}\), got"):
            function(model, q[:, :-1])
