"""Random MJCF texts, which warpdyn reads as MuJoCo does."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from benchmarks.fuzzing.mjcf_texts import cases, compare

TEXTS = 60


def test_random_texts_are_read_as_mujoco_reads_them() -> None:
    """No text differs in poses, masses, bias, passive or actuator forces."""
    outcomes = list(islice(cases(2026), TEXTS))
    different = [outcome for outcome in outcomes if outcome.kind == "different"]
    assert not different, different[0].reason + "\n" + different[0].reproduction
    assert sum(outcome.kind == "equal" for outcome in outcomes) > 0.8 * TEXTS


def test_a_difference_is_found(tmp_path: Path) -> None:
    """The file that warpdyn reads differs from the text, and the quantity is named."""
    text = '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>'
    path = tmp_path / "robot.xml"
    path.write_text(text)
    springy = text.replace('name="j"', 'name="j" stiffness="2"')
    assert compare(text, path, np.random.default_rng(0)) == ("equal", "", "")
    assert compare(springy, path, np.random.default_rng(0)) == (
        "different",
        "passive force",
        springy,
    )
    assert compare("<mujoco><wrong/></mujoco>", path, np.random.default_rng(0)) is None
