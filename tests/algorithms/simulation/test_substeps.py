"""A launch on plain numbers: consecutive steps, and means over them."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_steps import STEPS

import warpdyn as wd
from warpdyn.algorithms.simulation.pair_slots.pair_memory import PairMemory

MODEL = wd.load_robot("double_pendulum")


def test_torques_are_averaged_over_the_substeps() -> None:
    """The result is the mean torque of single steps, each from the end of the last one."""
    q, v = np.array([0.3, -0.2]), np.zeros(2)
    drive = {"control": wd.PD(20.0, 1.0), "targets": np.array([1.0, 0.5]), "dt": 0.01}
    tau = np.array([0.1, 0.2])
    together = wd.results.Step(*wd.oracle(wd.step, MODEL, q, v, tau, substeps=3, **drive))
    each = []
    for _ in range(3):
        end = wd.results.Step(*wd.oracle(wd.step, MODEL, q, v, tau, **drive))
        q, v = end.q, end.v
        each.append(end.torques)
    assert together.torques == pytest.approx(np.mean(each, axis=0), rel=1e-12)
    assert together.q == pytest.approx(q, rel=1e-12)


def test_a_step_without_a_guard_does_not_clear_the_memory_of_contacts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only a `Simulation` starts again after a state that is not finite."""
    sizes = list[object]()
    monkeypatch.setattr(PairMemory, "clear_if_infinite", lambda memory, size: sizes.append(size))
    STEPS["pile"]()
    assert not sizes
