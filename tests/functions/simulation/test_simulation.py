"""Simulations: arrays in place, resets, checkpoints, counted failures, equal bits."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from array_kinds import make_array, usable
from pendulum_simulations import MODEL, OPTIONS, POINTS, random_targets, simulation

import warpdyn as wd


def test_a_simulation_is_neither_pickled_nor_copied() -> None:
    """The error says what to pickle instead, and that works."""
    sim = simulation()
    sim.step()
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=r"Simulation cannot be pickled.* its model and state\(\)"
        ):
            take(sim)
    model, state = pickle.loads(pickle.dumps((sim.model, sim.state())))
    other = wd.Simulation(model, 6, **OPTIONS)
    other.restore(state)
    for each in (sim, other):
        each.step()
    assert all(np.array_equal(x, other.state()[n]) for n, x in sim.state().items())


def test_creating_a_simulation_of_tensors_gives_no_warning() -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = simulation(like=torch.zeros(1))
        sim.reset()
    assert np.allclose(sim.q, [0.3, -0.4]) and sim.start.shape == (6, 2)


def test_a_simulation_equals_repeated_calls_of_step() -> None:
    """The results have the same bits. The simulation keeps its array objects."""
    sim = simulation(like=np.zeros(1))
    before = {name: getattr(sim, name) for name in ("q", "v", "forces", "torques", "time")}
    q, v = np.tile([0.3, -0.4], (6, 1)), np.zeros((6, 2))
    impulses = np.zeros((6, 1, 3))
    for k in range(5):
        targets = random_targets(6, k).astype(float)
        sim.step(targets)
        end = wd.step(
            *(MODEL, q, v, 0 * v),
            **{"points": POINTS, "control": OPTIONS["control"], "targets": targets},
            **{"impulses": impulses, "dt": 0.005, "substeps": 2},
        )
        q, v, impulses = end.q, end.v, end.impulses
        for name in ("q", "v", "impulses", "forces", "torques"):
            assert np.allclose(getattr(sim, name), getattr(end, name), atol=1e-12), name
    assert all(getattr(sim, name) is array for name, array in before.items())
    assert np.allclose(sim.time, 0.05) and not sim.failures.any() and sim.time.shape == (6,)


def test_results_do_not_depend_on_batch_size_or_threads() -> None:
    """An environment alone and among others, on one thread and on two, has the same bits."""
    ends = []
    number = wd.runtime.get_num_threads()
    try:
        for envs, threads in ((3, 1), (5000, 1), (5000, 2)):
            wd.runtime.set_num_threads(threads)
            sim = simulation(envs)
            sim.q[2] = 0.5, 0.1
            for _ in range(50):
                sim.step(np.array([0.2, -0.6], np.float32))
            ends.append([getattr(sim, n)[2].copy() for n in ("q", "v", "forces", "torques")])
    finally:
        wd.runtime.set_num_threads(number)
    for other in ends[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(ends[0], other, strict=True))


def test_a_reset_restores_start_or_given_values_and_clears_the_rest() -> None:
    """The environments are chosen by mask or index.

    Other environments continue. A second run equals the first one.
    """
    sim = simulation()
    sim.step([1.0, 1.0])
    first = sim.q.copy()
    for _ in range(20):
        sim.step([1.0, 1.0])
    kept = sim.q[3].copy()
    mask = np.array([True, False, True, False, False, True])
    sim.reset(mask)
    start = np.float32([0.3, -0.4])
    assert np.array_equal(sim.q[mask], [start] * 3) and np.array_equal(sim.q[3], kept)
    for name in ("v", "impulses", "forces", "torques", "time"):
        assert not getattr(sim, name)[mask].any()
    assert sim.time[3] > 0
    sim.step([1.0, 1.0])
    assert np.array_equal(sim.q[mask], first[mask])
    sim.reset([4, 1], q=[[0.1, 0.2], [0.3, 0.4]], v=[1.0, 2.0])
    assert np.array_equal(sim.q[[4, 1]], np.float32([[0.1, 0.2], [0.3, 0.4]]))
    assert np.array_equal(sim.v[[4, 1]], np.float32([[1, 2], [1, 2]]))
    whole = np.arange(12.0).reshape(6, 2)
    sim.reset(mask, q=whole)
    assert np.array_equal(sim.q[mask], whole[mask]) and not np.array_equal(sim.q[3], whole[3])
    sim.reset()
    assert np.array_equal(sim.q, [start] * 6) and not sim.time.any()


def test_a_restored_checkpoint_continues_with_the_same_bits() -> None:
    """Also in another simulation of the same scene, and through a file."""
    sim = simulation()
    for k in range(10):
        sim.step(random_targets(6, k))
    saved = sim.state()
    assert all(type(x) is np.ndarray for x in saved.values())
    for k in range(10):
        sim.step(random_targets(6, k))
    end = sim.state()
    again = simulation()
    for each in (sim, again):
        each.restore(saved)
        for k in range(10):
            each.step(random_targets(6, k))
        assert all(np.array_equal(x, end[n]) for n, x in each.state().items())
    with pytest.raises(ValueError, match=r"q of this simulation is \(3, 2\), got \(6, 2\)"):
        simulation(3).restore(saved)
    with pytest.raises(ValueError, match=r"a state has q, v, .*; got q"):
        sim.restore({"q": saved["q"]})


def test_a_state_that_is_not_finite_is_reset_and_counted() -> None:
    """One environment has NaN in its targets, and another has an infinite velocity."""
    sim = simulation()
    targets = random_targets(6, 0)
    sim.step(targets)
    others = [0, 2, 3, 5]
    undisturbed = simulation()
    for _ in range(3):
        undisturbed.step(targets)
    wrong = targets.copy()
    wrong[1, 0] = np.nan
    sim.v[4] = np.inf
    sim.step(wrong)
    assert np.array_equal(sim.failures, [0, 1, 0, 0, 1, 0])
    assert np.array_equal(sim.q[[1, 4]], np.float32([[0.3, -0.4]] * 2))
    for name in ("v", "time", "forces", "torques", "impulses"):
        assert not getattr(sim, name)[[1, 4]].any()
    sim.step(targets)
    assert np.isfinite(sim.q).all() and np.array_equal(sim.q[others], undisturbed.q[others])
    assert np.array_equal(sim.failures, [0, 1, 0, 0, 1, 0])


def test_a_ground_with_nan_is_counted_as_a_failure() -> None:
    """The robot does not fall through the ground, and other environments do not change.

    NaN passes through the maxima of the sweeps.
    """
    for name in ("stiffness", "friction", "dissipation"):
        numbers = {"stiffness": 1e4, "friction": 0.5, "dissipation": 0.02}
        array = np.full((6, 1) if name == "friction" else 6, numbers[name], np.float32)
        sim = simulation(ground=wd.Ground(**{name: array}))
        sim.reset(q=[0.3, 0.0], v=[3.0, 0.0])
        array[3] = np.nan
        for _ in range(40):
            sim.step()
        assert sim.failures[3] >= 1 and not sim.failures[[0, 1, 2, 4, 5]].any(), name


def test_time_does_not_accumulate_rounding() -> None:
    """The float32 time is exact after an hour."""
    sim = simulation()
    sim.time[:] = 3600.0 - 0.05
    for _ in range(5):
        sim.step()
    assert np.array_equal(sim.time, np.full(6, 3600.0, np.float32))
    before = np.float32(0.0)
    for _ in range(1000):
        sim.step()
        assert sim.time[0] > before
        before = sim.time[0]
    assert np.array_equal(sim.time, np.full(6, 3610.0, np.float32))


def test_numbers_written_in_place_act_from_the_next_step() -> None:
    """Gains, friction, pushes and masses."""
    kp, push = np.full(2, 20.0, np.float32), np.zeros((6, 6), np.float32)
    sim = simulation(control=wd.PD(kp, 1.0), f_ext={"tip": push})
    sim.step([0.5, 0.5])
    assert np.array_equal(sim.q[0], sim.q[1])
    push[1, 0] = 30.0
    sim.step()
    assert not np.array_equal(sim.q[0], sim.q[1])
    before = np.abs(sim.torques[0]).copy()
    kp[:] = 0.0
    sim.reset()
    sim.step()
    assert (np.abs(sim.torques[0]) < before).all()


def test_a_robot_without_drives_lands_on_its_collision_shapes() -> None:
    """Contact points come from the shapes by default, and tau from the caller."""
    model = wd.load_robot("quadruped")
    lying = [0, 0, 1, 0, 0, 0, 1, *([0.0, 0.9, -1.8] * 4)]
    sim = wd.Simulation(model, 2, points=[], substeps=1, start=lying)
    assert sim.q.dtype == np.float32 and sim.forces.shape == (2, 0, 3)
    sim.tau[1, 2] = 9.81 * model.total_mass
    sim.step()
    a = wd.oracle(wd.aba, model, sim.start, 0 * sim.v, sim.tau)
    assert a[0, 2] == pytest.approx(-9.81) and np.allclose(sim.v, a * 0.005, atol=1e-3)
    everything = wd.Simulation(model, 2)
    assert len(everything.points) == 21
    assert repr(everything) == (
        "<Simulation of 2 quadruped: 21 contact points, 4 steps of 0.005 s a launch>"
    )


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_negative_numbers_are_refused_at_creation(library: str) -> None:
    """Arrays may be of any library.

    Negative numbers written later are refused before a step if `wd.config.debug` is on.
    """
    usable(library)
    like = make_array(library, np.zeros(1, np.float32))
    stiff, soft = (np.full(6, x, np.float32) for x in (1e4, -1e4))
    with pytest.raises(ValueError, match=r"stiffness.* must be above 0, got -1"):
        simulation(like=like, ground=wd.Ground(stiffness=make_array(library, soft)))
    gains = make_array(library, np.full((6, 2), 20.0, np.float32))
    ground = wd.Ground(stiffness=make_array(library, stiff))
    sim = simulation(like=like, control=wd.PD(gains, 1.0), ground=ground)
    sim.step()
    before = sim.state()
    sim._library.assign(gains, slice(None), np.full((6, 2), -1.0, np.float32))
    wd.config.debug = True
    try:
        with pytest.raises(ValueError, match="kp in environment 0: entry 0 must be at least 0"):
            sim.step()
    finally:
        wd.config.debug = False
    assert all(np.array_equal(x, before[name]) for name, x in sim.state().items())


def test_a_simulation_starts_at_a_named_configuration() -> None:
    """The default start is "home" if the model has it; the drives hold it.

    Other models start at the neutral configuration.
    """
    up = {"shoulder": 3.0}
    model = MODEL.with_configuration("up", up)
    drives = {"points": POINTS, "control": wd.PD(20.0, 1.0)}
    for start, q in (
        ("up", [3.0, 0.0]),
        (None, model.configurations["home"]),
        ("home", model.configurations["home"]),
        ([0.1, 0.2], [0.1, 0.2]),
    ):
        sim = wd.Simulation(model, 3, start=start, **drives)
        assert np.allclose(sim.q, q) and np.allclose(sim.start, q) and np.allclose(sim.targets, q)
        sim.q[:] = 0.0
        sim.reset()
        assert np.allclose(sim.q, q)
    bare = replace(MODEL, named=())
    assert not wd.Simulation(bare, 3, **drives).q.any()
    free = wd.Simulation(wd.load_robot("quadruped"), 2, points=[], control=wd.PD(60.0, 2.0))
    assert np.allclose(free.targets, free.q[:, 7:]) and np.allclose(free.q[:, 2], 0.3302)
    with pytest.raises(KeyError, match="no configuration named 'down'; it has home, up"):
        wd.Simulation(model, 3, start="down", **drives)


def test_a_simulation_with_too_many_default_points_is_refused() -> None:
    """It would be slow. Points that the caller passes are accepted."""
    boxes = tuple(wd.description.Geometry("box", (0.1 * k, 0.1, 0.1)) for k in range(1, 26))
    model = replace(MODEL, links=tuple(replace(x, collisions=boxes) for x in MODEL.links))
    with pytest.raises(ValueError, match=r"has 600 contact points, more than 500; choose those"):
        wd.Simulation(model, 2)
    assert len(wd.Simulation(model, 2, points=wd.ContactPoints(model)).points) == 600


def test_invalid_arguments_are_refused() -> None:
    """The message gives the wrong names. No array is changed."""
    sim = simulation()
    before = sim.state()
    for where in ([6], [-1], np.array([0, 9])):
        with pytest.raises(IndexError, match="there are environments 0 to 5; got"):
            sim.reset(where)
    with pytest.raises(ValueError, match=r"a mask must be \(6,\), one for each robot; got \(5,\)"):
        sim.reset(np.zeros(5, bool))
    with pytest.raises(TypeError, match="where must be a mask"):
        sim.reset(np.zeros(2))
    with pytest.raises(ValueError, match=r"q must be \(2,\) or \(2, 2\), got \(3, 2\)"):
        sim.reset([0, 1], q=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"v must be \(2,\) or \(1, 2\), got \(3,\)"):
        sim.reset(np.arange(6) == 2, q=np.zeros(2), v=np.zeros(3))
    with pytest.raises(
        ValueError, match=r"q is not a valid state in the rows to reset: .* 1: elbow is nan"
    ):
        sim.reset([0, 3], q=[[0.0, 1.0], [0.0, np.nan]])
    with pytest.raises(
        ValueError, match=r"v must be finite .*; 1 are not, the first at \(1,\): inf"
    ):
        sim.reset([0], v=[0.0, np.inf])
    with pytest.raises(ValueError, match=r"targets must be \(2,\) or \(6, 2\), got \(6, 3\)"):
        sim.step(np.zeros((6, 3)))
    assert all(np.array_equal(x, before[n]) for n, x in sim.state().items())
    with pytest.raises(ValueError, match="targets= needs drives"):
        simulation(control=None).step(np.zeros(2))
    with pytest.raises(ValueError, match="envs must be a whole number of at least 1, got 0"):
        simulation(0)
    with pytest.raises(ValueError, match="dt must be a number"):
        simulation(dt=0.0)
    with pytest.raises(KeyError, match="no link named 'tp'; did you mean 'tip'"):
        simulation(points=[("tp", (0, 0, 0), 0.05)])
    with pytest.raises(TypeError, match=r"points must be a list of wd.ContactPoint\(link, "):
        simulation(points=["tip"])
    with pytest.raises(TypeError, match=r"ground must be wd.Ground"):
        simulation(points=[], ground="flat")
    with pytest.raises(ValueError, match="start is not a valid state: q: shoulder is nan"):
        simulation(start=[np.nan, 0.0])
    with pytest.raises(ValueError, match="quaternion of floating_base has length 0, not 1"):
        wd.Simulation(wd.load_robot("quadruped"), 2, points=[], start=np.zeros(19))
    with pytest.raises(TypeError, match=r"control must be one wd\.PD"):
        simulation(control=[wd.PD(1.0, 1.0)] * 2)
    with pytest.raises(TypeError, match="must be a Model"):
        wd.Simulation("quadruped", 4)  # type: ignore[arg-type]
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"in place, which jax's are not; use wd.step"):
        simulation(like=jax.numpy.zeros(1))


@pytest.mark.parametrize("rows", ["friction", "stops"])
def test_joint_rows_work_on_soft_ground(rows: str) -> None:
    """Friction and stops of joints need impulses, soft ground has none.

    Far above it a robot moves as without ground. On it a robot with much dry friction keeps its
    pose.
    """
    model = wd.load_robot("quadruped")
    options: dict[str, Any] = {"dt": 1e-3, "stops": "rows"} if rows == "stops" else {"dt": 1e-3}
    if rows == "friction":
        model = model.with_friction(coulomb=50.0)
    soft = wd.SoftGround(0.5, 1e4, 150.0)
    start = wd.random_configuration(model, 1)[0]
    start[:3] = 0.0, 0.0, 100.0
    ends = []
    for ground in ({"ground": soft}, {"points": []}):
        sim = wd.Simulation(model, 1, start=start, **ground, **options)
        for _ in range(20):
            sim.step()
        ends.append(sim.q.copy())
    assert np.allclose(*ends, rtol=0, atol=1e-5)
    if rows == "friction":
        start[2:7] = 0.32, 0.0, 0.0, 0.0, 1.0
        sim = wd.Simulation(model, 1, start=start, ground=soft, **options)
        for _ in range(500):
            sim.step()
        assert np.isfinite(sim.v).all() and np.abs(sim.q[0, 7:] - start[7:]).max() < 0.02


def test_drives_with_an_effort_limit_of_zero_give_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    """An effort of 0 in a description usually means that its author did not know the limit."""
    model = wd.load_robot("double_pendulum").with_limits("elbow", effort=0.0)
    gains = np.array([1.0, 0.0])
    for control in (None, wd.PD(1.0, 1.0, effort=5.0), wd.PD(gains, gains)):
        wd.Simulation(model, 1, points=[], control=control)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="effort limit of 0 at elbow, so that drives"):
        wd.Simulation(model, 1, points=[], control=wd.PD(1.0, 1.0))
