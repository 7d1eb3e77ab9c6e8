"""Moving pictures of a policy during its training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from module_numbers import module_numbers

rl = pytest.importorskip("warpdyn.rl")
from PIL import Image
from rl_cases import Hold

from warpdyn.cli.learning.training_video import PresentPolicy, TrainingVideo


def test_pictures_are_written_and_do_not_change_the_training(tmp_path: Path) -> None:
    """Every second iteration is drawn, with both robots. The rewards are those without pictures."""
    plain = [x.reward for x in rl.Trainer(Hold()).run(iterations=3)]
    trainer = rl.Trainer(Hold())
    trainer.loggers.append(TrainingVideo(trainer, tmp_path, 2))
    assert [x.reward for x in trainer.run(iterations=3)] == plain
    (path,) = tmp_path.glob("*.gif")
    assert path.name == "video-000002.gif" and Image.open(path).n_frames > 3


def test_the_drawn_policy_is_the_trainers() -> None:
    trainer = rl.Trainer(Hold())
    seen = np.ones((2, 6), np.float32)
    policy = PresentPolicy(trainer)
    policy.check(trainer.task, 6)
    first = policy(seen)
    assert first.shape == (2, 2) and np.allclose(first[0], first[1])


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.training_video"] == {
        "ROBOTS": 2,
        "SECONDS": 5.0,
    }
