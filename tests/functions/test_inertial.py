"""Inertial parameters: conversions, consistency, models with other parameters, Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import inertial

ROUND_OFF = 1e-12
"""Relative to the largest entry."""

THETA = arrays(float, (10,), elements=st.floats(-3, 3))


def random_parameters(*shape: int, seed: int = 0) -> np.ndarray:
    """Parameters of consistent bodies."""
    return inertial.from_log_cholesky(np.random.default_rng(seed).normal(size=(*shape, 10)))


@given(THETA)
def test_log_cholesky_parameters_are_always_consistent(theta: np.ndarray) -> None:
    """Any ten numbers make a body and are recovered from it."""
    parameters = inertial.from_log_cholesky(theta)
    assert inertial.physically_consistent(parameters) and inertial.triangle_inequality(parameters)
    condition = np.linalg.cond(inertial.to_pseudo_inertia(parameters))
    assert error(inertial.to_log_cholesky(parameters), theta, np.ones(1)) <= 1e-15 * max(
        condition, 1e3
    )


def test_log_cholesky_parameters_of_a_known_body() -> None:
    """theta = 0 is one kilogram with unit second moments about its centre. α scales the mass, and t
    is the centre.
    """
    assert np.allclose(inertial.from_log_cholesky(np.zeros(10)), [1, 0, 0, 0, 2, 0, 2, 0, 0, 2])
    theta = np.array([0.5 * np.log(3.0), 0, 0, 0, 0, 0, 0, 0.1, -0.2, 0.3])
    m, c, inertia = inertial.to_body(inertial.from_log_cholesky(theta))
    assert (
        np.allclose(m, 3)
        and np.allclose(c, [0.1, -0.2, 0.3])
        and np.allclose(inertia, 6 * np.eye(3))
    )


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)])
def test_every_form_is_converted_back(shape: tuple[int, ...]) -> None:
    """Any number of leading dimensions is allowed, including none."""
    parameters = random_parameters(*shape)
    assert parameters.shape == (*shape, 10)
    for found in (
        inertial.from_body(*inertial.to_body(parameters)),
        inertial.from_spatial_inertia(inertial.to_spatial_inertia(parameters)),
        inertial.from_pseudo_inertia(inertial.to_pseudo_inertia(parameters)),
        inertial.from_log_cholesky(inertial.to_log_cholesky(parameters)),
    ):
        assert error(found, parameters) <= ROUND_OFF
    assert inertial.physically_consistent(parameters).shape == shape
    assert inertial.triangle_inequality(parameters).shape == shape


def test_forms_of_point_masses_equal_sums_over_points() -> None:
    """Mass, moments, kinetic energy and pseudo-inertia of eight points."""
    draw = np.random.default_rng(1)
    x, m = draw.normal(size=(8, 3)), draw.uniform(0.1, 1, 8)
    second = sum(
        m_k * (x_k @ x_k * np.eye(3) - np.outer(x_k, x_k)) for m_k, x_k in zip(m, x, strict=True)
    )
    parameters = np.array([m.sum(), *(m @ x), *(second[i, j] for i, j in inertial.ENTRIES)])
    one = np.hstack([x, np.ones((8, 1))])
    assert error(inertial.to_pseudo_inertia(parameters), (one * m[:, None]).T @ one) <= ROUND_OFF
    v = draw.normal(size=6)
    energy = 0.5 * m @ np.sum((v[:3] + np.cross(v[3:], x)) ** 2, axis=1)
    assert error(0.5 * v @ inertial.to_spatial_inertia(parameters) @ v, energy) <= ROUND_OFF
    mass, com, about_com = inertial.to_body(parameters)
    assert error(com, m @ x / m.sum()) <= ROUND_OFF and error(mass, m.sum()) <= ROUND_OFF
    r = x - com
    wanted = sum(
        m_k * (r_k @ r_k * np.eye(3) - np.outer(r_k, r_k)) for m_k, r_k in zip(m, r, strict=True)
    )
    assert error(about_com, wanted) <= ROUND_OFF
    assert inertial.physically_consistent(parameters)


def test_impossible_bodies_are_not_consistent() -> None:
    """Moments beyond the triangle inequality, negative ones, no mass, and NaN.

    Rods and points are the limit.
    """

    def body(mass: float, *moments: float) -> np.ndarray:
        return inertial.from_body(mass, [0.1, 0.2, 0.3], np.diag(moments))

    cases = {
        "box": (body(1.0, 2.0, 2.5, 3.0), True, True),
        "too long": (body(1.0, 1.0, 1.0, 2.1), False, False),
        "negative": (body(1.0, -1.0, 2.0, 2.0), False, False),
        "plate": (body(1.0, 1.0, 2.0, 3.0 + 1e-13), False, True),
        "rod": (body(1.0, 0.0, 2.0, 2.0 + 1e-13), False, True),
        "point": (np.array([1.0, *[0.0] * 9]), False, True),
        "nothing": (np.zeros(10), False, True),
        "spin without mass": (body(0.0, 2.0, 2.5, 3.0), False, True),
        "not a number": (np.full(10, np.nan), False, False),
    }
    for name, (parameters, consistent, triangle) in cases.items():
        assert bool(inertial.physically_consistent(parameters)) is consistent, name
        assert bool(inertial.triangle_inequality(parameters)) is triangle, name
    stacked = np.stack([parameters for parameters, _, _ in cases.values()])
    assert inertial.physically_consistent(stacked).tolist() == [
        consistent for _, consistent, _ in cases.values()
    ]


def test_consistency_means_a_positive_definite_pseudo_inertia() -> None:
    """The eigenvalues are computed for vectors of which about half are physical bodies."""
    draw = np.random.default_rng(2)
    parameters = random_parameters(200) + 0.4 * draw.normal(size=(200, 10))
    wanted = np.linalg.eigvalsh(inertial.to_pseudo_inertia(parameters))[:, 0] > 0
    assert 20 < wanted.sum() < 180
    assert np.array_equal(inertial.physically_consistent(parameters), wanted)


def test_a_model_with_its_own_parameters_is_unchanged(robot: Robot) -> None:
    """Dynamics included."""
    model = robot.model
    parameters = inertial.inertial_parameters(model)
    assert parameters.shape == (model.nlinks, 10)
    again = inertial.with_inertial_parameters(model, parameters)
    assert error(inertial.inertial_parameters(again), parameters) <= ROUND_OFF
    assert again.total_mass == model.total_mass and again.link_names == model.link_names
    q = states(model, 1).q
    assert error(wd.oracle(wd.crba, again, q), wd.oracle(wd.crba, model, q)) <= 1e-11


def test_moments_are_about_the_links_origin() -> None:
    """Not about the centre of mass: J = J_c + m d² across the offset."""
    model = by_name("single").model
    arm = replace(
        model.links[1], mass=2.0, com=(0.5, 0.0, 0.0), inertia=((1, 0, 0), (0, 2, 0), (0, 0, 3))
    )
    moved = replace(model, links=(model.links[0], arm))
    assert inertial.inertial_parameters(moved)[1].tolist() == [
        2.0,
        1.0,
        0.0,
        0.0,
        1.0,
        0.0,
        2.5,
        0.0,
        0.0,
        3.5,
    ]


def test_invalid_parameters_are_refused() -> None:
    """Shapes, negative masses, moments without mass, asymmetric matrices, bodies without a
    log-Cholesky form.
    """
    model = by_name("cartpole").model
    good = inertial.inertial_parameters(model)
    with pytest.raises(
        ValueError, match=r"parameters must be \(nlinks, 10\) = \(4, 10\), got \(3, 10\)"
    ):
        inertial.with_inertial_parameters(model, good[:3])
    with pytest.raises(ValueError, match=r"parameters must be \(\.\.\., 10\), got \(9,\)"):
        inertial.to_body(np.zeros(9))
    for k, value in ((0, -1.0), (0, np.nan), (1, np.inf)):
        bad = good.copy()
        bad[1, k] = value
        with pytest.raises(
            wd.ModelError, match=f'link "{model.link_names[1]}" of {model.name} needs a finite mass'
        ):
            inertial.with_inertial_parameters(model, bad)
    bad = good.copy()
    bad[1, :4] = 0, 1, 0, 0
    with pytest.raises(wd.ModelError, match="no first moment without mass"):
        inertial.with_inertial_parameters(model, bad)
    with pytest.raises(ValueError, match="inertia must be symmetric"):
        inertial.from_body(1.0, np.zeros(3), [[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match=r"those at \[1\] are not"):
        inertial.to_log_cholesky(np.stack([random_parameters(), np.zeros(10)]))


@pytest.mark.parametrize(("share", "accepted"), [(0.9, True), (1.2, False)])
def test_rounding_is_a_billionth(share: float, accepted: bool) -> None:
    """The tolerance is 1e-9 of the largest entry or moment.

    It holds for the asymmetry of a matrix and for the triangle inequality of moments, just below
    and just above it.
    """
    off = share * 1e-9
    matrix = np.diag([1.0, 2.0, 4.0])
    matrix[1, 2] = 4.0 * off
    if accepted:
        inertial.from_body(1.0, np.zeros(3), matrix)
    else:
        with pytest.raises(ValueError, match="inertia must be symmetric"):
            inertial.from_body(1.0, np.zeros(3), matrix)
    for moments in ((1.0, 3.0, 4.0 * (1.0 + off)), (-4.0 * off, 4.0, 4.0)):
        body = inertial.from_body(1.0, np.zeros(3), np.diag(moments))
        assert inertial.triangle_inequality(body) == accepted


def test_forms_equal_pinocchios() -> None:
    """Its dynamic parameters, pseudo-inertia and log-Cholesky parameters of the same bodies."""
    pin = pytest.importorskip("pinocchio")
    for theta in np.random.default_rng(3).normal(size=(20, 10)):
        parameters = inertial.from_log_cholesky(theta)
        theirs = pin.LogCholeskyParameters(theta)
        assert error(parameters, theirs.toDynamicParameters()) <= ROUND_OFF
        assert (
            error(inertial.to_pseudo_inertia(parameters), theirs.toPseudoInertia().toMatrix())
            <= ROUND_OFF
        )
        m, c, inertia = inertial.to_body(parameters)
        body = pin.Inertia(float(m), c, inertia)
        assert error(parameters, body.toDynamicParameters()) <= ROUND_OFF
        assert error(inertial.to_spatial_inertia(parameters), body.matrix()) <= ROUND_OFF
