"""Return values of a task's functions on plain numbers, and which are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hand_made_urdf import joint, link, urdf

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl import task_functions
from warpdyn.rl.task import Episode, TaskError
from warpdyn.rl.variation import Push
from warpdyn.user_kernels import random_numbers
from warpdyn.user_kernels.values import objects


class Level(Hold):
    """A task with a kept number, which increases at the end of an episode."""

    keep = {"level": 1.0}  # noqa: RUF012

    def promote(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"level": s.level + 1.0}


def test_rewards_are_returned_in_the_order_of_their_names() -> None:
    s = Episode({"q": np.array([0.1, 0.0]), "v": np.array([1.0, 0.0]), "place": np.zeros(2)})
    found = task_functions.reward(Hold(), None, s, ("near", "still"))
    assert found == pytest.approx([1.0 - 0.01, -1.0])
    with pytest.raises(TaskError, match="only one of them names still"):
        task_functions.reward(Hold(), None, s, ("near",))


def test_kept_numbers_change_at_the_end_of_an_episode() -> None:
    s = Episode({"level": 3.0})
    for done, level in ((True, 4.0), (False, 3.0)):
        assert task_functions.promote(Level(), None, s, done) == {"level": level}


def test_an_update_changes_the_arrays_that_begin_names() -> None:
    s = Episode({"passed": 2.0, "q": np.zeros(2)})
    after = task_functions.update(Hold(), None, s, ("passed", "q"))
    assert after.passed == 3.0 and after.q is s.q
    with pytest.raises(TaskError, match="changes passed, which begin does not name"):
        task_functions.update(Hold(), None, s, ("q",))


def test_begin_must_return_as_many_coordinates_as_the_robot_has() -> None:
    task_functions.check_begin(Hold(), {"q": (2,), "v": (2,)})
    with pytest.raises(TaskError, match=r"v must be \(2,\) for double_pendulum, got \(3,\)"):
        task_functions.check_begin(Hold(), {"q": (2,), "v": (3,)})


def test_a_push_of_a_fixed_base_is_refused() -> None:
    with pytest.raises(TaskError, match="has no free base"):
        key = random_numbers.key(0, 0, 0)
        task_functions.push_base(Hold(), Push(1.0), Episode({}), key)


class Finishing(Hold):
    """A task that is complete after two steps."""

    def is_complete(self, robot: Any, s: Episode) -> Any:
        return s.passed > 1.5


def test_an_episode_is_truncated_at_its_time_limit_or_completion() -> None:
    for passed, late, wanted in ((1.0, False, False), (2.0, False, True), (1.0, True, True)):
        s = Episode({"passed": passed})
        assert bool(task_functions.timed_out(Finishing(), None, s, np.bool_(late))) == wanted
    assert task_functions.has_completion(Finishing()) and not task_functions.has_completion(Hold())


@pytest.mark.parametrize(
    ("method", "returned", "message"),
    [
        ("begin", (np.zeros(2), np.zeros(2)), r'begin must return a dictionary .*"q".* got tuple'),
        ("control", np.zeros(2), r'control must return a dictionary .*"tau".* got an array'),
        ("update", None, r"update must return a dictionary .* got NoneType"),
        ("reward", np.float64(1.0), r'reward must return a dictionary .*"upright".* got an array'),
    ],
)
def test_methods_must_return_dictionaries(method: str, returned: Any, message: str) -> None:
    """A tuple, an array or None is refused by the name of the method."""
    task = type("Odd", (Hold,), {method: lambda self, robot, s: returned})()
    s = Episode({"q": np.zeros(2), "v": np.zeros(2)})
    more = {"update": (("q",),), "reward": (("near", "still"),)}.get(method, ())
    with pytest.raises(TaskError, match=f"^Odd.{message}$"):
        getattr(task_functions, method)(task, None, s, *more)


def test_is_terminal_must_return_a_condition() -> None:
    """A number is not a condition: 0.3 is not true."""
    s, finite, late = Episode({"q": np.array([0.3])}), np.bool_(True), np.bool_(False)
    for found, wanted in ((False, False), (np.bool_(True), True), (s.q[0] > 0.2, True)):
        task = type("Ends", (Hold,), {"is_terminal": lambda self, robot, s, x=found: x})()
        fell, timed_out = task_functions.ends(task, None, s, finite, late)
        assert bool(fell) == wanted and not timed_out
    for wrong, words in ((s.q[0], "a number"), (None, "nothing")):
        task = type("Odd", (Hold,), {"is_terminal": lambda self, robot, s, x=wrong: x})()
        with pytest.raises(TaskError, match=f"^Odd.is_terminal must return a cond.*{words}$"):
            task_functions.ends(task, None, s, finite, late)
        methods = {"is_terminal": lambda self, robot, s: False}
        methods["is_complete"] = lambda self, robot, s, x=wrong: x
        task = type("Odd", (Hold,), methods)()
        with pytest.raises(TaskError, match=f"^Odd.is_complete must return a cond.*{words}$"):
            task_functions.ends(task, None, s, finite, late)
    task = type("Odd", (Hold,), {"reward": lambda self, robot, s: {"near": None, "still": 0.0}})()
    with pytest.raises(TaskError, match=r"^Odd: the reward near must be a number, got None$"):
        task_functions.reward(task, None, s, ("near", "still"))


def test_an_episode_must_last_at_least_one_step() -> None:
    task = Hold()
    assert task_functions.episode_steps(task) == round(task.seconds / task.step_seconds)
    task.seconds = 0.0
    with pytest.raises(TaskError, match=r"seconds must be at least a step of .* s, got 0"):
        task_functions.episode_steps(task)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"dt": 0.0}, r"dt must be positive, got 0\.0"),
        ({"dt": -0.01}, "dt must be positive"),
        ({"largest_action": 0.0}, "largest_action must be positive"),
        ({"substeps": 0}, "substeps must be a whole number of at least 1, got 0"),
        ({"sweeps": 2.5}, "sweeps must be a whole number of at least 1, got 2.5"),
        ({"history": {"policy": 0}}, "history.policy must be a whole number of at least 1"),
        ({"vary": {"kp": rl.Vary(1.2, 0.8)}}, "vary.kp: low must not be above high, got 1.2 and"),
        ({"keep": {"level": rl.Vary(2.0, 0.0)}}, "keep.level: low must not be above high"),
        ({"noise": {"off": rl.Noise(-0.1)}}, "noise.off: size must not be negative, got -0.1"),
        ({"scales": {"off": np.nan}}, "scales.off must be finite, got nan"),
        ({"scales": {"off": "big"}}, "scales.off must be a number, got 'big'"),
        ({"scales": {"off": None}}, "scales.off must be a number, got None"),
        ({"scales": {"off": [1, 2]}}, r"scales.off must be a number, got \[1, 2\]"),
        ({"numbers": {"goal": "far"}}, "numbers.goal must be an array of numbers, got 'far'"),
        ({"numbers": {"goal": None}}, "numbers.goal must be an array of numbers, got None"),
        ({"dt": "fast"}, "dt must be a number, got 'fast'"),
        ({"seconds": None}, "seconds must be a number, got None"),
        ({"numbers": {"goal": [1.0, np.nan]}}, "numbers.goal has an entry that is not a number"),
        ({"tables": {"map": [[np.nan]]}}, "tables.map has an entry that is not a number"),
        ({"actions": 0}, "actions must be a whole number of at least 1, got 0"),
        ({"largest_action": np.ones(2)}, "largest_action must be one number, got"),
        ({"gravity": 9.81}, r"gravity must be three numbers, such as \(0, 0, -9.81\), got 9.81"),
        ({"vary": {"mass": (0.8, 1.2)}}, r"vary.mass must be an rl.Vary, .* got \(0.8, 1.2\)"),
        ({"noise": {"off": 0.1}}, "noise.off must be an rl.Noise, .*, got 0.1"),
        ({"push": (1.0, 2.0)}, r"push must be an rl.Push or rl.HeldPush, .* got \(1.0, 2.0\)"),
        ({"history": 3}, r"history must be a dictionary by name, \{.policy.: 3\}, got 3"),
        ({"groups": {"policy": "off"}}, "groups.policy must be names of terms, each once, .*'off'"),
        ({"groups": {"policy": ("off", "off")}}, "groups.policy must be names of terms, each once"),
        ({"drives": None, "vary": {"kp": rl.Vary(1.0, 2.0)}}, "vary.kp belongs to drives, and"),
        ({"push": rl.Push(-1.0)}, "push: speeds must be 0 <= least <= speed, got 0.0 and -1.0"),
        ({"push": rl.HeldPush(10.0, 2.0, 1.0)}, "push: times must be 0 < hold <= seconds"),
        ({"seconds": np.nan}, "seconds must be at least a step of .* s, got nan"),
        ({"model": "panda"}, "model must be a Model, such as wd.load_robot.*, got 'panda'"),
        ({"drives": (30.0, 2.0)}, r"drives must be wd.PD\(kp, kd\) or None, got \(30.0, 2.0\)"),
        ({"pairs": "all"}, r"pairs must be those of wd.ContactPairs\(model\), got 'all'"),
    ],
)
def test_invalid_numbers_of_a_task_are_refused(changed: dict[str, Any], error: str) -> None:
    task = Hold()
    task.__dict__.update(changed)
    with pytest.raises(rl.TaskError, match=error):
        rl.VecEnv(task, 1)


@pytest.mark.filterwarnings("error")
def test_a_misspelt_attribute_is_a_warning() -> None:
    """Other attributes are the task's own, such as a stance."""
    task = Hold()
    task.__dict__.update(stance=np.zeros(2), _noises=None)
    task_functions.check_numbers(task)
    for name, near in (
        ("noises", "noise"),
        ("is_terminated", "is_terminal"),
        ("second", "seconds"),
        ("decimation", "substeps"),  # the name of Isaac Lab
    ):
        task = Hold()
        task.__dict__[name] = None
        with pytest.warns(
            UserWarning, match=f"{name} is not an attribute of .*did you mean {near}?"
        ):
            task_functions.check_numbers(task)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        (
            {"numbers": {"reach": np.ones(1), "seed": np.ones(2)}},
            "numbers: the environment reserves the name seed",
        ),
        (
            {"numbers": {"reach": np.ones(1), "scales": np.ones(2)}},
            "numbers: the environment reserves the name scales",
        ),
        ({"keep": {"age": 1.0}}, "begin or keep: the environment reserves the name age; choose"),
        ({"commanded": "speeds"}, "commanded is 'speeds', which begin does not name; it names"),
        ({"update": lambda robot, s: {"passed": s.v}}, r"update: passed must be \(\) as in begin"),
        ({"update": lambda robot, s: {"passed": s.v[:1]}}, r"must be \(\) as in begin, got \(1,\)"),
        (
            {"reward": lambda robot, s: {"still": s.v, "near": 1.0}},
            r"the reward still must be a number, got \(2,\)",
        ),
        ({"noise": {"off": rl.Noise(np.ones(3))}}, r"noise.off: size must be a number or \(2,\)"),
        ({"groups": {"policy": ()}}, "groups: policy has no terms"),
    ],
)
def test_arrays_with_wrong_shapes_or_reserved_names_are_refused(
    changed: dict[str, Any], error: str
) -> None:
    """A number "seed" replaced that of the environments, so that all of them drew the same."""
    task = Hold()
    task.__dict__.update(changed)
    with pytest.raises(rl.TaskError, match=error):
        env = rl.VecEnv(task, 1)
        env.reset()
        env.step(np.zeros((1, 2)))


