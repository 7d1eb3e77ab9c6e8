"""Different robots in one batch: the same results as each alone, and zeros beyond its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from devices import assert_same
from loop_robots import ROBOTS, four_bar
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.functions.group import Group
from warpdyn.functions.randomise import randomise, scale
from warpdyn.model.structure import start_of

MODELS = [by_name(name).model for name in ("double_pendulum", "cartpole", "single")]
ENVS = [5, 19, 2]
GROUP = Group(MODELS, ENVS)


def pad(name: str, fill: float = 7.0) -> np.ndarray:
    """A state's array of all environments, filled beyond a model's own columns."""
    parts = [getattr(states(model, n), name) for model, n in zip(MODELS, ENVS, strict=True)]
    out = np.full((sum(ENVS), max(x.shape[1] for x in parts)), fill)
    for rows, part in zip(GROUP.rows, parts, strict=True):
        out[rows, : part.shape[1]] = part
    return out


def alone(function: Any, *names: str, **options: Any) -> list[Any]:
    return [
        function(model, *(getattr(states(model, n), name) for name in names), **options)
        for model, n in zip(MODELS, ENVS, strict=True)
    ]


def check(whole: Any, parts: list[Any]) -> None:
    for rows, part in zip(GROUP.rows, parts, strict=True):
        own = np.zeros((len(part), *whole.shape[1:]))
        own[tuple(slice(0, n) for n in part.shape)] = part
        assert np.array_equal(np.asarray(whole)[rows], own)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (wd.rnea, "q v a"),
        (wd.crba, "q"),
        (wd.fk, "q"),
        (wd.kinetic_energy, "q v"),
        (wd.rnea_derivatives, "q v a"),
    ],
    ids=["rnea", "crba", "fk", "kinetic_energy", "rnea_derivatives"],
)
def test_each_model_computes_its_own_rows(function: Any, names: str) -> None:
    """Each model gives the same results alone: vectors, matrices, numbers, and several results.

    The entries beyond a model's size are zero.
    """
    found, wanted = GROUP(function, *map(pad, names.split())), alone(function, *names.split())
    if isinstance(found, tuple):
        for whole, parts in zip(found, zip(*wanted, strict=True), strict=True):
            check(whole, list(parts))
    else:
        check(found, wanted)


def test_options_can_be_given_for_all_or_for_each_model() -> None:
    """Gravity by environment, a frame and params by model."""
    gravity = np.random.default_rng(0).normal(size=(GROUP.count, 3))
    params = [None, randomise(MODELS[1], ENVS[1], mass=scale(0.5, 2)), None]
    found = GROUP(wd.gravity_torques, pad("q"), gravity=gravity, each={"params": params})
    for model, rows, own in zip(MODELS, GROUP.rows, params, strict=True):
        wanted = wd.gravity_torques(
            model, pad("q")[rows, : model.nq], gravity=gravity[rows], params=own
        )
        assert np.array_equal(found[rows, : model.nv], wanted)
    frames = [model.link_names[-1] for model in MODELS]
    poses = GROUP(wd.fk, pad("q"), each={"frame": frames}, form="pose")
    for model, rows, frame in zip(MODELS, GROUP.rows, frames, strict=True):
        assert np.array_equal(
            poses[rows], wd.fk(model, pad("q")[rows, : model.nq], frame=frame, form="pose")
        )


@pytest.mark.parametrize("count", [4, 3])
def test_an_option_without_rows_serves_all_environments(count: int) -> None:
    """Gravity (3,) and the points of a height scan, also if a group has as many environments."""
    group = Group(MODELS[:2], [1, count - 1])
    q = np.random.default_rng(0).normal(size=(count, 2))
    gravity, pattern = np.array([1.0, 2.0, -3.0]), np.arange(2.0 * count).reshape(count, 2)
    slope = wd.Plane((0.1, 0.2))
    tau = group(wd.gravity_torques, q, gravity=gravity)
    scan = group(wd.height_scan, q, pattern=pattern, terrain=slope)
    for model, rows in zip(MODELS[:2], group.rows, strict=True):
        own = q[rows, : model.nq]
        assert np.array_equal(
            tau[rows, : model.nv], wd.gravity_torques(model, own, gravity=gravity)
        )
        assert np.array_equal(scan[rows], wd.height_scan(model, own, pattern, terrain=slope))


def test_models_write_into_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writable arrays need no copy to join the results."""
    monkeypatch.setattr("warpdyn.functions.group._join", None)
    M = GROUP(wd.crba, pad("q"))
    assert M.shape == (GROUP.count, GROUP.nv, GROUP.nv)


