"""adam's functions in warpdyn's conventions. For a fixed base, rows and columns of the base are left out.

`K` is adam's KinDynComputations; `xp` is torch or jax.numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..robots import Robot
from . import CannotDo
from .in_mujoco import rotations

GRAVITY = np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0])


def joints_of(robot: Robot) -> list[str]:
    """Joint names in warpdyn's order, which adam then uses."""
    joints = [joint.name for joint in robot.model.moving_joints if joint.kind.nq != 7]
    if any(joint.kind.nv > 1 for joint in robot.model.moving_joints if joint.kind.nq != 7):
        raise CannotDo("joints of one coordinate only")
    return joints


def inputs_of(robot: Robot, states: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Base transform, base twist and joint vectors of each state; "a" and "tau" include the base."""
    q, v, count = states["q"], states["v"], len(states["q"])
    H, twist = np.tile(np.eye(4), (count, 1, 1)), np.zeros((count, 6))
    if robot.floating:
        H[:, :3, 3], H[:, :3, :3], twist = q[:, :3], rotations(q[:, 3:7]), v[:, :6]
    n = 6 if robot.floating else 0
    return {
        "H": H,
        "q": q[:, 7 if robot.floating else 0 :],
        "twist": twist,
        "v": v[:, n:],
        "a": states["a"],
        "tau": states["tau"],
    }


def function_of(
    robot: Robot, algorithm: str, K: Any, xp: Any, solve: Callable
) -> tuple[Callable, tuple[str, ...], str]:
    """The function, the names of its inputs, and a description."""
    frame, first = furthest_link(robot.model), 0 if robot.floating else 6
    plain = ALGORITHMS[algorithm].of or algorithm

    def mass(H: Any, q: Any) -> Any:
        return K.mass_matrix(H, q)[..., first:, first:]

    def bias(H: Any, q: Any, twist: Any, v: Any) -> Any:
        return K.bias_force(H, q, twist, v)[..., first:]

    def rnea(H: Any, q: Any, twist: Any, v: Any, a: Any) -> Any:
        return (mass(H, q) @ a[..., None])[..., 0] + bias(H, q, twist, v)

    def aba(H: Any, q: Any, twist: Any, v: Any, tau: Any) -> Any:
        return solve(mass(H, q), (tau - bias(H, q, twist, v))[..., None])[..., 0]

    def coriolis_free(H: Any, q: Any) -> Any:
        return K.gravity_term(H, q)[..., first:]

    moving = ("H", "q", "twist", "v")
    chain: dict[str, tuple[Callable, tuple[str, ...], str]] = {
        "fk_frame": (
            lambda H, q: K.forward_kinematics(frame, H, q),
            ("H", "q"),
            "forward_kinematics",
        ),
        "jacobian": (lambda H, q: K.jacobian(frame, H, q)[..., first:], ("H", "q"), "jacobian"),
        "rnea": (rnea, (*moving, "a"), "mass_matrix @ a + bias_force"),
        "gravity_torques": (coriolis_free, ("H", "q"), "gravity_term"),
        "crba": (mass, ("H", "q"), "mass_matrix"),
        "aba": (aba, (*moving, "tau"), "mass_matrix, bias_force, a dense solve"),
        "jacobian_derivative": (
            lambda H, q, twist, v: K.jacobian_dot(frame, H, q, twist, v)[..., first:],
            moving,
            "jacobian_dot, the same times the velocity only",
        ),
    }
    if plain not in chain:
        raise CannotDo("no such function")
    if robot.floating and plain != algorithm:
        raise CannotDo("a free base's gradients are of other coordinates there, not converted here")
    return chain[plain]


def convert(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], found: np.ndarray
) -> np.ndarray:
    """The first results in warpdyn's frames. Those of a free base are in the axes of the frame itself.

    jacobian_dot is dJ/dt + (V ×) J with the frame's velocity V = J v, in an inertial frame that coincides
    with J's frame. Its product with v is still dJ/dt v because V × V = 0. The additional term is
    subtracted here, outside the timed function.
    """
    if algorithm not in ("jacobian", "jacobian_derivative"):
        return found
    q, v = states["q"][: len(found)], states["v"][: len(found)]
    frame = furthest_link(robot.model)
    if robot.floating:
        R = wd.fk(robot.model, q, frame=frame)[:, None, :3, :3]
        found = (R @ found.reshape(len(found), 2, 3, -1)).reshape(found.shape)
    if algorithm == "jacobian":
        return found
    J = wd.jacobian(robot.model, q, frame=frame)
    linear, angular = np.split((J @ v[..., None])[..., 0], 2, axis=1)
    extra = np.zeros_like(J)
    extra[:, :3] = np.cross(linear[:, :, None], J[:, 3:], axis=1)
    if (
        not robot.floating
    ):  # for a free base the axes turn with the frame, which gives the rest of the term
        extra += np.cross(angular[:, None, :, None], J.reshape(len(J), 2, 3, -1), axis=2).reshape(
            J.shape
        )
    return found - extra
