"""A hand that points down moves as commanded within its workspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.tasks.lift_tasks import CUBE
from warpdyn.rl.tasks.panda_hand import ARM, FINGERS, HAND, JOINTS, PAD, ROTORS, arm_with_pads

TASK = rl.make("panda_lift")
ENVS = 16


@pytest.fixture(scope="module")
def env() -> Any:
    return rl.VecEnv(TASK, ENVS, seed=3)


def hands(env: Any, name: str = "q") -> np.ndarray:
    """Poses of the hands at q, or at the drives' targets."""
    q = env.carried["q"].double().numpy().copy()
    if name == "wanted":
        q[:, :JOINTS] = env.carried["wanted"].double().numpy()
    found: np.ndarray = wd.oracle(wd.fk, TASK.model, q, frame=HAND)
    return found


def test_finger_pads_face_each_other_at_the_tool_point() -> None:
    """Each is on its side. Each finger has its own drive."""
    model = arm_with_pads()
    assert len(model.joint_names) == JOINTS and not any(j.mimic for j in model.joints)
    assert {j.armature for j in model.joints if j.kind.nv} == {ROTORS}
    q = np.zeros((1, JOINTS))
    tool = wd.oracle(wd.fk, model, q, frame=HAND)[0]
    for finger, side in zip(FINGERS, (1.0, -1.0), strict=True):
        (pad,) = model.link(finger).collisions
        assert pad.shape == "box" and pad.size == PAD
        T = np.linalg.inv(tool) @ wd.oracle(wd.fk, model, q, frame=finger)[0]
        middle = T[:3, :3] @ np.array(pad.pose.position) + T[:3, 3]
        assert middle == pytest.approx([0.0, side * PAD[1] / 2, 0.0], abs=1e-3)


def test_the_hand_moves_at_the_commanded_velocity(env: Any) -> None:
    """Actions are shares of its largest speeds.

    It does not tilt, and the arm follows its targets closely.
    """
    env.reset(seed=env.kernels.seed)
    for _ in range(10):  # the first posture is a little off
        env.step(torch.zeros(ENVS, 5))
    before = hands(env, "wanted")
    shares = np.array([0.2, -0.15, 0.1, 0.3])
    for _ in range(10):
        env.step(torch.tensor([*shares, 0.0], dtype=torch.float32).expand(ENVS, 5))
    after = hands(env, "wanted")
    moved = after[:, :3, 3] - before[:, :3, 3]
    told = 10 * TASK.step_seconds * shares * TASK.speeds
    assert np.allclose(moved, told[:3], atol=4e-3)
    turned = np.arctan2(after[:, 1, 0], after[:, 0, 0]) - np.arctan2(
        before[:, 1, 0], before[:, 0, 0]
    )
    assert np.allclose(turned, told[3], atol=0.02)
    assert after[:, 2, 2].max() < -np.cos(np.radians(1.5))
    lag = np.linalg.norm(hands(env)[:, :3, 3] - after[:, :3, 3], axis=1)
    assert lag.max() < 0.03


def test_the_hand_stays_within_its_workspace(env: Any) -> None:
    low, high = np.array(TASK.room)
    for signs in ((1.0, 1.0, 1.0), (-1.0, -1.0, -1.0)):
        env.reset(seed=env.kernels.seed)
        for _ in range(60):
            env.step(torch.tensor([*signs, 0.0, 0.0]).expand(ENVS, 5))
        at = hands(env, "wanted")[:, :3, 3]
        assert (at > low - 2e-3).all() and (at < high + 2e-3).all()
        wall = high if signs[0] > 0 else low
        assert np.allclose(at[:, 1], wall[1], atol=0.02)


def test_the_arm_stands_still_without_an_action(env: Any) -> None:
    """The drives carry its weight, and the cube lies still."""
    env.reset(seed=env.kernels.seed)
    before = env.carried["q"][:, JOINTS:].clone()
    for _ in range(50):
        env.step(torch.zeros(ENVS, 5))
    lag = (env.carried["wanted"] - env.carried["q"][:, :JOINTS]).abs()
    assert lag[:, :ARM].max() < 2e-3 and lag.max() < 2e-3
    assert (env.carried["q"][:, JOINTS:] - before).abs().max() < 1e-3


def test_fingers_open_and_close_within_their_range(env: Any) -> None:
    env.reset(seed=env.kernels.seed)
    for opening, end in ((-1.0, -TASK.squeeze), (1.0, 0.04)):
        for _ in range(12):
            env.step(torch.tensor([0.0, 0.0, 0.0, 0.0, opening]).expand(ENVS, 5))
        assert torch.allclose(env.carried["wanted"][:, ARM:], torch.tensor(end))
    assert torch.allclose(env.carried["q"][:, ARM:JOINTS], torch.tensor(0.04), atol=2e-3)


def test_a_quarter_turn_of_an_object_does_not_change_its_observation() -> None:
    """Its angle to the hand is observed times four. A positive angle is a turn to the left."""

    @wd.kernel
    def observe_object(robot: Any, q: Any) -> Any:
        s = rl.Episode({"q": q, "v": np.zeros(TASK.model.nv)}, TASK)
        away, turn = TASK._object_in_hand(robot, s, CUBE)
        return np.concatenate([away, turn])

    def of(angle: float) -> np.ndarray:
        pose = [0.5, 0.1, 0.02, 0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)]
        q = np.array([*TASK.ready, 0.04, 0.04, *pose])
        found: np.ndarray = wd.oracle(observe_object, TASK.model, q[None])[0]
        return found

    hand = wd.oracle(wd.fk, TASK.model, np.array([[*TASK.ready, *np.zeros(9)]]), frame=HAND)[0]
    assert of(0.0)[:3] == pytest.approx(np.array([0.5, 0.1, 0.02]) - hand[:3, 3])
    assert of(0.2)[3:] == pytest.approx([np.cos(0.8), np.sin(0.8)], abs=1e-6)
    assert of(0.2 - np.pi / 2) == pytest.approx(of(0.2), abs=1e-9)
