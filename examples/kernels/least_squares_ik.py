"""Inverse kinematics by damped least squares as a user's kernel: a step is repeated until the pose is reached."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

import warpdyn as wd


@wd.kernel
def reach(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    target: Annotated[np.ndarray, (4, 4)],
    *,
    frame: str,
    steps: int = 60,
    near: tuple[float, float] = (1e-4, 1e-3),
) -> dict[str, np.ndarray]:
    """A configuration near q with `frame` at `target`, the success, and the number of steps.

    Damping in proportion to the squared error: Sugihara, IEEE T-RO 27 (2011).
    """

    def step(state: Any) -> Any:
        q, _, count = state
        pose, J = robot.pose_and_jacobian(q, frame=frame, reference="local")
        R = pose[:3, :3].T @ target[:3, :3]
        turn = 0.5 * np.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        error = np.concatenate([pose[:3, :3].T @ (target[:3, 3] - pose[:3, 3]), turn])
        there = (np.linalg.norm(error[:3]) < near[0]) & (np.linalg.norm(turn) < near[1])
        there = there & (np.trace(R) > 0)  # excludes half a turn, where the sine is small too
        damping = 0.1 * (error @ error) + 1e-6
        d = J.T @ wd.kernels.solve_symmetric(J @ J.T + damping * np.eye(6), error)
        moved = robot.clamp(robot.integrate(q, d))
        return np.where(there, q, moved), there, count + 1

    q, there, count = wd.kernels.repeat(steps, step, (q, False, 0), until=lambda state: state[1])
    return {"q": q, "success": there, "steps": count.astype(int)}


model, B, HAND = wd.load_robot("panda"), 4096, "panda_hand"
rng = np.random.default_rng(0)
middle = 0.5 * (model.position_lower + model.position_upper)
goal = middle + 0.8 * (np.asarray(wd.random_configuration(model, B, seed=1)) - middle)
start = goal + rng.uniform(-0.3, 0.3, goal.shape)
targets = np.asarray(wd.fk(model, goal, frame=HAND))

found = reach(model, start, targets, frame=HAND)
print(f"{found.success.sum()} of {B} arms converged, after {found.steps.mean():.1f} steps each")
reached = np.asarray(wd.fk(model, found.q, frame=HAND))
error = np.linalg.norm((reached - targets)[found.success, :3, 3], axis=1).max()
print(f"in these the hand is {error:.1e} m from its target at most")
