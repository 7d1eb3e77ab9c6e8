"""Deployed policies observe and command the same numbers as in training."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from policy_files import linear_policy
from pushed_box import PushedBox
from rl_cases import Hold

import warpdyn as wd

ROOT = Path(__file__).resolve().parents[2]
SINGLE = 2e-6
"""Environments are float32, a robot's numbers float64."""


class Follow(Hold):
    """`Hold` with a commanded place, a carried clock, more observations, and forces.

    The policy's group has a history of two, and forces add to the drives.
    """

    commanded = "place"
    numbers = {  # noqa: RUF012
        "reach": np.array([100.0]),
        "place_range": np.array([0.6, 0.6]),
        "place_rate": np.array([100.0, 100.0]),
    }
    groups = {"policy": ("off", "speed", "last", "clock"), "hidden": ("more",)}  # noqa: RUF012
    history = {"policy": 2}  # noqa: RUF012

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"targets": s.place + s.action, "tau": 0.1 * s.last_action + s.time}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().observe(robot, s), "clock": np.stack([s.passed, s.time, s.age])}


class Feeling(Hold):
    """The policy observes whether its tip touches, which is carried from the previous step."""

    points = (wd.ContactPoint("tip", (0.0, 0.0, 0.0), 0.05),)
    groups = {"policy": ("off", "touch")}  # noqa: RUF012

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().begin(robot, s), "touch": np.zeros(1)}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"touch": np.where(s.forces[:, 2] > 1.0, 1.0, 0.0)}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().observe(robot, s), "touch": s.touch}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = np.random.default_rng(0).normal(0.0, 0.3, (18, 2))
    path = tmp_path_factory.mktemp("policies") / "follow.onnx"
    return linear_policy(path, weights, task="Follow", robot="double_pendulum")


@pytest.fixture(scope="module")
def deployed_policy(file: Path) -> Any:
    return rl.DeployedPolicy(Follow(), rl.Policy(file))


def test_observations_and_commands_equal_those_in_training(deployed_policy: Any) -> None:
    """The states of an environment give the same observations, targets and forces.

    Observations include history and carried numbers.
    """
    task = Follow()
    task.noise = {}
    env = rl.VecEnv(task, 1, seed=5)
    seen = env.reset()[0]["policy"]
    deployed_policy.reset()
    for k in range(8):
        q, v, place = (env.carried[n][0].numpy().astype(float) for n in ("q", "v", "place"))
        before = env.carried["last_action"][0].numpy().copy()
        wanted = deployed_policy.step(q, v, place)
        np.testing.assert_allclose(deployed_policy.observation, seen[0].numpy(), atol=SINGLE)
        action = np.clip(deployed_policy.policy(deployed_policy.observation), -1.0, 1.0)
        np.testing.assert_allclose(wanted.targets, place + action, atol=SINGLE)
        np.testing.assert_allclose(wanted.tau, 0.1 * before + k * task.step_seconds, atol=SINGLE)
        seen = env.step(torch.as_tensor(action)[None])[0]["policy"]
    assert np.abs(deployed_policy.observation[9:] - deployed_policy.observation[:9]).max() > 0.01


def test_torques_are_those_of_the_drives_within_their_effort_limits(deployed_policy: Any) -> None:
    """kp (target - q) - kd v plus the forces. Before the first step they are zero."""
    deployed_policy.reset()
    q, v = np.array([0.1, -0.2]), np.array([0.3, 0.1])
    np.testing.assert_array_equal(deployed_policy.torques(q, v), np.zeros(2))
    wanted = deployed_policy.step(q, v, [0.2, -0.1])
    pulled = 30.0 * (wanted.targets - q) - 2.0 * v
    np.testing.assert_allclose(deployed_policy.torques(q, v), pulled + wanted.tau, atol=1e-12)
    task = Follow()
    task.drives = wd.PD(30.0, 2.0, effort=0.5)
    weak = rl.DeployedPolicy(task, deployed_policy.policy)
    wanted = weak.step(q, v, [0.2, -0.1])
    np.testing.assert_allclose(
        weak.torques(q, v), np.clip(pulled, -0.5, 0.5) + wanted.tau, atol=1e-12
    )


