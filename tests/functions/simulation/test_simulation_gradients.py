"""Gradients through many steps on the ground, compared with differences and with Torch step by
step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.recording.graph import KEPT_WHOLE

CUBE = """<robot name="cube"><link name="b"><inertial><mass value="1"/><inertia ixx="0.0017" ixy="0"
ixz="0" iyy="0.0017" iyz="0" izz="0.0017"/></inertial></link></robot>"""
BOX = wd.load_urdf(CUBE, floating_base=True)
CORNERS = tuple(
    wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)
)
DT = 0.005

SUBSTEPS = KEPT_WHOLE + 4
"""More than a loop keeps the states of."""

SMOOTH = 1e-6
"""Relative, away from kinks."""

NAMES = ("q", "v", "tau", "friction", "stiffness", "gravity")
STENCIL = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}
H = 1e-5


def sliding() -> dict[str, np.ndarray]:
    """A box on all corners, which a force pushes along and turns a little."""
    return {
        "q": np.array([[0.0, 0.0, 0.0495, 0.0, 0.0, np.sin(0.15), np.cos(0.15)]]),
        "v": np.array([[1.0, 0.3, -0.01, 0.02, -0.01, 0.3]]),
        "tau": np.array([[1.0, 0.2, 0.0, 0.0, 0.0, 0.01]]),
        "friction": np.full((1, 4), 0.3),
        "stiffness": np.full(1, 5e4),
        "gravity": np.array([[0.1, -0.2, -9.81]]),
    }


def arguments_at(at: dict[str, Any], substeps: int) -> tuple[list[Any], dict[str, Any]]:
    return [BOX, at["q"], at["v"], at["tau"]], {
        "ground": wd.Ground(at["friction"], at["stiffness"], 0.01),
        **{"points": CORNERS, "dt": DT, "sweeps": 4, "substeps": substeps},
        "gravity": at["gravity"],
    }


@pytest.fixture(scope="module")
def by_kernel() -> dict[str, Any]:
    """Cotangents w of a sliding box, and Jᵀ w by name."""
    positional, options = arguments_at(sliding(), SUBSTEPS)
    results = wd.step(*positional, **options)
    draw = np.random.default_rng(0)
    w = tuple(draw.normal(size=x.shape) for x in results)
    bars = wd.vjp(wd.step, *positional, **options, cotangents=w, wrt=NAMES)
    normal, slip = results.forces[0, :, 2], results.v[0, :2]
    assert (normal > 0.1).all() and np.linalg.norm(slip) > 0.1  # no kink near
    return {"w": w, **dict(zip(NAMES, bars, strict=True))}


def test_gradients_through_many_steps_equal_finite_differences(by_kernel: dict[str, Any]) -> None:
    """The differences are of fourth order, along a random direction of each input, in one call."""
    draw, at = np.random.default_rng(1), sliding()
    directions = {name: draw.normal(size=x.shape) for name, x in at.items()}
    size = {name: H * max(1.0, float(np.abs(x).max())) for name, x in at.items()}
    moved = [(name, s) for name in NAMES for s in STENCIL]
    rows = {name: np.repeat(x, len(moved), 0) for name, x in at.items()}
    for k, (name, s) in enumerate(moved):
        rows[name][k] += s * size[name] * directions[name][0]
    positional, options = arguments_at(rows, SUBSTEPS)
    results = wd.step(*positional, **options)
    sums = sum(
        np.sum(x * c, axis=tuple(range(1, x.ndim)))
        for x, c in zip(results, by_kernel["w"], strict=True)
    )
    for k, name in enumerate(NAMES):
        four = sums[4 * k : 4 * k + 4]
        wanted = np.dot(list(STENCIL.values()), four) / size[name]
        assert np.sum(by_kernel[name] * directions[name]) == pytest.approx(wanted, rel=SMOOTH)


def test_torch_gradients_through_single_steps_equal_those_of_substeps(
    by_kernel: dict[str, Any],
) -> None:
    """loss.backward() through separate calls equals the product through as many substeps."""
    torch = pytest.importorskip("torch")
    at = {name: torch.tensor(x, requires_grad=True) for name, x in sliding().items()}
    here = {**at}
    impulses = torch.zeros(1, 4, 3, dtype=torch.float64)
    torques = 0.0
    for _ in range(SUBSTEPS):
        positional, options = arguments_at(here, 1)
        end = wd.step(*positional, **options, impulses=impulses)
        here |= {"q": end.q, "v": end.v}
        impulses, torques = end.impulses, torques + end.torques / SUBSTEPS
    results = (end.q, end.v, end.impulses, end.forces, torques)
    loss = sum((x * torch.tensor(c)).sum() for x, c in zip(results, by_kernel["w"], strict=True))
    loss.backward()
    for name in NAMES:
        bar, found = by_kernel[name], at[name].grad
        assert np.reshape(found, bar.shape) == pytest.approx(bar, abs=1e-9 * np.abs(bar).max())


def slopes_by_state(model: wd.Model, q: np.ndarray, dtype: Any, **options: Any) -> list[np.ndarray]:
    """Derivatives of the sum of the next velocities by q, v and tau, from rest."""
    rest = np.zeros((len(q), model.nv), dtype)
    arguments = (model, q.astype(dtype), rest, rest)
    cotangents = [np.zeros_like(x) for x in wd.step(*arguments, **options)]
    cotangents[1] += 1.0
    found = wd.vjp(wd.step, *arguments, **options, cotangents=tuple(cotangents))
    return [np.asarray(x) for x in tuple(found)[:3]]


def world_of(*shapes: wd.description.Solid) -> wd.Model:
    model = wd.ModelBuilder("world").add_link("floor").build()
    for k, shape in enumerate(shapes):
        model = model.with_object(f"body{k}", shape, mass=1.0)
    return model


def test_derivatives_of_bodies_at_rest_are_finite() -> None:
    """Single and several pairs. The angular speed of a body at rest has no slope, and the choice of near pairs
    compares it."""
    for count in (2, 3):
        model = world_of(*[wd.description.Sphere(0.1)] * count)
        q = np.tile(model.neutral, (2, 1))
        q[:, 7::7] = 0.15 * np.arange(1, count)
        found = slopes_by_state(model, q, float, points=[], pairs=wd.ContactPairs(model), dt=0.005)
        assert all(np.isfinite(x).all() for x in found) and abs(found[0]).max() > 0.01


def test_derivatives_of_a_contact_with_a_prism_are_finite_in_single_precision() -> None:
    """The search for the nearest points has triangles without an area."""
    model = world_of(wd.description.Cylinder(0.1, 0.2), wd.description.Sphere(0.1))
    q = np.tile(model.neutral, (20, 1))
    q[:, 7:10] = 0.12 * np.random.default_rng(0).normal(size=(20, 3))
    options = {"points": [], "pairs": wd.ContactPairs(model), "dt": 0.005}
    wanted, found = (
        slopes_by_state(model, q, dtype, **options)[0] for dtype in (np.float64, np.float32)
    )
    assert np.abs(wanted).max() > 50.0  # some of them touch
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-2)


def test_derivatives_of_rolling_friction_at_rest_are_finite_in_single_precision() -> None:
    """Its moment is along the rate of rolling, which is zero."""
    model = world_of(wd.description.Sphere(0.1))
    q = np.tile(model.neutral, (2, 1))
    q[:, 2] = 0.0995, 0.099
    options = {"points": wd.ContactPoints(model), "ground": wd.Ground(rolling_friction=0.01)}
    wanted, found = (
        slopes_by_state(model, q, dtype, **options) for dtype in (np.float64, np.float32)
    )
    assert np.abs(wanted[0]).max() > 5.0
    for one, two in zip(wanted, found, strict=True):
        assert two == pytest.approx(one, rel=1e-3, abs=1e-2)


def test_derivatives_of_a_ball_above_the_middle_of_a_prism_are_those_of_differences() -> None:
    """The direction between the middles is then that of the face, which does not turn with it."""
    model = world_of(wd.description.Cylinder(0.1, 0.2), wd.description.Sphere(0.1))
    q = np.tile(model.neutral, (1, 1))
    q[:, 9] = 0.1995
    rest, step = np.zeros((1, model.nv)), 1e-7
    options: dict[str, Any] = {"points": [], "pairs": wd.ContactPairs(model), "dt": 0.005}

    def sum_of_velocities(h: np.ndarray) -> float:
        return float(wd.step(model, q + h, rest, rest, **options).v.sum())

    found = slopes_by_state(model, q, np.float64, **options)[0][0]
    for k in (0, 1, 2, 7, 8, 9):
        h = step * np.eye(model.nq)[k]
        wanted = (sum_of_velocities(h) - sum_of_velocities(-h)) / (2 * step)
        assert found[k] == pytest.approx(wanted, rel=1e-5, abs=1e-3)
