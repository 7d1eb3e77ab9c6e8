"""Random MJCF texts, which warpdyn simulates as MuJoCo does."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("mujoco")

import warpdyn as wd
from benchmarks.fuzzing.simulated_mjcf import SimulatedText, compare, simulations

TEXTS = 20


def test_random_texts_are_simulated_as_by_mujoco() -> None:
    """No text differs in positions or velocities after a few steps. The option for compiling is kept."""
    before = wd.config.compile
    outcomes = list(islice(simulations(2026), TEXTS))
    different = [outcome for outcome in outcomes if outcome.kind == "different"]
    assert not different, different[0].reason + "\n" + different[0].reproduction
    assert sum(outcome.kind == "equal" for outcome in outcomes) > 0.8 * TEXTS
    assert wd.config.compile == before


def test_a_difference_of_velocities_is_found(tmp_path: Path) -> None:
    """The file that warpdyn reads has another damping than the text, and the quantity is named."""
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
    <body pos="0 0 2"><joint name="j" axis="1 0 0"/><geom size="0.1" pos="0 0.2 0"/></body></worldbody></mujoco>"""
    path = tmp_path / "robot.xml"
    path.write_text(text)
    assert compare(text, path, np.random.default_rng(0)) == ("equal", "", "")
    path.write_text(text.replace('name="j"', 'name="j" damping="2"'))
    assert compare(text, path, np.random.default_rng(0)) == (
        "different",
        "velocities after step 1",
        text,
    )


def test_random_texts_touch_the_floor_and_meet_limits() -> None:
    """Texts have contact attributes, limits with softness, and both methods of MuJoCo."""
    texts = "".join(SimulatedText(Random(str(n))).text() for n in range(200))
    for word in ("solimplimit", 'integrator="RK4"', 'cone="elliptic"', 'condim="1"', "solmix"):
        assert word in texts
    assert texts.count('name="floor"') == 200
