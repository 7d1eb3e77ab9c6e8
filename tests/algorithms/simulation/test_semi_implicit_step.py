"""One step on plain numbers: momentum, energy, drives, guards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS
from recorded_steps import STEPS, numbers_of
from robots import Robot
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.scene import Scene
from warpdyn.algorithms.simulation.semi_implicit_step import _clamp_velocities
from warpdyn.execution.request.evaluate import tree_of

BODY = """<robot name="body"><link name="b"><inertial><origin xyz="{com}"/><mass value="2"/>
<inertia ixx=".02" ixy="0" ixz="0" iyy=".05" iyz="0" izz=".06"/></inertial></link></robot>"""


def body(com: str = "0 0 0") -> wd.Model:
    return wd.load_urdf(BODY.format(com=com), floating_base=True)


def roll_out(model: wd.Model, q: Any, v: Any, **options: Any) -> wd.results.Step:
    """The oracle's step of one robot."""
    given = [np.array(x, dtype=float) for x in (q, v, np.zeros(model.nv))]
    return wd.results.Step(*wd.oracle(wd.step, model, *given, **options))


def test_momentum_in_free_flight_is_conserved_to_first_order() -> None:
    """A robot tumbles while its legs move. The loss is proportional to the step."""
    model = wd.load_robot("quadruped")
    s = states(model, 1)
    q, v, gravity = s.q[0], s.v[0], (0.0, 0.0, -9.81)
    before = wd.oracle(wd.momentum, model, q, v, reference="world")[:3]
    fall = np.array(gravity) * model.total_mass * 0.02
    lost = []
    for dt in (1e-3, 5e-4):
        end = roll_out(model, q, v, dt=dt, substeps=round(0.02 / dt), gravity=gravity, stops="none")
        after = wd.oracle(wd.momentum, model, end.q, end.v, reference="world")[:3]
        lost.append(np.abs(after - before - fall).max())
    assert lost[0] < 0.02 and lost[0] / lost[1] == pytest.approx(2, rel=0.1)


def test_each_kind_of_joint_moves_by_forward_dynamics_to_first_order(robot: Robot) -> None:
    """Every robot is tested, with ball, planar and free joints inside.

    Half the step halves the error of acceleration and rate of q.
    """
    model, s = robot.model, states(robot.model, 1)
    q, v, tau = s.q[0], s.v[0], s.tau[0]
    a = wd.oracle(wd.aba, model, q, v, tau)
    wrong = []
    for dt in (2e-5, 1e-5):
        options: dict[str, Any] = {"dt": dt, "speed_guard": False, "stops": "none"}
        end = wd.results.Step(*wd.oracle(wd.step, model, q, v, tau, **options))
        moved = wd.oracle(wd.difference, model, q, end.q)
        wrong.append([np.abs((end.v - v) / dt - a).max(), np.abs(moved / dt - v).max()])
    scale = 1.0 + np.abs(a).max()
    for whole, half in zip(*wrong, strict=True):
        assert whole < 1e-2 * scale
        assert whole == pytest.approx(2 * half, rel=0.05, abs=1e-8 * scale)


def test_a_short_step_equals_forward_dynamics() -> None:
    """The quotient (v+ - v) / dt tends to `aba` as dt goes to 0."""
    model = wd.load_robot("panda").with_friction(viscous=0.3)
    s = states(model, 1)
    q, v, tau = s.q[0], s.v[0], s.tau[0]
    end = wd.results.Step(
        *wd.oracle(wd.step, model, q, v, tau, dt=1e-7, speed_guard=False, stops="none")
    )
    a = wd.oracle(wd.aba, model, q, v, tau)
    assert np.allclose((end.v - v) / 1e-7, a, rtol=1e-4, atol=1e-4)
    assert np.allclose((end.q - q) / 1e-7, end.v, rtol=1e-6, atol=1e-6)
    assert np.allclose(end.torques, tau)


