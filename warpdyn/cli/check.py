"""`warpdyn check`: the five algorithms against Pinocchio and MuJoCo."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model import Model
from ..model.description import ModelError
from ..peers.find_peers import find_peers
from ..peers.peer import Peer
from .accuracy import LIMITS, SAMPLE, difference_from
from .command_line import UserError, chosen_device, named_frame, read_model, robot_file
from .tables import console
from .workload import ARGUMENTS, Workload, furthest_link, random_states

if TYPE_CHECKING:
    from rich.table import Table


def check(args: argparse.Namespace) -> int:
    """Compare with Pinocchio and MuJoCo; 1 if a difference is too large, 2 if neither answers."""
    model = read_model(args)
    frame = named_frame(args, model)
    peers, absent = find_peers(model, robot_file(args.robot))
    for line in absent:
        print(f"not compared: {line}")
    if not peers:
        raise UserError("there is no other library to compare with")
    if not model.nv:
        raise UserError(f"{model.name} has no moving joint: nothing to compare")
    differences = compare(model, peers, frame, chosen_device(args.device))
    title = f"{model.name}: largest relative difference over {SAMPLE} random states"
    console().print(table(title, differences))
    print(
        "aba: by its residual M a + h - tau, with the peer's M and h, "
        "relative to the size of its terms"
    )
    refused = {f"{d.algorithm} is not defined: {d.refusal}" for d in differences if d.refusal}
    for line in sorted(refused):
        print(line)
    return 0 if all(d.passes for d in differences) else 1


@dataclass(frozen=True)
class Difference:
    """Largest relative difference from a peer; `refusal` says why there is none."""

    algorithm: str
    peer: str
    dtype: str
    worst: float = float("nan")
    refusal: str = ""

    @property
    def passes(self) -> bool:
        """Whether the difference is within its limit, or there is nothing to compare."""
        return bool(self.refusal) or self.worst <= LIMITS[self.dtype]


def compare(
    model: Model, peers: Sequence[Peer], frame: str | None = None, device: str = "cpu"
) -> list[Difference]:
    """Every algorithm, in both precisions, against every peer."""
    frame = frame or furthest_link(model)
    states, differences = random_states(model, SAMPLE), []
    for dtype in LIMITS:
        for algorithm in ARGUMENTS:
            options = {"frame": frame, "dtype": dtype, "device": device}
            try:
                work = Workload.of(model, algorithm, states, **options)
                work.call()
            except ModelError as error:
                refused = [Difference(algorithm, p.name, dtype, refusal=str(error)) for p in peers]
                differences += refused
                continue
            for peer in peers:
                worst = difference_from(peer, work, frame)
                differences.append(Difference(algorithm, peer.name, dtype, worst))
    return differences


def table(title: str, differences: Sequence[Difference]) -> Table:
    """A row for each algorithm, a column for each peer and precision; failures are marked."""
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
