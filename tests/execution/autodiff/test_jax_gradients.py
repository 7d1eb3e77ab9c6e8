"""Calls inside JAX: jit, vmap, grad, jvp, jacobians and hessians, in both precisions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS, Case
from states import error

import warpdyn as wd

jax = pytest.importorskip("jax")
jnp = jax.numpy
from jax.test_util import check_grads  # noqa: E402

DIGITS = {"float64": 1e-12, "float32": 1e-4}
"""Relative to the largest entry. The issue asks for 1e-4 of float32 gradients."""

DIFFERENCES = 1e-5
"""Tolerance of second derivatives compared with differences of first derivatives."""


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    """Enable float64 in these tests only."""
    with jax.enable_x64(True):
        yield


def function_and_arrays(
    case: Case, dtype: Any = np.float64
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The case's function of its arrays, and the arrays. Forward dynamics gets quaternions of unit
    length."""
    arrays = {name: jnp.asarray(x, dtype) for name, x in case.arrays.items()}
    names = tuple(arrays)

    def function(*values: Any) -> Any:
        named = dict(zip(names, values, strict=True))
        if case.function == "aba":
            named["q"] = wd.normalize(case.model, named["q"])
        results = case.run(named)
        return results if len(results) > 1 else results[0]

    return function, tuple(arrays.values())


TWICE = (
    Case("rnea", "gripper", "q v a", "gravity mass"),
    Case("aba", "pendulum", "q v tau", "gravity armature"),
    Case("fk", "hopper", options={"frame": "leg"}),
    Case("crba", "gripper", more="mass"),
)


@pytest.mark.parametrize("case", TWICE, ids=str)
def test_first_and_second_derivatives_equal_differences(case: Case) -> None:
    """They are computed in forward and reverse mode and in both compositions, with parameters
    inside the traced function."""
    function, arrays = function_and_arrays(case)
    check_grads(function, arrays, order=2, modes=("fwd", "rev"), atol=DIFFERENCES, rtol=DIFFERENCES)


TRACED = (
    Case("rnea", "gripper", "q v a", "gravity f_ext mass com inertia placement armature viscous"),
    Case("aba", "hopper", "q v tau", "gravity f_ext mass"),
    Case("pose_and_jacobian", "hopper", options={"frame": "leg"}),
    Case("rnea_derivatives", "gripper", "q v a"),
    Case("integrate", "socket", "q d"),
    Case("potential_energy", "gripper", "q", "gravity mass"),
)


@pytest.mark.parametrize("case", TRACED, ids=str)
def test_jit_equals_plain_calls(case: Case, dtype: np.dtype) -> None:
    """jit of results equals NumPy's results, and jit of gradients equals `vjp`."""
    function, arrays = function_and_arrays(case, dtype)
    plain = case.run({name: x.astype(dtype) for name, x in case.arrays.items()})
    found = jax.jit(function)(*arrays)
    found = found if isinstance(found, tuple) else (found,)
    assert all(x.dtype == dtype for x in found)
    assert max(error(x, y) for x, y in zip(found, plain, strict=True)) <= DIGITS[str(dtype)]

    def total(*values: Any) -> Any:
        results = function(*values)
        return sum(x.sum() for x in results) if isinstance(results, tuple) else results.sum()

    everything = tuple(range(len(arrays)))
    bars = jax.jit(jax.grad(total, everything))(*arrays)
    for bar, x, y in zip(bars, arrays, jax.grad(total, everything)(*arrays), strict=True):
        assert bar.shape == x.shape and bar.dtype == dtype
        assert error(bar, y) <= DIGITS[str(dtype)]
    if dtype == np.float32:
        exact, wide = function_and_arrays(case)
        rounded = tuple(jnp.asarray(np.asarray(x, float)) for x in arrays)
        assert all(x.shape == y.shape for x, y in zip(wide, rounded, strict=True))
        sums = jax.grad(lambda *x: sum(y.sum() for y in jax.tree.leaves(exact(*x))), everything)(
            *rounded
        )
        assert max(error(x, y) for x, y in zip(bars, sums, strict=True)) <= DIGITS["float32"]


