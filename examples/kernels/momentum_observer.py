"""A momentum observer: external torques from q, v and the motors' torques, with its state updated in place."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd

Torques = Annotated[np.ndarray, ("nv",)]


@wd.kernel
def observe(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    integral: Torques,
    external: Torques,
    *,
    gain: float = 100.0,
    dt: float = 1e-3,
) -> dict[str, np.ndarray]:
    """The observer's state after a step; `external` follows the external torques with a lag of 1 / gain seconds.

    De Luca and Mattone, ICRA 2003: d/dt (M v) = tau + Cᵀ v - g + external. `integral` begins at M v.
    """
    rate = tau + robot.coriolis_matrix(q, v).T @ v - robot.gravity_torques(q)
    integral = integral + dt * (rate + external)
    return {"integral": integral, "external": gain * (robot.crba(q) @ v - integral)}


model, B, DT, STEPS = wd.load_robot("ur5e"), 256, 1e-4, 2000
rng = np.random.default_rng(0)
q, v = rng.uniform(-0.5, 0.5, (2, B, model.nv))
pushed = rng.uniform(-5, 5, (B, model.nv))  # unknown to the observer
tau, a = np.zeros((2, B, model.nv))
external = np.zeros((B, model.nv))
integral = np.einsum("bij,bj->bi", wd.crba(model, q), v)

state = {"integral": integral, "external": external}
for _ in range(STEPS):
    tau[:] = wd.gravity_torques(model, q) - 5 * v
    a[:] = wd.aba(model, q, v, tau + pushed)  # in place of a robot
    q += DT * (v + 0.5 * DT * a)
    v += DT * a
    observe(model, q, v, tau, integral, external, out=state, gain=100.0, dt=DT)

difference = np.abs(external - pushed).max() / np.abs(pushed).max()
print(f"after {STEPS * DT:.1f} s the observed torques are those that push, to {difference:.1e}")
