"""Fixed tendons: inertia, springs and damping along sums of joint positions, in every algorithm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.algorithms.momentum_observer import joint_momentum
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model.tendons import Tendon

ROUND_OFF = 1e-12


def with_tendons(name: str) -> wd.Model:
    """A tendon over three joints, and one that is slack in a range."""
    model = by_name(name).model
    single = [joint.name for joint in model.joints if joint.kind.single]
    first, second, third = single[0], single[1], single[-1]
    tendons = (
        Tendon("a", ((first, 2.0), (third, -0.5)), armature=0.7, spring=3.0, slack=(0.1, 0.1), damping=0.4),
        Tendon("b", ((second, 1.0), (first, 0.3)), armature=0.2, spring=5.0, slack=(-0.2, 0.3), constant=0.1),
    )  # fmt: skip
    return replace(model, tendons=tendons)


@pytest.fixture(params=["panda", "quadruped_floating", "mimic_branches"])
def model(request: pytest.FixtureRequest) -> wd.Model:
    return (
        with_tendons(request.param).with_springs("description").with_friction(viscous="description")
    )


def jacobian(model: wd.Model, tendon: Tendon) -> np.ndarray:
    """Rates of the tendon's length by v. Mimic joints count with their multiplier."""
    c = np.zeros(model.nv)
    for name, coefficient in tendon.coefficients:
        joint = model.joint(name)
        leader, multiplier = (joint.mimic.joint, joint.mimic.multiplier) if joint.mimic else (name, 1.0)  # fmt: skip
        c[model.coordinates[leader].v] += coefficient * multiplier
    return c


def test_armature_is_in_the_mass_matrix(model: wd.Model) -> None:
    """M of the robot without tendons plus m c c^T, and so are kinetic energy and momentum."""
    s, plain = states(model, 2), replace(model, tendons=())
    rows = [(tendon.armature, jacobian(model, tendon)) for tendon in model.tendons]
    wanted = wd.oracle(wd.crba, plain, s.q) + sum(m * np.outer(c, c) for m, c in rows)
    M = wd.oracle(wd.crba, model, s.q)
    assert error(M, wanted) < ROUND_OFF
    twice = np.einsum("ei,eij,ej->e", s.v, M, s.v)
    assert error(wd.oracle(wd.kinetic_energy, model, s.q, s.v), 0.5 * twice) < ROUND_OFF
    p, _ = joint_momentum(tree_of(model), s.q[0].tolist(), s.v[0].tolist())
    assert error(np.array(p), M[0] @ s.v[0]) < ROUND_OFF


def test_springs_and_damping_act_along_the_tendon(model: wd.Model) -> None:
    """c (k stretch + b rate), and nothing while it is slack."""
    s, plain = states(model, 6), replace(model, tendons=())
    off = wd.oracle(effect_torques, model, s.q, s.v) - wd.oracle(effect_torques, plain, s.q, s.v)
    columns = {name: c.q.start for name, c in model.coordinates.items()}
    by_name_ = {joint.name: joint for joint in model.joints}
    wanted = np.zeros_like(off)
    for tendon in model.tendons:
        c, length = jacobian(model, tendon), np.full(6, tendon.constant)
        for name, coefficient in tendon.coefficients:
            mimic = by_name_[name].mimic
            position = (
                mimic.multiplier * s.q[:, columns[mimic.joint]] + mimic.offset if mimic else s.q[:, columns[name]]
            )  # fmt: skip
            length = length + coefficient * position
        low, high = tendon.slack
        stretch = np.minimum(length - low, 0) + np.maximum(length - high, 0)
        force = tendon.spring * stretch + tendon.damping * (s.v @ c)
        wanted += force[:, None] * c
    assert error(off, wanted) < ROUND_OFF


def test_forward_dynamics_inverts_inverse_dynamics(model: wd.Model) -> None:
    """The method is the factorised mass matrix. Articulated bodies refuse tendons with armature."""
    s = states(model, 2)
    a = wd.oracle(wd.aba, model, s.q, s.v, s.tau)
    assert error(wd.oracle(wd.rnea, model, s.q, s.v, a), s.tau) < 1e-9
    x = np.linalg.solve(wd.oracle(wd.crba, model, s.q), s.tau[..., None])[..., 0]
    assert error(wd.oracle(wd.solve, model, s.q, s.tau), x) < 1e-9
    with pytest.raises(ValueError, match="tendons with armature, which articulated bodies"):
        wd.oracle(wd.aba, model, s.q, s.v, s.tau, method="aba")


def test_derivatives_equal_those_by_forward_mode(model: wd.Model) -> None:
    """The recursion, compared with forward mode on rnea."""
    s = states(model, 1)
    wanted = wd.oracle(wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"))
    for x, y in zip(wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a), wanted, strict=True):
        assert error(x, y, *wanted) < ROUND_OFF
