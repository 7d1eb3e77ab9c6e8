"""Compile the programs of the JAX peers ahead of a run.

    python -m benchmarks.compile_peers [ROBOT ...]

One process runs after the other. Programs that are in the cache, or that are known to exceed the time
limit, are skipped.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import warp as wp
from tqdm import tqdm

from . import cases as lists
from .algorithms import ALGORITHMS
from .interleave import CORES
from .peers import PEERS, CannotDo, InstalledPeer, find, jax_aot
from .robots import robot as robot_named
from .throughput import PEER_BATCH
from .workload import states_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the programs and print their compile times."""
    given = _parser().parse_args(arguments)
    wp.config.log_level = wp.LOG_ERROR
    os.sched_setaffinity(0, CORES[-1:])
    peers = [peer for peer in find(given.peers)[0] if jax_aot.is_needed(peer)]
    warnings.showwarning = lambda *_, **__: (
        None
    )  # JaxSim replaces the filters and shows its warnings anyway
    steps = [
        (peer, robot, algorithm)
        for robot in given.robots
        for algorithm in given.algorithms
        for peer in peers
    ]
    with tqdm(steps, smoothing=0, file=sys.stderr) as bar:
        for peer, robot, algorithm in bar:
            bar.set_description(f"{peer.key} {robot} {algorithm}")
            for line in _compile(peer, robot, algorithm, given):
                tqdm.write(f"{peer.name}, {robot}, {algorithm}: {line}", file=sys.stdout)
                sys.stdout.flush()
    print(f"The programs are in {jax_aot.FOLDER}.")
    return 0


def _compile(
    peer: InstalledPeer, robot: str, algorithm: str, given: argparse.Namespace
) -> Iterator[str]:
    """Yield the compile time, or the reason for its absence; nothing if the peer lacks the function."""
    try:
        prepared = peer.module.prepare(
            robot_named(robot), algorithm, states_of(robot_named(robot), given.batch), "cpu"
        )
    except Exception:
        return
    try:
        found = jax_aot.seconds(
            peer, robot_named(robot), algorithm, prepared, "cpu", given.compile_limit
        )
        yield f"{found:.1f} s"
    except CannotDo as reason:
        yield str(reason)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compile_peers", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "robots", nargs="*", default=lists.ROBOTS, metavar="ROBOT", help=", ".join(lists.ROBOTS)
    )
    parser.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS), metavar="NAME"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=PEERS, metavar="NAME", help="JAX libraries"
    )
    parser.add_argument(
        "--batch",
        type=int,
        default=PEER_BATCH,
        help=f"batch size (default: {PEER_BATCH}, as in a run)",
    )
    parser.add_argument(
        "--compile-limit",
        type=float,
        default=jax_aot.LIMIT,
        metavar="SECONDS",
        help=f"longest compilation of a program (default: {jax_aot.LIMIT:g})",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
