"""`warpdyn check`: the five algorithms against Pinocchio and MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..description import ModelError
from ..model import Model
from .peers import MuJoCo, NotComparable, Peer, Pinocchio
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


def find_peers(model: Model, urdf: str) -> tuple[list[Peer], list[str]]:
    """The peers that can be asked, and a line for each that cannot."""
    peers: list[Peer] = []
    absent = []
    for title, package, module, make in (
        ("Pinocchio", "pin", "pinocchio", Pinocchio),
        ("MuJoCo", "mujoco", "mujoco", MuJoCo),
    ):
        if find_spec(module) is None:
            absent.append(f"{title} is not installed (pip install {package})")
            continue
        try:
            peers.append(make(model, urdf))
        except NotComparable as why:
            absent.append(str(why))
    return peers, absent


def compare(model: Model, peers: Sequence[Peer], frame: str | None = None, device: str = "cpu") -> list[Difference]:
    """Every algorithm, in both precisions, against every peer."""
    frame = frame or furthest_link(model)
    found = []
    for dtype in LIMITS:
        drawn = random_states(model, SAMPLE)
        states = {name: x.astype(dtype).astype(float) for name, x in drawn.items()}  # what the kernel is given, exactly
        for algorithm in ARGUMENTS:
            try:
                work = Workload.of(model, algorithm, states, frame=frame, dtype=dtype, device=device)
                work.call()
            except ModelError as error:
                found += [Difference(algorithm, peer.name, dtype, refusal=str(error)) for peer in peers]
                continue
            for peer in peers:
                found.append(Difference(algorithm, peer.name, dtype, _difference(peer, work, states, frame)))
    return found


def _difference(peer: Peer, work: Workload, states: dict[str, np.ndarray], frame: str) -> float:
    rows = range(SAMPLE)
    q, v, tau, ours = states["q"], states["v"], states["tau"], work.results()
    if work.algorithm == "aba":
        M = np.array([peer.crba(q[e]) for e in rows])
        h = np.array([peer.rnea(q[e], v[e], np.zeros(work.model.nv)) for e in rows])
        return residual(M, h, ours, tau)
    inputs = [states[name] for name in ARGUMENTS[work.algorithm]]
    extra = (frame,) if work.algorithm == "jacobian" else ()
    answer = getattr(peer, work.algorithm)
    return relative_error(ours, np.array([answer(*(x[e] for x in inputs), *extra) for e in rows]))


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