def test_commands_are_clipped_to_the_range_of_the_training(deployed_policy: Any) -> None:
    """The number `<commanded>_range` is the range. Without a command it is zero."""
    deployed_policy.reset()
    q = v = np.zeros(2)
    far = deployed_policy.step(q, v, [3.0, -0.1]).targets
    deployed_policy.reset()
    np.testing.assert_array_equal(deployed_policy.step(q, v, [0.6, -0.1]).targets, far)
    assert deployed_policy.commands == 2
    deployed_policy.reset()
    deployed_policy.step(q, v)
    np.testing.assert_array_equal(deployed_policy.observation[9:11], q)


def test_commands_change_at_most_at_the_rate_of_the_training(deployed_policy: Any) -> None:
    """The number `<commanded>_rate` is the rate per second. The command starts at zero."""
    task = Follow()
    task.numbers = {**task.numbers, "place_rate": np.array([5.0, 10.0])}
    slow = rl.DeployedPolicy(task, deployed_policy.policy)
    q = v = np.zeros(2)
    for want, now in (
        ([0.25, 0.25], [0.1, 0.2]),
        ([0.25, 0.25], [0.2, 0.25]),
        ([0.0, -0.1], [0.1, 0.05]),
    ):
        slow.step(q, v, want)
        np.testing.assert_allclose(q - slow.observation[9:11], now, atol=1e-12)


