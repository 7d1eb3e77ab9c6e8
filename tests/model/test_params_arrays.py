"""Arrays of params: libraries, memory order, dtypes, rows of environments, reset."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, host, make_array, usable
from devices import assert_same
from states import error, states
from varied_rig import (
    LINK_NUMBERS,
    MASK,
    PANDA,
    RIG,
    ROUND_OFF,
    draw_params,
    numbers,
    random_values,
    rebuilt,
)

import warpdyn as wd


def placed_like(library: str, device: str) -> Any:
    usable(library, device)
    if library == "numpy":
        return lambda x: x
    if library == "warp":
        return lambda x: wp.array(np.ascontiguousarray(x), dtype=wp.float32, device=device)
    if library == "torch":
        return partial(pytest.importorskip("torch").tensor, device=device)
    jax = pytest.importorskip("jax")
    return jax.numpy.asarray


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "warp"])
def test_params_accept_arrays_of_every_library(library: str, device: str) -> None:
    """Values by name and whole arrays, with plain numbers among them. The results are arrays of
    that library."""
    place, s = placed_like(library, device), states(RIG, 19)
    s = [x.astype(np.float32) for x in (s.q, s.v, s.a)]
    values = {
        q: {n: x.astype(np.float32) for n, x in by.items()}
        for q, by in random_values(RIG, 19, *LINK_NUMBERS).items()
    }
    values["mass"]["tool"] = np.float32(0.7)
    whole = numbers(RIG, "placement", 19).astype(np.float32)
    wanted = wd.rnea(RIG, *s, params=RIG.params(**values, placement=whole))
    placed = {
        q: {n: x if x.ndim == 0 else place(x) for n, x in by_name.items()}
        for q, by_name in values.items()
    }
    placed["mass"]["tool"] = 0.7
    params = RIG.params(**placed, placement=place(whole))
    assert type(params["com"]) is type(place(whole)) and tuple(params["com"].shape) == (19, 5, 3)
    found = wd.rnea(RIG, *map(place, s), params=params)
    assert type(found) is type(place(whole))
    assert_same(host(found), wanted, device)


def test_single_values_apply_to_all_environments() -> None:
    """If all values are single, the array has no rows, unless `envs` asks for them."""
    s = states(RIG, 19)
    single = {
        q: {n: x[0] for n, x in by_name.items()}
        for q, by_name in random_values(RIG, 1, *LINK_NUMBERS).items()
    }
    shared, roomy = RIG.params(**single), RIG.params(19, **single)
    assert shared["com"].shape == (5, 3) and roomy["com"].shape == (19, 5, 3)
    wanted = wd.oracle(
        wd.rnea,
        rebuilt(RIG, {q: {n: x[None] for n, x in by.items()} for q, by in single.items()}, 0),
        s.q,
        s.v,
        s.a,
    )
    for params in (shared, roomy):
        assert error(wd.rnea(RIG, s.q, s.v, s.a, params=params), wanted) <= ROUND_OFF["float64"]
    one = wd.rnea(RIG, s.q[0], s.v[0], s.a[0], params=shared)
    assert error(one, wanted[0]) <= ROUND_OFF["float64"]
    assert (
        error(wd.oracle(wd.rnea, RIG, s.q[0], s.v[0], s.a[0], params=shared), wanted[0])
        <= ROUND_OFF["float64"]
    )


def test_params_accept_any_memory_order() -> None:
    """Rows, columns and every other entry give the same results."""
    s, values = states(RIG, 19), {q: numbers(RIG, q, 19) for q in LINK_NUMBERS}
    wanted = wd.rnea(RIG, s.q, s.v, s.a, params=RIG.params(**values))
    side_by_side = {
        q: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
        for q, x in values.items()
    }
    spaced = {q: np.repeat(x, 2, axis=-1)[..., ::2] for q, x in values.items()}
    backwards = {q: np.ascontiguousarray(x[::-1])[::-1] for q, x in values.items()}
    for arrays in (side_by_side, spaced, backwards):
        assert error(wd.rnea(RIG, s.q, s.v, s.a, params=RIG.params(**arrays)), wanted) <= 1e-15


def test_values_by_name_are_stored_in_columns() -> None:
    """Neighbouring environments are adjacent in memory, and the strides of rows are no multiples of
    1 KiB."""
    params = RIG.params(
        1024, mass={"tool": 1.0, "arm": 2.0}, com={"tool": (0.1, 0.2, 0.3)}, dtype=np.float32
    )
    assert params["com"].strides[0] == 4 and params["com"].strides[2] % 1024
    assert np.array_equal(params["mass"][5], [2.0, 1.0])  # in the order of the model


def test_params_may_contain_gravity_of_each_environment() -> None:
    """The argument `gravity` takes precedence."""
    s = states(RIG, 19)
    params = RIG.params(gravity=s.gravity)
    assert np.array_equal(
        wd.rnea(RIG, s.q, s.v, s.a, params=params), wd.rnea(RIG, s.q, s.v, s.a, gravity=s.gravity)
    )
    still = wd.rnea(RIG, s.q, s.v, s.a, gravity=(0, 0, 0), params=params)
    assert np.array_equal(still, wd.rnea(RIG, s.q, s.v, s.a, gravity=(0, 0, 0)))
    assert error(wd.com(RIG, s.q, params=params), wd.com(RIG, s.q)) == 0.0


def same(a: wd.Params, b: Mapping[str, np.ndarray]) -> bool:
    """True if all arrays have these numbers."""
    return all(np.array_equal(host(a[quantity]), x) for quantity, x in b.items())


def copy_to_host(params: wd.Params) -> dict[str, np.ndarray]:
    names = ("mass", "inertia", "armature", "gravity")
    return {quantity: host(params[quantity]).copy() for quantity in names}


@pytest.mark.parametrize("library", LIBRARIES)
def test_indexed_params_are_the_robots_of_those_rows(library: str, device: str) -> None:
    """The torques with p[idx] are those rows of all torques."""
    params, q = draw_params(library, device=device), wd.random_configuration(PANDA, 6)
    whole, numbers = wd.oracle(wd.rnea, PANDA, q, None, None, params=params), copy_to_host(params)
    reversed_rows = (slice(None, None, -2), np.arange(6)[::-1], MASK[::-1])
    unsigned = np.array([1, 0, 1, 0, 1, 0], np.uint8)
    kinds = (np.array([4, 1, -1]), MASK, MASK.tolist(), [0, 2], [], slice(1, 6, 2), 3, unsigned)
    for index in (*kinds, *reversed_rows):
        some = params[index]
        chosen = np.array(index, int) if isinstance(index, list) and not index else index
        assert isinstance(some, wd.Params) and some.names == params.names
        assert same(some, {quantity: x[chosen] for quantity, x in numbers.items()})
        rows = [make_array(library, q[chosen].copy(), device=device), None, None]
        tau = host(wd.rnea(PANDA, *rows, params=some))
        assert error(tau, whole[chosen], np.ones(1)) <= ROUND_OFF["float64"]
    assert params.envs == 6 and params[3].envs is None
    own = make_array(library, np.array([4, 1], np.int32), device=device)
    assert same(params[own], {quantity: x[[4, 1]] for quantity, x in numbers.items()})


def test_indexing_does_not_copy_common_values() -> None:
    """The new rows are in columns, like those of the original."""
    some = PANDA.params(mass={"panda_hand": np.arange(1.0, 7.0)}, com={"panda_hand": (0, 0, 0.1)})
    assert some["com"].shape == (1, 3) and some[MASK]["com"] is some["com"]
    assert some[MASK]["mass"][:, 0].tolist() == [1.0, 4.0]
    few = draw_params("numpy")[MASK]
    assert few["inertia"].strides[0] == few["inertia"].itemsize


@pytest.mark.parametrize("library", LIBRARIES)
def test_reset_copies_rows(library: str, device: str) -> None:
    """Rows of the mask become those of the new robots. The arrays change in place, so bound calls
    read them, except in JAX."""
    params, fresh = (draw_params(library, seed, device) for seed in (1, 2))
    old, new = copy_to_host(params), copy_to_host(fresh)
    q = make_array(library, wd.random_configuration(PANDA, 6), device=device)
    in_place = library != "jax"
    run = wd.bind(wd.gravity_torques, PANDA, q, params=params) if in_place else None
    after = params.reset(make_array(library, MASK, device=device), fresh)
    wanted = {
        name: np.where(MASK.reshape(-1, *[1] * (x.ndim - 1)), new[name], x)
        for name, x in old.items()
    }
    assert same(after, wanted) and same(params, wanted if in_place else old)
    if run is not None:
        expected = host(wd.gravity_torques(PANDA, q, params=after))
        assert np.array_equal(host(run()), expected)
    from_numpy = params.reset(np.ones(6, bool), draw_params("numpy", seed=3).to("float32"))
    assert same(from_numpy, copy_to_host(draw_params("numpy", seed=3).to("float32")))


@pytest.mark.parametrize("library", LIBRARIES)
def test_params_convert_to_another_dtype(library: str, device: str) -> None:
    """`.to` takes "float32" and the names of any library."""
    params = draw_params(library, device=device)
    numbers = copy_to_host(params)
    for dtype in ("float32", np.float32):
        small = params.to(dtype, device=device)
        assert same(small, {name: x.astype(np.float32) for name, x in numbers.items()})
    q = make_array(library, np.zeros((6, PANDA.nq), np.float32), device=device)
    assert host(wd.gravity_torques(PANDA, q, params=small)).dtype == np.float32
    with pytest.raises(TypeError, match="dtype must be float32 or float64, got int32"):
        params.to("int32")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_numbers_of_params_have_the_arrays_dtype_and_library(
    library: str, dtype: Any, device: str
) -> None:
    """The other arrays, or `like`, decide. This holds for gravity, too."""
    usable(library, device=device)
    q = make_array(library, wd.random_configuration(PANDA, 6).astype(dtype), device=device)
    mass = make_array(library, np.linspace(0.5, 1.0, 6).astype(dtype), device=device)
    wanted = PANDA.params(
        mass={"panda_hand": np.linspace(0.5, 1.0, 6)}, com={"panda_hand": (0.0, 0.1, 0.2)}
    )
    tau = wd.oracle(wd.gravity_torques, PANDA, q, params=wanted, gravity=(0, 0, -3.0))
    scale = ROUND_OFF[np.dtype(dtype).name]
    for params in (
        PANDA.params(
            6, mass={"panda_hand": mass}, com={"panda_hand": (0.0, 0.1, 0.2)}, gravity=[0, 0, -3.0]
        ),
        PANDA.params(
            mass={"panda_hand": np.linspace(0.5, 1.0, 6)},
            com={"panda_hand": (0.0, 0.1, 0.2)},
            gravity=np.array([0, 0, -3.0]),
            like=q,
        ),
    ):
        assert error(host(wd.gravity_torques(PANDA, q, params=params)), tau) <= 10 * scale
        assert params["gravity"].shape[-1] == 3
    with pytest.raises(ValueError, match=r"gravity must be \(3,\) or \(B, 3\), got \(2,\)"):
        PANDA.params(gravity=(1.0, 2.0))


def test_drawn_arrays_make_the_same_params_again() -> None:
    """The arrays of `randomise` can be passed whole or by names."""
    params, q = draw_params("numpy"), wd.random_configuration(PANDA, 6)
    back = PANDA.params(
        mass=params["mass"],
        inertia=params["inertia"],
        armature=params.by_name("armature"),
        gravity=params["gravity"],
    )
    assert back.names == params.names
    torques = [wd.gravity_torques(PANDA, q, params=p) for p in (params, back)]
    assert np.array_equal(*torques)
    single = PANDA.params(mass=params["mass"][0])
    assert single.by_name("mass")["panda_hand"] == single["mass"][-3]
    with pytest.raises(ValueError, match=r"got \(6, 4\)"):
        PANDA.params(armature=params["armature"])


def test_params_print_names_and_shapes() -> None:
    """One name, or the number of names. Gravity is last. `shape` is that of one environment."""
    params = RIG.params(
        mass={"arm": np.ones(4)}, com={"arm": np.ones((4, 3)), "tool": np.ones((4, 3))}
    )
    assert repr(params) == "<Params of rig: mass (4, 1) of arm, com (4, 2, 3) of 2 of the model>"
    assert params.envs == 4 and (params.shape("mass"), params.shape("com")) == ((1,), (2, 3))
    heavy = RIG.params(gravity=np.zeros((4, 3)), mass={"arm": 2.0})
    assert repr(heavy) == "<Params of rig: mass (1,) of arm, gravity (4, 3)>" and heavy.envs == 4
    one = RIG.params(gravity=np.zeros(3))
    assert repr(one) == "<Params of rig: gravity (3,)>" and one.envs is None
    assert repr(RIG.params()) == "<Params of rig: nothing varies>" and RIG.params().envs is None
