"""Inverse kinematics: solutions satisfy forward kinematics, and nearly all reachable targets are
solved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import DeviceArray
from hand_made_urdf import joint, link, urdf
from reachable_targets import SOLVED, TOLERANCE, check, errors, reachable
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.algorithms import inverse_kinematics as algorithm
from warpdyn.algorithms.inverse_kinematics import DAMPING, LOST, FrameTask, Search, step
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.inverse_kinematics import Solution, inverse_kinematics

HANDS = {"panda": "panda_hand", "ur5e": "tool0"}


@pytest.mark.parametrize("name", HANDS)
def test_reachable_targets_are_reached(name: str, dtype: np.dtype, device: str) -> None:
    """Poses of configurations within the limits."""
    model = wd.load_robot(name)
    targets = reachable(model, 256, [HANDS[name]], dtype)
    found = on(device, model, targets)
    check(model, found, targets, 3e-6 if dtype == np.float32 else 1e-12)
    assert found.success.mean() >= SOLVED


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", HANDS)
def test_nearly_all_of_4096_targets_are_reached(name: str, seed: int) -> None:
    """The project's published figure, with 32 restarts."""
    model = wd.load_robot(name)
    targets = reachable(model, 4096, [HANDS[name]], np.float32, seed)
    found = inverse_kinematics(model, targets, restarts=32)
    check(model, found, targets, 3e-6)
    assert found.success.mean() >= SOLVED


@pytest.mark.parametrize(
    "name",
    [
        "mimic_chain_floating",
        "free_inside_wxyz",
        "balls",
        "planar_slanted",
        "two_axes",
        "quadruped_floating",
    ],
)
def test_several_frames_of_any_robot_are_reached(name: str) -> None:
    """The robots have all kinds of joints, mimic joints, free bases and both orders of quaternions.
    Up to three targets are reached at once.
    """
    model = by_name(name).model
    targets = reachable(model, 64, list(model.link_names[-1:-8:-3]))
    found = inverse_kinematics(model, targets)
    check(model, found, targets, 1e-12)
    assert found.success.mean() >= SOLVED


def test_weights_choose_between_position_and_orientation() -> None:
    """A weight of zero removes a part. Matrices, poses and positions are the same targets."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 64, [hand])[hand]
    pose = np.concatenate([T[:, :3, 3], wd.convert.matrix_to_pose(T)[:, 3:]], axis=1)
    whole = inverse_kinematics(model, T, frame=hand)
    assert np.abs(inverse_kinematics(model, {hand: pose}).q - whole.q).max() < 1e-6

    there = inverse_kinematics(model, {hand: T}, orientation_weight=0.0)
    p, w = errors(model, there.q, {hand: T})
    assert (
        there.success.all()
        and p.max() < TOLERANCE[0]
        and w.max() > 0.1
        and not there.orientation_error.any()
    )
    assert (
        inverse_kinematics(model, {hand: T[:, :3, 3].copy()}, orientation_weight=0).q == there.q
    ).all()
    assert there.iterations.mean() < whole.iterations.mean()

    turned = inverse_kinematics(model, {hand: T}, position_weight={hand: 0}, tolerance=(1e-4, 1e-8))
    p, w = errors(model, turned.q, {hand: T})
    assert (
        turned.success.all()
        and w.max() < 1e-8
        and p.max() > 0.1
        and not turned.position_error.any()
    )

    far = T.copy()
    far[:, :3, 3] *= 10
    near_axis = inverse_kinematics(model, {hand: far}, position_weight=1e-3)
    near_point = inverse_kinematics(model, {hand: far}, position_weight=1e3)
    assert near_axis.orientation_error.mean() < 0.1 * near_point.orientation_error.mean()


def test_targets_out_of_reach_get_the_nearest_configuration() -> None:
    """Targets are beyond two links of a pendulum, and beyond the arm of a robot.

    There is no success, and the error is the missing length.
    """
    model = wd.load_robot("double_pendulum")
    angle = np.random.default_rng(0).uniform(-3, 3, (32, 1))
    stretched = wd.fk(model, angle * [1.0, 0.0], frame="tip")[:, :3, 3]
    found = inverse_kinematics(model, {"tip": 3.0 * stretched}, orientation_weight=0)
    lengths = np.linalg.norm(stretched, axis=1)
    assert not found.success.any() and np.abs(found.position_error - 2.0 * lengths).max() < 1e-5

    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 32, [hand])[hand]
    T[:, :3, 3] += 3.0 * T[:, :3, 3] / np.linalg.norm(T[:, :3, 3], axis=1, keepdims=True)
    found, more = (inverse_kinematics(model, {hand: T}, restarts=n) for n in (32, 300))
    assert not found.success.any() and not more.success.any()
    assert (cost(found) < 1.02 * cost(more)).all() and cost(found).mean() < 1.002 * cost(
        more
    ).mean()
    p, w = errors(model, found.q, {hand: T})
    assert (
        np.abs(p - found.position_error).max() < 1e-12
        and np.abs(w - found.orientation_error).max() < 1e-9
    )


def cost(found: Solution) -> np.ndarray:
    return found.position_error**2 + (2 * np.sin(found.orientation_error / 2)) ** 2


def test_the_nearest_configuration_is_stationary() -> None:
    """J'e vanishes for coordinates within their limits, and points beyond the limits for others."""
    model, hand = wd.load_robot("panda"), "panda_hand"
    target = np.array([[1.2, 0.3, 0.9], [0.2, -1.4, 0.5], [-0.9, 0.9, 1.0]])
    found = inverse_kinematics(model, {hand: target}, orientation_weight=0, iterations=500)
    J = wd.jacobian(model, found.q, frame=hand, part="linear")
    e = target - wd.fk(model, found.q, frame=hand)[:, :3, 3]
    pull = np.einsum("eij,ei->ej", J, e)
    high, low = found.q > model.position_upper - 1e-9, found.q < model.position_lower + 1e-9
    assert not found.success.any() and (pull[high] > -1e-6).all() and (pull[low] < 1e-6).all()
    assert np.abs(pull[~high & ~low]).max() < 1e-3 * np.linalg.norm(e, axis=1).min()