def test_a_stiff_drive_is_stable_and_reports_its_applied_torques() -> None:
    """The gains would make an explicit step unstable. The torques explain the motion."""
    model = wd.load_robot("double_pendulum")
    q, v, target = np.array([0.3, -0.2]), np.zeros(2), np.array([1.0, 0.5])
    drive = {"control": wd.PD(1e5, 10.0, 1e9), "targets": target, "speed_guard": False}
    end = roll_out(model, q, v, dt=0.01, substeps=300, **drive)
    weight = wd.oracle(wd.gravity_torques, model, target)
    assert np.abs(end.q - target).max() < 1e-3 and np.abs(end.v).max() < 1e-9
    still = roll_out(model, end.q, end.v, dt=0.01, **drive)
    assert np.allclose(still.torques, weight, rtol=1e-2)
    one = roll_out(model, q, v, dt=0.01, **drive)
    a, bias = (one.v - v) / 0.01, wd.oracle(wd.bias_forces, model, q, v)
    assert np.allclose(one.torques, wd.oracle(wd.crba, model, q) @ a + bias, rtol=1e-9)


def test_drives_do_not_exceed_their_effort() -> None:
    """Except by the implicit part, in the first step and after a hundred."""
    model = wd.load_robot("double_pendulum")
    for steps in (1, 100):
        end = roll_out(
            model,
            [0.3, -0.2],
            [0.0, 0.0],
            dt=0.001,
            substeps=steps,
            control=wd.PD(500.0, 1.0, (2.0, 0.5)),
            targets=np.array([3.0, -3.0]),
        )
        assert (np.abs(end.torques) <= np.array([2.0, 0.5]) * 1.001).all()
    assert abs(end.torques[1]) > 0.1


def test_the_speed_guard_acts_only_above_the_limit() -> None:
    """Nothing changes below the limit. Above it each step halves the excess."""
    plain = wd.load_robot("cartpole")
    model = plain.with_limits(plain.joint_names[0], velocity=2.0)
    free = {"gravity": (0.0, 0.0, 0.0), "dt": 0.005}
    slow, fast = [1.9, 0.0], [10.0, 0.0]
    q = [0.0, 0.0]
    assert np.allclose(roll_out(model, q, slow, **free).v, roll_out(plain, q, slow, **free).v)
    unguarded = roll_out(model, q, fast, speed_guard=False, **free)
    assert abs(unguarded.v[0] - 10.0) < 1e-9
    guarded = roll_out(model, q, fast, substeps=30, **free)
    assert 1.9 < guarded.v[0] < 2.1


@pytest.mark.parametrize("axis", range(3))
def test_the_spin_of_a_free_body_is_clamped_in_products_of_velocities(axis: int) -> None:
    """About each axis alike, to a quarter of a radian in a step. Its linear velocity is not."""
    scene = Scene((), (), guarded=True, speed_limits=(), stops=(), dt=0.01, substeps=1, sweeps=1)
    tree = tree_of(body())
    for sign in (-1.0, 1.0):
        v = [0.0] * 6
        v[axis], v[3 + axis] = 400.0 * sign, 400.0 * sign
        wanted = [0.0] * 6
        wanted[axis], wanted[3 + axis] = 400.0 * sign, 25.0 * sign
        assert _clamp_velocities(tree, v, scene) == wanted
        assert _clamp_velocities(tree, v, scene._replace(guarded=False)) == v


def test_quaternions_of_ball_joints_keep_unit_length() -> None:
    """The length is 1 to 1e-14."""
    model = MODELS["socket"]
    s = states(model, 1)
    end = roll_out(model, s.q[0], s.v[0], dt=0.002, substeps=100)
    (columns,) = [
        model.coordinates[j.name].q for j in model.moving_joints if j.kind.quaternion is not None
    ]
    assert abs(np.linalg.norm(end.q[columns]) - 1) < 1e-14


def test_the_energy_of_a_very_fast_spin_does_not_grow() -> None:
    """A body turns by 4 rad per step, for 200 steps, with and without the guard."""
    model, v = body(), np.array([0, 0, 0, 300.0, 200.0, 100.0])
    energy = wd.oracle(wd.kinetic_energy, model, np.array([0, 0, 5, 0, 0, 0, 1.0]), v)
    for guard in (True, False):
        end = roll_out(model, [0, 0, 5, 0, 0, 0, 1], v, dt=0.01, substeps=200, speed_guard=guard)
        spin = np.array([0, 0, 0, *end.v[3:]])
        assert wd.oracle(wd.kinetic_energy, model, end.q, spin) < 1.001 * energy


