"""Admittance: a frame that moves like a virtual body under the force of a sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

import warpdyn as wd

from .cartesian_impedance import FARTHEST, rotation_vector, turn_vectors
from .frame_split import HEAVIEST, FrameSplit

Number = Annotated[np.ndarray, ()]


@wd.kernel
def admittance(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    pose_desired: Annotated[np.ndarray, (7,)],
    pose_compliant: Annotated[np.ndarray, (7,)],
    twist_compliant: Annotated[np.ndarray, (6,)],
    acceleration_compliant: Annotated[np.ndarray, (6,)],
    contact_wrench: Annotated[np.ndarray, (6,)],
    q_posture: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
    virtual_mass: Annotated[np.ndarray, (6,)],
    virtual_damping: Annotated[np.ndarray, (6,)],
    virtual_stiffness: Annotated[np.ndarray, (6,)] = 0.0,  # type: ignore[assignment]
    bandwidth: Number = 30.0,  # type: ignore[assignment]
    posture_stiffness: Annotated[np.ndarray, ("nv",)] = 5.0,  # type: ignore[assignment]
    posture_damping: Annotated[np.ndarray, ("nv",)] = 1.0,  # type: ignore[assignment]
    *,
    frame: str,
) -> np.ndarray:
    """Torques that make `frame` follow a virtual body, which the measured force moves around ~/pose_reference.

    The node moves the virtual body: M z¨ + D z˙ + K z = F, with M = `virtual_mass` [kg, kg·m²], D = `virtual_damping`
    [N·s/m, N·m·s/rad] and K = `virtual_stiffness` [N/m, N·m/rad], each (6,) by axis of the root link, linear and then
    angular. F is `contact_wrench` [N, N·m] and z the displacement of the body from the wanted pose.
    The body has a largest speed, and waits for a frame that is blocked, so z¨ is `acceleration_compliant`.
    The frame follows the motion of the body by resolved acceleration, with the bandwidth ω [rad/s]:
    tau = h + Jᵀ (Λ (z¨ + 2 ω ė + ω² e - J' v) - F) + the posture in the null space. Siciliano et al., Robotics
    (2009), 9.3.2, and 8.5.2 for the motion control inside. The measured force is compensated,
    so that stiff contact does not disturb the motion.
    """
    place = robot.fk(q, frame=frame)
    J = robot.jacobian(q, frame=frame, reference="local")
    turn = place[:3, :3].T  # from the axes of the root link to those of the frame
    R = robot.quaternion_to_matrix(pose_compliant[3:])
    error = np.concatenate(
        [pose_compliant[:3] - place[:3, 3], rotation_vector(robot, R @ place[:3, :3].T)[0]]
    )
    wanted = (
        acceleration_compliant
        + 2.0 * bandwidth * (twist_compliant - turn_vectors(turn.T, J @ v))
        + bandwidth**2 * error
    )
    wanted = wanted - robot.frame_bias_acceleration(q, v, frame=frame)
    split = FrameSplit(robot.crba(q), J, HEAVIEST * robot.total_mass)
    _, rest = split.parts(split.velocity(v))
    stray = np.clip(robot.difference(q, q_posture), -FARTHEST, FARTHEST)
    pull = posture_stiffness * stray - posture_damping * split.free_velocity(rest)
    led = split.inertial(turn_vectors(turn, wanted)) + split.free_torque(pull)
    bias = robot.rnea(q, v, 0.0 * v, f_ext=f_ext, gravity=gravity)
    return bias + split.torques(led) - J.T @ turn_vectors(turn, contact_wrench)


largest_admittance = {
    "virtual_mass": 1e4,
    "virtual_damping": 1e6,
    "virtual_stiffness": 1e6,
    "bandwidth": 500.0,
    "posture_stiffness": 1e5,
    "posture_damping": 1e4,
}
"""Numbers above these are mistakes."""


def check_admittance(inputs: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError for a virtual body that has no mass or that gains energy."""
    if not (inputs["virtual_mass"] >= 0.01).all():
        raise ValueError(
            f"virtual_mass must be at least 0.01, got {inputs['virtual_mass'].min():g}"
        )
    for name in (
        "virtual_damping",
        "virtual_stiffness",
        "bandwidth",
        "posture_stiffness",
        "posture_damping",
    ):
        if (inputs[name] < 0.0).any():
            raise ValueError(f"{name} must be at least 0, got {inputs[name].min():g}")
