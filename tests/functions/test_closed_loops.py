"""`wd.loops` on arrays: batches, dtypes, libraries, errors."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pytest
import torch
from documented_numbers import check_numbers
from loop_robots import four_bar, leg, rod, two_arms
from states import states

import warpdyn as wd
from warpdyn.functions import closed_loops
from warpdyn.functions.closed_loops import (
    _contradict,
    _environment_numbers,
    _if_closed,
    independent_rows,
)

MODEL = four_bar()
NEAR = np.array([[1.0, -0.9, 1.0], [0.8, -0.8, 0.9], [1.2, -1.0, 1.2]])


def test_kernels_equal_the_oracle() -> None:
    """Every function is called on a batch."""
    q = wd.loops.close(MODEL, NEAR)
    s = states(MODEL, 3)
    assert q.shape == (3, 3) and np.abs(wd.loops.errors(MODEL, q)).max() < 1e-9
    truth = [wd.oracle(wd.loops.close, MODEL, x) for x in NEAR]
    np.testing.assert_allclose(q, truth, rtol=0, atol=1e-12)
    assert wd.loops.constraint_jacobian(MODEL, q).shape == (3, 3, 3)
    results = wd.loops.dynamics(MODEL, q, s.v, s.tau)
    assert isinstance(results, wd.results.LoopDynamics) and results.loop_forces.shape == (3, 1, 6)
    for k in range(3):
        a, forces = wd.oracle(wd.loops.dynamics, MODEL, q[k], s.v[k], s.tau[k])
        np.testing.assert_allclose(results.acceleration[k], a, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(results.loop_forces[k], forces, rtol=1e-9, atol=1e-9)
    back = wd.loops.inverse_dynamics(MODEL, q, s.v, results.acceleration, actuated=["j1"])
    assert not back[:, 1:].any()


def test_configurations_with_nan_or_overflow_are_not_contradictions() -> None:
    """NaN or infinity in the errors or in the columns. Nor are errors that the joints can undo."""
    r, J = np.ones((2, 3)), np.zeros((2, 3, 3))
    assert _contradict(r, J, 0.5) and not _contradict(r, J, 1.0)
    assert not _contradict(r, J + np.eye(3), 0.5)  # motions of the joints can close it
    for no_number in (np.nan, np.inf):
        for errors, columns in ((r * no_number, J), (r, J + no_number)):
            assert not _contradict(errors, columns, 0.5)


def test_single_precision_closes_loops_to_its_own_tolerance() -> None:
    """1e-5 by default."""
    q = wd.loops.close(MODEL, NEAR.astype(np.float32))
    assert q.dtype == np.float32 and np.abs(wd.loops.errors(MODEL, q)).max() < 1e-5


def test_torch_gradients_equal_finite_differences() -> None:
    """The gradients go through assembly and dynamics."""
    q0 = torch.tensor(NEAR, requires_grad=True)
    tau = torch.zeros(3, 3, dtype=torch.float64)

    def total(q: torch.Tensor) -> torch.Tensor:
        closed = wd.loops.close(MODEL, q, fixed=["j1"])
        return wd.loops.dynamics(MODEL, closed, None, tau).acceleration[:, 0].sum()

    total(q0).backward()
    h = 1e-6
    for k in range(3):
        d = torch.zeros(3, dtype=torch.float64)
        d[k] = h
        with torch.no_grad():
            rate = (total(q0 + d) - total(q0 - d)) / (2 * h)
        assert q0.grad[:, k].sum().item() == pytest.approx(rate.item(), rel=1e-5, abs=1e-5)


def test_a_loop_that_cannot_close_is_refused_with_its_gap() -> None:
    """A call with `check=False` returns the open loop."""
    q = np.array([[1.0, 0.0, 0.0]])
    with pytest.raises(
        ValueError, match=r"did not converge: the loops of four_bar stay open in 1 of 1"
    ):
        wd.loops.close(MODEL, q, fixed=["j1", "j2"])
    assert (
        np.abs(
            wd.loops.errors(MODEL, wd.loops.close(MODEL, q, fixed=["j1", "j2"], check=False))
        ).max()
        > 0.1
    )
    with pytest.raises(ValueError, match=r"by 0.* m or rad at most .largest_error 1e-12"):
        wd.loops.close(MODEL, q, most_steps=1, largest_error=1e-12)
    with pytest.raises(ValueError, match=r"in 1 of 1 environments, by nan m or rad .*start nearer"):
        wd.loops.close(MODEL, q * np.nan)
    several = np.tile(NEAR[:1], (12, 1))
    several[[3, 5]] = np.nan
    with pytest.raises(ValueError, match=r"in 2 of 12 environments \(numbers 3, 5\), by nan"):
        wd.loops.close(MODEL, several)
    several[:] = np.nan
    with pytest.raises(ValueError, match=r"\(numbers 0, 1, 2, 3, 4, 5, 6, 7, ...\)"):
        wd.loops.close(MODEL, several)
    with pytest.raises(KeyError, match="no moving joint named 'j'"):
        wd.loops.close(MODEL, q, fixed=["j"])
    with pytest.raises(ValueError, match="most_steps must be a whole number"):
        wd.loops.close(MODEL, q, most_steps=0)


def test_contradictory_loops_are_refused() -> None:
    """A hinge as two connect constraints on its axis, one of which is 2e-7 m longer.

    A gap of 1e-7 m remains.
    """
    builder = wd.ModelBuilder("twice")
    for link in MODEL.links:
        builder.add_link(link.name, link.mass, link.com, np.array(link.inertia))
    for joint in MODEL.joints:
        place, axis = joint.pose, (0, 1, 0)
        builder.add_joint(joint.name, "continuous", joint.parent, joint.child, place, axis=axis)
    for y, more in ((0.0, 0.0), (0.1, 2e-7)):
        builder.connect("coupler", (0.45 + more, y, 0), "rocker", (0, y, -0.35))
    model = builder.build()
    with pytest.raises(
        ValueError, match=r"no small motion of its joints.*: they contradict each other"
    ):
        wd.loops.close(model, NEAR)
    q = wd.loops.close(model, NEAR, largest_error=1e-6)
    assert 5e-8 < np.abs(wd.loops.errors(model, q)).max() < 2e-7


def test_a_robot_without_loops_has_the_dynamics_of_its_tree() -> None:
    """There are no equations, and the dynamics equal `aba` and `rnea`."""
    model = four_bar(loop=False)
    s = states(model, 2)
    assert wd.loops.errors(model, s.q).shape == (2, 0)
    assert wd.loops.constraint_jacobian(model, s.q).shape == (2, 0, 3)
    a, forces = wd.loops.dynamics(model, s.q, s.v, s.tau)
    np.testing.assert_allclose(a, wd.aba(model, s.q, s.v, s.tau), rtol=1e-9)
    assert forces.shape == (2, 0, 6) and (wd.loops.close(model, s.q) == s.q).all()
    tau = wd.loops.inverse_dynamics(model, s.q, s.v, s.a)
    np.testing.assert_allclose(tau, wd.rnea(model, s.q, s.v, s.a), rtol=1e-9)


def test_actuated_joints_must_determine_the_motion() -> None:
    """A pendulum hangs on a linkage.

    Two joints of the linkage leave the pendulum without a drive.
    """
    pendulum = wd.ModelBuilder("pendulum").add_link("fixed").add_link("bob", **rod(0.3, 2))
    pendulum.add_joint("swing", "continuous", "fixed", "bob", axis=(0, 1, 0))
    model = four_bar().attach(pendulum.build(), "ground")
    q = np.zeros((1, model.nq))
    q[:, model.q_indices(["j1", "j2", "j3"])] = wd.loops.close(MODEL, NEAR[:1])
    for joints in (["j1", "swing"], ["swing", "j3"]):
        tau = wd.loops.inverse_dynamics(model, q, None, None, actuated=joints)
        a = wd.loops.dynamics(model, q, None, tau).acceleration
        np.testing.assert_allclose(a, 0.0, atol=1e-9)
    with pytest.raises(ValueError, match=r"j1, j2 of .* do not determine the motion"):
        wd.loops.inverse_dynamics(model, q, None, None, actuated=["j1", "j2"])
    for names in ([], ["swing"], ["j1", "j2", "swing"]):
        said = rf"with 2 coordinates together, .*; got {len(names)} \({', '.join(names) or 'no joints'}\)$"
        with pytest.raises(ValueError, match=said):
            wd.loops.inverse_dynamics(model, q, None, None, actuated=names)


def test_independent_equations_are_counted_at_a_closed_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop is open at the start and near it. Equal models of other tests share their numbers."""
    for name in ("_jacobians", "_ranks"):
        monkeypatch.setattr(closed_loops, name, WeakKeyDictionary())
    model, read = four_bar(), []
    jacobian = closed_loops._loops.loop_jacobian
    recorded = lambda tree, q: read.append(q) or jacobian(tree, q)  # noqa: E731
    monkeypatch.setattr(closed_loops._loops, "loop_jacobian", recorded)
    assert independent_rows(model) == 2
    (q,) = read
    assert np.abs(wd.oracle(wd.loops.errors, model, np.array(q, float))).max() < 1e-5


