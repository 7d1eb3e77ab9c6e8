"""Public observers: shapes, plain numbers, state in place, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_shapes
from states import states

import warpdyn as wd

MODEL = wd.load_robot("double_pendulum")
S = states(MODEL, 3)
STATE = (S.a, S.v, S.tau)


def test_observers_return_their_documented_shapes() -> None:
    """Three arrays of nv, and a wrench of six."""
    nv = (MODEL.nv,)
    check_shapes(wd.momentum_observer, MODEL, S.q, S.v, S.tau, *STATE, shapes=[nv, nv, nv], dt=1e-3)
    frame = MODEL.link_names[-1]
    check_shapes(wd.external_wrench, MODEL, S.q, S.tau, shapes=(6,), frame=frame)


def test_times_and_gains_can_be_numbers_or_arrays() -> None:
    """One number for all environments or one each. The gain is 50 per second by default."""
    each = {"dt": np.full(3, 1e-3), "gain": np.full(3, 50.0)}
    one = wd.momentum_observer(MODEL, S.q, S.v, S.tau, *STATE, dt=1e-3)
    for x, y in zip(one, wd.momentum_observer(MODEL, S.q, S.v, S.tau, *STATE, **each), strict=True):
        np.testing.assert_array_equal(x, y)


def test_the_momentum_observer_updates_in_place_and_restarts_at_dt_zero() -> None:
    """It is bound to its own state.

    An environment with dt = 0 restarts, and others do not change.
    """
    p, rate, external = (x.copy() for x in STATE)
    dt, gain = np.array([1e-3, 0.0, 1e-3]), np.full(3, 50.0)
    state = {"momentum": p, "rate": rate, "external": external}
    wanted = wd.oracle(wd.momentum_observer, MODEL, S.q, S.v, S.tau, *STATE, dt=dt, gain=gain)
    run = wd.bind(
        wd.momentum_observer,
        MODEL,
        q=S.q,
        v=S.v,
        tau=S.tau,
        **state,
        dt=dt,
        gain=gain,
        out=(p, rate, external),
    )
    for x, y in zip((p, rate, external), STATE, strict=True):
        x[:] = y  # binding has launched once
    run()
    for x, y in zip((p, rate, external), wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-9)
    assert not external[1].any() and external[[0, 2]].any()


def test_a_time_that_is_no_number_gives_no_number() -> None:
    """A NaN in `dt` sets the result of its own environment to NaN.

    Other environments do not change.
    """
    dt = np.array([1e-3, 1e-3, 1e-3])
    run = wd.bind(wd.momentum_observer, MODEL, S.q, S.v, S.tau, *STATE, dt=dt)
    before = [x.copy() for x in run()]
    dt[1] = np.nan  # what is bound is not checked again
    after = run()
    assert np.isnan(after[2][1]).all()
    for x, y in zip(before, after, strict=True):
        np.testing.assert_array_equal(x[[0, 2]], y[[0, 2]])


def test_invalid_times_gains_and_links_are_refused() -> None:
    """Negative times, a damping of zero, and unknown links."""
    for dt in (-1.0, np.array([0.1, -1.0, 0.1])):
        with pytest.raises(ValueError, match="dt must be"):
            wd.momentum_observer(MODEL, S.q, S.v, S.tau, *STATE, dt=dt)
    for damping in (0.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="damping must be above 0 and finite"):
            wd.external_wrench(MODEL, S.q, S.tau, frame=MODEL.link_names[-1], damping=damping)
    with pytest.raises(KeyError):
        wd.external_wrench(MODEL, S.q, S.tau, frame="nothing")
