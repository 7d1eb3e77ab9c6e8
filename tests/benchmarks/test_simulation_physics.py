"""The scenes that are compared with other simulators: the block and the ball, in warpdyn and
MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

STEP = 0.005
LABELS = ("warpdyn, 5 ms", "MuJoCo C, 5 ms")


def test_a_block_and_a_ball_agree_with_theory_and_mujoco() -> None:
    """Positions are within v h / 2 of a slide and g h / 2 of a fall, forces are the weight, and
    slip speed is Coulomb's. MuJoCo is compared where theory predicts the same for both."""
    from benchmarks.simulation_physics import SETTINGS, results
    from benchmarks.simulation_scenes import SPEED, rows

    table = [row for row in rows() if row.scene != "quadruped"]
    columns = results([s for s in SETTINGS if s.label in LABELS], table)
    ours, theirs = (
        {(row.scene, row.what): x for row, x in zip(table, columns[label], strict=True)}
        for label in LABELS
    )
    exact = {(row.scene, row.what): row.exact for row in table}
    soft = "depth on a spring of k"
    assert ours["rest", soft] == pytest.approx(exact["rest", soft], rel=1e-3)
    assert ours["dropped ball", soft] == pytest.approx(exact["dropped ball", soft], rel=1e-6)
    for of_both in (ours, theirs):
        assert of_both["rest", "force / weight"] == pytest.approx(1, abs=1e-6)
        slid = exact["slide", "distance after 1 s"] - of_both["slide", "distance after 1 s"]
        assert slid == pytest.approx(SPEED * STEP / 2, rel=0.02)
        assert 0 <= of_both["slope of 20 degrees", "creep speed"] < 1e-4
        assert of_both["dropped ball", "rebound"] == 0
        ran = of_both["rolling ball", "distance after 1 s"]
        assert ran == pytest.approx(exact["rolling ball", "distance after 1 s"], abs=2e-3)
    slope = "slope of 30 degrees"
    assert ours[slope, "speed after 1 s"] == pytest.approx(
        exact[slope, "speed after 1 s"], rel=4e-4
    )
    late = exact[slope, "speed after 1 s"] * STEP / 2
    assert ours[slope, "distance after 1 s"] == pytest.approx(
        exact[slope, "distance after 1 s"] + late, abs=4e-4
    )
    assert ours[slope, "largest lift"] == 0
    assert ours["rolling ball", "speed after 1 s"] == pytest.approx(5 / 7 * SPEED, rel=1e-9)
    assert np.isfinite([*ours.values(), *theirs.values()]).all()


def test_the_table_has_numbers_and_reasons_for_blanks() -> None:
    """Numbers have the row's digits, creep is in powers of ten, and a dash means that a simulator
    gave up."""
    from benchmarks.simulation_physics import blanks, markdown
    from benchmarks.simulation_scenes import rows

    table = [row for row in rows() if row.scene in ("rest", "slope of 20 degrees")]
    columns = {
        "warpdyn, 5 ms": [0.04904, 1.0, 2.6e-6],
        "Drake `tamsi`, 5 ms": [0.04905, 1.0, "it gave up"],
    }
    lines = markdown(columns, table, STEP)
    assert lines[0] == "| 5 ms | exact | warpdyn | Drake `tamsi` |"
    assert lines[2] == "| rest: depth on a spring of k [mm] | 0.04905 | 0.04904 | 0.04905 |"
    assert lines[-1] == "| slope of 20 degrees: creep speed [m/s] | 0 | 2.6e-06 | - |"
    assert blanks(columns, table) == [("Drake `tamsi`, 5 ms, slope of 20 degrees", "it gave up")]


def test_a_missing_simulator_is_named() -> None:
    from benchmarks.simulation_physics import found

    there, missing = found(["in_mujoco", "in_nowhere"])
    assert [peer.key for peer in there] == ["in_mujoco"] and missing == ["in_nowhere"]
