"""Calls inside Torch: gradcheck of every function, by every array that it has derivatives by; the transforms of
torch.func; torch.compile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gradient_cases import CASES, MODELS, NOT_DIFFERENTIABLE, OF_FUNCTIONS, Case

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS

torch = pytest.importorskip("torch")

EXACT = {"eps": 1e-6, "atol": 1e-6, "rtol": 1e-6}
"""Central differences by 1e-6 lose 1e-10 of the largest value to rounding."""

IMPLICIT = ("aba", "solve")
"""M x = b is solved for x, and differentiated as rnea(x) = b: one and the same while quaternions are of unit length."""


def tensors(case: Case) -> tuple[list[str], list[torch.Tensor]]:
    arrays = case.arrays
    return list(arrays), [
        torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arrays.values()
    ]


def normalized(case: Case, arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """With quaternions at unit length."""
    result = {**arrays, "q": wd.normalize(case.model, arrays["q"])}
    if "placement" in arrays:
        position, turn = arrays["placement"][:, :3], arrays["placement"][:, 3:]
        result["placement"] = torch.cat([position, turn / turn.norm(dim=1, keepdim=True)], 1)
    return result


def test_every_function_has_a_case() -> None:
    """A new public function is to be added to `gradient_cases`."""
    assert set(FUNCTIONS) - NOT_DIFFERENTIABLE - OF_FUNCTIONS == {case.function for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_are_those_of_small_changes(case: Case) -> None:
    """torch.autograd.gradcheck, and gradgradcheck where the case says so, by all its arrays at once."""
    names, given = tensors(case)

    def function(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arrays = dict(zip(names, values, strict=True))
        return case.run(normalized(case, arrays) if case.function in IMPLICIT else arrays)

    assert torch.autograd.gradcheck(function, given, **EXACT)
    if case.second:
        assert torch.autograd.gradgradcheck(function, given, **EXACT)


def at_rest(case: Case) -> dict[str, torch.Tensor]:
    """Zeros, neutral configurations and identical poses: where closed forms are 0/0."""
    names, given = tensors(case)
    arrays = dict(zip(names, given, strict=True))
    turned = {
        "pose": [0, 0, 0, 0, 0, 0, 1],
        "quaternion": [0, 0, 0, 1],
        "matrix": torch.eye(4),
        "rotation": torch.eye(3),
    }
    with torch.no_grad():
        for name in case.given.split():
            still = (
                case.model.neutral
                if name.startswith("q") and name != "quaternion"
                else turned.get(name, 0.0)
            )
            arrays[name][:] = torch.as_tensor(still)
    return arrays


@pytest.mark.parametrize("case", [c for c in CASES if not c.second], ids=str)
def test_gradients_are_finite_at_rest(case: Case) -> None:
    """Where nothing moves and nothing is turned, singular configurations among them."""
    arrays = at_rest(case)
    results = case.run(arrays)
    sum(x.sum() for x in results).backward()
    for x in (*results, *(x.grad for x in arrays.values())):
        assert torch.isfinite(x).all()


# Functions of functions, and what else a Torch program does.


def test_products_and_derivatives_are_differentiable() -> None:
    """vjp, jvp and derivatives are functions like any other: gradcheck."""
    model, case = MODELS["gripper"], Case("rnea", "gripper", "q v a")
    _, given = tensors(case)
    w = torch.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=torch.float64, requires_grad=True)
    checked = {
        wd.vjp: lambda q, v, a, w: wd.vjp(wd.rnea, model, q, v, a, cotangents=w, wrt=("q", "v")),
        wd.jvp: lambda q, v, a, w: wd.jvp(wd.rnea, model, q, v, a, tangents={"q": w, "a": w}),
        wd.derivatives: lambda q, v, a, w: wd.derivatives(wd.rnea, model, q, v, a, wrt=("q", "v")),
    }
    assert {function.__name__ for function in checked} == OF_FUNCTIONS
    for function in checked.values():
        assert torch.autograd.gradcheck(function, (*given, w), **EXACT)


def test_forward_dynamics_products_are_differentiable() -> None:
    """The implicit rule with the solution computed first, and with one that is given."""
    case = Case("aba", "gripper", "q v tau", "gravity mass")
    names, given = tensors(case)
    w = torch.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=torch.float64, requires_grad=True)

    def product(*values: torch.Tensor, solved: bool = False) -> tuple[torch.Tensor, ...]:
        (*values, w), (arguments, options) = (
            values,
            case.arguments(dict(zip(names, values[:-1], strict=True))),
        )
        solution = wd.aba(*arguments, **options) if solved else None
        return wd.vjp(wd.aba, *arguments, cotangents=w, solution=solution, **options)

    for solved in (False, True):
        assert torch.autograd.gradcheck(
            lambda *x, solved=solved: product(*x, solved=solved), (*given, w), **EXACT
        )
    inside = torch.autograd.grad(product(*given, w)[0].sum(), given)
    outside = torch.autograd.grad(product(*given, w, solved=True)[0].sum(), given)
    assert all(
        torch.allclose(x, y, rtol=1e-12, atol=1e-12) for x, y in zip(inside, outside, strict=True)
    )


def test_what_serves_all_gathers_from_all() -> None:
    """One mass, one gravity for all environments: their gradient is the sum of those of an array each."""
    model, arrays = MODELS["gripper"], Case("rnea", "gripper", "q v a").arrays
    q, v, a = (torch.tensor(x) for x in arrays.values())
    one = torch.tensor([0.4, 0.7], dtype=torch.float64, requires_grad=True)
    each = one.detach().expand(2, 2).clone().requires_grad_(True)
    names = ("palm", "left")
    for mass in (dict(zip(names, one, strict=True)), dict(zip(names, each.unbind(1), strict=True))):
        (wd.rnea(model, q, v, a, params=model.params(mass=mass)) ** 2).sum().backward()
    assert torch.allclose(one.grad, each.grad.sum(0), rtol=1e-13)


def test_one_robot_alone() -> None:
    """(n,) arrays have gradients of their own shape: those of a row."""
    case = Case("rnea", "hopper", "q v a", "gravity mass")
    (names, rows), (_, single) = tensors(case), tensors(case)
    single = [x if name == "gravity" else x[0] for name, x in zip(names, single, strict=True)]
    single = [x.detach().clone().requires_grad_(True) for x in single]
    found = case.run(dict(zip(names, single, strict=True)))[0]
    wanted = case.run(dict(zip(names, rows, strict=True)))[0][0]
    assert found.shape == (7,) and torch.allclose(found, wanted)
    w = torch.linspace(-1, 1, 7, dtype=torch.float64)
    for x, y in zip(
        torch.autograd.grad(found @ w, single), torch.autograd.grad(wanted @ w, rows), strict=True
    ):
        assert torch.allclose(x, y if y.ndim == x.ndim else y[0], rtol=1e-13)


def test_in_a_chain_with_torchs_own_functions() -> None:
    """Two calls after one another, strided arrays, and a network's output as joint forces."""
    model = MODELS["pendulum"]
    memory = torch.tensor(
        [[0.3, -0.5, 1.0], [0.2, 0.8, -1.0]], dtype=torch.float64, requires_grad=True
    )
    weight = torch.tensor([[0.3, -0.1], [0.2, 0.4]], dtype=torch.float64, requires_grad=True)

    def after(memory: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        q, v = memory.T, torch.zeros(3, 2, dtype=torch.float64)
        for _ in range(3):
            v = v + 0.05 * wd.aba(model, q, v, torch.tanh(q @ weight))
            q = wd.integrate(model, q, 0.05 * v)
        return wd.fk(model, q, frame="tip")[:, :3, 3]

    assert torch.autograd.gradcheck(after, (memory, weight), **EXACT)


def test_single_precision() -> None:
    """float32 gradients are those of float64 to 1e-4."""
    case = Case("aba", "hopper", "q v tau", "gravity f_ext mass")
    names, exact = tensors(case)
    rounded = [x.detach().float().requires_grad_(True) for x in exact]
    exact = [x.detach().double().requires_grad_(True) for x in rounded]
    found, wanted = (
        torch.autograd.grad(case.run(dict(zip(names, given, strict=True)))[0].sum(), given)
        for given in (rounded, exact)
    )
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == torch.float32
        assert (x.double() - y).abs().max() <= 1e-4 * y.abs().max()


def test_only_what_is_asked_for() -> None:
    """Gradients reach the arrays that require them; without one, or under no_grad, there is no graph."""
    model = MODELS["pendulum"]
    q, v, a = (torch.ones(1, 2, dtype=torch.float64) for _ in range(3))
    v.requires_grad_(True)
    wd.rnea(model, q, v, a).sum().backward()
    assert v.grad is not None and q.grad is None
    assert not wd.rnea(model, q, v.detach(), a).requires_grad
    with torch.no_grad():
        assert not wd.rnea(model, q, v, a, out=torch.empty_like(a)).requires_grad


def test_results_cannot_be_written_into_an_array_of_the_callers() -> None:
    """out= and a gradient: refused, with the way out."""
    model, q = MODELS["pendulum"], torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match=r"out= cannot take part in a gradient.*torch.no_grad"):
        wd.crba(model, q, out=torch.empty(1, 2, 2, dtype=torch.float64))


