"""Calls in torch.compile: values and gradients equal those of eager calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gradient_cases import MODELS
from motions_of_torch import close, motions

import warpdyn as wd

torch = pytest.importorskip("torch")

# torch.compile. "aot_eager" traces and differentiates like the default backend, without Torch's own
# code generation, which does not concern our calls.


SCALAR = {"compile_threads": 1, "cpp.vec_isa_ok": False}
"""Options of the default backend: one process, and C++ without vectors. Else Torch compiles a program
for each instruction set, to see which of them the processor has."""


def compile_whole(function: Callable[..., Any], backend: Any = "aot_eager") -> Callable[..., Any]:
    torch._dynamo.reset()
    options = SCALAR if backend == "inductor" else None
    return torch.compile(function, fullgraph=True, backend=backend, options=options)


def agrees(function: Callable[..., Any], *given: torch.Tensor, backend: str = "aot_eager") -> bool:
    """True if values and all gradients are the same when compiled in one graph and eager."""
    leaves = [x for x in given if x.requires_grad]
    outcomes = []
    for each in (compile_whole(function, backend), function):
        results = each(*given)
        results = results if isinstance(results, tuple) else (results,)
        total = sum((x * torch.linspace(-1, 1, x.shape[-1]).to(x)).sum() for x in results)
        outcomes.append([*results, *torch.autograd.grad(total, leaves)])
    return all(close(x, y) for x, y in zip(*outcomes, strict=True))


def rollout(q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    model = MODELS["pendulum"]
    for _ in range(2):
        v = v + 0.01 * wd.aba(model, q, v, torch.tanh(tau))
        q = wd.integrate(model, q, 0.01 * v)
    return q


def test_a_rollout_compiles_into_one_graph() -> None:
    """The backend is the default one, and Torch's own operations are between the calls."""
    assert agrees(rollout, *motions(requires_grad=True), backend="inductor")


