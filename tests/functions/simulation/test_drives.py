"""Drives, and the stops and speed limits of a description."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from documented_numbers import check_numbers
from loop_robots import leg

import warpdyn as wd
from warpdyn.description import Limits
from warpdyn.functions.simulation.drives import (
    _are_zero,
    bounds_of,
    drive_arrays,
    rows_of_joints,
    speed_limits,
    stops_of,
)

PANDA, QUADRUPED = wd.load_robot("panda"), wd.load_robot("quadruped")


def test_a_drive_is_limited_by_the_efforts_of_the_description() -> None:
    targets = np.zeros((2, 12))
    arrays = drive_arrays(QUADRUPED, wd.PD(20.0, 0.5), targets)
    assert arrays["targets"] == (targets, (12,))
    assert arrays["kp"] == ((20.0,) * 12, (12,)) and arrays["kd"] == ((0.5,) * 12, (12,))
    effort, shape = arrays["effort"]
    assert shape == (12,) and list(effort) == list(QUADRUPED.effort_limit[6:])
    assert drive_arrays(QUADRUPED, None, None) == {}


def test_stops_and_speed_limits_equal_the_joints_limits() -> None:
    stops, speeds = stops_of(QUADRUPED, None), speed_limits(QUADRUPED)
    joint = QUADRUPED.joint("FL_hip_joint")
    (first,) = (s for s in stops if s.v_index == QUADRUPED.coordinates[joint.name].v.start)
    (limits,) = joint.v_limits
    assert (first.lower, first.upper) == (limits.lower, limits.upper)
    assert first.stiffness * 0.01 == pytest.approx(limits.effort)
    assert first.q_index == first.v_index + 1
    assert all(math.isfinite(x) and x > 0 for _, x in speeds)
    assert {k for k, _ in speeds} == set(range(6, 18))


def test_both_axes_of_a_joint_have_their_own_limits() -> None:
    """The coordinates of the second axis follow those of the first."""
    second = Limits(-0.2, 0.3, 2.0, 7.0)
    builder = wd.ModelBuilder("two axes")
    for name in "ab":
        builder.add_link(name, 1.0, inertia=np.diag([0.1, 0.1, 0.1]))
    bounds_of_first = {"lower": -1.0, "upper": 1.1, "effort": 5.0}
    axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0)}
    builder.add_joint("knuckle", "universal", "a", "b", **axes, limits2=second, **bounds_of_first)
    model = builder.build(floating_base=True)
    columns = model.coordinates["knuckle"]
    wanted = [
        (columns.v.start + k, columns.q.start + k, lower, upper)
        for k, (lower, upper) in enumerate([(-1.0, 1.1), (-0.2, 0.3)])
    ]
    assert [stop[:4] for stop in stops_of(model, None)] == wanted
    assert [bounds[:4] for bounds in bounds_of(model, None)] == wanted


def test_joints_with_limit_springs_have_no_stops() -> None:
    sprung = PANDA.with_limit_springs(stiffness=100.0)
    assert stops_of(PANDA, None) and not stops_of(sprung, None)


def test_invalid_drives_are_refused() -> None:
    targets = np.zeros((2, 7))
    with pytest.raises(ValueError, match="control= needs targets="):
        drive_arrays(PANDA, wd.PD(1.0, 1.0), None)
    with pytest.raises(ValueError, match="targets= needs drives"):
        drive_arrays(PANDA, None, targets)
    with pytest.raises(TypeError, match=r"control must be wd\.PD\(kp, kd\), got float"):
        drive_arrays(PANDA, 20.0, targets)
    with pytest.raises(ValueError, match="kd must be at least 0"):
        drive_arrays(PANDA, wd.PD(1.0, -1.0), targets)
    with pytest.raises(
        ValueError, match="stall_effort= is for a speed-torque curve, which needs no"
    ):
        drive_arrays(PANDA, wd.PD(1.0, 1.0, stall_effort=5.0), targets)
    slow = drive_arrays(PANDA, wd.PD(1.0, 1.0, no_load_speed=0.5), targets)
    assert slow["no_load_speed"] == ((0.5,) * 8, (8,))
    for speed in (0.0, (1.0,) * 6 + (0.0,), np.array([1.0] * 7 + [0.0])):
        with pytest.raises(ValueError, match=r"no_load_speed must be above 0, got [0(]"):
            drive_arrays(PANDA, wd.PD(1.0, 1.0, no_load_speed=speed), targets)


# Speed-torque curve and strength.

FREE: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "speed_guard": False, "stops": "none"}
WHEEL = wd.load_urdf(
    """<robot name="wheel"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia
    ixx="0.5" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.5"/></inertial></link><joint name="j"
    type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>""",
    floating_base=False,
)
FAR = np.array([1e4])


def step_of_wheel(control: wd.PD, v: float, **options: Any) -> wd.results.Step:
    """The oracle's step of a wheel whose target is far ahead."""
    given = (np.zeros(1), np.array([v]), np.zeros(1))
    options = {**FREE, "targets": FAR, **options}
    return wd.results.Step(*wd.oracle(wd.step, WHEEL, *given, control=control, **options))


