"""Scenes on soft ground that warpdyn and JaxSim both compute: robots, points, states and parameters.

`benchmarks.jaxsim_contacts` stores JaxSim's results in `results/jaxsim_contacts.json`. Tests compare
warpdyn with them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd

STORED = Path(__file__).parent / "results" / "jaxsim_contacts.json"

SECONDS = 2.0
"""Length of a roll-out [s]."""

KEPT = 0.1
"""Time between states that are stored [s]."""

BOX = """<robot name="box"><link name="b"><inertial><origin xyz="0.01 0 -0.005"/><mass value="2"/>
<inertia ixx="0.013" ixy="0" ixz="0.001" iyy="0.017" iyz="0" izz="0.022"/></inertial></link></robot>"""


@dataclass(frozen=True)
class Scene:
    """A robot with its contact points, the ground, and the first state.

    `gains`: stiffness and damping of drives to the first joint angles. Their torques change once per step.
    """

    model: wd.Model
    points: tuple[wd.ContactPoint, ...]
    ground: wd.SoftGround
    q: np.ndarray
    v: np.ndarray
    dt: float
    gains: tuple[float, float] = (0.0, 0.0)

    def states(self) -> list[dict[str, np.ndarray]]:
        """Two states with sticking and slipping points, in the ground and above it."""
        draw = np.random.default_rng(3)
        states = []
        for depth in (0.004, 0.01):
            q = self.q.copy()
            q[3:7] = [*draw.normal(scale=0.01, size=2), np.sin(0.3), np.cos(0.3)]
            q[3:7] /= np.linalg.norm(q[3:7])
            heights = wd.oracle(wd.point_positions, self.model, q, points=self.points)[:, 2]
            q[2] -= np.median(heights) + depth * draw.uniform(0.5, 1)
            v = draw.uniform(-0.3, 0.3, self.model.nv)
            tau = np.array([0.0] * 6 + [*draw.uniform(-3, 3, self.model.nv - 6)])
            m = draw.uniform(-0.002, 0.002, (len(self.points), 3))
            states.append({"q": q, "v": v, "tau": tau, "deformation": m})
        return states

    def roll_out(self, integrator: Any) -> np.ndarray:
        """Configurations at intervals of `KEPT` seconds from the start on: (21, nq)."""
        q, v = self.q[None].copy(), self.v[None].copy()
        m = np.zeros((1, len(self.points), 3))
        every = round(KEPT / self.dt)
        kp, kd = self.gains
        start, kept = q.copy(), [q[0].copy()]
        # A drive that is held for a step needs a launch for each step.
        launches, substeps = (every, 1) if kp else (1, every)
        for _ in range(round(SECONDS / KEPT)):
            for _ in range(launches):
                tau = np.zeros_like(v)
                tau[:, 6:] = kp * (start[:, 7:] - q[:, 7:]) - kd * v[:, 6:]
                options = {"substeps": substeps, "dt": self.dt, "integrator": integrator}
                if integrator == "semi_implicit":
                    options |= {"stops": "none", "speed_guard": False}
                end = wd.step(
                    *(self.model, q, v, tau),
                    points=self.points,
                    ground=self.ground,
                    deformation=m,
                    **options,
                )
                q, v, m = end.q, end.v, end.deformation
            kept.append(q[0].copy())
        return np.array(kept)


def box() -> Scene:
    """A box with off-centre mass that is thrown onto the ground: it lands on an edge, slides, turns and stops."""
    corners = tuple(
        wd.ContactPoint("b", (x, y, z), 0.0)
        for x in (-0.15, 0.15)
        for y in (-0.1, 0.1)
        for z in (-0.05, 0.05)
    )
    return Scene(
        wd.load_urdf(BOX, floating_base=True),
        corners,
        wd.SoftGround(0.4, 2e4, 300.0),
        np.array([0.0, 0.0, 0.08, 0.03, 0.05, 0.0, np.sqrt(1 - 0.0034)]),
        np.array([0.8, 0.3, 0.0, 0.0, 0.0, 1.0]),
        1e-3,
    )


def quadruped() -> Scene:
    """A quadruped whose drives hold its stance, dropped from a small height."""
    model = wd.load_robot("quadruped")
    stance = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]
    feet = tuple(wd.ContactPoint(f"{leg}_foot", (0, 0, 0), 0.0) for leg in ("FL", "FR", "RL", "RR"))
    ground = wd.estimate_good_contact_parameters(
        model, points=feet, friction=0.6, active_points=4, max_penetration=0.005
    )
    start = np.array([0.0, 0.0, 0.33, 0.0, 0.0, 0.0, 1.0, *stance])
    return Scene(model, feet, ground, start, np.zeros(18), 5e-4, (60.0, 1.5))


SCENES = {"box": box, "quadruped": quadruped}
PARITY = ("semi_implicit", "rk4")
"""Integrators of both libraries."""


def load_results() -> dict[str, Any]:
    """JaxSim's results by scene."""
    answers: dict[str, Any] = json.loads(STORED.read_text())
    return answers