def test_out_and_bind_work_in_a_group() -> None:
    """Results are in place, and entries beyond a model's columns are unchanged.

    Arrays can change between launches.
    """
    q, v, a = pad("q"), pad("v"), pad("a")
    tau = np.full((GROUP.count, GROUP.nv), 3.0)
    assert GROUP(wd.rnea, q, v, a, out=tau) is tau
    wanted = GROUP(wd.rnea, q, v, a)
    beyond = np.ones_like(tau, dtype=bool)
    for model, rows in zip(MODELS, GROUP.rows, strict=True):
        beyond[rows, : model.nv] = False
    assert np.array_equal(tau[beyond], np.full(beyond.sum(), 3.0)) and np.array_equal(
        tau[~beyond], wanted[~beyond]
    )
    run = GROUP.bind(wd.rnea, q, v, a)
    q += 0.3
    assert np.array_equal(run(), GROUP(wd.rnea, q, v, a))


def test_a_group_may_have_one_model() -> None:
    """Its results are those of the model, in new arrays and in `out=`."""
    group, s = Group(MODELS[:1], [4]), states(MODELS[0], 4)
    wanted, out = wd.rnea(MODELS[0], s.q, s.v, s.a), np.empty_like(s.v)
    assert np.array_equal(group.bind(wd.rnea, s.q, s.v, s.a)(), wanted)
    assert group(wd.rnea, s.q, s.v, s.a, out=out) is out and np.array_equal(out, wanted)


def test_several_results_are_joined_by_name() -> None:
    """The test covers arrays of NumPy, and of JAX, which are not writable."""
    jax = pytest.importorskip("jax")
    arrays = [pad(name).astype(np.float32) for name in ("q", "v", "a")]
    whole = GROUP(wd.rnea_derivatives, *arrays)
    parts = alone(wd.rnea_derivatives, "q", "v", "a")
    joined = GROUP(wd.rnea_derivatives, *map(jax.numpy.asarray, arrays))
    assert len(whole) == len(joined) == 3
    for k, (x, y) in enumerate(zip(whole, joined, strict=True)):
        assert np.array_equal(np.asarray(y), x)
        for rows, part in zip(GROUP.rows, parts, strict=True):
            own = np.zeros((len(part[k]), *x.shape[1:]))
            own[tuple(slice(0, n) for n in part[k].shape)] = part[k]
            np.testing.assert_allclose(x[rows], own, atol=1e-4)
    frames = {"frame": [model.link_names[-1] for model in MODELS]}
    targets = {"orientation_weight": 0.0, "restarts": 1, "iterations": 2}
    place = np.zeros((26, 3), np.float32)
    found = GROUP(wd.inverse_kinematics, place, each=frames, **targets)
    joined = GROUP(wd.inverse_kinematics, jax.numpy.asarray(place), each=frames, **targets)
    for x in (found, joined):
        assert isinstance(x, wd.results.Solution) and x.success.dtype == bool
    for x, y in zip(found, joined, strict=True):
        np.testing.assert_allclose(np.asarray(y), x, atol=1e-4)


@wd.kernel
def flags_and_counts(robot, q):
    """Results that are converted after a launch."""
    return {"above": q[:1] > 0.0, "twice": 2.0 * q}


def test_the_loops_of_each_model_are_closed_and_checked() -> None:
    """A configuration that closes one model's loops leaves another's open, and models have
    different widths."""
    models = [four_bar(), four_bar(ground=0.55), ROBOTS["leg"]]
    group = Group(models, [2, 3, 1])
    starts = [[1.0, -0.9, 1.0]] * 2 + [start_of(models[2])]
    rows = [np.tile(start, (n, 1)) for start, n in zip(starts, group.envs, strict=True)]
    q = np.zeros((6, group.nq))
    for here, values in zip(group.rows, rows, strict=True):
        q[here, : values.shape[1]] = values
    runs = (lambda: group(wd.loops.close, q), group.bind(wd.loops.close, q))
    for found in (run() for run in runs):
        for model, here, values in zip(models, group.rows, rows, strict=True):
            np.testing.assert_allclose(found[here, : model.nq], wd.loops.close(model, values))
    q[3, :3] = np.nan
    with pytest.raises(ValueError, match=r"stay open in 1 of 3 environments \(numbers 1\)"):
        group(wd.loops.close, q)


def test_conditions_are_converted_to_bool() -> None:
    """The result is bool in calls, and in bound calls after each run.

    Arrays in `out=` hold numbers.
    """
    q = pad("q")
    found, run = GROUP(flags_and_counts, q), GROUP.bind(flags_and_counts, q)
    check(found.twice, [part.twice for part in alone(flags_and_counts, "q")])
    for bound in (False, True, True):
        result = run() if bound else found
        assert result.above.dtype == bool and np.array_equal(result.above, q[:, :1] > 0.0)
        if bound:
            q *= -1.0
    out = (np.full((26, 1), 7.0), np.full((26, 2), 7.0))
    written = GROUP(flags_and_counts, q, out=out)
    assert written.above is out[0] and written.twice is out[1]
    assert np.array_equal(out[0], (q[:, :1] > 0.0).astype(float))


