"""Velocities, accelerations and forces in other representations: laws, kernels, libraries."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from robots import ROBOTS, Robot, by_name
from states import error, states, step

import warpdyn as wd
from warpdyn.algorithms import representations as texts
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions import representations as rep

ROUND_OFF = {"float64": 1e-13, "float32": 2e-6}
"""Relative to the largest entry: a few products each."""

DIFFERENCE = 1e-8
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature."""

H = 1e-5
"""Step of central differences [s]."""

BASES = tuple(texts.REPRESENTATIONS)
REFERENCES = ("local", "local_world_aligned", "world")
FLOATING = [robot for robot in ROBOTS if robot.model.floating_base]


@pytest.fixture(params=FLOATING, ids=lambda robot: robot.name)
def floating(request: pytest.FixtureRequest) -> Robot:
    return request.param


def convert(
    text: str, model: wd.Model, source: str, target: str, *arrays: np.ndarray
) -> np.ndarray:
    """The algorithm on numbers from any of `BASES` to any other. Joints are passed through."""
    com, tree, function = model.link(model.root).com, tree_of(model), getattr(texts, text)
    conversion = texts.BaseConversion(model.root, source, target, com, None)
    return np.array([
        function(tree, *rows, conversion)
        for rows in zip(*(array.tolist() for array in arrays), strict=True)
    ])  # fmt: skip


def test_conversions_are_inverted_by_their_reverse(floating: Robot) -> None:
    """Joints do not change."""
    model, s = floating.model, states(floating.model, 2)
    for source, target in permutations(BASES, 2):
        v = convert("convert_velocity", model, source, target, s.q, s.v)
        a = convert("convert_acceleration", model, source, target, s.q, s.v, s.a)
        tau = convert("convert_force", model, source, target, s.q, s.tau)
        assert np.array_equal(v[:, 6:], s.v[:, 6:]) and np.array_equal(tau[:, 6:], s.tau[:, 6:])
        assert (
            error(convert("convert_velocity", model, target, source, s.q, v), s.v, v)
            <= ROUND_OFF["float64"]
        )
        back = convert("convert_acceleration", model, target, source, s.q, v, a)
        assert error(back, s.a, a) <= ROUND_OFF["float64"]
        assert (
            error(convert("convert_force", model, target, source, s.q, tau), s.tau, tau)
            <= ROUND_OFF["float64"]
        )


def test_conversions_compose(floating: Robot) -> None:
    """A conversion by way of another representation equals the direct one."""
    model, s = floating.model, states(floating.model, 2)
    for way, target in permutations(BASES, 2):
        v = convert("convert_velocity", model, "local", way, s.q, s.v)
        a = convert("convert_acceleration", model, "local", way, s.q, s.v, s.a)
        tau = convert("convert_force", model, "local", way, s.q, s.tau)
        for text, first, then in (
            ("convert_velocity", (s.v,), (v,)),
            ("convert_acceleration", (s.v, s.a), (v, a)),
            ("convert_force", (s.tau,), (tau,)),
        ):
            direct = convert(text, model, "local", target, s.q, *first)
            found = convert(text, model, way, target, s.q, *then)
            assert error(found, direct) <= ROUND_OFF["float64"]


def test_velocities_equal_the_root_links_jacobian_times_v(floating: Robot) -> None:
    """The base's six entries in each reference."""
    model, s = floating.model, states(floating.model, 2)
    for reference in REFERENCES:
        J = wd.oracle(wd.jacobian, model, s.q, frame=model.root, reference=reference)
        found = wd.oracle(rep.convert_velocity, model, s.q, s.v, source="local", target=reference)
        assert error(found[:, :6], np.einsum("eij,ej->ei", J, s.v), J) <= ROUND_OFF["float64"]


def test_power_is_the_same_in_all_representations(floating: Robot) -> None:
    """tau . v."""
    model, s = floating.model, states(floating.model, 2)
    power = np.sum(s.tau * s.v, axis=1)
    for target in BASES:
        v = convert("convert_velocity", model, "local", target, s.q, s.v)
        tau = convert("convert_force", model, "local", target, s.q, s.tau)
        assert error(np.sum(tau * v, axis=1), power, np.abs(tau * v)) <= ROUND_OFF["float64"]


