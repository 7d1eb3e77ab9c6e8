"""Roll-outs of `warpdyn simulate`: postures, gains, pushes, and measurements."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hopper import HOPPER, PLAN
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.cli.pictures.roll_out import (
    ENOUGH_SWEEPS,
    STANDARD_GRAVITY,
    _measure,
    _residual,
    _scene,
    _starts,
    drivable,
    gains,
    posture,
    pushed_link,
    pushes,
    roll_out,
)


@pytest.fixture(scope="module")
def hopper() -> wd.Model:
    return wd.load_urdf(HOPPER, floating_base=True)


@pytest.fixture(scope="module")
def pushed_roll_out(hopper: wd.Model) -> tuple[Any, Any]:
    return roll_out(hopper, PLAN._replace(push=30.0, friction=0.5, residual=True))


def test_a_free_robot_begins_with_its_lowest_point_on_the_ground(hopper: wd.Model) -> None:
    """Its joints are within their limits, and its base is level."""
    q = posture(hopper)
    assert q[2] == pytest.approx(0.1) and q[7] == 0.2
    assert np.array_equal(q[3:7], [0, 0, 0, 1])
    for name in wd.robot_names():
        model = wd.load_robot(name)
        assert not wd.check_state(model, posture(model)[None]).warnings, name


def test_the_home_posture_is_held_if_there_is_one(hopper: wd.Model) -> None:
    """The lowest point is on the ground, whatever the base height of the posture is."""
    home = [0, 0, 7.0, 1, 0, 0, 0, 0.5]
    q = posture(hopper.with_configuration("home", home))
    assert q[7] == 0.5 and np.array_equal(q[3:7], [1, 0, 0, 0])
    assert q[2] == pytest.approx(
        0.0
    )  # the robot is on its back: the trunk's upper side is its origin


def test_gains_scale_with_the_robot() -> None:
    """All of the effort acts at 0.1 rad. Without an effort limit the frequency is 10 rad/s. Damping
    is that of 0.04 s, and at least 0.7 of critical."""
    arm = wd.load_robot("ur5e")
    q = posture(arm)
    kp, kd = gains(arm, q)
    assert np.allclose(kp * 0.1, arm.effort_limit)
    inertia = np.diagonal(wd.oracle(wd.crba, arm, q))
    critical = 2 * np.sqrt(kp * inertia)
    assert np.allclose(kd, np.maximum(0.04 * kp, 0.7 * critical))
    assert np.unique(0.04 * kp > 0.7 * critical).size == 2
    pendulum = wd.load_robot("double_pendulum")
    kp, _ = gains(pendulum, posture(pendulum))
    assert np.allclose(kp, 100 * np.diagonal(wd.oracle(wd.crba, pendulum, posture(pendulum))))


def test_robots_start_around_the_posture_and_above_it(hopper: wd.Model) -> None:
    """Joints are up to 0.05 rad off on both sides, within their limits; bases are up to 0.05 m higher."""
    held = posture(hopper)
    held[7] = 0.6
    start = _starts(hopper, PLAN._replace(envs=300), held, np.random.default_rng(1)) - held
    assert start.shape == (300, hopper.nq) and not start[:, [0, 1, 3, 4, 5, 6]].any()
    assert start[:, 2].min() == pytest.approx(0.0, abs=1e-3) and (start[:, 2] >= 0.0).all()
    assert start[:, 2].max() == pytest.approx(0.05, abs=1e-3)
    assert start[:, 7].min() == pytest.approx(-0.05, abs=1e-3)
    assert start[:, 7].max() == pytest.approx(0.05, abs=1e-3)


def test_joints_without_single_coordinates_are_not_driven() -> None:
    ball = wd.ModelBuilder("b").add_link("a").add_link("c", 1.0, (0, 0, 0), np.eye(3))
    ball = ball.add_joint("j", "ball", "a", "c")
    arm = wd.load_robot("panda")
    assert not drivable(ball.build()) and drivable(arm)
    assert drivable(arm.with_object("ball", wd.description.Sphere(0.1), mass=1.0))
    assert pushed_link(wd.load_robot("quadruped")) == "base"
    assert pushed_link(wd.load_robot("ur5e")) == "wrist_3_link"


def test_pushes_last_a_fifth_of_each_second() -> None:
    assert pushes(PLAN) == []
    times = pushes(PLAN._replace(push=1.0, seconds=2.6))
    assert np.allclose(times, [[0.5, 0.7], [1.5, 1.7], [2.5, 2.6]])
    assert all(a < b for a, b in pushes(PLAN._replace(push=1.0, dt=0.1, substeps=9)))


def test_measurements_agree_with_the_motion(
    hopper: wd.Model, pushed_roll_out: tuple[Any, Any]
) -> None:
    """The hopper falls, rests with its weight on the ground, slides while it is pushed beyond its
    friction, and rests again."""
    sim, history = pushed_roll_out
    measured = history.measured
    assert set(measured) == {"heights", "loads", "errors", "efforts", "residuals"}
    assert history.time.shape == (100,) and history.time[-1] == pytest.approx(1.0)
    assert all(x.shape == (100, 3) and np.isfinite(x).all() for x in measured.values())
    lying = (history.time > 0.4) & (history.time < 0.5)
    assert np.allclose(measured["heights"][lying], 0.1, atol=2e-3)
    assert np.allclose(measured["loads"][lying].mean(0), 1.0, atol=0.02)
    # The push of 30 N exceeds the friction of 10.3 N: 9.4 m/s² for 0.2 s, then -4.9 m/s².
    sideways = np.hypot(sim.q[:, 0], sim.q[:, 1])
    assert ((sideways > 0.2) & (sideways < 0.8)).all()
    assert measured["efforts"].max() <= 1.0 and measured["errors"][-1].max() < 0.1
    assert history.failures == 0 and history.first_launch > 0 and history.wall > 0


def test_a_seed_determines_the_roll_out(hopper: wd.Model, pushed_roll_out: tuple[Any, Any]) -> None:
    """The same seed gives the same bits, and another seed does not. The joints are held at their
    start, whatever the seed."""
    plan = PLAN._replace(push=30.0, friction=0.5)
    targets: list[np.ndarray] = []
    again, history = roll_out(hopper, plan)
    assert np.array_equal(again.q, pushed_roll_out[0].q)
    assert np.array_equal(history.measured["loads"], pushed_roll_out[1].measured["loads"])
    other, _ = roll_out(
        hopper, plan._replace(seed=1, seconds=0.1), lambda sim: targets.append(sim.targets.copy())
    )
    assert np.array_equal(targets[0], np.full((3, 1), 0.2, np.float32))
    short, _ = roll_out(hopper, plan._replace(seconds=0.1))
    assert not np.array_equal(other.q, short.q)


def test_a_scene_without_joints_has_no_joint_errors() -> None:
    """Two boxes a metre apart only press on the ground. The watcher is called at the start and
    after each launch."""
    scene = wd.ModelBuilder("floor").add_link("floor").build()
    for name, x in (("a", 0.0), ("b", 1.0)):
        box = wd.description.Box(0.1, 0.1, 0.1)
        scene = scene.with_object(name, box, mass=1.0, pose=(x, 0.0, 0.05))
    heights: list[float] = []
    plan = PLAN._replace(pairs=(("a", "b"),))
    _, history = roll_out(scene, plan, lambda sim: heights.append(float(sim.q[0, 2])))
    assert set(history.measured) == {"loads", "pair_loads"}
    assert not history.measured["pair_loads"].any()
    assert len(heights) == plan.launches + 1 and heights[0] == pytest.approx(0.05)


def test_forces_of_pairs_are_relative_to_the_weight() -> None:
    """The largest of a robot's pairs counts."""
    model = wd.load_robot("cartpole")
    forces = np.zeros((2, 2, 3))
    forces[0, 1], forces[1, 0] = [3.0, 0.0, 4.0], [0.0, 1.0, 0.0]
    empty = {"points": (), "control": None, "torques": np.zeros((2, model.nv))}
    sim: Any = SimpleNamespace(q=np.zeros((2, 2)), pairs=(1, 2), pair_forces=forces, **empty)
    found = _measure(model, sim, np.zeros(2), None)["pair_loads"]
    assert np.allclose(found, np.array([5.0, 1.0]) / (model.total_mass * STANDARD_GRAVITY))


