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


def test_derivatives_of_a_contact_with_a_prism_are_finite_in_single_precision() -> None:
    """The search for the nearest points has triangles without an area."""
    world = wd.ModelBuilder("world").add_link("floor").build()
    model = world.with_object("prism", wd.description.Cylinder(0.1, 0.2), mass=1.0)
    model = model.with_object("ball", wd.description.Sphere(0.1), mass=1.0)
    pairs = wd.ContactPairs(model)
    q = np.tile(model.neutral, (20, 1))
    q[:, 7:10] = 0.12 * np.random.default_rng(0).normal(size=(20, 3))
    slopes = []
    for dtype in (np.float64, np.float32):
        at = q.astype(dtype)
        rest = np.zeros((20, model.nv), dtype)

        def step(at: np.ndarray, rest: np.ndarray, **more: Any) -> Any:
            options = {"points": [], "pairs": pairs, "dt": 0.005}
            if not more:
                return wd.step(model, at, rest, rest, **options)
            return wd.vjp(wd.step, model, at, rest, rest, **options, **more)

        cotangents = [np.zeros_like(x) for x in step(at, rest)]
        cotangents[1] += 1.0
        slopes.append(step(at, rest, cotangents=tuple(cotangents))[0])
    assert np.abs(slopes[0]).max() > 50.0  # some of them touch
    assert slopes[1] == pytest.approx(slopes[0], rel=1e-3, abs=1e-2)
