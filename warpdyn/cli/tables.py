"""Tables of measurements, with notes for the reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .accuracy import LIMITS
from .console import in_words, say, short, show
from .peer_times import LOOP
from .timing import Measurement

if TYPE_CHECKING:
    from rich.table import Table


def print_measurements(title: str, measurements: Sequence[Measurement]) -> None:
    """Print the title, the table, and notes for the reader."""
    say(title)
    show(table(measurements))
    for line in explain(measurements):
        say(line)


def table(measurements: Sequence[Measurement]) -> Table:
    """The measurements as a table; a peer's columns follow warpdyn's."""
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.table import Table

    peers = list(dict.fromkeys(p.peer for m in measurements for p in m.peers))
    # Both forms fit into 80 columns; with peers, columns without a comparison are left out.
    style = {"box": SIMPLE_HEAD, "padding": (0, 1, 0, 0)} if peers else {"box": HEAVY_HEAD}
    result = Table(**style)
    alone = [] if peers else ["robots per\nsecond"], [] if peers else ["compile\n\\[s]"]
    result.add_column("algorithm", no_wrap=True)
    for name in ("batch", "ns per\nrobot", *alone[0], "worst\nerror", *alone[1]):
        result.add_column(name, justify="right", no_wrap=True)
    for name in peers:
        result.add_column(f"{name.replace(' ', chr(10))}\n\\[ns]", justify="right", no_wrap=True)
        result.add_column("times", justify="right", no_wrap=True)
    for m in measurements:
        cells = ["not defined"]
        if not m.refusal:
            cells = [short(m.ns_per_robot), f"{m.worst_error:.1e}"]
            if not peers:
                cells.insert(1, in_words(m.robots_per_second))
                cells.append(f"{m.first_call:.2f}")
            for p in m.peers:
                timed = (short(p.ns_per_robot), short(p.ns_per_robot / m.ns_per_robot))
                cells += ("", "") if p.refusal else timed
        result.add_row(m.case.algorithm, f"{m.case.batch:,}", *cells)
    return result


def explain(measurements: Sequence[Measurement]) -> list[str]:
    """Notes for the table's reader: the origin of the numbers, and reasons for missing ones."""
    lines = [
        "fk computes the poses of all links, jacobian the Jacobian of the link behind the most "
        "joints, unless --frame names another. "
        "Worst error: relative difference of a sample from the same algorithm on float64 numbers "
        "(aba: the residual M a + h - tau)."
    ]
    beside = any(m.peers for m in measurements)
    if not beside:
        lines[0] += (
            " Compile: seconds from the first call to its result; a robot that was compiled before "
            "comes from the cache."
        )
    if beside:
        limit = LIMITS[measurements[0].case.dtype]
        lines.append(
            "Peers: float64, one Python call per state, on the same states, converted beforehand "
            f"(a loop of up to {LOOP}). All run on one core, in turns. "
            f"Their results agreed to {limit:g} beforehand."
        )
        # The benchmarks are not installed with the package.
        if in_checkout():
            lines.append(
                "python -m benchmarks measures more peers and algorithms, on robots of its own."
            )
    not_compared = {
        f"{m.case.algorithm} is not compared with {p.peer}: {p.refusal}"
        for m in measurements
        for p in m.peers
        if p.refusal
    }
    not_defined = {
        f"{m.case.algorithm} is not defined: {m.refusal}" for m in measurements if m.refusal
    }
    return [*lines, *sorted(not_compared), *sorted(not_defined)]


def in_checkout() -> bool:
    """True if the package lies in a checkout, whose `python -m benchmarks` has every peer.

    The benchmarks are not installed with the package. A search of `sys.path` would not work,
    because it finds any folder of that name in the working directory.
    """
    return (Path(__file__).parents[2] / "benchmarks" / "peers").is_dir()