def with_options(q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    force = {"tip": torch.ones(len(q), 6, dtype=q.dtype)}
    return wd.rnea(MODELS["pendulum"], q=q, v=v, a=a, f_ext=force, gravity=(0, 0, -1.6))


def with_params(q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    model = MODELS["pendulum"]
    params = model.params(mass={"lower_rod": a[:, 0] ** 2 + 0.1})
    return wd.rnea(model, q, v, a, params=params, gravity=None)


OUTSIDE = MODELS["pendulum"].params(
    mass={"lower_rod": torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)},
    gravity=torch.tensor([0.0, 0.0, -1.6], dtype=torch.float64),
)


@pytest.mark.parametrize(
    "function",
    [
        with_options,
        with_params,
        lambda q, v, a: wd.rnea(MODELS["pendulum"], q, v, a, params=OUTSIDE),
        lambda q, v, a: wd.rnea(MODELS["pendulum"], q[0], v[0], a[0]),
        lambda q, v, a: wd.pose_and_jacobian(MODELS["pendulum"], q * v * a, frame="tip"),
        lambda q, v, a: wd.vjp(wd.rnea, MODELS["pendulum"], q, v, a, cotangents=q),
        lambda q, v, a: wd.derivatives(wd.aba, MODELS["pendulum"], q, v, a),
        lambda q, v, a: torch.func.vmap(lambda *x: wd.aba(MODELS["pendulum"], *x))(q, v, a),
        lambda q, v, a: torch.func.vmap(
            torch.func.jacrev(lambda *x: wd.rnea(MODELS["pendulum"], *x))
        )(q, v, a),
    ],
    ids=[
        *("options", "params_inside", "params_outside", "one_robot", "two_results"),
        *("vjp", "derivatives", "vmap", "jacrev"),
    ],
)
def test_compiled_calls_equal_eager_calls(function: Callable[..., Any]) -> None:
    """Calls with every kind of argument, and functions of functions, compile into one graph."""
    assert agrees(function, *motions(requires_grad=True))


def test_a_compiled_function_takes_other_batches_and_robots() -> None:
    """No graph is added after the second batch size. Another robot is another graph."""
    graphs = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    call = compile_whole(lambda model, q, v, a: wd.rnea(model, q, v, a), graphs)
    for batch in (3, 5, 7, 9):
        for robot in ("pendulum", "cartpole", "pendulum"):
            given = (MODELS[robot], *motions(batch))
            assert close(call(*given), wd.rnea(*given))
    assert graphs.frame_count <= 4


def test_the_first_call_may_be_compiled(tmp_path: Path) -> None:
    """The process imports Torch last and compiles at once, without an eager call before."""
    text = (
        "import warpdyn as wd\n"
        "model = wd.load_robot('double_pendulum')\n"
        "import torch\n"
        "call = torch.compile(lambda q: wd.crba(model, q), fullgraph=True, backend='eager')\n"
        "q = torch.ones(3, 2)\n"
        "assert torch.equal(call(q), wd.crba(model, q))\n"
    )
    file = tmp_path / "late.py"
    file.write_text(text)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernels_of_the_same_name_are_distinct_in_compiled_graphs() -> None:
    """A graph finds each kernel by what it computes."""

    def scaled_by(factor: float) -> Callable[..., Any]:
        @wd.kernel
        def scale(robot: Any, q: Any) -> Any:
            return factor * q

        return scale

    model = wd.load_robot("cartpole")
    q = torch.rand(3, model.nq, dtype=torch.float64)
    for factor in (2.0, 3.0):
        kernel = scaled_by(factor)
        assert torch.equal(compile_whole(lambda x, k=kernel: k(model, x))(q), factor * q)


def step(q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    end = wd.step(MODELS["pendulum"], q, v, tau, dt=0.01)
    return wd.step(MODELS["pendulum"], end.q, end.v, tau, dt=0.01).q


def test_steps_compile_into_one_graph() -> None:
    """Their results have named fields."""
    assert agrees(step, *motions(requires_grad=True))


def test_compiled_functions_give_results_with_named_fields() -> None:
    """The whole result of an inverse kinematics, of the type that an eager call gives."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    targets = wd.fk(model, q, frame="tip")
    expected = wd.inverse_kinematics(model, targets, frame="tip")
    for _ in range(2):
        found = compile_whole(lambda x: wd.inverse_kinematics(model, x, frame="tip"))(targets)
        assert type(found) is type(expected)
        assert all(torch.equal(x, y) for x, y in zip(found, expected, strict=True))


def test_out_cannot_be_compiled() -> None:
    """The compiler's message contains one line of ours."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    out = torch.empty(3, 2, 2, dtype=torch.float64)
    with pytest.raises(Exception, match=r"out= cannot take part in torch.compile; leave it out"):
        compile_whole(lambda q: wd.crba(model, q, out=out))(q)


def test_a_call_that_cannot_be_compiled_runs_as_it_is() -> None:
    """The compiler had followed the launch: that took minutes, and the addresses of arrays became
    values of its graphs. A call on tensors of another dtype then ended the process once."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    call = torch.compile(lambda q, out: wd.crba(model, q, out=out), backend="eager")
    for given in (q, q[:2], q.float()):
        out = given.new_empty(len(given), 2, 2)
        assert call(given, out) is out and torch.equal(out, wd.crba(model, given))
    assert torch._dynamo.utils.counters["frames"]["total"] == 1  # the lambda alone


def test_calls_on_fake_tensors_give_shapes_and_dtypes() -> None:
    """There is no launch, inside the mode and outside."""
    from torch._subclasses import FakeTensorMode

    model = MODELS["pendulum"]
    with FakeTensorMode():
        q = torch.empty(4, 2)
        assert wd.crba(model, q).shape == (4, 2, 2)
    M, twist = wd.crba(model, q), wd.frame_velocity(model, q, q, frame="tip")
    assert (M.shape, twist.shape, M.dtype) == ((4, 2, 2), (4, 6), torch.float32)
