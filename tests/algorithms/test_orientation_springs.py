"""Springs of ball and free joints: the gradient of a potential, in each algorithm with joint
forces.
"""

from __future__ import annotations

import numpy as np
import pytest
from devices import placed_params
from robots import by_name
from states import error, states, step

import warpdyn as wd
from warpdyn.algorithms.orientation_springs import orientation_spring_forces, sprung_bodies
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.dynamics import effect_torques

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}

DIFFERENCES = 1e-8
"""Relative; central differences by 1e-5."""

H = 1e-5

STIFFNESS = {"ball": 3.0, "floating": 5.0}


def sprung(name: str) -> wd.Model:
    """The robot with a spring in every ball and free joint, with a rest pose."""
    model = by_name(name).model
    held = [j for j in model.joints if j.kind.name in STIFFNESS]
    assert held
    springs = {j.name: STIFFNESS[j.kind.name] for j in held}
    rest = {j.name: 0.3 * np.arange(1, j.kind.nv + 1) - 0.7 for j in held}
    return model.with_springs(springs, rest=rest)


MODELS = {name: sprung(name) for name in ("balls", "free_inside")}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def potential(model: wd.Model, q: np.ndarray) -> np.ndarray:
    """Half of k times the squares of angle and distance from the rest pose."""
    total = np.zeros(len(q))
    for joint in (j for j in model.joints if j.effects):
        x, rest = q[:, model.coordinates[joint.name].q], np.array([e.rest for e in joint.effects])
        w = np.linalg.norm(rest[-3:])
        slack = np.append(np.sin(w / 2) * rest[-3:] / w, np.cos(w / 2))
        angle = 2 * np.arccos(np.clip(np.abs(x[:, -4:] @ slack), 0, 1))
        away = x[:, :-4] - rest[:-3]
        total += 0.5 * joint.effects[0].spring * (angle**2 + (away**2).sum(-1))
    return total


@each_model
def test_the_force_is_the_gradient_of_a_potential(model: wd.Model) -> None:
    """The gradient is taken along each coordinate of v, by central differences on the manifold."""
    s = states(model, 2)
    found = wd.oracle(effect_torques, model, s.q, 0.0 * s.v)
    for q, tau in zip(s.q, found, strict=True):
        rows = np.tile(q, (model.nv, 1))
        ends = [potential(model, step(model, rows, x * np.eye(model.nv))) for x in (H, -H)]
        assert error((ends[0] - ends[1]) / (2 * H), tau) <= 1e-7  # arccos loses digits near its end


@each_model
def test_derivatives_equal_finite_differences_and_forward_mode(model: wd.Model) -> None:
    """Derivatives by the recursion are compared along every coordinate of v."""
    s, n = states(model, 1), model.nv
    by_q, by_v, _ = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a)
    rows = [np.tile(x[:1], (n, 1)) for x in (s.q, s.v, s.a)]
    ends = [
        wd.oracle(wd.rnea, model, step(model, rows[0], x * np.eye(n)), *rows[1:]) for x in (H, -H)
    ]
    assert error(by_q[0], ((ends[0] - ends[1]) / (2 * H)).T) <= DIFFERENCES
    wanted = wd.oracle(wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v"))
    for x, y in zip((by_q, by_v), wanted, strict=True):
        assert error(x, y, *wanted) <= ROUND_OFF["float64"] * 10


def test_springs_are_zero_at_rest_and_pull_the_shorter_way() -> None:
    """q and -q are one orientation. The torque is k times the angle, up to half a turn."""
    model = MODELS["balls"]
    (body, *_) = sprung_bodies(tree_of(model))
    joint = model.joint(body.joint)
    at, speeds = model.coordinates[joint.name].q, model.coordinates[joint.name].v
    rest = np.array([e.rest for e in joint.effects])
    tilted = {angle: model.neutral.copy() for angle in (0.0, 3.1, -3.1)}
    w = np.linalg.norm(rest)
    for angle, q in tilted.items():
        q[at] = [*(np.sin((w + angle) / 2) * rest / w), np.cos((w + angle) / 2)]
        for sign in (1.0, -1.0):
            q[at] *= sign
            force = dict(orientation_spring_forces(tree_of(model), q.tolist()))
            found = [force[k] for k in range(speeds.start, speeds.stop)]
            assert np.allclose(found, STIFFNESS["ball"] * angle * rest / w, atol=1e-12)


@each_model
def test_kernels_equal_the_oracle(model: wd.Model, run, dtype) -> None:
    s = states(model).rounded(dtype)
    for function, arrays in ((wd.rnea, (s.q, s.v, s.a)), (effect_torques, (s.q, s.v))):
        wanted = wd.oracle(function, model, *arrays)
        assert error(run(function, model, *arrays, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]


def test_stiffness_can_vary_between_environments(run, device: str) -> None:
    """Params set the stiffness of one joint. Each environment equals a model of its stiffness."""
    model = MODELS["balls"]
    name = next(j.name for j in model.joints if j.effects)
    s, k = states(model, 3), np.array([1.0, 20.0, 0.5])
    params = model.params(spring={name: k})
    found = wd.oracle(effect_torques, model, s.q, s.v, params=params)
    for e in range(3):
        one = model.with_springs({name: k[e]})
        wanted = wd.oracle(effect_torques, one, s.q[e : e + 1], s.v[e : e + 1])
        assert error(found[e : e + 1], wanted) <= ROUND_OFF["float64"]
    kernel = run(effect_torques, model, s.q, s.v, params=placed_params(params, device))
    assert error(kernel, found) <= ROUND_OFF["float64"]


def test_stiff_springs_are_stepped_implicitly() -> None:
    """A body on a ball joint, for which an explicit step is unstable, comes to rest at the rest
    pose.
    """
    builder = wd.ModelBuilder("pendulum")
    builder.add_link("ground")
    builder.add_link("bob", mass=1.0, com=(0, 0, -0.3), inertia=np.diag([0.01, 0.02, 0.03]))
    builder.add_joint("ball", kind="ball", parent="ground", child="bob")
    model = builder.build().with_springs({"ball": 5e4}, rest={"ball": (0.2, 0.0, -0.4)})
    q, v = np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros((1, 3))
    for _ in range(400):
        q, v, *_ = wd.step(model, q, v, np.zeros((1, 3)), dt=0.01)
    slack = np.array([0.2, 0.0, -0.4])
    w = np.linalg.norm(slack)
    assert np.allclose(
        np.abs(q[0] @ np.append(np.sin(w / 2) * slack / w, np.cos(w / 2))), 1, atol=1e-6
    )


@pytest.mark.parametrize(
    ("springs", "rest", "words"),
    [
        ({"ball": -1.0}, None, "not negative"),
        (None, {"ball": 0.3}, '3 for the ball joint "ball", got 0.3'),
        (None, {"ball": (0.0, float("nan"), 0.0)}, "finite"),
    ],
)
def test_invalid_springs_are_refused(springs, rest, words: str) -> None:
    builder = wd.ModelBuilder("pendulum")
    builder.add_link("ground")
    builder.add_link("bob", mass=1.0, inertia=np.eye(3))
    builder.add_joint("ball", kind="ball", parent="ground", child="bob")
    with pytest.raises(ValueError, match=words):
        builder.build().with_springs(springs, rest=rest)
