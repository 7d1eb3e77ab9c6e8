"""`warpdyn bench --peers`: what Pinocchio and MuJoCo take for the same states of the same robot, on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..peers.peer import NotComparable, Peer
from .check import LIMITS, SAMPLE, difference, find_peers, residual_by
from .workload import Workload

LOOP = 256
"""Different states that a peer goes through, one call after the other."""

POSES = ("fk", "jacobian")
"""What needs every link; for all else MuJoCo makes links on fixed joints one body, as it does by default."""


@dataclass(frozen=True)
class Beside:
    """A peer's time for one robot; `refusal` says why there is none."""

    peer: str
    ns_per_robot: float = float("nan")
    difference: float = float("nan")
    """The largest from warpdyn's result, relative."""
    refusal: str = ""


def find(
    model: Model, path: Path, modules: Sequence[str], algorithms: Sequence[str]
) -> tuple[dict[str, list[Peer]], list[str]]:
    """For each algorithm the peers that can be asked, and a line for each that cannot."""
    forms = {
        fused: find_peers(model, path, modules, fused)
        for fused in {name not in POSES for name in algorithms}
    }
    peers = {name: forms[name not in POSES][0] for name in algorithms}
    return peers, list(dict.fromkeys(line for _, absent in forms.values() for line in absent))


def prepare(
    peer: Peer, work: Workload, dtype: str, frame: str
) -> tuple[Beside, Callable[[], Any] | None, int]:
    """A peer's calls, where it has found the same as `work`, and for how many robots they are."""
    try:
        worst = _difference(peer, work, frame)
        if not worst <= LIMITS[dtype]:
            wrong = f"another result: {worst:.1e} apart, more than {LIMITS[dtype]:g}"
            return Beside(peer.name, difference=worst, refusal=wrong), None, 0
        states = zip(*work.given(LOOP), strict=True)
        calls = [peer.call(work.algorithm, *state, frame=frame) for state in states]
    except NotComparable as why:
        return Beside(peer.name, refusal=str(why)), None, 0

    def run() -> None:
        for call in calls:
            call()

    return Beside(peer.name, difference=worst), run, len(calls)


def _difference(peer: Peer, work: Workload, frame: str) -> float:
    """Of warpdyn's results by the peer; of accelerations both are asked for, as the peer finds them otherwise."""
    if work.algorithm != "aba":
        return difference(peer, work, frame)
    given = work.given(SAMPLE)
    theirs = np.array([peer.aba(*state) for state in zip(*given, strict=True)])
    return max(residual_by(peer, given, theirs), difference(peer, work, frame))


def all_of_them() -> bool:
    """Whether this is a checkout, whose `python -m benchmarks` has every peer."""
    return (Path(__file__).parents[2] / "benchmarks" / "peers").is_dir()
