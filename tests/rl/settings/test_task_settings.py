"""Settings of a task and its recipe: what they change, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.settings.task_settings import make_with_settings, recipe_from_file, settings_of


class Leaning(rl.Task):
    """A task whose constructor computes numbers, and one whose vary it sets itself."""

    scales = {"up": 1.0}  # noqa: RUF012
    numbers = {"reach": np.array([1.0, 2.0])}  # noqa: RUF012
    actions, width = 1, 0.5

    def __init__(self, model: wd.Model | None = None):
        self.model = wd.load_robot("cartpole")
        self.area = self.width**2
        self.vary = {"kp": rl.Vary(0.9, 1.1, how="scale")}
        self.drives = wd.PD(20.0, 1.0)


NAME = f"{__name__}:Leaning"


def made(*words: str, name: str = NAME) -> Any:
    return make_with_settings(name, words)


def test_each_kind_of_setting() -> None:
    """Numbers, arrays, entries, records; the class's own values stay."""
    task = made(
        *("scales.up=2", "numbers.reach=3,4", "dt=0.002", "push=0.5,3", "drives.kp=30"),
        *("vary.mass=0.8,1.2,how=scale,of=pole", "vary.kp.high=1.5", "noise.observation=0.1"),
        *("recipe.envs=64", "recipe.layers=32,16", "recipe.practice.seconds=2"),
    )
    assert task.scales == {"up": 2.0} and task.dt == 0.002 and task.push == rl.Push(0.5, 3.0)
    np.testing.assert_array_equal(task.numbers["reach"], [3.0, 4.0])
    assert task.vary["mass"] == rl.Vary(0.8, 1.2, how="scale", of="pole")
    assert task.vary["kp"] == rl.Vary(0.9, 1.5, how="scale")
    assert task.noise == {"observation": rl.Noise(0.1)} and task.drives == wd.PD(30, 1.0)
    recipe = task.recipe
    assert (recipe.envs, recipe.layers, recipe.practice) == (64, (32, 16), {"seconds": 2.0})
    assert task.name == "Leaning" and Leaning.scales == {"up": 1.0} and Leaning().dt == 0.005


def test_the_constructor_sees_a_setting() -> None:
    """Numbers that it computes follow; what it sets itself is changed after it."""
    assert made("width=2.0").area == 4.0
    assert made("vary=none").vary == {} and made("vary.kp=none").vary == {}
    quadruped = made("stride=4.2", name="quadruped_velocity")
    assert quadruped.period == pytest.approx(2 * rl.make("quadruped_velocity").period)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("scales.upp=1", r"has no setting 'scales.upp'; did you mean 'scales.up'\?"),
        ("vary.mas=1,2", r"did you mean 'vary.mass'\?"),
        ("vary.coulomb.high=2", r"has no setting 'vary.coulomb.high'"),
        ("vary.gravity=none", r"has no setting 'vary.gravity'"),
        ("recipe.layer=3", r"recipe has no 'layer'; did you mean 'layers'\?"),
        ("recipe.envs=1.5", "recipe.envs must be a whole number, got 1.5"),
        ("numbers.reach=1", "numbers.reach must be 2 numbers separated by commas, got 1"),
        ("scales=1", "scales has entries: scales.up; name one of them"),
        ("drives.kpp=1", r"drives has no 'kpp'; did you mean 'kp'\?"),
        ("area=1", "has no setting 'area'"),
        ("model=panda", "model cannot be changed by text: write a class of your own"),
        ("dt", "settings are NAME=VALUE, such as scales.turn=1.0; got 'dt'"),
    ],
)
def test_mistakes_name_the_nearest_setting(word: str, said: str) -> None:
    with pytest.raises(rl.TaskError, match=said):
        made(word)


def test_settings_are_listed_with_their_values() -> None:
    found = settings_of(made("width=2"))
    assert found["width"] == 2.0 and found["scales.up"] == 1.0 and found["recipe.epochs"] == 5
    assert found["push"] is None and "model" not in found and "area" not in found
    # Each of them can be named.
    for name in ("width", "scales.up", "recipe.epochs", "ground.friction", "sweeps"):
        made(f"{name}={found[name] if found[name] is not None else 0.5}")


def test_a_recipe_of_a_file(tmp_path: Path) -> None:
    """Below the settings; names and types are checked."""
    file = tmp_path / "recipe.json"
    file.write_text('{"envs": 32, "layers": [8, 4], "practice": {"seconds": 1.0}}')
    recipe = make_with_settings(NAME, ["recipe.envs=16"], recipe=file).recipe
    assert (recipe.envs, recipe.layers, recipe.practice) == (16, (8, 4), {"seconds": 1.0})
    if sys.version_info >= (3, 11):
        toml = tmp_path / "recipe.toml"
        toml.write_text("envs = 32\nlearning_rate = 2e-3\n")
        assert recipe_from_file(toml, recipe).learning_rate == 2e-3
    for text, said in (
        ('{"env": 3}', r"recipe has no 'env'; did you mean 'envs'\?"),
        ('{"envs": "many"}', "recipe.envs must be a whole number, got 'many'"),
        ("[1]", "holds a list, not names"),
        ("{", "is no recipe: "),
    ):
        file.write_text(text)
        with pytest.raises(rl.TaskError, match=said):
            recipe_from_file(file, recipe)
    with pytest.raises(rl.TaskError, match="is no recipe: "):
        recipe_from_file(tmp_path / "none.toml", recipe)


def test_a_task_with_settings_keeps_its_policy() -> None:
    task = make_with_settings("cartpole_swing_up", ["seconds=2.0"])
    assert rl.shipped(task) == rl.shipped("cartpole_swing_up")
