"""Settings of a task and its recipe: what they change, and which are refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.settings.task_settings import (
    VARIABLE,
    make_with_settings,
    recipe_from_file,
    settings_of,
)


class Leaning(rl.Task):
    """A task whose constructor computes an attribute and assigns `vary`."""

    scales = {"up": 1.0}  # noqa: RUF012
    numbers = {"reach": np.array([1.0, 2.0])}  # noqa: RUF012
    actions, width = 1, 0.5

    def __init__(self, model: wd.Model | None = None):
        self.model = wd.load_robot("cartpole")
        self.area = self.width**2
        self.vary = {"kp": rl.Vary(0.9, 1.1, how="scale")}
        self.drives = wd.PD(20.0, 1.0)


NAME = f"{__name__}:Leaning"


class Doubling(rl.Task):
    """A task whose constructor changes one number of its class and replaces another."""

    actions, width, height = 1, 0.5, 1.0

    def __init__(self) -> None:
        self.model = wd.load_robot("cartpole")
        self.width, self.height = 2.0 * self.width, 3.0


def make_task(*words: str, name: str = NAME) -> Any:
    return make_with_settings(name, words)


def test_each_kind_of_setting_is_applied() -> None:
    """Numbers, arrays, entries and records are. The class's own values do not change."""
    task = make_task(
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


def test_settings_are_applied_before_and_after_the_constructor() -> None:
    """Numbers that the constructor computes follow them.

    Attributes that it assigns are changed after it.
    """
    assert make_task("width=2.0").area == 4.0
    assert make_task("vary=none").vary == {} and make_task("vary.kp=none").vary == {}
    # Only a number that the constructor replaces is set after it.
    task = make_task("width=2.0", "height=5.0", name=f"{__name__}:Doubling")
    assert (task.width, task.height) == (4.0, 5.0) and type(make_task()) is Leaning
    quadruped = make_task("stride=4.2", name="quadruped_velocity")
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
        ("model=panda", "model cannot be changed as text: write a subclass of the task"),
        ("dt", "settings are NAME=VALUE, such as scales.turn=1.0; got 'dt'"),
    ],
)
def test_unknown_settings_are_refused_with_the_nearest_name(word: str, said: str) -> None:
    with pytest.raises(rl.TaskError, match=said):
        make_task(word)


def test_settings_are_listed_with_their_values() -> None:
    found = settings_of(make_task("width=2"))
    assert found["width"] == 2.0 and found["scales.up"] == 1.0 and found["recipe.epochs"] == 5
    assert found["push"] is None and "model" not in found and "area" not in found
    # Each of them can be named.
    for name in ("width", "scales.up", "recipe.epochs", "ground.friction", "sweeps"):
        make_task(f"{name}={found[name] if found[name] is not None else 0.5}")


def test_a_recipe_file_is_read_below_the_settings(tmp_path: Path) -> None:
    """Settings override the file. Names and types are checked."""
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
        ('{"envs": 3, "envs": 4}', "is not a recipe: it has envs twice"),
        ('{"practice": 3}', "recipe.practice must be attributes of the task by name, got 3"),
        ("{", "is not a recipe: "),
    ):
        file.write_text(text)
        with pytest.raises(rl.TaskError, match=said):
            recipe_from_file(file, recipe)
    with pytest.raises(rl.TaskError, match="cannot be read: No such file or directory"):
        recipe_from_file(tmp_path / "none.toml", recipe)


def test_a_task_with_settings_keeps_its_policy() -> None:
    task = make_with_settings("cartpole_swing_up", ["seconds=2.0"])
    assert rl.bundled_policy(task) == rl.bundled_policy("cartpole_swing_up")


class Keeping(Leaning):
    """A task with kept numbers, a reward object, and an attribute without one shape."""

    keep = {"level": rl.Vary(0.0, 3.0), "count": 1.0}  # noqa: RUF012
    rewards = {"low": rl.Reward(0.5, lambda robot, s: 0.0)}  # noqa: RUF012
    ragged = ((1.0,), (1.0, 2.0))
    matrix = np.zeros((2, 2))
    push = rl.HeldPush(5.0)


KEEPING = f"{__name__}:Keeping"


def test_records_and_kept_numbers_are_set() -> None:
    """A record by its fields, a kept `Vary` by its ends, a reward by its weight, a push by values."""
    task = make_task(
        *("drives=30,2.5", "keep.level=0.5,1.5", "keep.count=4", "rewards.low=2", "push=7,0.1"),
        name=KEEPING,
    )
    assert task.drives == wd.PD(30.0, 2.5)
    assert task.keep == {"level": rl.Vary(0.5, 1.5), "count": 4.0}
    assert task.rewards["low"].weight == 2.0 and task.push == rl.HeldPush(7.0, 0.1)
    assert make_task("keep.level=2", name=KEEPING).keep["level"] == 2.0
    assert make_task("push=none", name=KEEPING).push is None
    assert make_task("noise.x=0.1", "noise.x=none").noise == {}
    assert make_task("recipe.practice.seconds=2", "recipe.practice=none").recipe.practice == {}