@pytest.mark.parametrize(
    ("v", "torque"),
    [(0.0, 6.0), (2.5, 6.0), (5.0, 4.0), (7.5, 2.0), (11.0, 0.0), (-5.0, 6.0), (-20.0, 6.0)],
)
def test_the_torque_of_a_motor_falls_with_its_speed(v: float, torque: float) -> None:
    """8 (1 - v / 10) N m forwards, at most 6, zero beyond. Against the motion the whole effort."""
    motor = wd.PD(100.0, 0.0, 6.0, no_load_speed=10.0, stall_effort=8.0)
    assert step_of_wheel(motor, v, dt=1e-6).torques[0] == pytest.approx(torque, rel=1e-4)
    back = step_of_wheel(motor, -v, dt=1e-6, targets=-FAR)
    assert back.torques[0] == pytest.approx(-torque, rel=1e-4)


def test_a_motor_spins_up_to_its_no_load_speed() -> None:
    """The speed is v0 (1 - exp(-stall t / (v0 I))) to first order in the step, and at most v0."""
    motor = wd.PD(100.0, 0.0, 6.0, no_load_speed=10.0)
    exact = 10 * (1 - math.exp(-6 * 0.4 / (10 * 0.5)))
    errors = [
        step_of_wheel(motor, 0.0, dt=dt, substeps=round(0.4 / dt)).v[0] - exact
        for dt in (0.01, 0.005)
    ]
    assert abs(errors[0]) < 0.03 * exact and errors[0] / errors[1] == pytest.approx(2, rel=0.05)
    light = wd.PD(100.0, 0.0, 600.0, no_load_speed=10.0)
    assert 9.0 < step_of_wheel(light, 0.0, dt=0.05, substeps=20).v[0] <= 10.0


def test_strength_scales_the_torque_of_a_motor() -> None:
    """Strength applies below the effort limit and at it. A plain 1 does not change the program."""
    near = {"targets": np.array([0.01]), "dt": 0.005}
    for options, effort in ((near, 100.0), ({"dt": 0.005}, 6.0)):
        weak = step_of_wheel(wd.PD(100.0, 2.0, effort, strength=0.7), 1.0, **options)
        same = step_of_wheel(wd.PD(70.0, 1.4, 0.7 * effort), 1.0, **options)
        assert weak.torques[0] == pytest.approx(same.torques[0], rel=1e-12)
    targets = np.zeros((1, 12))
    assert set(drive_arrays(QUADRUPED, wd.PD(1.0, 1.0, strength=1.0), targets)) == {
        *("targets", "kp", "kd", "effort")
    }
    assert "strength" in drive_arrays(QUADRUPED, wd.PD(1.0, 1.0, strength=0.9), targets)


# Rows of joints.


def test_joints_with_dry_friction_or_limits_have_rows() -> None:
    """Others have none. Friction is that of the description or of params."""
    assert rows_of_joints(QUADRUPED, None, ()) == ()
    assert rows_of_joints(QUADRUPED.with_friction(viscous=1.0), None, ()) == ()
    names = QUADRUPED.joint_names
    one = QUADRUPED.with_friction(coulomb={names[2]: 0.5})
    assert rows_of_joints(one, None, ()) == (8,)
    varied = QUADRUPED.params(2, coulomb={names[5]: np.zeros(2)})
    assert rows_of_joints(one, varied, ()) == (8, 11)
    bounds = bounds_of(QUADRUPED, None)
    assert len(bounds) == 12 and rows_of_joints(one, None, bounds) == tuple(range(6, 18))
    first, limits = bounds[0], QUADRUPED.joint(names[0]).v_limits[0]
    assert first == (6, 7, limits.lower, limits.upper, None)
    assert not bounds_of(PANDA.with_limit_springs(stiffness=100.0), None)


