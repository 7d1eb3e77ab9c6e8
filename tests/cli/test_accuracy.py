"""Error measures: relative to the largest entry of a row, and the residual of accelerations."""

from __future__ import annotations

import numpy as np
import pytest
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.cli.accuracy import (
    LIMITS,
    SAMPLE,
    difference_from,
    error_of,
    relative_error,
    residual,
    residual_by,
)
from warpdyn.cli.workload import ARGUMENTS, Workload, furthest_link, random_states

MODEL = wd.load_robot("double_pendulum")


class Oracle:
    """A peer whose results are those of the float64 oracle, for one state."""

    name = "oracle"
    links = MODEL.link_names

    def fk(self, q):
        return wd.oracle(wd.fk, MODEL, q[None])[0]

    def jacobian(self, q, frame):
        return wd.oracle(wd.jacobian, MODEL, q[None], frame=frame)[0]

    def crba(self, q):
        return wd.oracle(wd.crba, MODEL, q[None])[0]

    def rnea(self, q, v, a):
        return wd.oracle(wd.rnea, MODEL, q[None], v[None], a[None])[0]


def test_the_relative_error_has_no_unit():
    """relative_error(s x, s y) = relative_error(x, y): rows are compared by their largest entries."""
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(2, 5, 3))
    scale = 10.0 ** np.arange(-2, 3)[:, None]
    assert relative_error(scale * x, scale * y) == pytest.approx(relative_error(x, y), rel=1e-12)
    assert relative_error(y, y) == 0.0


def test_nan_is_infinitely_wrong():
    """Any NaN makes the error larger than every limit. An empty array has no error."""
    wrong = np.array([[1.0, 2.0], [np.nan, 1.0]])
    assert relative_error(wrong, np.ones((2, 2))) == float("inf")
    assert relative_error(np.zeros((2, 0)), np.zeros((2, 0))) == 0.0
    one = np.ones((1, 1))
    assert residual(one[None], one, np.array([[np.nan]]), one) == float("inf")
    assert residual(np.zeros((1, 0, 0)), *[np.zeros((1, 0))] * 3) == 0.0


def test_the_residual_of_the_solution_is_rounding():
    """M a + h = tau holds to the last digit for a = M⁻¹ (tau - h), however ill-conditioned M is."""
    draw = np.random.default_rng(1)
    Q = np.linalg.qr(draw.normal(size=(4, 3, 3)))[0]
    M = Q @ np.diag([1.0, 1e-4, 1e-8]) @ Q.transpose(0, 2, 1)
    h, tau = draw.normal(size=(2, 4, 3))
    a = np.linalg.solve(M, (tau - h)[..., None])[..., 0]
    assert residual(M, h, a, tau) < 1e-15
    assert residual(M, h, a + 1.0, tau) > 1e-9


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("algorithm", ARGUMENTS)
def test_results_agree_with_the_oracle_and_with_a_peer_based_on_it(algorithm, dtype):
    """The error from the oracle and the difference from the peer are within the limit."""
    states, frame = random_states(MODEL, SAMPLE), furthest_link(MODEL)
    work = Workload.of(MODEL, algorithm, states, frame=frame, dtype=dtype)
    work.out[...] = np.nan
    work.call()
    assert error_of(work) <= LIMITS[dtype]
    assert difference_from(Oracle(), work, frame) <= LIMITS[dtype]
    work.out[0] *= 1.01
    assert error_of(work) > LIMITS[dtype] < difference_from(Oracle(), work, frame)


def test_accelerations_are_judged_by_the_peers_mass_matrix():
    """residual_by is the residual with the peer's M = crba(q) and h = rnea(q, v, 0)."""
    states = random_states(MODEL, 4)
    q, v, tau = states["q"], states["v"], states["tau"]
    a = wd.aba(MODEL, q, v, tau)
    assert residual_by(Oracle(), (q, v, tau), a) < 1e-14
    assert residual_by(Oracle(), (q, v, tau), a + 1.0) > 1e-3


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/cli")["accuracy"] == {
        "SAMPLE": 32,
    }