@pytest.mark.parametrize("name", ["last_v", "time", "action", "sums"])
def test_begin_cannot_return_a_name_of_the_environment(name: str) -> None:
    task, begin = Hold(), Hold.begin
    task.begin = lambda robot, s: {**begin(Hold(), robot, s), name: np.zeros(2)}
    with pytest.raises(
        rl.TaskError, match=f"begin or keep: the environment reserves the name {name};"
    ):
        rl.VecEnv(task, 1)


def test_a_push_changes_the_linear_velocity_of_the_base_alone() -> None:
    """It is horizontal, within its bounds, and only comes when it is due."""
    task, key = rl.make("quadruped_velocity"), random_numbers.key(3, 1, 0)
    push = Push(0.5, 10 * task.step_seconds, least=0.25)
    v = np.linspace(-1.0, 1.0, task.model.nv)
    for age, is_due in ((10.0, True), (7.0, False), (20.0, True), (25.0, False)):
        state = Episode({"q": task.model.neutral, "v": v, "age": age})
        pushed = objects(task_functions.push_base(task, push, state, key))
        change = np.array(pushed.tolist()) - v
        assert change.shape == v.shape and not change[2:].any()
        speed = float(np.hypot(*change[:2]))
        assert 0.25 <= speed <= 0.5 if is_due else speed == 0.0