def test_bind_takes_no_part_in_gradients() -> None:
    """bind launches a kernel and nothing else; a tensor that requires a gradient is refused."""
    model, q = MODELS["pendulum"], torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"detach\(\)"):
        wd.bind(wd.crba, model, q)


# Transforms of torch.func, and forward mode.


def motions(batch: int = 3, requires_grad: bool = False) -> list[torch.Tensor]:
    """q, v and a (or tau) of a robot with two coordinates."""
    draw = torch.Generator().manual_seed(4)
    return [
        torch.randn(batch, 2, generator=draw, dtype=torch.float64).requires_grad_(requires_grad)
        for _ in range(3)
    ]


def close(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.shape == y.shape and torch.allclose(x, y, rtol=1e-11, atol=1e-11)


DYNAMICS = pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=["rnea", "aba"])


@DYNAMICS
def test_a_mapped_dimension_is_one_of_environments(function: Callable[..., torch.Tensor]) -> None:
    """vmap over one robot, over batches, along another dimension, of some arguments, twice: the rows of a batch."""
    model, (q, v, tau) = MODELS["pendulum"], motions()
    vmap = torch.func.vmap

    def call(*x: torch.Tensor) -> torch.Tensor:
        return function(model, *x)

    wanted = call(q, v, tau)
    assert close(vmap(call)(q, v, tau), wanted)
    assert close(vmap(call, in_dims=1, out_dims=1)(q.T, v.T, tau.T), wanted.T)
    assert close(vmap(call, (0, None, None))(q, v[1], tau[1])[1], wanted[1])
    stacked = [torch.stack([x, 2 * x]) for x in (q, v, tau)]
    assert close(vmap(call)(*stacked)[1], call(2 * q, 2 * v, 2 * tau))
    assert close(vmap(vmap(call))(*stacked)[1], call(2 * q, 2 * v, 2 * tau))
    assert close(vmap(call, (None, 0, None))(q, stacked[1], tau)[1], call(q, 2 * v, tau))


