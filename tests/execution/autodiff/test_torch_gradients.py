"""Calls inside Torch: gradcheck of every function by every array that has derivatives."""

from __future__ import annotations

import pytest
from gradient_cases import CASES, MODELS, NOT_DIFFERENTIABLE, OF_FUNCTIONS, Case

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS

torch = pytest.importorskip("torch")

EXACT = {"eps": 1e-6, "atol": 1e-6, "rtol": 1e-6}
"""Central differences by 1e-6 lose 1e-10 of the largest value to rounding."""

IMPLICIT = ("aba", "solve")
"""M x = b is solved for x, and differentiated as rnea(x) = b. The two are equal only for quaternions
of unit length."""


def tensors(case: Case) -> tuple[list[str], list[torch.Tensor]]:
    arrays = case.arrays
    return list(arrays), [
        torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arrays.values()
    ]


def normalize_rotations(case: Case, arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The arrays with quaternions of unit length."""
    result = {**arrays, "q": wd.normalize(case.model, arrays["q"])}
    if "placement" in arrays:
        position, turn = arrays["placement"][:, :3], arrays["placement"][:, 3:]
        result["placement"] = torch.cat([position, turn / turn.norm(dim=1, keepdim=True)], 1)
    return result


def test_every_function_has_a_case() -> None:
    """A new public function must be added to `gradient_cases`."""
    assert set(FUNCTIONS) - NOT_DIFFERENTIABLE - OF_FUNCTIONS == {case.function for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_equal_differences(case: Case) -> None:
    """torch.autograd.gradcheck, and gradgradcheck if the case has second derivatives, by all arrays
    at once."""
    names, given = tensors(case)

    def function(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arrays = dict(zip(names, values, strict=True))
        return case.run(normalize_rotations(case, arrays) if case.function in IMPLICIT else arrays)

    assert torch.autograd.gradcheck(function, given, **EXACT)
    if case.second:
        assert torch.autograd.gradgradcheck(function, given, **EXACT)


def at_rest(case: Case) -> dict[str, torch.Tensor]:
    """Zeros, neutral configurations and identity poses, where closed forms are 0/0."""
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
    """Nothing moves or is rotated. Singular configurations are included."""
    arrays = at_rest(case)
    results = case.run(arrays)
    sum(x.sum() for x in results).backward()
    for x in (*results, *(x.grad for x in arrays.values())):
        assert torch.isfinite(x).all()


# Functions of functions, and other parts of Torch programs.


def test_products_and_derivatives_are_differentiable() -> None:
    """vjp, jvp and derivatives pass gradcheck like any other function."""
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
    """The implicit rule computes the solution first, or takes one as an argument."""
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


def test_gradients_by_common_parameters_are_summed() -> None:
    """The gradient by one mass or gravity for all environments is the sum of the gradients by an
    array for each."""
    model, arrays = MODELS["gripper"], Case("rnea", "gripper", "q v a").arrays
    q, v, a = (torch.tensor(x) for x in arrays.values())
    one = torch.tensor([0.4, 0.7], dtype=torch.float64, requires_grad=True)
    each = one.detach().expand(2, 2).clone().requires_grad_(True)
    names = ("palm", "left")
    for mass in (dict(zip(names, one, strict=True)), dict(zip(names, each.unbind(1), strict=True))):
        (wd.rnea(model, q, v, a, params=model.params(mass=mass)) ** 2).sum().backward()
    assert torch.allclose(one.grad, each.grad.sum(0), rtol=1e-13)


def test_gradients_of_a_single_robot_equal_those_of_a_row() -> None:
    """(n,) arrays have gradients of their own shape."""
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


def test_gradients_pass_through_calls_and_torchs_operations() -> None:
    """Two successive calls, strided arrays, and a network's output as joint forces."""
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


def test_float32_gradients_equal_float64_gradients() -> None:
    """The tolerance is 1e-4."""
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


@pytest.mark.parametrize("debug", [False, True])
def test_only_required_gradients_are_computed(debug: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no graph under no_grad, or if no tensor requires a gradient."""
    monkeypatch.setattr(wd.config, "debug", debug)  # such calls take another way
    model = MODELS["pendulum"]
    q, v, a = (torch.ones(1, 2, dtype=torch.float64) for _ in range(3))
    v.requires_grad_(True)
    wd.rnea(model, q, v, a).sum().backward()
    assert v.grad is not None and q.grad is None
    assert not wd.rnea(model, q, v.detach(), a).requires_grad
    with torch.no_grad():
        assert not wd.rnea(model, q, v, a, out=torch.empty_like(a)).requires_grad


def test_out_cannot_take_part_in_a_gradient() -> None:
    """The message names the remedy."""
    model, q = MODELS["pendulum"], torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match=r"out= cannot take part in a gradient.*torch.no_grad"):
        wd.crba(model, q, out=torch.empty(1, 2, 2, dtype=torch.float64))


def test_bind_refuses_tensors_that_require_gradients() -> None:
    """A bound call only launches a kernel."""
    model, q = MODELS["pendulum"], torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"detach\(\)"):
        wd.bind(wd.crba, model, q)
