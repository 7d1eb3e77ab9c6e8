"""Steps of an arm under PD control, in place: four semi-implicit substeps per launch, with joint limits as walls."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

import warpdyn as wd


@wd.kernel
def arm_step(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    q_wanted: np.ndarray,
    gains: Annotated[np.ndarray, wd.kernels.shared((2, "nv"))],
    *,
    dt: float = 5e-4,
    substeps: int = 4,
) -> dict[str, np.ndarray]:
    """State after `substeps` steps of `dt`, with PD torques within the effort limits and joints that stop at theirs."""
    lower, upper, strongest = robot.position_lower, robot.position_upper, robot.effort_limit

    def substep(state: Any) -> Any:
        q, v = state
        tau = robot.gravity_torques(q) + gains[0] * (q_wanted - q) - gains[1] * v
        v = v + dt * robot.aba(q, v, np.clip(tau, -strongest, strongest))
        q = q + dt * v
        v = np.where((q < lower) & (v < 0) | (q > upper) & (v > 0), 0.0, v)
        return np.clip(q, lower, upper), v

    q, v = wd.kernels.repeat(substeps, substep, (q, v))
    return {"q": q, "v": v}


model, B, STEPS = wd.load_robot("ur5e"), 1024, 1000
gains = np.array([[400, 400, 300, 40, 10, 1], [60, 60, 30, 3, 0.5, 0.05]])  # N·m/rad, N·m s/rad
rng = np.random.default_rng(0)
q, v = rng.uniform(-1, 1, (2, B, model.nv))
q[:, 0], v[:, 0] = model.position_upper[0] - 0.1, 3.0  # on its way into the wall
q_wanted = q + rng.uniform(-1, 0, q.shape)
first = q.copy(), v.copy()

step = wd.bind(arm_step, model, q, v, q_wanted, gains, out={"q": q, "v": v})  # runs once
farthest = q[:, 0].max()
for _ in range(STEPS - 1):
    step()
    farthest = max(farthest, q[:, 0].max())
away, beyond = np.abs(q - q_wanted).max(), farthest - model.position_upper[0]
print(f"after {STEPS * 4 * 5e-4:.1f} s the arms are {away:.1e} rad from their targets;", end=" ")
print(f"joint 0 came to its limit, and {beyond:.1e} rad beyond")

# The first two substeps with the public functions. No joint has reached a limit yet.
x, u = first
for _ in range(2):
    tau = wd.gravity_torques(model, x) + gains[0] * (q_wanted - x) - gains[1] * u
    a = wd.aba(model, x, u, np.clip(tau, -model.effort_limit, model.effort_limit))
    u = u + 5e-4 * np.asarray(a)
    x = x + 5e-4 * u
two = arm_step(model, *first, q_wanted, gains, substeps=2)
difference = max(np.abs(two.q - x).max(), np.abs(two.v - u).max())
print(f"largest difference from two substeps by wd.aba: {difference:.1e}")
