"""Two user kernels, and arrays for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from states import states

import warpdyn as wd

EXACT, SINGLE = 1e-11, 2e-4


@wd.kernel
def impedance(
    robot: Any, q: Any, v: Any, target: (3,), *, frame: str, stiffness: float = 400.0
) -> Any:  # type: ignore[valid-type]
    """Torques that pull `frame` to `target` like a spring and carry the robot's weight."""
    J = robot.jacobian(q, frame=frame)[:3]
    error = target - robot.fk(q, frame=frame)[:3, 3]
    return robot.gravity_torques(q) + J.T @ (stiffness * error - 40.0 * (J @ v))


@wd.kernel
def falling(robot: Any, q: Any, v: Any, age: (), *, dt: float = 0.01) -> Any:  # type: ignore[valid-type]
    """A semi-implicit step without torques, in place."""
    v = v + dt * robot.aba(q, v, np.zeros(robot.nv))
    return {"q": robot.integrate(q, dt * v), "v": v, "age": age + dt, "old": age > 0.5}


def arrays(model: wd.Model, count: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    s = states(model, count)
    target = np.random.default_rng(1).uniform(-0.5, 0.5, (count, 3))
    return tuple(x.astype(dtype) for x in (s.q, s.v, target))