def test_forward_mode_is_the_jacobian_times_a_tangent() -> None:
    """jvp, jacfwd and jacrev of one robot are compared with `derivatives`."""
    model = MODELS["gripper"]
    q, v, a = (jnp.asarray(x[0]) for x in Case("rnea", "gripper", "q v a").arrays.values())
    by_q, by_v, by_a = wd.rnea_derivatives(model, q, v, a)
    for derive in (jax.jacfwd, jax.jacrev):
        found = jax.jit(derive(lambda *x: wd.rnea(model, *x), (0, 1, 2)))(q, v, a)
        for x, y in zip(found, (by_q, by_v, by_a), strict=True):
            assert error(x, y) <= DIGITS["float64"]
    _, along = jax.jvp(lambda *x: wd.rnea(model, *x), (q, v, a), (a, q, v))
    assert error(along, by_q @ a + by_v @ q + by_a @ v) <= DIGITS["float64"]


def test_the_hessian_of_the_potential_is_the_derivative_of_gravity_torques() -> None:
    """d²V/dq² = dg/dq holds for single robots and in a vmap."""
    model, q = MODELS["gripper"], jnp.asarray(Case("crba", "gripper").arrays["q"])
    hessian = jax.hessian(lambda q: wd.potential_energy(model, q))
    wanted = wd.derivatives(wd.gravity_torques, model, q)
    assert error(jax.jit(jax.vmap(hessian))(q), wanted) <= DIGITS["float64"]
    assert error(hessian(q[0]), wanted[0]) <= DIGITS["float64"]


# vmap.


def test_vmap_over_one_robot_equals_the_batch() -> None:
    """The cases are different axes, results on another axis, and arrays that are not mapped."""
    model, arrays = MODELS["hopper"], Case("rnea", "hopper", "q v a").arrays
    q, v, a = (jnp.asarray(x) for x in arrays.values())
    wanted = wd.rnea(model, q, v, jnp.stack([a[0], a[0]]))
    found = jax.vmap(lambda q, v, a: wd.rnea(model, q, v, a), (0, 1, None), 1)(q, v.T, a[0])
    assert error(found.T, wanted) <= DIGITS["float64"]
    found = jax.jit(jax.vmap(lambda q, v: wd.rnea(model, q, v, a[0])))(q, v)
    assert error(found, wanted) <= DIGITS["float64"]


def test_vmap_over_batches_equals_the_flat_batch() -> None:
    """(N, B, n) arrays, gravity that is common to all, one for each batch or one for each robot,
    and a vmap within a vmap."""
    model, draw = MODELS["pendulum"], np.random.default_rng(0)
    q, v, a = (jnp.asarray(draw.uniform(-1, 1, (3, 4, 2))) for _ in range(3))
    flat = [x.reshape(12, 2) for x in (q, v, a)]
    for gravity, axis in (((3,), None), ((3, 3), 0), ((3, 4, 3), 0)):
        g = jnp.asarray(draw.uniform(-9, 9, gravity))
        found = jax.vmap(lambda q, v, a, g: wd.rnea(model, q, v, a, gravity=g), (0, 0, 0, axis))(
            q, v, a, g
        )
        each = np.broadcast_to(np.expand_dims(g, 1) if g.ndim == 2 else g, (3, 4, 3)).reshape(12, 3)
        wanted = wd.rnea(model, *flat, gravity=jnp.asarray(each))
        assert error(found.reshape(12, 2), wanted) <= DIGITS["float64"]
    grid = jax.vmap(jax.vmap(lambda q, v: wd.rnea(model, q, v, v), (0, None)), (None, 0))(
        q[0], v[0, :3]
    )
    assert error(grid[2, 1], wd.rnea(model, q[0, 1], v[0, 2], v[0, 2])) <= DIGITS["float64"]


