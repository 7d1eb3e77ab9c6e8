"""Invalid steps are refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS
from states import states
from stepped_models import (
    BOX,
    BOX_OPTIONS,
    DT,
    FEET,
    QUADRUPED,
)

import warpdyn as wd


@pytest.mark.parametrize("dt", [0, 0.0, -0.001, 0.11, math.nan, "fast", None])
def test_an_invalid_length_of_a_step_is_refused(dt: Any) -> None:
    with pytest.raises(ValueError, match=r"dt must be a number of seconds in \(0, 0.1\]"):
        wd.step(BOX, *(np.zeros((1, n)) for n in (7, 6, 6)), dt=dt)


def test_a_step_is_at_most_a_tenth_of_a_second_long() -> None:
    zeros = [np.zeros((1, n)) for n in (7, 6, 6)]
    wd.step.describe(BOX, *zeros, dt=0.1)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="dt must be a number of seconds"):
        wd.step.describe(BOX, *zeros, dt=np.nextafter(0.1, 1.0))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"ground": wd.Ground(friction=-0.1)}, ValueError, "friction must be at least 0, got -0.1"),
        (
            {"ground": wd.Ground(friction=[0.5, -1, 0, 0])},
            ValueError,
            "friction must be at least 0",
        ),
        (
            {"ground": wd.Ground(friction=math.nan)},
            ValueError,
            "friction must be at least 0, got nan",
        ),
        ({"ground": wd.Ground(stiffness=0)}, ValueError, "stiffness must be above 0, got 0"),
        ({"ground": wd.Ground(stiffness=-1.0)}, ValueError, "stiffness must be above 0, got -1"),
        ({"ground": wd.Ground(dissipation=-1.0)}, ValueError, "dissipation must be at least 0"),
        ({"ground": wd.Ground(push_out=0.0)}, ValueError, "push_out must be above 0"),
        (
            {"ground": 0.8},
            TypeError,
            r"ground must be wd.Ground\(friction=...\) or wd.SoftGround.*, got float",
        ),
        ({"sweeps": 0}, ValueError, "sweeps must be a whole number of at least 1, got 0"),
        ({"substeps": 1.5}, ValueError, "substeps must be a whole number of at least 1, got 1.5"),
        ({"points": [("FL_fot", (0, 0, 0), 0.02)]}, KeyError, "did you mean.*FL_foot"),
        ({"points": [("FL_foot", (0, 0), 0.02)]}, ValueError, r"a centre \(x, y, z\)"),
        ({"points": [("FL_foot", (0, 0, 0), -0.02)]}, ValueError, "a radius of 0 or more"),
        ({"points": (), "impulses": np.zeros((2, 0, 3))}, ValueError, "there are none"),
        ({"impulses": np.zeros((2, 12))}, ValueError, r"impulses must be .*\(2, 4, 3\)"),
        ({"control": wd.PD(1.0, 1.0)}, ValueError, "control= needs targets="),
        ({"targets": np.zeros((2, 12))}, ValueError, r"targets= needs drives: control=wd.PD"),
        ({"control": 40.0, "targets": np.zeros((2, 12))}, TypeError, "must be wd.PD"),
        (
            {"control": [wd.PD(1.0, 1.0), wd.PD(2.0, 1.0)], "targets": np.zeros((2, 12))},
            TypeError,
            "control must be one wd.PD.*got a (tuple|list)",
        ),
        (
            {"ground": wd.Ground(np.array([[0.5] * 4, [0.5, 0.5, -0.1, 0.5]]))},
            ValueError,
            r"friction must be at least 0, got -0.1 at \[1, 2\]",
        ),
        (
            {"ground": wd.Ground(stiffness=np.array([1e4, 0.0]))},
            ValueError,
            r"stiffness must be above 0, got 0 at \[1\]",
        ),
        (
            {"ground": wd.Ground(dissipation=np.array([np.nan, 0.0]))},
            ValueError,
            r"dissipation must be at least 0, got nan at \[0\]",
        ),
        (
            {"control": wd.PD(np.ones(12), -np.ones((2, 12))), "targets": np.zeros((2, 12))},
            ValueError,
            r"kd must be at least 0, got -1 at \[0, 0\]",
        ),
        (
            {"control": wd.PD(1.0, 1.0), "targets": np.zeros((2, 11))},
            ValueError,
            r"targets must be \(B, 12\) = \(2, 12\), got \(2, 11\)",
        ),
        (
            {"control": wd.PD(-1.0, 1.0), "targets": np.zeros((2, 12))},
            ValueError,
            "kp must be at least 0",
        ),
        (
            {"control": wd.PD(np.ones(3), 1.0), "targets": np.zeros((2, 12))},
            ValueError,
            "kp must be",
        ),
    ],
)
def test_invalid_options_are_refused(options: Any, error: Any, text: str) -> None:
    """The message names the option. Nothing is computed before it."""
    arrays = (np.zeros((2, n)) for n in (19, 18, 18))
    with pytest.raises(error, match=text):
        wd.step(QUADRUPED, *arrays, **{"points": FEET, "dt": DT, **options})


def test_debug_mode_refuses_negative_numbers_in_arrays() -> None:
    """Each library and bound calls are checked.

    The message names the environment. Infinite effort limits are accepted.
    """
    torch = pytest.importorskip("torch")
    q, v, tau = (torch.zeros((2, n), dtype=torch.float64) for n in (7, 6, 6))
    q[:, 2], q[:, 6] = 1.0, 1.0
    friction = torch.full((2, 4), 0.5, dtype=torch.float64)
    friction[1, 3] = -0.25
    options = BOX_OPTIONS | {"ground": wd.Ground(friction)}
    pendulum = MODELS["pendulum"]
    s = states(pendulum, 2)
    drives: dict[str, Any] = {"control": wd.PD(1.0, 1.0), "targets": s.q}
    wd.config.debug = True
    try:
        with pytest.raises(
            ValueError, match=r"friction in environment 1: entry 3 must be at least 0, got -0.25"
        ):
            wd.step(BOX, q, v, tau, **options)
        assert np.isinf(pendulum.effort_limit).all()
        assert np.isfinite(wd.step(pendulum, s.q, s.v, 0 * s.v, **drives).q).all()
        with pytest.raises(ValueError, match=r"targets in environment 0: .* is nan"):
            wd.step(pendulum, s.q, s.v, 0 * s.v, **drives | {"targets": np.nan * s.q})
    finally:
        wd.config.debug = False


def test_fixed_points_and_drives_of_ball_joints_are_refused() -> None:
    arm = wd.load_robot("panda")
    arrays = (np.zeros((1, n)) for n in (arm.nq, arm.nv, arm.nv))
    with pytest.raises(ValueError, match="fixed in the world"):
        wd.step(arm, *arrays, points=[(arm.root, (0, 0, 0), 0.1)])
    arrays = (np.zeros((1, n)) for n in (MODELS["socket"].nq, 4, 4))
    with pytest.raises(ValueError, match='the ball joint "hip" of socket has none'):
        wd.step(MODELS["socket"], *arrays, control=wd.PD(1.0, 1.0), targets=np.zeros((1, 4)))


def scene_of(model: wd.Model, **options: Any) -> Any:
    arrays = (np.zeros((1, n)) for n in (model.nq, model.nv, model.nv))
    return dict(wd.step.describe(model, *arrays, **options).options)["scene"]


def test_the_scene_of_a_step_follows_its_options() -> None:
    """Speed limits with the guard, stops as springs or rows, steps and sweeps."""
    arm = wd.load_robot("panda")
    on, off = (scene_of(arm, speed_guard=guard) for guard in (True, False))
    assert (on.guarded, off.guarded) == (True, False) and off.speed_limits == ()
    assert [k for k, _ in on.speed_limits] == [*range(arm.nv)]
    assert [x for _, x in on.speed_limits] == arm.velocity_limit.tolist()
    for stops in ("springs", "rows", "none"):
        scene = scene_of(arm, stops=stops)
        assert bool(scene.stops) is (stops == "springs")
        assert bool(scene.bounds) is bool(scene.joint_rows) is (stops == "rows")
    scene = scene_of(arm, dt=0.003, substeps=5, sweeps=7, integrator="semi_implicit")
    assert (scene.dt, scene.substeps, scene.sweeps) == (0.003, 5, 7)
    assert scene_of(arm, integrator="rk4").integrator == "rk4"


def test_arguments_without_effect_are_refused() -> None:
    """The numbers of contacts without pairs, and a terrain that is none where no point touches it."""
    model = wd.load_robot("double_pendulum")
    zeros = np.zeros((3, 1, 2))
    contact = wd.description.PairContact(friction=0.1)
    with pytest.raises(ValueError, match="pair_contact= needs pairs="):
        wd.step(model, *zeros, pair_contact=contact)
    with pytest.raises(TypeError, match=r"terrain must be wd\.HeightMap.*got str"):
        wd.step(model, *zeros, terrain="rough")  # type: ignore[arg-type]
    wd.step(model, *zeros, pair_contact=wd.description.PairContact(), terrain=wd.Plane())


def test_arguments_of_a_simulation_that_are_no_arrays_are_refused() -> None:
    """A start by joint names, and pairs that are a flag."""
    model = wd.load_robot("double_pendulum")
    with pytest.raises(TypeError, match=r"start must be an array of numbers, \(2,\) or one row"):
        wd.Simulation(model, 2, start={"elbow": 0.5})
    with pytest.raises(
        TypeError, match=r"pairs must be those of wd.ContactPairs\(model\), got True"
    ):
        wd.Simulation(model, 2, pairs=True)  # type: ignore[arg-type]
