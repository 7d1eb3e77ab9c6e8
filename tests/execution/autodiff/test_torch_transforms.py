"""Calls in the transforms of torch.func, and in forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gradient_cases import MODELS
from motions_of_torch import close, motions

import warpdyn as wd

torch = pytest.importorskip("torch")

DYNAMICS = pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=["rnea", "aba"])


@DYNAMICS
def test_vmap_equals_the_rows_of_a_batch(function: Callable[..., torch.Tensor]) -> None:
    """It maps one robot, batches, another dimension, some of the arguments, and twice."""
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


def test_vmap_maps_parameters_and_gravity() -> None:
    """There is a mass for each of N or one for all, and gravity as plain numbers, mapped, or of
    each environment."""
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
def test_jacobians_by_transforms_equal_derivatives(function: Callable[..., torch.Tensor]) -> None:
    """The transforms are jacrev, jacfwd, jvp and vjp, mapped over robots."""
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
def test_second_derivatives_by_transforms_equal_double_backward(
    function: Callable[..., torch.Tensor],
) -> None:
    """Forward and reverse mode in every order."""
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


def test_forward_and_reverse_jacobians_are_the_same() -> None:
    """They are those of pose and Jacobian by q, and of forces by one mass for all."""
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


def test_dual_tensors_have_the_tangents_of_jvp() -> None:
    """torch.autograd.forward_ad is used without torch.func, and nothing requires a gradient."""
    model, (q, v, a) = MODELS["pendulum"], motions()
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        result = forward.unpack_dual(wd.rnea(model, forward.make_dual(q, v), v, a))
    assert close(result.primal, wd.rnea(model, q, v, a))
    assert close(result.tangent, wd.jvp(wd.rnea, model, q, v, a, tangents={"q": v}))


def test_a_result_without_a_cotangent_does_not_change_the_gradient() -> None:
    """The gradient of the other result is the same if none comes for the pose."""
    model, (q, _, _) = MODELS["pendulum"], motions(requires_grad=True)
    pose, jacobian = wd.pose_and_jacobian(model, q, frame="tip")
    w = torch.linspace(-1, 1, jacobian.numel(), dtype=torch.float64).reshape(jacobian.shape)
    alone = torch.autograd.grad((jacobian * w).sum(), q, retain_graph=True)[0]
    beside = torch.autograd.grad((jacobian * w).sum() + 0 * pose.sum(), q)[0]
    wanted = torch.autograd.grad((wd.jacobian(model, q, frame="tip") * w).sum(), q)[0]
    assert close(alone, beside) and close(alone, wanted)


def test_vmap_of_inverse_kinematics_equals_its_batch() -> None:
    """It has no derivative, and a gradient is refused by name."""
    model, (q, _, _) = MODELS["pendulum"], motions()
    targets = wd.fk(model, q, frame="tip")

    def search(target: torch.Tensor) -> torch.Tensor:
        return wd.inverse_kinematics(model, target, frame="tip").q

    assert close(torch.func.vmap(search)(targets), search(targets))
    with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
        torch.func.grad(lambda t: search(t).sum())(targets)
    with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
        torch.func.jvp(search, (targets,), (targets,))


def test_calls_that_cannot_be_transformed_are_refused() -> None:
    """out= and bind need memory, which tensors of a transform do not have. Wrong widths are refused
    too."""
    model, (q, v, a) = MODELS["pendulum"], motions()
    with pytest.raises(
        ValueError, match=r"v must be \(nv,\) = \(2,\), as q is of one robot, got \(1,\)"
    ):
        torch.func.vmap(lambda *x: wd.rnea(model, *x))(q, v[:, :1], a)
    with pytest.raises(TypeError, match=r"out= cannot take part in .*torch.func"):
        torch.func.vmap(lambda q: wd.crba(model, q, out=torch.empty(2, 2)))(q)
    with pytest.raises(NotImplementedError, match=r"q has no memory.*torch.func"):
        torch.func.vmap(lambda q: wd.bind(wd.crba, model, q)())(q)
