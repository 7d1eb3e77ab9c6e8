"""Random states within limits, and the arrays of one algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.cli.workload import (
    ARGUMENTS,
    FUNCTIONS,
    LARGEST_ANGLE,
    Memory,
    Workload,
    furthest_link,
    on_host,
    position_bounds,
    random_states,
)
from warpdyn.model.poses_and_limits import Limits


@pytest.mark.parametrize("name", wd.robot_names())
def test_random_states_are_within_limits(name):
    """Positions are within limits, and quaternions have length one."""
    model = wd.load_robot(name)
    q = random_states(model, 200)["q"]
    bounded = np.isfinite(model.position_lower)
    assert (q >= model.position_lower)[:, bounded].all()
    assert (q <= model.position_upper)[:, bounded].all()
    if model.floating_base:
        assert np.allclose(np.linalg.norm(q[:, 3:7], axis=1), 1)


def test_rates_and_torques_are_on_both_sides_within_limits_and_bounds():
    """Speeds are at most 3, and 1 without a limit; torques at most 50, and 1 without a limit. A free base
    is within a metre of the origin, and accelerations are at most 5."""
    builder = wd.ModelBuilder("arm").add_link("a", 1.0)
    for k, (speed, effort) in enumerate(((2.0, 20.0), (9.0, 90.0), (0.0, 0.0))):
        limits = {"lower": -1.0, "upper": 1.0, "velocity": speed, "effort": effort}
        builder.add_link(f"b{k}", 1.0)
        builder.add_joint(f"j{k}", "revolute", "a", f"b{k}", axis=(0, 0, 1), **limits)
    states = random_states(builder.build(floating_base=True), 1000)
    assert states["v"].shape == states["a"].shape == states["tau"].shape == (1000, 9)
    for name, columns, ends in (
        ("q", slice(0, 3), 1.0),
        ("v", slice(6, 9), [2.0, 3.0, 1.0]),
        ("tau", slice(6, 9), [20.0, 50.0, 1.0]),
        ("a", slice(0, 9), 5.0),
    ):
        drawn = states[name][:, columns] / ends
        assert np.allclose([drawn.min(0), drawn.max(0)], [[-1.0], [1.0]], atol=0.02), name
        assert np.abs(drawn).max() <= 1.0


def test_the_seed_determines_the_random_states():
    """Two calls agree, and another seed gives other states."""
    model = wd.load_robot("panda")
    first, again, other = (random_states(model, 5, seed) for seed in (0, 0, 1))
    assert all((first[name] == again[name]).all() for name in first)
    assert (first["q"] != other["q"]).any()


def test_absurd_limits_are_cut():
    """A limit of 1e16 rad is not used. Without limits the range is one turn."""
    builder = wd.ModelBuilder("wide").add_link("a").add_link("b", 1.0).add_link("c", 1.0)
    builder.add_joint("wide", "revolute", "a", "b", axis=(0, 0, 1), lower=-1e16, upper=1e16)
    builder.add_joint("free", "continuous", "b", "c", axis=(0, 0, 1))
    model = builder.build()
    assert model.joints[1].limits == Limits() or not np.isfinite(model.position_lower[1])
    lower, upper = position_bounds(model)
    np.testing.assert_array_equal(upper, [LARGEST_ANGLE, np.pi])
    np.testing.assert_array_equal(lower, -upper)


def test_the_furthest_link_is_the_tip():
    """It is behind the most moving joints, and the first of equals."""
    assert furthest_link(wd.load_robot("ur5e")).startswith("wrist_3")
    assert furthest_link(wd.load_robot("ur5e"), ("base", "forearm_link")) == "forearm_link"
    assert furthest_link(wd.load("<robot name='s'><link name='a'/></robot>")) == "a"


def test_functions_are_public_by_their_names():
    """The five algorithms are the package's functions of those names."""
    assert list(FUNCTIONS) == list(ARGUMENTS)
    assert all(getattr(wd, name) is function for name, function in FUNCTIONS.items())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_layouts_differ_only_in_memory(dtype, device):
    """An array has its values in either layout. In "columns" environments are contiguous."""
    values = np.arange(2.0 * 3 * 5).reshape(5, 3, 2)
    columns, rows = (
        Memory(dtype, layout, device).array_of(values) for layout in ("columns", "rows")
    )
    for array in (columns, rows):
        np.testing.assert_array_equal(on_host(array), values)
    item = np.dtype(dtype).itemsize
    assert columns.strides[0] == item and rows.strides[0] == 6 * item


@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("algorithm", ARGUMENTS)
def test_a_workload_computes_the_functions_result(algorithm, layout, device):
    """call() and bind() write the result for the inputs that states() reads back."""
    model = wd.load_robot("double_pendulum")
    states = random_states(model, 6)
    frame = furthest_link(model)
    options = {"dtype": "float64", "layout": layout, "device": device}
    work = Workload.of(model, algorithm, states, frame=frame, **options)
    inputs = work.states(4)
    for values, name in zip(inputs, ARGUMENTS[algorithm], strict=True):
        np.testing.assert_array_equal(values, states[name][:4])
    wanted = wd.oracle(work.function, model, *inputs, **work.options)
    for run in (work.call, work.bind()):
        run()
        np.testing.assert_allclose(work.results(4), wanted, rtol=1e-11, atol=1e-12)
    (found,) = work.all_results(4)
    assert np.array_equal(found, work.results(4)) and len(found) == 4
    returned = work.call()
    assert np.array_equal(on_host(returned), on_host(work.out))


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/cli")["workload"] == {
        "LARGEST_ANGLE": 10.0,
    }