@pytest.mark.parametrize(
    "word",
    [
        *("_private=1", "begin=1", "ragged=1", "matrix=1", "dt.x=1", "recipe=1"),
        *("recipe.practice.secs=1", "numbers.none=1", "noise.x.size=1", "vary.nothing=1,2"),
        *("recipe.practice.begin=1", "recipe.practice.model=1", "recipe.practice.scales.up=1"),
        *("keep.x=1", "noise.x=none", "observe.x=1"),
    ],
)
def test_attributes_that_are_not_settings_are_refused(word: str) -> None:
    """The message has the task and the setting."""
    path = word.partition("=")[0]
    with pytest.raises(rl.TaskError, match=rf"^Keeping has no setting {path!r}; "):
        make_task(word, name=KEEPING)


def test_a_name_unlike_any_setting_is_refused_with_all_settings() -> None:
    """They are listed in the order of the classes."""
    with pytest.raises(rl.TaskError) as caught:
        make_task("qqqqqqqqqqqqqqqq=1")
    said = str(caught.value)
    assert said.startswith("Leaning has no setting 'qqqqqqqqqqqqqqqq'; there are ground.friction, ")
    listed = said.partition("there are ")[2].split(", ")
    assert listed[: len(listed) - len(VARIABLE)] == [*settings_of(Leaning())]
    assert listed[-len(VARIABLE) :] == [f"vary.{n}" for n in VARIABLE]
    with pytest.raises(rl.TaskError, match=r"^tables cannot be changed as text: write a subclass"):
        make_task("tables=1")
    with pytest.raises(
        rl.TaskError, match=r"^keep has entries: keep\.level, keep\.count; name one"
    ):
        make_task("keep=1", name=KEEPING)
    with pytest.raises(rl.TaskError, match=r"^noise has entries: noise\.NAME; name one of them$"):
        make_task("noise=1")


def test_settings_of_lists_all_settings_of_a_task() -> None:
    """The result has their names and values in order."""
    found = {n: x for n, x in settings_of(Keeping()).items() if not n.startswith("recipe.")}
    assert {n: x for n, x in found.items() if not n.startswith(("ground.", "pair_contact."))} == {
        **{"drives.kp": 20.0, "drives.kd": 1.0},
        **{f"drives.{n}": getattr(wd.PD(1.0, 1.0), n) for n in wd.PD._fields[2:]},
        **{"dt": 0.005, "substeps": 4, "sweeps": 4, "largest_action": 6.0, "seconds": 20.0},
        **{"scales.up": 1.0, "rewards.low": 0.5, "numbers.reach": pytest.approx([1.0, 2.0])},
        **{"keep.level": rl.Vary(0.0, 3.0), "keep.count": 1.0},
        **{"vary.kp": rl.Vary(0.9, 1.1, how="scale"), "push": rl.HeldPush(5.0)},
        **{"sensed": (), "substep_forces": False, "random_start": True, "width": 0.5},
        **{"gravity": (0.0, 0.0, -9.81), "integrator": "semi_implicit"},
    }


@pytest.mark.parametrize(
    "word",
    [
        "vary.encoder_bias=-0.01,0.01,how=add",
        "vary.observation_latency=0,0.02",
        "vary.quadratic_friction=0,0.1",
    ],
)
def test_numbers_of_sensors_and_joints_can_vary(word: str) -> None:
    task = make_with_settings("panda_reach", [word])
    assert word.partition("=")[0].removeprefix("vary.") in task.vary
    rl.VecEnv(task, 1)


@pytest.mark.filterwarnings("error")
def test_old_names_are_not_settings() -> None:
    assert "ended" not in settings_of(make_with_settings("cartpole_swing_up"))


def test_the_ending_of_a_recipe_file_selects_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "recipe.yaml"
    other.write_text("envs: 3")
    if sys.version_info >= (3, 11):
        said = f"{other} is not a recipe: its ending must be .toml or .json, got '.yaml'"
        with pytest.raises(rl.TaskError, match=f"^{re.escape(said)}$"):
            recipe_from_file(other, rl.Recipe())
    monkeypatch.setattr(sys, "version_info", (3, 10, 9))
    said = f"{other} is not a recipe: TOML needs Python 3.11; write it as JSON, recipe.json"
    with pytest.raises(rl.TaskError, match=f"^{re.escape(said)}$"):
        recipe_from_file(other, rl.Recipe())
