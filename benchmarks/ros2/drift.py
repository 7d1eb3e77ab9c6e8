"""Drift of an arm that gravity compensation alone holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from examples.demo.closed_loop import closed_loop

from .arm import ARM, arm_urdf

POSES = {
    "ready": [0.0, -0.785398, 0.0, -2.356194, 0.0, 1.570796, 0.785398],
    "stretched": [0.3, 0.9, 0.2, -0.6, 0.3, 1.2, 0.1],
    "sideways": [1.2, 0.4, -1.0, -1.6, 0.8, 2.2, -0.6],
}
PATIENT = {"state_timeout": 10.0}
"""The node's watchdog: a busy machine, which would end the torques, is not what is looked at."""


def drift(folder: Path, seconds: float = 10.0) -> dict[str, Any]:
    """MuJoCo panda, 0.5 N·m·s/rad of damping, gravity compensation alone for ten seconds."""
    results = {}
    for payload in (0.0, 2.0):
        for name, pose in POSES.items():
            load = {
                "payload.link": "panda_hand",
                "payload.mass": payload,
                "payload.com": [0.0, 0.0, 0.1],
            }
            plant = {"pose_joints": ARM, "pose": pose, "damping": 0.5} | (load if payload else {})
            node = PATIENT | (load if payload else {})
            run = closed_loop((1.0, seconds), plant=plant, node=node)
            results[f"{name}, {payload:g} kg"] = {
                "fall_deg": float(run.fall.max()),
                "hold_deg": float(run.hold.max()),
                "torque_error_nm": run.torque_error,
                "load_average": os.getloadavg()[0],
            }
            print(f"  {name}, {payload:g} kg: {results[f'{name}, {payload:g} kg']}", flush=True)
    return results


def float_(folder: Path, seconds: float = 60.0, rate: float = 1000.0) -> dict[str, Any]:
    """A UR5e and a panda with fixed fingers, held by gravity compensation alone for a minute."""
    results = {}
    for name, robot in (("ur5e", "ur5e"), ("panda", str(arm_urdf(folder)))):
        run = closed_loop((1.0, seconds), robot=robot, plant={"rate": rate}, node=PATIENT)
        results[name] = {
            "seconds": seconds,
            "states_wanted_hz": rate,
            "states_hz": (len(run.times) - 1) / float(run.times[-1] - run.times[0]),
            "fall_in_1_s_deg": float(run.fall.max()),
            "hold_deg": float(run.hold.max()),
            "torque_error_nm": run.torque_error,
            "load_average": os.getloadavg()[0],
        }
        print(f"  {name}: {results[name]}", flush=True)
    return results