def test_one_open_loop_of_two_environments_is_named() -> None:
    closed = wd.loops.close(MODEL, NEAR[:2])
    with pytest.raises(ValueError, match=r"in 1 of 2 environments \(numbers 1\), by 0\.\d+ m"):
        _if_closed(MODEL, None, None, closed + np.array([[0.0], [0.1]]) * [0.0, 1.0, 0.0])


def test_dependent_equations_are_not_counted() -> None:
    """A planar loop has two of three, and the leg's spatial loops have all."""
    assert independent_rows(MODEL) == 2 and independent_rows(leg()) == 6
    far = wd.description.Loop.connect("left3", (9, 0, 0), "right3", (0, 0, 0))
    assert independent_rows(two_arms(far)) == 3  # it never closes
    idle = wd.ModelBuilder("idle").add_link("a").add_link("b", **rod(0.3, 2)).add_link("c")
    idle.add_joint("j", "continuous", "a", "b", axis=(0, 1, 0)).add_joint("k", "fixed", "a", "c")
    assert independent_rows(idle.connect("a", (1, 0, 0), "c", (1, 0, 0)).build()) == 0


@pytest.mark.parametrize(("count", "more"), [(1, ""), (8, ""), (9, ", ...")])
def test_the_first_eight_environments_with_open_loops_are_listed(count: int, more: str) -> None:
    """A single environment has no number."""
    numbers = np.arange(20, 20 + count)
    listed = ", ".join(str(x) for x in numbers[:8])
    assert _environment_numbers(numbers, 99) == f" (numbers {listed}{more})"
    assert _environment_numbers(numbers, 1) == ""


