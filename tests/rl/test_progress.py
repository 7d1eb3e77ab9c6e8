"""The results of an iteration, as checkpoints store them."""

from __future__ import annotations

import json

import pytest

rl = pytest.importorskip("warpdyn.rl")

from warpdyn.rl.progress import Progress


def test_progress_of_an_earlier_version_is_read() -> None:
    """Entries that were added later have defaults. All of them are plain values."""
    earlier = (1, 384, 2.0, 1.0, 0.5, {"near": 0.5}, 0.2, 0.0, 900.0, 0.3, 1.0)
    progress = Progress(*earlier)
    assert (progress.nonfinite_actions, progress.teacher_distance) == (0, 0.0)
    assert Progress(**json.loads(json.dumps(progress._asdict()))) == progress
    assert rl.Progress is Progress
