"""Refusals name the user's file and line, in a REPL too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.user_kernels.refusals import RecordingError, place, refuse

TEXT = """
import numpy as np, warpdyn as wd

@wd.kernel
def bad(robot, q):
    x = q + 1
    if x[0] > 0:
        return q
    return x

try:
    bad(wd.load_robot("cartpole"), np.zeros((1, 2)))
except wd.kernels.RecordingError as error:
    print(error)

@wd.kernel
def bad(robot, q):
    return 2 * q

print(bad(wd.load_robot("cartpole"), np.ones((1, 2))))
"""


def test_the_reported_line_is_the_innermost_one_of_the_user() -> None:
    def inner() -> str:
        return place()

    assert inner().startswith("test_refusals.py:")
    with pytest.raises(RecordingError, match=r"test_refusals.py:\d+: no"):
        refuse("no")


@pytest.mark.parametrize("where", ["mine.py", "<stdin>", "<ipython-input-3>"])
def test_lines_are_named_in_files_pipes_and_notebooks(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell has no file, but its line is named. A kernel that is defined again is a new one."""
    if where == "<stdin>":
        command = [sys.executable]
        done = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=True)
        printed = done.stdout
    else:
        name = where
        if where == "mine.py":
            name = str(tmp_path / where)
            Path(name).write_text(TEXT)
        exec(compile(TEXT, name, "exec"), {"__name__": "__main__"})
        printed = capsys.readouterr().out
    first, second = printed.splitlines()
    assert first.startswith(f"{where}:7: a Python `if`")
    assert second == "[[2. 2.]]"


@pytest.mark.parametrize("name", ["isfinite", "arctan", "sqrt", "isnan"])
def test_an_array_of_python_objects_is_refused(name: str) -> None:
    """NumPy only sees the list around the values, and its own message is about ufuncs."""

    def join_list(robot, q):
        return getattr(np, name)(np.concatenate([[q[0]], np.ones(2)]))

    with pytest.raises(RecordingError, match=r"NumPy says: .*Python objects.*np.stack") as refused:
        wd.kernel(join_list)(wd.load_robot("cartpole"), np.zeros((1, 2)))
    assert "test_refusals.py:" in str(refused.value)


def refusal_message(body: object) -> str:
    """The message with which a kernel of this body is refused."""
    with pytest.raises(RecordingError) as caught:
        wd.kernel(lambda robot, q: body(robot, q))(wd.load_robot("cartpole"), np.zeros((1, 2)))
    return str(caught.value)


def test_an_invalid_constant_is_reported_with_the_line() -> None:
    """The message gives Python's error. Errors that the user raises are unchanged."""
    message = refusal_message(lambda robot, q: robot.fk(np.array([0.0, np.inf]))[0])
    assert message.startswith("test_refusals.py:")
    assert "known numbers lead to ValueError: math domain error" in message
    zeros = np.zeros((2, 2))
    message = refusal_message(lambda robot, q: wd.kernels.solve_symmetric(zeros, q))
    assert "known numbers lead to ZeroDivisionError: float division by zero" in message
    with pytest.raises(ZeroDivisionError):
        wd.kernel(lambda robot, q: q / (1 // 0))(wd.load_robot("cartpole"), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="my own"):
        wd.kernel(lambda robot, q: own_error())(wd.load_robot("cartpole"), np.zeros((1, 2)))


def own_error() -> None:
    raise ValueError("my own")


def test_functions_of_torch_and_jax_are_refused() -> None:
    """Their own messages are about unknown types and tensors."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    for function in (torch.sin, jax.numpy.sin):

        def other(robot, q, sin=function):
            return sin(robot.rnea(q, q, q))

        with pytest.raises(RecordingError, match=r"^test_refusals.py:\d+: .*such as np\.sin"):
            wd.kernel(lambda robot, q: other(robot, q))(wd.load_robot("cartpole"), np.zeros((1, 2)))
