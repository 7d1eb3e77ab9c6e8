"""Cartesian impedance: a frame of the arm as a body on springs and dampers around a pose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

import warpdyn as wd

from .frame_split import HEAVIEST, FrameSplit

Axes = Literal["base", "tip"]
Number = Annotated[np.ndarray, ()]

FARTHEST = 1.0
"""Largest deflection for which the springs of the posture still pull harder [rad, m]."""


@wd.kernel
def cartesian_impedance(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    pose_desired: Annotated[np.ndarray, (7,)],
    q_posture: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
    stiffness: Annotated[np.ndarray, (6, 6)],
    damping_ratio: Number = 0.7,  # type: ignore[assignment]
    max_force: Annotated[np.ndarray, (2,)] = (100.0, 20.0),  # type: ignore[assignment]
    posture_stiffness: Annotated[np.ndarray, ("nv",)] = 5.0,  # type: ignore[assignment]
    posture_damping: Annotated[np.ndarray, ("nv",)] = 1.0,  # type: ignore[assignment]
    *,
    frame: str,
    axes: Axes = "base",
) -> np.ndarray:
    """Torques that make `frame` behave like a body on springs and dampers around ~/pose_reference.

    tau = g + Jᵀ (F - D J v) + N Kn (q_n - q) - N Dn Nᵀ v.
    F is the spring force, the negative gradient of ½ eᵀ K e, where e is the displacement to the
    pose [m] and the logarithm of the rotation to it [rad]. K = `stiffness` [N/m, N/rad, N·m/rad],
    in the axes of the root link, or of the pose ("tip"). The spring becomes soft where it would
    exceed `max_force` [N, N·m], and its force remains the gradient of a potential. D gives every
    mode of K and of the frame's inertia Λ = (J M⁻¹ Jᵀ)⁻¹ the `damping_ratio` (Albu-Schäffer et al.,
    2003).
    N = 1 - Jᵀ Λ J M⁻¹ removes from the joints' springs Kn = `posture_stiffness` and dampers Dn =
    `posture_damping` the part that acts on the frame (Khatib 1987; Dietrich, Ott, Albu-Schäffer, An
    Overview of Null Space Projections for Redundant, Torque-Controlled Robots, IJRR 34, 2015).
    """
    place = robot.fk(q, frame=frame)
    J = robot.jacobian(q, frame=frame, reference="local")
    force, K = _spring(robot, place, pose_desired, stiffness, max_force, axes)
    turn = place[:3, :3].T  # from the axes of the root link to those of the frame
    split = FrameSplit(robot.crba(q), J, HEAVIEST * robot.total_mass)
    along, rest = split.parts(split.velocity(v))
    stray = np.clip(robot.difference(q, q_posture), -FARTHEST, FARTHEST)
    pull = posture_stiffness * stray - posture_damping * split.free_velocity(rest)
    damped = split.damping(turn_matrix(turn, K), damping_ratio, along)
    weight = robot.rnea(q, 0.0 * v, 0.0 * v, f_ext=f_ext, gravity=gravity)
    return (
        weight + J.T @ turn_vectors(turn, force) + split.torques(split.free_torque(pull) - damped)
    )


def _spring(
    robot: wd.kernels.Robot, place: Any, pose: Any, stiffness: Any, most: Any, axes: Axes
) -> tuple[Any, Any]:
    """Force and moment of the spring (6,), and its stiffness (6, 6), in the root link's axes."""
    wanted = robot.quaternion_to_matrix(pose[3:])
    turn, half_by_tangent = rotation_vector(robot, wanted @ place[:3, :3].T)
    K = 0.5 * (stiffness + stiffness.T)
    # The largest row sum is not less than the largest stiffness, in any axes.
    hardest = [np.max(np.sum(np.abs(K[rows, rows]), axis=1)) for rows in (slice(3), slice(3, 6))]
    if axes == "tip":
        K = turn_matrix(wanted, K)
    # The gradient of ½ eᵀ K e = E is not larger than √(2 hardest E). Beyond the bound, E's root
    # replaces E. Displacement and rotation have separate potentials, unless K couples them.
    way = pose[:3] - place[:3, 3]
    force, moment = K[:3, :3] @ way + K[:3, 3:] @ turn, K[3:, :3] @ way + K[3:, 3:] @ turn
    coupled = np.max(np.abs(K[:3, 3:])) > 0.0
    energies = [way @ force, turn @ moment]
    softer = []
    for k in range(2):
        twice = np.where(coupled, energies[0] + energies[1], energies[k])
        root = np.sqrt(np.maximum(hardest[k] * twice, 0.0) + 1e-30)
        softer.append(np.minimum(1.0, most[k] / root))
    both = np.minimum(softer[0], softer[1])
    force, moment = (
        np.where(coupled, both, soft) * x for soft, x in zip(softer, (force, moment), strict=True)
    )
    return np.concatenate([force, moment_of(moment, turn, half_by_tangent)]), K


