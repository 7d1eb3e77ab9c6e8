"""Numbers of the ground: one for all, one for each environment, or one for each point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.functions.simulation.ground import LARGEST_EXPONENT, exponents_of, ground_arrays

MODEL = wd.load_robot("quadruped")


def test_a_number_applies_to_all_points_and_weight_sets_the_stiffness() -> None:
    arrays = ground_arrays(MODEL, wd.Ground(friction=0.5), 4, np.zeros((3, MODEL.nq)))
    assert arrays["friction"] == ((0.5,) * 4, (4,))
    stiffness, shape = arrays["stiffness"]
    assert shape == (1,) and stiffness[0] * 0.005 == pytest.approx(9.81 * MODEL.total_mass)


def test_an_array_with_one_number_per_environment_becomes_a_column() -> None:
    each = np.array([1e4, 2e4, 3e4])
    arrays = ground_arrays(MODEL, wd.Ground(stiffness=each), 4, np.zeros((3, MODEL.nq)))
    assert np.shape(arrays["stiffness"][0]) == (3, 1)
    each[1] = 5e4
    assert arrays["stiffness"][0][1, 0] == 5e4  # a view, so that later writes take effect


@pytest.mark.parametrize(
    ("ground", "error"),
    [
        (wd.Ground(friction=-0.1), "friction must be at least 0"),
        (wd.Ground(friction=(0.5, -0.1, 0.5, 0.5)), "friction must be at least 0"),
        (wd.Ground(stiffness=0.0), "stiffness must be above 0"),
        (wd.Ground(dissipation=-1.0), "dissipation must be at least 0"),
        (wd.Ground(push_out=0), "push_out must be above 0"),
        (wd.Ground(restitution=-0.1), "restitution must be at least 0, got -0.1"),
        (wd.Ground(restitution=1.1), "restitution must be at most 1, got 1.1"),
        (wd.Ground(restitution=(0.0, 0.5, 2.0, 0.0)), "restitution must be at most 1"),
        (wd.Ground(restitution=np.float32([0, 0.5, 2, 0])), r"at most 1, got 2 at \[2\]"),
        (wd.Ground(friction=np.inf), "friction must be finite, got inf"),
        (wd.Ground(friction=np.array([1, 1, np.inf, 1])), r"friction must be finite.* at \[2\]"),
        (wd.SoftGround(friction=np.inf), "friction must be finite, got inf"),
        (wd.SoftGround(stiffness=np.inf), "stiffness must be finite, got inf"),
        (wd.SoftGround(damping=np.full(3, np.inf)), r"damping must be finite, got inf at \[0\]"),
    ],
)
def test_invalid_numbers_of_a_ground_are_refused(
    ground: wd.Ground | wd.SoftGround, error: str
) -> None:
    with pytest.raises(ValueError, match=error):
        ground_arrays(MODEL, ground, 4, np.zeros((3, MODEL.nq)))


def test_restitution_is_per_point_and_zero_adds_no_input() -> None:
    q = np.zeros((3, MODEL.nq))
    assert "restitution" not in ground_arrays(MODEL, wd.Ground(restitution=0), 4, q)
    assert ground_arrays(MODEL, wd.Ground(restitution=0.3), 4, q)["restitution"] == (
        (0.3,) * 4,
        (4,),
    )
    most = (1.0, 0.0, 1.0, 0.5)
    assert ground_arrays(MODEL, wd.Ground(restitution=most), 4, q)["restitution"] == (most, (4,))
    each = np.zeros((3, 4))
    assert ground_arrays(MODEL, wd.Ground(restitution=each), 4, q)["restitution"] == (each, (4,))


def test_exponents_must_be_from_zero_to_the_largest() -> None:
    assert exponents_of(wd.SoftGround(p=0.0, q=LARGEST_EXPONENT)) == (0.0, LARGEST_EXPONENT)
    for wrong in (np.nextafter(LARGEST_EXPONENT, np.inf), -1e-9, np.nan):
        with pytest.raises(ValueError, match="SoftGround's q must be a number from 0 to 4"):
            exponents_of(wd.SoftGround(q=wrong))


BALL = wd.load_urdf(
    """<robot name="ball"><link name="b"><inertial><mass value="1"/><inertia ixx="0.004" ixy="0"
    ixz="0" iyy="0.004" iyz="0" izz="0.004"/></inertial></link></robot>""",
    floating_base=True,
)
RADIUS, G = 0.1, 9.81


@pytest.mark.parametrize("dt", [0.005, 0.0025])
def test_a_dropped_ball_rebounds_to_the_squared_restitution_of_its_height(dt: float) -> None:
    """A drop from height h rebounds to e² h, to first order in the step.

    The energy, with velocities half a step ahead as in the integrator, never rises. A zero in an
    array gives the same bits as a plain zero.
    """
    e, heights = np.array([0.0, 0.5, 0.8, 1.0]), np.linspace(0.9, 1.1, 21)
    restitution, drop = (x.ravel() for x in np.meshgrid(e, heights))
    q = np.tile(BALL.neutral, (len(drop), 1))
    q[:, 2] = RADIUS + drop
    v, impulses = np.zeros((len(drop), 6)), np.zeros((len(drop), 1, 3))
    plain = {"q": q.copy(), "v": v.copy(), "impulses": impulses.copy()}
    ground = {"friction": 0.5, "stiffness": 1e6, "dissipation": 0.01}
    of_each = wd.Ground(**ground, restitution=restitution[:, None].copy())
    out = (q, v, impulses, np.zeros_like(impulses), np.zeros((len(drop), 0)))
    points = [wd.ContactPoint("b", (0, 0, 0), RADIUS)]
    options: dict[str, Any] = {"points": points, "dt": dt}
    run = wd.bind(wd.step, BALL, q, v, 0 * v, impulses=impulses, ground=of_each, out=out, **options)
    top, landed, before = np.zeros(len(drop)), np.zeros(len(drop), bool), np.full(len(drop), np.inf)
    for _ in range(round(0.95 / dt)):
        energy = 0.5 * v[:, 2] ** 2 + G * (q[:, 2] - RADIUS) - 0.5 * G * dt * v[:, 2]
        assert (energy <= before * (1 + 1e-12))[restitution > 0].all()
        before = np.where(np.isfinite(before), np.minimum(before, energy), energy)
        landed |= impulses[:, 0, 2] > 0
        top = np.maximum(top, np.where(landed, q[:, 2] - RADIUS, 0.0))
        run()
    ratio = (top / drop).reshape(len(heights), len(e))
    assert np.abs(ratio[:, 0]).max() < 1e-3 and np.abs(ratio[:, 3] - 1).max() < 1e-2
    off = np.abs(ratio[:, 1:3] - e[1:3] ** 2)
    assert (off.max(0) < np.array([4.0, 2.0]) * dt).all()
    still = restitution == 0
    for _ in range(round(0.95 / dt) + 1):
        given = (BALL, plain["q"], plain["v"], 0 * plain["v"])
        end = wd.step(*given, impulses=plain["impulses"], ground=wd.Ground(**ground), **options)
        plain = {"q": end.q, "v": end.v, "impulses": end.impulses}
    assert np.array_equal(plain["q"][still], q[still])


def test_documented_numbers() -> None:
    check_numbers(
        "functions.simulation.ground",
        FULL_DEPTH=0.005,
        LARGEST_EXPONENT=4.0,
        FRICTION=0.8,
        SOFT_FRICTION=0.5,
        DISSIPATION=0.02,
    )