ARM = wd.load_robot("double_pendulum")


@pytest.fixture(scope="module")
def dry_arm() -> dict[str, Any]:
    """Two joints with friction that differs between environments, for kernels and the oracle."""
    params = ARM.params(coulomb={n: np.array([0.0, 1.0, 30.0]) for n in ARM.joint_names})
    q, v = np.tile([0.8, -0.3], (3, 1)), np.tile([0.0, 0.5], (3, 1))
    return {"params": params, "q": q, "v": v, "dt": 0.005, "substeps": 2}


def test_friction_of_each_environment_is_read_at_each_launch(
    dry_arm: dict[str, Any],
) -> None:
    """Zero is the same as no friction, and 30 N m hold a joint that slides at 1 N m."""
    q, v, params = dry_arm["q"], dry_arm["v"], dry_arm["params"]
    options = {n: dry_arm[n] for n in ("params", "dt", "substeps")}
    impulses = np.full((3, 2), 1e-3)
    end = wd.step(ARM, q, v, 0 * v, joint_impulses=impulses, **options)
    wanted = wd.oracle(wd.step, ARM, q, v, 0 * v, joint_impulses=impulses, **options)
    for n in (0, 1, 4, 5):  # there are no contacts
        assert np.allclose(end[n], wanted[n], atol=1e-11), n
    plain = wd.step(ARM, q, v, 0 * v, dt=0.005, substeps=2)
    assert plain.joint_impulses is None and end.joint_impulses is not None
    assert np.allclose(end.v[0], plain.v[0]) and not end.joint_impulses[0].any()
    assert np.abs(end.v[2]).max() < 0.02 < np.abs(end.v[1]).max()
    run = wd.bind(wd.step, ARM, q, v, 0 * v, joint_impulses=impulses, **options)
    params.arrays["coulomb"][:] = params.arrays["coulomb"][::-1].copy()
    assert np.allclose(run().v, end.v[::-1], atol=1e-12)
    params.arrays["coulomb"][:] = params.arrays["coulomb"][::-1].copy()


def test_derivatives_through_sticking_and_sliding_friction_are_correct(
    dry_arm: dict[str, Any],
) -> None:
    """Products against differences, away from kinks: without friction, sliding and stuck."""
    names = ("q", "v", "tau", "joint_impulses")
    rng = np.random.default_rng(0)
    given = {"q": dry_arm["q"], "v": np.tile([0.3, 0.5], (3, 1)), "tau": np.zeros((3, 2))}
    given["joint_impulses"] = np.full((3, 2), 1e-3)
    coulomb = dry_arm["params"].arrays["coulomb"]
    u = {n: rng.normal(size=x.shape) for n, x in given.items()} | {"c": rng.normal(size=(3, 2))}

    def arguments_at(s: float) -> tuple[tuple, dict[str, Any]]:
        at = {n: x + s * u[n] for n, x in given.items()}
        params = dry_arm["params"].replace(coulomb=coulomb + s * u["c"])
        options = {"params": params, "dt": 0.005, "substeps": 2, "sweeps": 6}
        return (ARM, *(at[n] for n in names[:3])), {
            **options,
            "joint_impulses": at["joint_impulses"],
        }

    args, options = arguments_at(0.0)
    now = wd.oracle(wd.step, *args, **options)
    w = tuple(rng.normal(size=x.shape) for x in now)
    bars = wd.vjp(wd.step, *args, **options, cotangents=w, wrt=(*names, "params:coulomb"))
    h = 1e-7
    ahead, behind = (wd.oracle(wd.step, *arguments_at(s)[0], **arguments_at(s)[1]) for s in (h, -h))
    for env in (1, 2):  # at a friction of 0, the first one's, is a kink
        by_bars = sum(
            (bar[env] * u[n][env]).sum() for n, bar in zip((*names, "c"), bars, strict=True)
        )
        moved = sum(
            ((y[env] - x[env]) * c[env]).sum() for x, y, c in zip(behind, ahead, w, strict=True)
        )
        assert by_bars == pytest.approx(moved / (2 * h), rel=1e-5, abs=1e-6), env