def test_a_push_moves_the_free_body_that_carries_joints() -> None:
    """Its velocity is behind that of the world's other joints."""
    joints = joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    joints += joint("free", "floating", "world", "hull") + joint("arm", "continuous", "hull", "tip")
    links = "".join(link(name, 1.0) for name in ("cart", "hull", "tip"))
    task, key = Hold(), random_numbers.key(3, 1, 0)
    task.model = wd.load_urdf(urdf("scene", link("world"), links, joints))
    first = task.model.coordinates["free"].v.start
    v = np.linspace(-1.0, 1.0, task.model.nv)
    state = Episode({"q": task.model.neutral, "v": v, "age": 1.0})
    push = Push(0.5, task.step_seconds, least=0.25)
    change = np.array(objects(task_functions.push_base(task, push, state, key)).tolist()) - v
    assert first > 0 and change[first : first + 2].all()
    assert np.count_nonzero(change) == 2


@pytest.mark.parametrize("axes", ["local", "world"])
def test_a_push_is_horizontal_whatever_the_axes_of_the_velocity(axes: Any) -> None:
    """The base lies on its side: its y axis points down."""
    task, key = rl.make("quadruped_velocity"), random_numbers.key(3, 1, 0)
    task.model = wd.load_robot("quadruped", base_velocity=axes)
    q = task.model.neutral.copy()
    q[3:7] = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
    state = Episode({"q": q, "v": np.zeros(task.model.nv), "age": 1.0})
    pushed = objects(task_functions.push_base(task, Push(0.5, task.step_seconds, 0.5), state, key))
    change = np.array(pushed[:3].tolist())
    assert np.linalg.norm(change) == pytest.approx(0.5)
    assert abs(change[1 if axes == "local" else 2]) < 1e-12


