"""A user's kernel on arrays of Torch, JAX and Warp: gradients, transforms, compilation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from own_kernels import SINGLE, arrays, falling, impedance
from robots import by_name
from states import error, states

import warpdyn as wd

CONFIGURATION = ("nq",)


def test_torch_gradients_equal_vjp() -> None:
    torch = pytest.importorskip("torch")
    model = by_name("panda").model
    q, v, target = (torch.from_numpy(x).requires_grad_() for x in arrays(model, 6))
    tau = impedance(model, q, v, target, frame="panda_hand")
    w = torch.ones_like(tau)
    tau.backward(w)
    for x, name in ((q, "q"), (v, "v"), (target, "target")):
        plain = (y.detach().numpy() for y in (q, v, target))
        wanted = wd.vjp(
            impedance, model, *plain, frame="panda_hand", cotangents=w.numpy(), wrt=name
        )
        assert np.allclose(x.grad.numpy(), wanted)


def test_torchs_transforms_and_compiler_work() -> None:
    """vmap, jacrev and compile(fullgraph=True), also for two kernels of one name."""
    torch = pytest.importorskip("torch")
    model = by_name("cartpole").model

    def make_kernel(factor: float) -> Any:
        @wd.kernel
        def scale(robot: Any, q: Any, v: Any) -> Any:
            return factor * q * v[0] + 0.0 * robot.env

        return scale

    q, v = (torch.rand(4, 2, dtype=torch.float64) for _ in range(2))
    for factor in (2.0, 3.0):
        kernel = make_kernel(factor)
        wanted = factor * q * v[:, :1]
        call = torch.func.vmap(lambda x, y, kernel=kernel: kernel(model, x, y))
        assert torch.allclose(call(q, v), wanted)
        jacobian = torch.func.jacrev(lambda x, kernel=kernel: kernel(model, x, v[0]))(q[0])
        assert torch.allclose(jacobian, factor * v[0, 0] * torch.eye(2, dtype=torch.float64))
        compiled = torch.compile(
            lambda x, y, kernel=kernel: kernel(model, x, y), fullgraph=True, backend="eager"
        )
        x = q.clone().requires_grad_()
        result = compiled(x, v)
        assert torch.allclose(result, wanted)
        result.sum().backward()
        assert torch.allclose(x.grad, factor * v[:, :1].expand(4, 2))


def test_jax_gradients_equal_vjp() -> None:
    jax = pytest.importorskip("jax")
    model = by_name("panda").model
    q, v, target = (jax.numpy.asarray(x, "float32") for x in arrays(model, 6))

    def cost(q: Any) -> Any:
        return (impedance(model, q, v, target, frame="panda_hand") ** 2).sum()

    tau = impedance(model, *(np.asarray(x) for x in (q, v, target)), frame="panda_hand")
    wanted = wd.vjp(
        impedance, model, *(np.asarray(x) for x in (q, v, target)), frame="panda_hand",
        cotangents=2 * tau, wrt="q",
    )  # fmt: skip
    assert error(np.asarray(jax.jit(jax.grad(cost))(q)), wanted) < SINGLE


def test_env_and_random_numbers_work_under_jit() -> None:
    """robot.env, a number per environment, and draws, inside jit and scan."""
    jax = pytest.importorskip("jax")
    model = by_name("cartpole").model

    @wd.kernel
    def draw(robot: Any, q: Any, age: ()) -> Any:  # type: ignore[valid-type]
        key = wd.random.key(0, robot.env, age)
        return 2 * q + robot.env + age + wd.random.uniform(key)

    q = np.ones((4, 2), np.float32)
    wanted = draw(model, draw(model, q, 1.0), 1.0)

    def twice(q: Any) -> Any:
        return jax.lax.scan(lambda c, _: (draw(model, c, 1.0), None), q, None, length=2)[0]

    assert np.allclose(jax.jit(twice)(jax.numpy.asarray(q)), wanted)


def test_a_kernel_works_on_warp_arrays() -> None:
    wp = pytest.importorskip("warp")
    model = by_name("cartpole").model
    s = states(model, 5)
    q, v, age = (wp.array(x, dtype=wp.float64) for x in (s.q, s.v, np.full(5, 0.7)))
    got = falling(model, q, v, age)
    assert np.array_equal(got.q.numpy(), falling(model, s.q, s.v, np.full(5, 0.7)).q)
    assert got.old.numpy().all()


def test_a_list_takes_the_dtype_of_the_arrays() -> None:
    """Whichever argument it is, and whole numbers next to float32 too."""

    @wd.kernel
    def hold(robot: wd.kernels.Robot, q: Any, v: Any, target: CONFIGURATION) -> Any:
        return robot.rnea(q, v, 3.0 * (target - q))

    pendulum = wd.load_robot("double_pendulum")
    q, goal = np.float32([[0.1, 0.2], [0.3, 0.4]]), np.float32([0.0, 1.0])
    wanted = hold(pendulum, q, q, goal)
    for found in (hold(pendulum, q, q, [0, 1]), hold(pendulum, q.tolist(), q, goal)):
        assert found.dtype == np.float32 and np.array_equal(found, wanted)