def test_each_base_velocity_gives_the_same_motion() -> None:
    """Accelerations and Jacobians of a free linkage, in the world's axes."""
    model = four_bar(floating=True)
    q = np.zeros((1, model.nq))
    q[0, 3:7] = 0.1, 0.2, -0.3, np.sqrt(1 - 0.14)
    q = wd.loops.close(model, q, fixed=[model.base_joint])
    v = states(model, 1).v
    mixed = model.with_base_velocity("local_world_aligned")
    J, J_mixed = wd.loops.constraint_jacobian(model, q), wd.loops.constraint_jacobian(mixed, q)
    np.testing.assert_allclose(J[..., 6:], J_mixed[..., 6:], rtol=0, atol=1e-12)
    a = wd.loops.dynamics(model, q, None, np.zeros_like(v)).acceleration
    a_mixed = wd.loops.dynamics(mixed, q, None, np.zeros_like(v)).acceleration
    np.testing.assert_allclose(a[:, 6:], a_mixed[:, 6:], rtol=0, atol=1e-9)
    assert np.abs(a[:, :3] - a_mixed[:, :3]).max() > 1e-3


def test_a_traced_configuration_is_not_checked() -> None:
    """JAX has no numbers yet. An error equal to the bound counts as closed."""
    jax = pytest.importorskip("jax")
    q = jax.numpy.asarray(NEAR.astype(np.float32))
    found = jax.jit(lambda x: wd.loops.close(MODEL, x))(q)
    np.testing.assert_allclose(found, wd.loops.close(MODEL, NEAR), atol=1e-5)
    jax.jit(lambda x: wd.loops.close(MODEL, x, fixed=["j1", "j2"]))(q)  # stays open, unchecked
    errors = float(np.abs(wd.loops.errors(MODEL, NEAR)).max())
    assert _if_closed(MODEL, errors, None, NEAR) is NEAR
    with pytest.raises(ValueError, match="stay open in 1 of 3 environments"):
        _if_closed(MODEL, np.nextafter(errors, 0.0), None, NEAR)


def test_documented_numbers() -> None:
    check_numbers(
        "functions.closed_loops", TOLERANCE={"float32": 1e-05, "float64": 1e-09}, LISTED=8
    )
