"""A step on the ground: analytic motions, rows and columns, in place, alone and in a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from documented_numbers import check_numbers
from states import states
from stepped_models import (
    BOX,
    BOX_OPTIONS,
    CORNERS,
    CUBE,
    DT,
    FEET,
    QUADRUPED,
    SINK,
    STANCE,
    WEIGHT,
    G,
)

import warpdyn as wd


class History(NamedTuple):
    """States and forces of a roll-out: (steps, B, ...)."""

    q: np.ndarray
    v: np.ndarray
    impulses: np.ndarray
    forces: np.ndarray
    torques: np.ndarray


def roll_out(
    model: wd.Model,
    q: np.ndarray,
    v: np.ndarray,
    steps: int,
    change: Callable[[int], None] = lambda k: None,
    **options: Any,
) -> History:
    """Steps in place, which begin without impulses."""
    count = len(options.get("points", ()))
    q, v = q.copy(), v.copy()
    results = [
        *(q, v),
        *(np.zeros((len(q), count, 3), q.dtype) for _ in range(2)),
        np.zeros((len(q), model.nv - 6 * model.floating_base), q.dtype),
    ]
    change(0)
    run = wd.bind(
        *(wd.step, model, q, v, np.zeros_like(v)),
        impulses=results[2],
        out=tuple(results),
        **options,
    )
    seen = [[x.copy() for x in results]]
    for k in range(1, steps):
        change(k)
        run()
        seen.append([x.copy() for x in results])
    return History(*(np.array(x) for x in zip(*seen, strict=True)))


def level(count: int, height: float | np.ndarray, model: wd.Model = BOX) -> np.ndarray:
    q = np.tile(model.neutral, (count, 1))
    q[:, 2] = height
    return q


# Motions with analytic solutions.


@pytest.fixture(scope="module")
def boxes() -> History:
    """Five boxes in 2 s: at rest, sliding, on slopes of 20 and 30 degrees, dropped from 0.2 m."""
    slope = np.radians([0.0, 0.0, 20.0, 30.0, 0.0])
    gravity = G * np.stack([np.sin(slope), 0 * slope, -np.cos(slope)], 1)
    v = np.zeros((5, 6))
    v[1, 0] = 1.0
    q = level(5, 0.05 - SINK * np.cos(slope))
    q[0, 2], q[4, 2] = 0.05, 0.25
    return roll_out(BOX, q, v, round(2 / DT), gravity=gravity, **BOX_OPTIONS)


def test_a_box_at_rest_sinks_in_by_its_stiffness(boxes: History) -> None:
    assert 0.05 - boxes.q[-1, 0, 2] == pytest.approx(SINK, rel=1e-3)
    assert boxes.forces[-1, 0, :, 2].sum() == pytest.approx(G, rel=1e-6)
    assert np.abs(boxes.v[-1, 0]).max() < 1e-5


def test_a_sliding_box_stops_after_the_analytic_distance(boxes: History) -> None:
    """v² / (2 mu g), minus the half step that semi-implicit Euler loses."""
    exact = 1 / (2 * 0.5 * G)
    assert boxes.q[-1, 1, 0] == pytest.approx(exact - DT / 2, rel=2e-3)
    assert np.abs(boxes.v[-1, 1]).max() < 1e-5
    sliding = boxes.forces[10, 1].sum(0)
    assert -sliding[0] == pytest.approx(0.5 * G, rel=1e-2)


def test_a_box_on_a_slope_sticks_or_slides(boxes: History) -> None:
    """The box creeps by micrometres at 20 degrees, and slides with g (sin - mu cos) at 30."""
    second = round(1 / DT) - 1
    assert 0 < boxes.v[second, 2, 0] < 3e-6
    speed = G * (math.sin(math.radians(30)) - 0.5 * math.cos(math.radians(30)))
    assert boxes.v[second, 3, 0] == pytest.approx(speed, rel=1e-3)
    for env, degrees in ((2, 20), (3, 30)):
        normal = boxes.forces[second, env, :, 2].sum()
        assert normal == pytest.approx(G * math.cos(math.radians(degrees)), rel=1e-4)


def test_a_dropped_box_lands_without_early_force_or_rebound(boxes: History) -> None:
    """There is no force before it reaches the ground, and it does not rise again."""
    height, pressed = boxes.q[:, 4, 2] - 0.05, boxes.forces[:, 4, :, 2].sum(1) > 0
    first = int(np.argmax(pressed))
    assert height[first] < 1e-9 and height[first - 1] > 0
    assert height.min() > -2e-3 and height[first:].max() < 1e-4


def test_a_thrown_sphere_rolls_at_five_sevenths_of_its_speed() -> None:
    """The sphere has no rolling resistance. The tolerance is 1e-9."""
    sphere = wd.load_urdf(CUBE.format(0.4 * 0.01), floating_base=True)
    end = wd.results.Step(
        *wd.oracle(
            wd.step,
            sphere,
            level(1, 0.1)[0],
            np.array([1.0, 0, 0, 0, 0, 0]),
            np.zeros(6),
            points=[wd.ContactPoint("b", (0, 0, 0), 0.1)],
            dt=DT,
            substeps=400,
            ground=wd.Ground(friction=0.5),
        )
    )
    assert np.linalg.norm(end.v[:3]) == pytest.approx(5 / 7, abs=1e-9)
    assert np.linalg.norm(end.v[3:]) * 0.1 == pytest.approx(5 / 7, abs=1e-9)


# A quadruped.


def quadrupeds(count: int, dtype: type = np.float32, steps: int = 1, **options: Any) -> History:
    """Dropped from 6 cm with drives to their stance."""
    rng = np.random.default_rng(0)
    q = level(count, 0.36, QUADRUPED)
    q[:, 7:] = STANCE + 0.05 * rng.normal(size=(count, 12))
    targets = np.tile(STANCE, (count, 1)).astype(dtype)
    return roll_out(
        QUADRUPED,
        q.astype(dtype),
        np.zeros((count, 18), dtype),
        steps,
        **{"control": wd.PD(40.0, 1.0), "targets": targets, "points": FEET, "dt": DT, **options},
    )


def test_a_quadruped_stands() -> None:
    """The feet carry the weight of the robot after 4 s, and it is at rest."""
    end = quadrupeds(5, steps=800)
    assert end.forces[-1, :, :, 2].sum(1) == pytest.approx(WEIGHT, rel=1e-3)
    assert ((end.q[-1, :, 2] > 0.28) & (end.q[-1, :, 2] < 0.31)).all()
    assert np.abs(end.v[-1]).max() < 5e-3
    assert (np.abs(end.torques[-1]) <= QUADRUPED.effort_limit[6:]).all()


def test_an_environment_has_the_same_bits_alone_and_in_a_batch() -> None:
    """The run has 200 steps. The other environments of the batch may be anything, NaN included."""
    many = quadrupeds(37, steps=200)
    rng = np.random.default_rng(0)
    noise = 0.05 * rng.normal(size=(37, 12))
    q = level(1, 0.36, QUADRUPED)
    q[:, 7:] = STANCE + noise[20]
    options: dict[str, Any] = {"control": wd.PD(40.0, 1.0), "points": FEET, "dt": DT}
    target = STANCE[None].astype(np.float32)
    still = np.zeros((1, 18), np.float32)
    alone = roll_out(QUADRUPED, q.astype(np.float32), still, 200, targets=target, **options)
    for one, all_of_them in zip(alone, many, strict=True):
        assert np.array_equal(one[:, 0], all_of_them[:, 20])
    targets = np.tile(target, (37, 1))
    targets[19, 3] = np.nan
    beside = quadrupeds(37, steps=200, targets=targets)
    others = np.arange(37) != 19
    assert np.array_equal(beside.q[:, others], many.q[:, others])
    assert np.isnan(beside.v[-1, 19]).any()


def test_contact_laws_hold_at_each_step_of_random_roll_outs() -> None:
    """Friction cone, no adhesion, work of friction, unit quaternions, finite numbers.

    Robots begin in any attitude, some below the ground, fast, half of them ten times as fast, with
    targets beyond limits, at twice the default step.
    """
    rng, B = np.random.default_rng(3), 256
    q, v = level(B, rng.uniform(-0.1, 0.6, B), QUADRUPED), 3 * rng.normal(size=(B, 18))
    v[::2] *= 10
    turn = rng.normal(size=(B, 4))
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    q[:, 7:] = rng.uniform(-3, 3, (B, 12))
    targets = np.zeros((B, 12), np.float32)

    def change(k: int) -> None:
        if k % 10 == 0:
            targets[:] = rng.uniform(-3, 3, (B, 12))

    seen = roll_out(
        QUADRUPED,
        q.astype(np.float32),
        v.astype(np.float32),
        300,
        change,
        **{"control": wd.PD(25.0, 0.5), "targets": targets, "points": FEET, "dt": 2 * DT},
    )
    assert all(np.isfinite(x).all() for x in seen)
    tangent = np.hypot(seen.forces[..., 0], seen.forces[..., 1])
    assert (seen.forces[..., 2] >= 0).all() and (seen.forces[..., 2] > 0).any()
    assert (tangent - 0.8 * seen.forces[..., 2] <= 1e-6 * seen.forces[..., 2] + 1e-3).all()
    assert np.abs(np.linalg.norm(seen.q[..., 3:7], axis=-1) - 1).max() < 1e-6
    # Work of friction on one foot: on the point of its sphere that touches, from step to step.
    pose = wd.fk(QUADRUPED, seen.q.astype(float), frame="FL_foot")
    low = np.array([0.0, 0.0, -FEET[0].radius])
    turned = pose[1:, :, :3, :3] @ np.swapaxes(pose[:-1, :, :3, :3], -1, -2) @ low
    slipped = (pose[1:, :, :3, 3] + turned - pose[:-1, :, :3, 3] - low)[..., :2]
    work = (seen.forces[1:, :, 0, :2] * slipped).sum((0, 2))
    assert (work <= 1e-9).all() and work.min() < -0.1


# As every function.


def test_kernel_and_oracle_agree_in_each_layout_and_library(device: str) -> None:
    """float64 and float32, rows and columns, in place or not, arrays of every library."""
    s, B = states(BOX, 5), 5
    q, v, tau = level(B, 0.049), 0.1 * s.v, s.tau
    impulses = np.abs(s.q[:, None, :3]).repeat(4, 1) * 1e-3
    options = {**BOX_OPTIONS, "gravity": (0.0, 1.0, -9.81)}
    wanted = wd.oracle(wd.step, BOX, q, v, tau, impulses=impulses, **options)
    given = (q, v, tau, impulses)
    for library in LIBRARIES:
        try:
            usable(library, device=device)
        except pytest.skip.Exception:
            continue
        for layout in ("rows", "environments_last"):
            *arrays, warm = (make_array(library, x, layout=layout, device=device) for x in given)
            got = wd.step(BOX, *arrays, impulses=warm, **options)
            assert type(got) is wd.results.Step and type(got.q) is type(arrays[0])
            for x, y in zip(got, wanted, strict=True):
                assert host(x).shape == y.shape and np.allclose(host(x), y, atol=1e-9)
    small = wd.step(
        *(BOX, *(x.astype(np.float32) for x in given[:3])),
        impulses=impulses.astype(np.float32),
        **options,
    )
    assert small.q.dtype == np.float32
    assert all(np.allclose(x, y, atol=1e-4) for x, y in zip(small[:3], wanted[:3], strict=True))
    columns = [np.asfortranarray(x) for x in (q, v)]
    warm, forces, torques = impulses.copy(), np.full((B, 4, 3), np.nan), np.empty((B, 0))
    wd.step(BOX, *columns, tau, impulses=warm, out=(*columns, warm, forces, torques), **options)
    for x, y in zip((*columns, warm, forces, torques), wanted, strict=True):
        assert np.allclose(x, y, atol=1e-9)


def test_friction_stiffness_and_gains_can_be_numbers_or_arrays() -> None:
    """One number, one array for all, or one row each give the same results.

    Different rows give different results.
    """
    q, v, tau = level(3, 0.049), np.zeros((3, 6)), np.zeros((3, 6))
    tau[:, 0] = 3.0
    plain = wd.step(BOX, q, v, tau, **BOX_OPTIONS)
    rows = wd.step(
        *(BOX, q, v, tau),
        **BOX_OPTIONS
        | {
            "ground": wd.Ground(np.full((3, 4), 0.5), np.full(3, 5e4), np.full(3, 0.01), np.ones(3))
        },
    )
    assert all(np.array_equal(x, y) for x, y in zip(plain, rows, strict=True))
    frictions = np.array([0.0, 0.1, 2.0])[:, None].repeat(4, 1)
    slid = wd.step(BOX, q, v, tau, **BOX_OPTIONS | {"ground": wd.Ground(frictions, 5e4)})
    assert (np.diff(slid.v[:, 0]) < 0).all()


def test_by_default_the_weight_on_one_point_sinks_in_by_five_millimetres() -> None:
    end = wd.oracle(
        *(wd.step, BOX, level(1, 0.05)[0], np.zeros(6), np.zeros(6)),
        **BOX_OPTIONS | {"ground": wd.Ground(), "substeps": 200},
    )
    assert 0.05 - end[0][2] == pytest.approx(0.005 / 4, rel=1e-2)


def test_each_base_velocity_leads_to_the_same_motion() -> None:
    """The returned velocity belongs to the returned configuration."""
    s = states(QUADRUPED, 1)
    q, v, tau = s.q[0], s.v[0], s.tau[0]
    q[2] = 0.2
    options: dict[str, Any] = {"points": FEET, "dt": 0.02, "substeps": 2}
    local = wd.results.Step(*wd.oracle(wd.step, QUADRUPED, q, v, tau, **options))
    for word in ("mixed", "world"):
        other = QUADRUPED.with_base_velocity(word)
        there = wd.oracle(wd.convert.velocity, QUADRUPED, q, v, target=word)
        pushed = wd.oracle(wd.convert.force, QUADRUPED, q, tau, target=word)
        end = wd.results.Step(*wd.oracle(wd.step, other, q, there, pushed, **options))
        assert np.allclose(end.q, local.q, atol=1e-12)
        wanted = wd.oracle(wd.convert.velocity, QUADRUPED, local.q, local.v, target=word)
        assert np.allclose(end.v, wanted, atol=1e-10)


def test_a_step_works_inside_a_users_kernel() -> None:
    """The kernel contains the controller. One launch gives the same numbers."""
    model = wd.load_robot("double_pendulum")

    @wd.kernel
    def drive_joints(robot: Any, q: Any, v: Any, stiffness: ()) -> Any:  # type: ignore[valid-type]
        wanted = -0.5 * q
        state = robot.step(
            q, v, 0.0 * v, targets=wanted, control=wd.PD(stiffness * np.ones(2), 1.0), dt=0.002
        )
        return {"q": state.q, "v": state.v}

    s = states(model, 3)
    gains = np.array([10.0, 20.0, 30.0])
    got = drive_joints(model, s.q, s.v, gains)
    for k in range(3):
        drive = {"control": wd.PD(gains[k], 1.0), "targets": -0.5 * s.q[k]}
        wanted = wd.oracle(wd.step, model, s.q[k], s.v[k], np.zeros(2), dt=0.002, **drive)
        assert np.allclose(got.q[k], wanted[0], atol=1e-12)
        assert np.allclose(got.v[k], wanted[1], atol=1e-12)


def test_substeps_equal_consecutive_steps() -> None:
    """Their torques are averaged."""
    model = wd.load_robot("double_pendulum")
    s = states(model, 1)
    q, v, tau = s.q[0], s.v[0], s.tau[0]
    options: dict[str, Any] = {"control": wd.PD(30.0, 1.0), "targets": np.zeros(2), "dt": 0.002}
    whole = wd.results.Step(*wd.oracle(wd.step, model, q, v, tau, substeps=3, **options))
    torques = []
    for _ in range(3):
        q, v, _, _, applied = wd.oracle(wd.step, model, q, v, tau, **options)
        torques.append(applied)
    assert np.allclose(whole.q, q, atol=1e-14) and np.allclose(whole.v, v, atol=1e-13)
    assert np.allclose(whole.torques, np.mean(torques, 0), atol=1e-12)


def test_derivatives_through_sticking_and_sliding_contacts_are_correct() -> None:
    """Products through 8 substeps against differences: a box that sticks, one that slides, one in
    the air. By the force, the state, friction, stiffness and the last impulses.
    """
    height = 0.05 - SINK
    q, v, tau = level(3, [height, height, 0.2]), np.zeros((3, 6)), np.zeros((3, 6))
    q[:, 5:7] = math.sin(0.15), math.cos(0.15)  # level, a corner is as light along x as along y
    tau[:, 0], tau[1, 0], v[:, 2] = 1.0, 8.0, -0.01
    v[:, 3:] = 0.02, -0.01, 0.03
    impulses = np.tile([0.0, 0.0, G / 4 * DT], (3, 4, 1))
    impulses[2] = 0.0
    ground = {"friction": np.full((3, 4), 0.5), "stiffness": np.full(3, 5e4)}
    given = {"q": q, "v": v, "tau": tau, "impulses": impulses, **ground}
    rng = np.random.default_rng(0)
    u = {name: rng.normal(size=x.shape) for name, x in given.items()}
    u["stiffness"] *= 1e4
    u["q"][:, 3:] -= np.sum(u["q"][:, 3:] * q[:, 3:], 1, keepdims=True) * q[:, 3:]

    def result(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        return wd.oracle(wd.step, *arguments_at(arrays)[0], **arguments_at(arrays)[1])

    def arguments_at(arrays: dict[str, np.ndarray]) -> tuple[list[Any], dict[str, Any]]:
        surface = wd.Ground(arrays["friction"], arrays["stiffness"], 0.01)
        options = {"points": CORNERS, "dt": DT, "substeps": 8, "sweeps": 6, "ground": surface}
        return [BOX, *(arrays[n] for n in ("q", "v", "tau"))], {
            **options,
            "impulses": arrays["impulses"],
        }

    now = result(given)
    slip = np.hypot(now[3][..., 0], now[3][..., 1]) - 0.5 * now[3][..., 2]
    assert (slip[0] < -0.01).all() and np.allclose(slip[1], 0, atol=1e-9) and not now[3][2].any()
    w = tuple(rng.normal(size=x.shape) for x in now)
    positional, options = arguments_at(given)
    bars = wd.oracle(wd.vjp, wd.step, *positional, **options, cotangents=w, wrt=tuple(given))
    h = 1e-7
    ahead, behind = (result({n: x + s * h * u[n] for n, x in given.items()}) for s in (1, -1))
    for env in range(3):
        by_bars = sum((bar[env] * u[n][env]).sum() for n, bar in zip(given, bars, strict=True))
        moved = sum(
            ((y[env] - x[env]) * c[env]).sum() for x, y, c in zip(behind, ahead, w, strict=True)
        )
        assert by_bars == pytest.approx(moved / (2 * h), rel=1e-4, abs=1e-3)


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.simulation_step", LONGEST_STEP=0.1)