def _after_a_step(shoulder: str, angle: float, q: list[float], target: list[float]) -> list[float]:
    """The configuration after one step of an arm of two links whose shoulder is moving or fixed."""
    model = wd.load_urdf(
        urdf(
            "arm",
            *(link(name) for name in ("base", "upper", "lower", "tip")),
            joint("shoulder", shoulder, "base", "upper", rpy=(0, 0, angle)),
            joint("elbow", "revolute", "upper", "lower", (1, 0, 0)),
            joint("end", "fixed", "lower", "tip", (1, 0, 0)),
        )
    )
    task = FrameTask(
        frames=("tip",),
        forms=((3,),),
        weights=((1.0, 0.0),),
        tolerance=TOLERANCE,
        restarts=0,
        iterations=10,
        lower=tuple(model.position_lower),
        upper=tuple(model.position_upper),
        draws=((-3.0, 3.0, False),) * model.nq,
        start=tuple(q),
    )
    targets, first, seed = task.split([target, [0.5] * model.nq])
    now = Search(0.0, 0.0, 0.0, 0.0, 0.0, LOST, DAMPING, LOST, q, q)
    return list(step(tree_of(model), now, targets, first, seed, task).q)


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["upper", "lower"])
def test_a_joint_pressed_against_its_limit_is_fixed_in_a_step(side: float) -> None:
    """Other joints move as if it were fixed. If the target leads away from the limit, it moves."""
    limit, elbow = 3.0 * side, 0.5 * side
    for beyond, pressed in ((0.2 * side, True), (-0.2 * side, False)):
        turn, bend = limit + beyond, elbow + 0.3 * side
        target = [np.cos(turn) + np.cos(turn + bend), np.sin(turn) + np.sin(turn + bend), 0.0]
        moved = _after_a_step("revolute", 0.0, [limit, elbow], target)
        alone = _after_a_step("fixed", limit, [elbow], target)
        assert (moved[0] == pytest.approx(limit, abs=1e-12)) == pressed
        assert (moved[1] == pytest.approx(alone[0], abs=1e-12)) == pressed


def test_starts_come_from_q0_and_the_seed() -> None:
    """q0 is one for each or one for all.

    A solution as start needs no step. The seed sets the other starts.
    """
    model, hand = wd.load_robot("panda"), "panda_hand"
    draw = np.random.default_rng(0)
    q = draw.uniform(model.position_lower, model.position_upper, (50, model.nq))
    T = {hand: wd.fk(model, q, frame=hand)}
    found = inverse_kinematics(model, T, q0=q)
    assert found.success.all() and (found.iterations == 1).all() and (found.q == q).all()
    near = inverse_kinematics(
        model, T, q0=q + 0.01, restarts=0
    )  # moved inside the limits where that is outside
    assert near.success.all() and np.abs(near.q - q).max() < 0.2 and near.iterations.max() <= 8
    middle = (model.position_lower + model.position_upper) / 2
    found = inverse_kinematics(model, T)
    for again in (
        inverse_kinematics(model, T, q0=middle),
        inverse_kinematics(model, T, q0=np.tile(middle, (50, 1))),
    ):
        assert np.abs(again.q - found.q).max() < 1e-9
    other = inverse_kinematics(model, T, seed=1)
    assert (
        np.abs(other.q - found.q).max() > 0.1
        and (other.q == inverse_kinematics(model, T, seed=1).q).all()
    )


