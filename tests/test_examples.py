"""The examples run unchanged, the longer ones in a small size. The notebook prints the output that
is stored in it."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

SMALL = {
    "grasp_and_lift": "--seconds 0.1 --plot plot.png",
    "hand_holds_a_ball": "--seconds 0.1 --plot plot.png",
    "identify_payload": "--samples 200",
    "jax_rollout": "--iterations 2",
    "mppi": "--samples 64 --seconds 0.2 --plot plot.png",
    "operational_space_control": "--seconds 0.1 --plot plot.png",
    "optimise_trajectory": "--iterations 2 --plot plot.png",
    "push_to_a_goal": "--seconds 0.1 --plot plot.png",
    "stack": "--seconds 0.1 --plot plot.png",
    "stand_on_terrain": "--plot plot.png",
    "train_cartpole_torch": "--envs 16 --iterations 1",
}
"""Arguments of those that take some."""


def run(example: Path, arguments: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [str(example), *arguments.split()])
    runpy.run_path(str(example), run_name="__main__")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_something(
    example: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It runs in an empty folder and begins with a docstring. With --plot it writes a picture."""
    assert example.read_text().startswith('"""')
    arguments = SMALL.get(example.stem, "")
    run(example, arguments, monkeypatch, tmp_path)
    assert capsys.readouterr().out.strip()
    assert (tmp_path / "plot.png").exists() == ("--plot" in arguments)


def test_every_example_is_listed() -> None:
    """docs/README.md links to each example. Its pictures are smaller than 100 kB."""
    page = (FOLDER.parent / "docs/README.md").read_text()
    assert not [x.name for x in (*EXAMPLES, *NOTEBOOKS) if f"(../examples/{x.name})" not in page]
    pictures = (
        "grasp_and_lift",
        "mppi",
        "operational_space_control",
        "optimise_trajectory",
        "scene_four_bar",
        "scene_grasp",
        "scene_hand",
        "scene_push",
        "scene_stack",
        "stand_on_terrain",
    )
    for picture in pictures:
        assert (FOLDER.parent / f"docs/pictures/{picture}.png").stat().st_size < 100_000


def test_sampled_rollouts_lower_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaning pole falls without control. The best of 256 samples costs less than half of
    that."""
    monkeypatch.syspath_prepend(FOLDER)
    import mppi
    import numpy as np

    import warpdyn as wd

    rollouts = mppi.Rollouts(wd.load_robot("cartpole"), 256)
    draws = np.random.default_rng(0).normal(0, mppi.NOISE, (mppi.HORIZON, 256)).astype(np.float32)
    draws[:, 0] = 0.0
    cost = rollouts.cost(np.array([0.0, 0.2]), np.zeros(2), draws)
    assert np.isfinite(cost).all() and cost.min() < 0.5 * cost[0]


def test_the_hand_follows_the_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand is within a millimetre of its reference after half a second."""
    monkeypatch.syspath_prepend(FOLDER)
    import numpy as np
    import operational_space_control as example

    asked, reached = example.follow(0.6)
    assert np.linalg.norm(asked - reached, axis=1)[500:].max() < 1e-3


def test_adam_lowers_the_cost_of_the_trajectory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps lower the best cost, and the mean cost over all starts."""
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(FOLDER)
    import optimise_trajectory as example

    torch.manual_seed(0)
    history = example.optimise(4)[2]
    assert history[-1].min() < history[0].min() and history[-1].mean() < history[0].mean()


def test_cubes_reach_their_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each arm pushes its cube to within 5 mm of its goal, and the cube lies flat on the table."""
    monkeypatch.syspath_prepend(FOLDER)
    import push_to_a_goal as example

    _, configurations, distances = example.simulate(4.0)
    assert distances[0].min() > 0.1 and distances[-1].max() < 0.005
    assert abs(configurations[-1, :, -5] - example.SIDE / 2).max() < 1e-3


def test_only_fast_balls_knock_the_pyramid_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pyramid is at rest for a second. Slow balls leave it standing; the fast ones knock it
    over."""
    monkeypatch.syspath_prepend(FOLDER)
    import stack as example

    _, _, speeds, fallen = example.simulate(1.0)
    assert speeds[50:100].max() < 1e-4 and not fallen[:100].any()
    assert not fallen[-1, :2].any() and fallen[-1, -1] >= 4


def test_strong_fingers_hold_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """The palm turns from up to down. Fingers of 0.02 N·m drop the ball; those of 0.1 N·m and more
    hold it within a millimetre."""
    monkeypatch.syspath_prepend(FOLDER)
    import hand_holds_a_ball as example
    import numpy as np

    _, configurations, places, _ = example.simulate(3.5)
    assert np.allclose(configurations[-1, :, 0], np.pi, atol=0.05)
    moved = np.linalg.norm(places[-1] - places[99], axis=1)
    assert moved[0] > 0.1 and moved[2:].max() < 1e-3


def test_gauss_newton_brings_the_push_to_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps differentiate the scan. The best of 64 pushes ends within a centimetre of the
    target."""
    jax = pytest.importorskip("jax")
    monkeypatch.syspath_prepend(FOLDER)
    import jax_rollout as example

    push = jax.random.uniform(jax.random.key(0), (64, 2), minval=-6.0, maxval=6.0)
    for _ in range(6):
        push, distance = example.improve(push)
    assert distance.min() < 0.01


def test_only_masked_environments_are_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state, age and masses of the other environments do not change."""
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(FOLDER)
    import train_cartpole_torch as example

    torch.manual_seed(0)
    poles = example.CartPoles(8)
    poles.step(torch.zeros(8))
    before = [x.clone() for x in (poles.q, poles.v, poles.age, poles.params["mass"])]
    done = torch.arange(8) < 3
    poles.reset(done)
    for x, y in zip(before, (poles.q, poles.v, poles.age, poles.params["mass"]), strict=True):
        assert torch.equal(x[~done], y[~done]) and (x[done] != y[done]).all()


def cells(notebook: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook.read_text())["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_its_stored_output(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells run in order, in one namespace, as plain Python."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(notebook), 1):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile("".join(cell["source"]), f"{notebook.name}[{number}]", "exec"), scope)
        recorded = "".join(
            line
            for output in cell["outputs"]
            if output["name"] == "stdout"
            for line in output["text"]
        )
        assert said.getvalue() == recorded, f"cell {number}"
        assert cell["execution_count"] == number
