"""Distances of pairs of shapes: smallest gaps, their rates, and own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cube_and_ball import MODEL, PAIRS, at
from gradient_cases import BESIDE, MODELS, WEDGE

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.functions.simulation.pair_gaps import pair_gaps

ARM = wd.load_robot("panda").with_object("crate", wd.description.Box(0.2, 0.3, 0.4), mass=1.0)
SELF = wd.ContactPairs(ARM).only(("panda_hand", "panda_link2"), ("panda_hand", "crate"))


def states(count: int) -> np.ndarray:
    """Random arms with the crate near them."""
    q = wd.random_configuration(ARM, count, seed=3)
    q[:, -7:-4] = np.random.default_rng(3).uniform(-0.6, 0.6, (count, 3))
    return q


def test_a_distance_is_the_smallest_gap_of_a_pair() -> None:
    gaps = pair_gaps(MODEL, at(0.15, 0.4), pairs=PAIRS).gaps[0]
    distances = wd.pair_distances(MODEL, at(0.15, 0.4), pairs=PAIRS)
    assert distances.shape == (1, 3)
    assert distances[0] == pytest.approx([gaps[0], gaps[1:5].min(), gaps[5]], abs=1e-9)


def test_the_rate_of_a_distance_is_that_of_differences() -> None:
    q, step = states(50), 1e-6
    v = np.random.default_rng(0).normal(size=(50, ARM.nv))

    def distances_at(h: float) -> np.ndarray:
        return wd.pair_distances(ARM, wd.integrate(ARM, q, h * v), pairs=SELF)

    rate = wd.configuration_rate(ARM, q, v)
    found = wd.jvp(wd.pair_distances, ARM, q, pairs=SELF, tangents={"q": rate})
    wanted = (distances_at(step) - distances_at(-step)) / (2 * step)
    assert np.abs(np.asarray(found) - wanted).max() < 1e-6
    slope = wd.vjp(wd.pair_distances, ARM, q, pairs=SELF, cotangents=np.ones((50, len(SELF))))
    assert (np.asarray(slope) * rate).sum(1) == pytest.approx(wanted.sum(1), abs=1e-6)


def test_distances_are_a_method_in_own_kernels() -> None:
    @wd.kernel
    def clearance(robot, q):
        return np.min(robot.pair_distances(q, pairs=SELF))

    q = states(5)
    assert clearance(ARM, q) == pytest.approx(wd.pair_distances(ARM, q, pairs=SELF).min(1))


def test_distances_within_one_rigid_body_are_refused() -> None:
    shape = PAIRS[0].first
    with pytest.raises(ValueError, match="parts of one rigid body"):
        wd.pair_distances(MODEL, at(0.1, 0.3), pairs=[type(PAIRS[0])(shape, shape)])


def two_bodies(first: wd.description.Solid, second: wd.description.Solid) -> wd.Model:
    world = wd.ModelBuilder("world").add_link("floor").build()
    return world.with_object("first", first, mass=1.0).with_object("second", second, mass=1.0)


BOX = wd.description.Box(0.02, 0.5, 0.01)


@pytest.mark.parametrize("other", [BOX, wd.description.Cylinder(0.1, 0.25)], ids=["box", "prism"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shapes_that_face_each_other_move_apart_along_their_normal(other: Any, dtype: Any) -> None:
    """Many normals and points are equally good in these places, and the search meets the best
    normal before its first step."""
    model = two_bodies(BOX, other)
    half_turns = np.eye(4)[[3, 0, 1, 2]]
    q = np.tile(model.neutral, (3, 4, 4, 1))
    q[..., 3:7], q[..., 10:14] = half_turns[:, None], half_turns
    half = 0.005 + (other.z if other is BOX else other.length) / 2
    gaps = np.array([0.04, 0.001, -0.004])
    q[..., 9] = half + gaps[:, None, None]
    q = q.reshape(48, model.nq).astype(dtype)
    pairs = wd.ContactPairs(model)
    found = wd.pair_distances(model, q, pairs=pairs)
    assert found[:, 0] == pytest.approx(gaps.repeat(16), abs=1e-7)
    slope = wd.vjp(wd.pair_distances, model, q, pairs=pairs, cotangents=np.ones((48, 1), dtype))
    away = np.tile([0.0, 0.0, 1.0], (48, 1))
    assert np.asarray(slope)[:, :3] == pytest.approx(-away, abs=1e-5)
    assert np.asarray(slope)[:, 7:10] == pytest.approx(away, abs=1e-5)


def test_slopes_of_single_precision_are_those_of_double_precision() -> None:
    q = states(50)
    slopes = [
        wd.vjp(wd.pair_distances, ARM, x, pairs=SELF, cotangents=np.ones((50, len(SELF)), x.dtype))
        for x in (q, q.astype(np.float32))
    ]
    assert np.isfinite(slopes[1]).all()
    assert np.abs(slopes[1] - slopes[0])[:, : ARM.nq - 7].max() < 2e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_slope_of_a_distance_to_the_end_of_a_capsule_is_a_unit_normal(dtype: Any) -> None:
    """The end is nearest to a corner of the box, and the axis crosses a plane of a face there, up to
    rounding."""
    box = wd.description.Box(0.1, 0.2, 0.2)
    model = two_bodies(wd.description.Capsule(0.04, 0.4), box)
    third = 3**-0.5
    q = np.tile([0.15, 0, 0, 0, 0, 0, 1, 0, 0, 0.35, -third, third, third, 0], (50, 1))
    q[1:] += 1e-8 * np.random.default_rng(0).normal(size=(49, 14))
    pairs = wd.ContactPairs(model)
    ones = np.ones((50, 1), dtype)
    slope = wd.vjp(wd.pair_distances, model, q.astype(dtype), pairs=pairs, cotangents=ones)
    assert np.linalg.norm(slope[:, :3], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(slope[:, 7:10], axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("links", [["panda_hand"], ["panda_hand", "panda_link6"]], ids=len)
def test_second_derivatives_along_motions_are_those_of_differences(links: list[str]) -> None:
    """Two pairs of the same kinds share a loop, through which derivatives do not go."""
    torch = pytest.importorskip("torch")
    q, step = states(20), 1e-5
    crate = ContactShape("crate", "box", (0.1, 0.15, 0.2))
    wedges = [ContactShape(link, "mesh", (), vertices=WEDGE) for link in links]
    pairs = [ContactPair(wedge, crate) for wedge in wedges]
    rate = wd.configuration_rate(ARM, q, np.random.default_rng(0).normal(size=(20, ARM.nv)))

    def slope(h: float) -> np.ndarray:
        x = q + h * rate
        return wd.vjp(wd.pair_distances, ARM, x, pairs=pairs, cotangents=np.ones((20, len(links))))

    wanted = np.sum((slope(step) - slope(-step)) / (2 * step) * rate, axis=1)
    x, u = torch.tensor(q, requires_grad=True), torch.tensor(rate)
    (first,) = torch.autograd.grad(
        wd.pair_distances(ARM, x, pairs=pairs).sum(), x, create_graph=True
    )
    (second,) = torch.autograd.grad((first * u).sum(), x)
    assert (second * u).sum(1).numpy() == pytest.approx(wanted, abs=1e-4)


def test_slopes_of_faces_that_face_each_other_lie_between_those_to_both_sides() -> None:
    """The nearest points are where both faces are, which is not at the middle of a face."""
    model, step = MODELS["hopper"], 1e-6
    q = np.tile(model.neutral, (model.nv, 1))
    v = np.eye(model.nv)

    def distances_at(h: float) -> np.ndarray:
        return wd.pair_distances(model, wd.integrate(model, q, h * v), pairs=BESIDE)

    there = distances_at(0.0)
    ahead, behind = (distances_at(step) - there) / step, (there - distances_at(-step)) / step
    rate = wd.configuration_rate(model, q, v)
    found = np.asarray(wd.jvp(wd.pair_distances, model, q, pairs=BESIDE, tangents={"q": rate}))
    assert np.abs(ahead - behind).max() > 0.1
    assert (found > np.minimum(ahead, behind) - 1e-5).all()
    assert (found < np.maximum(ahead, behind) + 1e-5).all()


def test_distances_in_a_loop_of_an_own_kernel_have_derivatives() -> None:
    """The step has values that count as constants. Both the loop and its reverse read them."""
    model = two_bodies(wd.description.Cylinder(0.1, 0.25), wd.description.Sphere(0.1))
    pairs, ways = wd.ContactPairs(model), 0.01 * np.ones(model.nv)

    @wd.kernel
    def last_distance(robot, q):
        def step(k, state, rows):
            rows[k] = robot.pair_distances(state["q"], pairs=pairs)[0]
            return {"q": robot.integrate(state["q"], ways)}

        _, rows = wd.kernels.loop(3, step, {"q": q}, np.zeros((3, 1)))
        return rows[2]

    q = model.neutral[None].copy()
    q[:, 7:10] = 0.2, 0.1, 0.15
    found = np.asarray(wd.vjp(last_distance, model, q, cotangents=np.ones((1, 1))))
    for k in range(model.nq):
        h = 1e-6 * np.eye(model.nq)[k]
        wanted = (last_distance(model, q + h) - last_distance(model, q - h)) / 2e-6
        assert found[0, k] == pytest.approx(np.ravel(wanted)[0], abs=1e-6)


def test_several_distances_in_a_loop_of_an_own_kernel_have_derivatives() -> None:
    """The pairs share a loop inside the loop of the kernel."""
    boxes = [
        ContactShape(link, "box", (0.05, 0.04, 0.03)) for link in ("panda_hand", "panda_link2")
    ]
    pairs = [ContactPair(box, ContactShape("crate", "box", (0.1, 0.15, 0.2))) for box in boxes]

    @wd.kernel
    def total(robot, q):
        def step(state):
            moved = robot.integrate(q, np.ones(ARM.nv) * (0.01 * state[0]))
            return (state[0] + np.sum(robot.pair_distances(moved, pairs=pairs)),)

        (found,) = wd.kernels.repeat(3, step, (0.0,))
        return found

    q, step = states(2), 1e-6
    u = wd.configuration_rate(ARM, q, np.random.default_rng(1).normal(size=(2, ARM.nv)))
    wanted = (total(ARM, q + step * u) - total(ARM, q - step * u)) / (2 * step)
    found = np.asarray(wd.vjp(total, ARM, q, cotangents=np.ones(2)))
    assert (found * u).sum(1) == pytest.approx(np.ravel(wanted), abs=1e-6)