def test_gradients_through_vmap_are_summed_over_robots() -> None:
    """The gradient by one common mass is the sum of the gradients by a mass for each robot."""
    model, arrays = MODELS["gripper"], Case("aba", "gripper", "q v tau").arrays
    q, v, tau = (jnp.asarray(x) for x in arrays.values())

    def one(q: Any, v: Any, tau: Any, mass: Any) -> Any:
        return wd.aba(model, q, v, tau, params=model.params(mass={"left": mass}))

    mass = jnp.asarray(0.7)
    shared = jax.grad(lambda m: (jax.vmap(one, (0, 0, 0, None))(q, v, tau, m) ** 2).sum())(mass)
    each = jax.jit(jax.grad(lambda m: (jax.vmap(one)(q, v, tau, m) ** 2).sum()))(jnp.full(2, mass))
    assert error(shared, each.sum()) <= DIGITS["float64"]


# Other parts of JAX programs.


def test_a_rollout_is_differentiable_by_parameters() -> None:
    """A checkpointed scan of forward dynamics, differentiated by start, mass and gravity."""
    model = MODELS["pendulum"]
    q = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (2, 2)))

    def after(q: Any, mass: Any, gravity: Any) -> Any:
        params = model.params(mass={"lower_rod": mass})

        def step(state: Any, _: Any) -> Any:
            q, v = state
            v = v + 0.05 * wd.aba(model, q, v, 0.0 * v, params=params, gravity=gravity)
            return (wd.integrate(model, q, 0.05 * v), v), None

        (q, v), _ = jax.lax.scan(jax.checkpoint(step), (q, 0.0 * q), length=4)
        return wd.mechanical_energy(model, q, v, params=params, gravity=gravity)

    arrays = (q, jnp.asarray([1.0, 2.0]), jnp.asarray([0.5, 0.0, -9.81]))
    check_grads(
        jax.jit(after), arrays, order=1, modes=("fwd", "rev"), atol=DIFFERENCES, rtol=DIFFERENCES
    )


def test_no_tracer_outlives_its_trace() -> None:
    """jax.checking_leaks finds none, with parameters too."""
    function, arrays = function_and_arrays(Case("rnea", "pendulum", "q v a", "gravity mass"))
    with jax.checking_leaks():
        jax.jit(jax.grad(lambda *x: function(*x).sum(), (0, 4)))(*arrays)


