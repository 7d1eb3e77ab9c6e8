"""`warpdyn check`: the five algorithms against Pinocchio and MuJoCo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..model.description import ModelError
from ..peers.mujoco import MuJoCo
from ..peers.peer import NotComparable, Peer, bare
from ..peers.pinocchio import Pinocchio
from .workload import ARGUMENTS, Workload, furthest_link, random_states, relative_error, residual

LIMITS = {"float64": 1e-12, "float32": 1e-5}
"""Largest difference that passes, relative to the largest entry of the peer's answer."""

SAMPLE = 32
"""Random states compared."""


@dataclass(frozen=True)
class Difference:
    """The largest relative difference of one algorithm from a peer; `refusal` says why there is none."""

    algorithm: str
    peer: str
    dtype: str
    worst: float = float("nan")
    refusal: str = ""

    @property
    def passes(self) -> bool:
        return bool(self.refusal) or self.worst <= LIMITS[self.dtype]


PEERS: Mapping[str, tuple[str, str, Callable[..., Peer]]] = {
    "pinocchio": ("Pinocchio", "pin", Pinocchio),
    "mujoco": ("MuJoCo", "mujoco", MuJoCo),
}
"""For each module its title, its package, and what reads a robot with it."""


def find_peers(
    model: Model, path: Path, modules: Sequence[str] = tuple(PEERS), fused: bool = False
) -> tuple[list[Peer], list[str]]:
    """The peers that can be asked, and a line for each that cannot. `fused`: MuJoCo with fixed links made one body."""
    peers: list[Peer] = []
    absent = []
    for module in modules:
        title, package, make = PEERS[module]
        if find_spec(module) is None:
            absent.append(f"{title} is not installed (pip install {package})")
            continue
        try:
            peers.append(
                make(model, urdf_of(model, path), **({"fused": fused} if make is MuJoCo else {}))
            )
        except NotComparable as why:
            absent.append(str(why))
        except ModelError as why:
            absent.append(f"{title} is given URDF: {why}")
    return peers, absent


def urdf_of(model: Model, path: Path) -> str:
    """The file's text; that of another format as warpdyn writes it."""
    text = path.read_text(errors="replace")
    return text if bare(text).tag == "robot" else model.to_urdf()


def compare(
    model: Model, peers: Sequence[Peer], frame: str | None = None, device: str = "cpu"
) -> list[Difference]:
    """Every algorithm, in both precisions, against every peer."""
    frame = frame or furthest_link(model)
    found = []
    for dtype in LIMITS:
        states = random_states(model, SAMPLE)
        for algorithm in ARGUMENTS:
            try:
                work = Workload.of(
                    model, algorithm, states, frame=frame, dtype=dtype, device=device
                )
                work.call()
            except ModelError as error:
                found += [
                    Difference(algorithm, peer.name, dtype, refusal=str(error)) for peer in peers
                ]
                continue
            for peer in peers:
                found.append(Difference(algorithm, peer.name, dtype, difference(peer, work, frame)))
    return found


def difference(peer: Peer, work: Workload, frame: str) -> float:
    """The largest relative difference of the first results; of `aba` its residual."""
    given, ours = work.given(SAMPLE), work.results(SAMPLE)
    if work.algorithm == "aba":
        return residual_by(peer, given, ours)
    answer = getattr(peer, work.algorithm)
    extra = (frame,) if work.algorithm == "jacobian" else ()
    return relative_error(
        ours, np.array([answer(*state, *extra) for state in zip(*given, strict=True)])
    )


def residual_by(peer: Peer, given: Sequence[np.ndarray], a: np.ndarray) -> float:
    """What is wrong with accelerations `a` of the states q, v, tau, by the peer's M and h."""
    q, v, tau = given
    M = np.array([peer.crba(x) for x in q])
    h = np.array([peer.rnea(x, y, np.zeros_like(y)) for x, y in zip(q, v, strict=True)])
    return residual(M, h, a, tau)


def table(title: str, differences: Sequence[Difference]) -> Any:
    """A row for each algorithm, a column for each peer and precision; what is above its limit is marked."""
    from rich.table import Table

    result = Table(title=title, title_justify="left", title_style="bold")
    columns = list(dict.fromkeys((d.peer, d.dtype) for d in differences))
    cells = {(d.algorithm, d.peer, d.dtype): d for d in differences}
    result.add_column("algorithm")
    for peer, dtype in columns:
        result.add_column(f"{peer}\n{dtype}, limit {LIMITS[dtype]:g}", justify="right")
    for algorithm in dict.fromkeys(d.algorithm for d in differences):
        row = [cells[(algorithm, peer, dtype)] for peer, dtype in columns]
        result.add_row(algorithm, *(_cell(d) for d in row))
    return result


def _cell(d: Difference) -> str:
    if d.refusal:
        return "not defined"
    return f"{d.worst:.1e}" if d.passes else f"[red]{d.worst:.1e} too large[/red]"
