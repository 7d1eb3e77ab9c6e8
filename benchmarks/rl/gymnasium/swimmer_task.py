"""Gymnasium's Swimmer-v5, with MuJoCo's fluid forces."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl
from warpdyn.model.description import Link

from .gymnasium_task import GymnasiumTask, sum_of_squares

DENSITY, VISCOSITY = 4000.0, 0.1
"""Properties of the fluid in the file's <option> [kg/m³, Pa s]."""


class GymnasiumSwimmer(GymnasiumTask):
    """Swimmer-v5: three links in a plane of a fluid. Its episodes do not end early.

    `f_ext` is constant during a control step of four steps. It is that of the predicted middle of the
    control step, which has an error of second order.
    """

    environment, file = "Swimmer-v5", "swimmer.xml"
    dt, substeps, actions, largest_action = 0.01, 4, 2, 1.0
    weights = {"forward": 1.0, "effort": -1e-4}  # noqa: RUF012
    learned_share = 0.2
    recipe = rl.Recipe(
        envs=512, steps=64, layers=(64, 64), entropy=0.0, discount=0.999, minutes=3.0
    )

    def __init__(self) -> None:
        super().__init__()
        self.wet = [link for link in self.model.links if link.mass > 0]

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        q = self.first + wd.random.uniform(s.random, self.model.nq, -0.1, 0.1)
        v = wd.random.uniform(s.random.at(40), self.model.nv, -0.1, 0.1)
        return {"q": q, "v": v, "x": q[0], "way": 0.0}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        tau = robot.actuator_torques(s.q, s.v, s.action)
        middle = robot.step(
            *(s.q, s.v, tau),
            dt=self.dt,
            substeps=self.substeps // 2,
            integrator=self.integrator,
            stops=self.stops,
            f_ext=self._drag(robot, s.q, s.v),
        )
        return {"tau": tau, "f_ext": self._drag(robot, middle.q, middle.v)}

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"x": s.q[0], "way": s.q[0] - s.x}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return {"q": s.q[2:], "v": s.v}

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"forward": s.way / self.step_seconds, "effort": sum_of_squares(s.action)}

    def _drag(self, robot: Any, q: Any, v: Any) -> dict[str, Any]:
        """Fluid forces and moments on the links."""
        found = {}
        for link in self.wet:
            velocity = robot.frame_velocity(q, v, frame=link.name, reference="local")
            found[link.name] = fluid_wrench(link, velocity)
        return found


def fluid_wrench(link: Link, velocity: Any) -> Any:
    """MuJoCo's inertia-box model (its documentation, Computation, "Fluid forces"): force and moment
    about the link's origin, in the link's axes (6,) [N, N·m].

    velocity: of the link's origin, linear first, in its axes (6,) [m/s, rad/s]. The link's principal
    axes of inertia are its own.
    """
    a, b, c = np.diag(np.array(link.inertia))
    size = np.sqrt(6.0 / link.mass * np.array([b + c - a, a + c - b, a + b - c]))
    com = np.array(link.com)
    turning = velocity[3:]
    moving = velocity[:3] + np.cross(turning, com)
    mean = float(np.mean(size))
    faces = np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
    edges = [(1, 2), (0, 2), (0, 1)]
    lever = np.array([size[k] * (size[i] ** 4 + size[j] ** 4) for k, (i, j) in enumerate(edges)])
    force = (
        -3.0 * np.pi * mean * VISCOSITY * moving - 0.5 * DENSITY * faces * np.abs(moving) * moving
    )
    moment = (
        -np.pi * mean**3 * VISCOSITY * turning - DENSITY / 64.0 * lever * np.abs(turning) * turning
    )
    return np.concatenate([force, moment + np.cross(com, force)])
