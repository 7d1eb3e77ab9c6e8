"""Calibration: joint offsets from measured tool poses, by Gauss-Newton iterations on a kernel's residual."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd


@wd.kernel
def residual(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    measured: Annotated[np.ndarray, (4, 4)],
    offsets: Annotated[np.ndarray, wd.kernels.shared(("nv",))],
    *,
    frame: str,
) -> np.ndarray:
    """Residual of a measurement: nine numbers of orientation and three of position [m], row by row."""
    pose = robot.fk(robot.integrate(q, offsets), frame=frame)
    return (measured - pose)[:3].ravel()


model, SAMPLES, NOISE, TOOL = wd.load_robot("ur5e"), 500, 1e-3, "tool0"
rng = np.random.default_rng(0)
true = rng.uniform(-0.05, 0.05, model.nv)  # offsets of the encoders [rad]
q = wd.random_configuration(model, SAMPLES, seed=1)
measured = np.array(wd.fk(model, q + true, frame=TOOL))
measured[:, :3] += NOISE * rng.normal(size=(SAMPLES, 3, 4))

offsets = np.zeros(model.nv)
for k in range(5):
    r = residual(model, q, measured, offsets, frame=TOOL)
    print(
        f"{k}: residual {np.sqrt((r * r).mean()):.6f}, error {np.abs(offsets - true).max():.6f} rad"
    )
    J = wd.derivatives(residual, model, q, measured, offsets, frame=TOOL, wrt="offsets")
    J = np.asarray(J).reshape(r.size, model.nv)
    offsets = offsets - np.linalg.lstsq(J, r.ravel(), rcond=None)[0]
error = np.abs(offsets - true).max()