def test_the_residual_compares_with_many_more_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forces differ by (3, 0, 4) on one of two points."""
    asked: list[dict[str, Any]] = []

    def bind_with_record(*args: Any, **options: Any) -> Any:
        asked.append(options)
        forces = np.zeros((1, 2, 3))
        if "sweeps" in options:
            forces[0, 1] = [3.0, 0.0, 4.0]
        return lambda: SimpleNamespace(forces=forces)

    monkeypatch.setattr("warpdyn.cli.pictures.roll_out.bind", bind_with_record)
    model, state = wd.load_robot("cartpole"), dict.fromkeys(("q", "v", "tau", "control"))
    sim: Any = SimpleNamespace(**state, pairs=(), impulses="impulses")
    found = _residual(model, sim, {"dt": 0.1})()
    assert found == pytest.approx([5.0 / (model.total_mass * STANDARD_GRAVITY)])
    few = {"dt": 0.1, "impulses": "impulses"}
    assert asked == [few, {**few, "sweeps": ENOUGH_SWEEPS}]
    more: dict[str, Any] = {"control": 1, "targets": 2, "pairs": (1,)}
    more |= {"pair_impulses": 3, "pair_features": 4}
    sim = SimpleNamespace(**{**vars(sim), **more})
    _residual(model, sim, {"dt": 0.1})
    assert asked[2] == {**few, "targets": 2, "pair_impulses": 3, "pair_features": 4}


def test_stops_of_a_simulated_model_are_rows() -> None:
    """The stops are those of a `Simulation`."""
    text = "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
    for model, wanted in ((wd.load_robot("cartpole"), None), (wd.load_mjcf(text), "rows")):
        assert _scene(model, PLAN, posture(model), None).get("stops") == wanted


def test_a_posture_without_points_or_free_base_is_not_moved_to_the_ground() -> None:
    legs = wd.load_robot("quadruped", floating_base=False)
    assert np.array_equal(posture(legs), legs.configurations["home"])
    bare = wd.ModelBuilder("b").add_link("a", 1.0, (0, 0, 0), np.eye(3)).build(floating_base=True)
    assert posture(bare)[2] == 0.0


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["pictures.roll_out"] == {
        "FULL_EFFORT": 0.1,
        "FREQUENCY": 10.0,
        "DAMPING": 0.7,
        "SETTLING": 0.04,
        "DROP": 0.05,
        "SPREAD": 0.05,
        "PUSH_EVERY": 1.0,
        "PUSH_LASTS": 0.2,
        "ENOUGH_SWEEPS": 200,
        "STANDARD_GRAVITY": 9.81,
    }
