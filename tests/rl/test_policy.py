"""Policies read from files."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from policy_files import linear_policy
from rl_cases import Hold
from time_limit import time_limit


def test_a_policy_maps_observations_to_actions(tmp_path: Path) -> None:
    """The input is one observation or rows. The file's description names its task and robot."""
    weights = np.arange(12.0).reshape(6, 2)
    about = {"task": "Hold", "robot": "double_pendulum", "seed": 4}
    policy = rl.Policy(linear_policy(tmp_path / "hold.onnx", weights, **about))
    seen = np.random.default_rng(0).normal(size=(7, 6)).astype(np.float32)
    np.testing.assert_allclose(policy(seen), seen @ weights, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(policy(seen[0]), policy(seen)[0])
    assert (policy.width, policy.actions, policy.about) == (6, 2, about)


def test_a_policy_of_another_task_or_robot_is_refused(tmp_path: Path) -> None:
    """The check compares the numbers of observations and actions, and the robot's name."""

    def policy(shape: tuple[int, int], robot: str = "double_pendulum") -> rl.Policy:
        return rl.Policy(
            linear_policy(tmp_path / "a.onnx", np.zeros(shape), task="Hold", robot=robot)
        )

    policy((6, 2)).check(Hold(), 6)
    with pytest.raises(rl.TaskError, match=r"task Hold with .* observes 6 numbers; .* gives 5"):
        policy((6, 2)).check(Hold(), 5)
    with pytest.raises(rl.TaskError, match="gives 3 actions; Hold for double_pendulum has 2"):
        policy((6, 3)).check(Hold(), 6)
    with pytest.raises(rl.TaskError, match="the robot panda; Hold is for double_pendulum"):
        policy((6, 2), "panda").check(Hold(), 6)


def test_missing_files_and_files_without_a_network_are_refused(tmp_path: Path) -> None:
    with pytest.raises(rl.TaskError, match="no such policy file"):
        rl.Policy(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("nothing")
    with pytest.raises(rl.TaskError, match=r"text.onnx is not an ONNX policy"):
        rl.Policy(tmp_path / "text.onnx")


def network(file: Path, nodes: list[Any], constants: dict[str, list[int]] | None = None) -> Path:
    """A file with a network of 6 observations and 1 action."""
    onnx = pytest.importorskip("onnx")
    kind = onnx.TensorProto
    described = [
        onnx.helper.make_tensor_value_info(name, kind.FLOAT, ["B", n])
        for name, n in (("observation", 6), ("action", 1))
    ]
    given = [
        onnx.helper.make_tensor(name, kind.INT64, [len(x)], x)
        for name, x in (constants or {}).items()
    ]
    graph = onnx.helper.make_graph(nodes, "g", described[:1], described[1:], given)
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9), file)
    return file


def test_a_network_that_fails_or_breaks_its_shapes_is_an_error_of_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The names of its parts, which may contain terminal controls, do not reach the terminal."""
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node
    reshape = node("Reshape", ["observation", "rows"], ["action"], name="\x1b[2J")
    failing = rl.Policy(network(tmp_path / "a.onnx", [reshape], {"rows": [7, 1]}))
    with pytest.raises(rl.TaskError, match=r"a\.onnx cannot run: .*Reshape") as error:
        failing(np.zeros(6))
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)
    squeeze = node("Squeeze", ["observation"], ["row"])
    mean = node("ReduceMean", ["row"], ["action"], keepdims=0)
    policy = rl.Policy(network(tmp_path / "b.onnx", [squeeze, mean]))
    with pytest.raises(rl.TaskError, match=r"states 1 actions, and gives \(\) for 1 observations"):
        policy(np.zeros(6))
    unknown = node("\x1b[2JFoo", ["observation"], ["action"])
    with pytest.raises(rl.TaskError, match=r"Registered for \\x1b\[2JFoo|for \\x1b\[2JFoo"):
        rl.Policy(network(tmp_path / "c.onnx", [unknown]))
    assert capfd.readouterr().err == ""


def test_only_regular_files_of_limited_size_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of just the largest size is read. A pipe, a folder and a device are not opened."""
    path = linear_policy(tmp_path / "a.onnx", np.zeros((2, 2)))
    monkeypatch.setattr("warpdyn.rl.policy.LARGEST", path.stat().st_size)
    rl.Policy(path)
    monkeypatch.setattr("warpdyn.rl.policy.LARGEST", path.stat().st_size - 1)
    os.mkfifo(tmp_path / "pipe.onnx")
    for file, said in (
        (path, "more than the .* that are read; name an ONNX file of a policy"),
        (tmp_path / "pipe.onnx", "is a pipe, a socket or a device"),
        (tmp_path, "is a directory"),
        ("/dev/zero", "is a pipe, a socket or a device"),
    ):
        with time_limit(), pytest.raises(rl.TaskError, match=said):
            rl.Policy(file)


def test_networks_with_other_inputs_or_outputs_are_refused(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = linear_policy(tmp_path / "a.onnx", np.zeros((2, 2)))
    whole = onnx.load(path)
    whole.graph.output.append(whole.graph.output[0])
    whole.graph.output[1].name = "weights"
    onnx.save(whole, path)
    with pytest.raises(rl.TaskError, match=r"is not a policy: a policy maps observations \(B, n\)"):
        rl.Policy(path)


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        ("nonsense", "is not JSON: Expecting value"),
        ("[" * 200_000, "is not JSON: .*recursion"),
        ("[1, 2]", "is a list, not an object"),
        ('{"task": 5}', "the task in its description must be a printable name, got 5"),
        ('{"robot": "a\\u001b[31m"}', r"the robot in its description must be a printable name"),
    ],
)
def test_malformed_metadata_is_refused(tmp_path: Path, described: str, reason: str) -> None:
    """Metadata is untrusted text. The message is one line without its control characters."""
    onnx = pytest.importorskip("onnx")
    path = linear_policy(tmp_path / "a.onnx", np.zeros((2, 2)))
    whole = onnx.load(path)
    del whole.metadata_props[:]
    entry = whole.metadata_props.add()
    entry.key, entry.value = "warpdyn", described
    onnx.save(whole, path)
    with pytest.raises(rl.TaskError, match=reason) as caught:
        rl.Policy(path)
    assert str(caught.value).isprintable()


def test_a_read_error_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpdyn.rl import policy

    def fail_to_read(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(policy, "read_regular_file", fail_to_read)
    with pytest.raises(rl.TaskError, match=r"^x\.onnx cannot be read: Input/output error$"):
        rl.Policy("x.onnx")


def test_observations_of_another_width_are_refused(tmp_path: Path) -> None:
    policy = rl.Policy(linear_policy(tmp_path / "a.onnx", np.zeros((6, 2))))
    for shape in ((5,), (3, 7), (2, 3, 6), ()):
        with pytest.raises(ValueError, match=r"observations must be \(6,\) or \(B, 6\), got \("):
            policy(np.zeros(shape))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_and_pickles_are_refused(make: Callable[[Any], Any], tmp_path: Path) -> None:
    policy = rl.Policy(linear_policy(tmp_path / "a.onnx", np.zeros((6, 2))))
    with pytest.raises(TypeError, match=r"a Policy cannot .*; read its file again"):
        make(policy)
