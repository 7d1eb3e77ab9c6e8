"""Errors of a state, named by environment and joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, make_array, usable
from hand_models import ball_arm

import warpdyn as wd
from warpdyn.execution.launch import launch
from warpdyn.execution.launch import state_checks as chosen
from warpdyn.execution.launch.state_checks import SHOWN, check_bounds

MODEL = wd.load_robot("panda", floating_base=True)
Q = wd.random_configuration(MODEL, 6)
V = np.zeros((6, MODEL.nv))
ELBOW = MODEL.q_names.index("panda_joint4")
BASE = MODEL.q_names.index("floating_base.qx")


@pytest.fixture
def debug() -> Iterator[None]:
    wd.config.debug = True
    yield
    wd.config.debug = False


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_valid_state_gives_an_empty_report(library: str, dtype: Any) -> None:
    """The states are random configurations, configurations at the limits in float32, one robot and
    trajectories."""
    usable(library)
    at_limit = np.where(np.isfinite(MODEL.position_upper), MODEL.position_upper, Q)
    for q, v in ((Q, V), (at_limit, None), (Q[0], V[0]), (Q.reshape(2, 3, -1), V[0])):
        given = [make_array(library, x.astype(dtype)) for x in (q, v) if x is not None]
        report = wd.check_state(MODEL, *given)
        assert report == wd.results.StateReport((), ()) and report.ok
        assert str(report) == "nothing wrong"


def test_errors_name_environment_and_joint() -> None:
    """Numbers that are not finite, quaternions that are not of unit length, and joints outside
    limits."""
    q, v = Q.copy(), V.copy()
    q[1, ELBOW], q[3, ELBOW] = np.nan, 1.5
    q[2, BASE : BASE + 4] *= 1.01
    v[0, MODEL.v_names.index("panda_joint1")], v[5, 2] = -9.0, np.inf
    report = wd.check_state(MODEL, q, v)
    assert not report.ok and report.errors == (
        "q in environment 1: panda_joint4 is nan",
        "v in environment 5: floating_base.vz is inf",
        "q in environment 2: the quaternion of floating_base has length 1.01, not 1 (wd.normalize)",
    )
    assert report.warnings == (
        "q in environment 3: panda_joint4 is 1.5, outside -3.0718 to -0.0698",
        "v in environment 0: panda_joint1 is -9, outside -2.175 to 2.175",
    )
    assert str(report).count("error: ") == 3 and str(report).count("warning: ") == 2
    led = wd.check_state(MODEL, q.reshape(2, 3, -1))
    assert led.errors[0] == "q in environment (0, 1): panda_joint4 is nan"
    assert wd.check_state(MODEL, q[1]).errors == ("q: panda_joint4 is nan",)


def test_quaternions_of_every_joint_are_checked_in_the_models_order() -> None:
    """Ball joints are included."""
    model = ball_arm()
    q = np.tile(model.neutral, (3, 1))
    start = model.q_names.index("shoulder.qw")
    q[1, start : start + 4] *= -1.0
    q[2, start : start + 4] = 0.0
    assert wd.check_state(model, q).errors == (
        "q in environment 2: the quaternion of shoulder has length 0, not 1 (wd.normalize)",
    )


def test_only_the_first_five_errors_of_a_kind_are_listed() -> None:
    """The number of further errors follows."""
    report = wd.check_state(MODEL, np.full((40, MODEL.nq), np.nan))
    assert len(report.errors) == SHOWN + 1
    assert report.errors[-1] == f"q: {40 * MODEL.nq - SHOWN} more like this"


def test_wrong_shapes_are_reported() -> None:
    """The message is that of a call."""
    assert wd.check_state(MODEL, Q[:, 1:], V).errors[0].startswith("q must be (B, nq) = (B, 15)")
    assert wd.check_state(MODEL, Q, V[:2]).errors[0].startswith("v must be (B, nv) = (6, 14)")
    with pytest.raises(TypeError, match="must be a Model"):
        wd.check_state("panda", Q)


def params_that_change() -> wd.Params:
    """Params whose array changes after the check, as a randomisation changes it."""
    params = MODEL.params(com={"panda_hand": [0.0, 0.0, 0.0]})
    params.arrays["com"].fill(np.nan)
    return params


WRONG: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "not finite": (
        lambda q: wd.rnea(MODEL, q, V, V),
        "rnea of panda: q in environment 1: panda_joint4 is nan; .*config.debug is on",
    ),
    "not unit": (
        lambda q: wd.fk(MODEL, q),
        "the quaternion of floating_base has length 1.1, not 1",
    ),
    "another input": (
        lambda q: wd.rnea(MODEL, Q, V, V, gravity=(0.0, 0.0, np.inf)),
        "gravity: entry 2 is inf",
    ),
    "params": (
        lambda q: wd.com(MODEL, Q, params=params_that_change()),
        r"com \(params\): entry \(0, 0\) is nan",
    ),
    "two configurations": (
        lambda q: wd.difference(MODEL, Q, q),
        "q1 in environment 2: the quaternion",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_debug_mode_refuses_calls_with_wrong_numbers(case: str, debug: None) -> None:
    """The message names environment and joint. Without debug mode the calls run."""
    call, words = WRONG[case]
    q = Q.copy()
    q[1, ELBOW] = np.nan
    q[2, BASE : BASE + 4] *= 1.1
    with pytest.raises(ValueError, match=words):
        call(q)
    wd.config.debug = False
    call(q)


def test_a_gain_may_be_zero_and_not_negative() -> None:
    """The check sees an array that has changed."""
    gain = np.zeros(6)
    call = wd.momentum_observer.describe(MODEL, Q, V, V, V, V, V, dt=0.01, gain=gain)
    check_bounds(call)
    check_bounds(wd.interpolate.describe(MODEL, Q, Q, -0.5))  # a number without a bound
    gain[4] = -1.0
    with pytest.raises(ValueError, match=r"gain in environment 4: .*must be at least 0, got -1"):
        check_bounds(call)


def test_a_stiffness_must_be_above_zero() -> None:
    """It may be infinite. Zero and NaN are refused."""
    ground = wd.Ground(stiffness=np.full(6, np.inf))
    points = [wd.ContactPoint(MODEL.link_names[-1], (0.0, 0.0, 0.0), 0.0)]
    call = wd.step.describe(MODEL, Q, V, V, dt=0.01, ground=ground, points=points)
    check_bounds(call)
    for number in (0.0, np.nan):
        call.arrays["stiffness"][2] = number
        with pytest.raises(ValueError, match=r"stiffness in environment 2: .*must be above 0, got"):
            check_bounds(call)


@pytest.mark.parametrize("gravity", [(0.0, 0.0, np.nan), np.full((6, 3), np.inf)])
def test_a_simulation_refuses_a_gravity_that_is_not_finite(gravity: Any) -> None:
    """It would start all robots again in each step, and count failures."""
    with pytest.raises(ValueError, match=r"gravity.*: entry [02] is (nan|inf)"):
        wd.Simulation(MODEL, 6, points=[], gravity=gravity, dtype="float64")


def test_debug_mode_accepts_valid_calls(debug: None) -> None:
    """They have valid states, or are functions for quaternions of any length. Wrong shapes are
    still refused."""
    q = Q * 1.0
    assert wd.rnea(MODEL, q, V, None).shape == V.shape
    q[:, BASE : BASE + 4] *= 1.1
    assert np.allclose(wd.normalize(MODEL, q), Q)
    assert wd.configuration_rate(MODEL, q, V).shape == Q.shape
    with pytest.raises(ValueError, match="q must be"):
        wd.fk(MODEL, q[:, 1:])


def test_debug_mode_checks_torch_and_jax(debug: None) -> None:
    """Calls with gradients and compiled calls are checked."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    q = Q.copy()
    q[1, ELBOW] = np.nan
    with pytest.raises(ValueError, match="panda_joint4 is nan"):
        wd.crba(MODEL, torch.tensor(q, requires_grad=True))
    with pytest.raises(Exception, match="panda_joint4 is nan"):
        jax.block_until_ready(jax.jit(lambda x: wd.crba(MODEL, x))(jax.numpy.asarray(q)))