def test_twins_share_only_kernels(deployed_policy: Any) -> None:
    q, v = np.array([0.1, -0.2]), np.zeros(2)
    deployed_policy.reset()
    first = deployed_policy.step(q, v, q)
    twin = deployed_policy.twin()
    twin.step(5.0 + q, v, q)
    second = deployed_policy.step(q, v, q)
    deployed_policy.reset()
    np.testing.assert_array_equal(deployed_policy.step(q, v, q).targets, first.targets)
    np.testing.assert_array_equal(deployed_policy.step(q, v, q).targets, second.targets)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0.1, np.zeros(2)), ValueError, r"q must be \(2,\), got \(\)"),
        (([0.1], np.zeros(2)), ValueError, r"q must be \(2,\), got \(1,\)"),
        ((np.zeros((2, 2)), np.zeros(2)), ValueError, r"q must be \(2,\), got \(2, 2\)"),
        (("here", np.zeros(2)), TypeError, "q must be 2 numbers, got 'here'"),
        ((np.zeros(2), 0.0), ValueError, r"v must be \(2,\), got \(\)"),
        ((np.zeros(2), [0.0, np.nan]), ValueError, "v must be finite numbers"),
        ((np.zeros(2), np.zeros(2), 0.1), ValueError, r"command must be \(2,\), got \(1,\)"),
        ((np.zeros(2), np.zeros(2), [np.nan, 0.0]), ValueError, "command must be finite numbers"),
        ((np.zeros(2), np.zeros(2), "up"), TypeError, "command must be 2 numbers"),
    ],
)
def test_wrong_states_and_commands_are_refused(
    deployed_policy: Any, arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    """They change nothing: NaN would stay in the last action, the command and the history."""
    q, v = np.array([0.1, -0.2]), np.array([0.3, 0.1])
    found = []
    for is_disturbed in (False, True):
        deployed_policy.reset()
        deployed_policy.step(q, v, q)
        if is_disturbed:
            with pytest.raises(error, match=message):
                deployed_policy.step(*arguments)
        found.append(deployed_policy.step(q, v, q).targets)
    np.testing.assert_array_equal(*found)


def test_a_command_without_meaning_is_refused(tmp_path: Path) -> None:
    """The torques of a state of another size are refused, too, also before the first step."""
    held = rl.DeployedPolicy(Hold(), rl.Policy(linear_policy(tmp_path / "a.onnx", np.ones((6, 2)))))
    with pytest.raises(ValueError, match="Hold has no command; leave it out"):
        held.step(np.zeros(2), np.zeros(2), [0.1, 0.2])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"q must be \(2,\), got \(\)"):
            held.torques(0.0, np.zeros(2))
        with pytest.raises(ValueError, match=r"v must be \(2,\), got \(3,\)"):
            held.torques(np.zeros(2), np.zeros(3))
        held.step(np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_and_pickles_are_refused(deployed_policy: Any, make: Callable[[Any], Any]) -> None:
    """A shallow copy would share the memory of its original."""
    with pytest.raises(TypeError, match=r"a DeployedPolicy cannot .*; use twin\(\)"):
        make(deployed_policy)


def test_files_and_names_are_not_policies_and_tasks(deployed_policy: Any, file: Path) -> None:
    with pytest.raises(TypeError, match=r"task must be a warpdyn.rl.Task, such as rl.make"):
        rl.DeployedPolicy("quadruped_velocity", deployed_policy.policy)
    with pytest.raises(TypeError, match=r"policy must be a warpdyn.rl.Policy, such as rl.Policy"):
        rl.DeployedPolicy(Follow(), file)


def test_a_policy_that_observes_contacts_is_refused(tmp_path: Path) -> None:
    policy = rl.Policy(linear_policy(tmp_path / "a.onnx", np.zeros((3, 2))))
    with pytest.raises(
        rl.TaskError, match=r"Feeling cannot control a robot: .* observes touch, which"
    ):
        rl.DeployedPolicy(Feeling(), policy)


def test_objects_are_not_among_the_joints(tmp_path: Path) -> None:
    """Targets, torques and efforts are those of joints. q and v also have the object.

    Forces between bodies are not measured.
    """
    task = PushedBox()
    policy = rl.Policy(linear_policy(tmp_path / "a.onnx", np.full((13, 1), 0.1)))
    pusher = rl.DeployedPolicy(task, policy)
    q, v = np.array([0.0, 0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]), np.zeros(7)
    action = np.clip(0.1 * (0.1 + 0.05 + 1.0), -1, 1)
    wanted = pusher.step(q, v)
    np.testing.assert_allclose(wanted.targets, [0.2 * action], atol=SINGLE)
    np.testing.assert_allclose(pusher.torques(q[:1], v[:1]), 500 * wanted.targets, atol=1e-3)
    np.testing.assert_allclose(pusher.torques(q[:1] - 1.0, v[:1]), [50.0])
    task.groups = {"policy": ("place", "speed", "push")}
    with pytest.raises(rl.TaskError, match="observes push, which depends on contact forces"):
        rl.DeployedPolicy(task, policy)


def test_a_policy_of_another_task_and_unknown_commands_are_refused(file: Path) -> None:
    with pytest.raises(rl.TaskError, match=r"task Follow .* observes 18 numbers; Hold .* gives 6"):
        rl.DeployedPolicy(Hold(), rl.Policy(file))
    task = Hold()
    task.commanded = "speed"
    with pytest.raises(rl.TaskError, match=r"Hold.commanded is 'speed', which begin does not name"):
        rl.DeployedPolicy(task, rl.Policy(file))


ALONE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "gymnasium", "rsl_rl", "tensordict", "onnx"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "gymnasium" else find(name)
from warpdyn import rl
from test_deployed_case import Hold
deployed = rl.DeployedPolicy(Hold(), rl.Policy(sys.argv[1]))
print(deployed.step([0.1, 0.2], [0.0, 0.0]).targets.shape)
try:
    rl.VecEnv
except ImportError as error:
    print(error)
print(rl.make("quadruped_velocity").name, sorted({"torch", "gymnasium"} & set(sys.modules)))
from warpdyn.cli.main import main
print(main(["train", "cartpole_swing_up"]))
"""


def test_a_deployed_policy_runs_with_onnxruntime_only(tmp_path: Path) -> None:
    """A policy moves a robot without Torch, Gymnasium, rsl_rl and onnx.

    Training then reports the missing package.
    """
    text = Path(sys.modules["rl_cases"].__file__ or "").read_text()
    (tmp_path / "test_deployed_case.py").write_text(text)
    path = linear_policy(tmp_path / "hold.onnx", np.zeros((6, 2)), task="Hold")
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "(2,)" and said[1].startswith("warpdyn.rl.VecEnv needs ")
    assert said[2:] == ["QuadrupedVelocity []", "2"]
    assert "warpdyn.rl.Trainer needs torch, which is not installed" in done.stderr
