"""The eight example kernels compute correct results, and their page shows their code."""

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
    """Run an example to its end and return its variables. It must print something."""
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
def test_an_example_differs_little_from_its_reference(
    name: str, near: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """The difference is the largest one from the same computation by NumPy, or from the theory."""
    assert run(name, capsys)["difference"] < near


def test_only_ended_episodes_draw_new_targets(capsys: pytest.CaptureFixture[str]) -> None:
    """New targets are inside their box. The other environments keep their targets."""
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


def test_the_arm_reaches_its_target_and_stops_at_its_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = run("arm_step", capsys)
    assert found["away"] < 1e-3 and found["beyond"] == 0.0


def test_the_gradient_vanishes_at_the_riccati_gains(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("lqr", capsys)
    assert found["at_best"] < 1e-6 < 1e-2 < found["elsewhere"]


def test_joint_offsets_are_estimated_to_the_noise_level(capsys: pytest.CaptureFixture[str]) -> None:
    """The noise is a millimetre and a milliradian, divided by the square root of the number of
    samples."""
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
def test_the_page_shows_the_code_of_each_example(example: Path) -> None:
    """Each file, without its docstring and its future import, is a block of
    docs/kernel_examples.md."""
    text = example.read_text().split("from __future__ import annotations\n", 1)[1].strip()
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert text in [block.strip() for block in blocks]


def test_there_are_eight_examples() -> None:
    assert len(EXAMPLES) == 8
