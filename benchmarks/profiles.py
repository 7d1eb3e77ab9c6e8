"""CPU kernels: counts of instructions, and the cost of strides: `python -m benchmarks.profiles`.

`objdump` shows the 512-bit instructions of the compiled object. The counts are those of one pass over
the lanes, which computes sixteen robots. The tables go to standard output.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.arrays import layout
from warpdyn.execution.compile.kernel_cache import KERNELS

from .interleave import CORES, Turn, take_turns
from .records import line, short
from .robots import robot
from .startup import COMPILE, run
from .workload import Work, states_of

PROGRAMS = (
    ("panda", "rnea"),
    ("panda", "rnea_derivatives"),
    ("talos_reduced", "rnea"),
    ("talos_reduced", "crba"),
    ("talos_reduced", "aba"),
    ("talos_reduced", "mass_matrix_inverse"),
    ("talos_reduced", "rnea_derivatives"),
    ("talos_reduced", "aba_derivatives"),
)

STRIDED = (
    ("panda", "fk"),
    ("panda", "crba"),
    ("talos_reduced", "rnea"),
    ("talos_reduced", "rnea_vjp"),
    ("talos_reduced", "fk"),
    ("talos_reduced", "crba"),
)
STRIDED_BATCHES = (4096, 16384, 65536)

VECTOR = re.compile(r"^\s*[0-9a-f]+:\s+(v\w+)\s+(.*%zmm.*)$")


def instructions(name: str, algorithm: str) -> Counter[str]:
    """Counts of 512-bit arithmetic, memory and register instructions in Warp's objects of a program.

    A long program has several objects.
    """
    with tempfile.TemporaryDirectory() as cache:
        run(COMPILE, cache, json.dumps([name, [algorithm], "cpu"]))
        objects = map(str, Path(cache).rglob(f"{KERNELS}{algorithm}_*/*.o"))
        command = ["objdump", "-d", "--no-show-raw-insn", *objects]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: Counter[str] = Counter()
    for printed in text.splitlines():
        vector = VECTOR.match(printed)
        if vector:
            found.update(_kinds(*vector.groups()))
    return found


def _kinds(name: str, operands: str) -> Iterator[str]:
    """Kind of a vector instruction. Operands are in AT&T order, with the target last."""
    memory = re.search(r"\((%\w+)", operands)
    stack = memory is not None and memory.group(1) in ("%rsp", "%rbp")
    if not name.startswith("vmov"):
        yield "arithmetic"
    elif memory is None:
        yield "moves"
    if memory is None:
        return
    kind = "stores" if operands.rstrip().endswith(")") else "loads"
    yield kind
    if stack:
        yield f"{kind} of the stack"


def instruction_table() -> Iterator[str]:
    yield "| robot, algorithm | operations | arithmetic | loads | of them spills | stores | of them spills | moves |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, algorithm in tqdm(PROGRAMS, desc="instructions"):
        found = instructions(name, algorithm)
        operations = Work(robot(name), algorithm, states_of(robot(name), 16)).source().operations
        kinds = (
            "arithmetic",
            "loads",
            "loads of the stack",
            "stores",
            "stores of the stack",
            "moves",
        )
        yield line(
            [f"{name} {algorithm}", f"{operations:,}", *(f"{found[kind]:,}" for kind in kinds)]
        )


def exact(count: int, single: bool) -> int:
    """Leading dimension without padding, as most users have it."""
    return count


def one_line_more(count: int, single: bool) -> int:
    per_line = layout.ALIGNMENT // (4 if single else 8)
    return (-(-count // per_line) | 1) * per_line


RULES: dict[str, Callable[[int, bool], int]] = {
    "B": exact,
    "an odd number of cache lines": one_line_more,
    "warpdyn's own": layout.padded_count,
}


def stride_table() -> Iterator[str]:
    yield line(["robot, algorithm", "B", *(f"{rule} [ns]" for rule in RULES)])
    yield "|---|---|" + "---|" * len(RULES)
    wd.runtime.set_num_threads(1)
    for name, algorithm in tqdm(STRIDED, desc="strides"):
        states = states_of(robot(name), max(STRIDED_BATCHES))
        turns = {}
        for batch in STRIDED_BATCHES:
            for rule, lead in RULES.items():
                with patch.object(layout, "padded_count", lead):
                    work = Work(
                        robot(name),
                        algorithm,
                        {key: values[:batch] for key, values in states.items()},
                    )
                turns[batch, rule] = Turn(work.bind(), batch, CORES[-1:])
        take_turns(list(turns.values()))
        for batch in STRIDED_BATCHES:
            times = (short(turns[batch, rule].figures["ns"]) for rule in RULES)
            yield line([f"{name} {algorithm}", f"{batch:,}", *times])


def main() -> int:
    """Print both tables."""
    wp.config.log_level = wp.LOG_ERROR
    if shutil.which("objdump"):
        for row in instruction_table():
            print(row, flush=True)
    else:
        print("objdump is not installed: instructions are not counted", file=sys.stderr)
    print()
    for row in stride_table():
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
