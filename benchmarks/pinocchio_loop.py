"""Pinocchio, called from Python for one state after another: the peer that every ratio refers to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin

from warpdyn.commands.peers import Pinocchio

from . import robots

NAME = f"pin {pin.__version__}"
STATES = 256
"""Different states that the loop goes through; they stay in the cache, in the peer's favour."""


def loop(robot: str, algorithm: str, states: Mapping[str, np.ndarray]) -> Callable[[], None]:
    """A function that computes the first `STATES` states, in Pinocchio's own arrays."""
    peer = Pinocchio(robots.model(robot), robots.urdf(robot))
    rows = range(min(STATES, len(states["q"])))
    q = [peer.configuration(states["q"][e]) for e in rows]
    v, a, tau = ([peer.G @ states[name][e] for e in rows] for name in ("v", "a", "tau"))
    model, data = peer.robot, peer.robot.createData()
    call, arguments = {
        "rnea": (pin.rnea, list(zip(q, v, a, strict=True))),
        "aba": (pin.aba, list(zip(q, v, tau, strict=True))),
        "crba": (pin.crba, [(x,) for x in q]),
        "fk": (pin.framesForwardKinematics, [(x,) for x in q]),
    }[algorithm]

    def run() -> None:
        for given in arguments:
            call(model, data, *given)

    return run
