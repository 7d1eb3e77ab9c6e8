"""Explicit steps: their order on every kind of joint, periods, energies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS
from loop_robots import ROBOTS as LOOPS
from loop_robots import closed_configurations
from states import states

import warpdyn as wd

BODY = """<robot name="body"><link name="b"><inertial><mass value="2"/>
<inertia ixx=".02" ixy="0" ixz="0" iyy=".05" iyz="0" izz=".06"/></inertial></link></robot>"""
"""Turns about its middle axis of inertia, in space."""

PENDULUM = """<robot name="pendulum"><link name="w"/><link name="b"><inertial><origin xyz="0 0 -.8"/>
<mass value="1.3"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="w"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>"""

BOUNDLESS = {"stops": "none", "speed_guard": False}
ORDERS = {"semi_implicit": 1, "heun": 2, "rk4": 4}
FEW = {"semi_implicit": 32, "heun": 16, "rk4": 6}
"""Steps of the coarser of two runs."""


def quadruped() -> wd.Model:
    return wd.load_robot("quadruped").with_armature(0.01)


ROBOTS = {
    "pendulum": lambda: wd.load_urdf(PENDULUM),
    "double_pendulum": lambda: wd.load_robot("double_pendulum"),
    "body": lambda: wd.load_urdf(BODY, floating_base=True),
    "ball": lambda: MODELS["socket"],
    "planar": lambda: MODELS["planar"],
    "quadruped": quadruped,
}


def after(
    model: wd.Model, q: Any, v: Any, tau: Any, seconds: float, steps: int, integrator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's state after this number of steps."""
    options = options_of(seconds, steps, integrator)
    end = wd.oracle(wd.step, model, q, v, tau, **options)
    return end[0], end[1]


def options_of(seconds: float, steps: int, integrator: Any) -> dict[str, Any]:
    bounds = BOUNDLESS if integrator == "semi_implicit" else {}
    return {"dt": seconds / steps, "substeps": steps, "integrator": integrator, **bounds}