def test_numbers_are_not_checked_without_debug_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debug mode is off by default."""

    def fail(*_: object) -> None:
        raise AssertionError("looked at")

    monkeypatch.setattr(launch, "check_arrays", fail)
    wd.rnea(MODEL, Q, V, V)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.UNIT == 0.001
    assert chosen.AT_LIMIT == 1e-06
    assert chosen.SHOWN == 5


def test_a_quaternion_exactly_at_the_tolerance_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slightly beyond it is not."""
    model = wd.load_robot("quadruped")
    q = np.array(model.neutral)
    monkeypatch.setattr(chosen, "UNIT", 0.5)
    for length, errors in ((1.5, 0), (0.5, 0), (1.5 + 1e-9, 1), (0.5 - 1e-9, 1)):
        q[3:7] = [0.0, 0.0, 0.0, length]
        assert len(wd.check_state(model, q).errors) == errors, length


def test_joint_limits_have_a_margin_of_one_millionth() -> None:
    """It is relative for limits above 1. A joint beyond the margin is reported."""
    model = wd.load_robot("panda")
    lower, upper = model.position_lower, model.position_upper
    margin = 1e-6 * np.maximum(np.abs(upper), 1.0)
    for q, count in (
        (lower, 0),
        (upper, 0),
        (upper + 0.99 * margin, 0),
        (upper + 1.01 * margin, 8),
        (lower - 1.01e-6 * np.maximum(np.abs(lower), 1.0), 8),
    ):
        found = wd.check_state(model, np.clip(q, -9, 9)).warnings
        assert len(found) == min(count, 5 + (count > 5))
    found = wd.check_state(model, np.stack([upper, upper + 1.0])).warnings
    names = model.q_names
    assert found[0] == (
        f"q in environment 1: {names[0]} is {upper[0] + 1:.6g}, "
        f"outside {lower[0]:.6g} to {upper[0]:.6g}"
    )
    assert found[-1] == "q: 3 more like this"
    deep = wd.check_state(model, np.zeros((1, 2, 8)), np.full((1, 2, 8), np.nan))
    assert deep.errors[0] == f"v in environment (0, 0): {model.v_names[0]} is nan"
    assert deep.errors[5] == "v: 11 more like this"