def test_accelerations_are_rates_of_velocities(floating: Robot) -> None:
    """Rates of the converted components are central differences, in which the curvature of the
    motion cancels.
    """
    model, s = floating.model, states(floating.model, 2)
    later, earlier = ((step(model, s.q, t * s.v), s.v + t * s.a) for t in (H, -H))
    for target in BASES:
        rate = (
            convert("convert_velocity", model, "local", target, *later)
            - convert("convert_velocity", model, "local", target, *earlier)
        ) / (2 * H)
        found = convert("convert_acceleration", model, "local", target, s.q, s.v, s.a)
        assert error(found, rate) <= DIFFERENCE


def test_a_fixed_base_is_not_converted(run) -> None:
    """All numbers pass through."""
    model = by_name("free_inside").model
    s = states(model, 3)
    assert np.array_equal(
        run(rep.convert_velocity, model, s.q, s.v, source="body", target="inertial"), s.v
    )


SIDES = (("local", "world"), ("world", "mixed"), ("body", "mujoco"), ("drake", "warpdyn"))


@pytest.mark.parametrize(
    "name, sides",
    [
        *(("quadruped_floating", sides) for sides in SIDES),
        *(("free_inside_wxyz", x) for x in SIDES[:2]),
    ],
)
def test_kernels_equal_the_oracle(name: str, sides: tuple[str, str], run, dtype) -> None:
    """Compiled velocities, accelerations and forces."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    options = dict(zip(("source", "target"), sides, strict=True))
    for function, arrays in (
        (rep.convert_velocity, (s.q, s.v)),
        (rep.convert_acceleration, (s.q, s.v, s.a)),
        (rep.convert_force, (s.q, s.tau)),
    ):
        wanted = wd.oracle(function, model, *arrays, **options)
        found = run(function, model, *arrays, dtype=dtype, **options)
        assert error(found, wanted) <= ROUND_OFF[str(dtype)]


# Six-vectors of frames.


def poses(count: int = 5) -> np.ndarray:
    draw = np.random.default_rng(3)
    turn = draw.normal(size=(count, 4))
    return np.hstack(
        [draw.uniform(-2, 2, (count, 3)), turn / np.linalg.norm(turn, axis=1, keepdims=True)]
    )


def test_motion_and_force_transforms_convert_twists_and_wrenches() -> None:
    """The 6x6 matrices from local to world are each the inverse transpose of the other."""
    pose, six = poses(), np.random.default_rng(4).normal(size=(5, 6))
    X, Xf = rep.motion_transform(pose), rep.force_transform(pose)
    assert error(Xf, np.linalg.inv(X).transpose(0, 2, 1)) <= ROUND_OFF["float64"]
    twist = rep.convert_twist(pose, six, source="local", target="world")
    wrench = rep.convert_wrench(pose, six, source="body", target="inertial")
    assert error(twist, np.einsum("eij,ej->ei", X, six)) <= ROUND_OFF["float64"]
    assert error(wrench, np.einsum("eij,ej->ei", Xf, six)) <= ROUND_OFF["float64"]


def test_conversions_of_the_base_equal_those_of_its_twist(run) -> None:
    """Twist and wrench are converted at the pose of the base."""
    model = by_name("quadruped_floating").model
    s = states(model)
    for source, target in permutations(REFERENCES, 2):
        whole = run(rep.convert_velocity, model, s.q, s.v, source=source, target=target)
        alone = rep.convert_twist(
            s.q[:, :7].copy(), s.v[:, :6].copy(), source=source, target=target
        )
        assert error(whole[:, :6], alone) <= ROUND_OFF["float64"]
        whole = run(rep.convert_force, model, s.q, s.tau, source=source, target=target)
        alone = rep.convert_wrench(
            s.q[:, :7].copy(), s.tau[:, :6].copy(), source=source, target=target
        )
        assert error(whole[:, :6], alone) <= ROUND_OFF["float64"]


# Refusals.