largest_cartesian_impedance = {
    "stiffness": 1e5,
    "damping_ratio": 10.0,
    "max_force": 1e5,
    "posture_stiffness": 1e5,
    "posture_damping": 1e4,
}
"""Numbers above these are mistakes: ten times those of stiff industrial arms."""


def check_cartesian_impedance(inputs: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError for a spring or damper that would drive the arm, or for an invalid
    bound."""
    K = inputs["stiffness"]
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-9 * np.abs(K).max()):
        raise ValueError("stiffness must be a symmetric matrix, or 6 numbers for its diagonal")
    least, largest = np.linalg.eigvalsh(K)[[0, -1]]
    if least < -1e-9 * max(largest, 1.0):
        raise ValueError(f"stiffness must not push: its least eigenvalue is {least:g}, below 0")
    for name in ("damping_ratio", "posture_stiffness", "posture_damping"):
        if (inputs[name] < 0.0).any():
            raise ValueError(f"{name} must be at least 0, got {inputs[name].min():g}")
    if not (inputs["max_force"] > 0.0).all():
        raise ValueError(f"max_force must be above 0 [N, N·m], got {inputs['max_force'].tolist()}")


def turn_vectors(R: Any, x: Any) -> Any:
    """A linear and an angular vector (6,), each turned by the rotation matrix R (3, 3)."""
    return np.concatenate([R @ x[:3], R @ x[3:]])


def turn_matrix(R: Any, K: Any) -> Any:
    """A matrix (6, 6) between such vectors, turned by the rotation matrix R (3, 3)."""
    blocks = [[R @ K[i : i + 3, j : j + 3] @ R.T for j in (0, 3)] for i in (0, 3)]
    return np.concatenate([np.concatenate(row, axis=1) for row in blocks])


def rotation_vector(robot: wd.kernels.Robot, R: Any) -> tuple[Any, Any]:
    """The logarithm of a rotation matrix (3, 3), axis times angle [rad], at most half a turn; and the
    half of the angle divided by its tangent, which `moment_of` needs.

    Solà, Deray, Atchuthan, A micro Lie theory for state estimation in robotics (2018), equation 133.
    """
    quaternion = robot.matrix_to_quaternion(R)
    imaginary, real = quaternion[:3], quaternion[3]
    sine = np.sqrt(imaginary @ imaginary + 1e-30)
    half = np.arctan2(sine, real)
    return (2.0 * half / sine) * imaginary, half * real / sine


def moment_of(slope: Any, turn: Any, half_by_tangent: Any) -> Any:
    """The moment [N·m] of a potential of the rotation vector `turn` whose slope by it is `slope`:
    Jl⁻¹(turn) slope, with the left Jacobian of the group of rotations.

    Solà, Deray, Atchuthan (2018), equation 146. For the same stiffness about all axes it is `slope`.
    """
    angle_squared = turn @ turn + 1e-30
    across = np.cross(turn, slope)
    share = (1.0 - half_by_tangent) / angle_squared
    return slope - 0.5 * across + share * np.cross(turn, across)
