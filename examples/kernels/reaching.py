"""A reaching task: observations, rewards, ends of episodes, and new targets, which the kernel draws."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd

Number = Annotated[np.ndarray, ()]


@wd.kernel
def observe(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    target: Annotated[np.ndarray, (3,)],
    age: Number,
    episode: Number,
    *,
    frame: str,
    near: float = 0.05,
    longest: int = 100,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Observation and reward of a policy, and the next target if the episode ends."""
    way = target - robot.fk(q, frame=frame)[:3, 3]
    distance = np.linalg.norm(way)
    reached = distance < near
    done = reached | (age >= longest)

    episode = episode + done
    key = wd.random.key(seed, robot.env, episode)
    drawn = wd.random.uniform(key, 3, low=[0.3, -0.4, 0.2], high=[0.6, 0.4, 0.7])
    return {
        "observation": np.concatenate([np.cos(q), np.sin(q), v, way]),
        "reward": np.exp(-5.0 * distance) + 10.0 * reached - 1e-3 * (v @ v),
        "done": done,
        "target": np.where(done, drawn, target),
        "age": np.where(done, 0.0, age + 1),
        "episode": episode,
    }


HAND = "panda_hand_tcp"
model, B = wd.load_robot("panda"), 4096
rng = np.random.default_rng(0)
q, v = rng.uniform(-1, 1, (2, B, model.nv))
target = wd.fk(model, q, frame=HAND)[:, :3, 3] + rng.uniform(-0.1, 0.1, (B, 3))
age, episode = rng.integers(0, 102, B).astype(float), np.zeros(B)

now = observe(model, q, v, target, age, episode, frame=HAND)
few = observe(model, q[:3], v[:3], target[:3], age[:3], episode[:3], frame=HAND)
print(f"{now.done.sum()} of {B} episodes end; their next targets lie around", end=" ")
print(now.target[now.done].mean(0).round(2), "m, the same in a batch of 3:", end=" ")
print((now.target[:3] == few.target).all())

# The reward in NumPy.
distance = np.linalg.norm(target - wd.fk(model, q, frame=HAND)[:, :3, 3], axis=1)
wanted = np.exp(-5 * distance) + 10 * (distance < 0.05) - 1e-3 * (v * v).sum(1)
difference = np.abs(now.reward - wanted).max()
print(f"largest difference of the rewards from NumPy's: {difference:.1e}")
