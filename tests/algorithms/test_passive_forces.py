"""Friction, springs and gravity compensation: formulas in both dynamics, and how a model gets them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import ROBOTS, Robot, by_name
from states import error, reduction, states, without_mimic

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.dynamics import bias_forces, effect_torques

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}


def with_all_effects(model: wd.Model) -> wd.Model:
    """Every effect in every joint that can have it, with limits inside the range of the states."""
    for k, joint in enumerate(model.joints):
        if joint.is_bounded:
            model = model.with_limits(joint.name, lower=-0.5 - 0.1 * k, upper=0.3 + 0.1 * k)
    named = [joint.name for joint in model.joints if joint.kind.nv]
    viscous, coulomb = ({name: x + 0.1 * k for k, name in enumerate(named)} for x in (0.5, 0.8))
    model = model.with_friction(viscous=viscous, coulomb=coulomb)
    model = model.with_springs(7.0, rest=0.2).with_gravity_compensation(0.3)
    return model.with_limit_springs(stiffness=40.0, damping=3.0)


def test_effects_equal_their_formulas() -> None:
    """Joint by joint, for reversed axes too."""
    model = with_all_effects(by_name("axes").model)
    s = states(model, 40)
    for k, joint in enumerate(model.moving_joints):
        q, v, (effects,) = s.q[:, k], s.v[:, k], joint.effects
        wanted = effects.viscous * v + effects.coulomb * np.sign(v) + 7.0 * (q - 0.2)
        wanted -= 0.3 * wd.oracle(wd.gravity_torques, model, s.q)[:, k]
        over, under = np.maximum(q - joint.limits.upper, 0), np.minimum(q - joint.limits.lower, 0)
        wanted += effects.stiffness * (over + under) + effects.damping * v * (
            (over > 0) | (under < 0)
        )
        assert effects.stiffness == (40.0 if joint.is_bounded else 0.0)
        assert (
            error(wd.oracle(effect_torques, model, s.q, s.v)[:, k], wanted) <= ROUND_OFF["float64"]
        )


def test_effects_at_rest_within_the_limits_are_zero() -> None:
    """Coulomb friction is 0 at rest, a spring is at its rest length, and without gravity no weight
    is compensated.
    """
    model = with_all_effects(by_name("axes").model).with_springs(rest=0.0)
    still, none = np.zeros(model.nq), np.zeros(model.nv)
    assert not wd.oracle(effect_torques, model, still, none, gravity=np.zeros(3)).any()


def test_inverse_dynamics_adds_the_effects(robot: Robot) -> None:
    """rnea = M a + bias + effects."""
    model = with_all_effects(robot.model)
    s = states(model, 2)
    parts = wd.oracle(bias_forces, model, s.q, s.v), wd.oracle(effect_torques, model, s.q, s.v)
    inertial = np.einsum("eij,ej->ei", wd.oracle(wd.crba, model, s.q), s.a)
    assert (
        error(wd.oracle(wd.rnea, model, s.q, s.v, s.a), inertial + sum(parts), *parts)
        <= ROUND_OFF["float64"]
    )


def test_forward_dynamics_inverts_inverse_dynamics(robot: Robot) -> None:
    """rnea(aba(tau)) = tau, by both algorithms."""
    from warpdyn.algorithms.aba import aba, forward_dynamics_crba

    model = with_all_effects(robot.model)
    if unmoved_joint(tree_of(model)) is not None:
        pytest.skip("a joint moves no inertia")
    s = states(model, 2)
    for text in (aba, forward_dynamics_crba):
        rows = zip(s.q.tolist(), s.v.tolist(), s.tau.tolist(), strict=True)
        a = np.array([text(tree_of(model), *row, (0.0, 0.0, -9.81), {}) for row in rows])
        terms = np.einsum("eij,ej->ei", np.abs(wd.oracle(wd.crba, model, s.q)), np.abs(a))
        assert error(wd.oracle(wd.rnea, model, s.q, s.v, a), s.tau, terms) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_have_their_own_effects(robot: Robot) -> None:
    """G^T effects_full(G q + g, G v)."""
    model = with_all_effects(robot.model)
    full, s = without_mimic(model), states(model)
    Gq, Gv, g = reduction(model)
    wanted = wd.oracle(effect_torques, full, s.q @ Gq.T + g, s.v @ Gv.T) @ Gv
    assert error(wd.oracle(effect_torques, model, s.q, s.v), wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "axes", "free_inside"])
def test_kernels_equal_the_oracle(name: str, run, dtype) -> None:
    """Inverse dynamics, forward dynamics and `effect_torques` are compared."""
    model = with_all_effects(by_name(name).model)
    s = states(model).rounded(dtype)
    for function, arrays in ((wd.rnea, (s.q, s.v, s.a)), (effect_torques, (s.q, s.v))):
        wanted = wd.oracle(function, model, *arrays)
        assert error(run(function, model, *arrays, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]
    if str(dtype) == "float64":
        assert (
            error(run(wd.aba, model, s.q, s.v, s.tau), wd.oracle(wd.aba, model, s.q, s.v, s.tau))
            <= 1e-9
        )


def test_friction_of_the_description_acts_on_request() -> None:
    """ "description" takes each joint's <dynamics damping friction>.

    Otherwise they are data only.
    """
    model = by_name("panda").model
    joints = tuple(
        replace(j, damping=0.1 * k, friction=0.2 * k) for k, j in enumerate(model.joints)
    )
    model = replace(model, joints=joints)
    s = states(model, 3)
    assert not wd.oracle(effect_torques, model, s.q, s.v).any()
    model = model.with_friction(viscous="description", coulomb="description")
    moving = model.moving_joints
    damping, friction = (
        np.array([j.damping for j in moving]),
        np.array([j.friction for j in moving]),
    )
    found = wd.oracle(effect_torques, model, s.q, s.v)
    assert (
        error(found[:, :7], (damping * s.v + friction * np.sign(s.v))[:, :7])
        <= ROUND_OFF["float64"]
    )


def test_springs_of_the_description_act_on_request() -> None:
    """Then each pulls to its rest position.

    Gravity compensation reduces the gravity torques by its share.
    """
    model = by_name("panda").model
    joints = tuple(
        replace(j, spring=2.0 * k, rest=0.1 * k) if j.kind.single else j
        for k, j in enumerate(model.joints)
    )
    links = tuple(replace(link, gravcomp=0.5) for link in model.links)
    model = replace(model, joints=joints, links=links)
    s = states(model, 3)
    assert not wd.oracle(effect_torques, model, s.q, s.v).any()
    spring, rest = (np.array([getattr(j, x) for j in model.joints[:7]]) for x in ("spring", "rest"))
    found = wd.oracle(effect_torques, model.with_springs("description"), s.q, s.v)
    assert error(found[:, :7], spring * (s.q[:, :7] - rest)) <= ROUND_OFF["float64"]
    found = wd.oracle(effect_torques, model.with_gravity_compensation("description"), s.q, s.v)
    assert error(found, -0.5 * wd.oracle(wd.gravity_torques, model, s.q)) <= ROUND_OFF["float64"]


def test_a_body_with_full_gravity_compensation_floats() -> None:
    """The robot stays at rest without torque under any gravity.

    Its accelerations are those without gravity, and its inertia does not change.
    """
    model = by_name("quadruped_floating").model
    floating, s = model.with_gravity_compensation(1.0), states(model, 2)
    still = np.zeros_like(s.v)
    tau = wd.oracle(wd.rnea, floating, s.q, still, still, gravity=s.gravity)
    weight = wd.oracle(wd.gravity_torques, model, s.q, gravity=s.gravity)
    assert error(tau, 0.0 * tau, weight) <= ROUND_OFF["float64"]
    a = wd.oracle(wd.aba, floating, s.q, s.v, s.tau)
    wanted = wd.oracle(wd.aba, model, s.q, s.v, s.tau, gravity=(0.0, 0.0, 0.0))
    assert error(a, wanted) <= 1e-9
    assert (wd.oracle(wd.crba, floating, s.q) == wd.oracle(wd.crba, model, s.q)).all()


def test_one_value_applies_to_all_joints_except_free_and_mimic_ones() -> None:
    """A free joint has no friction, and a mimic joint only if it is named."""
    free = by_name("free_inside").model.with_friction(viscous=1.0)
    assert [j.name for j in free.joints if j.effects] == ["shoulder", "hinge"]
    tied = by_name("mimic_branches").model.with_friction(coulomb=1.0)
    assert [j.name for j in tied.joints if j.effects] == ["wrist", "left_finger"]


def test_omitted_values_are_kept_and_zero_removes_an_effect() -> None:
    """Values are set by one call after another. The keys of the models differ."""
    plain = by_name("axes").model
    model = plain.with_friction(viscous=1.0).with_friction(coulomb={"slanted": 2.0})
    effects = model.joint("slanted").effects[0]
    assert (effects.viscous, effects.coulomb) == (1.0, 2.0) and model.key != plain.key
    gone = model.with_friction(viscous=0.0, coulomb=0.0)
    assert gone.key == plain.key and not any(joint.effects for joint in gone.joints)
    springy = plain.with_limit_springs(stiffness=5.0)
    assert springy.key != springy.with_limits("slanted", upper=1.0).key


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda m: m.with_friction(viscous={"bolted": 1.0}), "is fixed"),
        (lambda m: m.with_friction(viscous=-1.0), "not negative"),
        (lambda m: m.with_friction(coulomb="file"), "finite and not negative, got 'file'"),
        (lambda m: m.with_limit_springs(stiffness={"bolted": 1.0}), "no position limits"),
        (lambda m: m.with_limit_springs(damping=float("nan")), "finite"),
        (lambda m: m.with_springs({"bolted": 1.0}), "is a fixed joint; springs are for"),
        (lambda m: m.with_springs(-1.0), "not negative"),
        (lambda m: m.with_springs(rest=float("inf")), "rest must be finite"),
        (lambda m: m.with_gravity_compensation(float("nan")), "must be a finite number"),
    ],
)
def test_invalid_effects_are_refused(change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        change(by_name("rooted").model)


def test_an_unknown_joint_is_refused_with_a_suggestion() -> None:
    with pytest.raises(KeyError, match="did you mean 'elbow'"):
        by_name("rooted").model.with_friction(viscous={"elbw": 1.0})