def test_parameters_and_gravity_are_mapped() -> None:
    """A mass for each of N, one for all; gravity as plain numbers, mapped, and of each environment."""
    model, (q, v, a) = MODELS["pendulum"], motions()

    def forces(mass: torch.Tensor, gravity: Any) -> torch.Tensor:
        params = model.params(mass={"lower_rod": mass})
        return wd.rnea(model, q, v, a, params=params, gravity=gravity)

    mass = torch.tensor([0.5, 2.0], dtype=torch.float64)
    gravity = torch.tensor([[0.0, 0.0, -1.6], [0.0, 1.0, -9.0]], dtype=torch.float64)
    vmap = torch.func.vmap
    found = vmap(lambda m: forces(m, (0.0, 0.0, -1.6)))(mass)
    assert close(found[1], forces(mass[1], (0.0, 0.0, -1.6)))
    assert close(vmap(forces)(mass, gravity)[1], forces(mass[1], gravity[1]))
    assert close(vmap(forces, (None, 0))(mass[1], gravity)[0], forces(mass[1], gravity[0]))
    each = gravity[[0, 1, 0]]
    assert close(vmap(forces, (0, None))(mass, each)[1], forces(mass[1], each))


@DYNAMICS
def test_jacobians_by_transforms(function: Callable[..., torch.Tensor]) -> None:
    """jacrev, jacfwd, jvp and vjp, mapped over robots: `derivatives`, and products with it."""
    model, (q, v, tau) = MODELS["pendulum"], motions()
    transforms = torch.func
    wanted = wd.derivatives(function, model, q, v, tau, wrt=("q", "v"))
    for jacobian in (transforms.jacrev, transforms.jacfwd):
        found = transforms.vmap(jacobian(lambda *x: function(model, *x), argnums=(0, 1)))(q, v, tau)
        assert all(close(x, y) for x, y in zip(found, wanted, strict=True))
    moved = transforms.jvp(lambda q: function(model, q, v, tau), (q,), (v,))[1]
    assert close(moved, wd.jvp(function, model, q, v, tau, tangents={"q": v}))
    pulled = transforms.vjp(lambda q: function(model, q, v, tau), q)[1](tau)[0]
    assert close(pulled, wd.vjp(function, model, q, v, tau, cotangents=tau, wrt=("q",)))


