"""Pinocchio's own batch functions: one Python call with Pinocchio's thread pool."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from warpdyn.peers.pinocchio import Pinocchio

from ..interleave import CORES
from ..robots import Robot
from . import CannotDo, PreparedRun
from .pinocchio import convert

NAME, PACKAGES, DTYPE = "Pinocchio, batch", ("pin",), "float64"


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> list[PreparedRun]:
    calls = {
        "rnea": (getattr(pin, "rneaInParallel", None), ("q", "v", "a")),
        "aba": (getattr(pin, "abaInParallel", None), ("q", "v", "tau")),
    }
    if algorithm not in calls:
        raise CannotDo("its parallel batch has rnea and aba only")
    call, names = calls[algorithm]
    if call is None:
        raise CannotDo("this build has no OpenMP")
    peer = Pinocchio(robot.model, robot.urdf)
    count = len(states["q"])
    given = [
        np.asfortranarray(np.array(x).T)
        for x in zip(*convert(peer, states, names, count), strict=True)
    ]

    def of(threads: int) -> PreparedRun:
        pool, out = pin.ModelPool(peer.robot, threads), np.zeros((peer.robot.nv, count), order="F")
        return PreparedRun(
            lambda: call(threads, pool, *given, out),
            count,
            lambda: [(peer.G.T @ out[:, :16]).T],
            f"{call.__name__}, {threads} thread{'s' if threads > 1 else ''}",
            threads=threads,
        )

    return [of(threads) for threads in dict.fromkeys((1, len(CORES)))]
