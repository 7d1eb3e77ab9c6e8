"""`warpdyn check`: comparison of the five algorithms with Pinocchio and MuJoCo, or else with the
oracle."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model import Model
from ..model.names import ModelError
from ..peers.find_peers import find_peers
from ..peers.peer import NotComparable, Peer
from .accuracy import LIMITS, SAMPLE, difference_from, error_of
from .command_line import UserError, choose_device, find_frame, peer_file, read_model
from .console import say, show
from .shared_options import Commands, add_command, add_device, add_frame, add_robot
from .workload import ARGUMENTS, Workload, furthest_link, random_states

if TYPE_CHECKING:
    from rich.table import Table

ORACLE = "oracle"
"""Name of the column if there is no peer."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn check`."""
    text = "compare fk, jacobian, crba, rnea and aba with Pinocchio and MuJoCo, else the oracle"
    sub = add_command(commands, "check", text)
    add_robot(sub)
    add_frame(sub)
    add_device(sub)
    sub.set_defaults(run=check)


def check(args: argparse.Namespace) -> int:
    """Compare with Pinocchio and MuJoCo, or with the oracle if neither is available; returns 1 if a
    difference is too large."""
    model = read_model(args)
    frame = find_frame(args, model)
    peers, absent = find_peers(model, peer_file(args))
    for line in absent:
        say(f"not compared: {line}")
    if not model.nv:
        raise UserError(f"{model.name} has no moving joint: nothing to compare")
    if not peers:
        say(
            "no other library reads this robot: its kernels are compared with the oracle, the same "
            "algorithms on plain float64 numbers, which would share a mistake of warpdyn's"
        )
    differences = compare(model, peers, frame, choose_device(args.device))
    say(f"{model.name}: largest relative difference over {SAMPLE} random states")
    show(table(differences))
    whose = "the peer's" if peers else "the oracle's"
    say(
        f"aba: by its residual M a + h - tau, with {whose} M and h, relative to the size of its "
        "terms"
    )
    for line in _only_some(model, peers):
        say(line)
    for line in sorted({f"{d.algorithm}: {d.refusal}" for d in differences if d.refusal}):
        say(line)
    return 0 if all(d.passes for d in differences) else 1


def _only_some(model: Model, peers: Sequence[Peer]) -> Iterator[str]:
    """A line for each peer that lacks links."""
    for peer in peers:
        missing = [name for name in model.link_names if name not in peer.links]
        if missing:
            shown = f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}"
            yield f"fk: {peer.name} has no poses of {len(missing)} links ({shown})"


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
        """True if the difference is within its limit, or if there is nothing to compare."""
        return bool(self.refusal) or self.worst <= LIMITS[self.dtype]


def compare(
    model: Model, peers: Sequence[Peer], frame: str | None = None, device: str = "cpu"
) -> list[Difference]:
    """Compare every algorithm, in both precisions, with every peer, or else with the oracle."""
    common = set(model.link_names).intersection(*(peer.links for peer in peers))
    frame = frame or furthest_link(model, common or None)
    states, differences = random_states(model, SAMPLE), []
    for dtype in LIMITS:
        for algorithm in ARGUMENTS:
            try:
                work = Workload.of(
                    model, algorithm, states, frame=frame, dtype=dtype, device=device
                )
                work.call()
            except ModelError as error:
                no = f"not defined: {error}"
                names = [p.name for p in peers] or [ORACLE]
                differences += [Difference(algorithm, name, dtype, refusal=no) for name in names]
                continue
            if not peers:
                worst = error_of(work, SAMPLE)
                differences.append(Difference(algorithm, ORACLE, dtype, worst))
            for peer in peers:
                try:
                    worst, refusal = difference_from(peer, work, frame), ""
                except NotComparable as why:
                    worst, refusal = float("nan"), f"not compared: {why}"
                differences.append(Difference(algorithm, peer.name, dtype, worst, refusal))
    return differences


def table(differences: Sequence[Difference]) -> Table:
    """A row for each algorithm and precision, a column for each peer; failures are marked."""
    from rich.table import Table

    result = Table()
    peers = list(dict.fromkeys(d.peer for d in differences))
    cells = {(d.algorithm, d.dtype, d.peer): d for d in differences}
    for name in ("algorithm", "precision"):
        result.add_column(name, no_wrap=True)
    result.add_column("limit", justify="right", no_wrap=True)
    for peer in peers:
        result.add_column(peer, justify="right")
    for dtype in dict.fromkeys(d.dtype for d in differences):
        for algorithm in dict.fromkeys(d.algorithm for d in differences):
            row = [cells[(algorithm, dtype, peer)] for peer in peers]
            result.add_row(algorithm, dtype, f"{LIMITS[dtype]:g}", *(_cell(d) for d in row))
        result.add_section()
    return result


def _cell(d: Difference) -> str:
    if d.refusal:
        return d.refusal.partition(":")[0]
    return f"{d.worst:.1e}" if d.passes else f"[red]{d.worst:.1e} too large[/red]"
