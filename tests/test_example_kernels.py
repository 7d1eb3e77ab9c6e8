"""The eight example kernels compute what they say, and stand on their page as they are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples/kernels").glob("*.py"))
PAGE = ROOT / "docs/kernel_examples.md"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """An example's variables, once it has run to its end and said something."""
    found = runpy.run_path(str(ROOT / f"examples/kernels/{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()
    return found


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("impedance", 1e-11),
        ("operational_space", 1e-9),
        ("reaching", 1e-12),
        ("arm_step", 1e-12),
        ("lqr", 1e-6),
        ("momentum_observer", 1e-3),
    ],
)
def test_what_it_prints_is_small(
    name: str, near: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """The largest difference from the same by NumPy, or from what the theory says."""
    assert run(name, capsys)["difference"] < near


def test_targets_are_drawn_where_episodes_end(capsys: pytest.CaptureFixture[str]) -> None:
    """Inside their box, and the others stay."""
    found = run("reaching", capsys)
    now, old = found["now"], found["target"]
    assert now.done.any() and not now.done.all()
    assert np.array_equal(now.target[~now.done], old[~now.done])
    drawn = now.target[now.done]
    assert (drawn >= [0.3, -0.4, 0.2]).all() and (drawn < [0.6, 0.4, 0.7]).all()
    assert len(np.unique(drawn)) == drawn.size
    assert np.array_equal(now.episode, now.done.astype(float)) and not now.age[now.done].any()
    for x, y in zip(now, found["few"], strict=True):
        assert np.array_equal(x[:3], y)


def test_the_arm_arrives_and_stops_at_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("arm_step", capsys)
    assert found["away"] < 1e-3 and found["beyond"] == 0.0


def test_the_slope_vanishes_at_riccatis_gains(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("lqr", capsys)
    assert found["at_best"] < 1e-6 < 1e-2 < found["beside"]


def test_offsets_are_found_to_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    """A millimetre and a milliradian of noise over the square root of the number of samples."""
    found = run("calibration", capsys)
    assert found["error"] < 5e-4 < 1e-2 < np.abs(found["true"]).max()
    assert np.sqrt(np.mean(found["r"] ** 2)) == pytest.approx(found["NOISE"], rel=0.05)


def test_every_hand_reaches_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("least_squares_ik", capsys)
    model, solution = found["model"], found["found"]
    assert solution.success.mean() > 0.999 and found["error"] < 1e-4
    assert (solution.q >= model.position_lower).all() and (solution.q <= model.position_upper).all()
    assert solution.success.dtype == bool and solution.steps.dtype == np.int32
    by_warpdyn = wd.inverse_kinematics(
        model, {found["HAND"]: found["targets"]}, q0=found["start"], restarts=0
    )
    assert by_warpdyn.success.mean() > 0.999


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_page_shows_the_file(example: Path) -> None:
    """Each file but for its docstring and its future import is a block of docs/kernel_examples.md."""
    text = example.read_text().split("from __future__ import annotations\n", 1)[1].strip()
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert text in [block.strip() for block in blocks]


def test_there_are_eight() -> None:
    assert len(EXAMPLES) == 8