@pytest.mark.parametrize("name", ["torch", "jax", "warp"])
def test_a_group_works_with_each_library(name: str, device: str) -> None:
    """Arrays of any library, those of Warp on the device, and gradients through a group."""
    q, v, a = (pad(x).astype(np.float32) for x in ("q", "v", "a"))
    wanted = GROUP(wd.rnea, q, v, a)
    if name == "warp":
        arrays = [wp.array(x, dtype=wp.float32, device=device) for x in (q, v, a)]
        assert_same(GROUP(wd.rnea, *arrays).numpy(), wanted, device)
        return
    if name == "torch":
        torch = pytest.importorskip("torch")
        found = GROUP(wd.rnea, *map(torch.as_tensor, (q, v, a))).numpy()
        leaf = torch.tensor(q, requires_grad=True)
        tau = GROUP(wd.rnea, leaf, torch.as_tensor(v), torch.as_tensor(a))
        assert np.array_equal(tau.detach().numpy(), wanted)
        tau.sum().backward()
        for model, rows in zip(MODELS, GROUP.rows, strict=True):
            own = [x[rows, : model.nv].copy() for x in (q, v, a)]
            bar = wd.vjp(wd.rnea, model, *own, cotangents=np.ones_like(own[1]), wrt=["q"])
            assert np.allclose(leaf.grad[rows, : model.nq].numpy(), bar, atol=1e-4)
            assert not leaf.grad[rows, model.nq :].any()
    else:
        jax = pytest.importorskip("jax")
        found = GROUP(wd.rnea, *map(jax.numpy.asarray, (q, v, a)))
    assert np.array_equal(np.asarray(found), wanted)


def test_the_cost_of_a_group_lists_each_model() -> None:
    """Operations and bytes of each model's program, and the fraction of padding."""
    pendulum, cart, single = GROUP.cost(wd.rnea)
    assert (pendulum.model, pendulum.envs) == ("double_pendulum", 5) and cart.envs == 19
    assert pendulum.operations > cart.operations > single.operations > 0
    assert (
        pendulum.bytes == 4 * (2 + 2 + 2 + 2) and single.bytes == 4 * 3
    )  # one joint has no velocity terms
    assert (
        len(GROUP.cost(wd.manipulability, each={"frame": [m.link_names[-1] for m in MODELS]})) == 3
    )
    assert GROUP.cost(wd.fk, each={"frame": [m.link_names[-1] for m in MODELS]})[0].operations > 0
    assert "26 environments: 5 double_pendulum (nq 2, nv 2)" in repr(
        GROUP
    ) and "4% of (B, 2)" in repr(GROUP)


def test_invalid_groups_and_results_are_refused() -> None:
    with pytest.raises(
        ValueError, match="a group needs models and a number of environments for each"
    ):
        Group(MODELS, [1, 2])
    with pytest.raises(ValueError, match=r"envs\[1\] must be a whole number of at least 1, got 0"):
        Group(MODELS, [1, 0, 2])
    with pytest.raises(ValueError, match=r"q must be \(B, n\) = \(26, at least 2\), got \(26, 1\)"):
        GROUP(wd.crba, np.zeros((26, 1)))
    with pytest.raises(ValueError, match=r"\(26, at least 2\), got \(25, 2\)"):
        GROUP(wd.crba, np.zeros((25, 2)))
    with pytest.raises(ValueError, match="params needs 3 values, one for each model, got 1"):
        GROUP(wd.crba, pad("q"), each={"params": [None]})
    with pytest.raises(ValueError, match=r"gravity must be \(B, 3\) = \(26, 3\), got \(5, 3\)"):
        GROUP(wd.gravity_torques, pad("q"), gravity=np.zeros((5, 3)))
    with pytest.raises(TypeError, match=r"models\[1\] must be a Model, got 'panda'"):
        Group([MODELS[0], "panda"], [1, 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="models must be a list with one entry for each model"):
        Group(MODELS[0], [1])  # type: ignore[arg-type]
    for envs in (3, "3"):
        with pytest.raises(TypeError, match="envs must be a list with one entry for each model"):
            Group(MODELS[:1], envs)  # type: ignore[arg-type]
    params = MODELS[0].params(26, gravity=(0, 0, -1))
    with pytest.raises(TypeError, match=r'params belong to one model; .* each={"params":'):
        GROUP(wd.crba, pad("q"), params=params)
    down = (0.0, 0.0, -1.0)
    with pytest.raises(TypeError, match="gravity is in each= and a keyword for all models"):
        GROUP(wd.gravity_torques, pad("q"), gravity=down, each={"gravity": [down] * 3})
    with pytest.raises(ValueError, match=r"out\[0\] must be \(26, 2, 2\), got \(26, 2\)"):
        GROUP(wd.crba, pad("q"), out=np.zeros((26, 2)))


def test_widths_are_those_of_the_widest_model() -> None:
    assert GROUP.count == 26
    assert GROUP.nq == max(model.nq for model in MODELS) > min(model.nq for model in MODELS)