def test_solutions_are_within_limits() -> None:
    """A start beyond them is moved inside. A target beyond them is not reached."""
    model = wd.load_robot("cartpole")
    slider = float(model.position_upper[0])
    q = np.array([[0.9 * slider, 0.3], [slider + 0.5, 0.3]])
    T = {"cart": wd.fk(model, q, frame="cart")}
    found = inverse_kinematics(model, T, q0=np.array([10.0, 0.0]))
    assert found.success.tolist() == [True, False] and found.q[1, 0] == slider
    assert abs(found.position_error[1] - 0.5) < 1e-6 and found.orientation_error[1] < 1e-6


def test_a_frame_that_cannot_move_stays_at_its_pose() -> None:
    """It succeeds if the target is there, and returns q0 in any case."""
    model = wd.load_robot("ur5e")
    q, base = np.full((2, model.nq), 0.5), model.link_names[0]
    T = wd.fk(model, q, frame=base)
    T[1, 0, 3] += 1.0
    found = inverse_kinematics(model, {base: T}, q0=q)
    assert found.success.tolist() == [True, False] and (found.q == q).all()
    assert np.allclose(found.position_error, [0, 1])


def test_targets_are_reached_with_varying_placements() -> None:
    """Each environment has its own arm by params."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    draw = np.random.default_rng(0)
    elbow = np.tile([-0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (30, 1))
    elbow[:, :3] += draw.uniform(-0.1, 0.1, (30, 3))
    params = model.params(placement={"elbow_joint": elbow})
    q = draw.uniform(-2, 2, (30, model.nq))
    T = wd.fk(model, q, frame=hand, params=params)
    found = inverse_kinematics(model, {hand: T}, params=params)
    assert found.success.all()
    reached, without = (
        wd.fk(model, found.q, frame=hand, **given) for given in ({"params": params}, {})
    )
    assert (
        np.abs(reached - T)[:, :3, 3].max() < TOLERANCE[0]
        and np.abs(without - T)[:, :3, 3].max() > 0.01
    )


def on(device: str, model: wd.Model, targets: dict[str, np.ndarray], **options: Any) -> Solution:
    """The search on a device, with results as NumPy arrays."""
    placed = {name: DeviceArray(x, device).array for name, x in targets.items()}
    found = inverse_kinematics(model, placed, **options)
    return found if device == "cpu" else Solution(*(x.numpy() for x in found))


@pytest.mark.parametrize("length", [0.5, 0.999, 3.0, -1.0])
def test_a_quaternion_of_a_target_is_normalised(length: float) -> None:
    """A pose with another length of the quaternion is the same target."""
    model, hand = wd.load_robot("panda"), "panda_hand"
    q = states(model, 64).q
    pose = wd.fk(model, q, frame=hand, form="pose")
    wanted = wd.inverse_kinematics(model, {hand: pose})
    pose[:, 3:] *= length
    found = wd.inverse_kinematics(model, {hand: pose})
    assert found.success.all() == wanted.success.all() and found.success.mean() > 0.95
    reached, asked = (wd.fk(model, x[found.success], frame=hand) for x in (found.q, q))
    np.testing.assert_allclose(reached, asked, atol=2e-3)


def test_a_target_matrix_that_is_not_a_rotation_fails() -> None:
    """Scaled, reflected and zero matrices have no orientation. Rounded ones are rotations."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 6, [hand])[hand]
    T[0] = T[0].round(2)
    T[1, :3, :3] *= 2.0
    T[2, :3, 0] *= -1.0
    T[3, :3, :3] = 0.0
    T[4, :3, :3] = np.diag([1.3, 0.7, 1.0])
    found = inverse_kinematics(model, T, frame=hand)
    sound = np.array([True, False, False, False, False, True])
    assert np.array_equal(found.success, sound)
    assert np.array_equal(np.isnan(found.orientation_error), ~sound)
    assert np.isfinite(found.q).all() and (found.iterations[~sound] == 1).all()
    there = inverse_kinematics(model, T, frame=hand, orientation_weight=0)
    assert there.success.all()  # position targets read no rotation