def test_a_users_kernel_passes_joint_impulses_on() -> None:
    """`robot.step` takes and returns them."""
    arm = ARM.with_friction(coulomb=1.0)

    @wd.kernel
    def step_with_friction(robot: Any, q: Any, v: Any, before: (2,)) -> Any:  # type: ignore[valid-type]
        end = robot.step(q, v, 0.0 * v, joint_impulses=before, dt=0.005)
        return {"v": end.v, "impulses": end.joint_impulses}

    q, v, before = np.array([[0.8, -0.3]]), np.zeros((1, 2)), np.full((1, 2), 2e-3)
    got = step_with_friction(arm, q, v, before)
    wanted = wd.oracle(wd.step, arm, q, v, 0 * v, joint_impulses=before)
    assert np.allclose(got.v, wanted.v) and np.allclose(got.impulses, wanted.joint_impulses)


def test_a_simulation_passes_joint_impulses_on() -> None:
    """An arm held by friction does not creep. A reset clears its impulses."""
    arm = ARM.with_friction(coulomb=30.0)
    weak = np.ones((2, 2))
    options: dict[str, Any] = {"points": [], "start": [0.8, -0.3], "dtype": "float64"}
    sim = wd.Simulation(arm, 2, control=wd.PD(0.0, 0.0, 5.0, strength=weak), **options)
    assert sim.joint_impulses.shape == (2, 2)
    for _ in range(50):
        sim.step([0.0, 0.0])
    held = sim.q.copy()
    for _ in range(50):
        sim.step()
    assert np.abs(sim.q - held).max() < 1e-12 and np.abs(held - [0.8, -0.3]).max() < 1e-3
    weight = wd.oracle(wd.gravity_torques, arm, sim.q)
    assert np.allclose(sim.joint_impulses / 0.005, weight, atol=1e-8)
    assert "joint_impulses" in sim.state()
    sim.reset([0])
    assert not sim.joint_impulses[0].any() and sim.joint_impulses[1].any()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"stops": True}, ValueError, "stops must be one of springs, rows, soft, none; got True"),
        ({"joint_impulses": np.zeros((2, 12))}, ValueError, "no joint of quadruped has either"),
        (
            {"control": (wd.PD(1.0, 1.0), wd.PD(2.0, 1.0))},
            TypeError,
            "control must be one wd.PD.*got a tuple",
        ),
        ({"control": wd.PD(1.0, 1.0, strength=-1)}, ValueError, "strength must be at least 0"),
        ({"control": wd.PD(np.inf, 1.0)}, ValueError, "kp must be finite, got inf"),
        (
            {"control": wd.PD(1.0, 1.0, no_load_speed=0)},
            ValueError,
            "no_load_speed must be above 0, got 0",
        ),
        ({"control": wd.PD(1.0, 1.0, stall_effort=9.0)}, ValueError, "needs no_load_speed="),
    ],
)
def test_invalid_options_of_joints_are_refused(options: Any, error: Any, text: str) -> None:
    arrays = (np.zeros((2, n)) for n in (19, 18, 18))
    targets = {"targets": np.zeros((2, 12))} if "control" in options else {}
    with pytest.raises(error, match=text):
        wd.step(QUADRUPED, *arrays, **targets, **options)


