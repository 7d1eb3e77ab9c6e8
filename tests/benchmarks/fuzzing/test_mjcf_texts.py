"""Random MJCF texts: what they hold, and that warpdyn reads them as MuJoCo does."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("mujoco")

from benchmarks.fuzzing.mjcf_texts import RandomText, cases, compare

TEXTS = 60


def test_random_texts_are_read_as_mujoco_reads_them() -> None:
    """None of these texts differs in poses, masses, bias, passive or actuator forces."""
    outcomes = list(islice(cases(2026), TEXTS))
    different = [outcome for outcome in outcomes if outcome.kind == "different"]
    assert not different, different[0].reason + "\n" + different[0].reproduction
    assert sum(outcome.kind == "equal" for outcome in outcomes) > 0.8 * TEXTS


def test_a_seed_gives_the_same_texts() -> None:
    """So a text that differs can be drawn again."""
    assert RandomText(Random("3-4")).text() == RandomText(Random("3-4")).text()


def test_texts_hold_every_kind_of_thing() -> None:
    """Each element and rule is drawn within a few hundred texts."""
    texts = "".join(RandomText(Random(f"{n}")).text() for n in range(300))
    for word in (
        *("<frame", "childclass", "xyaxes", "zaxis", "fullinertia", "fromto", "<freejoint", "ball"),
        *("inertiafromgeom", "boundmass", "balanceinertia", "springref", "gravcomp", "<fixed"),
        *("<intvelocity", "<damper", "<cylinder", "inheritrange", "actuatorfrcrange", "<equality"),
        "<key",
    ):
        assert word in texts, word


def test_a_difference_is_found(tmp_path: Path) -> None:
    """Where the file that warpdyn reads is another robot than the text, the quantity is named."""
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
