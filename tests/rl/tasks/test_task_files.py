"""A user's tasks by file and name."""

from __future__ import annotations

from pathlib import Path

import pytest

rl = pytest.importorskip("warpdyn.rl")

FILE = """
import warpdyn.rl as rl
class Stand(rl.CartpoleSwingUp):
    seconds = 3.0
class Odd(rl.CartpoleSwingUp):
    def __init__(self):
        raise KeyError("gain")
def slow():
    task = Stand()
    task.seconds = 9.0
    return task
def nothing():
    return None
FAST = Stand()
number = 3
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tasks") / "my_tasks.py"
    path.write_text(FILE)
    return str(path)


def test_a_class_a_function_and_a_task_are_named_by_file(file: str) -> None:
    for name, seconds in (("Stand", 3.0), ("slow", 9.0), ("FAST", 3.0)):
        task = rl.make(f"{file}:{name}")
        assert (task.name, task.seconds) == ("Stand", seconds)


def test_a_class_of_a_module_is_named_by_module() -> None:
    assert rl.make("rl_cases:Hold").name == "Hold"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Stan", r"has no task 'Stan'; it has Stand, Odd, FAST; did you mean 'Stand'\?"),
        ("number", "must be a warpdyn.rl.Task, or a function that returns one; it is a int"),
        ("nothing", "must return a warpdyn.rl.Task; it returned NoneType"),
        ("Odd", "my_tasks.py:7: KeyError: gain"),
        ("", r"must be named my.py:Hopper or package.module:Hopper; got"),
    ],
)
def test_mistakes_in_task_files_are_refused_with_the_remedy(
    file: str, name: str, said: str
) -> None:
    with pytest.raises(rl.TaskError, match=said):
        rl.make(f"{file}:{name}")


def test_a_missing_file_and_another_model_are_refused(file: str, tmp_path: Path) -> None:
    with pytest.raises(rl.TaskError, match="there is no file"):
        rl.make(f"{tmp_path / 'none.py'}:Stand")
    for name in ("Stand", "FAST"):
        with pytest.raises(rl.TaskError, match=r"takes no model: its robot is fixed"):
            rl.make(f"{file}:{name}", model=None)
