"""Pinocchio, called from Python for one state after another. Every ratio refers to this peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin

import warpdyn as wd
from warpdyn.cli.workload import furthest_link
from warpdyn.peers.pinocchio import Pinocchio

from ..algorithms import ALGORITHMS
from ..robots import Robot
from . import CannotDo, PreparedRun

NAME, PACKAGES, DTYPE = "Pinocchio", ("pin",), "float64"
FORM = "one Python call for a state, C++ inside"
STATES = 256
"""Different states that the loop goes through; they stay in the cache, in the peer's favour."""

FRAME = pin.LOCAL_WORLD_ALIGNED


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    peer = Pinocchio(robot.model, robot.urdf)
    model, data = peer.robot, peer.robot.createData()
    frame = model.getFrameId(furthest_link(robot.model), pin.BODY)
    if ALGORITHMS[algorithm].gradient:
        raise CannotDo("no vector-Jacobian products; matrices of derivatives only")
    links = [model.getFrameId(name, pin.BODY) for name in robot.model.link_names]
    call, answer = functions(model, data, frame, peer.G, links)[algorithm]
    given = convert(peer, states, ALGORITHMS[algorithm].arrays, STATES)

    def run() -> None:
        for state in given:
            call(*state)

    def answers() -> list[np.ndarray]:
        rows = []
        for e, state in enumerate(given[:16]):
            found = answer(call(*state))
            if algorithm == "centroidal_momentum_matrix":  # about the centre of mass of what moves
                shift = data.com[0] - wd.com(robot.model, states["q"][e])
                found[3:] += np.cross(shift, found[:3], axisb=0, axisc=0)
            rows.append(found if isinstance(found, tuple) else (found,))
        return [np.array(column) for column in zip(*rows, strict=True)]

    return PreparedRun(run, len(given), answers, FORM)


def convert(
    peer: Pinocchio, states: Mapping[str, np.ndarray], names: tuple[str, ...], count: int
) -> list[tuple]:
    """Arguments of each state in Pinocchio's coordinates."""
    rows = range(min(count, len(states["q"])))
    own = {"q": [peer.configuration(states["q"][e]) for e in rows]}
    own |= {name: [peer.G @ states[name][e] for e in rows] for name in names if name != "q"}
    return list(zip(*(own[name] for name in names), strict=True))


def functions(
    model: Any, data: Any, frame: int, G: np.ndarray, links: list[int]
) -> dict[str, tuple[Callable, Callable]]:
    """The timed call of each algorithm, and its results in warpdyn's coordinates."""

    def fk_frame(q: np.ndarray) -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, frame)

    def jacobian_derivative(q: np.ndarray, v: np.ndarray) -> Any:
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.updateFramePlacements(model, data)
        return pin.getFrameJacobianTimeVariation(model, data, frame, FRAME)

    def upper(M: np.ndarray) -> np.ndarray:
        return np.triu(M) + np.triu(M, 1).T

    def square(M: np.ndarray) -> np.ndarray:
        return G.T @ M @ G

    def columns(J: np.ndarray) -> np.ndarray:
        return J.reshape(6, -1) @ G

    return {
        "fk_frame": (fk_frame, lambda _: data.oMf[frame].homogeneous.copy()),
        "fk": (
            lambda q: pin.framesForwardKinematics(model, data, q),
            lambda _: np.array([data.oMf[i].homogeneous for i in links]),
        ),
        "jacobian": (lambda q: pin.computeFrameJacobian(model, data, q, frame, FRAME), columns),
        "jacobian_derivative": (jacobian_derivative, columns),
        "rnea": (lambda q, v, a: pin.rnea(model, data, q, v, a), lambda tau: G.T @ tau),
        "gravity_torques": (
            lambda q: pin.computeGeneralizedGravity(model, data, q),
            lambda g: G.T @ g,
        ),
        "crba": (lambda q: pin.crba(model, data, q), lambda M: square(upper(M))),
        "aba": (lambda q, v, tau: pin.aba(model, data, q, v, tau), lambda a: G.T @ a),
        "mass_matrix_inverse": (
            lambda q: pin.computeMinverse(model, data, q),
            lambda M: square(upper(M)),
        ),
        "coriolis_matrix": (lambda q, v: pin.computeCoriolisMatrix(model, data, q, v), square),
        "centroidal_momentum_matrix": (lambda q: pin.computeCentroidalMap(model, data, q), columns),
        "rnea_derivatives": (
            lambda q, v, a: pin.computeRNEADerivatives(model, data, q, v, a),
            lambda found: (square(found[0]), square(found[1]), square(upper(found[2]))),
        ),
        "aba_derivatives": (
            lambda q, v, tau: pin.computeABADerivatives(model, data, q, v, tau),
            lambda found: (
                G.T @ data.ddq,
                square(found[0]),
                square(found[1]),
                square(upper(found[2])),
            ),
        ),
    }
