"""A file of control laws, and a fleet that runs one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleets import (
    panda_fleet,
)

from ros2_node.control.fleet import Fleet

TEXT = """import numpy as np
import warpdyn as wd


@wd.kernel
def impedance(robot, q, v, target: (3,), *, frame, stiffness=400.0, damping=40.0):
    J = robot.jacobian(q, frame=frame, reference="local_world_aligned")[:3]
    error = target - robot.fk(q, frame=frame)[:3, 3]
    return robot.gravity_torques(q) + J.T @ (stiffness * error - damping * (J @ v))


@wd.kernel
def tracking(robot, q, v, q_desired, v_desired, a_desired, kp: () = 100.0, *, kd=20.0):
    a = a_desired + kp * (q_desired - q) + kd * (v_desired - v)
    return {"tau": robot.rnea(q, v, a)}


@wd.kernel
def pushed(robot, q, f_ext: ("nlinks", 6), gravity: (3,), bias: wd.kernels.shared(("nv",))):
    return robot.rnea(q, 0 * bias, 0 * bias, f_ext=f_ext, gravity=gravity) + bias


@wd.kernel
def rooted(robot, q, gain: ()):
    return np.sqrt(gain) * robot.gravity_torques(q)


@wd.kernel
def bounded(robot, q, gain: ()):
    return gain * robot.gravity_torques(q)


largest_bounded = {"gain": 5.0}


@wd.kernel
def shaped(robot, q, K: (2, 2), k: ("nv",)):
    return k * (K[0, 0] + K[1, 1] + 10 * K[0, 1]) + 0 * q


def check_shaped(inputs):
    if inputs["k"].min() < 0:
        raise ValueError("k must push")


@wd.kernel
def placed(robot, q, pose_desired: (7,), *, link):
    return pose_desired[0] + 0 * q


@wd.kernel
def two(robot, q):
    return q, q


@wd.kernel
def short(robot, q):
    return q[:3]


@wd.kernel
def odd(robot, q, v: (3,)):
    return q


@wd.kernel
def deciding(robot, q):
    return q if q[0] > 0 else -q
"""


@pytest.fixture(scope="module", name="file")
def law_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("laws") / "my_laws.py"
    path.write_text(TEXT)
    return path


def law_fleet(file: Path, name: str, robots: int = 1, **values) -> Fleet:
    return panda_fleet(robots, law=f"{file}:{name}", ramp_time=0.0, **values)
