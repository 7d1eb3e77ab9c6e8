"""Random inputs that search for silent differences.

`files` damages robot descriptions; the result must be a sound model or a ModelError.
Every other generator compares warpdyn with a peer; each case is equal, refused or different.
The exit status is 1 if any case differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.fuzzing import array_calls, damaged_files, mjcf_texts
from benchmarks.fuzzing.expressions import expressions
from benchmarks.fuzzing.outcomes import Outcome, count_outcomes
from benchmarks.fuzzing.simulated_mjcf import simulations

GENERATORS: dict[str, tuple[Callable[[int], Iterator[Outcome]], str, str]] = {
    "calls": (array_calls.cases, "call", "calls on arrays of NumPy, Torch and JAX in any layout"),
    "expressions": (
        expressions,
        "text",
        "random user kernels and their derivatives, compared with NumPy",
    ),
    "mjcf": (mjcf_texts.cases, "text", "random MJCF files, compared with MuJoCo"),
    "simulations": (simulations, "text", "steps of random MJCF files, compared with MuJoCo's"),
}
"""For each name: a function that takes the seed and yields outcomes without end, the unit of the
progress bar, and the help text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the generator that was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fuzzing",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="generator", required=True, metavar="GENERATOR")
    damaged_files.add_arguments(commands.add_parser("files", help="damaged robot descriptions"))
    for name, (_, _, line) in GENERATORS.items():
        command = commands.add_parser(name, help=line, description=line)
        command.add_argument("count", type=int, metavar="COUNT")
        command.add_argument("--seed", type=int, default=0)
        command.add_argument(
            "--keep", type=Path, metavar="FOLDER", help="folder for the reproductions"
        )
    given = parser.parse_args(arguments)
    if given.generator == "files":
        return damaged_files.run(given)
    cases, unit, _ = GENERATORS[given.generator]
    return count_outcomes(
        cases(given.seed), given.count, seed=given.seed, keep=given.keep, unit=unit
    )


if __name__ == "__main__":
    raise SystemExit(main())
