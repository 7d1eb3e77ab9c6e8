"""Random states within bounds, and valid states."""

from __future__ import annotations

import numpy as np
import pytest
from hashed_numbers import uniform

import warpdyn as wd
from warpdyn.functions.states import ModelState, random_state

MODEL = wd.load_robot("quadruped")


def test_random_states_fill_their_bounds() -> None:
    """Each joint has its own, and so have the two velocities of the base."""
    wide = np.linspace(1, 3, MODEL.nv - 6)
    state = random_state(
        MODEL,
        2000,
        linear=((-1, 2, 0), (1, 5, 0)),
        angular=(-0.5, 0.25),
        joints=(-wide, 2 * wide),
        box=((0, 0, 1), (1, 2, 3)),
    )
    lower = np.array([-1, 2, 0, -0.5, -0.5, -0.5, *-wide])
    upper = np.array([1, 5, 0, 0.25, 0.25, 0.25, *(2 * wide)])
    assert state.q.shape == (2000, MODEL.nq) and state.v.shape == (2000, MODEL.nv)
    assert (state.v >= lower).all() and (state.v <= upper).all()
    filled = (np.asarray(state.v).max(axis=0) - np.asarray(state.v).min(axis=0)) / (
        upper - lower + 1e-300
    )
    assert (filled[[0, 1, *range(3, MODEL.nv)]] > 0.98).all()
    assert (state.q[:, :3] >= (0, 0, 1)).all() and (state.q[:, :3] <= (1, 2, 3)).all()


def test_random_states_have_the_configurations_of_random_configuration() -> None:
    """Equal seeds give equal states. v does not repeat the numbers of q."""
    state, again = (random_state(MODEL, 500, seed=3) for _ in range(2))
    assert np.array_equal(state.q, wd.random_configuration(MODEL, 500, seed=3))
    assert np.array_equal(state.v, again.v)
    both = np.hstack([state.q[:, :3], state.v])
    correlation = np.corrcoef(both.T) - np.eye(both.shape[1])
    assert abs(correlation).max() < 0.25  # five standard deviations of what chance gives
    assert not np.array_equal(state.v, random_state(MODEL, 500, seed=4).v)
    like = random_state(MODEL, 2, like=np.zeros(1, np.float32))
    assert like.q.dtype == like.v.dtype == np.float32


def test_a_state_is_valid_if_check_state_accepts_it() -> None:
    """Shapes, finite numbers, quaternions of unit length."""
    state = random_state(MODEL, 4)
    assert state.valid(MODEL)
    assert not state.valid(wd.load_robot("panda"))
    q = np.array(state.q)
    q[2, 3:7] *= 1.1
    assert not ModelState(q, state.v).valid(MODEL)
    assert not ModelState(state.q, np.full(MODEL.nv, np.nan)).valid(MODEL)
    assert ModelState(MODEL.neutral, np.zeros(MODEL.nv)).valid(MODEL)


@pytest.mark.parametrize("bounds", [(1, -1), (0, np.inf), (0,), (np.zeros(2), 1.0), 3.0])
def test_invalid_bounds_are_refused(bounds: object) -> None:
    """Not finite, not in order, or of the wrong number."""
    with pytest.raises(
        ValueError, match=r"joints must be \(least, greatest\), each a number or 12"
    ):
        random_state(MODEL, 1, joints=bounds)  # type: ignore[arg-type]


def test_random_velocities_use_a_derived_seed() -> None:
    """The numbers are the same in every version.

    They are hashes of the seed plus 0x5DEECE66D and the index. The default range is -1 to 1.
    """
    seed, state = 7 + 0x5DEECE66D, random_state(MODEL, 2, seed=7)
    wanted = [[2 * uniform(seed, 3 * (e * 18 + k)) - 1 for k in range(18)] for e in range(2)]
    np.testing.assert_allclose(state.v, wanted, rtol=0, atol=1e-15)
    least = random_state(MODEL, 2, seed=7, joints=(0.5, 0.5), linear=(0, 0), angular=(0, 0)).v
    np.testing.assert_array_equal(least, [[0.0] * 6 + [0.5] * 12] * 2)