def templates(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """The templates of the warpdyn calls in a function. JAX compiles calls with equal templates once."""
    equations = jax.make_jaxpr(function)(*arrays).eqns
    return [each.params["template"] for each in equations if each.primitive.name == "warpdyn"]


def test_calls_of_the_same_program_have_equal_templates() -> None:
    """The arrays do not matter. Another frame, robot or gravity gives another program."""
    arm, other = MODELS["pendulum"], MODELS["gripper"]
    q = jnp.ones((3, arm.nq))
    (one,) = templates(lambda q: wd.rnea(arm, q, q, q), q)
    (same,) = templates(lambda q: wd.rnea(arm, q, 2.0 * q, q), 3.0 * q)
    assert one == same and hash(one) == hash(same)
    p = jnp.ones((3, other.nq))
    differing = (
        templates(lambda p: wd.rnea(other, p, p, p), p),
        templates(lambda q: wd.gravity_torques(arm, q), q),
        templates(lambda q: wd.rnea(arm, q, q, q, gravity=q[0, :1] * jnp.ones(3)), q),
    )
    assert all(one != each for (each,) in differing)


def test_an_empty_batch_gives_an_empty_result() -> None:
    """It compiles too."""
    nothing = jnp.zeros((0, 2))
    assert jax.jit(lambda q: wd.rnea(MODELS["pendulum"], q, q, q))(nothing).shape == (0, 2)


# Refusals.

ONE = np.ones((3, 2))
WRONG = (
    (
        lambda x: wd.rnea(MODELS["pendulum"], x, x, jnp.ones((3, 3))),
        ValueError,
        r"a must be \(B, nv\) = \(3, 2\), got \(3, 3\)",
    ),
    (
        lambda x: wd.rnea(MODELS["pendulum"], x, x, jnp.ones((4, 2))),
        ValueError,
        r"a must be \(B, nv\) = \(3, 2\), got \(4, 2\); one array \(nv,\) for all robots is accepted",
    ),
    (
        lambda x: wd.rnea(MODELS["pendulum"], x, x, x, gravity=jnp.ones(2)),
        ValueError,
        r"gravity must be \(B, 3\) = \(3, 3\), got \(2,\); one array \(3,\) for all robots is accepted",
    ),
    (
        lambda x: wd.crba(MODELS["pendulum"], x, out=jnp.ones((3, 2, 2))),
        TypeError,
        "leave out out=",
    ),
    (
        lambda x: wd.crba(MODELS["pendulum"], x.astype(int)),
        TypeError,
        "q must be float32 or float64, got int64",
    ),
    (
        lambda x: wd.bind(wd.crba, MODELS["pendulum"], x),
        TypeError,
        "bind accepts no traced arrays",
    ),
)


@pytest.mark.parametrize("function, kind, text", WRONG)
def test_calls_inside_jit_refuse_wrong_arrays(
    function: Callable[..., Any], kind: type[Exception], text: str
) -> None:
    """The message, raised while tracing, says what is needed and what arrived."""
    with pytest.raises(kind, match=text):
        jax.jit(function)(jnp.asarray(ONE))


def test_vmap_of_a_derivative_by_a_table_is_refused() -> None:
    """A table is common to all environments, so its derivative is a sum over them. Without vmap the
    batch has one."""
    model = wd.load_robot("cartpole")

    @wd.kernel
    def height(robot: Any, q: Any, heights: wd.kernels.table((3, 4))) -> Any:  # type: ignore[valid-type]
        return heights.look(q[0], q[1])

    def total(q: Any, heights: Any) -> Any:
        return height(model, q, heights).sum()

    q = jnp.asarray(np.random.default_rng(0).uniform(0.0, 2.0, (2, 5, 2)))
    table = jnp.asarray(np.random.default_rng(1).normal(size=(3, 4)))
    slopes = jax.grad(total, 1)(q[0], table)
    assert slopes.shape == (3, 4) and slopes.sum() == pytest.approx(5.0)
    with pytest.raises(TypeError, match="vmap of a derivative by a table: give one dimension"):
        jax.vmap(jax.grad(total, 1), (0, None))(q, table)


DIVIDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import warpdyn as wd

model = wd.load_robot("double_pendulum")
q, v, a = (np.random.default_rng(k).normal(size=(8, 2)).astype(np.float32) for k in range(3))
rows = NamedSharding(Mesh(np.array(jax.devices()), ("devices",)), PartitionSpec("devices"))
divided = [jax.device_put(x, rows) for x in (q, v, a)]
wanted = wd.rnea(model, q, v, a)
for arrays in ([jnp.asarray(x) for x in (q, v, a)], divided, [divided[0], v, a]):
    for _ in range(4):  # the call becomes a cached one
        assert np.abs(wd.rnea(model, *arrays) - wanted).max() < 1e-5
gradient = jax.grad(lambda x: (wd.rnea(model, divided[0], x, divided[2]) * a).sum())(divided[1])
assert np.abs(gradient - wd.vjp(wd.rnea, model, q, v, a, cotangents=a)[1]).max() < 1e-5
assert len(divided[0].devices()) == 4, "the sharding of the caller's arrays has changed"
try:
    wd.bind(wd.rnea, model, *divided)
except ValueError as error:
    assert "q is a JAX array on 4 devices; gather it first" in str(error), error
else:
    raise AssertionError("bind took an array without memory of its own")
"""


def test_arrays_on_several_devices_are_read_as_a_whole() -> None:
    """Calls outside jit read the part on one device, and removed devices from the set that JAX
    keeps in the sharding of the arrays."""
    flags = "--xla_force_host_platform_device_count=4"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", DIVIDED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_plain_numbers_take_the_dtype_of_traced_arrays() -> None:
    """A gravity in a tuple or in a float64 array of NumPy next to float32 arrays of JAX."""
    model = MODELS["pendulum"]
    x = jnp.asarray(np.linspace(-1.0, 1.0, 6).reshape(3, 2), jnp.float32)
    wanted = wd.rnea(model, x, x, x, gravity=jnp.asarray([1.0, 2.0, -3.0], jnp.float32))
    for gravity in ((1.0, 2.0, -3.0), np.array([1.0, 2.0, -3.0])):
        found = jax.jit(lambda x, g=gravity: wd.rnea(model, x, x, x, gravity=g))(x)
        assert found.dtype == jnp.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