def test_encoders_measure_positions_with_their_bias() -> None:
    """Targets are measured positions, too, so that the true ones lack the bias."""
    task = Hold()
    bias = {"q": np.array([1.0, 2.0]), "encoder_bias": np.array([0.25, -0.5])}
    s = Episode({**bias, "place": np.zeros(2), "action": np.zeros(2)})
    assert task_functions.as_measured(task, s) is s
    assert task_functions.control(task, None, s)["targets"].tolist() == [0.0, 0.0]
    task.vary = {"encoder_bias": rl.Vary(-0.1, 0.1, how="add")}
    assert task_functions.as_measured(task, s).q.tolist() == [1.25, 1.5]
    assert task_functions.control(task, None, s)["targets"].tolist() == [-0.25, 0.5]


def test_begin_cannot_name_what_is_drawn() -> None:
    """Nor what the environment keeps."""
    task = Hold()
    task.vary = {"passed": rl.Vary(0.0, 1.0)}
    s = Episode({"random": random_numbers.key(0, 0, 0)})
    with pytest.raises(TaskError, match="begin names passed, which vary draws; leave one out"):
        task_functions.begin(task, None, s)
    task.vary = {}
    assert set(task_functions.begin(task, None, s)) == {"q", "v", "place", "passed"}
    task.keep = {"place": 0.0}
    with pytest.raises(TaskError, match="begin names place, which keep has"):
        task_functions.begin(task, None, s)