def step_by_interpreter(
    model: wd.Model, q: Any, v: Any, tau: Any, seconds: float, steps: int, integrator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same for a batch of one. For many steps the interpreter takes a tenth of the oracle's
    time.
    """
    rows = (np.asarray(x, dtype=float)[None] for x in (q, v, tau))
    end = wd.step(model, *rows, **options_of(seconds, steps, integrator))
    return end.q[0], end.v[0]


def apart(model: wd.Model, one: tuple, other: tuple) -> float:
    """The distance of two states."""
    between = wd.oracle(wd.difference, model, one[0], other[0])
    return float(np.linalg.norm(np.concatenate([between, one[1] - other[1]])))


@pytest.mark.parametrize("name", ROBOTS)
def test_errors_decrease_with_the_order_of_the_method(name: str) -> None:
    """Half the step leaves 1/2, 1/4, 1/16 of the error: for a spinning free base in flight, and for
    ball and planar joints.
    """
    model = ROBOTS[name]()
    s = states(model, 1)
    q, v, tau, seconds = s.q[0], s.v[0], 0.02 * s.tau[0], 0.12
    if name == "body":
        v[3:] = 0.3, 6.0, 0.2
    exact = step_by_interpreter(model, q, v, tau, seconds, 48, "rk4")
    for integrator, order in ORDERS.items():
        few = FEW[integrator] if name != "quadruped" else FEW[integrator] // 2 + 3
        coarse, fine = (
            apart(model, after(model, q, v, tau, seconds, n, integrator), exact)
            for n in (few, 2 * few)
        )
        assert fine > 1e-12  # else rounding errors would hide the order
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.25), (integrator, coarse)


def test_a_pendulum_has_the_period_of_the_elliptic_integral() -> None:
    """The period from 2 rad is 4 K(sin(θ/2)) √(l/g) to 1e-9, K by the arithmetic-geometric mean.

    After half a period the pendulum rests on the other side.
    """
    model, start, length = wd.load_urdf(PENDULUM), 2.0, 0.8
    a, b = 1.0, math.cos(start / 2)
    for _ in range(8):
        a, b = (a + b) / 2, math.sqrt(a * b)
    period = 4 * (math.pi / (2 * a)) * math.sqrt(length / 9.81)
    rest = np.zeros(1)
    q, v = step_by_interpreter(model, np.array([start]), rest, rest, period / 2, 900, "rk4")
    # The remaining speed gives the time when it comes to rest: a = -g sin(θ) / l there.
    acceleration = -9.81 * math.sin(q[0]) / length
    late = -v[0] / acceleration
    assert abs(2 * late) < 1e-9 * period
    assert q[0] == pytest.approx(-start, abs=1e-9)


def test_a_double_pendulum_conserves_its_energy() -> None:
    """It swings over. The drift of RK4 in 2 s falls by 2^4 and more with half the step, and is
    below 1e-6 of the swing's energy at 2 ms.
    """
    model = wd.load_robot("double_pendulum")
    model = model.with_friction(viscous=0.0, coulomb=0.0)
    q, v, rest = np.array([1.8, 0.9]), np.array([0.5, -0.4]), np.zeros(2)

    def energy(q: np.ndarray, v: np.ndarray) -> float:
        return float(wd.oracle(wd.mechanical_energy, model, q, v))

    begin = energy(q, v)
    size = begin - energy(np.zeros(2), np.zeros(2))
    drifts = [
        abs(energy(*step_by_interpreter(model, q, v, rest, 2.0, n, "rk4")) - begin) / size
        for n in (500, 1000)
    ]
    assert drifts[1] < drifts[0] / 14 and drifts[1] < 1e-6


def test_a_tumbling_body_conserves_momentum_and_energy() -> None:
    """It spins about its middle axis, which turns over.

    Angular momentum in the world and energy agree to 1e-7 after two seconds of 2 ms, and
    quaternions have unit length.
    """
    model = wd.load_urdf(BODY, floating_base=True)
    q, v, rest = model.neutral, np.array([1.0, 0.5, 2.0, 0.05, 6.0, 0.02]), np.zeros(6)

    def conserved_quantities(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        spin = wd.oracle(wd.centroidal_momentum, model, q, v)[3:]
        return np.array([*spin, float(wd.oracle(wd.mechanical_energy, model, q, v))])

    end = step_by_interpreter(model, q, v, rest, 2.0, 1000, "rk4")
    assert conserved_quantities(*end) == pytest.approx(
        conserved_quantities(q, v), rel=1e-7, abs=1e-8
    )
    assert np.linalg.norm(end[0][3:7]) == pytest.approx(1.0, abs=1e-14)
    flown = np.array([2.0, 1.0, 4.0 - 9.81 * 2.0])
    assert end[0][:3] == pytest.approx(flown, abs=1e-7)


def test_torques_of_explicit_drives_are_means_over_the_stages() -> None:
    """`torques` has changed the momentum: Heun's mean of two stages, also for a drive at its
    effort.
    """
    model = wd.load_robot("double_pendulum")
    q, v, tau = np.array([0.3, -0.2]), np.array([0.4, 1.0]), np.array([0.1, -0.1])
    control, targets = (
        wd.PD(np.array([20.0, 5.0]), 1.0, np.array([100.0, 0.7])),
        np.array([1.0, 0.5]),
    )
    options: dict[str, Any] = {"dt": 0.004, "integrator": "heun"}
    end = wd.results.Step(
        *wd.oracle(wd.step, model, q, v, tau, control=control, targets=targets, **options)
    )

    def drive_torques(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        wanted = control.kp * (targets - q) - control.kd * v
        return np.clip(wanted, -control.effort, control.effort)

    first = drive_torques(q, v)
    a = wd.oracle(wd.aba, model, q, v, tau + first)
    second = drive_torques(q + 0.004 * v, v + 0.004 * a)
    later = wd.oracle(wd.aba, model, q + 0.004 * v, v + 0.004 * a, tau + second)
    assert end.torques == pytest.approx(tau + (first + second) / 2, rel=1e-12)
    assert end.v == pytest.approx(v + 0.002 * (a + later), rel=1e-12)


def test_steps_on_soft_ground_keep_the_order_of_the_method() -> None:
    """A body lies in soft ground, sticks and turns.

    RK4's fourth order also holds for the ground's deformation.
    """
    model = wd.load_urdf(BODY, floating_base=True)
    points = [wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    q, v = np.array([0, 0, 0.04, 0, 0, 0, 1.0]), np.array([0.05, 0.02, 0.0, 0.1, 0.05, 0.2])
    m = np.tile([0.001, -0.0005, 0.0002], (4, 1))
    ends = [
        wd.oracle(
            *(wd.step, model, q, v, np.zeros(6)),
            **{"points": points, "ground": wd.SoftGround(2.0, 3e3, 30.0), "deformation": m},
            **{"integrator": "rk4", "dt": 0.03 / n, "substeps": n},
        )
        for n in (4, 8, 32)
    ]
    assert (np.abs(ends[2][3]).max(1) > 1.0).all()  # all four points carry
    for part in (0, 1, 2):
        coarse, fine = (np.abs(end[part] - ends[2][part]).max() for end in ends[:2])
        assert math.log2(coarse / fine) == pytest.approx(4.0, abs=0.5), part


@pytest.mark.parametrize("name", ["four_bar", "connect", "weld", "hinge", "couple", "leg"])
@pytest.mark.parametrize(("integrator", "order", "steps"), [("heun", 2, 24), ("rk4", 4, 12)])
def test_steps_with_closed_loops_keep_the_order_of_the_method(
    name: str, integrator: str, order: int, steps: int
) -> None:
    """The loops are closed after each step by a motion of the size of the method's error."""
    model = LOOPS[name]
    q = closed_configurations(model, 1)[0]
    J = wd.oracle(wd.loops.constraint_jacobian, model, q)
    v = 0.5 * (np.eye(model.nv) - np.linalg.pinv(J, rcond=1e-9) @ J) @ states(model, 1).v[0]
    tau = np.zeros(model.nv)
    ends = [after(model, q, v, tau, 0.12, n, integrator) for n in (steps, 2 * steps)]
    ends.append(step_by_interpreter(model, q, v, tau, 0.12, 8 * steps, integrator))
    for end in ends:
        # A step of Gauss-Newton leaves a millionth of the gap, and its square.
        assert np.abs(wd.oracle(wd.loops.errors, model, end[0])).max() < 1e-7
        moved = wd.oracle(wd.loops.constraint_jacobian, model, end[0]) @ end[1]
        assert np.abs(moved).max() < 1e-4 * np.abs(end[1]).max()
    coarse, fine = (apart(model, end, ends[2]) for end in ends[:2])
    assert math.log2(coarse / fine) == pytest.approx(order, abs=0.4), (integrator, coarse)


def test_closed_loops_conserve_energy_in_explicit_steps() -> None:
    """A four-bar linkage without friction, for 2 s.

    At rest the loop's force carries the weight, as in implicit steps.
    """
    model = LOOPS["four_bar"]
    q, v = closed_configurations(model, 1), np.zeros((1, 3))
    begin = wd.mechanical_energy(model, q, v)
    end = wd.step(model, q, v, v, dt=0.002, substeps=1000, integrator="rk4")
    assert abs(wd.mechanical_energy(model, end.q, end.v) - begin) < 1e-6
    assert np.abs(wd.loops.errors(model, end.q)).max() < 1e-12
    short = [
        wd.step(model, q, v, v, dt=1e-5, integrator=method).loop_forces
        for method in ("rk4", "semi_implicit")
    ]
    np.testing.assert_allclose(*short, rtol=1e-3, atol=1e-3)
