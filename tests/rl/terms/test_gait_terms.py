"""Clocks of a gait."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
from warpdyn.rl import terms


def test_a_phase_runs_from_0_to_1_in_its_period() -> None:
    phase, seen = 0.0, []
    for _ in range(25):
        phase = terms.advance_phase(phase, 0.02, 0.4)
        seen.append(phase)
    assert seen[9] == pytest.approx(0.5) and seen[24] == pytest.approx(0.25)
    assert max(seen) <= 1.0 and min(seen) >= 0.0


def test_the_clock_is_zero_for_a_standing_robot() -> None:
    assert terms.clock(0.25) == pytest.approx([1.0, 0.0])
    still = terms.is_moving(np.zeros(3))
    assert terms.clock(0.25, still).tolist() == [0.0, 0.0]
    assert terms.is_moving(np.array([0.0, 0.1, 0.0])) == 1.0


def test_a_trot_lifts_diagonal_feet_in_turn() -> None:
    trot = (0.0, 0.5, 0.5, 0.0)
    assert terms.swing_shares(0.25, trot) == pytest.approx([1.0, 0.0, 0.0, 1.0])
    assert terms.swing_shares(0.75, trot) == pytest.approx([0.0, 1.0, 1.0, 0.0])
    swing = terms.swing_shares(0.25, trot)
    assert terms.gait_match(np.array([0.0, 1.0, 1.0, 0.0]), swing) == 1.0
    assert terms.gait_match(np.array([1.0, 1.0, 1.0, 0.0]), swing) == 0.75
    assert terms.gait_match(np.array([1.0, 0.0, 0.0, 1.0]), swing) == 0.0
    at_least = np.array([0.25, 0.26])  # a foot that is lifted by the least share stands
    assert terms.gait_match(np.array([1.0, 0.0]), at_least, 0.25) == 1.0
