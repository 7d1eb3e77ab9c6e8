"""Cartesian impedance with gravity compensation: a spring and a damper hold the hand of every robot."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd


@wd.kernel
def impedance(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    target: Annotated[np.ndarray, (3,)],
    *,
    frame: str,
    stiffness: float = 400.0,
    damping: float = 40.0,
) -> np.ndarray:
    """Torques that pull `frame` to `target` [m] like a spring and carry the robot's weight."""
    J = robot.jacobian(q, frame=frame, reference="local_world_aligned")[:3]
    error = target - robot.fk(q, frame=frame)[:3, 3]
    return robot.gravity_torques(q) + J.T @ (stiffness * error - damping * (J @ v))


HAND = "panda_hand_tcp"
model, B = wd.load_robot("panda"), 4096
rng = np.random.default_rng(0)
q, v = rng.uniform(-1, 1, (2, B, model.nv))
target = rng.uniform(0.2, 0.5, (B, 3))

tau = impedance(model, q, v, target, frame=HAND)

# The same in NumPy, from four calls.
J = wd.jacobian(model, q, frame=HAND, reference="local_world_aligned")[:, :3]
force = 400 * (target - wd.fk(model, q, frame=HAND)[:, :3, 3]) - 40 * np.einsum("bij,bj->bi", J, v)
by_calls = wd.gravity_torques(model, q) + np.einsum("bij,bi->bj", J, force)
difference = np.abs(tau - by_calls).max()
print(f"largest difference from the same in NumPy: {difference:.1e} N·m")
