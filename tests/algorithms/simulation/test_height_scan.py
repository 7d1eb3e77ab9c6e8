"""Heights of a frame above the ground."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.height_scan import height_scan
from warpdyn.execution.request.evaluate import tree_of

MODEL = wd.load_robot("quadruped")
PATTERN = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))


def scan(roll: float, pitch: float, yaw: float, **arrays) -> list[float]:
    """Heights scanned from (2, 3, 0.5), with the base rotated by fixed-axis angles."""
    q = MODEL.neutral.copy()
    c, s = np.cos(np.array([roll, pitch, yaw]) / 2), np.sin(np.array([roll, pitch, yaw]) / 2)
    q[:7] = [
        *(2.0, 3.0, 0.5),
        s[0] * c[1] * c[2] - c[0] * s[1] * s[2],
        c[0] * s[1] * c[2] + s[0] * c[1] * s[2],
        c[0] * c[1] * s[2] - s[0] * s[1] * c[2],
        c[0] * c[1] * c[2] + s[0] * s[1] * s[2],
    ]
    return height_scan(
        *(tree_of(MODEL), q.tolist(), PATTERN, *arrays.values()),
        frame=MODEL.link_names[0],
        arrays=tuple(arrays),
    )


@pytest.mark.parametrize("yaw", [0.0, 0.5, -2.0])
@pytest.mark.parametrize("tilt", [0.0, 0.4])
def test_the_pattern_turns_with_the_yaw_only(yaw: float, tilt: float) -> None:
    """The ground is the plane z = a x + b y. Roll and pitch change nothing."""
    a, b = 0.3, -0.1
    found = scan(tilt, -tilt, yaw, slope=(a, b), level=(0.0,))
    below = 0.5 - (2 * a + 3 * b)
    c, s = math.cos(yaw), math.sin(yaw)
    wanted = [below, below - (a * c + b * s), below - (b * c - a * s)]
    assert found == pytest.approx(wanted, abs=1e-6)


def test_on_level_ground_the_scan_is_the_height_of_the_frame() -> None:
    assert scan(0.1, 0.2, 0.3) == pytest.approx([0.5] * 3)