@DYNAMICS
def test_second_derivatives_by_transforms(function: Callable[..., torch.Tensor]) -> None:
    """Forward and reverse in every order: the Hessian of Torch's own double backward."""
    model, (q, v, tau) = MODELS["pendulum"], motions()
    transforms = torch.func

    def total(q: torch.Tensor) -> torch.Tensor:
        return (function(model, q, v[0], tau[0]) ** 2).sum()

    wanted = torch.autograd.functional.hessian(total, q[0])
    for outer in (transforms.jacrev, transforms.jacfwd):
        for inner in (transforms.jacrev, transforms.jacfwd):
            assert close(outer(inner(total))(q[0]), wanted)
    rows = transforms.vmap(transforms.hessian(total))(q)
    assert close(rows[0], wanted)


def test_a_function_of_several_results_and_shared_values() -> None:
    """Jacobians of pose and Jacobian by q, and of forces by one mass for all, forward and in reverse."""
    model, (q, v, a) = MODELS["pendulum"], motions()
    transforms = torch.func
    both = [
        transforms.vmap(jacobian(lambda q: wd.pose_and_jacobian(model, q, frame="tip")))(q)
        for jacobian in (transforms.jacrev, transforms.jacfwd)
    ]
    for x, y in zip(*both, strict=True):
        assert close(x, y) and x.abs().max() > 0.1

    def forces(mass: torch.Tensor) -> torch.Tensor:
        return wd.rnea(model, q, v, a, params=model.params(mass={"lower_rod": mass}))

    mass = torch.tensor(1.3, dtype=torch.float64)
    found = transforms.jacfwd(forces)(mass)
    assert close(found, transforms.jacrev(forces)(mass)) and found.abs().max() > 0.1


def test_dual_tensors_keep_their_tangents() -> None:
    """torch.autograd.forward_ad, without torch.func and where nothing requires a gradient."""
    model, (q, v, a) = MODELS["pendulum"], motions()
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        result = forward.unpack_dual(wd.rnea(model, forward.make_dual(q, v), v, a))
    assert close(result.primal, wd.rnea(model, q, v, a))
    assert close(result.tangent, wd.jvp(wd.rnea, model, q, v, a, tangents={"q": v}))


def test_a_gradient_of_one_result_alone() -> None:
    """Where no gradient comes for a result, the others' gradients are what they were."""
    model, (q, _, _) = MODELS["pendulum"], motions(requires_grad=True)
    pose, jacobian = wd.pose_and_jacobian(model, q, frame="tip")
    w = torch.linspace(-1, 1, jacobian.numel(), dtype=torch.float64).reshape(jacobian.shape)
    alone = torch.autograd.grad((jacobian * w).sum(), q, retain_graph=True)[0]
    beside = torch.autograd.grad((jacobian * w).sum() + 0 * pose.sum(), q)[0]
    wanted = torch.autograd.grad((wd.jacobian(model, q, frame="tip") * w).sum(), q)[0]
    assert close(alone, beside) and close(alone, wanted)


