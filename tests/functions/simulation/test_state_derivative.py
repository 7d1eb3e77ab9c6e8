"""Rates of a state and explicit steps as users call them: libraries, gradients, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from loop_robots import four_bar

import warpdyn as wd

CUBE = """<robot name="cube"><link name="b"><inertial><mass value="1"/><inertia ixx=".002" ixy="0"
ixz="0" iyy=".003" iyz="0" izz=".004"/></inertial></link></robot>"""
BOX = wd.load_urdf(CUBE, floating_base=True)
CORNERS = tuple(
    wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)
)
ROLLED: dict[str, Any] = {"points": CORNERS, "dt": 2e-3, "substeps": 10, "integrator": "rk4"}


def on_the_ground(count: int = 3) -> dict[str, np.ndarray]:
    """Boxes that stick, slide, and fly."""
    q = np.zeros((count, 7))
    q[:, 2], q[:, 6] = 0.047, 1.0
    q[-1, 2] = 0.5
    v, tau = np.zeros((count, 6)), np.zeros((count, 6))
    v[:, :3], v[:, 3:] = (0.002, 0.001, -0.01), (0.02, -0.01, 0.03)
    v[1, 0] = 1.0
    tau[:, 0] = 0.5
    m = np.tile([1e-4, -2e-4, 1e-4], (count, 4, 1))
    return {"q": q, "v": v, "tau": tau, "deformation": m}


def test_each_library_gives_the_oracles_rates_and_steps() -> None:
    q, v, tau, m = on_the_ground().values()
    frictions, stiffness = np.repeat([[0.4], [0.5], [0.6]], 4, 1), np.full(3, 1e4)
    ground = wd.SoftGround(frictions, stiffness, 150.0)
    options: dict[str, Any] = {"points": CORNERS, "deformation": m, "ground": ground}
    rates = wd.oracle(wd.state_derivative, BOX, q, v, tau, **options)
    ends = wd.oracle(wd.step, BOX, q, v, tau, **{**ROLLED, **options})
    for library in LIBRARIES:
        try:
            usable(library)
        except pytest.skip.Exception:
            continue
        arrays, strained = [make_array(library, x) for x in (q, v, tau)], make_array(library, m)
        ground = wd.SoftGround(
            make_array(library, frictions), make_array(library, stiffness), 150.0
        )
        options = {"points": CORNERS, "deformation": strained, "ground": ground}
        got = wd.state_derivative(BOX, *arrays, **options)
        assert type(got) is wd.results.StateDerivative
        assert all(np.allclose(host(x), y, atol=1e-9) for x, y in zip(got, rates, strict=True))
        end = wd.step(BOX, *arrays, **{**ROLLED, **options})
        assert end.deformation is end.impulses
        assert all(np.allclose(host(x), y, atol=1e-9) for x, y in zip(end, ends, strict=True))


def test_explicit_steps_work_in_place() -> None:
    """`out=` may be the arrays of the state, the deformation included, also in float32."""
    given = on_the_ground()
    wanted = wd.oracle(
        *(wd.step, BOX, given["q"], given["v"], given["tau"]),
        **{**ROLLED, "deformation": given["deformation"], "ground": wd.SoftGround(0.5, 1e4, 150.0)},
    )
    q, v, tau, m = (x.astype(np.float32) for x in given.values())
    forces, torques = np.full((3, 4, 3), np.nan, np.float32), np.empty((3, 0), np.float32)
    wd.step(
        *(BOX, q, v, tau),
        **{**ROLLED, "deformation": m, "ground": wd.SoftGround(0.5, 1e4, 150.0)},
        out=(q, v, m, forces, torques),
    )
    for x, y, atol in zip((q, v, m), wanted, (1e-5, 1e-3, 1e-5), strict=False):
        assert np.allclose(x, y, atol=atol)


@pytest.mark.parametrize("integrator", ["semi_implicit", "heun", "rk4"])
def test_gradients_of_soft_roll_outs_equal_finite_differences(integrator: Any) -> None:
    """Products through 10 steps on boxes that stick, slide and fly.

    By the state, the force, the deformation, friction, stiffness and damping.
    """
    given = on_the_ground()
    varied = given | {
        "friction": np.full((3, 4), 0.5),
        "stiffness": np.full((3, 1), 1e4),
        "damping": np.full((3, 1), 150.0),
    }
    rng = np.random.default_rng(1)
    u = {name: rng.normal(size=x.shape) * np.abs(x).max() for name, x in varied.items()}
    u["q"][:, 3:] -= np.sum(u["q"][:, 3:] * given["q"][:, 3:], 1, keepdims=True) * given["q"][:, 3:]

    def arguments_at(x: dict[str, np.ndarray]) -> tuple[tuple, dict[str, Any]]:
        ground = wd.SoftGround(x["friction"], x["stiffness"][:, 0], x["damping"][:, 0])
        options = ROLLED | {"integrator": integrator}
        return (BOX, x["q"], x["v"], x["tau"]), {
            **options,
            **{"deformation": x["deformation"], "ground": ground},
        }

    def result(x: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        positional, options = arguments_at(x)
        return wd.oracle(wd.step, *positional, **options)

    now = result(varied)
    slip = np.hypot(now[3][..., 0], now[3][..., 1]) - 0.5 * now[3][..., 2]
    assert (slip[0] < -1e-3).all() and np.allclose(slip[1], 0, atol=1e-3) and not now[3][2].any()
    w = tuple(rng.normal(size=x.shape) for x in now)
    positional, options = arguments_at(varied)
    bars = wd.oracle(wd.vjp, wd.step, *positional, **options, cotangents=w, wrt=tuple(varied))
    h = 1e-7
    ahead, behind = (result({n: x + s * h * u[n] for n, x in varied.items()}) for s in (1, -1))
    for env in range(3):
        by_bars = sum((bar[env] * u[n][env]).sum() for n, bar in zip(varied, bars, strict=True))
        moved = sum(
            ((y[env] - x[env]) * c[env]).sum() for x, y, c in zip(behind, ahead, w, strict=True)
        )
        assert by_bars == pytest.approx(moved / (2 * h), rel=1e-4, abs=1e-3)


def test_a_simulation_on_soft_ground_equals_repeated_steps() -> None:
    """A reset clears the deformation of its environments."""
    given = on_the_ground()
    options: dict[str, Any] = {"points": CORNERS, "ground": wd.SoftGround(0.5, 1e4, 150.0)}
    sim = wd.Simulation(
        *(BOX, 3),
        **{**options, "dt": 2e-3, "substeps": 5, "integrator": "heun", "dtype": "float64"},
    )
    q, v, m = given["q"], given["v"], np.zeros((3, 4, 3))
    sim.q[:], sim.v[:] = q, v
    for _ in range(3):
        sim.step()
        q, v, m, *_ = wd.oracle(
            *(wd.step, BOX, q, v, 0 * v),
            **{**options, "deformation": m, "dt": 2e-3, "substeps": 5, "integrator": "heun"},
        )
    assert np.allclose(sim.q, q, atol=1e-12) and np.allclose(sim.impulses, m, atol=1e-12)
    assert m[:2].any() and np.isfinite(sim.forces).all() and sim.forces[0].any()
    sim.reset([1])
    assert not sim.impulses[1].any() and np.allclose(sim.impulses[0], m[0], atol=1e-12)


QUADRUPED = wd.load_robot("quadruped")
FOOT = [wd.ContactPoint("FL_foot", (0, 0, 0), 0.02)]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"integrator": "rk4", "points": FOOT}, ValueError, "contacts of wd.Ground are implicit"),
        ({"integrator": "heun", "stops": "springs"}, ValueError, "stops= needs an implicit step"),
        (
            {"integrator": "rk4", "speed_guard": True},
            ValueError,
            "speed_guard= needs an implicit step",
        ),
        ({"integrator": "euler"}, ValueError, "integrator must be one of semi_implicit, heun, rk4"),
        (
            {"points": FOOT, "deformation": np.zeros((2, 1, 3))},
            ValueError,
            "deformation= is for a wd.SoftGround",
        ),
        (
            {"points": FOOT, "ground": wd.SoftGround(), "impulses": np.zeros((2, 1, 3))},
            ValueError,
            "impulses= is for wd.Ground",
        ),
        (
            {"ground": wd.SoftGround(), "deformation": np.zeros((2, 0, 3))},
            ValueError,
            "deformation= needs points=, and there are none",
        ),
        ({"points": FOOT, "ground": wd.SoftGround(stiffness=-1)}, ValueError, "stiffness must be"),
        ({"points": FOOT, "ground": wd.SoftGround(damping=0)}, ValueError, "damping must be above"),
        ({"points": FOOT, "ground": wd.SoftGround(friction=-1)}, ValueError, "friction must be at"),
        ({"points": FOOT, "ground": wd.SoftGround(p=5)}, ValueError, "SoftGround's p must be"),
        (
            {"points": FOOT, "ground": wd.SoftGround(q=np.ones(2))},
            ValueError,
            "SoftGround's q must be",
        ),
    ],
)
def test_invalid_options_are_refused(options: Any, error: Any, text: str) -> None:
    """The message names the option and the remedy."""
    arrays = (np.zeros((2, n)) for n in (19, 18, 18))
    with pytest.raises(error, match=text):
        wd.step(QUADRUPED, *arrays, **options)


def test_rates_need_soft_ground() -> None:
    arrays = [np.zeros((2, n)) for n in (19, 18, 18)]
    with pytest.raises(TypeError, match=r"with points= ground must be wd.SoftGround"):
        wd.state_derivative(QUADRUPED, *arrays, points=FOOT)


def test_an_explicit_step_has_no_stops_and_no_guard_by_default() -> None:
    """It equals a step with both off."""
    q, v, tau = (np.zeros((1, n)) for n in (19, 18, 18))
    q[0, 6] = 1.0
    scene = dict(wd.step.describe(QUADRUPED, q, v, tau, integrator="heun").options)["scene"]
    assert not scene.guarded and not scene.stops and not scene.speed_limits
    scene = dict(wd.step.describe(QUADRUPED, q, v, tau).options)["scene"]
    assert scene.guarded and scene.stops and scene.speed_limits


def test_rates_include_closed_loops() -> None:
    """They equal `wd.loops.dynamics` with the torques of drives."""
    model = four_bar()
    q = wd.loops.close(model, np.array([[1.0, -0.9, 1.0]]))
    v, tau = np.zeros((1, 3)), np.array([[0.5, 0.0, 0.0]])
    rates = wd.state_derivative(
        model, q, v, tau, control=wd.PD(np.array([2.0, 0, 0]), 0.0), targets=q + 0.1
    )
    truth = wd.loops.dynamics(model, q, v, tau + np.array([[0.2, 0, 0]])).acceleration
    np.testing.assert_allclose(rates.v, truth, rtol=1e-9)