@pytest.mark.parametrize("weight", [0, 1])
def test_a_transposed_matrix_is_no_target(weight: float) -> None:
    """Its position is in the last row. A last row of zeros is a matrix that somebody filled in."""
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 3, [hand])[hand]
    T[0] = T[0].T
    T[1, 3, 3] = 0.0
    found = inverse_kinematics(model, T, frame=hand, orientation_weight=weight)
    assert found.success.tolist() == [False, True, True]
    assert np.isnan(found.position_error).tolist() == [True, False, False]
    assert np.isfinite(found.q).all()


@pytest.mark.parametrize("factor", [1e-30, 1e-6, 3.0, 1e30])
def test_only_the_ratio_of_weights_matters(factor: float) -> None:
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 16, [hand])[hand]
    T[8:, :3, 3] *= 3.0
    one = inverse_kinematics(model, T, frame=hand, orientation_weight=0.25)
    found = inverse_kinematics(
        model, T, frame=hand, position_weight=factor, orientation_weight=0.25 * factor
    )
    np.testing.assert_allclose(found.q, one.q, atol=1e-6)
    assert np.array_equal(found.success, one.success) and one.success[:8].all()


def test_a_quaternion_of_a_start_is_normalised() -> None:
    """The errors are therefore those of the result."""
    model, foot = wd.load_robot("quadruped"), "FL_foot"
    q = states(model, 4).q
    T = wd.fk(model, q, frame=foot)
    T[:, :3, 3] += 50.0
    q[:, 3:7] *= 3.0
    found = inverse_kinematics(model, T, frame=foot, q0=q, restarts=0, iterations=1)
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:7], axis=1), 1.0, rtol=1e-12)
    p, w = errors(model, found.q, {foot: T})
    np.testing.assert_allclose(p, found.position_error, rtol=1e-9)
    np.testing.assert_allclose(w, found.orientation_error, rtol=1e-6)


@pytest.mark.parametrize(("rows", "columns", "size"), [(6, 2, 2), (3, 7, 3), (4, 4, 4)])
def test_a_step_solves_the_smaller_of_two_equal_systems(
    monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, size: int
) -> None:
    """It has a row for each coordinate or for each error. Either gives the damped least squares."""
    sizes, solve = list[int](), algorithm.solve_symmetric

    def solve_and_count(A: Any, b: Any) -> Any:
        sizes.append(len(A))
        return solve(A, b)

    monkeypatch.setattr(algorithm, "solve_symmetric", solve_and_count)
    model = by_name("panda").model
    rng, bound = np.random.default_rng(rows), (np.inf,) * model.nq
    J, e = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    free = FrameTask((), (), (), (1.0, 1.0), 0, 1, tuple(-x for x in bound), bound, (), None)
    sparse = [dict(enumerate(row)) for row in J.tolist()]
    found = algorithm._damped_step(tree_of(model), [0.0] * model.nq, sparse, list(e), 0.1, free)
    wanted = np.zeros(model.nv)
    wanted[:columns] = np.linalg.solve(J.T @ J + 0.1 * np.eye(columns), J.T @ e)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    assert sizes == [size]


@pytest.mark.parametrize(
    ("options", "steps", "position", "orientation"),
    [
        ({}, [57, 9, 308, 306], [8e-6, 0.0, 0.93684, 1.214963], [2.2e-5, 0, 0.074693, 0.113455]),
        (
            {"restarts": 3, "iterations": 12, "orientation_weight": 0.3},
            [54, 8, 38, 43],
            [0.05284, 2.7e-5, 0.929324, 1.201228],
            [0.067793, 4.6e-5, 0.197856, 0.293623],
        ),
    ],
)
def test_searches_have_their_recorded_steps_and_errors(
    options: dict[str, Any], steps: list[int], position: list[float], orientation: list[float]
) -> None:
    """Steps and errors for two poses in reach and two beyond it, as first recorded (2026-11-27).

    Each number of the method matters: damping, patience, starts, refinement. This test shows when
    one of them changes.
    """
    model = by_name("panda").model
    target = wd.fk(model, wd.random_configuration(model, 4, seed=3), frame="panda_hand")
    target[2:, :3, 3] *= 3
    found = wd.oracle(inverse_kinematics, model, {"panda_hand": target}, **options)
    assert np.asarray(found.iterations).tolist() == steps
    np.testing.assert_allclose(found.position_error, position, atol=2e-6)
    np.testing.assert_allclose(found.orientation_error, orientation, atol=2e-6)
