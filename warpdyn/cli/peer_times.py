"""Timings of peers for `warpdyn bench --peers`: their calls on the same states, on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..peers.find_peers import find_peers
from ..peers.peer import NotComparable, Peer
from .accuracy import LIMITS, SAMPLE, difference_from, residual_by
from .workload import Workload

LOOP = 256
"""Number of different states in a loop of a peer's calls."""

POSES = ("fk", "jacobian")
"""Algorithms that need every link. For other algorithms MuJoCo fuses links at fixed joints, as by
default."""


@dataclass(frozen=True)
class PeerTime:
    """A peer's time for one robot; `refusal` says why there is none."""

    peer: str
    ns_per_robot: float = float("nan")
    difference: float = float("nan")
    """Largest relative difference from warpdyn's result."""
    refusal: str = ""


def peers_by_algorithm(
    model: Model, path: Path, modules: Sequence[str], algorithms: Sequence[str]
) -> tuple[dict[str, list[Peer]], list[str]]:
    """The available peers for each algorithm, and a line for each missing one."""
    forms = {
        fused: find_peers(model, path, modules, fused)
        for fused in {name not in POSES for name in algorithms}
    }
    peers = {name: forms[name not in POSES][0] for name in algorithms}
    return peers, list(dict.fromkeys(line for _, absent in forms.values() for line in absent))


def prepare(
    peer: Peer, work: Workload, dtype: str, frame: str
) -> tuple[PeerTime, Callable[[], Any] | None, int]:
    """A peer's calls, if its results agree with those of `work`, and the number of their robots."""
    try:
        worst = _difference(peer, work, frame)
        if not worst <= LIMITS[dtype]:
            wrong = f"another result: {worst:.1e} apart, more than {LIMITS[dtype]:g}"
            return PeerTime(peer.name, difference=worst, refusal=wrong), None, 0
        states = zip(*work.states(LOOP), strict=True)
        calls = [peer.call(work.algorithm, *state, frame=frame) for state in states]
    except NotComparable as why:
        return PeerTime(peer.name, refusal=str(why)), None, 0

    def run() -> None:
        for call in calls:
            call()

    return PeerTime(peer.name, difference=worst), run, len(calls)


def _difference(peer: Peer, work: Workload, frame: str) -> float:
    """Difference between warpdyn's results and the peer's.

    warpdyn's accelerations are compared through the peer's M and h. The peer's own accelerations
    are checked in the same way.
    """
    if work.algorithm != "aba":
        return difference_from(peer, work, frame)
    states = work.states(SAMPLE)
    accelerations = np.array([peer.aba(*state) for state in zip(*states, strict=True)])
    return max(residual_by(peer, states, accelerations), difference_from(peer, work, frame))
