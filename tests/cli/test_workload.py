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


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/cli")["workload"] == {
        "LARGEST_ANGLE": 10.0,
    }
