"""A box and a quadruped on the ground, and their contact points."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd

G, DT = 9.81, 0.005
CUBE = """<robot name="cube"><link name="b"><inertial><mass value="1"/><inertia ixx="{0}" ixy="0"
ixz="0" iyy="{0}" iyz="0" izz="{0}"/></inertial></link></robot>"""
BOX = wd.load_urdf(CUBE.format(0.01 / 6), floating_base=True)
CORNERS = tuple(
    wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)
)
BOX_OPTIONS: dict[str, Any] = {
    **{"dt": DT, "points": CORNERS, "sweeps": 8},
    "ground": wd.Ground(0.5, 5e4, 0.01),
}
SINK = G / 4 / 5e4
"""How deep the box lies in the ground."""

QUADRUPED = wd.load_robot("quadruped").with_armature(0.01)
FEET = tuple(
    wd.ContactPoint(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "FR", "RL", "RR")
)
STANCE = np.array([0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5])
WEIGHT = QUADRUPED.total_mass * G