def test_joints_stop_near_their_limits() -> None:
    """A joint under its whole effort stands 0.01 rad beyond its limit.

    From far beyond it returns steadily. With limit springs of the model there are no stops.
    """
    model = wd.load_robot("ur5e")
    free, n = {"gravity": (0.0, 0.0, 0.0), "dt": 0.005}, model.nv
    elbow = model.joint_index("elbow_joint")
    tau, upper = np.zeros(n), model.position_upper[elbow]
    tau[elbow] = model.effort_limit[elbow]
    q = np.zeros(n)
    q[elbow] = upper - 0.05
    held = np.where(np.arange(n) == elbow, 0.0, 1.0)
    drives = wd.PD((1e5 * held).tolist(), (1e3 * held).tolist(), 1e9)
    hold = {"control": drives, "targets": q}
    end = wd.results.Step(*wd.oracle(wd.step, model, q, 0 * q, tau, substeps=400, **hold, **free))
    assert end.q[elbow] - upper == pytest.approx(0.01, rel=1e-3)
    loose = wd.results.Step(
        *wd.oracle(wd.step, model, q, 0 * q, tau, substeps=100, stops="none", **hold, **free)
    )
    assert loose.q[elbow] > upper + 0.5
    q[elbow] = upper + 2.0
    back = wd.results.Step(*wd.oracle(wd.step, model, q, 0 * q, 0 * q, **free))
    assert -0.04 / 0.005 <= back.v[elbow] < -0.1
    sprung = model.with_limit_springs(stiffness=10.0)
    call = wd.step.describe(sprung, q, q, q)  # type: ignore[attr-defined]
    assert not dict(call.options)["scene"].stops


# Results as first recorded (2026-11-27). They change with each number of the method, such as the
# compliance of sticking, the way of a rebound, or the share of an error that a step corrects.

STEPS_AS_RECORDED: dict[str, dict[str, float]] = {
    "rigid": {
        "q": 0.829383341,
        "v": 2.06119542,
        "impulses": -0.141037253,
        "forces": -35.2593133,
        "torques": -3.0295491,
    },
    "rough": {
        "q": 0.829297447,
        "v": 2.08622755,
        "impulses": 0.240205824,
        "forces": -33.9895449,
        "torques": -3.00880998,
        "joint_impulses": 0.0,
    },
    "sloped": {
        "q": 0.761382717,
        "v": -0.678363395,
        "impulses": -0.127039081,
        "forces": -31.7597702,
        "torques": 10.4544525,
    },
    "soft": {
        "q": 0.829301399,
        "v": 2.07993391,
        "impulses": 8.99188733e-05,
        "forces": -8.83259314,
        "torques": -2.6996145,
    },
    "heun": {
        "q": 0.821899746,
        "v": 1.85024289,
        "impulses": 0.000445686188,
        "forces": -12.4686659,
        "torques": -1.68260244,
    },
    "rk4": {
        "q": 0.825921802,
        "v": 2.13715711,
        "impulses": 0.000261168828,
        "forces": -9.16593301,
        "torques": -2.13678155,
    },
    "pile": {
        "q": 1.83141868,
        "v": 0.039132389,
        "pair_impulses": 0.0935803897,
        "pair_features": 1.45402791,
        "pair_forces": -11.0407511,
        "pairs_left_out": 0.0,
    },
    "rods": {
        "q": 1.40508807,
        "v": -195.653052,
        "torques": -5.45252646,
        "joint_impulses": 0.0,
        "loop_forces": 25.4740952,
        "pairs_left_out": 0.0,
    },
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_have_their_recorded_numbers(name: str) -> None:
    found = numbers_of(STEPS[name]())
    wanted = STEPS_AS_RECORDED[name]
    assert found.keys() == wanted.keys()
    for result, number in wanted.items():
        assert found[result] == pytest.approx(number, rel=1e-6, abs=1e-9), result