def test_every_number_of_a_simulation_is_read_at_each_launch() -> None:
    """Motors, friction of joints and ground, restitution, gravity, masses and pushes are written in
    place one after the other. Each acts from the next launch on, as in the oracle.
    """
    envs, rng = 2, np.random.default_rng(0)

    def rows(low: float, high: float, *shape: int) -> np.ndarray:
        return rng.uniform(low, high, (envs, *shape))

    motor = {n: rows(5, 20, 2) for n in ("kp", "effort", "no_load_speed", "stall_effort")}
    motor |= {"kd": rows(0.1, 1, 2), "strength": rows(0.5, 1, 2)}
    ground = {n: rows(0.1, 0.9, 1) for n in ("friction", "restitution")}
    ground |= {"stiffness": rows(1e4, 2e4), "dissipation": rows(0.01, 0.02), "push_out": rows(1, 2)}
    gravity, push = rows(-9, 9, 3), rows(-1, 1, 6)
    params = ARM.params(
        coulomb={n: rows(0.1, 0.5) for n in ARM.joint_names}, mass={"lower_rod": rows(0.5, 2)}
    )
    options: dict[str, Any] = {
        **{"control": wd.PD(**motor), "ground": wd.Ground(**ground), "gravity": gravity},
        **{"params": params, "f_ext": {"lower_rod": push}, "dt": 0.005},
        "points": [wd.ContactPoint("tip", (0, 0, 0), 0.06)],
    }
    sim = wd.Simulation(ARM, envs, substeps=1, like=np.zeros(1), start=[1.6, 0.0], **options)

    written = [*motor.values(), *ground.values(), gravity, push, *params.arrays.values()]
    rebounds = 0
    for array in [None, *written]:
        if array is not None:
            array *= 0.8
        sim.reset(v=-rows(0.0, 1.0, 2))  # level, at the ground, on the way down
        sim.impulses[:], sim.joint_impulses[:] = 0.01, 1e-3
        given = sim.q.copy(), sim.v.copy(), sim.tau.copy()
        warm = {n: getattr(sim, n).copy() for n in ("impulses", "joint_impulses")}
        targets = rows(-1, 1, 2)
        sim.step(targets)
        wanted = wd.oracle(wd.step, ARM, *given, targets=targets, **warm, **options)
        for name in ("q", "v", "forces", "torques", "joint_impulses"):
            assert np.allclose(getattr(sim, name), getattr(wanted, name), atol=1e-9), name
        assert sim.joint_impulses.all() and sim.forces[:, 0, 2].any()
        rebounds += int((sim.v.sum(1) > 0).sum())
    assert rebounds > 5


def test_drives_work_on_a_leg_with_rods_on_ball_joints() -> None:
    """Drives equal their torques in short steps. The ball joints of the rods have no drives."""
    model, names = leg(), ["hip", "knee", "crank"]
    columns, v_columns = model.joint_columns.tolist(), model.v_indices(names)
    motors = [columns.index(k) for k in v_columns]
    kp, kd = np.zeros(len(columns)), np.zeros(len(columns))
    kp[motors], kd[motors] = 50.0, 2.0
    options: dict[str, Any] = {"points": (), "stops": "none", "passive_forces": "model"}
    options |= {"dt": 1e-4, "substeps": 1, "dtype": "float64"}
    driven = wd.Simulation(model, 2, control=wd.PD(kp, kd), **options)
    pushed = wd.Simulation(model, 2, **options)
    assert (driven.targets == 0).all() and driven.targets.shape == (2, len(columns))
    goal = np.zeros((2, len(columns)))
    goal[:, motors] = 0.2, -0.3, 0.1
    goal[0, [k for k in range(len(columns)) if k not in motors]] = 5.0  # without effect
    positions = model.q_indices(names)
    for _ in range(500):
        pushed.tau[:, v_columns] = 50.0 * (goal[:, motors] - pushed.q[:, positions])
        pushed.tau[:, v_columns] -= 2.0 * pushed.v[:, v_columns]
        pushed.step()
        driven.step(goal)
    np.testing.assert_allclose(driven.q, pushed.q, rtol=0, atol=2e-4)
    assert np.abs(driven.q[:, positions]).min() > 1e-3
    torques = np.delete(driven.torques, motors, axis=1)
    assert not torques.any() and driven.torques[:, motors].any()
    driven.reset()
    assert (driven.q == driven.start).all()


def test_ball_joints_need_zero_gains() -> None:
    """One number for all joints is refused, and the message lists the entries that must be zero."""
    model = leg()
    count = len(model.joint_columns)
    gains = np.zeros((2, count))
    gains[1, -1] = 1.0
    for kp in (1.0, np.ones(count), gains, [*[0.0] * (count - 1), 1.0]):
        with pytest.raises(
            ValueError, match=r'the ball joint ".*" of .* has none.*with zeros at \['
        ):
            wd.Simulation(model, 2, control=wd.PD(kp, 0.0), points=())
    wd.Simulation(model, 2, control=wd.PD(np.zeros(count), 0.0), points=())


def test_gains_in_tensors_are_not_read() -> None:
    """Torch tensors could be on a GPU. Only numbers and host arrays are known to be zero."""
    entries = [0, 2]
    assert _are_zero(0.0, entries) and not _are_zero(0.1, entries)
    for form in (np.asarray, tuple, list):
        assert _are_zero(form([0.0, 5.0, 0.0]), entries)
        assert not _are_zero(form([0.0, 5.0, 0.1]), entries)
    assert not _are_zero(torch.zeros(3), entries)


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.drives", PRESSED=0.01, STOPPING=4.0)
