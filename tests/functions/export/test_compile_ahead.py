"""Kernels compiled ahead from a list are those that calls and backward passes use."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from ball_beside import ball_beside

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.execution.launch import launch
from warpdyn.functions.export.compile_ahead import kernels_of, zeros_of
from warpdyn.model.actuators import Actuator

MODEL = replace(wd.load_robot("cartpole"), name="listed_cartpole")
"""Of a name of its own: equal models share their kernels."""
FRAME = MODEL.link_names[-1]
ARM = wd.load_robot("panda")
"""For functions that are defined where a link moves in all directions."""
OF_SIX_DIRECTIONS = (
    "dynamically_consistent_inverse",
    "operational_space",
    "operational_space_inertia",
)
NEED_MORE = {"convert_configuration": "a library that q comes from"}
"""Functions that nothing can stand for the options of."""


@pytest.fixture
def no_new_kernel(monkeypatch: pytest.MonkeyPatch):
    """The fixture returns a function. After its call, compiling a new kernel raises an error."""

    def refuse(call, *_):
        raise AssertionError(f"{call.label} is not there")

    return lambda: monkeypatch.setattr(launch, "_make_kernel", refuse)


def test_calls_use_the_kernels_compiled_from_a_list(no_new_kernel) -> None:
    """Functions, with options, derivatives and inverse kinematics.

    A second time nothing is compiled.
    """
    model = replace(MODEL, name="compiled_cartpole")
    listed = [
        wd.rnea,
        partial(wd.rnea, gravity=(0.0, 0.0, -1.62)),
        partial(wd.jacobian, frame=FRAME),
        wd.rnea_derivatives,
        partial(wd.derivatives, wd.com, wrt="q"),
        partial(wd.inverse_kinematics, frame=FRAME),
    ]
    wd.kernels.compile(model, listed)
    assert wd.kernels.compile(model, listed) == 0
    no_new_kernel()
    z = np.zeros((3, 2), np.float32)
    wd.rnea(model, z, z, z)
    wd.rnea(model, z, z, z, gravity=(0.0, 0.0, -1.62))
    wd.jacobian(model, z, frame=FRAME)
    wd.rnea_derivatives(model, z, z, z)
    wd.derivatives(wd.com, model, z, wrt="q")
    targets = np.tile(np.eye(4, dtype=np.float32), (3, 1, 1))
    wd.inverse_kinematics(model, targets, frame=FRAME)
    with pytest.raises(AssertionError, match="aba for compiled_cartpole is not there"):
        wd.aba(model, z, z, z)
    with pytest.raises(AssertionError, match="rnea for compiled_cartpole is not there"):
        wd.rnea(model, *np.zeros((3, 1, 2)))  # float64


def test_torchs_backward_pass_uses_a_kernel_compiled_ahead(no_new_kernel) -> None:
    """The kernels are compiled for the inputs named in `gradients`.

    One function solves a linear system.
    """
    torch = pytest.importorskip("torch")
    model = wd.load_robot("cartpole")
    wd.kernels.compile(model, [wd.rnea, wd.aba, wd.crba], dtype="float64", gradients=("tau", "q"))
    no_new_kernel()

    def leaf(needed: bool) -> torch.Tensor:
        return torch.ones((2, 2), dtype=torch.float64, requires_grad=needed)

    wd.rnea(model, leaf(True), leaf(False), leaf(False)).sum().backward()
    wd.aba(model, leaf(True), leaf(False), leaf(True)).sum().backward()
    wd.crba(model, leaf(True)).sum().backward()
    with pytest.raises(AssertionError, match="vjp of rnea for cartpole is not there"):
        wd.rnea(model, leaf(True), leaf(True), leaf(False)).sum().backward()


def test_jaxs_gradient_uses_a_kernel_compiled_ahead(no_new_kernel) -> None:
    """`jax.grad` uses the same kernels as Torch."""
    jax = pytest.importorskip("jax")
    model = wd.load_robot("cartpole")
    wd.kernels.compile(model, [wd.rnea], gradients="q")
    no_new_kernel()
    z = jax.numpy.ones((2, 2), jax.numpy.float32)
    gradient = jax.grad(lambda q: wd.rnea(model, q, z, z).sum())(z)
    assert np.isfinite(np.asarray(gradient)).all()


@pytest.mark.parametrize(
    "name",
    [name for name, function in FUNCTIONS.items() if function.of_a_model],
)
def test_every_function_of_a_model_can_be_listed(name: str) -> None:
    """Functions that have a `frame` are described with one. Programs are recorded, not compiled."""
    function = FUNCTIONS[name]
    options = {"frame": FRAME} if "frame" in inspect.signature(function.describe).parameters else {}
    if "points" in inspect.signature(function.describe).parameters:
        options["points"] = [wd.ContactPoint(FRAME, (0.0, 0.0, 0.0), 0.1)]
    if name == "pair_distances":
        options["pairs"] = [ball_beside(FRAME)]
    if function is wd.state_derivative:
        options["ground"] = wd.SoftGround()
    if name in NEED_MORE:
        with pytest.raises(ValueError, match="must be a library"):
            kernels_of(MODEL, partial(function, **options), dtype="float32", device="cpu")
        return
    if name in OF_SIX_DIRECTIONS:
        model, options = ARM, {"frame": "panda_hand"}
    elif name == "actuator_torques":
        model = replace(MODEL, actuators=(Actuator("push", ((MODEL.joint_names[0], 1.0),)),))
    else:
        model = MODEL
    (kernel,) = kernels_of(model, partial(function, **options), dtype="float32", device="cpu")
    assert kernel.label == f"{name} for {model.name}" and not kernel.loaded


def test_wrong_entries_of_the_list_are_refused_with_the_remedy() -> None:
    """Functions without a model, other objects, and an unknown dtype."""
    for wrong in (wd.convert.pose_to_matrix, np.sin, "rnea", partial(wd.vjp)):
        with pytest.raises(
            TypeError, match=r"calls must hold functions of a model.*wd.kernels.compiling"
        ):
            wd.kernels.compile(MODEL, [wrong])  # type: ignore[list-item]
    with pytest.raises(
        ValueError, match=r"pattern must be .*functools.partial\(wd.height_scan, \.\.\.\)"
    ):
        wd.kernels.compile(ARM, [wd.height_scan])
    with pytest.raises(
        TypeError, match=r"calls must be a list: wd.kernels.compile\(model, \[<function"
    ):
        wd.kernels.compile(MODEL, wd.rnea)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"none of these calls has an input Q .* they have a, q, v"
    ):
        wd.kernels.compile(MODEL, [wd.rnea, wd.crba], gradients=("q", "Q"))
    with pytest.raises(ValueError, match='dtype must be "float32" or "float64", got \'half\''):
        wd.kernels.compile(MODEL, [wd.rnea], dtype="half")


def test_a_users_kernel_is_compiled_like_a_library_function(no_new_kernel) -> None:
    """Shapes come from its signature, and options can be given.

    Arguments with defaults are left out.
    """

    @wd.kernel
    def pull(robot, q, target: (3,), t: (), rest: (2,) = (0.0, 1.0), *, frame, gain=2.0):
        return gain * t * (target - robot.fk(q, frame=frame)[:3, 3])

    listed = [partial(pull, frame=FRAME), partial(pull, frame=FRAME, gain=3.0)]
    wd.kernels.compile(MODEL, listed, gradients="q")
    assert wd.kernels.compile(MODEL, listed, gradients="q") == 0
    no_new_kernel()
    arrays = [np.zeros((3, 2), np.float32), np.zeros((3, 3), np.float32), np.zeros(3, np.float32)]
    for gain in (2.0, 3.0):
        out = pull(MODEL, *arrays, frame=FRAME, gain=gain)
        options = {"cotangents": out, "wrt": "q"}
        wd.vjp(pull, MODEL, *arrays, frame=FRAME, gain=gain, **options)


def test_compile_uses_the_points_of_a_partial() -> None:
    """The array of forces has one row per point."""
    points = [wd.ContactPoint(FRAME, (0, 0, 0), 0.0)] * 2
    function = partial(wd.link_contact_forces, points=points, frame=FRAME)
    (kernel,) = kernels_of(MODEL, function, dtype="float32", device="cpu")
    assert kernel.source.results == {"out": (6,)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_of_a_listed_call_are_zeros_of_one_environment(dtype: str) -> None:
    for shape in ((3,), (), (2, 4)):
        array = zeros_of(dtype, "cpu")(*shape)
        assert array.shape == (1, *shape) and array.dtype == dtype and not array.any()
