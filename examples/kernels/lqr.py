"""LQR: the cost of a rollout under feedback in one kernel, and its gradient with respect to the gains."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

import warpdyn as wd

Gains = Annotated[np.ndarray, wd.kernels.shared((4,))]
Weights = Annotated[np.ndarray, wd.kernels.shared((4, 4))]


@wd.kernel
def step(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    force: Annotated[np.ndarray, ()],
    *,
    dt: float = 0.02,
) -> np.ndarray:
    """State x = (q, v) of a cart and its pole after a semi-implicit step; the pole has no motor."""
    v = v + dt * robot.aba(q, v, np.stack([force, 0.0]))
    return np.concatenate([q + dt * v, v])


@wd.kernel
def cost(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    gains: Gains,
    final: Weights,
    *,
    steps: int = 100,
) -> np.ndarray:
    """Sum of xᵀ x + u² along `steps` steps under u = -gains x, and xᵀ final x at the end."""

    def follow(state: Any) -> Any:
        x, spent = state
        u = -gains @ x
        return step(robot, x[:2], x[2:], u), spent + x @ x + u * u

    x, spent = wd.kernels.repeat(steps, follow, (np.concatenate([q, v]), 0.0))
    return spent + x @ final @ x


model, B = wd.load_robot("cartpole"), 256
rng = np.random.default_rng(0)
q, v = 1e-4 * rng.uniform(-1, 1, (2, B, 2))  # near the upright pole, where it is linear

# The linearised system from derivatives of the step, and the solution of Riccati's equation.
zero = np.zeros((1, 2))
by_q, by_v, by_force = (
    np.asarray(wd.derivatives(step, model, zero, zero, np.zeros(1), wrt=name))[0]
    for name in ("q", "v", "force")
)
A, b = np.concatenate([by_q, by_v], axis=1), by_force.ravel()
P = np.eye(4)
for _ in range(2000):
    best = (b @ P @ A) / (1 + b @ P @ b)
    P = np.eye(4) + A.T @ P @ (A - np.outer(b, best))


def slope(gains: np.ndarray) -> np.ndarray:
    """Gradient of each trajectory's cost with respect to the gains, relative to the cost."""
    tiled = np.tile(gains, (B, 1))
    rows = wd.vjp(cost, model, q, v, tiled, P, cotangents=np.ones(B), wrt="gains")
    return rows / cost(model, q, v, tiled, P)[:, None]


spent = cost(model, q, v, best, P)
x = np.concatenate([q, v], axis=1)
difference = np.abs(spent / np.einsum("bi,ij,bj->b", x, P, x) - 1).max()
print(f"the cost is Riccati's, xᵀ P x, to {difference:.1e}")
at_best, elsewhere = (np.abs(slope(gains)).max() for gains in (best, 0.9 * best))
print(f"its slope: {at_best:.1e} at Riccati's gains, {elsewhere:.1e} at 0.9 times these gains")