def test_searches_are_mapped_and_have_no_derivative() -> None:
    """vmap of inverse kinematics is its batch; a gradient by it is refused by name."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    targets = wd.fk(model, q, frame="tip")

    def search(target: torch.Tensor) -> torch.Tensor:
        return wd.inverse_kinematics(model, target, frame="tip").q

    assert close(torch.func.vmap(search)(targets), search(targets))
    with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
        torch.func.grad(lambda t: search(t).sum())(targets)
    with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
        torch.func.jvp(search, (targets,), (targets,))


def test_what_cannot_be_transformed_says_so() -> None:
    """out= and bind write into and read from memory, which what a transform hands over has not; wrong widths."""
    model, (q, v, a) = MODELS["pendulum"], motions()
    with pytest.raises(
        ValueError, match=r"v must be \(nv,\) = \(2,\), as q is of one robot, got \(1,\)"
    ):
        torch.func.vmap(lambda *x: wd.rnea(model, *x))(q, v[:, :1], a)
    with pytest.raises(TypeError, match=r"out= cannot take part in .*torch.func"):
        torch.func.vmap(lambda q: wd.crba(model, q, out=torch.empty(2, 2)))(q)
    with pytest.raises(NotImplementedError, match=r"q has no memory.*torch.func"):
        torch.func.vmap(lambda q: wd.bind(wd.crba, model, q)())(q)


# torch.compile. "aot_eager" follows and differentiates as the default does, and leaves out Torch's own code
# generation, which knows nothing of us.


def compiled(function: Callable[..., Any], backend: Any = "aot_eager") -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend=backend)


def agrees(function: Callable[..., Any], *given: torch.Tensor, backend: str = "aot_eager") -> bool:
    """Values, and gradients by all that requires one, compiled in one graph and eager."""
    leaves = [x for x in given if x.requires_grad]
    outcomes = []
    for each in (compiled(function, backend), function):
        results = each(*given)
        results = results if isinstance(results, tuple) else (results,)
        total = sum((x * torch.linspace(-1, 1, x.shape[-1]).to(x)).sum() for x in results)
        outcomes.append([*results, *torch.autograd.grad(total, leaves)])
    return all(close(x, y) for x, y in zip(*outcomes, strict=True))


def rollout(q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    model = MODELS["pendulum"]
    for _ in range(3):
        v = v + 0.01 * wd.aba(model, q, v, torch.tanh(tau))
        q = wd.integrate(model, q, 0.01 * v)
    return q


def test_a_rollout_compiles_into_one_graph() -> None:
    """With the default backend, Torch's own operations between the calls: values and gradients."""
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
def test_compiled_is_eager(function: Callable[..., Any]) -> None:
    """What a call may be given, and functions of functions, in one graph."""
    assert agrees(function, *motions(requires_grad=True))


def test_a_compiled_function_takes_other_batches_and_robots() -> None:
    """Batches of any size after the second, without a graph each; another robot is another graph."""
    graphs = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    call = compiled(lambda model, q, v, a: wd.rnea(model, q, v, a), graphs)
    for batch in (3, 5, 7, 9):
        for robot in ("pendulum", "cartpole", "pendulum"):
            given = (MODELS[robot], *motions(batch))
            assert close(call(*given), wd.rnea(*given))
    assert graphs.frame_count <= 4


def test_compiled_without_a_call_before(tmp_path: Path) -> None:
    """A process that imports Torch last and compiles at once: nothing need have been called eagerly."""
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


def test_two_kernels_of_one_name_are_two_in_compiled_graphs() -> None:
    """A graph finds each by what it computes."""

    def scaled_by(factor: float) -> Callable[..., Any]:
        @wd.kernel
        def scaled(robot: Any, q: Any) -> Any:
            return factor * q

        return scaled

    model = wd.load_robot("cartpole")
    q = torch.rand(3, model.nq, dtype=torch.float64)
    for factor in (2.0, 3.0):
        kernel = scaled_by(factor)
        assert torch.equal(compiled(lambda x, k=kernel: k(model, x))(q), factor * q)


def test_what_cannot_be_compiled_says_so() -> None:
    """out=, and results with names: each in one line of the compiler's message."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    out = torch.empty(3, 2, 2, dtype=torch.float64)
    with pytest.raises(Exception, match=r"out= cannot take part in torch.compile; leave it away"):
        compiled(lambda q: wd.crba(model, q, out=out))(q)
    targets = wd.fk(model, q, frame="tip")
    with pytest.raises(Exception, match=r"inverse_kinematics cannot take part in torch.compile"):
        compiled(lambda x: wd.inverse_kinematics(model, x, frame="tip").q)(targets)


def test_fake_tensors_have_shapes_alone() -> None:
    """Shapes and dtypes of results without a launch, inside of the mode and outside of it."""
    from torch._subclasses import FakeTensorMode

    model = MODELS["pendulum"]
    with FakeTensorMode():
        q = torch.empty(4, 2)
        assert wd.crba(model, q).shape == (4, 2, 2)
    M, twist = wd.crba(model, q), wd.frame_velocity(model, q, q, frame="tip")
    assert (M.shape, twist.shape, M.dtype) == ((4, 2, 2), (4, 6), torch.float32)
